"""Kernel least squares by gradient descent, with a step from the power method."""

import functools

import numpy as np

import olympus.numpy as jnp
from olympus import grad, jit, lax, random, vmap


def gram(kernel, xs):
    return vmap(lambda x: vmap(lambda y: kernel(x, y))(xs))(xs)


def largest_eigenvalue(matrix, key, steps=20):
    def body(_, v):
        v = matrix @ v
        return v / jnp.linalg.norm(v)

    v = lax.fori_loop(0, steps, body, random.normal(key, (matrix.shape[0],)))
    return v @ matrix @ v


def minimize_quadratic(matrix, vector, key, steps=200):
    """The minimum of `x A x / 2 - b x`, and its value on the way."""

    def objective(x):
        return 0.5 * x @ (matrix @ x) - vector @ x

    rate = 1.0 / largest_eigenvalue(matrix, key)

    def body(x, _):
        x = x - rate * grad(objective)(x)
        return x, objective(x)

    return lax.scan(body, jnp.zeros_like(vector), None, length=steps)


@functools.partial(jit, static_argnums=0)
def fit(kernel, xs, ys, key):
    matrix = gram(kernel, xs) + 0.1 * jnp.eye(len(xs))
    return minimize_quadratic(matrix, ys, key)


@functools.partial(jit, static_argnums=0)
def predict(kernel, xs, weights, new):
    return vmap(lambda x: weights @ vmap(lambda y: kernel(x, y))(xs))(new)


def bell(x, y):
    return jnp.exp(-4.0 * jnp.sum((x - y) ** 2))


def train():
    """Every fortieth objective, and errors of the predictions at new points."""
    rng = np.random.default_rng(0)
    xs, new = (rng.uniform(-1, 1, size=(n, 2)).astype(np.float32) for n in (60, 8))
    truth = lambda x: np.sin(3 * x[:, 0]) * x[:, 1]  # noqa: E731
    weights, values = fit(bell, xs, truth(xs), random.key(0))
    errors = predict(bell, xs, weights, new) - truth(new)
    return [*values[::40].tolist(), *errors.tolist()]


if __name__ == "__main__":
    print(train())
