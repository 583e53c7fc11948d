"""Reading and writing parts of arrays."""

import jax
import jax.numpy as jnp
import numpy as np

x = jnp.arange(12).reshape(3, 4)
print(x[1], x[-1, -1], x[:, 1], x[::2, ::-1], x[..., 0], x[None, 0].shape, x[1:2, jnp.newaxis, 2:].shape)
print(x[jnp.array([0, 2])], x[jnp.array([0, 2]), jnp.array([1, 3])], x[:, jnp.array([True, False, True, False])], x[x > 8])
print(x[10], x[jnp.array(-10)], x[jnp.array([99])][0], x.at[10].get(mode="fill", fill_value=-1), x.at[jnp.array([5])].get(mode="clip"))
y = jnp.zeros(5)
print(y.at[1].set(3), y.at[1:3].add(2), y.at[jnp.array([1, 1])].add(1), y.at[jnp.array([1, 1])].set(jnp.array([1.0, 2.0])).shape, y.at[::2].mul(0).shape)
print(y.at[0].divide(2), (y + 2).at[0].power(3), y.at[2].min(-1), y.at[2].max(7), y.at[9].set(1), y.at[-1].set(5), y.at[1].apply(jnp.cos))
print(y.at[jnp.array([True, False, True, False, False])].set(9), y.at[...].set(1), x.at[jnp.ix_(jnp.array([0, 1]), jnp.array([0, 1]))].set(0))
print(y.at[7].add(1, mode="clip"), y.at[7].add(1, mode="drop"), y.at[jnp.array([0, 4])].set(1, indices_are_sorted=True, unique_indices=True))
print(jax.jit(lambda a, i: a[i])(x, 2), jax.jit(lambda a, i: a.at[i, 0].set(-1))(x, 1), jax.vmap(lambda r, i: r[i])(x, jnp.array([0, 1, 9])))
print(jax.grad(lambda v: v[jnp.array([0, 0, 2])].sum())(y), jax.grad(lambda v: (v.at[1].set(v[0] * 2)).sum())(y))
print(x[np.array([1])], x[np.int64(1)].shape, x[[0][0]], x[(1, 2)], x[slice(1, 3)].shape, x[jnp.uint8(2)][0])
for bad in [lambda: x[[0, 1]], lambda: x[1.0], lambda: x["k"], lambda: x[0, 0, 0], lambda: x[True, False, True], lambda: x[..., ...], lambda: x[jnp.ones(3)], lambda: jax.jit(lambda a, m: a[m])(x, x > 3), lambda: jax.jit(lambda a, i: a[:i])(x, 2), lambda: x.__setitem__(0, 1), lambda: x.at[0].set(jnp.ones(3)), lambda: y.at[0].set(1, mode="none")]:
    try:
        bad()
        print("no error")
    except Exception as error:
        print(next(b.__name__ for b in type(error).__mro__ if b.__module__ == "builtins"))
print(jnp.take(x, 5, axis=0, mode="clip"), jnp.put(y, 1, 4, inplace=False), jnp.place(y, y == 0, 1, inplace=False), jnp.fill_diagonal(jnp.zeros((2, 2)), 1, inplace=False))
print(jnp.s_[1:2], jnp.index_exp[0], jnp.r_[1:4], jnp.c_[jnp.arange(2), jnp.arange(2)], jnp.mgrid[0:2], jnp.ogrid[0:2], jnp.unravel_index(5, (2, 3)), jnp.ravel_multi_index((1, 2), (2, 3)))
print(jnp.delete(jnp.arange(4), 1), jnp.insert(jnp.arange(3), 1, 9), jnp.append(jnp.arange(2), 5), jnp.compress(jnp.array([True, False]), jnp.arange(2)), jnp.extract(x > 9, x), jnp.repeat(jnp.arange(2), 2), jnp.tile(jnp.arange(2), 2))
