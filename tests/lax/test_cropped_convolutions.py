"""Convolutions whose padding is negative on a side."""

from __future__ import annotations

import numpy as np
import pytest

import olympus
from olympus import lax


def draw(seed):
    """A convolution without windows outside of its input: arguments and options."""
    rng = np.random.default_rng(seed)
    rank, groups = int(rng.integers(1, 3)), int(rng.choice([1, 1, 2]))
    sizes, window = rng.integers(4, 10, rank), rng.integers(1, 4, rank)
    steps, spread, holes = (tuple(map(int, rng.integers(1, 3, rank))) for _ in range(3))
    padding = [tuple(map(int, rng.integers(-2, 3, 2))) for _ in range(rank)]
    x = rng.normal(size=(4, 8, *sizes))
    w = rng.normal(size=(8, 8 // groups, *window))
    options = {
        "window_strides": steps,
        "padding": padding,
        "lhs_dilation": spread,
        "rhs_dilation": holes,
        "feature_group_count": groups,
    }
    return x, w, options


def crop_first(x, w, options):
    """The same with the holes and the padding written out, and nothing negative."""
    for axis, (pair, spread) in enumerate(
        zip(options["padding"], options["lhs_dilation"], strict=True), 2
    ):
        x = np.moveaxis(x, axis, 0)
        wide = np.zeros(((len(x) - 1) * spread + 1, *x.shape[1:]))
        wide[::spread] = x
        low, high = pair
        wide = wide[max(-low, 0) : len(wide) - max(-high, 0)]
        edges = [(max(low, 0), max(high, 0))] + [(0, 0)] * (wide.ndim - 1)
        x = np.moveaxis(np.pad(wide, edges), 0, axis)
    rank = len(options["padding"])
    plain = {**options, "padding": [(0, 0)] * rank, "lhs_dilation": (1,) * rank}
    return lax.conv_general_dilated(x.astype(np.float32), w, **plain)


@pytest.mark.parametrize("seed", range(12))
def test_values(seed):
    x, w, options = draw(seed)
    x, w = x.astype(np.float32), w.astype(np.float32)
    out = olympus.jit(lambda x, w: lax.conv_general_dilated(x, w, **options))(x, w)
    np.testing.assert_allclose(out, crop_first(x, w, options), rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("dtype", ["float32", "complex64"])
def test_one_side_cropped_and_the_other_padded(dtype):
    rng = np.random.default_rng(0)
    x = rng.normal(size=(4, 8, 8)).astype(dtype)
    w = rng.normal(size=(8, 8, 3)).astype(dtype)
    out = lax.conv_general_dilated(x, w, (1,), [(-2, 2)])
    expected = lax.conv_general_dilated(x[:, :, 2:], w, (1,), [(0, 2)])
    np.testing.assert_allclose(out, expected, rtol=1e-4, atol=1e-4)


def test_the_gradient_of_a_padding_that_is_wider_than_the_kernel():
    rng = np.random.default_rng(0)
    x, w = rng.normal(size=(2, 8, 8)), rng.normal(size=(8, 4, 2))
    ct = rng.normal(size=(1, 8, 9))

    def run(x, w):
        return lax.conv_general_dilated(x, w, (1,), [(2, 0)], batch_group_count=2)

    with olympus.enable_x64(True):
        w = rng.normal(size=(8, 8, 2))
        (dx,) = olympus.linear_transpose(lambda x: run(x, w), x)(ct)
        assert np.allclose((dx * x).sum(), (run(x, w) * ct).sum())


def test_nothing_left_of_the_input():
    out = lax.conv_general_dilated(
        np.ones((1, 1, 2)), np.ones((1, 1, 2)), (1,), [(-3, 5)]
    )
    np.testing.assert_array_equal(out, np.zeros((1, 1, 3)))
