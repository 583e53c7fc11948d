"""For lowering rules that build MLIR operations: what they are given and may use."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from olympus._src.core import dtypes
from olympus._src.core.array_type import DTypeLike
from olympus._src.core.avals import AbstractValue, ShapedArray
from olympus._src.lowering import attributes, types
from olympus._src.runtime import mlir_rules

ir = mlir_rules.IR
hlo = mlir_rules.HLO
Value = ir.Value


class ModuleContext(NamedTuple):
    """The module that a rule writes in.

    Attributes:
      module: an `ir.Module`, which holds what the rule builds.
      platforms: for which it is built.
    """

    module: Any
    platforms: tuple[str, ...]

    @property
    def context(self) -> Any:
        """The MLIR context."""
        return self.module.context


class LoweringRuleContext(NamedTuple):
    """What a rule is told.

    Attributes:
      module_context: the module that it writes in.
      primitive: the operation.
      avals_in, avals_out: types of its operands and results.
    """

    module_context: ModuleContext
    primitive: Any
    avals_in: Sequence[Any]
    avals_out: Sequence[Any]


def text_rule(rule: Callable[..., Any]) -> Callable[..., Any]:
    """The rule `lower` of a primitive for a rule that builds MLIR operations."""

    def lower(ctx: Any, *operands: str, **params: Any) -> Any:
        p = ctx.eqn.primitive
        in_types = list(map(types.tensor_type, ctx.avals_in))
        out_types = list(map(types.tensor_type, ctx.avals_out))

        def make_context(module: Any) -> LoweringRuleContext:
            inner = ModuleContext(module, (ctx.platform,))
            return LoweringRuleContext(inner, p, ctx.avals_in, ctx.avals_out)

        text = mlir_rules.function_text(
            rule, make_context, params, _PLACE, in_types, out_types, p.name
        )
        # Equal texts are one function of the module.
        place = f"{_PLACE}_{hashlib.sha256(text.encode()).hexdigest()}"
        symbol = ctx.module.splice([(place, text.replace(_PLACE, place))], p.name)
        outs = ctx.block.emit_many(
            f"func.call @{symbol}({', '.join(operands)}) : ({', '.join(in_types)}) -> "
            f"({', '.join(out_types)})",
            len(out_types),
        )
        return outs if p.multiple_results else outs[0]

    return lower


_PLACE = "the_rule_of_a_primitive"


# -- types and constants ---------------------------------------------------------------


def dtype_to_ir_type(dtype: DTypeLike) -> Any:
    """The MLIR type of elements."""
    return mlir_rules.parse_type(types.element_type(dtypes.as_dtype(dtype)))


def aval_to_ir_type(aval: AbstractValue) -> Any:
    """The MLIR type of values of a type."""
    return mlir_rules.parse_type(types.tensor_type(aval))


def aval_to_ir_types(aval: AbstractValue) -> tuple[Any, ...]:
    """The MLIR types of a value of a type: one."""
    return (aval_to_ir_type(aval),)


def ir_constant(val: Any) -> Any:
    """A constant: a number, or a NumPy array."""
    array = np.asarray(val)
    array = array.astype(dtypes.canonicalize_dtype(array.dtype), copy=False)
    text = types.dense(array, ShapedArray(array.shape, array.dtype))
    return hlo.ConstantOp(mlir_rules.parse_attribute(text)).result


def ir_constants(val: Any) -> tuple[Any, ...]:
    """The values of a constant: one."""
    return (ir_constant(val),)


def dense_int_elements(xs: Sequence[int]) -> Any:
    """An attribute of a tensor of 64-bit integers."""
    return ir.DenseIntElementsAttr.get(np.asarray(xs, np.int64))


def dense_int_array(xs: Sequence[int]) -> Any:
    """An attribute of a list of 64-bit integers."""
    return ir.DenseI64ArrayAttr.get(list(map(int, xs)))


def i32_attr(i: int) -> Any:
    """An attribute of a 32-bit integer."""
    return ir.IntegerAttr.get(ir.IntegerType.get_signless(32), i)


def i64_attr(i: int) -> Any:
    """An attribute of a 64-bit integer."""
    return ir.IntegerAttr.get(ir.IntegerType.get_signless(64), i)


def ir_attribute(value: Any) -> Any:
    """The attribute of a number, text, a NumPy array, a dtype, or several of them."""
    return mlir_rules.parse_attribute(attributes.attribute("ir_attribute", value))


def flatten_ir_values(values: Sequence[Any]) -> list[Any]:
    """Values, of which some may be in sequences, in one list."""
    return mlir_rules.flat_values("flatten_ir_values", list(values))


def flatten_ir_types(kinds: Sequence[Any]) -> list[Any]:
    """Types, of which some may be in sequences, in one list."""
    flat: list[Any] = []
    for kind in kinds:
        flat += kind if isinstance(kind, (list, tuple)) else [kind]
    return flat


def module_to_string(module: Any, enable_debug_info: bool = False) -> str:
    """A module as text."""
    return str(module.operation.get_asm(enable_debug_info=enable_debug_info))
