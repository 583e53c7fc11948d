"""Interpreters of a library's own: classes derived from Trace and Tracer."""

import threading

import numpy as np
import pytest

import olympus
import olympus.numpy as onp
from olympus import lax
from olympus.core import Trace, Tracer
from olympus.extend import core
from olympus.extend.core import primitives


class NamingTracer(Tracer):
    def __init__(self, trace, value):
        self._trace = trace
        self.value = value

    @property
    def aval(self):
        return olympus.typeof(self.value)


class NamingTrace(Trace):
    """Runs operations in the interpreter around, and keeps their names."""

    def __init__(self, parent, names):
        super().__init__()
        self.parent_trace = parent
        self.names = names

    def lower(self, x):
        mine = isinstance(x, NamingTracer) and x._trace is self
        return x.value if mine else x

    def wrap(self, p, out):
        several = p.multiple_results
        lift = lambda x: NamingTracer(self, x)  # noqa: E731
        return list(map(lift, out)) if several else lift(out)

    def process_primitive(self, p, tracers, params):
        self.names.append(p.name)
        values = list(map(self.lower, tracers))
        return self.wrap(p, p.bind_with_trace(self.parent_trace, values, params))

    def process_custom_jvp_call(self, p, fun, jvp, tracers, *, symbolic_zeros):
        self.names.append("custom_jvp")
        values = list(map(self.lower, tracers))
        with core.set_current_trace(self.parent_trace):
            out = p.bind(fun, jvp, *values, symbolic_zeros=symbolic_zeros)
        return self.wrap(p, out)

    def process_custom_vjp_call(
        self, p, fun, fwd, bwd, tracers, *, out_trees, symbolic_zeros
    ):
        self.names.append("custom_vjp")
        values = (fun, fwd, bwd, *map(self.lower, tracers))
        params = {"out_trees": out_trees, "symbolic_zeros": symbolic_zeros}
        return self.wrap(p, p.bind_with_trace(self.parent_trace, values, params))


def named(f, names=None):
    """A function run by the interpreter."""

    def run(*args):
        with core.take_current_trace() as parent:
            trace = NamingTrace(parent, [] if names is None else names)
            with core.set_current_trace(trace):
                out = f(*[NamingTracer(trace, x) for x in args])
            return olympus.tree.map(trace.lower, out)

    return run


@olympus.custom_vjp
def hundredfold(x):
    return onp.sin(x)


hundredfold.defvjp(lambda x: (onp.sin(x), x), lambda x, ct: (ct * 100 * onp.cos(x),))


def loops(x):
    carry, ys = lax.scan(lambda c, y: (c * y + x, c), x, onp.arange(3.0))
    return carry + ys.sum() + lax.cond(x > 1, onp.sin, onp.cos, x)


@olympus.custom_jvp
def scale(x, n):
    return x * n


scale.defjvp(lambda primals, tangents: (scale(*primals), tangents[0] * primals[1]))


FUNCTIONS = {
    "arithmetic": (lambda x: onp.sin(x) * 2 + x, ["sin", "mul", "add"]),
    "jit": (olympus.jit(lambda x: onp.sin(x) * 2 + x), ["pjit"]),
    "custom_jvp": (olympus.nn.relu, ["custom_jvp"]),
    "custom_vjp": (hundredfold, ["custom_vjp"]),
    "integers": (lambda x: scale(x, onp.arange(3)).sum(), None),
    # Operations that JAX does not have, for which a library has no rule.
    "logaddexp": (lambda x: onp.logaddexp(x, 2 * x), ["mul", "custom_jvp"]),
    "i0": (onp.i0, ["custom_jvp"]),
    "solve": (
        lambda x: onp.linalg.solve(x * onp.eye(2) + 1, onp.ones((2, 1))).sum(),
        None,
    ),
    "loops": (loops, None),
    "indexing": (lambda x: (x * onp.ones(3)).at[1].set(5.0).sum(), None),
    "grad": (olympus.grad(lambda x: onp.sin(x) * x), None),
    "vmap": (lambda x: olympus.vmap(lambda y: y * x)(onp.arange(3.0)).sum(), None),
    "closure": (lambda x: olympus.jit(lambda y: onp.sin(y) * x)(2.0), None),
}
TRANSFORMS = {
    "none": lambda f: f,
    "jit": olympus.jit,
    "grad": olympus.grad,
    "jit of grad": lambda f: olympus.jit(olympus.grad(f)),
    "vmap": lambda f: lambda x: olympus.vmap(f)(np.stack([x, x + 1])),
}


