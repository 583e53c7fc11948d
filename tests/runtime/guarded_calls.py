"""Calls that may move values to a device, of a library with JAX's names."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

import numpy as np


def calls(name: str) -> dict[str, Callable[[], Any]]:
    """The calls, by what they do; what they take is on the device already."""
    top = importlib.import_module(name)
    jnp, random = importlib.import_module(f"{name}.numpy"), top.random
    host = np.ones(3, np.float32)
    x, matrix = jnp.asarray(host), jnp.eye(3)
    key, one = random.key(0), jnp.asarray(np.int32(1))
    return {
        "zeros": lambda: jnp.zeros(3),
        "zeros ()": lambda: jnp.zeros(()),
        "ones": lambda: jnp.ones(3),
        "full": lambda: jnp.full(3, 2.0),
        "empty": lambda: jnp.empty(3),
        "zeros_like": lambda: jnp.zeros_like(x),
        "full_like": lambda: jnp.full_like(x, 2.0),
        "arange": lambda: jnp.arange(3),
        "arange of 100000": lambda: jnp.arange(100_000),
        "arange of floats": lambda: jnp.arange(3.0),
        "arange of bfloat16": lambda: jnp.arange(3, dtype="bfloat16"),
        "arange from 1": lambda: jnp.arange(1, 4),
        "arange by 2": lambda: jnp.arange(0, 10, 2),
        "arange by 0.25": lambda: jnp.arange(0.5, 3, 0.25),
        "linspace": lambda: jnp.linspace(0, 1, 5),
        "eye": lambda: jnp.eye(3),
        "tri": lambda: jnp.tri(3),
        "indices": lambda: jnp.indices((2, 2)),
        "diag_indices": lambda: jnp.diag_indices(3),
        "tril_indices": lambda: jnp.tril_indices(3),
        "meshgrid": lambda: jnp.meshgrid(x, x),
        "hanning": lambda: jnp.hanning(5),
        "array of a list": lambda: jnp.array([1.0, 2.0]),
        "array of NumPy's": lambda: jnp.array(host),
        "array of a number": lambda: jnp.array(1.0),
        "array of arrays": lambda: jnp.array([x, x]),
        "array of an array": lambda: jnp.array(x),
        "asarray of NumPy's": lambda: jnp.asarray(host),
        "float32": lambda: jnp.float32(1.0),
        "device_put of NumPy's": lambda: top.device_put(host),
        "device_put of a number": lambda: top.device_put(1.0),
        "key": lambda: random.key(1),
        "split": lambda: random.split(key),
        "fold_in": lambda: random.fold_in(key, 1),
        "normal": lambda: random.normal(key, (3,)),
        "uniform": lambda: random.uniform(key, (3,)),
        "x + 1": lambda: x + 1,
        "x + float32": lambda: x + np.float32(1),
        "x + NumPy's": lambda: x + host,
        "x ** 2": lambda: x**2,
        "x > 0": lambda: x > 0,
        "sin of a number": lambda: jnp.sin(1.0),
        "where with a number": lambda: jnp.where(x > x, x, 0.0),
        "clip": lambda: jnp.clip(x, 0, 1),
        "x[0]": lambda: x[0],
        "x[1:]": lambda: x[1:],
        "x[NumPy's]": lambda: x[np.array([0, 1])],
        "at[0].set": lambda: x.at[0].set(1.0),
        "iteration": lambda: list(x),
        "concatenate with NumPy's": lambda: jnp.concatenate([x, host]),
        "stack": lambda: jnp.stack([x, x]),
        "pad": lambda: jnp.pad(x, 1),
        "roll": lambda: jnp.roll(x, 1),
        "take": lambda: jnp.take(x, one),
        "take at NumPy's": lambda: jnp.take(x, np.array([0])),
        "percentile": lambda: jnp.percentile(x, 50),
        "allclose": lambda: jnp.allclose(x, x),
        "allclose with a tolerance": lambda: jnp.allclose(x, x, 1e-3),
        "solve": lambda: jnp.linalg.solve(matrix, x),
        "jit of NumPy's": lambda: top.jit(lambda x: x * 2)(host),
        "jit of a number": lambda: top.jit(lambda x: x * 2)(1.0),
        "jit with a constant": lambda: top.jit(lambda x: x * host)(x),
        "jit that makes an array": lambda: top.jit(lambda: jnp.ones(3))(),
        "grad": lambda: top.grad(lambda x: (x * x).sum())(x),
        "lax.iota": lambda: top.lax.iota("int32", 3),
        "lax.full": lambda: top.lax.full((3,), 1.0),
        "scan": lambda: top.lax.scan(lambda c, x: (c + x, c), 0.0, x),
        "np.asarray": lambda: np.asarray(x),
        "float": lambda: float(one),
        "choice": lambda: random.choice(key, 5),
        "x[array]": lambda: x[one],
        "std": lambda: jnp.std(x),
        "softmax": lambda: top.nn.softmax(x),
    }


def are_allowed(name: str, level: str) -> dict[str, bool]:
    """Which of the calls a guard of a level lets pass, at their second time."""
    guard = importlib.import_module(name).transfer_guard
    allowed = {}
    for what, call in calls(name).items():
        call()
        try:
            with guard(level):
                call()
            allowed[what] = True
        except Exception as error:
            if "Disallowed" not in str(error):
                raise
            allowed[what] = False
    return allowed
