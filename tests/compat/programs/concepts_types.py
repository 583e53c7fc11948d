"""Dtypes, weak types and promotion."""

import jax
import jax.numpy as jnp
import numpy as np

for a, b in [
    (jnp.int8(1), 1),
    (jnp.int8(1), 1.0),
    (jnp.uint8(1), jnp.int8(1)),
    (jnp.float16(1), jnp.bfloat16(1)),
    (jnp.int32(1), jnp.float16(1)),
    (jnp.bool_(True), 2),
    (jnp.float32(1), 1j),
    (np.float64(1), jnp.float32(1)),
    (jnp.uint32(1), jnp.int32(1)),
]:
    out = a + b
    print(type(a).__name__ == type(b).__name__, out.dtype, out.weak_type, jnp.result_type(a, b))
print(jnp.promote_types("int8", "uint8"), jnp.result_type(1, 2.0), jnp.result_type(jnp.int16, 3.0))
print(jnp.finfo(jnp.bfloat16).max, jnp.finfo("float32").eps, jnp.iinfo(jnp.int4).max)
with jax.numpy_dtype_promotion("strict"):
    try:
        jnp.float32(1) + jnp.int32(1)
    except jax.errors.JAXTypeError as error:
        print("strict refuses")
    except Exception as error:
        print(type(error).__name__, "strict" in str(error))
    print(jnp.float32(1) + 1)
with jax.enable_x64(True):
    print(jnp.arange(2.0).dtype, jnp.array(1).dtype, jnp.float64(1).dtype)
print(jnp.arange(2.0).dtype, jax.dtypes.canonicalize_dtype("float64"))
print(jnp.issubdtype(jnp.bfloat16, jnp.floating), jnp.issubdtype(jnp.float8_e4m3fn, jnp.inexact))
print(jnp.can_cast("int32", "float32"), jnp.isdtype(jnp.int8, "integral"))
print(jnp.array([1, 2.5, True]).dtype, jnp.array([1, 2j]).dtype, jnp.asarray(np.int64(3)).dtype)
print(jax.lax.convert_element_type(jnp.array([1.7, -1.7]), jnp.int32), jnp.array(300).astype(jnp.uint8))
print(jax.lax.bitcast_convert_type(jnp.float32(1), jnp.int32), jnp.ones(1).view(jnp.uint16))
print(jnp.float32, jnp.dtype("bfloat16"), jnp.int_, jax.dtypes.float0, jax.dtypes.prng_key.__name__)
print(jnp.true_divide(3, 2).dtype, jnp.sum(jnp.ones(3, jnp.int8)).dtype, jnp.mean(jnp.arange(3)).dtype)
