"""Inspecting values, keys used twice, and named scopes."""

import jax
import jax.numpy as jnp

with jax.debug_key_reuse(True):
    key = jax.random.key(0)
    jax.random.normal(key)
    try:
        jax.random.normal(key)
    except jax.errors.KeyReuseError as error:
        print(type(error).__name__)
    print(jax.random.normal(jax.random.clone(key)).shape)


def f(x):
    with jax.named_scope("outer"):
        y = jnp.sin(x)
        with jax.named_scope("inner"):
            return jnp.cos(y)


print([str(e.source_info.name_stack) for e in jax.make_jaxpr(f)(1.0).eqns])
print("outer/inner" in jax.jit(f).lower(1.0).as_text(debug_info=True))


@jax.named_call
def named(x):
    return x * 2


print(named(2.0), jax.named_call(lambda x: x, name="own")(1))
jax.debug.inspect_array_sharding(jnp.ones(4), callback=lambda s: print("sharding", s.is_fully_replicated))
print(jax.jit(lambda x: jax.debug.inspect_array_sharding(x, callback=lambda s: print("inside", s.is_fully_replicated)) or x)(jnp.ones(2)))
print(jax.jit(lambda x: jax.lax.cond(x > 0, lambda: jax.debug.print("positive {}", x), lambda: jax.debug.print("negative")))(1.0))
jax.effects_barrier()
with jax.disable_jit():
    print(jax.lax.scan(lambda c, x: (c + x, float(c)), 0.0, jnp.arange(3.0))[1])
    print(jax.lax.while_loop(lambda c: bool(c < 3), lambda c: c + 1, 0))
print(jax.live_arrays()[:0], jax.debug.callback(lambda: print("called")))
jax.effects_barrier()
print([e.primitive.name for e in jax.make_jaxpr(lambda x: jax.debug.callback(print, x) or x)(1.0).eqns])
text = jax.jit(f).lower(1.0).as_text()
print(text.startswith("module @jit_f"), "stablehlo.cosine" in text, text.count("func.func"))
try:
    jax.jit(f)(jnp.ones(2), jnp.ones(3))
except TypeError as error:
    print("positional argument" in str(error))
print(jax.make_jaxpr(f)(1.0).jaxpr.debug_info.arg_names if hasattr(jax.make_jaxpr(f)(1.0).jaxpr, "debug_info") else ("x",))
