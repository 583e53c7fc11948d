"""Pure functions, structures of parameters and a short training loop."""

import functools

import jax
import jax.numpy as jnp

key = jax.random.key(7)
k_w, k_x, k_noise = jax.random.split(key, 3)
inputs = jax.random.normal(k_x, (64, 3))
targets = inputs @ jnp.array([1.0, -2.0, 0.5]) + 3.0 + 0.01 * jax.random.normal(k_noise, (64,))
params = {"w": jax.random.normal(k_w, (3,)), "b": jnp.zeros(())}


def predict(params, x):
    return x @ params["w"] + params["b"]


def loss(params, x, y):
    return jnp.mean(jnp.square(predict(params, x) - y))


@functools.partial(jax.jit, donate_argnums=0)
def update(params, x, y):
    value, grads = jax.value_and_grad(loss)(params, x, y)
    return jax.tree.map(lambda p, g: p - 0.1 * g, params, grads), value


for i in range(60):
    params, value = update(params, inputs, targets)
    if i % 15 == 0:
        print(i, f"{value:.4f}")
print({k: v.round(2).tolist() for k, v in params.items()})
print(jax.tree.structure(params), jax.tree.leaves(jax.tree.map(jnp.shape, params)))
per_example = jax.vmap(jax.grad(loss), (None, 0, 0))(params, inputs, targets)
print(jax.tree.map(lambda g: g.shape, per_example))
print(jnp.allclose(per_example["w"].mean(0), jax.grad(loss)(params, inputs, targets)["w"], atol=1e-4))


@functools.partial(jax.jit, static_argnames=("order", "power"))
def moments(x, order=2, *, power=1):
    return [jnp.mean(x**i) ** power for i in range(1, order + 1)]


print(moments(jnp.arange(4.0)), moments(jnp.arange(4.0), order=3, power=2))
lowered = jax.jit(lambda x: x * 2).lower(jax.ShapeDtypeStruct((3,), jnp.float32))
print(lowered.in_avals, lowered.out_info)
print(jax.jit(lambda x: (x, {"a": x + 1}))(1))
