"""Options of the compiler, the cache on disk and counts of compilations."""

import tempfile

import jax
import jax.numpy as jnp

f = jax.jit(lambda x: jnp.tanh(x) @ x.T, compiler_options={"xla_cpu_enable_fast_math": False})
print(f(jnp.ones((2, 2))))
lowered = jax.jit(lambda x: x + 1).lower(jnp.ones(3))
print(lowered.compile(compiler_options={"xla_backend_optimization_level": 0})(jnp.ones(3)))
print(lowered.compile(compiler_options={"xla_embed_ir_in_executable": True})(jnp.ones(3)))
for bad in [lambda: lowered.compile(compiler_options={"no_such_flag": True}), lambda: jax.jit(lambda x: x, compiler_options={"xla_none": 1})(1.0), lambda: lowered.compile(compiler_options={"xla_backend_optimization_level": "word"})]:
    try:
        bad()
        print("no error")
    except Exception as error:
        print("refused", "xla" in str(error).lower() or "no_such_flag" in str(error))
with tempfile.TemporaryDirectory() as folder:
    names = ["jax_compilation_cache_dir", "jax_persistent_cache_min_compile_time_secs", "jax_persistent_cache_min_entry_size_bytes"]
    before = [getattr(jax.config, n) for n in names]
    print(before[2])
    from jax.experimental.compilation_cache import compilation_cache as cc

    jax.config.update(names[0], folder)
    jax.config.update(names[1], 0)
    jax.config.update(names[2], -1)
    try:
        jax.jit(lambda x: jnp.cos(x) * 17.0 + jnp.sin(x))(jnp.ones(5)).block_until_ready()
        print(jax.config.jax_compilation_cache_dir == folder)
    finally:
        for name, value in zip(names, before):
            jax.config.update(name, value)
        cc.reset_cache()
print(jax.config.jax_enable_compilation_cache in (True, False), jax.config.jax_raise_persistent_cache_errors)
g = jax.jit(lambda x: x * 2)
g(1.0), g(2.0), g(jnp.ones(2))
print(g._cache_size())
jax.clear_caches()
print(g._cache_size(), g(3.0), g._cache_size())
print(hash(lowered.as_text()) == hash(jax.jit(lambda x: x + 1).lower(jnp.ones(3)).as_text()) or "names differ")
print(jax.jit(lambda x: x, keep_unused=True).lower(1.0).as_text().count("%arg0") >= 1)
print(jax.jit(lambda x, y: y, keep_unused=False).lower(1.0, 2.0).as_text().count("%arg1"), jax.jit(lambda x, y: y, keep_unused=True).lower(1.0, 2.0).as_text().count("%arg1"))
