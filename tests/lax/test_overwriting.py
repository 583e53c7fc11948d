"""Updates that are computed from what they are written over."""

from __future__ import annotations

import re

import numpy as np
import pytest

import olympus
import olympus.numpy as jnp
from olympus import lax

X = np.random.default_rng(0).normal(size=8).astype(np.float32)
INDEX = np.array([3, 0, 7, 2, 2, 5, 1, 6])

# XLA computes the first two with one more axis.
SOURCES = {
    "taken elements": (lambda x: x[INDEX], lambda x: x[INDEX]),
    "cumulative sums": (jnp.cumsum, np.cumsum),
    "plain": (lambda x: x * 2, lambda x: x * 2),
}


def shift(x):
    return x.at[1:].set(x[:-1])


def shift_sines(x):
    return x.at[2:].set(jnp.sin(x[:-2]))


def add_shifted(x):
    return x.at[2:].add(x[:-2])


def update(x):
    return lax.dynamic_update_slice(x, x[:6] + 1, (2,))


def in_loop(x):
    return lax.fori_loop(0, 2, lambda i, y: shift(y[INDEX]), x)


EXPECTED = {
    shift: lambda x: np.r_[x[:1], x[:-1]],
    shift_sines: lambda x: np.r_[x[:2], np.sin(x[:-2])],
    add_shifted: lambda x: np.r_[x[:2], x[2:] + x[:-2]],
    update: lambda x: np.r_[x[:2], x[:6] + 1],
    in_loop: lambda x: EXPECTED[shift](EXPECTED[shift](x[INDEX])[INDEX]),
}


@pytest.mark.parametrize("f", EXPECTED)
@pytest.mark.parametrize("source", SOURCES)
def test_what_was_there_is_read(f, source):
    make, expected = SOURCES[source]
    out = olympus.jit(lambda x: f(make(x)))(X)
    np.testing.assert_allclose(out, EXPECTED[f](expected(X)), rtol=1e-5)


@olympus.custom_jvp
def shift_by_rule(x):
    return shift(x)


shift_by_rule.defjvp(lambda x, t: (shift(*x), shift(*t)))

# The update is inside of what XLA inlines, and its operand outside.
PLACES = {
    "a jitted function": olympus.jit(shift),
    "checkpoint": olympus.checkpoint(shift),
    "a loop of one step": lambda x: lax.fori_loop(0, 1, lambda i, y: shift(y), x),
    "a branch": lambda x: lax.cond(x[0] < 9, shift, lambda y: y, x),
    "a custom rule": shift_by_rule,
}


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("source", SOURCES)
def test_operands_from_outside(place, source):
    make, expected = SOURCES[source]
    out = olympus.jit(lambda x: PLACES[place](make(x)))(X)
    np.testing.assert_allclose(out, EXPECTED[shift](expected(X)), rtol=1e-5)


@pytest.mark.parametrize("source", SOURCES)
def test_operands_that_are_computed_twice(source):
    make, expected = SOURCES[source]
    out = olympus.jit(lambda x: make(x).at[1:].set(make(x)[:-1]))(X)
    np.testing.assert_allclose(out, EXPECTED[shift](expected(X)), rtol=1e-5)


def test_plain_updates_have_no_barrier():
    f = lambda x, u: jnp.sin(x).at[1:].set(u) + x.at[:2].set(1)  # noqa: E731
    text = olympus.jit(f).lower(X, X[1:]).as_text()
    assert "optimization_barrier" not in text


def test_results_that_are_reshaped():
    # XLA gives the updates of a scatter one more axis.
    def f(x, i):
        y = lax.dynamic_update_slice(x, x[:9, :9] + 1, (i, i + 1))
        return olympus.ops.segment_sum(y, np.zeros(12, np.int32), 1)

    x = np.arange(144).reshape(12, 12)
    y = x.copy()
    y[1:10, 2:11] = x[:9, :9] + 1
    np.testing.assert_array_equal(olympus.jit(f)(x, 1)[0], y.sum(0))


@pytest.mark.parametrize("window", [1, 3, 9, 10])
@pytest.mark.parametrize("start", [-20, -2, 0, 4, 30])
def test_cotangents_of_computed_windows_are_added_in_place(window, start):
    """What each step reads and overwrites, its derivative reads and overwrites too."""
    x = np.linspace(1, 2, 10, dtype=np.float32)

    def f(x, i):
        for k in range(4):
            part = lax.dynamic_slice(x, (i + k,), (window,))
            x = lax.dynamic_update_slice(x, part * 1.5, (i + k + 1,))
        return x

    def place(i):
        return min(max(i + 10 if i < 0 else i, 0), 10 - window)

    matrix = np.eye(10)
    for k in range(4):
        a, b = place(start + k), place(start + k + 1)
        step = np.eye(10)
        step[b : b + window] = 1.5 * np.eye(10)[a : a + window]
        matrix = step @ matrix
    got = olympus.jit(olympus.jacrev(f))(x, start)
    np.testing.assert_allclose(got, matrix, rtol=1e-6)
    np.testing.assert_allclose(olympus.jit(olympus.jacfwd(f))(x, start), matrix)
    grad = olympus.grad(lambda x, i: (f(x, i) ** 2).sum())
    expected = 2 * matrix.T @ matrix @ x
    np.testing.assert_allclose(olympus.jit(grad)(x, start), expected, rtol=1e-5)
    texts = [olympus.jit(g).lower(x, start).as_text() for g in (f, grad)]
    # Without those behind numbers that positions differ by.
    held = [len(re.findall(r"optimization_barrier.*xf32>$", t, re.M)) for t in texts]
    assert window == 10 or held[0] == held[1]
