"""Partial evaluation, and passes over programs, by public names."""

import numpy as np
import pytest

import olympus
import olympus.numpy as onp
from olympus.core import ShapedArray, eval_olympuspr
from olympus.extend import core, linear_util
from olympus.interpreters import partial_eval as pe

F32 = ShapedArray((), np.dtype("float32"))
KNOWN, UNKNOWN = pe.PartialVal.known, pe.PartialVal.unknown


def wrap(f):
    return linear_util.wrap_init(f)


def two(x, y):
    return [onp.sin(x) * y, y + 1]


def relu_and_loop(x, y):
    doubled = olympus.lax.fori_loop(0, 2, lambda i, c: c + x, y)
    return [
        olympus.nn.relu(x) * y,
        olympus.nn.relu(y),
        doubled,
        olympus.grad(onp.sin)(y),
    ]


@pytest.mark.parametrize("wrapped", [lambda f: f, olympus.jit])
@pytest.mark.parametrize("f", [two, relu_and_loop])
@pytest.mark.parametrize("known", [(False, True), (True, False), (True, True)])
@pytest.mark.parametrize("instantiate", [False, True])
def test_known_and_unknown_parts_give_the_whole(f, wrapped, known, instantiate):
    args = (np.float32(0.5), np.float32(2.0))
    pvals = [KNOWN(x) if k else UNKNOWN(F32) for x, k in zip(args, known, strict=True)]
    program, outs, consts = pe.trace_to_olympuspr_nounits(
        wrap(wrapped(f)), pvals, instantiate
    )
    core.check_olympuspr(program)
    inputs = [x for x, k in zip(args, known, strict=True) if not k]
    computed = iter(eval_olympuspr(program, consts, *inputs))
    joined = [p.get_known() if p.is_known() else next(computed) for p in outs]
    for got, expected in zip(joined, f(*args), strict=True):
        np.testing.assert_allclose(got, expected, rtol=1e-6)
    if not instantiate:
        # y + 1, and what else depends on known values alone
        depends = {two: [(0, 1), (1,)], relu_and_loop: [(0, 1), (1,), (0, 1), (1,)]}[f]
        assert [p.is_known() for p in outs] == [
            all(known[i] for i in each) for each in depends
        ]


def test_a_program_is_divided_as_by_jax():
    f = olympus.make_olympuspr(
        lambda x, y: (onp.sin(x) * 2, onp.cos(y) * onp.sin(x), y)
    )(1.0, 2.0)
    known, unknown, out_unknown, residuals = pe.partial_eval_olympuspr_nounits(
        f, [False, True], False
    )
    # What JAX 0.10.2 prints.
    assert str(known) == (
        "{ lambda ; a:f32[]. let\n    b:f32[] = sin a\n    c:f32[] = mul b 2.0:f32[]\n"
        "    d:f32[] = sin a\n  in (c, d) }"
    )
    assert str(unknown) == (
        "{ lambda ; a:f32[] b:f32[]. let c:f32[] = cos b; d:f32[] = mul c a in (d, b) }"
    )
    assert (out_unknown, len(residuals)) == ([False, True, True], 1)
    assert str(pe.move_binders_to_back(f, [True, False])).startswith(
        "{ lambda ; a:f32[] b:f32[]. let\n    c:f32[] = sin b"
    )
    assert len(pe.prune_closed_olympuspr_outputs(f, [True, False, True]).eqns) == 5
    assert pe.close_olympuspr(f.olympuspr) is pe.close_olympuspr(f.olympuspr)


def test_constants():
    c = np.arange(3.0, dtype="float32")
    program = olympus.make_olympuspr(lambda x: (onp.sin(x) * c, x))(1.0).olympuspr
    assert len(pe.convert_constvars_olympuspr(program).invars) == 2
    small, consts, inputs = pe.dce_olympuspr_consts(program, [False, True])
    assert (small.eqns, consts, inputs) == ([], [False], [True])
    _, consts, _ = pe.dce_olympuspr_consts(program, [True, False])
    assert consts == [True]
    with pytest.raises(ValueError, match="close_olympuspr: a program without const"):
        pe.close_olympuspr(program)


def test_tracing():
    program, avals, consts = pe.trace_to_olympuspr_dynamic(wrap(two), [F32, F32])
    assert (str(avals), consts, len(program.eqns)) == (
        "[" + "ShapedArray(float32[]), " * 1 + "ShapedArray(float32[])]",
        [],
        3,
    )
    one = wrap(lambda x: [(onp.cos(x), onp.sin(x))[1]])
    program, _, _ = pe.trace_to_olympuspr_dynamic(
        one, [F32, F32], keep_inputs=[False, True], auto_dce=True
    )
    assert len(program.eqns) == 1
    assert program.eqns[0].invars == [program.invars[1]]
    (aval,) = pe.abstract_eval_fun(lambda x, by: [x * by], F32, by=2)
    assert aval == F32


