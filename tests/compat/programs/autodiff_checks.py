"""Checking derivatives, and the helpers of tests."""

import jax
import jax.numpy as jnp
from jax.test_util import check_grads

check_grads(lambda x: jnp.sin(x) * x, (1.5,), order=2)
check_grads(jnp.tanh, (jnp.arange(3.0),), order=1, modes=["fwd", "rev"])


@jax.custom_jvp
def wrong(x):
    return x**2


wrong.defjvp(lambda primals, tangents: (wrong(primals[0]), 3.0 * tangents[0]))
try:
    check_grads(wrong, (2.0,), order=1)
    print("no error")
except AssertionError as error:
    print(type(error).__name__, len(str(error)) > 10)
eps = 1e-3
f = lambda x: jnp.sin(x) ** 2
numeric = (f(1.0 + eps) - f(1.0 - eps)) / (2 * eps)
print(bool(abs(numeric - jax.grad(f)(1.0)) < 1e-3), jax.grad(f)(1.0))
u = jnp.array([1.0, -1.0])
a = jnp.array([[1.0, 2.0], [3.0, 4.0]])
quadratic = lambda x: 0.5 * x @ a @ x
print(jax.grad(quadratic)(u), 0.5 * (a + a.T) @ u, jax.hessian(quadratic)(u))
_, pull = jax.vjp(lambda x: a @ x, u)
_, push = jax.linearize(lambda x: a @ x, u)
print(jnp.vdot(pull(u)[0], u), jnp.vdot(u, push(u)))
print(jax.jacfwd(jnp.sin)(u), jax.jacrev(jnp.cos)(u))
print([float(g) for g in jax.grad(lambda x, y, z: x * y * z, (0, 1, 2))(2.0, 3.0, 4.0)])
print(jax.grad(lambda x: jax.lax.stop_gradient(x) * x)(3.0))
straight = lambda x: x + jax.lax.stop_gradient(jnp.round(x) - x)
print(straight(1.6), jax.grad(straight)(1.6))
print(jax.grad(lambda x: jnp.where(x == 0, 0.0, x / jnp.where(x == 0, 1.0, x)))(0.0))
per_sample = jax.vmap(jax.grad(lambda w, x: jnp.tanh(w @ x)), (None, 0))
print(per_sample(u, a))
jaxpr = jax.make_jaxpr(jax.grad(lambda x: jnp.sin(jnp.sin(x))))(1.0)
print([str(e.primitive) for e in jaxpr.eqns])
print(jax.grad(jax.jit(lambda x: x**2))(3.0), jax.jit(jax.grad(lambda x: x**2))(3.0), jax.vmap(jax.grad(jax.jit(jnp.sin)))(u))
print(jax.grad(lambda t: sum(jax.tree.leaves(jax.tree.map(jnp.sum, t))))({"a": u, "b": (a,)}))
