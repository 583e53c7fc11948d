"""io_callback, debug.callback and debug.print."""

import jax
import jax.numpy as jnp
import numpy as np
from jax.experimental import io_callback

store = []


def note(tag, x):
    store.append((str(tag), float(x)))
    return np.float32(len(store))


@jax.jit
def ordered(x):
    a = io_callback(lambda v: note("first", v), jax.ShapeDtypeStruct((), jnp.float32), x, ordered=True)
    b = io_callback(lambda v: note("second", v), jax.ShapeDtypeStruct((), jnp.float32), x + 1, ordered=True)
    return a, b


print(ordered(1.0), store)
jax.vmap(lambda x: io_callback(lambda v: note("mapped", v), jax.ShapeDtypeStruct((), jnp.float32), x))(jnp.arange(3.0))
jax.effects_barrier()
print(sorted(store[2:]))
try:
    jax.vmap(lambda x: io_callback(lambda v: None, None, x, ordered=True))(jnp.arange(2.0))
except ValueError as error:
    print(type(error).__name__, "ordered" in str(error).lower())


@jax.jit
def shown(x, y):
    jax.debug.print("x={x} y={y:.2f} {0}", x.sum(), x=x, y=y, ordered=True)
    jax.debug.print("other {v!r} {t}", v=x, t={"a": y}, ordered=True)
    return x


jax.block_until_ready(shown(jnp.arange(3), 2.0))
jax.effects_barrier()
jax.debug.print("outside {}", 5)
jax.debug.print("array {a}", a=jnp.ones((2, 2)))
jax.vmap(lambda x: jax.debug.print("in vmap {}", x, ordered=False))(jnp.arange(2))
jax.effects_barrier()
jax.grad(lambda x: (jax.debug.print("in grad {}", x), x**2)[1])(3.0)
jax.lax.fori_loop(0, 2, lambda i, c: (jax.debug.print("turn {} {}", i, c, ordered=True), c + 1)[1], 10)
jax.effects_barrier()
jax.debug.callback(lambda x, *, tag: print("callback", x, tag), jnp.arange(2), tag="t")
jax.jit(lambda x: jax.debug.callback(lambda v: print("type", type(v).__name__, v.shape, v.dtype), x))(jnp.ones(2))
jax.effects_barrier()
for bad in [lambda: jax.debug.print("{}"), lambda: jax.debug.print("{a}", b=1), lambda: jax.debug.print("plain", 1)]:
    try:
        bad()
        print("accepted")
    except Exception as error:
        print(type(error).__name__)
program = jax.make_jaxpr(ordered)(1.0)
print(sorted(map(str, program.effects)), len(jax.make_jaxpr(lambda x: jax.debug.print("{}", x))(1).eqns))
