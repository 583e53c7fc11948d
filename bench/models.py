"""The models that are timed, written once for both libraries.

Each function takes a `Library` and sizes, and returns a loss and its arguments.
"""

from __future__ import annotations

import importlib
import random
from typing import Any

import numpy as np


class Library:
    """olympus or jax, under one set of names; or NumPy, which has less."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.top: Any = importlib.import_module(name)
        if name == "numpy":
            self.np, self.lax, self.wait = self.top, None, lambda x: x
            return
        self.wait = self.top.block_until_ready
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


def called_blocks(lib: Library, calls: int, width: int = 32) -> Any:
    """Loss, parameters and input of one jitted block that is called many times."""
    jnp = lib.np
    rng = np.random.default_rng(0)
    params = [
        {
            name: jnp.asarray(rng.normal(size=size).astype("float32") * 0.1)
            for name, size in {
                "up": (width, 2 * width),
                "down": (2 * width, width),
                "shift": (width,),
            }.items()
        }
        for _ in range(calls)
    ]
    x = jnp.asarray(rng.normal(size=(16, width)).astype("float32"))

    def block(x: Any, p: Any) -> Any:
        centred = x - jnp.mean(x, axis=-1, keepdims=True)
        scaled = centred / jnp.sqrt(jnp.mean(centred**2, axis=-1, keepdims=True) + 1e-5)
        hidden = jnp.maximum((scaled + p["shift"]) @ p["up"], 0)
        return x + jnp.tanh(hidden @ p["down"])

    def loss(params: Any, x: Any) -> Any:
        run = lib.top.jit(lib.fresh(block))
        for p in params:
            x = run(x, p)
        return jnp.mean(x**2)

    return loss, params, x


def convnet(lib: Library, layers: int, channels: int = 8, size: int = 16) -> Any:
    """Loss, filters and images of a residual network of convolutions."""
    jnp = lib.np
    rng = np.random.default_rng(0)
    filters = [
        jnp.asarray(rng.normal(size=(3, 3, channels, channels)).astype("float32") * 0.1)
        for _ in range(layers)
    ]
    x = jnp.asarray(rng.normal(size=(4, size, size, channels)).astype("float32"))

    def loss(filters: Any, x: Any) -> Any:
        for w in filters:
            moved = lib.lax.conv_general_dilated(
                x, w, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC")
            )
            x = x + jnp.maximum(moved, 0)
        return jnp.mean(x**2)

    return loss, filters, x


def oscillator(lib: Library, steps: int, *, scanned: bool = False) -> Any:
    """Loss, parameters and start of a pendulum by Runge and Kutta's fourth order."""
    jnp = lib.np
    dt = 0.01

    def slope(y: Any, p: Any) -> Any:
        return jnp.stack([y[1], -p[0] * jnp.sin(y[0]) - p[1] * y[1]])

    def step(y: Any, p: Any) -> Any:
        a = slope(y, p)
        b = slope(y + dt / 2 * a, p)
        c = slope(y + dt / 2 * b, p)
        d = slope(y + dt * c, p)
        return y + dt / 6 * (a + 2 * b + 2 * c + d)

    def loss(p: Any, y: Any) -> Any:
        if scanned:
            y, _ = lib.lax.scan(lambda y, _: (step(y, p), None), y, None, length=steps)
        else:
            for _ in range(steps):
                y = step(y, p)
        return jnp.sum(y**2)

    return loss, jnp.asarray([2.0, 0.1]), jnp.asarray([1.0, 0.0])


def recurrent(lib: Library, steps: int, width: int = 64, batch: int = 16) -> Any:
    """Loss, parameters and inputs of a recurrent network by scan."""
    jnp = lib.np
    rng = np.random.default_rng(0)

    def weights(*shape: int) -> Any:
        return jnp.asarray(rng.normal(size=shape).astype("float32") * 0.1)

    params = {"in": weights(width, width), "h": weights(width, width), "b": weights(1)}
    xs = weights(steps, batch, width)

    def loss(params: Any, xs: Any) -> Any:
        def step(h: Any, x: Any) -> Any:
            h = jnp.tanh(x @ params["in"] + h @ params["h"] + params["b"])
            return h, jnp.mean(h)

        h, means = lib.lax.scan(step, jnp.zeros((batch, width)), xs)
        return jnp.mean(h**2) + jnp.mean(means)

    return loss, params, xs
