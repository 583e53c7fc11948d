"""Types and operations of a user's own (`experimental.hijax`).

Programs beside JAX are in `tests/compat/programs/hijax_*.py`. Here is what JAX refuses,
what it leaves open, and the messages.
"""

from __future__ import annotations

import subprocess
import sys
from dataclasses import dataclass
from typing import Any

import hypothesis
import numpy as np
import pytest
from hypothesis import strategies as st

import olympus
import olympus.numpy as onp
from olympus import export, lax
from olympus._src.core import checker
from olympus.experimental import checkify, hijax
from olympus.interpreters import partial_eval
from tests.api.hijax_types import (
    Box,
    BoxType,
    Dequantize,
    Leading,
    QArray,
    QArrayType,
    dequantize,
    pack,
    quantize,
    unpack,
)

X = onp.arange(6.0).reshape(2, 3) + 1
V = onp.arange(3.0) + 1


def boxed(fun: Any) -> Any:
    """A function of two arrays, through boxes."""

    def through(x: Any, y: Any) -> Any:
        return fun(*unpack(pack(x, y)))

    return through


def product(x: Any, y: Any) -> Any:
    return onp.sum(onp.sin(x) * y)


def assert_close(x: Any, y: Any) -> None:
    np.testing.assert_allclose(x, y, rtol=2e-5, atol=1e-6)


# -- a box changes nothing -------------------------------------------------------------

TRANSFORMATIONS = {
    "value": lambda f: f,
    "jit": olympus.jit,
    "grad": lambda f: olympus.grad(f, (0, 1)),
    "jit of grad": lambda f: olympus.jit(olympus.grad(f)),
    "grad of jit": lambda f: olympus.grad(olympus.jit(f)),
    "jvp": lambda f: lambda x, y: olympus.jvp(f, (x, y), (y, x)),
    "jvp of jit": lambda f: lambda x, y: olympus.jvp(olympus.jit(f), (x, y), (y, x)),
    "linearize": lambda f: lambda x, y: olympus.linearize(f, x, y)[1](y, x),
    "hessian": olympus.hessian,
    "grad of grad": lambda f: olympus.grad(lambda x, y: olympus.grad(f)(x, y).sum()),
    "vmap": lambda f: lambda x, y: olympus.vmap(f, (None, 0))(x, onp.eye(3) + y),
    "vmap of grad": lambda f: (
        lambda x, y: olympus.vmap(olympus.grad(f), (0, None))(onp.eye(3) + x, y)
    ),
    "grad of vmap": lambda f: (
        lambda x, y: olympus.grad(
            lambda x: olympus.vmap(f, (None, 0))(x, onp.eye(3) + y).sum()
        )(x)
    ),
    "checkpoint": lambda f: olympus.grad(olympus.checkpoint(f)),
    "checkpoint that keeps": lambda f: olympus.grad(
        olympus.checkpoint(f, policy=olympus.checkpoint_policies.everything_saveable)
    ),
}


@pytest.mark.parametrize("name", TRANSFORMATIONS)
def test_values_in_boxes_are_transformed_as_others(name: str) -> None:
    transform = TRANSFORMATIONS[name]
    expected = transform(product)(V, V + 1)
    olympus.tree.map(assert_close, transform(boxed(product))(V, V + 1), expected)


def carry_box(x: Any, y: Any) -> Any:
    def step(box: Any, a: Any) -> Any:
        x, y = unpack(box)
        return pack(onp.sin(x) * a, y + x), y.sum()

    box, sums = lax.scan(step, pack(x, y), onp.arange(3.0) + 0.5)
    return sums.sum() + unpack(box)[0].sum()


def carry_two(x: Any, y: Any) -> Any:
    def step(carry: Any, a: Any) -> Any:
        x, y = carry
        return (onp.sin(x) * a, y + x), y.sum()

    carry, sums = lax.scan(step, (x, y), onp.arange(3.0) + 0.5)
    return sums.sum() + carry[0].sum()


def loop_box(x: Any, y: Any) -> Any:
    def step(box: Any) -> Any:
        x, y = unpack(box)
        return pack(x * 1.5, y + x)

    box = lax.while_loop(
        lambda b: unpack(b)[0].sum() < 40, step, pack(x, y), max_steps=9
    )
    return (unpack(box)[0] * unpack(box)[1]).sum()


