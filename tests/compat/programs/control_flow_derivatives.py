"""Loops and branches under derivatives, batching and partial evaluation."""

import jax
import jax.numpy as jnp
from jax import lax

xs = jnp.arange(1.0, 5.0)


def total(w, xs):
    return lax.scan(lambda c, x: (jnp.tanh(c * w + x), c), 0.1, xs)


print(jax.grad(lambda w: total(w, xs)[0])(0.5), jax.jacfwd(lambda w: total(w, xs)[1])(0.5))
print(jax.grad(lambda w: total(w, xs)[1].sum())(0.5), jax.hessian(lambda w: total(w, xs)[0])(0.5))
print(jax.vmap(lambda w: total(w, xs)[0])(jnp.array([0.1, 0.5])), jax.vmap(total, (None, 0))(0.5, jnp.stack([xs, -xs]))[0])
print(jax.grad(lambda x: lax.cond(x > 1, lambda y: y**2, lambda y: y**3, x))(2.0), jax.grad(lambda x: lax.cond(x > 1, lambda y: y**2, lambda y: y**3, x))(0.5))
print(jax.vmap(jax.grad(lambda x: lax.switch(jnp.int32(x), [jnp.sin, jnp.cos, jnp.tanh], x)))(jnp.arange(3.0)))
print(jax.jvp(lambda x: lax.fori_loop(0, 4, lambda i, c: c * x + i, 1.0), (2.0,), (1.0,)))
print(jax.grad(lambda x: lax.fori_loop(0, 4, lambda i, c: c * x + i, 1.0))(2.0))
print(jax.jit(jax.grad(lambda x, n: lax.scan(lambda c, _: (c * x, None), 1.0, None, length=n)[0]), static_argnums=1)(2.0, 5))
try:
    jax.jit(jax.grad(lambda x, n: lax.fori_loop(0, n, lambda i, c: c * x, 1.0)))(2.0, 3)
except ValueError as error:
    print(type(error).__name__, "reverse" in str(error).lower())
print(jax.jit(lambda n: lax.fori_loop(0, n, lambda i, c: c + i, 0))(5))
print(jax.linearize(lambda x: lax.map(jnp.sin, x), xs)[1](jnp.ones(4)))
print(jax.grad(lambda x: lax.associative_scan(jnp.multiply, x)[-1])(xs))
print(jax.grad(lambda x: lax.reduce(x, 0.0, lax.add, (0,)))(xs), jax.grad(lambda x: lax.reduce_window(x, 0.0, lax.add, (2,), (1,), "VALID").sum())(xs))
print(jax.grad(lambda x: jnp.where(x > 2, x**2, 0.0).sum())(xs), jax.grad(lambda x: lax.select(x > 2, x, -x).sum())(xs))
print([str(e.primitive) for e in jax.make_jaxpr(lambda x: lax.fori_loop(0, 3, lambda i, c: c + x, x))(1.0).eqns])
program = jax.make_jaxpr(lambda x: total(x, xs)[0])(0.5)
print([str(e.primitive) for e in program.eqns], program.eqns[-1].params["length"], program.eqns[-1].params["reverse"])
print(lax.scan(lambda c, x: (c, x), (), xs)[1], lax.scan(lambda c, x: ({"n": c["n"] + 1}, x["a"]), {"n": 0}, {"a": xs})[0])
print(lax.while_loop(lambda c: c[0] < 3, lambda c: (c[0] + 1, c[1] * 2), (0, jnp.ones(2))))
print(jax.vmap(lambda a: lax.while_loop(lambda c: c < a, lambda c: c + 3, 0))(jnp.array([1, 5, 10])))
print(jax.eval_shape(lambda x: lax.scan(lambda c, a: (c + a, a), 0.0, x), xs), lax.scan(lambda c, a: (c + a, a), 0, jnp.zeros(0, int)))
print(jax.checkpoint(lambda x: lax.while_loop(lambda c: c < 10, lambda c: c * 2, x))(1.0), lax.platform_dependent(1.0, cpu=lambda v: v + 1, default=lambda v: v))
