"""Reductions by a user's computation."""

from __future__ import annotations

import functools

import numpy as np
import pytest

import olympus
import olympus.numpy as jnp
from olympus import lax
from tests.comparing import assert_close

X = np.arange(1, 25, dtype=np.float32).reshape(2, 3, 4) / 8


close = functools.partial(assert_close, atol=1e-5)


def add(x, y):
    return lax.add(x, y)


@pytest.mark.parametrize("axes", [(), (0,), (1, 2), (0, -1), (0, 1, 2)])
def test_reduce_folds_axes(axes):
    close(lax.reduce(X, 0.0, add, axes), X.sum(axes))
    close(olympus.jit(lambda x: lax.reduce(x, 1.0, lax.mul, axes))(X), X.prod(axes))


def test_known_operations_use_their_reductions():
    text = str(olympus.make_olympuspr(lambda x: lax.reduce(x, 0.0, lax.add, (1,)))(X))
    assert "reduce_sum[axes=(1,)]" in text
    text = str(olympus.make_olympuspr(lambda x: lax.reduce(x, 2.0, lax.add, (1,)))(X))
    assert "reduce[" in text
    lowest = -np.inf
    text = str(
        olympus.make_olympuspr(lambda x: lax.reduce(x, lowest, lax.max, (1,)))(X)
    )
    assert "reduce_max[axes=(1,)]" in text


def test_reduce_of_pairs():
    """The largest element and its position, by one fold."""
    count = np.broadcast_to(np.arange(4, dtype=np.int32), X.shape)

    def better(a, b):
        first = lax.ge(a["x"], b["x"])
        return {k: lax.select(first, a[k], b[k]) for k in ("n", "x")}

    start = {"x": np.float32(-np.inf), "n": np.int32(-1)}
    out = lax.reduce({"x": -X, "n": count}, start, better, (2,))
    close(out["x"], (-X).max(2))
    close(out["n"], (-X).argmax(2))


@pytest.mark.slow
def test_reduce_differentiates_like_the_sum_of_squares():
    def norm(x):
        return lax.reduce(x, 0.0, lambda a, b: lax.sqrt(a * a + b * b), (0, 1, 2))

    close(norm(X), np.sqrt((X**2).sum()))
    close(olympus.grad(norm)(X), X / np.sqrt((X**2).sum()))


def test_reduce_of_nothing_is_the_start():
    close(lax.reduce(X[:, :0], 2.0, add, (1,)), np.full((2, 4), 2))
    slope = olympus.grad(lambda s: lax.reduce(X[0, 0, :0], s, add, (0,)))(3.0)
    close(slope, 1)


def test_reduce_is_mapped():
    def f(x, start):
        return lax.reduce(x, start, add, (0,))

    close(olympus.vmap(f, (0, None))(X, np.float32(1)), X.sum(1) + 1)
    starts = np.array([1, 2], np.float32)
    close(olympus.vmap(f)(X, starts), X.sum(1) + starts[:, None])


def test_windows_by_a_computation():
    want = X[0, :, 1:] * X[0, :, :-1]
    close(lax.reduce_window(X[0], 1.0, lax.mul, (1, 2)), want)
    close(
        lax.reduce_window(X[0], 0.0, add, (1, 4), padding="SAME")[:, 0],
        X[0, :, :3].sum(1),
    )
    mapped = olympus.vmap(lambda x: lax.reduce_window(x, 1.0, lax.mul, (1, 2)))
    close(mapped(X)[0], want)


WINDOWS = {
    "side by side": {"window_dimensions": (2, 2), "window_strides": (2, 1)},
    "spread": {
        "window_dimensions": (2, 3),
        "padding": ((1, 0), (0, 2)),
        "base_dilation": (1, 2),
        "window_dilation": (2, 1),
    },
}


@pytest.mark.slow
@pytest.mark.parametrize("options", WINDOWS.values(), ids=WINDOWS)
def test_windows_by_a_computation_differentiate_like_those_by_a_primitive(options):
    """Also from a start that moves, and twice."""

    def by_function(x, start):
        return lax.reduce_window(x, start, add, **options)

    def by_primitive(x, start):
        return lax.reduce_window(x, 0.0, lax.add, **options) + start

    def total(f):
        return lambda x, start: (f(x, start) ** 3).sum()

    x, start = X[0], np.float32(0.5)
    close(by_function(x, start), by_primitive(x, start))
    for got, want in zip(
        olympus.grad(total(by_function), (0, 1))(x, start),
        olympus.grad(total(by_primitive), (0, 1))(x, start),
        strict=True,
    ):
        np.testing.assert_allclose(got, want, rtol=1e-4)

    def slope(f):
        return olympus.grad(lambda x: (olympus.grad(total(f))(x, start) ** 2).sum())

    np.testing.assert_allclose(slope(by_function)(x), slope(by_primitive)(x), rtol=1e-4)


