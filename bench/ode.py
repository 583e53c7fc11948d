"""Differential equations: what solutions and their gradients take."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np

from bench.models import Library

TOLERANCE = {"rtol": 1e-5, "atol": 1e-5}


def ode(lib: Library) -> dict[str, Any]:
    """An oscillator, a chaotic system and a small network, jitted."""
    odeint = importlib.import_module(f"{lib.top.__name__}.experimental.ode").odeint
    jnp, top, wait = lib.np, lib.top, lib.wait
    rng = np.random.default_rng(0)

    def oscillator(y: Any, t: Any, mu: Any) -> Any:
        return jnp.stack([y[1], mu * (1 - y[0] ** 2) * y[1] - y[0]])

    def lorenz(y: Any, t: Any, s: Any) -> Any:
        x, v, z = y[0], y[1], y[2]
        return jnp.stack([s * (v - x), x * (28.0 - z) - v, x * v - 2.66 * z])

    def network(y: Any, t: Any, weights: Any) -> Any:
        inner, outer = weights
        return outer @ jnp.tanh(inner @ y) - y

    weights = [
        jnp.asarray(rng.normal(size=shape).astype("float32") * 0.3)
        for shape in [(64, 32), (32, 64)]
    ]
    problems = {
        "oscillator": (oscillator, jnp.array([2.0, 0.0]), 5.0, jnp.float32(1.0)),
        "Lorenz": (lorenz, jnp.ones(3), 1.0, jnp.float32(10.0)),
        "network": (network, jnp.ones(32), 3.0, weights),
    }
    cases = {}
    for name, (slope, y0, end, args) in problems.items():
        times = jnp.linspace(0.0, end, 10)

        def path(
            args: Any, slope: Any = slope, y0: Any = y0, times: Any = times
        ) -> Any:
            return odeint(slope, y0, times, args, **TOLERANCE)

        def loss(args: Any, path: Any = path) -> Any:
            return jnp.sum(path(args))

        for what, call in (("", top.jit(path)), ("grad ", top.jit(top.grad(loss)))):
            cases[f"ode {what}{name}"] = lambda call=call, args=args: wait(call(args))
    return cases


GROUPS = {f.__name__: f for f in (ode,)}
