"""Programs: printing, checking, evaluating, removing dead code."""

import collections
import gc
import weakref

import numpy as np
import pytest

import olympus
import olympus.numpy as jnp
from olympus._src.core import avals, checker, ir, primitive, printer
from olympus._src.interpreters import fusion_limits, pad_sums, partial_eval
from olympus._src.lax import elementwise as lax
from olympus._src.lax import families

f32 = avals.ShapedArray((3,), np.dtype("float32"))
scalar = avals.ShapedArray((), np.dtype("float32"))


def traced(f, *in_avals):
    info = ir.DebugInfo("test", "f")
    return partial_eval.trace_to_olympuspr(lambda *xs: f(*xs), in_avals, info)


def array(x):
    return olympus.device_put(np.asarray(x, np.float32))


# -- avals -----------------------------------------------------------------------------


def test_avals_are_interned():
    again = avals.ShapedArray([3], "float32", False)
    assert again is f32
    assert avals.ShapedArray((np.int64(3),), np.float32) is f32
    assert avals.ShapedArray((3,), "float32", True) is not f32
    assert repr(f32) == "ShapedArray(float32[3])"
    assert repr(f32.update(weak_type=True)) == (
        "ShapedArray(float32[3], weak_type=True)"
    )
    assert str(f32) == f32.str_short() == "float32[3]"
    assert str(f32.update(weak_type=True)) == "~float32[3]"
    assert f32.str_short(short_dtypes=True) == "f32[3]"


def test_updates_of_avals_keep_what_is_none():
    assert f32.update(shape=None, dtype=None, weak_type=None) is f32
    assert f32.update((4,), np.int32) is avals.ShapedArray((4,), "int32")
    with pytest.raises(TypeError, match="update: there is no field 'named_shape'; the"):
        f32.update(named_shape={})


def test_avals_pickle_to_themselves():
    import copy
    import pickle

    assert pickle.loads(pickle.dumps(f32)) is f32
    assert copy.deepcopy(f32) is f32


def test_avals_of_values():
    assert avals.aval_of(1.5).short() == "f32[]"
    assert avals.aval_of(1).weak_type
    assert not avals.aval_of(True).weak_type
    assert avals.aval_of(np.zeros((2, 0), np.float64)).short() == "f32[2,0]"
    with olympus.enable_x64(True):
        assert avals.aval_of(1.5).short() == "f64[]"
    for bad in ("text", None, object(), np.array(["a"])):
        with pytest.raises(TypeError, match="not a valid olympus"):
            avals.aval_of(bad)


def test_a_rule_for_values_holds_from_when_it_is_given():
    class Value:
        aval = f32

    assert avals.aval_of(Value()) is f32  # now known to have its type as an attribute
    avals.register_aval(Value, lambda _: scalar)
    try:
        assert avals.aval_of(Value()) is scalar
        avals.register_typed(Value)
        assert avals.aval_of(Value()) is f32
        assert avals.aval_rules()[Value](Value()) is f32
    finally:
        avals.forget_aval(Value)
    assert avals.aval_of(Value()) is f32
    assert Value not in avals.aval_rules()


# -- printing --------------------------------------------------------------------------


def test_names_go_on_after_z():
    names = printer.Names()
    given = [names(object()) for _ in range(30)]
    assert given[:2] == ["a", "b"]
    assert given[25:28] == ["z", "ba", "bb"]


def test_a_program_prints_constants_results_and_unused_results():
    const = array([1, 2, 3])

    def f(x):
        lax.sin(x)
        return lax.add(x, const), 2.0, x

    program, consts = traced(f, f32)
    assert consts == [const] or consts[0] is const
    assert str(program) == (
        "{ lambda a:f32[3]; b:f32[3]. let\n"
        "    _:f32[3] = sin b\n"
        "    c:f32[3] = add b a\n"
        "  in (c, 2.0:f32[], b) }"
    )


def test_a_short_program_stays_on_a_line():
    program, _ = traced(lambda x: [lax.sin(x)], f32)
    assert str(program) == "{ lambda ; a:f32[3]. let b:f32[3] = sin a in (b,) }"
    program, _ = traced(lambda x: [], f32)
    assert str(program) == "{ lambda ; a:f32[3]. let  in () }"


