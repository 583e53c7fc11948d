"""The few largest of many lines, by maxima of integers, are those of a full sort."""

from __future__ import annotations

import numpy as np
import pytest

import olympus
from olympus import lax
from olympus._src.lax.kernels import short_sort, thresholds, top_k_kernel
from tests.lax.test_short_lines import DTYPES, drawn, same_bits


def falling_order(x: np.ndarray) -> np.ndarray:
    """The stable falling order; of floats, that of their bits."""
    if x.dtype.kind in "iub":
        key = x.astype(np.int64)
    else:
        bits = x.view(f"i{x.dtype.itemsize}").astype(np.int64)
        low = np.iinfo(f"i{x.dtype.itemsize}").min
        key = np.where(bits < 0, low - bits - 1, bits)
    return np.argsort(-key, axis=-1, kind="stable")


def check(x: np.ndarray, k: int) -> None:
    lowered = olympus.jit(lambda x: lax.top_k(x, k)).lower(x)
    assert "chlo.top_k" not in lowered.as_text()
    values, places = lowered.compile()(x)
    order = falling_order(x)[..., :k]
    same_bits(places, order.astype(np.int32))
    same_bits(values, np.take_along_axis(x, order, -1))


def test_few_largest_of_lines_longer_than_a_part():
    x = drawn("float32", (60, 77))
    assert top_k_kernel.suits(x, 2)
    check(x, 2)


@pytest.mark.slow
@pytest.mark.sampled(16)
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("size", [2, 9, 31, 32, 33, 64, 65, 101, 300])
def test_few_largest_of_each_kind_and_size(dtype, size):
    x = drawn(dtype, (thresholds.FEWEST_TOP_K // size + 1, size), size)
    check(x, 1)
    check(x, min(size, thresholds.MOST_LARGEST))


@pytest.mark.slow
@pytest.mark.parametrize("dtype", ["float32", "uint8", "bool"])
def test_many_largest_of_short_lines(dtype):
    x = drawn(dtype, (300, 40))
    assert not top_k_kernel.suits(x, 12)
    assert short_sort.suits([x], 1, 1)
    check(x, 12)


def test_the_lowest_integers_are_found_once_each():
    x = np.full((600, 8), np.iinfo(np.int32).min, np.int32)
    check(x, 8)


@pytest.mark.slow
def test_largest_along_another_axis_with_derivatives():
    x = np.random.default_rng(0).normal(size=(9, 600)).astype(np.float32)
    values, places = olympus.jit(lambda x: lax.top_k(x, 2, axis=0))(x)
    order = np.argsort(-x, axis=0)[:2]
    np.testing.assert_array_equal(places, order)
    np.testing.assert_array_equal(values, np.take_along_axis(x, order, 0))
    got = olympus.grad(lambda x: lax.top_k(x, 2, axis=0)[0].sum())(x)
    want = np.zeros_like(x)
    np.put_along_axis(want, order, 1, 0)
    np.testing.assert_array_equal(got, want)
