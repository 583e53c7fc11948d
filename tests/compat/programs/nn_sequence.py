"""A recurrent cell by scan, teacher forcing, beam-like search by while_loop."""

import functools

import jax
import jax.numpy as jnp

key = jax.random.key(3)
k1, k2, k3 = jax.random.split(key, 3)
params = {"wx": jax.random.normal(k1, (3, 4)) * 0.3, "wh": jax.random.normal(k2, (4, 4)) * 0.3, "out": jax.random.normal(k3, (4, 3)) * 0.3}


def cell(params, h, x):
    h = jnp.tanh(x @ params["wx"] + h @ params["wh"])
    return h, h @ params["out"]


def run(params, xs):
    return jax.lax.scan(functools.partial(cell, params), jnp.zeros(4), xs)[1]


xs = jax.nn.one_hot(jnp.array([0, 1, 2, 0, 1, 2]), 3)
print(run(params, xs).shape, run(params, xs)[-1])


def loss(params, xs):
    return -jnp.mean(jnp.sum(jax.nn.log_softmax(run(params, xs[:-1])) * xs[1:], -1))


print(loss(params, xs), jax.tree.map(jnp.linalg.norm, jax.grad(loss)(params, xs)))
step = jax.jit(lambda p: jax.tree.map(lambda a, g: a - 1.0 * g, p, jax.grad(loss)(p, xs)))
for i in range(40):
    params = step(params)
print(bool(loss(params, xs) < 0.2))


@functools.partial(jax.jit, static_argnames="n")
def generate(params, first, n):
    def body(carry, _):
        h, token = carry
        h, logits = cell(params, h, jax.nn.one_hot(token, 3))
        token = jnp.argmax(logits)
        return (h, token), token

    return jax.lax.scan(body, (jnp.zeros(4), first), None, length=n)[1]


print(generate(params, 0, 6), generate(params, jnp.int32(1), n=4))
batched = jax.vmap(run, (None, 0))(params, jnp.stack([xs, xs[::-1]]))
print(batched.shape, jnp.allclose(batched[0], run(params, xs), atol=1e-6))


def until(params, token):
    def going(state):
        return (state[1] != 2) & (state[2] < 10)

    def body(state):
        h, token, n = state
        h, logits = cell(params, h, jax.nn.one_hot(token, 3))
        return h, jnp.argmax(logits), n + 1

    return jax.lax.while_loop(going, body, (jnp.zeros(4), token, 0))[2]


print(until(params, 0), jax.vmap(until, (None, 0))(params, jnp.arange(3)), jax.jit(until)(params, 1))
mask = jnp.tril(jnp.ones((3, 3), bool))
scores = jnp.where(mask, 0.5, -jnp.inf)
print(jax.nn.softmax(scores, axis=-1), jax.nn.softmax(scores, where=mask, axis=-1)[0])
print(jax.make_jaxpr(lambda p: run(p, xs))(params).out_avals, [str(e.primitive) for e in jax.make_jaxpr(lambda p: run(p, xs))(params).eqns][-1])
