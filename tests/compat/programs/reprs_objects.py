"""How objects print: arrays, tracers, structures and descriptions."""

import jax
import jax.numpy as jnp
import numpy as np

print(jax.ShapeDtypeStruct((2, 3), jnp.float32), jax.ShapeDtypeStruct((), "int8", weak_type=True))
print(repr(jax.ShapeDtypeStruct((1,), bool)), jax.ShapeDtypeStruct((2,), "float32") == jax.ShapeDtypeStruct((2,), "float32"))
print(jax.eval_shape(lambda x: {"a": x, "b": (x.sum(),)}, jnp.ones(2)))
print(jax.tree.structure({"a": [1, None, ()], "b": np.ones(2)}))
print(jax.devices(), jax.devices()[0], jax.devices()[0].device_kind)
print(jnp.ones((2, 2)).sharding, jnp.float32, jnp.dtype(jnp.bfloat16))
print(repr(jnp.arange(2000)), repr(jnp.zeros((40, 40))).count("\n"))
print(repr(jnp.array([0.1, 1e10, 1e-10])), jnp.array([1e-8, 1.0]))
print(repr(jnp.float16(3.14159)), jnp.bfloat16(3.14159), repr(jnp.array(1j)), jnp.int4(3))
print(repr(jnp.array([[True], [False]])), repr(jnp.array(5, jnp.uint8)))
with np.printoptions(precision=3):
    print(jnp.array([1 / 3, 2 / 3]))
with jax.numpy_dtype_promotion("standard"):
    print(jnp.array([np.inf, -np.inf, np.nan]))
print(jax.random.key(3).dtype, repr(jax.random.key(3).dtype), jax.random.key_impl(jax.random.key(3)))

print(jax.lax.add_p, jax.lax.dot_general_p, repr(jax.lax.scan_p), str(jax.lax.cond_p))
print(jax.lax.Precision.HIGHEST, jax.lax.GatherScatterMode.CLIP, jax.lax.RoundingMethod.TO_NEAREST_EVEN)
print(jax.lax.ConvDimensionNumbers((0, 1), (1, 0), (0, 1)))
print(jax.lax.GatherDimensionNumbers((0,), (1,), (0,)))
print(jax.sharding.PartitionSpec("a", None), repr(jax.sharding.PartitionSpec()), jax.P("x") if hasattr(jax, "P") else "P('x')")
print(jax.sharding.AxisType.Auto, repr(jax.sharding.AxisType.Explicit), jax.sharding.SingleDeviceSharding(jax.devices()[0]))
print(jax.tree_util.Partial(max, 1).args, jax.tree_util.DictKey("k"), jax.tree_util.keystr((jax.tree_util.DictKey("k"),)))
print(jnp.add.__name__, jnp.add.nin, jnp.add.identity)
print(type(jnp.ones(1)).__name__, jax.Array.__name__, jax.Array.__module__, type(jax.random.key(0)).__name__ in ("PRNGKeyArray", "ArrayImpl"))
print(jnp.sin.__module__, jnp.sin.__name__, jax.lax.scan.__name__)
print(jnp.finfo(jnp.float16).dtype, jnp.iinfo("int16"), str(jnp.finfo(jnp.bfloat16)).count("="))
print(jax.core.ShapedArray((2,), jnp.float32), repr(jax.core.ShapedArray((), jnp.int32, weak_type=True)))
print(jax.custom_jvp(jnp.sin).__class__.__name__, jax.custom_vjp(jnp.sin).__class__.__name__)
