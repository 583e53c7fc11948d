"""Tracing, lowering and compiling in stages."""

import jax
import jax.numpy as jnp


def f(x, y):
    return 2 * x + y


x, y = jnp.arange(3.0), 4.0
traced = jax.jit(f).trace(x, y)
print(type(traced).__name__, traced.fun_name, traced.jaxpr.out_avals, traced.out_info)
lowered = traced.lower()
print(type(lowered).__name__, lowered.in_tree, lowered.out_tree, lowered.out_info)
print(lowered.args_info)
print(lowered.donate_argnums, "stablehlo.multiply" in lowered.as_text(), "module @jit_f" in lowered.as_text())
print("HloModule" in lowered.as_text("hlo"), type(lowered.compiler_ir()).__name__, type(lowered.compiler_ir("hlo")).__name__)
print(lowered.cost_analysis()["flops"])
compiled = lowered.compile()
print(type(compiled).__name__, compiled(x, y), compiled.in_tree == lowered.in_tree)
print("HloModule jit_f" in compiled.as_text(), compiled.cost_analysis()["flops"], compiled.memory_analysis() is not None)
print(compiled.input_shardings[0][0].is_fully_replicated, compiled.output_shardings.is_fully_replicated, len(compiled.input_formats[0]))
print(compiled.memory_analysis().argument_size_in_bytes, compiled.memory_analysis().output_size_in_bytes)
for bad in [lambda: compiled(x.astype(int), y), lambda: compiled(jnp.ones(4), y), lambda: compiled(x), lambda: compiled([x], y)]:
    try:
        bad()
    except TypeError as error:
        print(type(error).__name__, "aval" in str(error) or "type" in str(error) or "argument" in str(error) or "tree" in str(error))
try:
    jax.vmap(compiled, (0, None))(jnp.ones((2, 3)), 1.0)
except TypeError as error:
    print(type(error).__name__, "transform" in str(error).lower())
static = jax.jit(lambda x, n: x * n, static_argnums=1).lower(x, 3)
print(static.compile()(x), static.in_tree)
print(jax.jit(f).lower(jax.ShapeDtypeStruct((2,), jnp.int32), 1).compile()(jnp.ones(2, jnp.int32), 1))
print(jax.jit(lambda a, **k: k["b"]).lower(1, b=2.0).args_info)
print(jax.jit(f, donate_argnums=0).lower(x, y).args_info)
print(jax.jit(f).eval_shape(x, y), jax.jit(f).trace(x, 1).jaxpr.in_avals)
print(jax.stages.Lowered is type(lowered), isinstance(jax.jit(f), jax.stages.Wrapped), isinstance(f, jax.stages.Wrapped))
print(lowered.compile({"xla_embed_ir_in_executable": True})(x, y), compiled.runtime_executable() is not None)
print(compiled.out_tree)
try:
    lowered.compile({"no_such_option": 1})
except Exception:
    print("unknown option refused")
