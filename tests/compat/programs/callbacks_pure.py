"""pure_callback in jit, vmap and derivatives."""

import jax
import jax.numpy as jnp
import numpy as np

calls = []


def host_sum(x):
    calls.append(np.shape(x))
    return np.asarray(np.sum(x, axis=-1), np.float32)


def total(x, how="sequential"):
    kind = jax.ShapeDtypeStruct(x.shape[:-1], jnp.float32)
    return jax.pure_callback(host_sum, kind, x, vmap_method=how)


print(total(jnp.arange(4.0)), calls)
print(jax.jit(total)(jnp.arange(3.0)))
for how in ("sequential", "expand_dims", "broadcast_all", "legacy_vectorized"):
    calls.clear()
    try:
        print(how, jax.vmap(lambda x: total(x, how))(jnp.ones((3, 2))), calls)
    except Exception as error:
        print(how, type(error).__name__)
try:
    jax.vmap(lambda x: total(x, None))(jnp.ones((3, 2)))
except Exception as error:
    print(type(error).__name__, "vmap" in str(error))
try:
    jax.grad(lambda x: total(x))(jnp.ones(2))
except ValueError as error:
    print(type(error).__name__, "custom_jvp" in str(error))


@jax.custom_jvp
def sine(x):
    return jax.pure_callback(lambda v: np.sin(v).astype(np.float32), jax.typeof(x), x, vmap_method="expand_dims")


@sine.defjvp
def sine_jvp(primals, tangents):
    return sine(primals[0]), jnp.cos(primals[0]) * tangents[0]


print(sine(0.5), jax.grad(sine)(0.5), jax.vmap(jax.grad(sine))(jnp.arange(3.0)))
print(jax.jit(lambda x: jax.pure_callback(lambda d: {"s": d["a"] + 1}, {"s": x}, {"a": x}))(jnp.arange(2)))
print([type(v).__name__ for v in jax.tree.leaves(jax.pure_callback(lambda x: (x, x * 2), (jax.ShapeDtypeStruct((), jnp.float32),) * 2, 1.5))])


def fails(x):
    raise KeyError("on the host")


try:
    jax.block_until_ready(jax.jit(lambda x: jax.pure_callback(fails, x, x))(1.0))
except Exception as error:
    print(isinstance(error, (jax.errors.JaxRuntimeError, KeyError)), "on the host" in str(error))
try:
    jax.block_until_ready(jax.pure_callback(lambda x: np.zeros(3, np.float32), jax.ShapeDtypeStruct((2,), jnp.float32), 1.0))
except Exception as error:
    print("wrong shape refused")
print(jax.lax.fori_loop(0, 3, lambda i, c: c + total(c * jnp.ones(2)), 1.0))
print([str(e.primitive) for e in jax.make_jaxpr(total)(jnp.ones(2)).eqns])
