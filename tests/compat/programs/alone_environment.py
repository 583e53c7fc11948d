"""Variables that the environment sets before the start."""

import os

import jax
import jax.numpy as jnp

print(sorted(name for name in os.environ if name.startswith("JAX_")))
print(jax.config.jax_enable_x64, jnp.ones(1).dtype, jnp.arange(2).dtype, jnp.array(1.5).dtype)
print(jax.config.jax_default_matmul_precision, jax.config.jax_numpy_rank_promotion)
print(jax.make_jaxpr(jnp.dot)(jnp.ones(2), jnp.ones(2)).eqns[0].params["precision"])
try:
    jnp.ones((2, 2)) + jnp.ones(2)
except ValueError as error:
    print(type(error).__name__)
with jax.enable_x64(False):
    print(jnp.ones(1).dtype)
print(jax.grad(lambda x: x**3)(2.0).dtype, jax.random.normal(jax.random.key(0)).dtype, jnp.float32(1) + 1.0)
print(jnp.linspace(0, 1, 3), jnp.sum(jnp.ones(3, jnp.int32)).dtype, jnp.mean(jnp.arange(3)).dtype, jnp.int64(3), jnp.uint64(5))
print(repr(jnp.array([1, 2])), repr(jnp.array([1.5])), repr(jnp.array(1j)), jax.eval_shape(lambda: jnp.zeros(2)))
print(jax.random.uniform(jax.random.key(1), (2,)), jax.random.randint(jax.random.key(1), (2,), 0, 10))
print(jnp.finfo(float).eps, jnp.iinfo(int).max, jnp.result_type(float), jax.dtypes.canonicalize_dtype("float64"))
print(jnp.linalg.inv(jnp.array([[4.0, 1.0], [1.0, 3.0]])), jnp.sqrt(2.0))
