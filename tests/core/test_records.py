"""Records of primitives: all that is known of an operation is what its record says."""

import ast
import gc
import math
import pathlib
import sys
import threading

import numpy as np
import pytest

import olympus
import olympus.numpy as jnp
from olympus import lax
from olympus._src.core import ir, primitive
from olympus._src.core.primitive import Cost, Primitive, Remade
from olympus._src.interpreters import (
    evaluate,
    fusion_limits,
    lowered_programs,
    partial_eval,
    residuals,
)
from olympus._src.lax import families
from olympus._src.lax.collective_exchanges import all_gather_p
from olympus.ad_checkpoint import saved_residuals
from olympus.experimental import checkify
from tests.lax import samples


def own(name, function, **facts):
    """A primitive of somebody else, by other operations, with a name that is taken."""

    def jvp(primals, tangents):
        return olympus.jvp(function, primals, tangents)

    return families.elementwise(name, decompose=function, **{"jvp": jvp, **facts})


def test_names_may_repeat():
    before = primitive.records()
    theirs = Primitive("add", abstract=lambda x: x, decompose=lambda x: lax.mul(x, x))
    assert primitive.records() == [*before, theirs]
    lax.add(1.5, 2.5)
    olympus.clear_caches()
    assert not lax.add_p.abstract_cache
    assert float(theirs.bind(3.0)) == 9.0
    assert float(lax.add(1.0, 2.0)) == 3.0
    del theirs  # records of users go with them, but for what caches keep
    olympus.clear_caches()
    gc.collect()
    assert primitive.records() == before


@pytest.mark.parametrize("field", ["lower", "decompose"])
def test_a_rule_that_comes_after_a_failed_compilation_is_used(field):
    p = Primitive("doubled", abstract=lambda x: x)
    inner = olympus.jit(lambda x: p.bind(x) + 1)

    def f(x):
        return inner(x) * 10

    for _ in range(2):
        with pytest.raises(NotImplementedError, match="doubled"):
            olympus.jit(f)(2.0)
    if field == "decompose":
        p.set_rule("decompose", lambda x: lax.mul(x, 2.0))
    else:
        p.set_rule(
            "lower",
            lambda ctx, x: ctx.block.elementwise(
                "stablehlo.add", [x, x], ctx.avals_out[0]
            ),
        )
    assert olympus.jit(f)(2.0) == 50
    assert olympus.jit(p.bind)(2.0) == 4


SOURCES = pathlib.Path(olympus.__file__).parent / "_src"


def test_records_tell_the_file_they_are_written_in():
    """Also those that functions of other files make; errors name it."""
    theirs = [Primitive("theirs"), families.elementwise("theirs", hlo="stablehlo.add")]
    assert {p.file for p in theirs} == {"test_records.py"}
    with pytest.raises(NotImplementedError, match=r"record theirs in test_records\.py"):
        olympus.make_olympuspr(theirs[0].bind)(1.0)
    ours = [p for p in primitive.records() if p.file.endswith(".py") and "/" in p.file]
    assert len(ours) > 150
    for p in ours:
        assert f'"{p.name}"' in (SOURCES / p.file).read_text(), (p, p.file)
    typed = {
        lax.neg_p: "lax/arithmetic.py",
        families.add_any_p: "lax/families.py",
        lax.argmax_p: "lax/reductions.py",
        lax.scatter_p: "lax/scatter.py",
        lax.scan_p: "control_flow/scan.py",
        all_gather_p: "lax/collective_exchanges.py",
    }
    assert {p: p.file for p in typed} == typed


RULES = {*primitive.RULES, *vars(Primitive)["__init__"].__kwdefaults__}


def is_record(node):
    """Whether an expression is called as primitives are."""
    name = getattr(node, "attr", getattr(node, "id", ""))
    return name in {"p", "prim", "primitive"} or name.endswith("_p")


@pytest.mark.slow
def test_records_are_whole_when_they_are_made():
    """No file writes to a record but the tables of libraries, by `set_rule`."""
    writing = set()
    for path in SOURCES.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            targets = getattr(node, "targets", [getattr(node, "target", None)])
            for target in targets if isinstance(targets, list) else ():
                if isinstance(target, ast.Attribute) and is_record(target.value):
                    assert target.attr not in RULES, f"{path}:{node.lineno}"
            called = getattr(getattr(node, "func", None), "attr", "")
            if called in {"set_rule", "__setattr__"} or (
                getattr(getattr(node, "func", None), "id", "") == "setattr"
                and is_record(node.args[0])
            ):
                writing.add(path.relative_to(SOURCES).as_posix())
    tables = {"api/extension.py", "api/jet_rules.py", "api/mapped_axes.py"}
    assert writing == {"core/rule_definitions.py", *tables}


