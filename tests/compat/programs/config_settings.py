"""Reading and setting options; context managers; what unknown options do."""

import jax
import jax.numpy as jnp

print(jax.config.jax_enable_x64, jax.config.read("jax_enable_x64"), jax.config.x64_enabled if hasattr(jax.config, "x64_enabled") else False)
jax.config.update("jax_enable_x64", True)
try:
    print(jnp.arange(2.0).dtype, jnp.pi, jnp.array(0.1))
finally:
    jax.config.update("jax_enable_x64", False)
with jax.enable_x64(True):
    print(jnp.ones(1).dtype, jax.config.jax_enable_x64)
print(jnp.ones(1).dtype)
with jax.default_matmul_precision("float32"):
    print(jax.make_jaxpr(jnp.dot)(jnp.ones(2), jnp.ones(2)).eqns[0].params["precision"])
with jax.default_matmul_precision("bfloat16"):
    print(jax.make_jaxpr(jnp.dot)(jnp.ones(2), jnp.ones(2)).eqns[0].params["precision"])
with jax.numpy_rank_promotion("raise"):
    try:
        jnp.ones((2, 2)) + jnp.ones(2)
    except ValueError as error:
        print(type(error).__name__, "rank_promotion" in str(error))
with jax.disable_jit():
    seen = []
    jax.jit(lambda x: seen.append(isinstance(x, jax.core.Tracer)) or x)(1.0)
    print(seen, jax.config.jax_disable_jit)
with jax.default_device(jax.devices()[0]):
    print(jnp.ones(1).devices() == {jax.devices()[0]})
with jax.default_prng_impl("rbg"):
    print(jax.random.key(0).dtype, jax.random.PRNGKey(0).shape)
print(jax.random.key(0).dtype)
with jax.threefry_partitionable(True):
    print(jax.random.uniform(jax.random.key(0)))
with jax.softmax_custom_jvp(False) if hasattr(jax, "softmax_custom_jvp") else jax.ensure_compile_time_eval():
    print(jax.nn.softmax(jnp.arange(3.0)))
for bad in [
    lambda: jax.config.update("jax_no_such_option", 1),
    lambda: jax.config.update("jax_numpy_rank_promotion", "sometimes"),
    lambda: jax.config.read("jax_no_such_option"),
    lambda: jax.config.jax_no_such_option,
    lambda: jax.default_matmul_precision("wrong").__enter__(),
]:
    try:
        bad()
        print("no error")
    except Exception as error:
        print(type(error).__name__)
print("jax_debug_nans" in jax.config.values, type(jax.config).__name__, jax.config.jax_debug_nans)
print(jax.config.jax_default_matmul_precision, jax.config.jax_numpy_dtype_promotion, jax.config.jax_platforms)
