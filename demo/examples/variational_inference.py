"""Automatic differentiation variational inference, of a density in the plane.

A normal distribution is fitted by gradients through its samples: Kucukelbir et al.,
Automatic differentiation variational inference, 2017.
"""

import olympus.numpy as jnp
from olympus import grad, jit, random, vmap
from olympus.example_libraries import optimizers
from olympus.scipy.stats import norm


def log_density(z):
    """A funnel: the width along the second axis depends on the first coordinate."""
    return norm.logpdf(z[0], 1.0, 1.35) + norm.logpdf(
        z[1], 0.5 * z[0], jnp.exp(z[0] / 4)
    )


def sample(params, key):
    mean, log_scale = params
    return mean + jnp.exp(log_scale) * random.normal(key, mean.shape)


def log_normal(params, z):
    mean, log_scale = params
    return jnp.sum(norm.logpdf(z, mean, jnp.exp(log_scale)))


def bound(params, key):
    """The evidence lower bound by one sample."""
    z = sample(params, key)
    return log_density(z) - log_normal(params, z)


def objective(params, i, samples=50):
    keys = random.split(random.fold_in(random.key(3), i), samples)
    return -jnp.mean(vmap(bound, (None, 0))(params, keys))


def train(steps=60):
    """Every tenth objective, and the parameters."""
    opt_init, opt_update, get_params = optimizers.adam(0.1)

    @jit
    def step(i, state):
        params = get_params(state)
        grads = grad(objective)(params, i)
        return opt_update(i, grads, state), objective(params, i)

    state = opt_init((jnp.zeros(2), jnp.zeros(2) - 1.0))
    values = []
    for i in range(steps):
        state, value = step(i, state)
        values.append(float(value))
    mean, log_scale = get_params(state)
    return [*values[::10], *mean.tolist(), *log_scale.tolist()]


if __name__ == "__main__":
    print(train())
