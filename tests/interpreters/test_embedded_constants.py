"""Which constants of a program are written in it, and which are arguments."""

from __future__ import annotations

import numpy as np
import pytest

import olympus
import olympus.numpy as jnp
from olympus import lax

X = np.arange(12, dtype=np.float32).reshape(6, 2)


def sum_of_rows(positions, convert=jnp.asarray):
    """A function that reads rows by each of some lists of positions."""
    return lambda x: sum(x[convert(p)] * (i + 1) for i, p in enumerate(positions))


def count_arguments(f, *args):
    text = olympus.jit(f).lower(*args).as_text()
    return text[text.index("@main(") : text.index(") ->")].count("%arg")


@pytest.mark.parametrize("convert", [jnp.asarray, np.asarray])
@pytest.mark.parametrize("n", [3, 4, 9])
def test_short_lists_of_positions_are_written_where_there_are_several(n, convert):
    positions = [np.array([i % 6, 5 - i % 6, -1], np.int32) for i in range(n)]
    f = sum_of_rows(positions, convert)
    assert count_arguments(f, X) == 1 + (n if n < 4 else 0)
    want = sum(X[p] * (i + 1) for i, p in enumerate(positions))
    np.testing.assert_array_equal(olympus.jit(f)(X), want)
    grad = olympus.jit(olympus.grad(lambda x: f(x).sum()))(X)
    expected = np.zeros_like(X)
    for i, p in enumerate(positions):
        np.add.at(expected, p, i + 1)
    np.testing.assert_array_equal(grad, expected)


@pytest.mark.parametrize(
    ("dtype", "size", "n_arguments"),
    [("int8", 3, 1), ("bool", 3, 1), ("uint32", 64, 1), ("int32", 65, 6),
     ("float32", 3, 6), ("int4", 3, 6)],
)  # fmt: skip
def test_data_and_long_lists_are_arguments(dtype, size, n_arguments):
    """Functions that are made again with other such arrays share a program."""
    values = [jnp.asarray(np.arange(size) % 2 + i, dtype) for i in range(5)]

    def f(x):
        return sum(x * v.astype(np.float32) for v in values)

    x = np.ones(size, np.float32)
    assert count_arguments(f, x) == n_arguments
    want = sum(np.asarray(v).astype(np.float32) for v in values)
    np.testing.assert_array_equal(olympus.jit(f)(x), want)


def test_positions_within_loops_and_mapped_functions():
    positions = [np.array([i, 5 - i]) for i in range(6)]
    f = sum_of_rows(positions)

    def loop(x):
        return lax.fori_loop(0, 3, lambda _, y: y.at[:2].add(f(y)), x)

    want = X.copy()
    for _ in range(3):
        want[:2] += f(want)
    np.testing.assert_array_equal(olympus.jit(loop)(X), want)
    mapped = olympus.jit(olympus.vmap(f))(np.stack([X, X + 1]))
    np.testing.assert_array_equal(mapped, [f(X), f(X + 1)])


def test_deleted_constants_are_refused():
    positions = [jnp.asarray([i, 1]) for i in range(5)]
    f = olympus.jit(sum_of_rows(positions))
    positions[2].delete()
    with pytest.raises(RuntimeError, match="deleted"):
        f(X)