@pytest.mark.parametrize("transform", TRANSFORMS)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_run_under_transformations(name, transform):
    f, expected = FUNCTIONS[name]
    names = []
    x = np.float32(1.5)
    out = TRANSFORMS[transform](named(f, names))(x)
    np.testing.assert_allclose(out, TRANSFORMS[transform](f)(x), rtol=1e-5)
    assert names
    if expected is not None:
        assert names == expected


def test_an_interpreter_inside_another():
    inner, outer = [], []
    f = named(named(onp.sin, inner), outer)
    np.testing.assert_allclose(f(0.5), np.sin(0.5), rtol=1e-6)
    assert inner == outer == ["sin"]


def test_traces_of_a_thread_are_its_own():
    started, names, seen = threading.Event(), [], []

    def in_thread():
        started.wait(10)
        seen.append(core.find_top_trace([]))
        onp.sin(1.0)

    thread = threading.Thread(target=in_thread)
    thread.start()

    def f(x):
        started.set()
        thread.join(10)
        return onp.cos(x)

    named(f, names)(1.0)
    assert names == ["cos"]
    assert repr(seen[0]) == "EvalTrace"
    assert repr(core.find_top_trace([])) == "EvalTrace"


def test_traced_values_have_no_numbers():
    for use in (float, bool, lambda x: 1 if x > 0 else 0):
        with pytest.raises(TypeError, match=r"[Tt]race"):
            named(use)(1.0)


def test_missing_methods():
    class Bare(Trace):
        pass

    for call, method in (
        (lambda: onp.sin(1.0), "process_primitive"),
        (lambda: olympus.nn.relu(1.0), "process_custom_jvp_call"),
        (lambda: hundredfold(1.0), "process_custom_vjp_call"),
    ):
        with (
            pytest.raises(NotImplementedError, match=f"Bare: .* define {method}"),
            core.set_current_trace(Bare()),
        ):
            call()


def test_rules_may_be_dropped():
    class Dropping(NamingTrace):
        def process_custom_jvp_call(self, p, fun, jvp, tracers, *, symbolic_zeros):
            assert fun.__name__ == "_rectify"
            with core.set_current_trace(self.parent_trace):
                values = list(map(self.lower, tracers))
                out, slope = jvp.call_wrapped(*values, 3.0)
            assert (float(out), float(slope)) == (2.0, 3.0)
            return fun.call_wrapped(*tracers)

        def process_custom_vjp_call(self, p, fun, fwd, bwd, tracers, **options):
            values = list(map(self.lower, tracers))
            outs = fwd.call_wrapped(*[y for x in values for y in (x, True)])
            out_tree, residual_tree, _ = options["out_trees"]()
            assert (out_tree.num_leaves, residual_tree.num_leaves) == (1, 1)
            cts = bwd.call_wrapped(*outs[:1], 1.0)
            assert abs(float(self.lower(cts[0])) - 100 * np.cos(2.0)) < 1e-4
            return fun.call_wrapped(*tracers)

    for f, expected in ((olympus.nn.relu, 2.0), (hundredfold, np.sin(2.0))):
        with core.take_current_trace() as parent:
            trace, names = Dropping(parent, []), []
            trace.names = names
            with core.set_current_trace(trace):
                out = f(NamingTracer(trace, 2.0))
        np.testing.assert_allclose(trace.lower(out), expected, rtol=1e-6)
        assert names


# -- questions about the trace ---------------------------------------------------------


def test_states():
    outside = core.get_opaque_trace_state()
    assert outside == core.get_opaque_trace_state(convention="flax")
    assert outside != 3
    with pytest.raises(TypeError, match="unhashable"):
        hash(outside)
    seen = []

    def look(x):
        same = core.get_opaque_trace_state() == outside
        top = type(core.find_top_trace([x])).__name__
        seen.append((same, top, core.unsafe_am_i_under_a_jit_DO_NOT_USE()))
        return x

    olympus.jit(look)(1.0)
    olympus.vmap(look)(np.ones(2))
    olympus.grad(look)(1.0)
    assert seen == [
        (False, "DynamicOlympusprTrace", True),
        (False, "BatchTrace", False),
        (False, "LinearizeTrace", False),
    ]
    assert not core.unsafe_am_i_under_a_jit_DO_NOT_USE()


