"""What each transformation gives for one function of arrays."""

import jax
import jax.numpy as jnp


def energy(x, scale=2.0):
    return scale * jnp.sum(jnp.tanh(x) ** 2)


x = jnp.linspace(-1.0, 1.0, 5)
print("value", energy(x))
print("jit", jax.jit(energy)(x))
print("grad", jax.grad(energy)(x))
print("both", jax.value_and_grad(energy)(x))
print("batched", jax.vmap(energy)(jnp.stack([x, 2 * x, 3 * x])))
print("all", jax.jit(jax.vmap(jax.grad(energy)))(jnp.stack([x, 2 * x])))
print("in_axes", jax.vmap(energy, in_axes=(None, 0))(x, jnp.array([1.0, 2.0, 3.0])))
print("nested", jax.vmap(jax.vmap(jnp.add, (None, 0)), (0, None))(jnp.arange(2), jnp.arange(3)))
print("out_axes", jax.vmap(lambda a: a * jnp.arange(3.0), out_axes=1)(jnp.arange(2.0)).shape)
print(jax.make_jaxpr(energy)(x))
print(jax.make_jaxpr(jax.grad(lambda v: v ** 3))(2.0))
print(jax.eval_shape(energy, x))
print(energy.__name__, jax.jit(energy).__name__, jax.grad(energy).__name__)
print(jax.jit(energy).__wrapped__ is energy)
print(jax.linearize(energy, x)[1](jnp.ones(5)))
out, back = jax.vjp(energy, x)
print(out, back(1.0))
print(jax.jvp(energy, (x,), (jnp.ones(5),)))