def test_partial_values():
    assert KNOWN(3.0).is_known()
    assert tuple(UNKNOWN(F32)) == (F32, None)
    assert UNKNOWN(F32).get_known() is None
    assert str(KNOWN(3.0).get_aval()) == "~float32[]"
    with pytest.raises(TypeError, match="PartialVal: an unknown value needs its type"):
        UNKNOWN(3)


# -- tables ----------------------------------------------------------------------------


def new_primitive(several=False):
    p = core.Primitive("sampled", several)
    p.def_abstract_eval(lambda *avals: list(avals) if several else avals[0])
    p.def_impl(lambda *xs: list(xs) if several else xs[0])
    return p


def test_a_rule_for_partial_evaluation():
    p = new_primitive()

    def rule(trace, x):
        if x.pval.is_known():
            return x.pval.get_known() * 10
        out = pe.OlympusprTracer(trace, UNKNOWN(x.aval), None)
        operands = [trace.instantiate_const(trace.new_const(2.0)), x]
        out.recipe = pe.new_eqn_recipe(
            trace, operands, [out], olympus.lax.mul_p, {}, core.no_effects, None
        )
        return out

    assert p not in pe.custom_partial_eval_rules
    pe.custom_partial_eval_rules[p] = rule
    f = wrap(lambda x, y: [p.bind(x), p.bind(y) + y])
    program, outs, consts = pe.trace_to_olympuspr_nounits(f, [KNOWN(2.0), UNKNOWN(F32)])
    assert outs[0].get_known() == 20.0
    assert eval_olympuspr(program, consts, 3.0) == [9.0]
    del pe.custom_partial_eval_rules[p]
    _, outs, _ = pe.trace_to_olympuspr_nounits(f, [KNOWN(2.0), UNKNOWN(F32)])
    assert outs[0].get_known() == 2.0


def test_a_rule_for_dead_code():
    p = new_primitive(several=True)

    def rule(used, eqn):
        pairs = list(zip(used, eqn.invars, eqn.outvars, strict=True))
        return used, eqn.replace(
            invars=[x for u, x, _ in pairs if u], outvars=[y for u, _, y in pairs if u]
        )

    pe.dce_rules[p] = rule
    program = olympus.make_olympuspr(p.bind)(1.0, 2.0).olympuspr
    small, used = pe.dce_olympuspr(program, [False, True])
    assert used == [False, True]
    assert len(small.eqns[0].invars) == 1


def test_a_rule_for_dead_code_that_asks_what_is_read_later():
    p = new_primitive()

    def rule(used, live, eqn):
        assert (used, live) == ([False], [True])
        return [False], None

    pe.dce_rules[p] = rule
    assert pe.dce_rules[p] is rule
    program = olympus.make_olympuspr(lambda x: (x, p.bind(x)))(1.0).olympuspr
    small, used = pe.dce_olympuspr(program, [True, False])
    assert (used, small.eqns) == ([True], [])


# -- refs that are not read later ------------------------------------------------------


def count_equations(f, live, *refs):
    """The equations that are left when no result is used."""
    program = olympus.make_olympuspr(f)(*refs).olympuspr
    small, _ = pe.dce_olympuspr(program, False, True, live)
    return len(small.eqns)


def write(r):
    r[...] = 2.0


def write_and_add(r):
    r[...] = 2.0
    r.addupdate(1.0)


def write_and_print(r):
    r[...] = 2.0
    olympus.debug.print("{}", r[...])


def write_from(r, other):
    r[...] = other[...] + 1.0


@pytest.mark.parametrize("f", [write, write_and_add])
def test_writes_to_refs_that_nobody_reads_are_dead(f):
    ref = olympus.new_ref(1.0)
    assert count_equations(f, True, ref) == len(olympus.make_olympuspr(f)(ref).eqns)
    assert count_equations(f, False, ref) == 0


def test_writes_that_are_read_in_the_program_stay():
    ref = olympus.new_ref(1.0)
    assert count_equations(write_and_print, [False], ref) == 3


def test_only_dead_refs_lose_their_writes():
    refs = olympus.new_ref(1.0), olympus.new_ref(2.0)
    assert count_equations(write_from, [False, True], *refs) == 1  # reads what lives
    assert count_equations(write_from, [True, False], *refs) == 3


def test_writes_inside_of_calls():
    ref = olympus.new_ref(1.0)
    assert count_equations(olympus.jit(write), True, ref) == 1
    assert count_equations(olympus.jit(write), False, ref) == 0
