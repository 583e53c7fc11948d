"""A neural differential equation, with SciPy's solver as the judge of its gradient."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import olympus
import olympus.numpy as jnp
from olympus import lax

END, STEPS = 1.5, 100


def field(np_: Any, w: Any, v: Any, y: Any) -> Any:
    return v @ np_.tanh(w @ y) - 0.3 * y


def integrated(w: Any, v: Any, y: Any, checkpointed: bool) -> Any:
    """The state at the end, by fixed steps of the classic Runge-Kutta method."""
    dt = END / STEPS

    def step(y: Any, _: Any) -> Any:
        a = field(jnp, w, v, y)
        b = field(jnp, w, v, y + dt / 2 * a)
        c = field(jnp, w, v, y + dt / 2 * b)
        d = field(jnp, w, v, y + dt * c)
        return y + dt / 6 * (a + 2 * b + 2 * c + d), None

    body = olympus.checkpoint(step, prevent_cse=False) if checkpointed else step
    return lax.scan(body, y, None, length=STEPS)[0]


def by_the_adjoint(w: np.ndarray, v: np.ndarray, y: np.ndarray) -> tuple[Any, ...]:
    """The end, and the gradient of its squared norm, by the adjoint equation."""
    tight = {"rtol": 1e-11, "atol": 1e-12}
    path = solve_ivp(
        lambda _, y: field(np, w, v, y), (0, END), y, dense_output=True, **tight
    )
    end = path.y[:, -1]
    n, shape_w, shape_v = len(y), w.shape, v.shape

    def backward(t: float, state: np.ndarray) -> np.ndarray:
        ct, at = state[:n], path.sol(t)
        h = np.tanh(w @ at)
        dz = (1 - h**2) * (v.T @ ct)
        return -np.concatenate(
            [w.T @ dz - 0.3 * ct, np.outer(dz, at).ravel(), np.outer(ct, h).ravel()]
        )

    start = np.concatenate([2 * end, np.zeros(w.size + v.size)])
    last = solve_ivp(backward, (END, 0), start, **tight).y[:, -1]
    dy, dw, dv = np.split(last, [n, n + w.size])
    return end, dw.reshape(shape_w), dv.reshape(shape_v), dy


@pytest.mark.parametrize("checkpointed", [False, True])
@pytest.mark.slow
def test_gradient_is_the_solution_of_the_adjoint_equation(checkpointed):
    rng = np.random.default_rng(0)
    w, v, y = rng.normal(size=(5, 2)), rng.normal(size=(2, 5)) / 2, rng.normal(size=2)
    end, *wanted = by_the_adjoint(w, v, y)

    def loss(w, v, y):
        return jnp.sum(integrated(w, v, y, checkpointed) ** 2)

    with olympus.enable_x64(True):
        found = olympus.jit(integrated, static_argnums=3)(w, v, y, checkpointed)
        np.testing.assert_allclose(found, end, rtol=1e-7)
        gradients = olympus.jit(olympus.grad(loss, (0, 1, 2)))(w, v, y)
        for g, want in zip(gradients, wanted, strict=True):
            np.testing.assert_allclose(g, want, rtol=1e-6, atol=1e-8)
