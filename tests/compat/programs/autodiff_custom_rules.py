"""Rules of one's own: custom_jvp, custom_vjp, defjvps, closures, nondiff arguments."""

from functools import partial

import jax
import jax.numpy as jnp


@jax.custom_jvp
def log1pexp(x):
    return jnp.log(1.0 + jnp.exp(x))


@log1pexp.defjvp
def _(primals, tangents):
    (x,), (t,) = primals, tangents
    return log1pexp(x), t * jax.nn.sigmoid(x)


print(log1pexp(3.0), jax.grad(log1pexp)(100.0), jax.vmap(jax.grad(log1pexp))(jnp.arange(3.0)))
print(log1pexp.__name__, jax.hessian(log1pexp)(0.5))


@jax.custom_jvp
def product(x, y):
    return x * jnp.sin(y)


product.defjvps(lambda t, out, x, y: t * jnp.sin(y), lambda t, out, x, y: t * x * jnp.cos(y))
print(jax.grad(product, (0, 1))(2.0, 0.5), jax.jvp(product, (2.0, 0.5), (1.0, 1.0)))


@partial(jax.custom_jvp, nondiff_argnums=(0,))
def apply(f, x):
    return f(x)


@apply.defjvp
def apply_jvp(f, primals, tangents):
    (x,), (t,) = primals, tangents
    return f(x), 10.0 * t


print(jax.grad(lambda x: apply(jnp.cos, x))(1.0))


@jax.custom_vjp
def clip_gradient(low, high, x):
    return x


def clip_fwd(low, high, x):
    return x, (low, high)


def clip_bwd(kept, g):
    low, high = kept
    return None, None, jnp.clip(g, low, high)


clip_gradient.defvjp(clip_fwd, clip_bwd)
print(jax.grad(lambda x: jnp.sin(clip_gradient(-0.1, 0.1, x * 5.0)))(0.3))
print(jax.vmap(jax.grad(lambda x: 3 * clip_gradient(-1.0, 1.0, x)))(jnp.arange(2.0)))


@partial(jax.custom_vjp, nondiff_argnums=(1,))
def power(x, n):
    return x**n


power.defvjp(lambda x, n: (x**n, x), lambda n, x, g: (g * n * x ** (n - 1) * 100.0,))
print(jax.grad(power)(2.0, 3), jax.jit(jax.grad(power), static_argnums=1)(2.0, 2))
print(jax.make_jaxpr(jax.grad(clip_gradient, argnums=2))(0.0, 1.0, 2.0).out_avals)
try:
    jax.jvp(lambda x: clip_gradient(0.0, 1.0, x), (1.0,), (1.0,))
except TypeError as error:
    print(type(error).__name__, "custom_vjp" in str(error))


@jax.custom_vjp
def tree_function(d):
    return {"out": d["a"] * d["b"]}


tree_function.defvjp(lambda d: (tree_function(d), d), lambda d, g: ({"a": g["out"], "b": 2 * g["out"]},))
print(jax.grad(lambda d: tree_function(d)["out"])({"a": 3.0, "b": 4.0}))


@jax.custom_gradient
def scaled(x):
    return x**2, lambda g: g * 7.0


print(scaled(3.0), jax.grad(scaled)(3.0))
f, consts = jax.closure_convert(lambda x: x * jnp.arange(2.0).sum(), 1.0)
print(f(2.0, *consts), len(consts) >= 0)
