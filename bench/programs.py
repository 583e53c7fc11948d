"""The programs that are timed, written once for both libraries.

Each function takes a `Library` and returns callables by name. A callable does the work
once; what it returns is waited for.
"""

from __future__ import annotations

import importlib
import random
from typing import Any

import numpy as np


class Library:
    """olympus or jax, under one set of names."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.top = importlib.import_module(name)
        self.np = importlib.import_module(f"{name}.numpy")
        self.lax = importlib.import_module(f"{name}.lax")
        if name == "jax":
            self.make_program = self.top.make_jaxpr
        else:
            self.make_program = self.top.make_olympuspr

    def fresh(self, f: Any) -> Any:
        """A function with code of its own, so that no cache knows it."""
        tag = random.getrandbits(60)
        space: dict[str, Any] = {"f": f}
        exec(f"def g(*args):\n    return f(*args)\n# {tag}", space)
        return space["g"]


# -- models ----------------------------------------------------------------------------


def mlp(lib: Library, layers: int, width: int = 32, batch: int = 16) -> Any:
    """Loss, parameters and input of a perceptron of `layers` layers."""
    rng = np.random.default_rng(0)
    params = [
        (
            lib.np.asarray(rng.normal(size=(width, width)).astype("float32") * 0.1),
            lib.np.zeros(width),
        )
        for _ in range(layers)
    ]
    x = lib.np.asarray(rng.normal(size=(batch, width)).astype("float32"))

    def loss(params: Any, x: Any) -> Any:
        for w, b in params:
            x = lib.np.tanh(x @ w + b)
        return lib.np.mean(x**2)

    return loss, params, x


def transformer(lib: Library, layers: int, width: int = 32, heads: int = 4) -> Any:
    """Loss, parameters and input of a small transformer."""
    jnp = lib.np
    rng = np.random.default_rng(0)

    def weights(*shape: int) -> Any:
        return jnp.asarray(rng.normal(size=shape).astype("float32") * 0.1)

    params = [
        {
            "qkv": weights(width, 3 * width),
            "out": weights(width, width),
            "up": weights(width, 4 * width),
            "down": weights(4 * width, width),
            "scale": jnp.ones(width),
            "shift": jnp.zeros(width),
        }
        for _ in range(layers)
    ]
    x = weights(2, 16, width)

    def norm(x: Any, p: Any) -> Any:
        mean = jnp.mean(x, axis=-1, keepdims=True)
        variance = jnp.mean((x - mean) ** 2, axis=-1, keepdims=True)
        return (x - mean) / jnp.sqrt(variance + 1e-5) * p["scale"] + p["shift"]

    def softmax(x: Any) -> Any:
        e = jnp.exp(x - jnp.max(x, axis=-1, keepdims=True))
        return e / jnp.sum(e, axis=-1, keepdims=True)

    def attention(x: Any, p: Any) -> Any:
        b, t, d = x.shape
        qkv = (x @ p["qkv"]).reshape(b, t, 3, heads, d // heads)
        q, k, v = (jnp.transpose(qkv[:, :, i], (0, 2, 1, 3)) for i in range(3))
        scores = q @ jnp.swapaxes(k, -1, -2) / np.sqrt(d // heads).astype("float32")
        mask = jnp.tril(jnp.ones((t, t), bool))
        a = softmax(jnp.where(mask, scores, -1e9))
        return jnp.transpose(a @ v, (0, 2, 1, 3)).reshape(b, t, d) @ p["out"]

    def loss(params: Any, x: Any) -> Any:
        for p in params:
            x = x + attention(norm(x, p), p)
            x = x + jnp.maximum(norm(x, p) @ p["up"], 0) @ p["down"]
        return jnp.mean(x**2)

    return loss, params, x


# -- groups of cases -------------------------------------------------------------------


def calls(lib: Library) -> dict[str, Any]:
    """Calls of programs that are compiled already."""
    x = lib.np.arange(100.0)
    small = lib.top.jit(lambda x: x + 1)
    tree = {f"k{i}": lib.np.ones(3) for i in range(100)}
    total = lib.top.jit(lambda t: sum(t.values()))
    scale = lib.top.jit(lambda t: {k: 2 * v for k, v in t.items()})
    return {
        "jit call, one array": lambda: small(x),
        "jit call, 100-leaf tree": lambda: total(tree),
        "jit call, 100 leaves in and out": lambda: scale(tree),
    }


def eager(lib: Library) -> dict[str, Any]:
    """NumPy-level calls outside of jit."""
    jnp = lib.np
    x = jnp.arange(100.0)
    host = np.arange(100.0, dtype="float32")
    m = jnp.ones((10, 10))
    return {
        "eager x + x": lambda: x + x,
        "eager x + 1": lambda: x + 1,
        "eager log(x)": lambda: jnp.log(x),
        "eager x[0]": lambda: x[0],
        "eager x[1:3]": lambda: x[1:3],
        "eager asarray(numpy)": lambda: jnp.asarray(host),
        "eager where": lambda: jnp.where(x > 3, x, 0.0),
        "eager .at[].set": lambda: x.at[3].set(1.0),
        "eager sum": lambda: jnp.sum(x),
        "eager m @ m": lambda: m @ m,
        "eager zeros": lambda: jnp.zeros((3, 4)),
        "eager reshape": lambda: m.reshape(100),
    }


def eager_grad(lib: Library) -> dict[str, Any]:
    """Gradients outside of jit."""
    loss, params, x = mlp(lib, 3)
    gradient = lib.top.grad(loss)
    return {"eager grad of an MLP of 3 layers": lambda: gradient(params, x)}


def tracing(lib: Library) -> dict[str, Any]:
    """From a Python function to a program."""
    loss, params, x = mlp(lib, 50)
    t_loss, t_params, t_x = transformer(lib, 6)

    def trace(f: Any, *args: Any) -> Any:
        return lambda: lib.make_program(lib.fresh(f))(*args)

    return {
        "trace MLP-50": trace(loss, params, x),
        "trace grad MLP-50": trace(lib.top.grad(loss), params, x),
        "trace transformer-6": trace(t_loss, t_params, t_x),
        "trace grad transformer-6": trace(lib.top.grad(t_loss), t_params, t_x),
    }


class Prepared:
    """A case whose every turn needs something new: `run` of what `prepare` gives."""

    def __init__(self, prepare: Any, run: Any) -> None:
        self.prepare = prepare
        self.run = run


def _lower(lib: Library, f: Any, *args: Any) -> Prepared:
    jit = lib.top.jit
    return Prepared(
        lambda: jit(lib.fresh(f)).trace(*args), lambda traced: traced.lower()
    )


def lowering(lib: Library) -> dict[str, Any]:
    """From a program to StableHLO."""
    found = {}
    for name, (loss, params, x) in {
        "MLP-50": mlp(lib, 50),
        "transformer-6": transformer(lib, 6),
    }.items():
        for what, f in (("", loss), ("grad ", lib.top.grad(loss))):
            found[f"lower {what}{name}"] = _lower(lib, f, params, x)
    return found


def cold(lib: Library) -> dict[str, Any]:
    """First calls: trace, lower, compile, run."""
    loss, params, x = mlp(lib, 10)
    t_loss, t_params, t_x = transformer(lib, 2)

    def first(f: Any, *args: Any) -> Any:
        def run() -> Any:
            seed = float(random.random())
            return lib.top.jit(lib.fresh(lambda *a: f(*a) * seed))(*args)

        return run

    return {
        "cold jit call, x + 1": first(lambda x: x + 1, x),
        "cold jit call, MLP-10": first(loss, params, x),
        "cold jit call, transformer-2": first(t_loss, t_params, t_x),
    }


def kernels(lib: Library) -> dict[str, Any]:
    """Run time of compiled programs."""
    jnp, jit = lib.np, lib.top.jit
    rng = np.random.default_rng(0)
    big = jnp.asarray(rng.normal(size=10_000_000).astype("float32"))
    million = jnp.asarray(rng.normal(size=1_000_000).astype("float32"))
    m = jnp.asarray(rng.normal(size=(512, 512)).astype("float32"))
    loss, params, x = mlp(lib, 10, 256, 128)
    jit_loss = jit(loss)
    add, exp = jit(lambda x: x + x), jit(jnp.exp)
    sort, cumsum = jit(jnp.sort), jit(jnp.cumsum)
    matmul, total = jit(lambda m: m @ m), jit(jnp.sum)
    return {
        "run add 1e7": lambda: add(big),
        "run exp 1e7": lambda: exp(big),
        "run sort 1e6": lambda: sort(million),
        "run cumsum 1e6": lambda: cumsum(million),
        "run sum 1e6": lambda: total(million),
        "run matmul 512": lambda: matmul(m),
        "run MLP-10": lambda: jit_loss(params, x),
    }


def growth(lib: Library) -> dict[str, Any]:
    """Cost as a function of the number of equations and of leaves."""
    jnp = lib.np
    found: dict[str, Any] = {}
    x = jnp.ones(3)
    for n in (100, 1_000, 10_000):

        def chain(x: Any, n: int = n) -> Any:
            for _ in range(n):
                x = x * 1.0001
            return x

        found[f"trace {n} equations"] = lambda f=chain: lib.make_program(lib.fresh(f))(
            x
        )
        found[f"lower {n} equations"] = _lower(lib, chain, x)
    for n in (30, 300, 3_000):
        leaves = [jnp.ones(()) for _ in range(n)]
        identity = lib.top.jit(lambda xs: xs[0] + xs[-1])
        found[f"call with {n} leaves"] = lambda f=identity, xs=leaves: f(xs)
    return found


GROUPS = {
    f.__name__: f
    for f in (calls, eager, eager_grad, tracing, lowering, cold, kernels, growth)
}
