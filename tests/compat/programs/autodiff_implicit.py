"""A fixed point with implicit derivatives; custom_root and custom_linear_solve."""

from functools import partial

import jax
import jax.numpy as jnp
from jax import lax


@partial(jax.custom_vjp, nondiff_argnums=(0,))
def fixed_point(f, a, guess):
    def unfinished(pair):
        before, now = pair
        return jnp.abs(before - now) > 1e-6

    _, answer = lax.while_loop(unfinished, lambda p: (p[1], f(a, p[1])), (guess, f(a, guess)))
    return answer


def forward(f, a, guess):
    answer = fixed_point(f, a, guess)
    return answer, (a, answer)


def backward(f, kept, g):
    a, answer = kept
    _, pull_a = jax.vjp(lambda a: f(a, answer), a)
    _, pull_x = jax.vjp(lambda x: f(a, x), answer)
    u = g / (1 - pull_x(1.0)[0])
    return pull_a(u)[0], jnp.zeros_like(answer)


fixed_point.defvjp(forward, backward)
newton = lambda a, x: 0.5 * (x + a / x)
print(fixed_point(newton, 2.0, 1.0))
root = lambda a: fixed_point(newton, a, a)
print(jax.grad(root)(2.0), 0.5 / jnp.sqrt(2.0))
print(jax.grad(jax.grad(root))(2.0))
print(jax.vmap(jax.grad(root))(jnp.array([1.0, 4.0, 9.0])))
print(jax.jit(jax.value_and_grad(root))(16.0))


def cube_root(b):
    def solve(g, x0):
        return lax.fori_loop(0, 30, lambda i, x: x - g(x) / jax.grad(g)(x), x0)

    return lax.custom_root(lambda x: x**3 - b, 1.0, solve, lambda g, y: y / g(1.0))


print(cube_root(8.0), jax.grad(cube_root)(8.0))


def solve_linear(m, b):
    return lax.custom_linear_solve(
        lambda v: m @ v, b, lambda _, r: jnp.linalg.solve(m, r), lambda _, r: jnp.linalg.solve(m.T, r)
    )


m = jnp.array([[2.0, 1.0], [0.0, 3.0]])
b = jnp.array([1.0, 2.0])
print(solve_linear(m, b))
print(jax.grad(lambda m: solve_linear(m, b).sum())(m))
print(jax.jvp(lambda b: solve_linear(m, b), (b,), (jnp.ones(2),)))
print(jax.scipy.sparse.linalg.cg(lambda v: (m + m.T) @ v, b, tol=1e-6)[0])
from jax.scipy import optimize

print(optimize.minimize(lambda p: jnp.sum((p - b) ** 4), jnp.zeros(2), method="BFGS").success)
