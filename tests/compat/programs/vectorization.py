"""vmap in its many forms."""

import functools

import jax
import jax.numpy as jnp

x = jnp.arange(6.0).reshape(2, 3)
print(jax.vmap(jnp.sum)(x), jax.vmap(jnp.sum, in_axes=1)(x), jax.vmap(jnp.sum, in_axes=-1)(x))
print(jax.vmap(lambda d: d["a"] + d["b"], in_axes=({"a": 0, "b": None},))({"a": jnp.arange(3), "b": 10}))
print(jax.vmap(lambda a, b: (a, b), in_axes=(0, None), out_axes=(0, None))(jnp.arange(2), 5))
print(jax.vmap(lambda a, b: a + b, in_axes=(0, None), axis_size=2)(jnp.arange(2), 1), jax.vmap(lambda: 3, axis_size=4)())
print(jax.vmap(lambda r: jax.lax.psum(r, "b"), axis_name="b")(x), jax.vmap(lambda r: r / jax.lax.pmax(r, "b"), axis_name="b")(x + 1))
print(jax.vmap(lambda r: jax.lax.all_gather(r, "b"), axis_name="b")(jnp.arange(2)), jax.vmap(lambda r: jax.lax.axis_size("b"), axis_name="b")(x))
print(jax.vmap(jax.vmap(lambda a: jax.lax.psum(a, ("i", "j")), axis_name="j"), axis_name="i")(x))
print(jax.vmap(lambda a, *, k: a * k)(x[0], k=jnp.array([1.0, 2.0, 3.0])))
print(jnp.vectorize(lambda a: a.sum(), signature="(n)->()")(x), jnp.vectorize(jnp.add)(x, 1).shape)
print(jnp.vectorize(lambda v, m: m @ v, signature="(n),(k,n)->(k)", excluded=())(x[0], jnp.ones((2, 3))))
print(jax.vmap(functools.partial(jnp.dot, jnp.ones(3)))(x), jax.vmap(jnp.linalg.norm)(x), jax.vmap(jnp.argmax)(x))
print(jax.vmap(lambda r: r.at[0].set(r[-1]))(x), jax.vmap(lambda i: x[i])(jnp.array([1, 0])))
print(jax.vmap(lambda i, r: r[i])(jnp.array([0, 2]), x), jax.vmap(lambda r: jnp.sort(r)[::-1])(x))


@jax.custom_batching.custom_vmap
def doubled(a):
    return a * 2


@doubled.def_vmap
def doubled_rule(size, batched, a):
    print("rule", size, batched, a.shape)
    return a * 2 + 100, True


print(doubled(1.0), jax.vmap(doubled)(jnp.arange(2.0)), jax.jit(jax.vmap(doubled))(jnp.arange(2.0)))
looped = jax.custom_batching.sequential_vmap(lambda a: a + 1)
print(jax.vmap(looped)(jnp.arange(3)))
print(jax.make_jaxpr(jax.vmap(lambda a, b: a @ b, (0, None)))(jnp.ones((2, 3)), jnp.ones(3)))
for bad in [lambda: jax.vmap(lambda a: a, in_axes=2)(x), lambda: jax.vmap(lambda a: a, in_axes=None)(x), lambda: jax.vmap(lambda a, b: a)(x, jnp.ones(3)), lambda: jax.vmap(lambda: 1)(), lambda: jax.vmap(lambda a: a, out_axes=(0, 0))(x), lambda: jax.vmap(lambda a: a.sum(), out_axes=1)(x), lambda: jax.vmap(lambda a: a, in_axes="x")(x), lambda: jax.vmap(lambda a, b: a + b, (0, 0))(x)]:
    try:
        bad()
        print("no error")
    except Exception as error:
        print(type(error).__name__)
