"""Programs with many kinds of equations."""

import jax
import jax.numpy as jnp
from jax import lax

x = jnp.arange(4.0)
print(jax.make_jaxpr(lambda x: (x[1], x[::-1], jnp.sum(x)))(x).out_avals)
print(jax.make_jaxpr(lambda x, y: lax.dot(x, y) + 1)(x, x))
print(jax.make_jaxpr(lambda x: lax.cond(x > 0, lambda: 1.0, lambda: 2.0))(1.0))
print(jax.make_jaxpr(lambda x: lax.while_loop(lambda c: c < 10.0, lambda c: c * 2.0, x))(1.0))
print(jax.make_jaxpr(lambda x: lax.exp(lax.neg(x)) * lax.rsqrt(x))(1.0))
print(jax.make_jaxpr(lambda x: lax.select(x > 0, x, -x))(x))
print(jax.make_jaxpr(lambda x: lax.broadcast_in_dim(x, (2, 4), (1,)))(x))
print(jax.make_jaxpr(lambda x: lax.reshape(x, (2, 2)))(x))
print(jax.make_jaxpr(lambda x: lax.transpose(lax.reshape(x, (2, 2)), (1, 0)))(x))
print(jax.make_jaxpr(lambda x: lax.pad(x, 0.0, [(1, 1, 0)]))(x))
print(jax.make_jaxpr(lambda x: lax.slice(x, (1,), (3,)))(x))
print(jax.make_jaxpr(lambda x: lax.sort(x))(x))
print(jax.make_jaxpr(lambda x: lax.cumsum(x))(x))
print(jax.make_jaxpr(lambda x: lax.iota("int32", 3))(x))
print(jax.make_jaxpr(lambda x: lax.argmax(x, 0, jnp.int32))(x))
print(jax.make_jaxpr(lambda x: lax.stop_gradient(x) + jax.lax.optimization_barrier(x))(x))
print(jax.make_jaxpr(lambda x: (lax.clamp(0.0, x, 1.0), lax.integer_pow(x, 3), lax.rem(x, 2.0)))(1.0))
print(jax.make_jaxpr(lambda x: lax.convert_element_type(x, jnp.int32))(x))
print([str(e.primitive) for e in jax.make_jaxpr(jax.grad(lambda x: jnp.sum(jnp.sin(x) * x)))(x).eqns])
print([str(e.primitive) for e in jax.make_jaxpr(lambda x: jax.jit(jnp.sin)(x) + lax.scan(lambda c, a: (c + a, a), 0.0, x)[0])(x).eqns])
