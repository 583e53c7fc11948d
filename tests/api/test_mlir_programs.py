"""Programs, callbacks and modules in lowering rules that build MLIR operations."""

import numpy as np
import pytest

import olympus
import olympus.numpy as onp
from olympus.extend import core
from olympus.interpreters import mlir

X = np.float32([0.5, 2.0])


def new_primitive(rule, several=False):
    p = core.Primitive("built", several)
    p.def_abstract_eval(lambda x: [x] if several else x)
    mlir.register_lowering(p, rule)
    return p


def inner(x):
    return onp.cos(x) * np.float32([3.0, 4.0]) + olympus.jit(onp.sin)(x)


PROGRAM = olympus.make_olympuspr(inner)(X)


def by_subcomp(ctx, x):
    consts = [mlir.ir_constant(c) for c in PROGRAM.consts]
    outs, tokens = mlir.olympuspr_subcomp(
        ctx.module_context,
        PROGRAM.olympuspr,
        ctx.name_stack,
        mlir.TokenSet(),
        consts,
        x,
        dim_var_values=ctx.dim_var_values,
        const_lowering=ctx.const_lowering,
        outer_traceback=ctx.traceback,
    )
    assert len(tokens) == 0
    return outs


def by_call(ctx, x):
    return mlir.core_call_lowering(ctx, x, name="inner", call_jaxpr=PROGRAM)


def by_function(ctx, x):
    function = mlir.lower_olympuspr_to_fun(ctx.module_context, "inner", PROGRAM, [])
    symbol = mlir.ir.FlatSymbolRefAttr.get(str(function.name).strip('"'))
    consts = [mlir.ir_constant(c) for c in PROGRAM.consts]
    call = mlir.ir.Operation.create(
        "func.call",
        [mlir.aval_to_ir_type(ctx.module_context, ctx.avals_out[0])],
        [*consts, x],
        {"callee": symbol},
    )
    return list(call.results)


def by_callback(ctx, x):
    values, token, _ = mlir.emit_python_callback(
        ctx,
        lambda a: (np.asarray(inner(np.asarray(a))),),
        None,
        [x],
        ctx.avals_in,
        ctx.avals_out,
        has_side_effect=False,
    )
    assert token is None
    return values


def by_callback_in_a_program(ctx, x):
    program = olympus.make_olympuspr(
        lambda x: olympus.pure_callback(lambda a: np.asarray(inner(a)), x, x)
    )(X)
    return mlir.core_call_lowering(ctx, x, name="calling", call_jaxpr=program)


RULES = [by_subcomp, by_call, by_function, by_callback, by_callback_in_a_program]


@pytest.mark.parametrize("rule", RULES)
def test_values(rule):
    p = new_primitive(rule)
    np.testing.assert_allclose(p.bind(X), inner(X), rtol=1e-6)
    np.testing.assert_allclose(olympus.jit(p.bind)(X), inner(X), rtol=1e-6)
    twice = olympus.jit(lambda x: p.bind(p.bind(x)))(X)
    np.testing.assert_allclose(twice, inner(inner(X)), rtol=1e-6)


def test_a_program_is_one_function():
    p = new_primitive(by_call)
    text = olympus.jit(lambda x: p.bind(p.bind(x))).lower(X).as_text()
    assert text.count("func.func private @inner") == 1
    text = olympus.jit(lambda x: x + p.bind(x)).lower(X).as_text()
    assert text.count("stablehlo.cosine") == 1


def test_callbacks_with_effects():
    calls = []

    def rule(ctx, x):
        def callback(a):
            calls.append(np.asarray(a).tolist())
            return (np.asarray(a) * 3,)

        values, _, keepalive = mlir.emit_python_callback(
            ctx, callback, None, [x], ctx.avals_in, ctx.avals_out, has_side_effect=True
        )
        assert keepalive is callback
        return values

    p = new_primitive(rule, several=True)
    np.testing.assert_array_equal(olympus.jit(p.bind)(X)[0], X * 3)
    olympus.effects_barrier()
    assert calls == [X.tolist()]


