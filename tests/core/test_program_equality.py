"""Programs that are equal but for their objects."""

import numpy as np
import pytest

import olympus
import olympus.numpy as jnp
from olympus import lax
from olympus._src.core import program_equality

X = np.ones(3, np.float32)


def program(f, *args):
    return olympus.make_olympuspr(f)(*args).olympuspr


def scanned(factor):
    def f(x):
        return lax.scan(lambda c, y: (c * factor, y), 1.0, x)

    return f


@pytest.mark.parametrize(
    "make",
    [
        lambda: lambda x: jnp.sin(x) * 2.0,
        lambda: lambda x: jnp.sum(x, axis=0) + np.nan,
        lambda: scanned(2.0),
        lambda: olympus.jit(lambda x: x @ x),
    ],
)
def test_the_same_function_traced_twice(make):
    assert program_equality.alike(program(make(), X), program(make(), X))


@pytest.mark.parametrize(
    ("f", "g"),
    [
        (lambda x: jnp.sin(x), lambda x: jnp.cos(x)),
        (lambda x: x * 2.0, lambda x: x * 3.0),
        (lambda x: x * 0.0, lambda x: x * -0.0),
        (lambda x: (x + 1, x), lambda x: (x, x + 1)),
        (lambda x: jnp.sin(x) - x, lambda x: x - jnp.sin(x)),
        (lambda x: x, lambda x: (x, x)),
        (lambda x: jnp.sum(x, keepdims=True), lambda x: x[:1]),
        (scanned(2.0), scanned(3.0)),
    ],
)
def test_different_functions(f, g):
    assert not program_equality.alike(program(f, X), program(g, X))


def test_types_count():
    def f(x):
        return x * x

    assert not program_equality.alike(program(f, X), program(f, X[:2]))
    assert not program_equality.alike(program(f, 1.0), program(f, np.float32(1)))