def test_windows_of_known_operations():
    f = olympus.make_olympuspr(lambda x: lax.reduce_window(x, -np.inf, lax.max, (2,)))
    assert "reduce_window_max[" in str(f(X[0, 0]))


def test_scatter_apply():
    numbers = lax.ScatterDimensionNumbers((), (0,), (0,))
    positions = np.array([[1], [3], [1]])
    got = lax.scatter_apply(
        X[0, 0], positions, lambda x: x * 2, numbers, update_shape=(3,)
    )
    close(got, X[0, 0] * np.array([1, 4, 1, 2]))


class TestErrors:
    def test_structures_differ(self):
        with pytest.raises(TypeError, match=r"reduce: .* the same structure"):
            lax.reduce((X, X), 0.0, add, (0,))

    def test_start_of_another_dtype(self):
        with pytest.raises(TypeError, match=r"reduce: init_values .* i32\[\] for f32"):
            lax.reduce(X, np.int32(0), add, (0,))

    def test_result_of_another_type(self):
        with pytest.raises(
            TypeError, match=r"must return values of the types that it reduces, f32\[\]"
        ):
            lax.reduce(X, 0.0, lambda a, b: lax.lt(a, b), (0,))

    def test_closing_over_tracers_and_arrays(self):
        with pytest.raises(TypeError, match="closes over a traced value"):
            olympus.jit(
                lambda s: lax.reduce(X, 0.0, lambda a, b: lax.add(a, b * s), (0,))
            )(2.0)
        with pytest.raises(TypeError, match="closes over an array"):
            lax.reduce(
                X,
                0.0,
                lambda a, b: lax.add(a, b) + lax.reduce_sum(X[0, 0], (0,)),
                (0,),
            )

    def test_axis_that_does_not_exist(self):
        with pytest.raises(ValueError, match="reduce: axis 3 is out of bounds"):
            lax.reduce(X, 0.0, add, (3,))

    def test_mapped_start_of_windows(self):
        with pytest.raises(NotImplementedError, match="reduce_window: init_value"):
            olympus.vmap(
                lambda s: lax.reduce_window(X[0, 0], s, lambda a, b: a * b, (2,))
            )(X[0, 0])


def _larger_with_place(one, other):
    (x, i), (y, j) = one, other
    return jnp.where(x > y, x, y), jnp.where(x > y, i, j)


def _largest_with_places(x):
    places = np.broadcast_to(np.arange(x.shape[-1], dtype=np.int32), x.shape)
    window = (1,) * (len(x.shape) - 1) + (3,)
    start = (-np.inf, 0)
    return lax.reduce_window((x, places), start, _larger_with_place, window)


def test_windows_of_several_arrays():
    x = np.array([3.0, 1.0, 4.0, 1.5, 5.0, 9.0], np.float32)
    parts = np.lib.stride_tricks.sliding_window_view(x, 3)
    for f in (_largest_with_places, olympus.jit(_largest_with_places)):
        values, places = f(x)
        np.testing.assert_array_equal(values, parts.max(1))
        np.testing.assert_array_equal(places, parts.argmax(1) + np.arange(4))
        assert places.dtype == np.int32


@pytest.mark.slow
def test_windows_of_several_arrays_batch_and_differentiate():
    x = np.array([[3, 1, 4, 1.5], [2, 7, 1, 8]], np.float32)
    batched = olympus.vmap(_largest_with_places)(x)
    for row, values, places in zip(x, *batched, strict=True):
        wanted = _largest_with_places(row)
        np.testing.assert_array_equal(values, wanted[0])
        np.testing.assert_array_equal(places, wanted[1])
    slope = olympus.grad(lambda x: jnp.sum(_largest_with_places(x)[0] ** 2))(x[0])
    np.testing.assert_allclose(slope, [0, 0, 16, 0])


def test_windows_of_arrays_that_do_not_fit_are_refused():
    x = np.zeros(4, np.float32)
    with pytest.raises(ValueError, match=r"pytrees of one structure"):
        lax.reduce_window((x, x), (0.0,), lambda a, b: a, (2,))
    with pytest.raises(TypeError, match=r"equal shapes, got f32\[4\], f32\[3\]"):
        lax.reduce_window((x, x[:3]), (0.0, 0.0), lambda a, b: a, (2,))
