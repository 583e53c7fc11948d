"""Derivatives of whole programs against derivations by hand, in double precision."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import olympus
import olympus.numpy as jnp
from olympus import lax

pytestmark = pytest.mark.usefixtures("x64")


def normal(*shape: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng((seed, *shape)).normal(size=shape)


def test_per_example_gradients_of_a_regression():
    """d/dw (x.w - y)^2 / 2 = (x.w - y) x, for each example."""
    w, xs, ys = normal(4), normal(7, 4), normal(7, seed=1)

    def loss(w, x, y):
        return 0.5 * (x @ w - y) ** 2

    found = olympus.jit(olympus.vmap(olympus.grad(loss), (None, 0, 0)))(w, xs, ys)
    np.testing.assert_allclose(found, (xs @ w - ys)[:, None] * xs, rtol=1e-12)


@pytest.mark.slow
def test_hessian_and_fisher_matrix_of_logistic_regression():
    """H = X' diag(p (1 - p)) X, and the mean of outer products of gradients."""
    w, xs = normal(3), normal(9, 3)
    ys = (normal(9, seed=2) > 0).astype(float)

    def loss(w, x, y):
        z = x @ w
        return jnp.logaddexp(0.0, z) - y * z

    def total(w):
        return jnp.sum(olympus.vmap(loss, (None, 0, 0))(w, xs, ys))

    p = 1 / (1 + np.exp(-xs @ w))
    hessian = olympus.jit(olympus.hessian(total))(w)
    np.testing.assert_allclose(hessian, xs.T @ np.diag(p * (1 - p)) @ xs, rtol=1e-10)

    gradients = olympus.vmap(olympus.jacrev(loss), (None, 0, 0))(w, xs, ys)
    np.testing.assert_allclose(gradients, (p - ys)[:, None] * xs, rtol=1e-10)


@pytest.mark.parametrize("steps", [1, 4])
@pytest.mark.parametrize("scanned", [False, True])
@pytest.mark.slow
def test_learning_to_learn_through_inner_steps(steps, scanned):
    """MAML: on quadratic losses each inner step multiplies by (I - rate A)."""
    a, b = normal(3, 3), normal(3, 3, seed=1)
    a, b = a @ a.T + np.eye(3), b @ b.T
    target, start, rate = normal(3, seed=3), normal(3, seed=4), 0.05

    def inner(w):
        return 0.5 * w @ a @ w - target @ w

    def step(w):
        return w - rate * olympus.grad(inner)(w)

    def adapted(w):
        if scanned:
            return lax.scan(lambda w, _: (step(w), None), w, None, length=steps)[0]
        for _ in range(steps):
            w = step(w)
        return w

    def outer(w):
        w = adapted(w)
        return 0.5 * w @ b @ w

    shrink = np.linalg.matrix_power(np.eye(3) - rate * a, steps)
    end = start
    for _ in range(steps):
        end = end - rate * (a @ end - target)
    wanted = shrink.T @ b @ end
    for gradient in (olympus.grad(outer), olympus.jit(olympus.grad(outer))):
        np.testing.assert_allclose(gradient(start), wanted, rtol=1e-10)


def recurrent_by_hand(w: Any, u: Any, b: Any, xs: Any) -> tuple[float, Any]:
    """The loss of a recurrent network, and its gradient through time, in NumPy."""
    states = [np.zeros(len(b))]
    for x in xs:
        states.append(np.tanh(w @ states[-1] + u @ x + b))
    dw, du, db, dh = np.zeros_like(w), np.zeros_like(u), np.zeros_like(b), 0.0
    for t in reversed(range(len(xs))):
        h = states[t + 1]
        dh = dh + 2 * h  # each state is in the loss
        dz = (1 - h**2) * dh
        dw += np.outer(dz, states[t])
        du += np.outer(dz, xs[t])
        db += dz
        dh = w.T @ dz
    return sum(h @ h for h in states[1:]), (dw, du, db)


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.slow
def test_recurrent_network_against_backpropagation_through_time(reverse):
    w, u, b, xs = 0.5 * normal(3, 3), normal(3, 2), normal(3), normal(11, 2)

    def loss(params, xs):
        w, u, b = params

        def step(h, x):
            h = jnp.tanh(w @ h + u @ x + b)
            return h, h @ h

        return jnp.sum(lax.scan(step, jnp.zeros(3), xs, reverse=reverse)[1])

    value, wanted = recurrent_by_hand(w, u, b, xs[::-1] if reverse else xs)
    found, gradient = olympus.jit(olympus.value_and_grad(loss))((w, u, b), xs)
    np.testing.assert_allclose(found, value, rtol=1e-12)
    for g, want in zip(gradient, wanted, strict=True):
        np.testing.assert_allclose(g, want, rtol=1e-10)


def test_implicit_layer_against_the_implicit_function_theorem():
    """Where z = tanh(A z + x): dz/dx = (I - D A)^-1 D with D = diag(1 - z^2)."""
    a, x, weight = 0.3 * normal(3, 3), normal(3), normal(3, seed=5)

    def layer(a, x):
        def residual(z):
            return z - jnp.tanh(a @ z + x)

        def solve(f, guess):
            return lax.fori_loop(0, 200, lambda _, z: z - f(z), guess)

        def tangent_solve(g, y):  # converges, as the layer contracts
            return lax.fori_loop(0, 200, lambda _, z: z - (g(z) - y), y)

        return lax.custom_root(residual, jnp.zeros(3), solve, tangent_solve)

    def loss(a, x):
        return weight @ layer(a, x)

    z = np.zeros(3)
    for _ in range(200):
        z = np.tanh(a @ z + x)
    d = np.diag(1 - z**2)
    pull = d @ np.linalg.solve((np.eye(3) - d @ a).T, weight)
    da, dx = olympus.jit(olympus.grad(loss, (0, 1)))(a, x)
    np.testing.assert_allclose(layer(a, x), z, rtol=1e-12)
    np.testing.assert_allclose(dx, pull, rtol=1e-9)
    np.testing.assert_allclose(da, np.outer(pull, z), rtol=1e-9)
    slope = olympus.jvp(lambda x: layer(a, x), (x,), (weight,))[1]
    np.testing.assert_allclose(
        slope, np.linalg.solve(np.eye(3) - d @ a, d @ weight), rtol=1e-9
    )
