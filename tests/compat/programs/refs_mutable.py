"""Mutable references in and out of jit."""

import jax
import jax.numpy as jnp

ref = jax.new_ref(jnp.arange(4))
print(type(ref).__name__, ref.shape, ref.dtype, ref[...], jax.typeof(ref))
ref[0] = 10
ref[1:3] += 5
print(ref[...], ref[1], ref[jnp.array([0, 3])])
ref[...] = jnp.zeros(4, int)
print(jax.freeze(ref))


@jax.jit
def count(counter, x):
    counter[...] += 1
    return x * counter[...]


counter = jax.new_ref(0)
print([int(count(counter, 10)) for _ in range(3)], counter[...])


@jax.jit
def local(x):
    total = jax.new_ref(0.0)

    def body(i, _):
        total[...] += x[i]

    jax.lax.fori_loop(0, x.shape[0], body, None)
    return jax.freeze(total)


print(local(jnp.arange(5.0)), jax.grad(local)(jnp.arange(3.0)), jax.vmap(local)(jnp.ones((2, 3))))


def scanned(xs):
    seen = jax.new_ref(jnp.zeros(3))

    def body(c, x):
        seen[x] = c * 1.0
        return c + 1, None

    jax.lax.scan(body, 5, xs)
    return seen[...]


print(scanned(jnp.array([2, 0, 1])), jax.jit(scanned)(jnp.array([0, 2, 0])))
print(jax.ref.swap(counter, ..., 50), jax.ref.get(counter, ...))
jax.ref.set(counter, ..., 1)
jax.ref.addupdate(counter, ..., 2)
print(counter[...])
# Rows of a ref that is scanned over.


def add_row(total, row_and_step):
    row, step = row_and_step
    row[...] += step
    return total + row[...].sum(), row[0] * 2


rows = jax.new_ref(jnp.arange(6.0).reshape(3, 2))
print(jax.lax.scan(add_row, 0.0, (rows, jnp.arange(3.0))), rows[...])
print(jax.jit(lambda: jax.lax.scan(add_row, 0.0, (rows, jnp.arange(3.0)), reverse=True))(), rows[...])
for bad in [
    lambda: jax.jit(lambda a, b: a[...] + b[...])(counter, counter),
    lambda: jax.jit(lambda r: r)(counter),
    lambda: jax.jit(lambda: jax.new_ref(1))(),
    lambda: jax.grad(lambda r: r[...] * 1.0)(jax.new_ref(1.0)),
    lambda: counter + 1,
    lambda: jax.new_ref(jnp.ones(2)).__setitem__(..., jnp.ones(3)),
]:
    try:
        bad()
        print("no error")
    except Exception as error:
        print(type(error).__name__)
print(jax.make_jaxpr(lambda r: r[...] + 1)(counter).effects != set())
print(jax.make_jaxpr(lambda x: jax.freeze(jax.new_ref(x)))(1.0))
