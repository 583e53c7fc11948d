"""Which numbers that a function makes are traced: libraries tell by it whether they are."""

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

MAKERS = {
    "bool": lambda: jnp.asarray(False),
    "int": lambda: jnp.array(3),
    "float": lambda: jnp.asarray(2.5),
    "complex": lambda: jnp.array(1j),
    "dtype": lambda: jnp.asarray(1, dtype=jnp.int8),
    "NumPy": lambda: jnp.asarray(np.float32(4.0)),
    "class": lambda: jnp.float32(1),
    "full": lambda: jnp.zeros(()),
}


def is_traced():
    try:
        return bool(jnp.asarray(False))
    except jax.errors.TracerBoolConversionError:
        return True


def kinds():
    return " ".join(
        name for name, make in MAKERS.items() if isinstance(make(), jax.core.Tracer)
    )


def show(where):
    print(where, is_traced(), kinds())


def shown(where, x):
    show(where)
    return x * jnp.asarray(2.0)


show("outside")
print(jax.jit(lambda x: shown("jit", x))(1.0))
print(jax.grad(lambda x: shown("grad", x))(1.0))
print(jax.vmap(lambda x: shown("vmap", x))(jnp.arange(2.0)))
print(jax.jvp(lambda x: shown("jvp", x), (1.0,), (1.0,)))
print(jax.jit(jax.grad(lambda x: shown("jit of grad", x)))(1.0))
print(jax.jit(jax.vmap(lambda x: shown("jit of vmap", x)))(jnp.arange(2.0)))
print(jax.grad(jax.jit(lambda x: shown("grad of jit", x)))(1.0))
print(lax.scan(lambda c, _: (shown("scan", c), None), 1.0, None, length=3)[0])
print(lax.cond(True, lambda x: shown("cond", x), lambda x: x, 1.0))
print(lax.fori_loop(0, 2, lambda i, x: shown("loop", x), 1.0))
print(jax.eval_shape(lambda x: shown("eval_shape", x), 1.0))


@jax.jit
def known(x):
    with jax.ensure_compile_time_eval():
        show("compile time")
    return x


known(1.0)


@jax.custom_jvp
def double(x):
    return x * 2


@double.defjvp
def _(primals, tangents):
    n = lax.while_loop(lambda n: n < 3, lambda n: n + 1, jnp.asarray(0))
    return double(*primals), tangents[0] * jnp.asarray(2.0) * n / 3


print(jax.grad(double)(1.0), jax.jit(jax.grad(double))(1.0))


@jax.jit
def outer(x):
    half = jnp.asarray(0.5)

    @jax.jit
    def inner(y):
        return y * half + jnp.where(jnp.asarray(True), 1.0, 2.0)

    return inner(x) + lax.scan(lambda c, _: (c * half, None), x, None, length=2)[
        0
    ], half


print(outer(4.0), outer(jnp.arange(2.0)))


@jax.jit
def count_constants(x):
    half = jnp.asarray(0.5)
    print(len(jax.make_jaxpr(lambda y: y * half)(1.0).consts), len(jax.make_jaxpr(lambda y: y * jnp.asarray(0.5))(1.0).consts))
    return x * half


print(count_constants(4.0))
print(
    jax.jit(lambda: jnp.array(3))(),
    jax.jit(lambda: (jnp.asarray(True), jnp.array(2.0)))(),
)
print(
    jax.jit(lambda x: x[jnp.asarray(1)])(jnp.arange(3)),
    jax.jit(lambda x: x.at[jnp.array(0)].set(9))(jnp.arange(3)),
)
print(jax.jit(lambda x: jnp.sum(x, where=jnp.asarray(True)))(jnp.arange(3.0)))
for name, f in {
    "if": lambda x: x if jnp.asarray(True) else -x,
    "range": lambda x: x * len(range(jnp.array(3))),
    "float": lambda x: x * float(jnp.asarray(2.0)),
    "NumPy": lambda x: x * np.asarray(jnp.asarray(2.0)),
    "item": lambda x: x * jnp.asarray(2.0).item(),
    "arange": lambda x: x * jnp.arange(jnp.asarray(3)),
    "shape": lambda x: jnp.zeros(jnp.asarray(3)) + x,
}.items():
    try:
        print(name, jax.jit(f)(1.0))
    except Exception as error:
        print(name, type(error).__name__)