def test_late_rules_are_in_the_files_they_name():
    late = []
    for p in primitive.records():
        for field in primitive.RULES:
            rule = getattr(p, field)
            if isinstance(rule, primitive.LateRule):
                late.append(rule)
                assert callable(rule.load())
                # As imports do, they stay in the package of the record.
                assert rule.file.partition(".")[0] == p.file.partition("/")[0]
    assert late


def test_rules_get_the_record_they_are_of():
    """One rule serves two records, as a method serves two objects."""
    names = []

    @primitive.takes_primitive
    def double(p, ctx, x):
        names.append(p.name)
        return ctx.block.elementwise("stablehlo.add", [x, x], ctx.avals_out[0])

    for name in ("first", "second"):
        p = Primitive(name, abstract=lambda x: x, lower=double)
        assert float(p.bind(2.0)) == 4.0
    assert names == ["first", "second"]


# -- NaN -------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["neg", "sign", "max", "logarithm"])
@pytest.mark.parametrize("may_make_nan", [True, False])
def test_nan_is_looked_for_by_what_the_record_says(name, may_make_nan):
    p = own(name, lax.log, may_make_nan=may_make_nan)
    error, _ = checkify.checkify(p.bind, errors=checkify.nan_checks)(-1.0)
    assert (f"nan generated by primitive: {name}" in str(error.get())) == may_make_nan


# -- fusion ----------------------------------------------------------------------------


def pyramid(step, n):
    """A program whose last value would be written out 2 to the power n times."""

    def run(x):
        for _ in range(n):
            x = step(x)
        return x

    return olympus.make_olympuspr(run)(jnp.ones(8)).olympuspr


def limits(p, n=60):
    """Whether barriers are set in a program that reads each result of `p` twice."""

    def step(x):
        y = p.bind(x)
        return lax.add(lax.rev(y, (0,)), y)

    program = pyramid(step, n)
    return fusion_limits.count_barriers(fusion_limits.limit(program, "cpu")) > 0


@pytest.mark.parametrize("name", ["neg", "exp", "sort", "dot_general", "twice"])
@pytest.mark.parametrize("cost", [None, Cost.CHEAP, Cost.EXPENSIVE])
def test_fusion_is_limited_by_costs(name, cost):
    p = families.elementwise(name, hlo="stablehlo.negate", cost=cost)
    assert limits(p) == (cost is Cost.CHEAP)


def test_what_has_the_name_of_a_call_is_none():
    p = Primitive("pjit", abstract=lambda x: x, lower=lambda ctx, x: x)
    program = pyramid(p.bind, 60)
    assert fusion_limits.limit(program, "cpu") is program


def test_narrow_floats_are_kept_behind_arithmetic_only():
    x = np.ones(4, jnp.float8_e4m3fn)
    for cost, n in ((Cost.CHEAP, 1), (Cost.BITS, 0), (Cost.MOVE, 0), (None, 0)):
        p = families.elementwise("neg", hlo="stablehlo.negate", cost=cost)
        program = olympus.make_olympuspr(p.bind)(x).olympuspr
        limited = fusion_limits.limit(program, "cpu")
        assert fusion_limits.count_barriers(limited) == n, cost


# -- what derivatives keep -------------------------------------------------------------


@pytest.mark.parametrize("name", ["add", "neg", "reshape", "cube"])
@pytest.mark.parametrize("remade", [None, *Remade])
def test_residuals_are_made_again_by_what_the_record_says(name, remade):
    p = families.elementwise(name, hlo="stablehlo.negate", remade=remade)

    def forward(x):
        y = lax.sin(x)
        return y, y, p.bind(y)

    def tangent(y, z, t):
        return lax.mul(lax.mul(y, z), t)

    x = jnp.ones(3)
    first = olympus.make_olympuspr(forward)(x).olympuspr
    second = olympus.make_olympuspr(tangent)(x, x, x).olympuspr
    first, second = residuals.reduce(first, 1, second)
    assert len(first.outvars) == (3 if remade is None else 2)
    assert any(eqn.primitive is p for eqn in second.eqns) == (remade is not None)


@pytest.mark.parametrize("name", ["pjit", "name", "add"])
def test_residuals_are_described_by_the_record(name):
    derivative = families.derivatives_rule((lambda t, out, x: lax.mul(t, out),))
    p = own(name, lax.sin, jvp=derivative)
    ((_, origin),) = saved_residuals(p.bind, 2.0)
    assert origin.startswith(f"output of {name} from ")


