"""Sets of values whose size is given, so that they can be traced."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import olympus
import olympus.numpy as jnp

A, B = np.array([3, 1, 1, 5, 7]), np.array([5, 3, 9, 9])


def traced(f: Any, *args: Any, **options: Any) -> Any:
    return olympus.jit(lambda *xs: f(*xs, **options))(*args)


@pytest.mark.slow
@pytest.mark.sampled(3)
@pytest.mark.parametrize("run", [lambda f, *a, **k: f(*a, **k), traced])
@pytest.mark.parametrize(
    ("f", "options", "want"),
    [
        (jnp.setdiff1d, {"size": 4}, [1, 7, 0, 0]),
        (jnp.setdiff1d, {"size": 1}, [1]),
        (jnp.setdiff1d, {"size": 4, "fill_value": -1}, [1, 7, -1, -1]),
        (jnp.setdiff1d, {"size": 4, "assume_unique": True}, [1, 1, 7, 0]),
        (jnp.setxor1d, {"size": 2}, [1, 7]),
        (jnp.setxor1d, {"size": 5}, [1, 7, 9, 1, 1]),
        (jnp.setxor1d, {"size": 5, "fill_value": -1}, [1, 7, 9, -1, -1]),
        (jnp.intersect1d, {"size": 1}, [3]),
        (jnp.intersect1d, {"size": 4}, [3, 5, 3, 3]),
    ],
)
def test_two_sets_of_a_size(run: Any, f: Any, options: Any, want: Any) -> None:
    np.testing.assert_array_equal(run(f, A, B, **options), want)


def test_positions_of_what_is_common_end_at_the_sizes() -> None:
    out = traced(jnp.intersect1d, A, B, size=4, return_indices=True, fill_value=-1)
    for got, want in zip(
        out, [[3, 5, -1, -1], [0, 3, 5, 5], [1, 0, 4, 4]], strict=True
    ):
        np.testing.assert_array_equal(got, want)


def test_the_difference_keeps_the_dtype_of_the_first() -> None:
    x, y = np.array([1, 2], np.uint8), np.array([2, -1], np.int32)
    assert jnp.setdiff1d(x, y).dtype == np.uint8
    out = traced(jnp.setdiff1d, x, y, size=3, fill_value=-1)
    assert out.dtype == np.uint8
    np.testing.assert_array_equal(out, [1, 255, 255])


@pytest.mark.slow
@pytest.mark.parametrize("f", [jnp.setdiff1d, jnp.setxor1d, jnp.intersect1d])
def test_sets_of_nothing(f: Any) -> None:
    np.testing.assert_array_equal(traced(f, A[:0], B[:0], size=2), [0, 0])
    np.testing.assert_array_equal(traced(f, A[:0], B[:0], size=0), [])


def test_counts_of_values_that_are_kept_are_their_own() -> None:
    """Those of the values cut off used to be counted with the last one."""
    values, counts = jnp.unique(A, return_counts=True, size=2)
    np.testing.assert_array_equal(values, [1, 3])
    np.testing.assert_array_equal(counts, [2, 1])


@pytest.mark.parametrize(
    ("a", "b"),
    [([1, 2, 2, 3], [3, 4]), ([1, 1, 2], [2, 5, 5]), ([], [1, 1]), ([4], []), ([], [])],
)
def test_sets_that_repeat_values(a, b):
    a, b = np.array(a, np.int32), np.array(b, np.int32)
    want = np.setxor1d(a, b, assume_unique=True)
    out = jnp.setxor1d(a, b, assume_unique=True, size=6, fill_value=-7)
    np.testing.assert_array_equal(out, [*want, *[-7] * (6 - len(want))])


SLICES = {
    "rows": (np.array([[3, 1], [1, 2], [3, 1]], np.int32), 0),
    "columns": (np.array([[3, 1, 3], [1, 2, 1]], np.int32), -1),
    "planes": (np.array([[[2.0], [1.0]], [[0.0], [5.0]], [[2.0], [1.0]]], "f4"), 0),
}


@pytest.mark.slow
@pytest.mark.sampled(3)
@pytest.mark.parametrize("size", [1, 2, 4])
@pytest.mark.parametrize("name", SLICES)
def test_distinct_slices_under_jit_are_those_outside(name, size):
    x, axis = SLICES[name]
    options = {"return_index": True, "return_inverse": True, "return_counts": True}

    def distinct(x):
        return jnp.unique(x, axis=axis, size=size, **options)

    want = distinct(x)
    for got, values in zip(olympus.jit(distinct)(x), want, strict=True):
        np.testing.assert_array_equal(got, values)


def test_distinct_slices_with_nan():
    x = np.array([[np.nan, 1.0], [0.0, 1.0], [np.nan, 1.0]], np.float32)
    for equal_nan, count in ((True, 2), (False, 3)):
        got = olympus.jit(
            lambda x, e=equal_nan: jnp.unique(
                x, axis=0, size=4, return_counts=True, equal_nan=e, fill_value=-1
            )
        )(x)
        assert (np.asarray(got[1]) > 0).sum() == count
        assert (np.asarray(got[0])[count:] == -1).all()


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ([1, 1, 2, 3, 3], [1, 3, 3, 4]),
        ([3, 1, 1, 2], [2, 2, 5]),
        ([5, 5, 5], [5, 5]),
        ([1, 2, 3], [3, 4, 1]),
        ([1, 1], []),
        ([], [7]),
        ([1.0, np.nan, np.nan], [np.nan, 1.0]),
    ],
)
def test_what_is_common_to_assumed_sets_is_as_without_a_size(a: Any, b: Any) -> None:
    x, y = np.asarray(a, np.float32), np.asarray(b, np.float32)
    options = {"assume_unique": True, "return_indices": True}
    want = np.intersect1d(x, y, **options)
    got = traced(jnp.intersect1d, x, y, size=6, fill_value=-9, **options)
    n = want[0].size
    for found, expected, fill in zip(got, want, (-9, x.size, y.size), strict=True):
        np.testing.assert_array_equal(found[:n], expected)
        np.testing.assert_array_equal(found[n:], np.full(6 - n, fill))
