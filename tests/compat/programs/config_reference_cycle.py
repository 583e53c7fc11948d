"""Settings are part of what jit compiles for."""

import jax
import jax.numpy as jnp

traces = []


@jax.jit
def f(x):
    traces.append(str(x.dtype))
    return jnp.sum(x * 2)


f(1.0)
f(2.0)
with jax.enable_x64(True):
    f(1.0)
f(3.0)
print(traces)
with jax.numpy_dtype_promotion("strict"):
    f(1.0)
f(1)
f(jnp.int8(1))
print(traces, f._cache_size())
with jax.default_matmul_precision("highest"):
    f(1.0)
print(len(traces))
jax.clear_caches()
f(1.0)
print(len(traces))
with jax.disable_jit():
    print(f(5.0), len(traces))
with jax.log_compiles(False), jax.transfer_guard("allow"), jax.debug_infs(False):
    f(1.0)
print(f.lower(1.0).out_info, f.eval_shape(1.0))
with jax.ensure_compile_time_eval():
    print(jax.jit(lambda: jnp.arange(3).sum() + 1)())


@jax.jit
def g(x):
    with jax.ensure_compile_time_eval():
        n = jnp.sum(jnp.arange(3))
        print(isinstance(n, jax.core.Tracer), int(n))
    return x * n


print(g(2.0))
print(jax.jit(lambda x: x, inline=True)(1), jax.jit(lambda x, y: x, keep_unused=True)(1, 2))
