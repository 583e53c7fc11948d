"""Buffers given away to a call."""

import warnings

import jax
import jax.numpy as jnp

f = jax.jit(lambda x, y: (x + y, y), donate_argnums=0)
x, y = jnp.ones(4), jnp.ones(4)
out, _ = f(x, y)
print(out, x.is_deleted(), y.is_deleted())
for use in [lambda: x + 1, lambda: print(x), lambda: f(x, y), lambda: x[0], lambda: x.block_until_ready()]:
    try:
        use()
        print("no error")
    except Exception as error:
        print(isinstance(error, (RuntimeError, ValueError)), "deleted" in str(error) or "donated" in str(error))
print(x.shape, x.dtype)
with warnings.catch_warnings(record=True) as told:
    warnings.simplefilter("always")
    jax.jit(lambda x: x.sum(), donate_argnums=0)(jnp.ones(5))
print([(w.category.__name__, "donated" in str(w.message)) for w in told])
g = jax.jit(lambda *, state, k: {"s": state["s"] + k}, donate_argnames="state")
state = {"s": jnp.zeros(3)}
new = g(state=state, k=1.0)
print(new, state["s"].is_deleted())
for bad in [lambda: jax.jit(lambda x: x, donate_argnums=2)(1.0), lambda: jax.jit(lambda x: x, donate_argnums=0, static_argnums=0)(1), lambda: jax.jit(lambda x: x, donate_argnames="zz")(1.0), lambda: jax.jit(lambda x: x, donate_argnums="a")(1)]:
    try:
        bad()
        print("no error")
    except Exception as error:
        print(type(error).__name__)
z = jnp.ones(3)
try:
    jax.jit(lambda a, b: a + b, donate_argnums=(0, 1))(z, z)
    print("no error")
except Exception as error:
    print(type(error).__name__)
w = jnp.arange(3)
w.delete()
print(w.is_deleted())
try:
    print(w + 1)
except RuntimeError as error:
    print(isinstance(error, (RuntimeError, ValueError)), "deleted" in str(error))
step = jax.jit(lambda s: jax.tree.map(lambda v: v * 2, s), donate_argnums=0)
s = (jnp.ones(2), [jnp.zeros(2)])
for _ in range(3):
    s = step(s)
print(s)
