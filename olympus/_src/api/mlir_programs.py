"""Programs and callbacks in lowering rules that build MLIR operations.

A program becomes a private function of olympus's own module, as one inside of an
equation does; what the rule builds has a declaration of it, and a call.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from olympus._src.api.mlir_rules import (
    AxisContext,
    LoweringParameters,
    LoweringRuleContext,
    ModuleContext,
    ShardingContext,
    TokenSet,
    Value,
    ir,
    ir_constant,
)
from olympus._src.api.shapes import ShapeDtypeStruct
from olympus._src.callbacks import host_calls
from olympus._src.core import effects as effects_
from olympus._src.core import ir as programs
from olympus._src.core.avals import ShapedArray
from olympus._src.interpreters import partial_eval
from olympus._src.lowering import builder, types
from olympus._src.lowering import module as lowering
from olympus._src.runtime import mlir_rules, portable

Token = Value
Flags = Sequence[bool] | None
Each = Sequence[Any] | None  # something, or None, for each argument or result
Names = Sequence[str] | None
LoweringRule = Callable[..., Any]
# Kinds of channels between devices and hosts, as StableHLO numbers them.
DEVICE_TO_DEVICE_TYPE = 1
SEND_TO_HOST_TYPE = 2
RECV_FROM_HOST_TYPE = 3

make_ir_context = portable.make_context


class ShapePolyLoweringState(NamedTuple):
    """The symbolic dimensions of a module, and the platforms it is for."""

    dim_vars: tuple[str, ...]
    lowering_platforms: tuple[str, ...] | None


class LoweringResult(NamedTuple):
    """A lowered program.

    Attributes:
      module: an `ir.Module`.
      keepalive: what must live as long as the executable.
      host_callbacks: Python functions that it calls.
      shape_poly_state: its symbolic dimensions.
    """

    module: Any
    keepalive: Any
    host_callbacks: list[Any]
    shape_poly_state: ShapePolyLoweringState


def _close(program: Any) -> programs.ClosedOlympuspr:
    if isinstance(program, programs.Olympuspr):
        return programs.ClosedOlympuspr(_hoist(program))
    return program


def _hoist(program: programs.Olympuspr) -> programs.Olympuspr:
    """The program with its constants as inputs, the same each time."""
    return program.derived("hoisted", programs.hoist_consts)


def _declare(
    name: str, ctx: ModuleContext, program: programs.Olympuspr, symbol_name: str
) -> tuple[Any, bool]:
    """The declaration of a program in what a rule builds; whether it calls Python."""
    outer = ctx.outer
    if outer is None:
        raise ValueError(
            f"mlir.{name}: it must be called in a lowering rule, with the context that "
            "the rule is given"
        )
    module = outer.ctx.module
    if effects_.ordered(program.effects) or module.variables:
        raise NotImplementedError(
            f"mlir.{name}: the program must have no ordered effects, and the module no "
            "symbolic dimensions; write the rule with mlir.lower_fun"
        )
    expanded = partial_eval.expand(program, module.platform)
    symbol = module.function(expanded, symbol_name)
    in_types = list(map(types.tensor_type, expanded.in_avals))
    takes_callbacks = module.takes_callbacks(symbol)
    if takes_callbacks:
        in_types.append(builder.CALLBACKS_TYPE)
    out_types = list(map(types.tensor_type, expanded.out_avals))
    return mlir_rules.declare(ctx.module, symbol, in_types, out_types), takes_callbacks


def _call(
    name: str, ctx: ModuleContext, program: Any, symbol: str, operands: Sequence[Any]
) -> list[Any]:
    function, takes_callbacks = _declare(name, ctx, program, symbol)
    if takes_callbacks:
        operands = [*operands, ctx.outer.callbacks()]
    return mlir_rules.call(function, operands)


def _constants(closed: programs.ClosedOlympuspr) -> list[Any]:
    return [ir_constant(np.asarray(c)) for c in closed.consts]


def _refuse_options(name: str, **options: Any) -> None:
    """Raises for the first option that says anything."""
    for option, value in options.items():
        if _says_something(value):
            raise NotImplementedError(
                f"mlir.{name}: {option} must be left out, got {value!r}; lower a "
                "function with olympus.jit(f, ...).lower(...), which has such options"
            )


def _says_something(value: Any) -> bool:
    if isinstance(value, (tuple, list)):
        return any(map(_says_something, value))
    return value is not None and value is not False


def olympuspr_subcomp(
    ctx: ModuleContext,
    olympuspr: programs.Olympuspr,
    name_stack: Any,
    tokens: TokenSet,
    consts_for_constvars: Sequence[Any],
    *args: Any,
    dim_var_values: Sequence[Any] = (),
    const_lowering: Any = None,
    outer_traceback: Any = None,
) -> tuple[list[Any], TokenSet]:
    """The results of a program's operations, in a lowering rule.

    Args:
      ctx: the module context.
      olympuspr: the program.
      name_stack: the scopes around; the last names the function.
      tokens: of ordered effects, which the program must not have.
      consts_for_constvars: values of its constants.
      *args: values of its inputs.
      dim_var_values, const_lowering, outer_traceback: have no effect.

    Returns:
      Values, and the tokens.
    """
    del dim_var_values, const_lowering, outer_traceback
    names = getattr(name_stack, "stack", ())
    symbol = names[-1] if names else "program"
    whole = _hoist(olympuspr)
    operands = [*consts_for_constvars, *args]
    return _call("olympuspr_subcomp", ctx, whole, symbol, operands), tokens


def core_call_lowering(
    ctx: LoweringRuleContext,
    *args: Any,
    name: str,
    backend: Any = None,
    inline_jax_late: bool = False,
    call_jaxpr: Any,
    **params: Any,
) -> list[Any]:
    """The results of a call of a program, in a lowering rule.

    Args:
      ctx: the rule's context.
      *args: values of the program's inputs.
      name: of the function.
      backend: has no effect: the rule is for one already.
      inline_jax_late: has no effect: calls are always inlined by the compiler.
      call_jaxpr: the program.
      **params: the call's other parameters, which do not change its results.
    """
    del backend, inline_jax_late, params
    closed = _close(call_jaxpr)
    whole = _hoist(closed.olympuspr)
    operands = [*_constants(closed), *args]
    return _call("core_call_lowering", ctx.module_context, whole, name, operands)


def lower_olympuspr_to_fun(
    ctx: ModuleContext,
    name: str,
    olympuspr: programs.ClosedOlympuspr,
    effects: Sequence[Any] = (),
    *,
    num_const_args: int = 0,
    in_avals: Sequence[Any] = (),
    out_avals: Sequence[Any] = (),
    main_function: bool = False,
    replicated_args: Flags = None,
    arg_shardings: Each = None,
    result_shardings: Each = None,
    use_sharding_annotations: bool = True,
    input_output_aliases: Each = None,
    xla_donated_args: Flags = None,
    arg_names: Names = None,
    result_names: Names = None,
    arg_memory_kinds: Each = None,
    result_memory_kinds: Each = None,
    arg_layouts: Each = None,
    result_layouts: Each = None,
    propagated_out_mem_kinds: Each = None,
    detached: bool = False,
) -> Any:
    """A program as a private function, in a lowering rule.

    Args:
      ctx: the module context.
      name: how its symbol begins.
      olympuspr: the program; its constants become the first arguments.
      effects: have no effect: those of the program count, of which none may be ordered.
      num_const_args, in_avals, out_avals: have no effect: the program has its types.
      use_sharding_annotations: has no effect, as there are no shardings.
      arg_names, result_names: have no effect: values of private functions are numbered.
      main_function, replicated_args, arg_shardings, result_shardings: must be left out,
        as the following: only the function of a whole module has them.
      input_output_aliases, xla_donated_args, arg_memory_kinds: the same.
      result_memory_kinds, arg_layouts, result_layouts: the same.
      propagated_out_mem_kinds, detached: the same.

    Returns:
      A `func.FuncOp`, to be called by its `name`.

    Raises:
      NotImplementedError: it calls Python, which needs `core_call_lowering`; or there
        is an option that private functions do not have.
    """
    del effects, num_const_args, in_avals, out_avals, use_sharding_annotations
    del arg_names, result_names
    _refuse_options(
        "lower_olympuspr_to_fun",
        main_function=main_function,
        replicated_args=replicated_args,
        arg_shardings=arg_shardings,
        result_shardings=result_shardings,
        input_output_aliases=input_output_aliases,
        xla_donated_args=xla_donated_args,
        arg_memory_kinds=arg_memory_kinds,
        result_memory_kinds=result_memory_kinds,
        arg_layouts=arg_layouts,
        result_layouts=result_layouts,
        propagated_out_mem_kinds=propagated_out_mem_kinds,
        detached=detached,
    )
    whole = _hoist(_close(olympuspr).olympuspr)
    function, takes_callbacks = _declare("lower_olympuspr_to_fun", ctx, whole, name)
    if takes_callbacks:
        raise NotImplementedError(
            "mlir.lower_olympuspr_to_fun: the program must not call Python; use "
            "mlir.core_call_lowering, which passes on what such calls need"
        )
    return function


def lower_olympuspr_to_module(
    module_name: str,
    olympuspr: programs.ClosedOlympuspr,
    *,
    num_const_args: int = 0,
    in_avals: Sequence[Any] = (),
    out_avals: Sequence[Any] = (),
    ordered_effects: Sequence[Any] = (),
    platforms: Sequence[str] = ("cpu",),
    backend: Any = None,
    axis_context: AxisContext | None = None,
    donated_args: Flags = None,
    replicated_args: Flags = None,
    arg_shardings: Each = None,
    result_shardings: Each = None,
    in_layouts: Each = None,
    out_layouts: Each = None,
    arg_names: Names = None,
    result_names: Names = None,
    num_partitions: int = 1,
    all_default_mem_kind: bool = True,
    input_output_aliases: Each = None,
    propagated_out_mem_kinds: Each = None,
    lowering_parameters: LoweringParameters | None = None,
) -> LoweringResult:
    """A program as a module of its own, for one device.

    Args:
      module_name: the module's symbol.
      olympuspr: the program; its constants become the first arguments of `main`.
      num_const_args, in_avals, out_avals, ordered_effects: have no effect: the program
        has its types and effects.
      platforms: the one that it is for.
      backend: has no effect: the module is not bound to devices.
      axis_context: None, or a `ShardingContext` of one device.
      arg_names: has no effect: arguments are numbered.
      result_names: names of the results.
      num_partitions: must be 1.
      all_default_mem_kind: must be True.
      lowering_parameters: has no effect: such options are settings.
      donated_args, replicated_args, arg_shardings, result_shardings: must be left out,
        as the following; `olympus.jit` and its stage `lower` have them.
      in_layouts, out_layouts, input_output_aliases, propagated_out_mem_kinds: the same.

    Raises:
      ValueError: several platforms are given; use `olympus.export` for them.
      NotImplementedError: there is an option that such modules do not have.

    Example:
      >>> import olympus
      >>> from olympus.interpreters import mlir
      >>> program = olympus.make_olympuspr(lambda x: x + 1.0)(2.0)
      >>> module = mlir.lower_olympuspr_to_module('added', program).module
      >>> 'stablehlo.add' in str(module)
      True
    """
    del lowering_parameters, num_const_args, in_avals, out_avals, ordered_effects
    del backend, arg_names
    is_for_one = axis_context is None or axis_context == ShardingContext(1)
    _refuse_options(
        "lower_olympuspr_to_module",
        axis_context=None if is_for_one else axis_context,
        donated_args=donated_args,
        replicated_args=replicated_args,
        arg_shardings=arg_shardings,
        result_shardings=result_shardings,
        in_layouts=in_layouts,
        out_layouts=out_layouts,
        num_partitions=None if num_partitions == 1 else num_partitions,
        all_default_mem_kind=None if all_default_mem_kind else "False",
        input_output_aliases=input_output_aliases,
        propagated_out_mem_kinds=propagated_out_mem_kinds,
    )
    if len(platforms) != 1:
        raise ValueError(
            "mlir.lower_olympuspr_to_module: a module is for one platform, got "
            f"{tuple(platforms)}; use olympus.export.export for several"
        )
    whole = _hoist(_close(olympuspr).olympuspr)
    expanded = partial_eval.expand(whole, platforms[0])
    lowered = lowering.lower_module(
        expanded, name=module_name, platform=platforms[0], result_names=result_names
    )
    return LoweringResult(
        mlir_rules.parse_module(lowered.text()),
        lowered.keepalives,
        lowered.callbacks,
        ShapePolyLoweringState((), tuple(platforms)),
    )


def emit_python_callback(
    ctx: LoweringRuleContext,
    callback: Callable[..., Any],
    token: Any,
    operands: Sequence[Any],
    operand_avals: Sequence[ShapedArray],
    result_avals: Sequence[ShapedArray],
    *,
    has_side_effect: bool,
    returns_token: bool = True,
    partitioned: bool = False,
    sharding: Any = None,
) -> tuple[list[Any], Any, Any]:
    """The results of a call of Python, in a lowering rule.

    Args:
      ctx: the rule's context.
      callback: takes NumPy arrays, returns a tuple of arrays.
      token: returned as it is: such calls have no order.
      operands: values.
      operand_avals, result_avals: types of operands and results.
      has_side_effect: whether it is called even if no result is used.
      returns_token, partitioned, sharding: have no effect.

    Returns:
      Values, the token, and the function, which the program keeps alive.
    """
    del returns_token, partitioned, sharding
    shapes = tuple([ShapeDtypeStruct(a.shape, a.dtype) for a in result_avals])
    call = host_calls.io_callback if has_side_effect else host_calls.pure_callback

    def run(*xs: Any) -> list[Any]:
        return list(call(lambda *values: tuple(callback(*values)), shapes, *xs))

    info = programs.DebugInfo("emit_python_callback", "callback")
    program, _ = partial_eval.trace_to_olympuspr(run, operand_avals, info)
    values = _call(
        "emit_python_callback", ctx.module_context, program, "callback", operands
    )
    return values, token, callback


def merge_mlir_modules(
    dst_module: Any, sym_name: str, src_module: Any, dst_symtab: Any = None
) -> str:
    """Copies a module's functions into another.

    Args:
      dst_module: the module that gets them.
      sym_name: how the symbol of `main` begins there.
      src_module: the module; it stays as it is.
      dst_symtab: the symbol table of `dst_module`, if there is one already.

    Returns:
      The symbol of what was `main`.
    """
    return mlir_rules.merge(dst_module, sym_name, src_module, dst_symtab)


def module_to_bytecode(module: Any) -> bytes:
    """A module as MLIR's bytes."""
    return mlir_rules.bytecode(module)


