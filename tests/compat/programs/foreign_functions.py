"""Functions of other libraries in programs."""

import jax
import jax.numpy as jnp
import numpy as np

print(jax.ffi.pycapsule.__name__, jax.ffi.ffi_call.__name__)
print("include" in jax.ffi.include_dir())
call = jax.ffi.ffi_call("no_such_target", jax.ShapeDtypeStruct((3,), jnp.float32))
try:
    call(jnp.ones(3)).block_until_ready()
except Exception as error:
    print("no_such_target" in str(error))
text = jax.jit(lambda x: jax.ffi.ffi_call("some_target", jax.ShapeDtypeStruct((3,), jnp.float32), has_side_effect=True)(x, factor=2.0, name="n")).lower(jnp.ones(3)).as_text()
print("stablehlo.custom_call @some_target" in text, "factor = 2.0" in text, 'name = "n"' in text, "has_side_effect = true" in text)
program = jax.make_jaxpr(lambda x: jax.ffi.ffi_call("t", (jax.ShapeDtypeStruct((3,), jnp.float32),) * 2, vmap_method="sequential")(x))(jnp.ones(3))
print([str(e.primitive) for e in program.eqns], program.out_avals)
print(jax.eval_shape(jax.vmap(lambda x: jax.ffi.ffi_call("t", jax.ShapeDtypeStruct((3,), jnp.float32), vmap_method="expand_dims")(x)), jnp.ones((2, 3))))
for bad in [
    lambda: jax.grad(lambda x: jax.ffi.ffi_call("t", jax.ShapeDtypeStruct((), jnp.float32))(x))(1.0),
    lambda: jax.make_jaxpr(jax.vmap(lambda x: jax.ffi.ffi_call("t", jax.ShapeDtypeStruct((3,), jnp.float32))(x)))(jnp.ones((2, 3))),
    lambda: jax.ffi.register_ffi_target("x", object()),
]:
    try:
        bad()
        print("no error")
    except Exception as error:
        print("refused")
attrs = jax.jit(lambda x: jax.ffi.ffi_call("t", jax.ShapeDtypeStruct((), jnp.float32))(x, i=np.int32(1), f=np.float64(2), b=True, a=np.arange(3)))
print(sorted(w for w in ("1 : i32", "2.000000e+00 : f64", "b = true", "array<i64: 0, 1, 2>") if w in attrs.lower(1.0).as_text()))
print(jax.dlpack.from_dlpack(jnp.arange(3)), np.from_dlpack(jnp.ones(2)), jnp.from_dlpack(np.arange(3, dtype=np.float32)))
print(jnp.ones(2).__dlpack_device__()[1], hasattr(jnp.ones(2), "__dlpack__"), hasattr(jnp.ones(2), "__array_namespace__"))
print(jnp.ones(2).__array_namespace__().__name__, jnp.ones(2).__array_priority__)


class Own:
    def __jax_array__(self):
        return jnp.arange(3.0)


print(jnp.asarray(Own()), jnp.array(Own()).dtype)
print(np.sin(jnp.ones(2)), type(np.ones(2) + jnp.ones(2)).__name__, np.add(jnp.ones(2), 1).dtype, jnp.add(np.ones(2), 1).dtype)
