"""cond, switch, while_loop, fori_loop, scan, map and associative_scan."""

import jax
import jax.numpy as jnp
from jax import lax

print(lax.cond(True, lambda x: x + 1, lambda x: x - 1, 10))
print(lax.cond(jnp.array(False), lambda a, b: a * b, lambda a, b: a + b, 2.0, 3.0))
print([int(lax.switch(i, [lambda x: x, lambda x: x * 10, lambda x: -x], 4)) for i in (-1, 0, 1, 2, 9)])
print(lax.while_loop(lambda s: s[0] < 100, lambda s: (s[0] * 2, s[1] + 1), (1, 0)))
print(lax.fori_loop(0, 5, lambda i, x: x + i, 0), lax.fori_loop(3, 3, lambda i, x: x + 1, 7.0))
carry, ys = lax.scan(lambda c, x: (c + x, c * x), 0.0, jnp.arange(1.0, 6.0))
print(carry, ys)
print(lax.scan(lambda c, x: (c + 1, None), 0, None, length=4))
print(lax.scan(lambda c, x: (c, c + x["a"]), 1, {"a": jnp.arange(4)}, reverse=True, unroll=2))
print(lax.map(lambda x: x**2, jnp.arange(4)), lax.map(lambda p: p[0] + p[1], (jnp.arange(3), jnp.ones(3)), batch_size=2))
print(lax.associative_scan(jnp.add, jnp.arange(6)), lax.associative_scan(jnp.maximum, jnp.array([1, 5, 2, 7]), reverse=True))
print(jnp.piecewise(jnp.array([-2.0, 0.5, 3.0]), [jnp.array([True, False, False])], [lambda x: -x, lambda x: x + 100]))
print(lax.select(jnp.array([True, False]), jnp.zeros(2), jnp.ones(2)), lax.select_n(jnp.array([0, 2]), *[jnp.full(2, i) for i in range(3)]))
print(jax.grad(lambda x: lax.fori_loop(0, 3, lambda i, y: y * x, 1.0))(2.0))
print(jax.grad(lambda x: lax.scan(lambda c, _: (jnp.sin(c), None), x, length=3)[0])(1.0))
print(jax.jvp(lambda x: lax.while_loop(lambda y: y < 10, lambda y: y * x, x), (2.0,), (1.0,)))
print(jax.vmap(lambda n: lax.while_loop(lambda s: s[0] < n, lambda s: (s[0] + 1, s[1] + s[0]), (0, 0))[1])(jnp.arange(5)))
print(jax.vmap(lambda p, x: lax.cond(p, jnp.sin, jnp.cos, x))(jnp.array([True, False]), jnp.ones(2)))
print(lax.cumsum(jnp.arange(4)), lax.cumprod(jnp.arange(1, 5)), lax.cummax(jnp.array([1, 3, 2])), lax.cumlogsumexp(jnp.zeros(3)))
for bad in [
    lambda: lax.scan(lambda c, x: (c + 1.5, x), 0, jnp.arange(3)),
    lambda: lax.cond(True, lambda: 1, lambda: 2.0),
    lambda: lax.while_loop(lambda x: x, lambda x: x + 1, 0),
    lambda: lax.fori_loop(0, 3, lambda i, x: (x, x), 0),
    lambda: lax.scan(lambda c, x: (c, x), 0, (jnp.arange(3), jnp.arange(4))),
    lambda: jax.grad(lambda x: lax.while_loop(lambda y: y < 10, lambda y: y * x, x))(2.0),
    lambda: lax.switch(0, [], 1),
]:
    try:
        bad()
        print("no error")
    except Exception as error:
        print(type(error).__name__)
