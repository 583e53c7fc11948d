"""Short lines are sorted by counting; the results are those of any stable sort."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

import olympus
from olympus import lax
from olympus._src.lax.kernels import short_sort, thresholds

DTYPES = ("float32", "float16", "bfloat16", "int32", "int8", "uint8", "uint32", "bool")


def drawn(dtype: str, shape: tuple[int, ...], seed: int = 0) -> np.ndarray:
    """Numbers with many repetitions, both zeros, infinities and NaN of both signs."""
    rng = np.random.default_rng(seed)
    kind = np.dtype(getattr(ml_dtypes, dtype, dtype))
    x = rng.integers(-4, 5, shape)
    if kind.kind == "b":
        return x > 0
    if kind.kind in "iu":
        return (x * 31).astype(kind)
    special = np.asarray([0.0, -0.0, np.inf, -np.inf, np.nan, -np.nan])
    chosen = special[rng.integers(0, len(special), shape)]
    return np.where(rng.random(shape) < 0.4, chosen, x).astype(kind)


def stable_order(axis: int, *keys: np.ndarray) -> np.ndarray:
    """The order by the first key, then the next; NaN is last and zeros are equal."""

    def plain(x: np.ndarray) -> np.ndarray:
        return np.where(x == 0, 0, x.astype(np.float64))

    return np.lexsort([plain(k) for k in keys[::-1]], axis=axis)


def same_bits(got: object, want: np.ndarray) -> None:
    """Equal also in the signs of zeros and of NaN."""
    host = np.asarray(got)
    assert host.dtype == want.dtype
    assert host.shape == want.shape
    assert host.tobytes() == np.ascontiguousarray(want).tobytes()


def check(operands: list[np.ndarray], axis: int, num_keys: int) -> None:
    assert short_sort.suits(operands, num_keys, axis)
    text = olympus.jit(lambda *xs: lax.sort(xs, axis, num_keys=num_keys)).lower(
        *operands
    )
    assert "stablehlo.sort" not in text.as_text()
    order = stable_order(axis, *operands[:num_keys])
    for got, x in zip(text.compile()(*operands), operands, strict=True):
        same_bits(got, np.take_along_axis(x, order, axis))


@pytest.mark.parametrize("dtype", ["float32", "uint8"])
def test_short_lines_are_sorted_by_counting(dtype):
    x = drawn(dtype, (130, 33))
    check([x, np.arange(x.size, dtype=np.int32).reshape(x.shape)], 1, 1)


@pytest.mark.slow
@pytest.mark.sampled(20)
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("size", [2, 3, 7, 16, 31, 32, 33, 47, 48])
def test_short_lines_of_each_kind_and_size(dtype, size):
    rows = thresholds.FEWEST_SORTED // size + 1
    x = drawn(dtype, (rows, size), size)
    check([x], 1, 1)
    check([x, drawn("int32", x.shape, 1), drawn("float32", x.shape, 2)], 1, 2)
    turned = drawn(dtype, (2, size, rows), size)
    check([turned, drawn("bool", turned.shape)], 1, 1)


def test_long_lines_keep_the_order_and_signs_of_zeros():
    for size in (70, 300):
        x = drawn("float32", (size,))
        same_bits(lax.sort(x), x[stable_order(0, x)])


@pytest.mark.parametrize("kinds", [("float32", "int32"), ("uint32", "bool", "int8")])
def test_long_lines_are_sorted_by_several_keys(kinds):
    keys = [drawn(kind, (500,), i) for i, kind in enumerate(kinds)]
    order = stable_order(0, *keys)
    got = lax.sort((*keys, np.arange(500)), num_keys=len(keys))
    for x, want in zip(got, [*keys, np.arange(500, dtype=np.int32)], strict=True):
        same_bits(x, want[order])


def test_lines_that_do_not_suit_are_sorted_as_ever():
    short, long = np.zeros((4000, 49), np.float32), np.zeros((10, 5), np.float32)
    assert not short_sort.suits([short], 1, 1)
    assert not short_sort.suits([long], 1, 1)
    assert not short_sort.suits([np.zeros((4000, 5), np.complex64)], 1, 1)
    assert not short_sort.suits([np.zeros((0, 5), np.float32)], 1, 0)


def test_derivative_of_a_sort_of_short_lines():
    x = np.random.default_rng(0).normal(size=(600, 7)).astype(np.float32)
    weights = np.arange(7, dtype=np.float32)
    got = olympus.grad(lambda x: (lax.sort(x) * weights).sum())(x)
    ranks = np.argsort(np.argsort(x, 1), 1)
    np.testing.assert_array_equal(got, weights[ranks])
