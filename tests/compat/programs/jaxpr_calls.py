"""Parameters of the equations of jitted functions, as interpreters read them."""

import jax
import jax.numpy as jnp
from jax._src import pjit
from jax._src.interpreters import partial_eval
from jax._src.sharding_impls import UNSPECIFIED


@jax.jit
def _three(x, y):
    return jnp.sin(x) * 2, y + 1, x * y


def _calls(jaxpr):
    jaxpr = getattr(jaxpr, "jaxpr", jaxpr)
    for eqn in jaxpr.eqns:
        if eqn.primitive.name == "jit":
            yield eqn
            yield from _calls(eqn.params["jaxpr"])


def show(what, jaxpr):
    for eqn in _calls(jaxpr):
        params, n_in, n_out = eqn.params, len(eqn.invars), len(eqn.outvars)
        print(what, sorted(params), n_out)
        print(params["in_shardings"] == (UNSPECIFIED,) * n_in)
        print(params["out_shardings"] == (UNSPECIFIED,) * n_out)
        print(params["in_layouts"] == (None,) * n_in)
        print(params["out_layouts"] == (None,) * n_out)
        print(params["donated_invars"] == (False,) * n_in)
        print(params["ctx_mesh"].empty, params["keep_unused"])


def _product(x, y):
    return _three(x, y)[2]


def _double_results(jaxpr, *args):
    """An interpreter that gives each call one operand more, which it doubles."""
    env = dict(zip(jaxpr.jaxpr.invars, args, strict=True))
    (eqn,) = jaxpr.jaxpr.eqns
    inner = eqn.params["jaxpr"]

    def more(scale, *values):
        outs = jax.core.eval_jaxpr(inner.jaxpr, inner.consts, *values)
        return [scale * out for out in outs]

    values = [env[v] for v in eqn.invars]
    params = dict(eqn.params)
    params["jaxpr"] = jax.make_jaxpr(more)(2.0, *values)
    params["in_shardings"] = (UNSPECIFIED, *params["in_shardings"])
    params["in_layouts"] = (None, *params["in_layouts"])
    params["donated_invars"] = (False, *params["donated_invars"])
    return pjit.jit_p.bind(2.0, *values, **params)


whole = jax.make_jaxpr(_three)(1.0, 2.0)
show("call", whole)
show("gradient", jax.make_jaxpr(jax.grad(_product))(1.0, 2.0))
show("batch", jax.make_jaxpr(jax.vmap(_three))(jnp.ones(2), jnp.ones(2)))
show("tangents", jax.make_jaxpr(lambda x: jax.jvp(_three, (x, x), (x, x)))(1.0))
show("part", partial_eval.dce_jaxpr(whole.jaxpr, [True, False, False])[0])
print(*_double_results(whole, 1.0, 3.0))
