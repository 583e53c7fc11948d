"""Steps that programs are made of by repeating them."""

import olympus.numpy as jnp


def stencil(u):
    return u + 0.1 * (jnp.roll(u, 1) - 2 * u + jnp.roll(u, -1))


def chain(step, n):
    def run(x):
        for _ in range(n):
            x = step(x)
        return x

    return run
