"""What the CPU lowers in place of reductions over windows and their gradients."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

import olympus
from olympus import lax
from olympus._src.core import avals
from olympus._src.lax import elementwise, windows
from olympus._src.lax.kernels import thresholds

FOLDS = (
    windows.reduce_window_sum_p,
    windows.reduce_window_max_p,
    windows.reduce_window_min_p,
)
SCATTER = windows.select_and_scatter_add_p


@pytest.fixture(autouse=True)
def always(monkeypatch):
    """Small reductions are replaced as large ones are."""
    for name in ("APART_WORK", "FOLD_WORK", "SCATTER_WORK"):
        monkeypatch.setattr(thresholds, name, 0)


def _case(seed):
    rng = np.random.default_rng(seed)
    rank = int(rng.integers(1, 4))

    def numbers(low, high):
        return tuple(map(int, rng.integers(low, high, rank)))

    params = {
        "window_dimensions": (*numbers(1, 4)[1:], 5),
        "window_strides": numbers(1, 4),
        "padding": tuple(zip(numbers(0, 2), numbers(0, 2), strict=True)),
    }
    holes = {"base_dilation": numbers(1, 3), "window_dilation": numbers(1, 3)}
    x = np.round(rng.normal(size=[int(n) for n in rng.integers(9, 12, rank)]) * 2)
    return x.astype("float32"), params, {**params, **holes}


def _replaced(p, *xs, **params):
    replacement = p.rewrite("cpu", *map(avals.aval_of, xs), **params)
    return None if replacement is None else olympus.jit(replacement)(*xs)


def _check_folds(seed):
    x, _, params = _case(seed)
    for p in FOLDS:
        got = _replaced(p, x, **params)
        np.testing.assert_allclose(got, p.reference(x, **params), rtol=1e-5)


def _check_scatter(seed):
    x, params, _ = _case(seed)
    shape = windows.reduce_window_shape_tuple(x.shape, *params.values())
    source = np.random.default_rng(seed).normal(size=shape).astype("float32")
    found = 0
    for chooses in (elementwise.ge_p, elementwise.le_p):
        got = _replaced(SCATTER, source, x, select_prim=chooses, **params)
        if got is None:
            continue
        found += 1
        want = SCATTER.reference(source, x, select_prim=chooses, **params)
        np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-5)
    return found


@pytest.mark.slow
def test_folds_and_gradients_of_maxima():
    _check_folds(0)
    assert _check_scatter(6)


@pytest.mark.slow
@pytest.mark.sampled(4)
@pytest.mark.parametrize("seed", range(40))
def test_folds_at_random(seed):
    _check_folds(seed)
    _check_scatter(seed)


@pytest.mark.slow
@pytest.mark.parametrize("window", [2, 3])
def test_windows_of_the_lowest_number_keep_their_gradient(window):
    """Padding is never selected, not even where the elements equal its value."""
    x = np.full((8, 8), -np.inf, "float32")

    def total(x):
        return lax.reduce_window(x, -np.inf, lax.max, (window,) * 2, (2, 2), "SAME")

    out, pull = olympus.vjp(total, x)
    (slope,) = olympus.jit(pull)(np.ones_like(out))
    assert np.sum(slope) == out.size
    text = olympus.jit(pull).lower(np.ones_like(out)).as_text()
    assert "select_and_scatter" not in text


@pytest.mark.parametrize("dtype", ["int32", ml_dtypes.bfloat16])
def test_sums_of_other_dtypes(dtype):
    x = np.random.default_rng(0).integers(-40, 40, (3, 20)).astype(dtype)
    sizes = {"window_dimensions": (1, 7), "window_strides": (1, 2)}
    params = {**sizes, "padding": ((0, 0), (3, 2)), "base_dilation": (1, 1)}
    got = _replaced(FOLDS[0], x, **params, window_dilation=(1, 1))
    assert got.dtype == dtype
    want = (
        FOLDS[0]
        .reference(x.astype("float64"), **params, window_dilation=(1, 1))
        .astype(dtype)
    )
    np.testing.assert_array_equal(np.asarray(got), want)


def test_not_a_number_in_a_window_is_its_maximum():
    x = np.zeros((4, 30), "float32")
    x[1, 7] = np.nan
    params = {"window_dimensions": (1, 5), "window_strides": (1, 5)}
    params |= {"padding": ((0, 0), (0, 0))}
    params |= {"base_dilation": (1, 1), "window_dilation": (1, 1)}
    got = np.isnan(_replaced(FOLDS[1], x, **params))
    assert got[1, 1]
    assert got.sum() == 1


@pytest.mark.slow
@pytest.mark.parametrize("low", range(4))
@pytest.mark.parametrize("high", range(4))
def test_windows_at_the_end_of_an_array_hold_the_same_bits(low, high):
    """With NaN, infinities and zeros of both signs, and windows of padding only."""
    rng = np.random.default_rng(4 * low + high)
    values = np.array([np.nan, np.inf, -np.inf, 0.0, -0.0, 1, -1, 2], "float32")
    for size, window, step in ((7, 3, 2), (8, 3, 2), (9, 2, 3), (5, 3, 1), (3, 4, 2)):
        x = rng.choice(values, (size, 6, size))
        ones = (1, 1, 1)
        params = {
            "window_dimensions": (window, 1, window),
            "window_strides": (step, 1, step),
            "padding": ((low, high), (0, 0), (high, low)),
            "base_dilation": ones,
            "window_dilation": ones,
        }
        for p in FOLDS[1:]:
            got = _replaced(p, x, **params)
            if got is None:
                assert size < window
                continue
            want = p.reference(x, **params)
            np.testing.assert_array_equal(got, want)
            is_zero = want == 0
            folded = np.signbit(np.asarray(got)[is_zero])
            np.testing.assert_array_equal(
                folded, np.signbit(_plain(p, x, params))[is_zero]
            )


def _plain(p, x, params):
    """The same with padding around the array, elementwise."""
    is_max = p is FOLDS[1]
    start = -np.inf if is_max else np.inf
    padded = olympus.numpy.pad(x, params["padding"], constant_values=start)
    for axis, (size, step) in enumerate(
        zip(params["window_dimensions"], params["window_strides"], strict=True)
    ):
        many = (padded.shape[axis] - size) // step + 1
        parts = [
            lax.slice_in_dim(padded, i, i + (many - 1) * step + 1, step, axis)
            for i in range(size)
        ]
        fold = olympus.numpy.maximum if is_max else olympus.numpy.minimum
        padded = parts[0]
        for part in parts[1:]:
            padded = fold(padded, part)
    return np.asarray(padded)


def test_a_window_at_the_end_needs_no_padding():
    """Of maxima; of sums padding is a term."""
    x = np.ones((8, 8), "float32")
    ones = (1, 1)
    params = {
        "window_dimensions": (3, 3),
        "window_strides": (2, 2),
        "padding": ((0, 1), (0, 1)),
        "base_dilation": ones,
        "window_dilation": ones,
    }
    for p, padding in zip(FOLDS, ("[1, 1]", "[0, 0]", "[0, 0]"), strict=True):
        fold = p.rewrite("cpu", avals.aval_of(x), **params)
        text = olympus.jit(fold).lower(x).as_text()
        assert f"high = {padding}" in text


@pytest.mark.parametrize(
    ("extreme", "start", "fold"), [(lax.max, False, np.any), (lax.min, True, np.all)]
)
def test_extremes_of_booleans(extreme, start, fold):
    x = np.random.default_rng(0).random((4, 7)) < 0.4

    def window(x):
        return lax.reduce_window(x, start, extreme, (2, 3), (1, 2), "VALID")

    parts = np.lib.stride_tricks.sliding_window_view(x, (2, 3))[:, ::2]
    for f in (window, olympus.jit(window)):
        assert f(x).dtype == bool
        np.testing.assert_array_equal(f(x), fold(parts, axis=(2, 3)))
    both = olympus.vmap(window)(np.stack([x, ~x]))
    np.testing.assert_array_equal(both[1], window(~x))
    assert window(np.zeros((0, 7), bool)).shape == (0, 3)


def test_no_window_fits():
    """As of an image that was pooled down to less than a window."""
    x = np.ones((2, 4, 1, 3), "float32")
    shape = (1, 2, 2, 1)

    def pool(x):
        return lax.reduce_window(x, -np.inf, lax.max, shape, shape, "VALID")

    assert olympus.jit(pool)(x).shape == (2, 2, 0, 3)
    slope = olympus.jit(olympus.grad(lambda x: pool(x).sum()))(x)
    np.testing.assert_array_equal(slope, np.zeros_like(x))


def test_small_ones_large_ones_and_long_windows_stay(monkeypatch):
    x = np.ones((2, 40), "float32")
    params = {"window_strides": (1, 1), "padding": ((0, 0), (0, 0))}
    holes = {"base_dilation": (1, 1), "window_dilation": (1, 1)}
    long = {**params, **holes, "window_dimensions": (1, 20)}
    assert _replaced(FOLDS[0], x, **long) is None
    source = np.ones((2, 15), "float32")
    large = {**params, "window_dimensions": (1, 26)}
    kind = elementwise.ge_p
    assert _replaced(SCATTER, source, x, select_prim=kind, **large) is None
    monkeypatch.undo()
    short = {**long, "window_dimensions": (1, 5)}
    assert _replaced(FOLDS[0], x, **short) is None


# -- what is kept ----------------------------------------------------------------------


def _pool(x, size, step):
    return lax.reduce_window(x, -np.inf, lax.max, (size,) * 2, (step,) * 2, "SAME")


def _slope(size, step):
    return olympus.grad(lambda x: (_pool(x, size, step) ** 2).sum())


@pytest.mark.parametrize(("size", "step", "n"), [(3, 2, 1), (3, 3, 1), (2, 2, 0)])
def test_places_that_many_elements_read_are_kept(size, step, n):
    """Each element would compare its windows again for each place it may be in."""
    text = olympus.jit(_slope(size, step)).lower(np.ones((12, 12), "float32")).as_text()
    assert text.count("optimization_barrier") == n


def test_places_are_kept_in_loops():
    """By a barrier, or by a call where XLA has no code for barriers in loops."""
    x = np.random.default_rng(0).normal(size=(12, 12)).astype("float32")
    slope = _slope(3, 2)

    def steps(x):
        return lax.fori_loop(0, 2, lambda i, x: x - 0.1 * slope(x), x)

    text = olympus.jit(steps).lower(x).as_text()
    assert ("optimization_barrier" in text) != ("inlineable" in text)
    want = x
    for _ in range(2):
        want = want - 0.1 * np.asarray(slope(want))
    np.testing.assert_allclose(olympus.jit(steps)(x), want, rtol=1e-5)
