"""Constants, captured arrays and what programs close over."""

import jax
import jax.extend
import jax.numpy as jnp
import numpy as np

a = jnp.arange(3.0)
b = np.arange(3.0, dtype=np.float32)
program = jax.make_jaxpr(lambda x: x + a + b)(a)
print(len(program.consts), [c.shape for c in program.consts], len(program.jaxpr.constvars), len(program.jaxpr.invars))
print(len(jax.make_jaxpr(lambda: jnp.zeros(3))().consts), [str(e.primitive) for e in jax.make_jaxpr(lambda: jnp.zeros(3))().eqns])
print(len(jax.make_jaxpr(lambda x: x * np.pi)(1.0).consts), jax.make_jaxpr(lambda x: x * np.pi)(1.0))
print(jax.make_jaxpr(lambda x: (x, 1.0, 2))(jnp.ones(2)))
print(jax.make_jaxpr(lambda x, y: x)(1, jnp.ones(2)))
print(jax.make_jaxpr(lambda d: d["b"] - d["a"])({"a": 1.0, "b": 2.0}))
print(jax.make_jaxpr(lambda x: jax.lax.add(x, x))(jnp.ones((), jnp.float16)))
print(jax.make_jaxpr(lambda: 1)(), jax.make_jaxpr(lambda x: ())(1), sep="\n")
print(jax.make_jaxpr(lambda k: jax.random.key_data(k))(jax.random.key(0)))
print(jax.make_jaxpr(lambda x: x.astype(jnp.bfloat16) * 2)(jnp.ones(2)))
print(jax.make_jaxpr(lambda x: ~x & True)(True))
print(jax.make_jaxpr(lambda x: x == 2)(jnp.arange(2)))
print(jax.make_jaxpr(lambda x: jnp.real(x) + jnp.abs(x))(1 + 2j))
print(jax.make_jaxpr(lambda *xs: sum(xs))(*[1.0] * 30).jaxpr.invars.__len__())
print(str(jax.make_jaxpr(lambda *xs: xs[-1] + 1)(*[1.0] * 28)).split("let")[0].split()[-2:])
closed = jax.make_jaxpr(lambda x: jnp.sin(x) + a)(a)
print(closed.jaxpr.eqns[-1].invars[1] in closed.jaxpr.constvars, closed.literals == closed.consts)
print(closed.jaxpr.outvars[0].aval)
print(closed.eqns[1].params, closed.eqns[0].outvars[0].aval, closed.eqns[0].primitive is jax.lax.sin_p, len(closed.eqns))
print(closed.jaxpr.replace(eqns=closed.jaxpr.eqns[:1], outvars=closed.jaxpr.eqns[0].outvars).eqns[0].primitive)
print(closed.pretty_print().count("sin"), str(closed) == repr(closed) or "differ")

two = jnp.array(2.0)
made = {
    "closed over": lambda x: x + two,
    "array": lambda x: x + jnp.array(2.0),
    "asarray": lambda x: x * jnp.asarray(3),
    "float32": lambda x: x - jnp.float32(2.0),
    "NumPy": lambda x: x - jnp.asarray(np.float32(4.0)),
    "result": lambda x: (x, jnp.array(2)),
    "both": lambda x: x * two + jnp.array(3.0) * two,
    "full": lambda x: x + jnp.full((2, 2), 7, jnp.float32),
    "cond": lambda x: jax.lax.cond(x > 0, lambda v: v + jnp.array(2.0), lambda v: v * two, x),
    "loop": lambda x: jax.lax.fori_loop(0, 3, lambda i, v: v * jnp.array(2.0) + two, x),
    "grad": jax.grad(lambda x: x * x * jnp.array(2.0) * two),
}
for name, f in made.items():
    program = jax.make_jaxpr(f)(1.0)
    literals = [v.val for e in program.eqns for v in e.invars if isinstance(v, jax.extend.core.Literal)]
    print(name, len(program.consts), [float(x) for x in literals if np.shape(x) == () and float(x) not in (0.0, 1.0)])
key = jax.make_jaxpr(lambda: jax.random.key(7))()
print(len(key.consts), key.eqns[0].primitive, float(key.eqns[0].invars[0].val))
