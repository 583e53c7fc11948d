"""Regression by a Gaussian process whose kernel is fitted to the data."""

import numpy as np

import olympus.numpy as jnp
from olympus import grad, jit, value_and_grad, vmap
from olympus.nn import softplus
from olympus.scipy import linalg


def kernel(params, x, y):
    """Covariance of the values at two points."""
    scaled = (x - y) / softplus(params["length"])
    return softplus(params["amplitude"]) * jnp.exp(-0.5 * jnp.sum(scaled**2))


def covariances(params, xs, ys):
    rows = vmap(lambda x: vmap(lambda y: kernel(params, x, y))(ys))
    return rows(xs)


def factor(params, xs):
    noise = softplus(params["noise"]) + 1e-4
    return linalg.cholesky(
        covariances(params, xs, xs) + noise * jnp.eye(len(xs)), lower=True
    )


def surprise(params, xs, ys):
    """The negative logarithm of the likelihood of values."""
    root = factor(params, xs)
    white = linalg.solve_triangular(root, ys, lower=True)
    size = len(xs) * jnp.log(2 * jnp.pi)
    return 0.5 * (white @ white + size) + jnp.sum(jnp.log(jnp.diag(root)))


@jit
def step(params, velocity, xs, ys):
    value, grads = value_and_grad(surprise)(params, xs, ys)
    velocity = {k: 0.9 * v - 0.01 * grads[k] for k, v in velocity.items()}
    return {k: p + velocity[k] for k, p in params.items()}, velocity, value


@jit
def posterior(params, xs, ys, new):
    """Mean and variance of the values at new points."""
    root = factor(params, xs)
    cross = covariances(params, xs, new)
    white = linalg.solve_triangular(root, cross, lower=True)
    mean = white.T @ linalg.solve_triangular(root, ys, lower=True)
    return mean, softplus(params["amplitude"]) - jnp.sum(white**2, axis=0)


def train(steps=30):
    """Every tenth value of the objective; mean and variance at four points; a slope."""
    rng = np.random.default_rng(0)
    xs = rng.uniform(-3, 3, size=(30, 1)).astype(np.float32)
    ys = (np.sin(2 * xs[:, 0]) + 0.1 * rng.normal(size=30)).astype(np.float32)
    params = {
        "amplitude": jnp.zeros(()),
        "length": jnp.zeros(()),
        "noise": jnp.zeros(()),
    }
    velocity = {k: jnp.zeros(()) for k in params}
    values = []
    for _ in range(steps):
        params, velocity, value = step(params, velocity, xs, ys)
        values.append(float(value))
    new = np.linspace(-2, 2, 4, dtype=np.float32)[:, None]
    mean, variance = posterior(params, xs, ys, new)
    slope = grad(lambda x: posterior(params, xs, ys, jnp.reshape(x, (1, 1)))[0][0])(0.5)
    return [*values[::10], *mean.tolist(), *variance.tolist(), float(slope)]


if __name__ == "__main__":
    print(train())
