"""Transformed functions go away with what their closures hold."""

from __future__ import annotations

import gc
import weakref

import pytest

import olympus
import olympus.numpy as onp
from olympus import lax

pytestmark = pytest.mark.usefixtures("few_objects")


class Thing:
    number = 2.0


def called(wrap):
    """Weak references to a function of a closure, and to what that holds."""
    thing = Thing()

    def f(x):
        return thing.number * x

    g = wrap(f)
    g(1.0), g(onp.ones(2)[0])
    return weakref.ref(f), weakref.ref(thing)


WRAPPERS = {
    "jit": olympus.jit,
    "jit of grad": lambda f: olympus.jit(olympus.grad(f)),
    "grad": olympus.grad,
    "vmap": lambda f: lambda x: olympus.vmap(f)(onp.stack([x, x])),
    "checkpoint": lambda f: olympus.grad(olympus.checkpoint(f)),
    "jit with a static argument": lambda f: (
        lambda x: olympus.jit(lambda x, k: f(x), static_argnums=1)(x, "k")
    ),
}


@pytest.mark.parametrize(
    "name",
    [
        "jit",
        *(pytest.param(n, marks=pytest.mark.slow) for n in WRAPPERS if n != "jit"),
    ],
)
def test_a_function_goes_away(name):
    refs = called(WRAPPERS[name])
    gc.collect()
    assert [r() for r in refs] == [None, None]


@pytest.mark.slow
def test_bodies_of_loops_go_with_the_caches():
    refs = called(lambda f: lambda x: lax.fori_loop(0, 2, lambda _, c: f(c), x))
    olympus.clear_caches()
    gc.collect()
    assert [r() for r in refs] == [None, None]


@pytest.mark.slow
def test_few_large_arrays_are_kept():
    refs = []
    for i in range(20):
        table = onp.full(1 << 19, float(i))
        refs.append(weakref.ref(table))
        olympus.jit(lambda x, table=table: x + onp.sum(table))(1.0)
    del table
    gc.collect()
    assert sum(r() is not None for r in refs) <= 8


def test_names_of_arguments_outlive_the_function():
    traced = olympus.jit(lambda speed, *rest: speed).trace(1.0, 2.0, 3.0)
    gc.collect()
    assert list(traced.lower().args_info[0][0].aval.shape) == []
    with pytest.raises(TypeError, match="speed"):
        traced.lower().compile()(onp.ones(3), 2.0, 3.0)
