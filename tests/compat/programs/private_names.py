"""Names of private modules by which libraries build and read programs."""

import warnings

import jax
import jax.numpy as jnp
import numpy as np
from jax._src import core, dispatch, sharding_impls, traceback_util
from jax._src.api import _dtype, _jacrev_unravel, _std_basis
from jax._src.interpreters import batching, partial_eval
from jax._src.numpy import index_tricks, reductions, vectorize
from jax._src.numpy.array_methods import _IndexUpdateHelper, _IndexUpdateRef
from jax._src.pjit import auto_axes
from jax._src.state import discharge
from jax.extend import core as parts
from jax.extend import source_info_util

# -- inputs that a program gets while it is traced, as libraries of states give them ---


class Cell:
    """A value from outside, which becomes an input where it is read."""

    def __init__(self, value):
        self.value, self.tracer = value, None

    def read(self):
        if self.tracer is None:
            trace = core.trace_ctx.trace
            aval = jax.typeof(self.value)
            self.tracer = trace.new_arg(aval, source_info=source_info_util.current())
        return self.tracer


cell = Cell(jnp.arange(3.0))
closed = jax.make_jaxpr(lambda x: jnp.sin(x) * cell.read() + cell.read())(2.0)
print(len(closed.jaxpr.invars), [str(v.aval) for v in closed.jaxpr.invars])
print(jax.core.eval_jaxpr(closed.jaxpr, closed.consts, 2.0, cell.value))
print(isinstance(cell.tracer._trace, partial_eval.DynamicJaxprTrace))

# -- equations -------------------------------------------------------------------------

program = jax.make_jaxpr(lambda x: (x + x, jnp.cos(x)))(1.0).jaxpr
first, second = program.eqns
copy = parts.JaxprEqn(
    list(first.invars),
    list(first.outvars),
    jax.lax.mul_p,
    {},
    first.effects,
    first.source_info,
    first.ctx,
)
print(isinstance(copy, parts.JaxprEqn), isinstance(first, core.JaxprEqn))
print(core.JaxprEqnContext().compute_type, first.ctx.compute_type)
other = program.replace(
    eqns=[copy, second.replace(source_info=first.source_info)],
    debug_info=program.debug_info.with_unknown_names(),
)
print(jax.core.eval_jaxpr(other, [], 3.0))
print(other.debug_info.arg_names, other.debug_info.func_name)
nested = jax.make_jaxpr(jax.jit(lambda x: x + 1))(1.0).eqns[0]
print(nested.primitive.name)
print(core.get_referent(1), core.is_constant_dim(3), core.closed_call_p.call_primitive)
size = jax.export.symbolic_shape("b")[0]
print(core.is_constant_dim(size), core.safe_map(abs, [-1]), core.safe_zip([1], [2]))

# -- placement, effects, tracebacks ----------------------------------------------------

unspecified = sharding_impls.UNSPECIFIED
print(unspecified, isinstance(unspecified, sharding_impls.UnspecifiedValue))
f = jax.jit(
    lambda x, y: x + y,
    in_shardings=(unspecified, None),
    out_shardings=unspecified,
)
print(f(1.0, y := 2.0), jax.jit(jnp.sin, in_shardings=unspecified)(y))
print(auto_axes is jax.sharding.auto_axes)
print(dispatch.apply_primitive(jax.lax.add_p, jnp.float32(1), jnp.float32(2)))
dispatch.runtime_tokens.block_until_ready()
dispatch.runtime_tokens.clear()
try:
    jnp.ones(2) + jnp.ones(3)
except TypeError as error:
    shown = traceback_util.filter_traceback(error.__traceback__)
    print(shown.tb_frame.f_code.co_name)

# -- mapped values ---------------------------------------------------------------------


def look(x):
    trace = core.trace_ctx.trace
    print(type(trace) is batching.BatchTrace, isinstance(x, batching.BatchTracer))
    print(x.batch_dim, batching.to_elt(trace, None, jnp.ones((4, 3)), 1).shape)
    return x + batching.to_elt(trace, None, jnp.arange(12.0).reshape(4, 3), 1)


print(jax.vmap(look, in_axes=1)(jnp.ones((4, 3))))
print(batching.make_iota(3), batching.is_vmappable(1.0))

# -- helpers of functions of arrays ----------------------------------------------------

print([_dtype(x).name for x in (1.0, 1, True, 1j, np.float64(2), jnp.int8(1))])
tree = {"a": jnp.ones(2), "b": jnp.ones((1, 1))}
print(_std_basis(tree))
print(_jacrev_unravel(tree, jnp.ones(2), jnp.arange(6.0).reshape(3, 2)))
print(reductions._reduction_dims(jnp.ones((2, 3)), -1))
print(reductions._reduction_dims(jnp.ones((2, 3)), None))
print(vectorize._parse_gufunc_signature("(n,m),(m)->(n),()"))
core_axes = [("n", "m"), ("m",)]
print(
    vectorize._parse_input_dimensions((jnp.ones((4, 1, 2, 3)), np.ones(3)), core_axes)
)
g, args, kwargs = vectorize._apply_excluded(
    lambda *a, **k: (a, sorted(k)), {1, "z"}, (1, 2, 3), {"z": 5, "y": 6}
)
print(args, kwargs, g(*args, **kwargs))
check = vectorize._check_output_dims(lambda x: x, {"n": 2}, [("n",)])
print(check(jnp.ones(2)))
try:
    check(jnp.ones(3))
except ValueError:
    print("refused")


class Doubled(index_tricks.CClass):
    """Columns, twice."""

    def __getitem__(self, key):
        return 2 * super().__getitem__(key)


print(Doubled()[jnp.ones(2), jnp.zeros(2)])
print(isinstance(jnp.r_, index_tricks.RClass), isinstance(jnp.mgrid, index_tricks._Mgrid))
print(isinstance(jnp.ogrid, index_tricks._Ogrid), index_tricks.s_[1:2])
print(type(jnp.ones(2).at) is _IndexUpdateHelper)
print(isinstance(jnp.ones(2).at[0], _IndexUpdateRef))
print(jax.lib.__version__.count(".") > 1)


class Shaped:
    """What has a shape and is no array."""

    shape = (2, 3)


with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    for value in (Shaped(), [1, 2], None, "a"):
        print(jnp.shape(value), jnp.ndim(value), jnp.size(value))


def exchange(refs):
    """Refs that hold what the other held, and one more."""
    a, b = refs
    a[...], b[...] = b[...] + 1, a[...] + 1


print(discharge.run_state(exchange)((jnp.zeros(2), jnp.ones(2))))
