"""Derivatives where formulas overflow, or windows have holes."""

import numpy as np
import pytest

import olympus
import olympus.numpy as onp
from olympus import lax

X = np.float32([[1, 2, 3, 4], [-5, -6, -7, -8]])
PADS = ((1, 1), (1, 1))


def extremes(operation, start, dilation, padding):
    """Windows over spread elements, and over the same elements with holes padded in."""

    def direct(x):
        ones = (1, 1)
        return lax.reduce_window(
            x, start, operation, (2, 2), ones, padding, dilation, ones
        )

    def by_hand(x):
        config = [
            (low, high, by - 1)
            for (low, high), by in zip(padding, dilation, strict=True)
        ]
        wide = lax.pad(x, np.float32(start), config)
        return lax.reduce_window(wide, start, operation, (2, 2), (1, 1), "VALID")

    return direct, by_hand


@pytest.mark.slow
@pytest.mark.parametrize("dilation", [(2, 2), (2, 1), (1, 3)])
@pytest.mark.parametrize(
    ("operation", "start"), [(lax.max, -np.inf), (lax.min, np.inf)]
)
def test_windows_over_spread_elements(operation, start, dilation):
    direct, by_hand = extremes(operation, start, dilation, PADS)
    shape = direct(X).shape
    weights = np.arange(np.prod(shape), dtype=np.float32).reshape(shape)

    def total(fun):
        return lambda x: onp.sum(onp.where(onp.isinf(y := fun(x)), 0, y) * weights)

    wanted = olympus.grad(total(by_hand))(X)
    np.testing.assert_array_equal(olympus.grad(total(direct))(X), wanted)
    assert np.any(wanted)


def test_windows_with_holes_are_refused():
    def fun(x):
        return onp.sum(
            lax.reduce_window(
                x, -np.inf, lax.max, (1, 2), (1, 1), "VALID", (1, 1), (1, 2)
            )
        )

    with pytest.raises(NotImplementedError, match=r"windows without holes, got .*2"):
        olympus.grad(fun)(X)


@pytest.mark.slow
@pytest.mark.parametrize(("dtype", "error"), [("float16", 6e-4), ("bfloat16", 4e-3)])
def test_sinc_of_narrow_floats(dtype, error):
    x = onp.linspace(-3, 3, 101).astype(dtype)
    wide = np.asarray(x).astype(np.float64)
    close = wide[wide != 0]
    slope = olympus.vmap(olympus.grad(onp.sinc))(x)
    assert slope.dtype == dtype
    np.testing.assert_allclose(onp.sinc(x).astype("float32"), np.sinc(wide), atol=error)
    np.testing.assert_allclose(
        slope[wide != 0].astype("float32"),
        (np.cos(np.pi * close) - np.sinc(close)) / close,
        atol=error,
    )
    assert (slope[wide == 0] == 0).all()


def test_sinc_far_out():
    slope = olympus.vmap(olympus.grad(onp.sinc))
    far = np.float32([0, 1e19, -3e19, 1e30, 1e38])
    np.testing.assert_allclose(slope(far), np.zeros(5), atol=1e-18)
    second = olympus.grad(olympus.grad(onp.sinc))
    assert abs(second(np.float32(0)) + np.pi**2 / 3) < 1e-5
    assert abs(second(np.float32(1e30))) < 1e-29


def test_sinc_keeps_its_zeros_and_its_precision_far_out():
    whole = np.float32([-3, -1, 1, 2, 1e6, 2**23 + 1, 1e20])
    np.testing.assert_array_equal(onp.sinc(whole), np.zeros(7))
    halves = np.float32([0.5, -2.5, 1000.25, 12345.375, 1e6 + 0.5])
    turns = halves.astype(np.float64) % 2
    exact = np.sin(np.pi * turns) / (np.pi * halves.astype(np.float64))
    np.testing.assert_allclose(onp.sinc(halves), exact, rtol=2e-7)
    slopes = olympus.vmap(olympus.grad(onp.sinc))(whole)
    signs = np.where(whole % 2 == 0, 1, -1)
    np.testing.assert_allclose(slopes, signs / whole.astype(np.float64), rtol=1e-6)


def test_arccosh_at_and_below_one():
    slope = olympus.vmap(olympus.grad(lax.acosh))(
        np.float32([1, 2, 3e38, np.inf, 0.5, 0, -1, -2, np.nan])
    )
    # Below -1 it has no value, and the slope that JAX gives.
    wanted = [np.inf, 3**-0.5, 1 / 3e38, 0, np.nan, np.nan, np.inf, 3**-0.5, np.nan]
    np.testing.assert_allclose(slope, wanted, rtol=1e-6, atol=1e-38)


def test_neighbors_move_with_the_first_number():
    slopes = olympus.grad(lax.nextafter, argnums=(0, 1))(1.0, 2.0)
    assert [float(s) for s in slopes] == [1, 0]
    _, tangent = olympus.jvp(onp.nextafter, (1.0, np.ones(3)), (2.0, np.ones(3)))
    np.testing.assert_array_equal(tangent, np.full(3, 2.0))
