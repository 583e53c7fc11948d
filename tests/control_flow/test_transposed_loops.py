"""Loops that are linear in some carries only: counters and known values beside."""

import numpy as np
import pytest

import olympus
import olympus.numpy as jnp
from olympus import lax
from tests.comparing import assert_close

X = np.array([1.0, -2.0, 0.5], np.float32)
T = np.arange(3, dtype=np.float32)


def double_in_counts(x):
    return lax.fori_loop(0, 3, lambda i, c: c * 2, x)


def multiply_by_counter(x):
    return lax.fori_loop(0, 3, lambda i, c: c * (i + 1), x)


def carry_known_beside(x):
    def step(c, t):
        return (c[0] + 1, c[1] * c[0] + t), (c[0], c[1] * 2 + t * c[0])

    (_, last), (_, ys) = lax.scan(step, (1.0, 0.0), x, reverse=True)
    return last, ys


def take_known_slices(x):
    def step(c, t):
        return (c[0] + t[1], c[1] + c[0] * t[0]), c[1]

    return lax.scan(step, (1.0, 0.0), (x, T))


def add_constants(x):
    return lax.fori_loop(0, 3, lambda i, c: c * 2 + x * i, jnp.zeros(3))


def choose_branches(x):
    def step(i, c):
        return lax.cond(i % 2 == 0, lambda c: c * 2, lambda c: c + x, c)

    return lax.fori_loop(0, 4, step, x)


def nest_loops(x):
    def outer(i, c):
        return lax.fori_loop(0, 2, lambda j, d: d * (i + j + 1), c)

    return lax.fori_loop(0, 3, outer, x)


def take_positions(x):
    x = jnp.asarray(x)
    return lax.fori_loop(0, 3, lambda i, c: c.at[i].add(x[2 - i] * i), jnp.zeros(3))


LOOPS = [
    double_in_counts,
    multiply_by_counter,
    carry_known_beside,
    take_known_slices,
    add_constants,
    choose_branches,
    nest_loops,
    take_positions,
]


@pytest.mark.parametrize("f", LOOPS)
def test_the_transpose_is_that_of_the_derivative(f):
    out = f(X)
    cts = olympus.tree.map(lambda y: jnp.sin(y + 1), out)
    transposed = olympus.linear_transpose(f, X)
    (wanted,) = olympus.vjp(f, X)[1](cts)
    for run in (transposed, olympus.jit(transposed)):
        assert_close(run(cts)[0], wanted)
    stacked = olympus.tree.map(lambda y: jnp.stack([y, 2 * y]), cts)
    (rows,) = olympus.vmap(transposed)(stacked)
    assert_close(rows, jnp.stack([wanted, 2 * wanted]))
    back = olympus.linear_transpose(lambda ct: transposed(ct)[0], out)(X)
    olympus.tree.map(assert_close, back[0], _linear_part(f))


def _linear_part(f):
    return olympus.jvp(f, (X,), (X,))[1]


@pytest.mark.parametrize(
    "f",
    [
        lambda x: x * x,
        lambda x: jnp.where(x > 0, x, 0),
        lambda x: lax.select(x > 0, x * 2, x * 3),
        lambda x: x[x.astype(int)],
        lambda x: lax.cond(x.sum() > 0, lambda y: y, lambda y: 2 * y, x),
        lambda x: lax.fori_loop(0, 3, lambda i, c: c * c, x),
        olympus.jit(lambda x: x * x),
        olympus.checkpoint(lambda x: x * x),
    ],
)
def test_functions_that_are_not_linear_are_refused(f):
    """A mark of linear operands was taken for a value, or for True."""
    with pytest.raises(
        TypeError, match="linear_transpose: the function must be linear"
    ):
        olympus.linear_transpose(f, X)(X)


def test_systems_are_linear_in_the_right_side_only():
    matrix = np.eye(3, dtype=np.float32) * 2
    solve = jnp.linalg.solve
    (ct,) = olympus.linear_transpose(lambda b: solve(matrix, b), X)(X)
    assert_close(ct, X / 2)
    with pytest.raises(NotImplementedError, match="linear only in b"):
        olympus.linear_transpose(lambda a: solve(a, X), matrix)(X)
