"""How many calls of Python a compiled program can be inside at a time."""

import numpy as np
import pytest

import olympus
import olympus.numpy as jnp
from olympus import lax
from olympus._src.runtime import python_calls

SCALAR = olympus.ShapeDtypeStruct((), np.dtype(np.float32))


def ask(x):
    return olympus.pure_callback(lambda x: np.asarray(x) + 1, SCALAR, x)


def asks_in_a_row(x):
    return ask(jnp.sin(ask(x)) * 2)


def asks_apart(x):
    return ask(x) + ask(x * 2)


def asks_in_branches(x):
    return lax.cond(x > 0, ask, lambda x: ask(x * 2), x)


def asks_in_a_loop(x):
    return lax.fori_loop(0, 3, lambda _, x: ask(x), x)


def asks_apart_in_a_loop(x):
    return lax.fori_loop(0, 3, lambda _, x: asks_apart(x), x)


def asks_around_a_loop(x):
    return ask(asks_in_a_loop(ask(x)))


def asks_beside_a_loop(x):
    return ask(x) * asks_in_a_loop(x)


def asks_where_the_first_joins_only_the_last(x):
    return ask(ask(x) + ask(x * 2))


@pytest.mark.parametrize(
    ("function", "count"),
    [
        (jnp.sin, 0),
        (ask, 1),
        (asks_in_a_row, 1),
        (asks_apart, 2),
        (asks_in_branches, 1),
        (asks_in_a_loop, 1),
        (asks_apart_in_a_loop, 2),
        (asks_around_a_loop, 1),
        (asks_beside_a_loop, 2),
        (asks_where_the_first_joins_only_the_last, 3),
    ],
)
def test_calls_are_counted_that_may_wait_at_once(function, count):
    text = olympus.jit(function).lower(jnp.float32(0.5)).compile().as_text()
    assert python_calls.count_at_once(text) == count
    olympus.jit(function)(0.5)