def loop_two(x: Any, y: Any) -> Any:
    x, y = lax.while_loop(
        lambda c: c[0].sum() < 40,
        lambda c: (c[0] * 1.5, c[1] + c[0]),
        (x, y),
        max_steps=9,
    )
    return (x * y).sum()


def choose_box(x: Any, y: Any) -> Any:
    box = lax.cond(
        x.sum() > 0,
        lambda b: pack(onp.sin(unpack(b)[0]), unpack(b)[1]),
        lambda b: pack(onp.cos(unpack(b)[1]), unpack(b)[0]),
        pack(x, y),
    )
    return product(*unpack(box))


def choose_two(x: Any, y: Any) -> Any:
    return product(
        *lax.cond(
            x.sum() > 0,
            lambda x, y: (onp.sin(x), y),
            lambda x, y: (onp.cos(y), x),
            x,
            y,
        )
    )


PAIRS = {
    "scan": (carry_box, carry_two),
    "while_loop": (loop_box, loop_two),
    "cond": (choose_box, choose_two),
}
OF_LOOPS = (
    *("value", "jit", "grad", "jit of grad", "grad of jit", "jvp", "jvp of jit"),
    *("linearize", "hessian", "checkpoint", "vmap", "vmap of grad"),
)


@pytest.mark.parametrize("construct", PAIRS)
@pytest.mark.parametrize("name", OF_LOOPS)
def test_loops_and_branches_carry_boxes(construct: str, name: str) -> None:
    transform = TRANSFORMATIONS[name]
    of_boxes, of_arrays = PAIRS[construct]
    # A box is mapped as a whole, and with it what is asked of it.
    mapped = ("vmap of grad",) if construct == "cond" else ("vmap", "vmap of grad")
    if name in mapped and construct != "scan":
        with pytest.raises(NotImplementedError, match="with a mapped"):
            transform(of_boxes)(V, V + 1)
        return
    expected = transform(of_arrays)(V, V + 1)
    olympus.tree.map(assert_close, transform(of_boxes)(V, V + 1), expected)


def test_mapped_loops_stop_by_themselves() -> None:
    rows = pack(onp.ones((4, 3)), onp.arange(4.0))

    def double(box: Any) -> Any:
        x, n = unpack(box)
        return pack(2 * x, n + 1)

    out = olympus.vmap(
        lambda box: lax.while_loop(lambda b: unpack(b)[1] < 3, double, box),
        in_axes=Leading(),
        out_axes=Leading(),
        axis_size=4,
    )(rows)
    assert_close(out.items[0][:, 0], [8.0, 4.0, 2.0, 1.0])
    assert_close(out.items[1], [3.0, 3.0, 3.0, 3.0])


def test_branches_of_values_that_differ_in_what_the_derivative_keeps() -> None:
    def f(x: Any) -> Any:
        q = lax.cond(x.sum() > 0, quantize, lambda x: quantize(2 * x), x)
        return onp.sum(dequantize(q) * x)

    assert_close(olympus.grad(f)(X), olympus.jit(olympus.grad(f))(X))


@hypothesis.given(
    st.lists(st.lists(st.integers(0, 3), max_size=2), min_size=1, max_size=3)
)
@hypothesis.settings(max_examples=20, deadline=None)
def test_boxes_of_any_shapes_pass_through_programs(shapes: list[list[int]]) -> None:
    box = Box(tuple([onp.ones(tuple(s)) * i for i, s in enumerate(shapes)]))
    out = olympus.jit(lambda b: pack(*[2 * a for a in unpack(b)]))(box)
    assert [a.shape for a in out.items] == [tuple(s) for s in shapes]
    for a, b in zip(box.items, out.items, strict=True):
        assert_close(2 * a, b)


def test_a_box_holds_boxes_and_refs() -> None:
    inner = Box((V, V.sum()))
    out = olympus.jit(lambda box: box)(Box((inner, V)))
    assert_close(out.items[0].items[1], 6.0)
    ref = olympus.new_ref(V)

    @olympus.jit
    def write(box: Any) -> None:
        (ref,) = unpack(box)
        ref[...] += 1

    write(Box((ref,)))
    assert_close(ref[...], V + 1)


def test_arguments_are_donated_and_placed() -> None:
    box = pack(V + 0, V.sum())
    x = box.items[0]
    olympus.jit(lambda b: pack(*[2 * a for a in unpack(b)]), donate_argnums=0)(box)
    assert x.is_deleted()
    placed = olympus.device_put(quantize(X), olympus.devices()[0])
    assert isinstance(placed, QArray)
    assert placed.values.committed


