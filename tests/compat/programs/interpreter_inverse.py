"""Reading a program's equations: an evaluator and an inverter."""

import jax
import jax.numpy as jnp
from jax import lax
from jax.extend import core


def evaluate(closed, *args):
    program, env = closed.jaxpr, {}
    read = lambda v: v.val if isinstance(v, core.Literal) else env[v]
    env.update(zip(program.constvars, closed.consts))
    env.update(zip(program.invars, args))
    for eqn in program.eqns:
        params = eqn.primitive.get_bind_params(eqn.params)
        out = eqn.primitive.bind(*map(read, eqn.invars), **params)
        env.update(zip(eqn.outvars, out if eqn.primitive.multiple_results else [out]))
    return [read(v) for v in program.outvars]


def f(x):
    return jnp.exp(jnp.tanh(x)) * 2.0 + jax.jit(jnp.sin)(x)


closed = jax.make_jaxpr(f)(1.0)
print(evaluate(closed, 0.5), f(0.5))
print(jax.jit(lambda x: evaluate(closed, x)[0])(0.5))
inverses = {lax.exp_p: jnp.log, lax.tanh_p: jnp.arctanh, lax.sin_p: jnp.arcsin}


def invert(fun):
    def inverse(y):
        closed = jax.make_jaxpr(fun)(y)
        env = {closed.jaxpr.outvars[0]: y}
        for eqn in reversed(closed.jaxpr.eqns):
            if eqn.primitive not in inverses:
                raise NotImplementedError(f"no inverse of {eqn.primitive}")
            env[eqn.invars[0]] = inverses[eqn.primitive](env[eqn.outvars[0]])
        return env[closed.jaxpr.invars[0]]

    return inverse


g = lambda x: jnp.exp(jnp.tanh(x))
print(invert(g)(g(0.3)), jax.vmap(invert(g))(jax.vmap(g)(jnp.array([0.1, 0.2]))), jax.grad(invert(g))(1.5))
print(jax.make_jaxpr(invert(g))(1.0))
try:
    invert(lambda x: jnp.cosh(x))(1.0)
except NotImplementedError as error:
    print(error)
program = jax.make_jaxpr(lambda x, y: {"s": x @ y, "c": x})(jnp.ones((2, 3)), jnp.ones(3))
print(program)
print(program.consts, program.eqns[0].primitive, program.eqns[0].params["dimension_numbers"])
print([v.aval for v in program.jaxpr.invars], program.in_avals, program.out_avals, sorted(program.effects))
print(type(program.eqns[0]).__name__, type(program.jaxpr.invars[0]).__name__)
print(core.jaxpr_as_fun(program)(jnp.ones((2, 3)), jnp.ones(3)))
print(jax.core.eval_jaxpr(program.jaxpr, program.consts, jnp.ones((2, 3)), jnp.ones(3))[0])
lit = jax.make_jaxpr(lambda x: x + 2.0)(1.0).eqns[0].invars
print([type(v).__name__ for v in lit], lit[1].val, lit[1].aval.str_short())
count = lambda j: sum(1 + sum(count(s) for s in core.jaxprs_in_params(e.params)) for e in j.eqns) if hasattr(core, "jaxprs_in_params") else len(j.eqns)
print(count(closed.jaxpr) > 3)
out, shape = jax.make_jaxpr(lambda x: {"k": x * 2}, return_shape=True)(jnp.ones(2))
print(shape, jax.make_jaxpr(lambda n, x: x * n, static_argnums=0)(3, 1.0).eqns[0].primitive)
