"""Arrays: making, looking at and changing them."""

import jax
import jax.numpy as jnp
import numpy as np

x = jnp.arange(6).reshape(2, 3)
print(x, x.dtype, x.shape, x.ndim, x.size, x.itemsize, x.nbytes)
print(repr(x))
print(repr(jnp.array([1.5, jnp.nan, jnp.inf])), repr(jnp.array(2)), repr(jnp.float32(1)))
print(repr(jnp.array([True, False])), repr(jnp.array([], jnp.int8)))
print(repr(jnp.array([1 + 2j])), repr(jnp.ones((2, 2), jnp.bfloat16)))
print(x.at[0, 1].set(9))
print(x.at[:, 0].add(10), x.at[1].multiply(2), x.at[0].max(1))
print(x.at[5].get(mode="fill", fill_value=-1), x.at[0, 7].set(1, mode="drop").sum())
try:
    x[0, 0] = 1
except TypeError as error:
    print(type(error).__name__, ".at[" in str(error))
print(jnp.arange(10)[-3:], jnp.arange(10)[jnp.array([1, 20])], jnp.arange(10)[::-2])
print(x.devices(), x.device, x.sharding.device_set == x.devices())
print(type(x).__name__, isinstance(x, jax.Array), isinstance(np.ones(2), jax.Array))
print(np.asarray(x).flags.writeable, x.__array__().dtype, float(x[0, 1]), int(x[1, 1]))
print(x.T.shape, x.mT.shape, x.flatten(), x.ravel().tolist(), x.item(3))
print(jnp.asarray([1, 2], dtype=float).dtype, jnp.array(1, dtype="int64").dtype)
print(x.is_fully_addressable, x.is_fully_replicated, x.committed, x.weak_type, jnp.asarray(1).weak_type)
print(x.block_until_ready() is x, x.is_deleted(), len(x.addressable_shards))
print([str(row) for row in x], (x == 3).any(), bool((x < 9).all()))
print(f"{x[1, 2]:5d} {jnp.float32(2.5):.3f} {jnp.array(1.25)!s}")
print(x // 2, x % 2, x**2, -x, abs(-x), x @ x.T, divmod(x, 2)[1])
print(jax.typeof(x), jax.typeof(1.0), jax.typeof(jnp.ones(3, bool)))
try:
    hash(x)
except TypeError as error:
    print(type(error).__name__, "unhashable" in str(error))