def test_many_inputs_fill_lines():
    program, _ = traced(lambda *xs: xs[:1], *[scalar] * 30)
    lines = str(program).split("\n")
    assert max(map(len, lines)) <= 88
    assert lines[1].startswith("    j:f32[] k:f32[]")


def test_printing_is_linear_and_deep_nesting_does_not_overflow():
    def f(x):
        for _ in range(3000):
            x = lax.sin(x)
        return [x]

    program, _ = traced(f, f32)
    assert str(program).count("sin") == 3000

    def nested(x, depth):
        if depth == 0:
            return lax.sin(x)
        return olympus.jit(lambda y: nested(y, depth - 1))(x)

    assert "sin" in str(olympus.make_olympuspr(lambda x: nested(x, 30))(1.0))


def test_source_lines_on_request():
    program = olympus.make_olympuspr(lambda x: lax.sin(x))(1.0)
    assert "test_programs.py" in program.pretty_print(source_info=True)
    assert "test_programs.py" not in program.pretty_print()


# -- checking --------------------------------------------------------------------------


def test_the_checker_accepts_what_tracing_makes():
    inner = olympus.jit(lambda x, y: lax.mul(lax.sin(x), y))
    closed = olympus.make_olympuspr(lambda x: inner(x, x))(1.0)
    checker.check_olympuspr(closed)


def test_the_checker_points_at_the_equation_and_the_line():
    program, _ = traced(lambda x: [lax.sin(x)], f32)
    eqn = program.eqns[0]
    wrong = program.replace(eqns=[eqn.replace(outvars=[ir.Var(scalar)])], outvars=[])
    with pytest.raises(olympus.errors.OlympusprTypeError) as caught:
        checker.check_olympuspr(wrong)
    assert "bound as f32[], inferred as f32[3]" in str(caught.value)
    assert "sin" in str(caught.value)
    assert "test_programs.py" in str(caught.value)


def test_the_checker_wants_bindings_in_order_and_once():
    program, _ = traced(lambda x: [lax.cos(lax.sin(x))], f32)
    backwards = program.replace(eqns=program.eqns[::-1])
    with pytest.raises(olympus.errors.OlympusprTypeError, match="not bound"):
        checker.check_olympuspr(backwards)
    twice = program.replace(eqns=[program.eqns[0], *program.eqns])
    with pytest.raises(olympus.errors.OlympusprTypeError, match="bound twice"):
        checker.check_olympuspr(twice)
    unbound = program.replace(outvars=[ir.Var(f32)])
    with pytest.raises(olympus.errors.OlympusprTypeError, match="by the program"):
        checker.check_olympuspr(unbound)


def test_the_checker_goes_into_nested_programs():
    closed = olympus.make_olympuspr(olympus.jit(lambda x: lax.sin(x)))(1.0)
    eqn = closed.eqns[0]
    inner = eqn.params["jaxpr"]
    broken = inner.olympuspr.replace(outvars=[ir.Var(scalar)])
    params = {**eqn.params, "jaxpr": ir.ClosedOlympuspr(broken)}
    wrong = closed.olympuspr.replace(eqns=[eqn.replace(params=params)])
    with pytest.raises(olympus.errors.OlympusprTypeError, match="not bound"):
        checker.check_olympuspr(wrong)


# -- evaluating and removing dead code -------------------------------------------------


def test_evaluating_a_program_is_the_function():
    def f(x, y):
        z = lax.mul(lax.sin(x), y)
        return lax.add(z, 1.0)

    closed = olympus.make_olympuspr(f)(array([1, 2, 3]), 2.0)
    x = array([0.5, -1, 3])
    (got,) = ir.eval_olympuspr(closed.olympuspr, closed.consts, x, 2.0)
    np.testing.assert_allclose(got, np.sin(np.asarray(x)) * 2 + 1, rtol=1e-6)
    with pytest.raises(TypeError, match="2 inputs, got 1"):
        ir.eval_olympuspr(closed.olympuspr, closed.consts, x)
    again = olympus.make_olympuspr(ir.program_as_function(closed))(x, 2.0)
    assert str(again) == str(closed)


