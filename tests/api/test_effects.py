"""Effects that a library declares, through the documented tables."""

import numpy as np
import pytest

import olympus
import olympus.numpy as jnp
from olympus import lax
from olympus.extend import core
from olympus.interpreters import ad, batching, mlir

EVERYWHERE = ("control_flow_allowed", "lowerable", "remat_allowed")
VALUES = np.arange(3, dtype=np.float32)


def declare_effect(*places):
    """A new class of effects, allowed in some places."""

    class Noise(core.Effect):
        __slots__ = ()

    for place in places:
        getattr(core, f"{place}_effects").add_type(Noise)
    return Noise


@pytest.fixture
def declare():
    """Makes a primitive that doubles and has an effect of a new class."""
    names = []

    def declare(*places):
        effect = declare_effect(*places)()
        p = core.Primitive(f"noisy_{len(names)}")
        names.append(p.name)
        p.def_impl(lambda x: x * 2)
        p.def_effectful_abstract_eval(lambda x: (x, {effect}))
        mlir.register_lowering(p, mlir.lower_fun(lambda x: [olympus.lax.mul(x, 2.0)]))
        ad.primitive_jvps[p] = lambda primals, tangents: (
            p.bind(*primals),
            2.0 * ad.instantiate_zeros(tangents[0]),
        )
        batching.primitive_batchers[p] = lambda args, dims: (p.bind(*args), dims[0])
        return p.bind

    return declare


def with_jvp(f):
    g = olympus.custom_jvp(f)
    g.defjvp(lambda primals, tangents: (g(*primals), 2 * tangents[0]))
    return g


def with_vjp(f):
    g = olympus.custom_vjp(f)
    g.defvjp(lambda x: (f(x), None), lambda _, ct: (2 * ct,))
    return g


def scan(f):
    return lambda x: lax.scan(lambda c, _: (f(c), None), x, None, length=3)[0]


def branch(f):
    return lambda x: lax.cond(x > 0, f, lambda x: x, x)


IN_CONTROL_FLOW = {
    "cond": (lambda f: branch(f)(1.0), 2),
    "cond in jit": (lambda f: olympus.jit(branch(f))(1.0), 2),
    "switch": (lambda f: lax.switch(1, [lambda x: x, f], 1.0), 2),
    "while": (lambda f: lax.while_loop(lambda x: x < 10, f, 1.0), 16),
    "test of while": (
        lambda f: lax.while_loop(lambda x: f(x) < 10, lambda x: x + 1, 1.0),
        5,
    ),
    "scan": (lambda f: scan(f)(1.0), 8),
    "fori": (lambda f: lax.fori_loop(0, 3, lambda i, x: f(x), 1.0), 8),
    "map": (lambda f: lax.map(f, VALUES), [0, 2, 4]),
    "grad of scan": (lambda f: olympus.grad(scan(f))(1.0), 8),
    "vmap of scan": (lambda f: olympus.vmap(scan(f))(VALUES), [0, 8, 16]),
    "vmap of cond": (lambda f: olympus.vmap(branch(f))(VALUES), [0, 2, 4]),
    "custom_jvp in cond": (lambda f: olympus.jit(branch(with_jvp(f)))(1.0), 2),
    "custom_vjp in scan": (lambda f: olympus.jit(scan(with_vjp(f)))(1.0), 8),
}
COMPILED = {
    "jit": (lambda f: olympus.jit(f)(1.0), 2),
    "grad of jit": (lambda f: olympus.grad(olympus.jit(f))(1.0), 2),
    "jit of vmap": (lambda f: olympus.jit(olympus.vmap(f))(VALUES), [0, 2, 4]),
    "jit of remat": (lambda f: olympus.jit(olympus.checkpoint(f))(1.0), 2),
    "custom_jvp": (lambda f: olympus.grad(olympus.jit(with_jvp(f)))(1.0), 2),
    "custom_vjp": (lambda f: olympus.grad(olympus.jit(with_vjp(f)))(1.0), 2),
}
DIFFERENTIATED_REMAT = {
    jitted: (
        lambda f, wrap=wrap: wrap(
            olympus.grad(olympus.checkpoint(lambda x: jnp.sin(f(x))))
        )(1.0),
        2 * np.cos(2.0),
    )
    for jitted, wrap in (("as it is", lambda f: f), ("in jit", olympus.jit))
}


@pytest.mark.slow
@pytest.mark.parametrize("ordered", [(), ("ordered",)], ids=["unordered", "ordered"])
def test_effects_that_are_allowed_everywhere(declare, ordered):
    f = declare(*EVERYWHERE, *ordered)
    for cases in (IN_CONTROL_FLOW, COMPILED, DIFFERENTIATED_REMAT):
        for name, (run, expected) in cases.items():
            np.testing.assert_allclose(run(f), expected, rtol=1e-6, err_msg=name)


@pytest.mark.parametrize(
    ("cases", "missing", "error", "message"),
    [
        (
            IN_CONTROL_FLOW,
            "control_flow_allowed",
            NotImplementedError,
            r"(cond|while_loop|scan): effects inside must be allowed in control flow, "
            "got Noise; .*set in_control_flow = True in the effect's class",
        ),
        (
            COMPILED,
            "lowerable",
            ValueError,
            "effects inside must be lowerable, got Noise; .*set lowerable = True",
        ),
        (
            DIFFERENTIATED_REMAT,
            "remat_allowed",
            NotImplementedError,
            "checkpoint: effects inside must be allowed to happen again, got Noise; "
            ".*set in_remat = True",
        ),
    ],
    ids=["control flow", "lowering", "remat"],
)
def test_effects_are_refused_where_their_class_does_not_allow_them(
    declare, cases, missing, error, message
):
    f = declare(*[place for place in EVERYWHERE if place != missing])
    for name, (run, _) in cases.items():
        with pytest.raises(error, match=message):
            pytest.fail(f"{name}: {run(f)}")