def shape_tensor(ctx: ModuleContext, sizes: Sequence[Any]) -> Any:
    """Sizes as a tensor of 32-bit integers.

    Args:
      ctx: the module context.
      sizes: numbers, and values that are scalars of 32-bit integers.
    """
    del ctx
    if all(isinstance(s, (int, np.integer)) for s in sizes):
        return ir_constant(np.asarray(sizes, np.int32))
    one = ir.RankedTensorType.get((1,), ir.IntegerType.get_signless(32))
    hlo = mlir_rules.HLO
    parts = [
        ir_constant(np.asarray([s], np.int32))
        if isinstance(s, (int, np.integer))
        else hlo.ReshapeOp(one, s).result
        for s in sizes
    ]
    return hlo.concatenate(
        parts, ir.IntegerAttr.get(ir.IntegerType.get_signless(64), 0)
    )


def unflatten_ir_values_like_types(xs: Iterable[Any], ys: Sequence[Any]) -> list[Any]:
    """Values in the groups that types are in: one for a type, several for a tuple."""
    values = iter(xs)
    groups = [
        tuple([next(values) for _ in y]) if isinstance(y, tuple) else next(values)
        for y in ys
    ]
    if next(values, None) is not None:
        raise ValueError(
            "unflatten_ir_values_like_types: there must be a value for each type, got "
            "more; pass all types"
        )
    return groups