def test_dead_code_goes():
    def f(x, y, z):
        dead = lax.sin(y)
        lax.cos(dead)
        return lax.mul(x, x), lax.exp(z)

    program, _ = traced(f, f32, f32, f32)
    small, kept = partial_eval.dce_olympuspr(program, [True, False])
    assert kept == [True, False, False]
    assert str(small) == "{ lambda ; a:f32[3]. let b:f32[3] = mul a a in (b,) }"
    _, kept = partial_eval.dce_olympuspr(program, [True, False], instantiate=True)
    assert kept == [True, True, True]
    checker.check_olympuspr(small)


def test_dead_code_goes_inside_jit():
    inner = olympus.jit(lambda x, y: (lax.sin(x), lax.cos(y)))
    program = olympus.make_olympuspr(lambda x, y: inner(x, y)[0])(1.0, 2.0).olympuspr
    small, kept = partial_eval.dce_olympuspr(program, [True])
    assert kept == [True, False]
    assert "cos" not in str(small)
    checker.check_olympuspr(small)


def _assert_known_is_true(program):
    counts = collections.Counter(eqn.primitive for eqn in program.eqns)
    assert dict(ir.primitives_of(program)) == dict(counts)
    reads = [v for eqn in program.eqns for v in eqn.invars] + program.outvars
    assert dict(ir.count_readers(program)) == dict(collections.Counter(reads))
    types = {v.aval for eqn in program.eqns for v in eqn.outvars}
    assert ir.result_types(program) == types
    holders = [i for i, e in enumerate(program.eqns) if [*ir.subprograms(e.params)]]
    assert [*ir.equations_with_programs(program)] == holders


@pytest.mark.parametrize("seed", range(6))
def test_what_is_kept_of_a_program_is_true_of_those_made_of_it(seed):
    rng = np.random.default_rng(seed)
    inner = olympus.jit(lambda x: (x * 2.0, jnp.sin(x)))

    def step(xs):
        x, y = (xs[i] for i in rng.integers(0, len(xs), 2))
        kind = rng.integers(6 if seed % 2 else 5)
        if kind == 5:
            return inner(x)[0] + y
        return (x + y, x * y, jnp.sin(x), x.sum(1, keepdims=True) / y, x @ y)[kind]

    def f(x):
        xs = [x]
        for _ in range(60):
            xs.append(step(xs))
        parts = [xs[-1][i : i + 3] for i in range(0, 9, 3)]
        return sum(jnp.sin(part).sum() * i for i, part in enumerate(parts)), xs[30]

    gradient = olympus.grad(lambda x: f(x)[0])
    closed = olympus.make_olympuspr(lambda x: (gradient(x), f(x)))(
        np.ones((9, 9), np.float32)
    )
    program = closed.olympuspr
    _assert_known_is_true(program)
    for used in ([True, False, False], [False, True, True], [True, True, False]):
        small, _ = partial_eval.dce_olympuspr(program, used)
        _assert_known_is_true(small)
        expanded = partial_eval.expand(small, "cpu")
        _assert_known_is_true(expanded)
        merged = pad_sums.merge(expanded)
        _assert_known_is_true(merged)
        assert merged is partial_eval.dce_olympuspr(merged, True, True)[0]
        _assert_known_is_true(fusion_limits.limit(merged, "cpu"))


# -- primitives ------------------------------------------------------------------------


def test_a_missing_rule_names_the_field_and_the_file():
    p = primitive.Primitive("ruleless", file="somewhere.py")
    with pytest.raises(NotImplementedError, match=r"`abstract`.*ruleless.*somewhere"):
        p.bind(1.0)
    p.abstract = lambda x: x
    with pytest.raises(NotImplementedError, match="`lower`"):
        p.bind(1.0)
    with pytest.raises(NotImplementedError, match="`batch`"):
        olympus.vmap(p.bind)(array([1.0]))
    with pytest.raises(NotImplementedError, match="`jvp`"):
        olympus.jvp(p.bind, (1.0,), (1.0,))


def test_a_primitive_by_decomposition():
    p = primitive.Primitive(
        "twice_sine", abstract=lambda x: x, decompose=lambda x: lax.mul(2.0, lax.sin(x))
    )
    program = olympus.make_olympuspr(p.bind)(1.0)
    assert "twice_sine" in str(program)
    for f in (p.bind, olympus.jit(p.bind), olympus.jit(olympus.jit(p.bind))):
        np.testing.assert_allclose(f(1.0), 2 * np.sin(1.0), rtol=1e-6)


