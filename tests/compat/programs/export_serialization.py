"""Exporting, writing, reading and calling; derivatives of what was exported."""

import jax
import jax.numpy as jnp
from jax import export


def f(x, y):
    return {"out": jnp.sin(x) * y, "sum": (x.sum(), 1.0 * x)}


exported = export.export(jax.jit(f))(jnp.ones(3), 2.0)
print(exported.fun_name, exported.in_tree, exported.out_tree)
print(exported.in_avals, exported.out_avals)
print(exported.platforms, exported.nr_devices, exported.disabled_safety_checks, exported.ordered_effects, exported.unordered_effects)
print(type(exported).__name__, exported.calling_convention_version >= 9, exported.has_vjp() if hasattr(exported, "has_vjp") else True)
print(exported.uses_global_constants if hasattr(exported, "uses_global_constants") else False)
data = exported.serialize(vjp_order=1)
print(type(data).__name__, len(data) > 500)
again = export.deserialize(data)
print(again.call(jnp.ones(3), 2.0))
print(len(again.in_avals) == len(exported.in_avals), again.in_tree == exported.in_tree, again.fun_name)
print(jax.jit(lambda x: again.call(x, 1.0)["out"] * 2)(jnp.arange(3.0)))
print(jax.grad(lambda x: again.call(x, 2.0)["out"].sum())(jnp.arange(3.0)))
vjp = again.vjp()
print(len(vjp.in_avals), len(vjp.out_avals))
plain = export.deserialize(exported.serialize())
try:
    jax.grad(lambda x: plain.call(x, 2.0)["out"].sum())(jnp.arange(3.0))
except ValueError as error:
    print(type(error).__name__, "vjp" in str(error).lower() or "gradient" in str(error).lower() or "deriv" in str(error).lower())
for bad in [lambda: again.call(jnp.ones(4), 2.0), lambda: again.call(jnp.ones(3)), lambda: again.call(jnp.ones(3, int), 2.0), lambda: export.export(f)(1.0, 2.0)]:
    try:
        bad()
        print("no error")
    except Exception as error:
        print(type(error).__name__)
for other in [export.export(jax.jit(f), platforms=["cpu", "cuda"])(jnp.ones(3), 2.0)]:
    print(other.platforms, other.call(jnp.ones(3), 2.0)["out"])
gpu = export.export(jax.jit(lambda x: x + 1), platforms=["cuda"])(1.0)
try:
    gpu.call(1.0)
except ValueError as error:
    print(type(error).__name__, "cuda" in str(error), "cpu" in str(error).lower())
print("stablehlo.sine" in exported.mlir_module(), "func.func public @main" in exported.mlir_module())
print(export.maximum_supported_calling_convention_version >= export.minimum_supported_calling_convention_version, export.default_export_platform())
print(export.DisabledSafetyCheck.platform(), export.DisabledSafetyCheck.custom_call("t"))