def test_compiled_stages_take_values_and_types() -> None:
    q = quantize(X)
    lowered = olympus.jit(dequantize).lower(QArrayType((2, 3)))
    assert "tensor<2x3xi8>, %arg1: tensor<2xf32>" in lowered.as_text()
    assert_close(lowered.compile()(q), dequantize(q))
    assert olympus.eval_shape(quantize, X) == QArrayType((2, 3))


def round_trip(x: Any) -> Any:
    return dequantize(quantize(x))


def divided(fun: Any) -> Any:
    mesh = olympus.make_mesh((1,), ("rows",))
    specs = olympus.P("rows")
    return olympus.shard_map(fun, mesh=mesh, in_specs=specs, out_specs=specs)


WRAPPERS = {
    "export": lambda f: lambda x: export.export(olympus.jit(f))(x).call(x),
    "shard_map": divided,
    "jit of shard_map": lambda f: olympus.jit(divided(f)),
    "pmap": lambda f: lambda x: olympus.pmap(f)(x[None])[0],
    "checkify": lambda f: (
        lambda x: checkify.checkify(olympus.jit(f), errors=checkify.all_checks)(x)[1]
    ),
    "disable_jit": lambda f: lambda x: _without_jit(olympus.jit(f), x),
    "low form": lambda f: (
        lambda x: olympus.core.eval_olympuspr(
            partial_eval.lower_olympuspr2(olympus.make_olympuspr(f)(x)).olympuspr, [], x
        )[0]
    ),
}


def _without_jit(f: Any, x: Any) -> Any:
    with olympus.disable_jit():
        return f(x)


@pytest.mark.parametrize("name", WRAPPERS)
def test_functions_use_high_types_inside(name: str) -> None:
    assert_close(WRAPPERS[name](round_trip)(X), round_trip(X))


def test_shardings_of_a_value_are_a_list() -> None:
    compiled = olympus.jit(lambda q: q).lower(quantize(X)).compile()
    ((taken,), _) = compiled.input_shardings
    assert len(taken) == len(compiled.output_shardings) == 2
    with pytest.raises(NotImplementedError, match="of several arrays"):
        _ = compiled.input_formats


def test_a_signature_is_compiled_once() -> None:
    f = olympus.jit(lambda q: dequantize(q))
    f(quantize(X)), f(quantize(X + 1))
    assert len(f.cache_info().retraces) == 1
    f(quantize(X[:1]))
    assert len(f.cache_info().retraces) == 2


def test_programs_show_the_high_form_and_are_checked() -> None:
    closed = olympus.make_olympuspr(olympus.jit(lambda x: dequantize(quantize(x))))(X)
    checker.check_olympuspr(closed)
    text = str(closed)
    assert "QArrayType(shape=(2, 3)) = Quantize" in text
    assert "= Dequantize" in text


# -- derivative rules ------------------------------------------------------------------


def make(**methods: Any) -> Any:
    """An operation of one array that returns its double, with some rules."""

    def init(self: Any, x: Any) -> None:
        self.in_avals, self.out_aval, self.params = (x,), x, {}
        hijax.HiPrim.__init__(self)

    body = {"__init__": init, "expand": lambda self, x: 2 * x, **methods}
    kind = type("Double", (hijax.HiPrim,), body)
    return lambda x: kind(olympus.typeof(x))(x)


def double_jvp(self: Any, primals: Any, tangents: Any) -> Any:
    return self(*primals), 2 * hijax.instantiate_zeros(tangents[0])


def test_reverse_mode_falls_back_to_forward_rules() -> None:
    f = make(jvp=double_jvp)
    assert_close(olympus.grad(lambda x: f(x).sum())(V), 2 * onp.ones(3))
    assert_close(olympus.linearize(f, V)[1](V), 2 * V)


def test_linearize_and_grad_use_their_own_rules_in_one_program() -> None:
    rules = {
        "jvp": double_jvp,
        "vjp_fwd": lambda self, nzs, x: (self(x), None),
        "vjp_bwd_retval": lambda self, res, ct: (100 * ct,),
    }
    f = olympus.jit(make(**rules))
    for _ in range(2):  # what was kept for one is not used for the other
        assert_close(olympus.grad(lambda x: f(x).sum())(V), 100 * onp.ones(3))
        assert_close(olympus.linearize(f, V)[1](V), 2 * V)
        assert_close(olympus.jvp(f, (V,), (V,))[1], 2 * V)