def test_values():
    values = (1, 1.0, "a", np.ones(2), np.array(["a"]), onp.ones(2), None, [1])
    expected = [True, True, False, True, False, True, False, False]
    assert list(map(core.valid_jaxtype, values)) == expected
    assert core.valid_jaxtype(olympus.random.key(0))
    assert core.concrete_or_error(int, 3.2) == 3
    assert core.concrete_or_error(None, "same") == "same"
    with pytest.raises(olympus.errors.ConcretizationTypeError, match="my context"):
        olympus.jit(lambda x: core.concrete_or_error(int, x, "my context"))(2)
    tangents = map(core.primal_dtype_to_tangent_dtype, ("int32", "float16", bool))
    assert list(tangents) == [olympus.float0, np.float16, olympus.float0]
    assert {np.ndarray, np.float32, np.bool_, type(onp.ones(1))} <= core.array_types
    assert str not in core.array_types
    core.Token(onp.ones(1)).block_until_ready()
    assert core.TraceTag() != core.TraceTag()


def test_parts_of_programs():
    program = olympus.make_olympuspr(
        lambda x: lax.cond(x > 1, onp.sin, onp.cos, olympus.jit(onp.tan)(x))
    )(1.0).olympuspr
    assert len(list(core.subolympusprs(program))) == 3
    eqn = program.eqns[0]
    fields = (eqn.invars, eqn.outvars, eqn.primitive, eqn.params, eqn.effects)
    new = core.new_olympuspr_eqn(*fields, eqn.source)
    assert str(new) == str(eqn)
    assert core.gensym()(eqn.outvars[0].aval).aval == eqn.outvars[0].aval


# -- calls -----------------------------------------------------------------------------


def polynomial(x, y):
    return [x * x * y, onp.sin(y)]


@pytest.mark.parametrize("name", ["call_p", "closed_call_p", "own", "registered"])
def test_calls(name):
    if name == "own":
        p = core.create_call_primitive("own_call")
    elif name == "registered":
        p = core.Primitive("registered_call", True)
        core.register_call_primitive_rules(p)
    else:
        p = getattr(primitives, name)
    closed = olympus.make_olympuspr(polynomial)(1.0, 1.0)

    def call(x, y):
        return p.bind(x, y, call_jaxpr=closed)

    def total(f):
        return lambda x, y: sum(f(x, y))

    xs = np.float32([1.0, 2.0])
    for transform in (
        lambda f: f(1.5, 2.5),
        lambda f: olympus.jit(f)(1.5, 2.5),
        lambda f: olympus.grad(f, (0, 1))(1.5, 2.5),
        lambda f: olympus.jit(olympus.grad(f, (0, 1)))(1.5, 2.5),
        lambda f: olympus.vmap(f, (0, None))(xs, 2.0),
        lambda f: olympus.jit(olympus.vmap(olympus.grad(f)))(xs, xs),
    ):
        np.testing.assert_allclose(
            transform(total(call)), transform(total(polynomial)), rtol=1e-5
        )
    program = olympus.make_olympuspr(call)(1.0, 2.0).olympuspr
    assert [e.primitive for e in program.eqns] == [p]
    core.check_olympuspr(program)
    small, used = olympus.interpreters.partial_eval.dce_olympuspr(
        program, [False, True]
    )
    assert used == [False, True]
    assert len(small.eqns[0].params["call_jaxpr"].eqns) == 1


def test_calls_of_functions():
    f = olympus.extend.linear_util.wrap_init(polynomial)

    def call(x, y):
        return primitives.call_p.bind(f, x, y)

    np.testing.assert_allclose(call(1.5, 2.5), polynomial(1.5, 2.5), rtol=1e-6)
    np.testing.assert_allclose(olympus.jit(call)(1.5, 2.5), polynomial(1.5, 2.5))
    (eqn,) = olympus.make_olympuspr(call)(1.0, 2.0).eqns
    assert eqn.primitive is primitives.call_p
    assert eqn.params["name"] == "polynomial"
    names = []
    np.testing.assert_allclose(named(call, names)(1.5, 2.5), polynomial(1.5, 2.5))
    assert names == ["mul", "mul", "sin"]


def test_transposes_of_calls():
    closed = olympus.make_olympuspr(lambda c, x: (c * x, x))(1.0, 1.0)
    x = olympus.interpreters.ad.UndefinedPrimal(closed.in_avals[1])
    cts = core.eval_olympuspr_transpose(
        primitives.call_p, [1.0, None], 3.0, x, call_jaxpr=closed
    )
    assert cts == [None, 3.0]
    with pytest.raises(ValueError, match="must have several results"):
        core.register_call_primitive_rules(core.Primitive("single"))