def test_shape_and_dtype_errors_name_the_operation():
    x, y = array([1, 2, 3]), array([1, 2])
    with pytest.raises(TypeError, match=r"lax.add: .*f32\[3\] and f32\[2\]"):
        lax.add(x, y)
    with pytest.raises(TypeError, match=r"lax.mul requires .* same dtypes"):
        lax.mul(x, olympus.device_put(np.arange(3)))
    with pytest.raises(TypeError, match="sin does not accept dtype int32"):
        lax.sin(olympus.device_put(np.arange(3)))


def test_a_leaked_tracer_says_where_it_was_made():
    leaked = []

    def f(x):
        leaked.append(lax.sin(x))
        return x

    olympus.jit(f)(1.0)
    with pytest.raises(olympus.errors.UnexpectedTracerError) as caught:
        lax.add(leaked[0], 1.0)
    assert "made by sin at" in str(caught.value)
    assert "test_programs.py" in str(caught.value)
    assert "the function f" in str(caught.value)
    with pytest.raises(olympus.errors.UnexpectedTracerError):
        olympus.jit(lambda y: lax.add(y, leaked[0]))(1.0)


@pytest.mark.slow
@pytest.mark.usefixtures("few_objects")
def test_leaks_are_found_when_asked_for():
    kept = []

    def f(x):
        kept.append(x)
        return x

    with olympus.checking_leaks(), pytest.raises(Exception, match="argument x"):
        olympus.jit(f)(1.0)
    with olympus.checking_leaks():
        assert float(olympus.jit(lambda x: lax.sin(x))(0.0)) == 0.0


def test_explanations_name_several_arguments():
    def f(x, y):
        if lax.lt(x, y):
            return x
        return y

    with pytest.raises(olympus.errors.TracerBoolConversionError) as caught:
        olympus.jit(f)(1.0, 2.0)
    assert "the values of the arguments x and y" in str(caught.value)


@pytest.mark.parametrize(
    ("use", "kind"),
    [
        (bool, "TracerBoolConversionError"),
        (float, "ConcretizationTypeError"),
        (int, "ConcretizationTypeError"),
        (lambda x: [1, 2][x], "TracerIntegerConversionError"),
        (np.asarray, "TracerArrayConversionError"),
        (lambda x: x.item(), "ConcretizationTypeError"),
    ],
)
def test_conversions_of_traced_values(use, kind):
    error = getattr(olympus.errors, kind)
    with pytest.raises(error, match="value of the argument count"):
        olympus.jit(lambda count: use(count))(1)


def test_arrays_and_tracers_are_arrays():
    assert isinstance(array([1.0]), olympus.Array)
    assert not isinstance(np.ones(1), olympus.Array)
    seen = []
    olympus.jit(lambda x: seen.append(isinstance(x, olympus.Array)) or x)(1.0)
    assert seen == [True]
    with pytest.raises(TypeError, match="cannot be instantiated"):
        olympus.Array()


def test_families_say_what_they_accept():
    with pytest.raises(ValueError, match="reduce_sum: axes"):
        families.reduce_sum_p.bind(array([1.0]), axes=(1,))


def double(x):
    return 2 * x


def test_where_a_program_comes_from():
    info = olympus.make_olympuspr(double)(1.0).debug_info
    line = double.__code__.co_firstlineno
    assert info.func_name == "double"
    assert info.func_src_info == f"double at {info.func_location}"
    assert info.func_location.endswith(f"test_programs.py:{line}")
    assert info.with_names(["y"]).func_src_info == info.func_src_info
    made = ir.DebugInfo("jit", "f", ("x",), None)
    assert (made.arg_names, made.func_location) == (("x",), "")


def test_a_program_that_is_derived_from_itself_is_freed_without_the_collector():
    program, _ = traced(lambda x: [lax.sin(x)], scalar)
    assert program.derived("same", lambda p: p) is program
    assert program.derived("same", None) is program
    reference = weakref.ref(program)
    gc.collect()
    gc.disable()
    try:
        del program
        assert reference() is None
    finally:
        gc.enable()