def test_a_rule_drops_results_that_nobody_uses() -> None:
    class Both(hijax.HiPrim):
        def __init__(self, x: Any) -> None:
            self.in_avals, self.out_aval, self.params = (x, x), (x, x), {}
            super().__init__()

        def expand(self, x: Any, y: Any) -> Any:
            raise AssertionError("the smaller operation is applied")

        def dce(self, used_outs: Any, live_ins: Any) -> Any:
            assert (used_outs, live_ins) == ((True, False), (True, True))
            return (True, False), (True, False), First(self.in_avals[0])

    class First(hijax.HiPrim):
        def __init__(self, x: Any) -> None:
            self.in_avals, self.out_aval, self.params = (x,), (x,), {}
            super().__init__()

        def expand(self, x: Any) -> Any:
            return (x,)

    f = olympus.jit(lambda x: Both(olympus.typeof(x))(x, x + 1)[0])
    assert_close(f(V), V)
    assert "add" not in f.lower(V).as_text()


# -- attributes of tracers -------------------------------------------------------------


def test_traced_values_have_what_their_type_says() -> None:
    @dataclass(frozen=True)
    class CountType(hijax.HiType):
        n: int
        doubled = hijax.aval_property(lambda self: 2 * self.n)
        plus = hijax.aval_method(lambda self, k: self.n + k)
        _add = staticmethod(lambda self, other: ("sum", other))
        _len = staticmethod(lambda self, tracer: 7)
        sum = hijax.aval_method(lambda self: "of a user")

        def lo_ty(self) -> list[Any]:
            return []

        def lower_val(self, x: Any) -> list[Any]:
            return []

        def raise_val(self) -> Any:
            return Count()

    class Count:
        pass

    hijax.register_hitype(Count, lambda x: CountType(5))

    @olympus.jit
    def look(x: Any) -> int:
        assert (x.n, x.doubled, x.plus(1), x + 3, len(x)) == (5, 10, 6, ("sum", 3), 7)
        assert x.sum() == "of a user"
        assert not isinstance(x, olympus.Array)
        return 0

    look(Count())
    assert olympus.jit(lambda x: (x + x).sum())(V) == 12  # arrays are as they were


# -- errors ----------------------------------------------------------------------------

