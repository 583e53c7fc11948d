"""Calls of compiled programs in all the forms that users write them.

The programs do next to nothing: what is timed is the way to them and back.
"""

from __future__ import annotations

import dataclasses
import functools
from typing import Any

import numpy as np

from bench.models import Library


def forms(lib: Library) -> dict[str, Any]:
    """Arguments and results of every kind, on arrays of four numbers."""
    jit, jnp = lib.top.jit, lib.np
    x, y = jnp.ones(4), jnp.ones(5)
    add = jit(lambda x: x + 1)
    pair = jit(lambda x, y: x + y)
    three = jit(lambda x, y: (x + y, x - y, x * y))
    each = jit(lambda d: {k: v + 1 for k, v in d.items()})
    power = jit(lambda x, n: x * n, static_argnums=1)
    named = jit(lambda x, n: x * n, static_argnames="n")
    slope = jit(lib.top.value_and_grad(lambda x: (x * x).sum()))
    compiled = add.lower(x).compile()
    ten, many = ({f"k{i}": x for i in range(n)} for n in (10, 1000))
    host = np.ones(4, np.float32)
    model = _model(lib)
    layers = [_layer_type(lib)(x, x, "tanh") for _ in range(3)]
    stepped = jit(lambda layers: lib.top.tree.map(lambda v: v + 1, layers))
    return {
        "call x + 1": lambda: add(x),
        "call two in, three out": lambda: three(x, x),
        "call dict of 10 leaves": lambda: each(ten),
        "call dict of 1000 leaves": lambda: each(many),
        "call 3 data classes": lambda: stepped(layers),
        "call static argument": lambda: power(x, 3),
        "call static by name": lambda: named(x, n=3),
        "call by keywords": lambda: pair(x=x, y=x),
        "call donated": _donating(jit, x),
        "call NumPy argument": lambda: add(host),
        "call Python number": lambda: pair(x, 2.0),
        "call Compiled": lambda: compiled(x),
        "call method": lambda: model.scaled(x),
        "call value_and_grad": lambda: slope(x),
        "call alternating shapes": lambda: (add(x), add(y)),
        "call in a loop of 1000 steps": lambda: _loop(add, x),
        "call read as NumPy": lambda: np.asarray(add(x)),
    }


def _layer_type(lib: Library) -> Any:
    @functools.partial(
        lib.top.tree_util.register_dataclass,
        data_fields=["weights", "bias"],
        meta_fields=["activation"],
    )
    @dataclasses.dataclass
    class Layer:
        weights: Any
        bias: Any
        activation: str

    return Layer


def _model(lib: Library) -> Any:
    class Model:
        @functools.partial(lib.top.jit, static_argnums=0)
        def scaled(self, x: Any) -> Any:
            return 2 * x

    return Model()


def _donating(jit: Any, x: Any) -> Any:
    step = jit(lambda x: x + 1, donate_argnums=0)
    state = [step(x + 0)]

    def call() -> Any:
        state[0] = step(state[0])
        return state[0]

    return call


def _loop(add: Any, x: Any) -> Any:
    for _ in range(1000):
        x = add(x)
    return x


def operations(lib: Library) -> dict[str, Any]:
    """Operations outside of jit, on arrays of four numbers."""
    jnp = lib.np
    x = jnp.asarray(np.array([1.0, -2.0, 3.0, 0.5], np.float32))
    hundred = jnp.asarray(np.arange(100, dtype=np.float32))
    return {
        "small -x": lambda: -x,
        "small x + x": lambda: x + x,
        "small x + 1": lambda: x + 1,
        "small sin": lambda: jnp.sin(x),
        "small argmax": lambda: jnp.argmax(x),
        "small mean of an axis": lambda: jnp.mean(x, axis=0),
        "small sum": lambda: jnp.sum(x),
        "small x.sum()": lambda: x.sum(),
        "small where": lambda: jnp.where(x > 0, x, x),
        "small linspace": lambda: jnp.linspace(0, 1, 5),
        "small norm": lambda: jnp.linalg.norm(x),
        "small iteration over 100": lambda: list(hundred),
        "small unpacking of 4": lambda: _unpack(x),
    }


def _unpack(x: Any) -> Any:
    a, b, c, d = x
    return a, b, c, d


GROUPS = {"call_forms": forms, "small_operations": operations}
