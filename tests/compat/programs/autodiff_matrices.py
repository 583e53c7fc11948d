"""Jacobians of many shapes, products with Hessians, second derivatives through solvers."""

import jax
import jax.numpy as jnp


def f(w, x):
    return jnp.tanh(w @ x)


w, x = jnp.arange(6.0).reshape(2, 3) / 10, jnp.array([1.0, -1.0, 0.5])
print(jax.jacfwd(f)(w, x).shape, jax.jacrev(f, argnums=(0, 1))(w, x)[1].shape)
print(jnp.allclose(jax.jacfwd(f)(w, x), jax.jacrev(f)(w, x), atol=1e-6), jax.jacobian(f, 1)(w, x))
print(jax.hessian(lambda x: f(w, x).sum())(x))
hvp = lambda g, x, v: jax.jvp(jax.grad(g), (x,), (v,))[1]
rev = lambda g, x, v: jax.grad(lambda x: jnp.vdot(jax.grad(g)(x), v))(x)
g = lambda x: jnp.sum(jnp.sin(x) ** 3)
print(hvp(g, x, jnp.ones(3)), rev(g, x, jnp.ones(3)))
print(jax.jacfwd(lambda d: {"p": d["a"] ** 2, "q": d["b"].sum()})({"a": 2.0, "b": jnp.ones(2)}))
print(jax.jacrev(lambda z: z**2, holomorphic=True)(jnp.array([1 + 1j])), jax.jacfwd(lambda x: (x**2, x), has_aux=True)(3.0))
print(jax.grad(lambda a: jnp.linalg.slogdet(a)[1])(jnp.eye(2) * 2), jax.grad(lambda a: jnp.linalg.inv(a).sum())(jnp.array([[2.0, 1.0], [0.0, 1.0]])))
print(jax.grad(lambda a: jnp.linalg.eigvalsh(a + a.T)[0])(jnp.array([[2.0, 1.0], [0.0, 1.0]])))
print(jax.grad(lambda a: jnp.linalg.norm(a))(jnp.array([3.0, 4.0])), jax.grad(jnp.linalg.norm)(jnp.zeros(2)))
print(jax.grad(lambda a: jnp.linalg.svd(a, compute_uv=False).sum())(jnp.array([[1.0, 2.0], [0.0, 3.0]])))
print(jax.grad(lambda a: jnp.sort(a)[0] * 3)(x), jax.grad(lambda a: jnp.max(a))(jnp.array([1.0, 1.0])), jax.grad(jnp.abs)(0.0))
print(jax.grad(lambda a: jnp.maximum(a, 1.0))(1.0), jax.grad(jax.nn.relu)(0.0), jax.grad(jnp.sign)(2.0), jax.grad(jnp.sqrt)(0.0))
print(jax.grad(lambda a: jnp.prod(a))(jnp.array([0.0, 2.0, 3.0])), jax.grad(lambda a: jnp.cumsum(a)[-1])(x), jax.grad(lambda a: a[1:].sum())(x))
print(jax.grad(lambda a: jax.scipy.special.logsumexp(a))(x), jax.grad(jax.scipy.special.gammaln)(2.5), jax.grad(jax.lax.erf)(0.0))
print(jax.vjp(lambda a, b: a @ b, w, x)[1](jnp.ones(2))[0].shape, jax.grad(lambda p: jnp.power(p, 3.0))(0.0), jax.grad(lambda p: 2.0**p)(3.0))
print(jax.grad(lambda x: jnp.fft.rfft(x).real.sum())(x), jax.grad(lambda a: jnp.interp(a, jnp.arange(3.0), jnp.array([0.0, 1.0, 4.0])))(1.5))
primal, tangent = jax.jvp(lambda a: (a**2, a.astype(int)), (2.0 * jnp.ones(()),), (jnp.ones(()),))
print(primal, tangent[1].dtype)
print(jax.vjp(lambda a: (a * 2, 3), 1.0)[0], jax.vjp(lambda a: a * 2, 1.0, has_aux=False)[1](1.0))
primals, pull, aux = jax.vjp(lambda a: (a * 2, "aux"), 1.0, has_aux=True)
print(primals, pull(1.0), aux)
out, fun = jax.linearize(lambda a, b: a * b, 2.0, 3.0)
print(out, fun(1.0, 0.0), jax.linear_transpose(lambda v: w @ v, x)(jnp.ones(2)))
