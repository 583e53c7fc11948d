"""Solutions and gradients that are recorded from JAX, in double precision."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np

TIGHT = {"rtol": 1e-9, "atol": 1e-9}


def cases(library: str) -> dict[str, Any]:
    """Functions without arguments, by name, over a library."""
    top = importlib.import_module(library)
    jnp = importlib.import_module(f"{library}.numpy")
    odeint = importlib.import_module(f"{library}.experimental.ode").odeint
    ts = np.linspace(0.0, 2.0, 4)

    def pendulum(y: Any, t: Any, m: Any, g: Any) -> Any:
        return {"angle": y["speed"], "speed": -m * y["speed"] - g * jnp.sin(y["angle"])}

    start = {"angle": np.array(1.5), "speed": np.array(0.0)}

    def pendulum_loss(y: Any, t: Any, m: Any, g: Any) -> Any:
        return jnp.sum(odeint(pendulum, y, t, m, g, **TIGHT)["angle"] ** 2)

    def oscillator(y: Any, t: Any, mu: Any) -> Any:
        return jnp.stack([y[1], mu * (1 - y[0] ** 2) * y[1] - y[0]])

    def spiral(y: Any, t: Any, k: Any) -> Any:
        return k * y * jnp.cos(t)

    def decay_loss(k: Any) -> Any:
        return jnp.sum(odeint(lambda y, t, k: -k * y, np.ones(2), ts, k, **TIGHT))

    k = np.array(-0.1 + 1.0j)
    return {
        "pendulum": lambda: odeint(pendulum, start, ts, 0.3, 9.8, **TIGHT),
        "gradient of pendulum": lambda: top.grad(pendulum_loss, (0, 1, 2, 3))(
            start, ts, 0.3, 9.8
        ),
        "oscillator": lambda: odeint(
            oscillator, np.array([2.0, 0.0]), ts, 3.0, **TIGHT
        ),
        "longest step": lambda: odeint(oscillator, np.ones(2), ts, 0.5, hmax=0.01),
        "complex": lambda: _as_reals(odeint(spiral, np.array(1 + 0j), ts, k, **TIGHT)),
        "mapped": lambda: top.vmap(
            lambda mu: odeint(oscillator, np.array([2.0, 0.0]), ts, mu, **TIGHT)
        )(np.array([0.5, 3.0])),
        "second derivative": lambda: top.grad(top.grad(decay_loss))(0.7),
    }


def _as_reals(z: Any) -> Any:
    return [z.real, z.imag]