ERRORS: dict[str, tuple[Any, type[Exception], str]] = {
    "an attribute of the object": (
        lambda: olympus.jit(lambda q: q.values)(quantize(X)),
        AttributeError,
        "has no attribute values: a traced value of the high type "
        "QArrayType(shape=(2, 3)) has those of its type",
    ),
    "an operation on arrays": (
        lambda: lax.sin(quantize(X)),
        TypeError,
        "an array is required, got a value of the high type QArrayType(shape=(2, 3))",
    ),
    "an operation on traced arrays": (
        lambda: olympus.jit(lax.sin_p.bind)(quantize(X)),
        TypeError,
        "sin: an array is required, got a value of the high type",
    ),
    "arguments of another structure": (
        lambda: Dequantize(QArrayType((2, 3)))(V, V),
        TypeError,
        "arguments must have the structure of in_avals",
    ),
    "no in_avals": (
        lambda: type("Bare", (hijax.HiPrim,), {})(),
        AttributeError,
        "Bare: subclass __init__ should set `self.in_avals`",
    ),
    "no rule": (
        lambda: olympus.grad(lambda x: make()(x).sum())(V),
        NotImplementedError,
        "for grad support, subclass",
    ),
    "forward mode by a rule for reverse mode": (
        lambda: olympus.linearize(
            make(
                vjp_fwd=lambda self, nzs, x: (self(x), None),
                vjp_bwd_retval=lambda self, res, ct: (ct,),
            ),
            V,
        ),
        NotImplementedError,
        "`lin, linearized = linearize_from_jvp`",
    ),
    "a cotangent of another type": (
        lambda: olympus.grad(
            lambda x: make(
                vjp_fwd=lambda self, nzs, x: (self(x), None),
                vjp_bwd_retval=lambda self, res, ct: (onp.ones(5),),
            )(x).sum()
        )(V),
        ValueError,
        "Expected cotangent type float32[3] but got float32[5]",
    ),
    "cotangents in a list": (
        lambda: olympus.grad(
            lambda x: make(
                vjp_fwd=lambda self, nzs, x: (self(x), None),
                vjp_bwd_retval=lambda self, res, ct: ct,
            )(x).sum()
        )(V),
        ValueError,
        "Double.vjp_bwd_retval: it must return a tuple of 1 cotangents",
    ),
    "a result of another type": (
        lambda: olympus.jit(make(expand=lambda self, x: x.sum()))(V),
        TypeError,
        "a result of type f32[3] is required, got f32[]",
    ),
    "a type without hash": (
        lambda: olympus.jit(lambda x: x)(_of_type(hijax.HiType())),
        NotImplementedError,
        "type equality requires HiType to implement the `__hash__` method",
    ),
    "no type": (
        lambda: olympus.jit(lambda x: x)(_of_type(3)),
        TypeError,
        "typeof_fn of Value must return a HiType, got 3 of type int",
    ),
    "an int for a spec": (
        lambda: olympus.vmap(dequantize)(quantize(X)),
        ValueError,
        "must have a MappingSpec in in_axes",
    ),
    "a spec for an array": (
        lambda: olympus.vmap(onp.sin, in_axes=Leading(), axis_size=3)(V),
        ValueError,
        "must be of a high type to be mapped by Leading()",
    ),
    "no size": (
        lambda: olympus.vmap(lambda b: b, in_axes=Leading())(pack(V, V)),
        ValueError,
        "give axis_size",
    ),
    "no length": (
        lambda: lax.scan(lambda c, b: (c, b), 0, pack(V, V)),
        ValueError,
        "length must be given where xs holds values of high types",
    ),
    "a mapped choice": (
        lambda: olympus.vmap(
            lambda p, b: lax.cond(p, lambda b: b, lambda b: b, b),
            in_axes=(0, Leading()),
            out_axes=Leading(),
        )(V > 1, pack(V, V)),
        NotImplementedError,
        "cond: under vmap with a mapped predicate operands and results must be arrays",
    ),
    "an argument of shard_map": (
        lambda: divided(dequantize)(quantize(X)),
        NotImplementedError,
        "shard_map: arguments and results must be arrays",
    ),
    "an argument of an exported program": (
        lambda: export.export(olympus.jit(dequantize))(quantize(X)),
        NotImplementedError,
        "must take and return arrays, got the high type QArrayType",
    ),
    "mapped outputs of steps": (
        lambda: olympus.vmap(
            lambda v: lax.scan(lambda c, x: (c, pack(c, x)), 1.0, v)[1],
            out_axes=Leading(),
        )(onp.ones((2, 3))),
        NotImplementedError,
        "vmap of scan: outputs of steps that are mapped must be arrays",
    ),
    "a tangent of another type": (
        lambda: olympus.jvp(lambda b: b, (pack(V),), (V,)),
        TypeError,
        "jvp: the tangent of b must be BoxType",
    ),
    "what nobody kept": (
        lambda: hijax.NullAccum(olympus.typeof(V)).freeze(),
        ValueError,
        "use a ValAccum",
    ),
}


def _of_type(aval: Any) -> Any:
    kind = type("Value", (), {})
    hijax.register_hitype(kind, lambda x: aval)
    return kind()


@pytest.mark.parametrize("name", ERRORS)
def test_errors_say_what_to_write(name: str) -> None:
    call, kind, text = ERRORS[name]
    with pytest.raises(kind) as info:
        call()
    assert text in str(info.value)


def test_unwritten_methods_of_types_are_named() -> None:
    box = BoxType((olympus.typeof(V),))
    assert box.vspace_zero().items[0].shape == (3,)
    for method in ("lo_ty", "to_tangent_aval", "vspace_zero", "leading_axis_spec"):
        with pytest.raises(NotImplementedError, match=f"`{method}`"):
            getattr(hijax.HiType(), method)()


def test_programs_without_such_types_load_nothing_for_them() -> None:
    code = (
        "import sys, olympus, olympus.numpy as onp\n"
        "olympus.jit(olympus.grad(lambda x: onp.sin(x).sum()))(onp.ones(3))\n"
        "print([m for m in sys.modules if 'hi_' in m.split('.')[-1]], "
        "'__getattr__' in vars(olympus.core.Tracer))"
    )
    out = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert out.stdout.strip() == "[] False"