def test_effects_that_are_allowed_nowhere_are_still_traced(declare):
    f = declare()
    (effect,) = olympus.make_olympuspr(with_jvp(f))(1.0).effects
    assert repr(effect) == "Noise"
    assert float(f(1.0)) == float(olympus.grad(f)(1.0)) == 2.0
    np.testing.assert_array_equal(olympus.vmap(f)(VALUES), [0, 2, 4])


def test_effects_may_be_kept_out_of_custom_rules(declare):
    f = declare(*EVERYWHERE)
    (effect,) = olympus.make_olympuspr(f)(1.0).effects
    type(effect).in_custom_rules = False
    assert not core.custom_derivatives_allowed_effects.contains(effect)
    for wrap in (with_jvp, with_vjp):
        with pytest.raises(NotImplementedError, match="with custom rules, got N"):
            olympus.jit(wrap(f))(1.0)
    core.custom_derivatives_allowed_effects.add_type(type(effect))
    assert float(olympus.jit(with_jvp(f))(1.0)) == 2.0


def test_tables_read_and_write_the_attributes_of_classes():
    assert mlir.lowerable_effects is core.lowerable_effects
    for table, attribute in (
        (core.control_flow_allowed_effects, "in_control_flow"),
        (core.lowerable_effects, "lowerable"),
        (core.ordered_effects, "ordered"),
        (core.remat_allowed_effects, "in_remat"),
    ):
        kind, other = declare_effect(), declare_effect()
        derived = type("Derived", (kind,), {"__slots__": ()})
        assert not table.contains(kind())
        table.add_type(kind)
        assert getattr(kind, attribute) is True
        assert table.contains(kind())
        assert table.contains(derived())
        mixed = [kind(), other(), derived()]
        assert table.filter_in(mixed) == [kind(), derived()]
        assert table.filter_not_in(mixed) == [other()]
        kind_by_attribute = type("ByAttribute", (core.Effect,), {attribute: True})
        assert table.contains(kind_by_attribute())
        for wrong in (int, kind()):
            with pytest.raises(TypeError, match=r"a subclass of extend\.core\.Effect"):
                table.add_type(wrong)


def test_effects_of_another_kind():
    p = core.Primitive("with_an_odd_effect")
    p.def_effectful_abstract_eval(lambda x: (x, {"sound"}))
    with pytest.raises(TypeError, match=r"must be instances of extend\.core\.Effect"):
        olympus.make_olympuspr(p.bind)(1.0)


def test_calls_that_must_happen_once_are_not_computed_again():
    kind = olympus.ShapeDtypeStruct((), np.float32)
    f = with_jvp(lambda x: olympus.experimental.io_callback(lambda v: v, kind, x))
    with pytest.raises(NotImplementedError, match=r"checkpoint: .* got IO; "):
        olympus.grad(olympus.checkpoint(lambda x: jnp.sin(f(x))))(1.0)


# -- order -----------------------------------------------------------------------------


def _call(log, ordered):
    def body(x):
        olympus.experimental.io_callback(
            lambda v: log.append(float(v)), None, x, ordered=ordered
        )
        return x + 1

    return body


def _print(log, ordered):
    def body(x):
        olympus.debug.callback(lambda v: log.append(float(v)), x, ordered=ordered)
        return x + 1

    return body


def _jitted(log, ordered):
    return olympus.jit(_call(log, ordered))


def _in_a_branch(log, ordered):
    call = _call(log, ordered)
    return lambda x: lax.cond(x > -1, call, lambda x: x + 1, x)


@pytest.fixture
def speak():
    """Makes a primitive with an ordered effect, lowered as calls of Python."""
    log = []
    names = []
    effect = declare_effect("lowerable", "control_flow_allowed", "ordered")()

    def make(body, ordered):
        p = core.Primitive(f"speaking_{len(names)}")
        names.append(p.name)
        p.def_effectful_abstract_eval(lambda x: (x, {effect}))
        rule = mlir.lower_fun(body(log, ordered), multiple_results=False)
        mlir.register_lowering(p, rule)
        return p.bind

    return make, log


@pytest.mark.parametrize("ordered", [False, True])
@pytest.mark.parametrize("body", [_call, _print, _jitted, _in_a_branch])
def test_what_an_ordered_operation_calls_keeps_the_order(speak, body, ordered):
    make, log = speak
    first, second = make(body, ordered), make(_call, False)

    @olympus.jit
    def f(x):
        # The operations depend on nothing of each other; XLA takes the last one first.
        return first(x * 3), second(x * 2), first(x)

    assert [float(v) for v in f(1.0)] == [4, 3, 2]
    olympus.effects_barrier()
    assert log == [3, 2, 1]
    text = f.lower(1.0).as_text()
    assert text.count("!stablehlo.token") > 3


def test_order_in_loops_and_between_programs(speak):
    make, log = speak
    f = make(_call, False)

    def twice(x):
        f(x * 10)
        return f(x)

    olympus.jit(lambda xs: lax.map(twice, xs))(VALUES)
    lax.fori_loop(0, 2, lambda i, x: twice(x), 4.0)
    f(7.0)
    olympus.effects_barrier()
    assert log == [0, 0, 10, 1, 20, 2, 40, 4, 50, 5, 7]


def test_an_operation_with_an_order_inside_another(speak):
    make, log = speak
    inner = make(_call, False)
    outer = make(lambda log, ordered: lambda x: inner(x * 2) + 1, False)
    olympus.jit(lambda x: (outer(x * 3), inner(x), outer(x * 2)))(1.0)
    olympus.effects_barrier()
    assert log == [6, 1, 4]
