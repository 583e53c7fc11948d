"""Pickles and copies of arrays, structures, keys and functions."""

import copy
import pickle

import jax
import jax.numpy as jnp
import numpy as np


def double(x):
    return x * 2


def again(value):
    return pickle.loads(pickle.dumps(value))


x = jnp.arange(4.0)
print(again(x), type(again(x)).__name__, again(x).dtype, again(jnp.ones(2, jnp.bfloat16)).dtype)
print(again({"a": [x, None]}), again(jnp.int32(3)), again(jnp.asarray(1)).weak_type)
print(copy.copy(x) is x, copy.deepcopy(x) is x, copy.deepcopy([x])[0])
print(again(jax.tree.structure({"a": 1, "b": (2, None)})))
print(again(jax.ShapeDtypeStruct((2,), jnp.float32)), again(jax.sharding.PartitionSpec("x", None)))
print(copy.deepcopy(jax.random.key(1)) == jax.random.key(1), copy.copy(jax.random.key(1)).dtype)
print(copy.deepcopy(jax.tree.structure([1])) == jax.tree.structure([1]), copy.copy(jax.jit(double))(2.0))
print(again(jnp.float32)(2.5), again(jnp.dtype("bfloat16")), again(jax.dtypes.bfloat16) is jax.dtypes.bfloat16)
print(again(jax.lax.add)(1, 2))
partial = jax.tree_util.Partial(double)
print(partial(3), jax.tree.structure(partial) == jax.tree.structure(jax.tree_util.Partial(double)))
print(again(jax.tree_util.DictKey("k")), again(jax.tree_util.SequenceKey(3)))
print(again(jax.devices()[0].platform), again(jax.typeof(x)))
try:
    pickle.dumps(jax.jit(lambda x: x))
    print("no error")
except Exception as error:
    print("not pickled")
try:
    jax.jit(lambda x: pickle.dumps(x))(x)
except Exception as error:
    print(type(error).__name__)
try:
    jax.jit(lambda x: copy.deepcopy(x))(x)
    print("tracers are copied")
except Exception as error:
    print(type(error).__name__)
buffer = np.asarray(x)
print(np.array(x, copy=True).flags.writeable, buffer.flags.writeable, bytes(jnp.array([1, 2], jnp.uint8)))
print(jnp.asarray(memoryview(b"ab")), np.from_dlpack(x), x.tolist(), list(x)[0], len(x), tuple(jnp.arange(2)))
jnp.save("/tmp/_compat_saved.npy", x)
print(jnp.load("/tmp/_compat_saved.npy"), hash(jax.tree.structure([1])) == hash(again(jax.tree.structure([1]))))
