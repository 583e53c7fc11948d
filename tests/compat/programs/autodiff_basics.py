"""Gradients, Jacobians and Hessians."""

import jax
import jax.numpy as jnp


def f(x):
    return jnp.sin(x[0]) * x[1] ** 2 + jnp.exp(-x[2])


x = jnp.array([0.3, 1.5, -0.2])
print("f", f(x))
print("grad", jax.grad(f)(x))
print("hessian", jax.hessian(f)(x))
print("jacfwd", jax.jacfwd(jax.grad(f))(x))
print("jacrev", jax.jacrev(lambda x: jnp.stack([f(x), x @ x]))(x))
print("argnums", jax.grad(lambda a, b, c: a * b**c, argnums=(0, 2))(2.0, 3.0, 4.0))
print("aux", jax.grad(lambda a: (a**2, {"seen": a + 1}), has_aux=True)(3.0))
print("value", jax.value_and_grad(lambda a: (a**2, "text"), has_aux=True)(3.0))
print("holomorphic", jax.grad(lambda z: z**3, holomorphic=True)(1 + 2j))
print("complex", jax.grad(lambda z: jnp.abs(z) ** 2)(1 + 2j))
print("allow_int", jax.grad(lambda i, x: x * i, argnums=(0, 1), allow_int=True)(3, 2.0))
print("stop", jax.grad(lambda a: a * jax.lax.stop_gradient(a))(3.0))
derivative = jnp.tanh
for order in range(4):
    print("order", order, derivative(0.5))
    derivative = jax.grad(derivative)
print("tree", jax.grad(lambda p: p["a"] * p["b"][0])({"a": 2.0, "b": [3.0, 4.0]}))
print("jac tree", jax.jacobian(lambda p: {"s": p[0] * p[1]})((jnp.arange(2.0), 3.0)))
print("hvp", jax.jvp(jax.grad(f), (x,), (jnp.ones(3),))[1])
print("vjp", jax.vjp(lambda a, b: (a * b, a + b), 2.0, 3.0)[1]((1.0, 10.0)))
print("where", jax.grad(lambda a: jnp.where(a > 0, jnp.sqrt(jnp.where(a > 0, a, 1.0)), 0.0))(-1.0))
for bad in [lambda: jax.grad(lambda a: a * jnp.ones(2))(1.0), lambda: jax.grad(lambda a: a)(1)]:
    try:
        bad()
    except TypeError as error:
        print(type(error).__name__, "scalar" in str(error) or "real" in str(error) or "inexact" in str(error))
linear = jax.linear_transpose(lambda v: 3.0 * v[:2], jax.ShapeDtypeStruct((3,), jnp.float32))
print("transpose", linear(jnp.array([1.0, 2.0])))
print("linearize", jax.linearize(jnp.sin, 0.3)[1](2.0))