def test_policies_know_operations_by_their_records():
    p = own("dot_general", lax.sin)
    policy = olympus.checkpoint_policies.dots_saveable
    step = olympus.checkpoint(lambda x: lax.sin(p.bind(x)), policy=policy)
    kept = saved_residuals(step, 2.0)
    assert [origin for _, origin in kept] == ["from the argument x"]


def test_operations_that_hold_programs_say_how_they_are_split():
    def run(x, *, jaxpr):
        return ir.eval_olympuspr(jaxpr.olympuspr, jaxpr.consts, x)

    inner = olympus.make_olympuspr(lambda x: lax.sin(lax.sin(x)))(1.0)
    seen = []

    def split(splitter, eqn, needed):
        seen.append(list(needed))
        splitter.visit_whole(eqn, needed)

    p = Primitive(
        "pjit",
        multiple_results=True,
        abstract=lambda x, *, jaxpr: jaxpr.out_avals,
        decompose=run,
        jvp=lambda primals, tangents, **params: (
            p.bind(*primals, **params),
            [lax.mul(tangents[0], lax.cos(primals[0]))],
        ),
        split=split,
    )
    f = olympus.checkpoint(
        lambda x: lax.sin(p.bind(x, jaxpr=inner)[0]),
        policy=olympus.checkpoint_policies.dots_saveable,
    )
    olympus.make_olympuspr(olympus.grad(f))(1.0)
    assert seen == [[True]]


# -- builds ----------------------------------------------------------------------------

SLOW = ("stablehlo.dot_general", "stablehlo.convolution", "stablehlo.while")
SLOW += ("stablehlo.custom_call", "func.call", "stablehlo.tanh", '"stablehlo.sort"')
SLOW += ('"stablehlo.gather"', '"stablehlo.scatter"')
# Their windows are as long as the axis; those of other operations are short.
PREFIXES = {lax.cumsum_p, lax.cumprod_p, lax.cummax_p, lax.cummin_p}


def lowered(p, args, params):
    def run(*args):
        out = p.bind(*args, **params)
        return out if p.multiple_results else [out]

    in_avals = [olympus.typeof(x) for x in args]
    info = ir.DebugInfo("test", "f")
    program, consts = partial_eval.trace_to_olympuspr(run, in_avals, info)
    return lowered_programs.lower(program, consts, name="f")


def test_operations_that_the_quick_build_serves_badly_say_so():
    """What their modules hold is what their records say, at one sample at least."""
    slow, quick = set(), set()
    for s in samples.SAMPLES:
        if s.slow:
            continue
        low = lowered(s.p, s.args, s.params)
        says = any(eqn.primitive.needs_full_build for eqn in low.program.eqns)
        if any(op in low.text for op in SLOW):
            assert says, s
            slow.update(e.primitive for e in low.program.eqns)
        elif says:
            quick.update(
                e.primitive for e in low.program.eqns if e.primitive.needs_full_build
            )
    assert quick == PREFIXES | (quick & slow)


def test_the_build_of_an_eager_operation_is_chosen_by_its_record():
    for needs_full_build in (True, False):
        p = families.elementwise(
            "tanh", hlo="stablehlo.negate", needs_full_build=needs_full_build
        )
        low = lowered(p, (np.float32(1.0),), {})
        assert bool(evaluate.eager_options(low)) == (not needs_full_build)
        assert float(p.bind(1.0)) == -1.0
    nested = own("outer", lambda x: olympus.jit(lax.sin)(x))
    assert evaluate.eager_options(lowered(nested, (np.float32(1.0),), {})) == ()
    assert math.isclose(float(nested.bind(1.0)), math.sin(1.0), rel_tol=1e-6)


def test_a_field_that_is_not_there_is_refused():
    p = primitive.Primitive("misspelled")
    with pytest.raises(TypeError, match="misspelled: there is no rule field 'btach'"):
        p.set_rule("btach", lambda *args: args)


def test_late_rules_are_rules_of_their_record_alone():
    late = [
        rule
        for p in primitive.records()
        for field in primitive.RULES
        if isinstance(rule := getattr(p, field), primitive.LateRule)
    ]
    assert late
    assert not any(hasattr(rule.load(), "takes_primitive") for rule in late)


def test_primitives_are_made_while_others_are_listed():
    stop, errors = threading.Event(), []

    def make():
        while not stop.is_set():
            primitive.Primitive("made")

    def look():
        try:
            for _ in range(300):
                primitive.records()
        except RuntimeError as error:
            errors.append(error)

    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        makers = [threading.Thread(target=make) for _ in range(2)]
        readers = [threading.Thread(target=look) for _ in range(2)]
        for t in makers + readers:
            t.start()
        for t in readers:
            t.join()
    finally:
        stop.set()
        for t in makers:
            t.join()
        sys.setswitchinterval(before)
    assert errors == []
