"""Lowering rules that build MLIR operations, run for the text of what they build."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from jaxlib.mlir import ir
from jaxlib.mlir.dialects import func, stablehlo

from olympus._src.runtime import portable

Rule = Callable[..., Any]
IR = ir
HLO = stablehlo


def function_text(
    rule: Rule,
    make_context: Callable[[Any], Any],
    params: dict[str, Any],
    symbol: str,
    in_types: Sequence[str],
    out_types: Sequence[str],
    name: str,
) -> str:
    """The text of a function of what a rule builds.

    Args:
      rule: takes a context, values and parameters, returns values.
      make_context: makes that context of the module that is built in.
      params: the parameters.
      symbol: the function's name.
      in_types, out_types: of its arguments and results, as text.
      name: the operation, for messages.

    Raises:
      TypeError: the rule returns values of other types, or something else.
    """
    with portable.make_context() as context, ir.Location.unknown(context):
        module = ir.Module.create()
        ins = [ir.Type.parse(t) for t in in_types]
        outs = [ir.Type.parse(t) for t in out_types]
        with ir.InsertionPoint(module.body):
            function = func.FuncOp(symbol, ir.FunctionType.get(ins, outs))
            function.attributes["sym_visibility"] = ir.StringAttr.get("private")
        block = function.add_entry_block()
        with ir.InsertionPoint(block):
            result = rule(make_context(module), *block.arguments, **params)
            values = flat_values(name, result)
            _check_types(name, [str(v.type) for v in values], list(map(str, outs)))
            func.ReturnOp(values)
        module.operation.verify()
        return str(function.operation.get_asm(enable_debug_info=False))


def flat_values(name: str, result: Any) -> list[Any]:
    """What a rule returns in one list: values, operations, or sequences of them."""
    if isinstance(result, ir.Value):
        return [result]
    if isinstance(result, (ir.OpView, ir.Operation)):
        return list(result.results)
    if isinstance(result, (list, tuple, ir.OpResultList)):
        return [value for item in result for value in flat_values(name, item)]
    raise TypeError(
        f"register_lowering: the rule of {name} must return MLIR values, got a value "
        f"of type {type(result).__name__}; return the results of an operation"
    )


def _check_types(name: str, actual: list[str], expected: list[str]) -> None:
    if actual != expected:
        raise TypeError(
            f"register_lowering: the rule of {name} must return values of types "
            f"{expected}, which its abstract rule gives, got {actual}"
        )


def parse_type(text: str) -> Any:
    """A type of its text, in the context that is current."""
    return ir.Type.parse(text)


def parse_attribute(text: str) -> Any:
    """An attribute of its text, in the context that is current."""
    return ir.Attribute.parse(text)