def test_errors():
    called = olympus.make_olympuspr(lambda x: olympus.pure_callback(np.sin, x, x))(X)

    def rule(ctx, x):
        mlir.lower_olympuspr_to_fun(ctx.module_context, "f", called, [])

    with pytest.raises(NotImplementedError, match="must not call Python"):
        olympus.jit(new_primitive(rule).bind)(X)
    outside = mlir.ModuleContext(None, ("cpu",))
    with pytest.raises(ValueError, match="must be called in a lowering rule"):
        mlir.lower_olympuspr_to_fun(outside, "f", PROGRAM, [])
    with pytest.raises(ValueError, match="a module is for one platform"):
        mlir.lower_olympuspr_to_module("m", PROGRAM, platforms=["cpu", "cuda"])


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("donated_args", [False, True]),
        ("arg_shardings", ["anything"]),
        ("num_partitions", 2),
        ("all_default_mem_kind", False),
        ("axis_context", mlir.ShardingContext(2)),
    ],
)
def test_modules_of_one_device_refuse_other_options(option, value):
    with pytest.raises(NotImplementedError, match=f"{option} must be left out"):
        mlir.lower_olympuspr_to_module("m", PROGRAM, **{option: value})


def test_options_as_libraries_write_them():
    lowered = mlir.lower_olympuspr_to_module(
        "m",
        PROGRAM,
        num_const_args=0,
        in_avals=PROGRAM.in_avals,
        out_avals=PROGRAM.out_avals,
        ordered_effects=[],
        platforms=["cpu"],
        backend=None,
        axis_context=mlir.ShardingContext(1),
        donated_args=[False] * len(PROGRAM.in_avals),
        result_names=None,
        lowering_parameters=mlir.LoweringParameters(),
    )
    assert "func.func public @main" in str(lowered.module)


def test_constants_of_a_type_and_constants_that_are_there():
    def rule(ctx, x):
        half = mlir.ir_constant(0.5, aval=olympus.core.ShapedArray((), "bfloat16"))
        assert str(half.type) == "tensor<bf16>"
        (known,) = mlir.ir_constants(X, const_lowering={(id(X), None): x})
        assert known == x
        return [x]

    np.testing.assert_array_equal(olympus.jit(new_primitive(rule).bind)(X), X)


class Angle:
    def __init__(self, degrees):
        self.degrees = degrees


def test_tables_and_values():
    mlir.register_constant_handler(
        Angle, lambda v, aval: mlir.ir_constant(np.float32(np.radians(v.degrees)))
    )

    def rule(ctx, x):
        assert mlir.ir_type_handlers[olympus.core.ShapedArray]
        assert str(mlir.token_type()) == "!stablehlo.token"
        assert isinstance(ctx.module_context.axis_context, mlir.ShardingContext)
        assert ctx.module_context.lowering_parameters == mlir.LoweringParameters()
        two = mlir.ir_constant(np.int32(2))
        shape = mlir.shape_tensor(ctx.module_context, [two, 3])
        assert str(shape.type) == "tensor<2xi32>"
        fixed = mlir.shape_tensor(ctx.module_context, [2, 3])
        assert str(fixed.type) == "tensor<2xi32>"
        groups = mlir.unflatten_ir_values_like_types([1, 2, 3], ["t", ("t", "t")])
        assert groups == [1, (2, 3)]
        tokens = mlir.TokenSet.create(["effect"])
        assert tokens.effects() == {"effect"}
        assert len(tokens.subset(["effect"]).update_tokens(tokens)) == 1
        kind = mlir.aval_to_ir_type(ctx.module_context, ctx.avals_out[0])
        spread = mlir.hlo.BroadcastInDimOp(
            kind, mlir.ir_constant(Angle(180)), mlir.dense_int_array([])
        )
        return mlir.hlo.AddOp(x, spread).results

    np.testing.assert_allclose(olympus.jit(new_primitive(rule).bind)(X), X + np.pi)


# -- modules ---------------------------------------------------------------------------


def test_modules():
    result = mlir.lower_olympuspr_to_module("first", PROGRAM)
    assert "module @first" in str(result.module)
    assert result.shape_poly_state.lowering_platforms == ("cpu",)
    context = mlir.make_ir_context()
    again = mlir.ir.Module.parse(mlir.module_to_bytecode(result.module), context)
    assert "stablehlo.cosine" in str(again)


def test_merged_modules():
    target = mlir.lower_olympuspr_to_module("target", PROGRAM).module
    source = mlir.lower_olympuspr_to_module("source", PROGRAM).module
    before = str(source)
    names = [mlir.merge_mlir_modules(target, "other", source) for _ in range(2)]
    assert len(set(names)) == 2
    assert str(source) == before
    assert target.operation.verify()
    text = str(target)
    assert all(f"func.func private @{name}(" in text for name in names)
    assert text.count("func.func public @main") == 1
