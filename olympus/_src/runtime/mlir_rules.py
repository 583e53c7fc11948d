"""Lowering rules that build MLIR operations, run for the text of what they build."""

from __future__ import annotations

import io
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
    make_context: Callable[[Any, Callable[[str], Any]], Any],
    params: dict[str, Any],
    symbol: str,
    in_types: Sequence[str],
    out_types: Sequence[str],
    name: str,
) -> tuple[str, list[str]]:
    """The text of a function of what a rule builds, and types of added arguments.

    Args:
      rule: takes a context, values and parameters, returns values.
      make_context: makes that context of the module that is built in, and of what adds
        an argument of a type to the function and returns its value.
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
        added: list[str] = []

        def add_argument(kind: str) -> Any:
            value = block.add_argument(ir.Type.parse(kind), ir.Location.unknown())
            added.append(kind)
            every = [*ins, *map(ir.Type.parse, added)]
            kinds = ir.FunctionType.get(every, outs)
            function.attributes["function_type"] = ir.TypeAttr.get(kinds)
            return value

        with ir.InsertionPoint(block):
            operands = list(block.arguments)
            result = rule(make_context(module, add_argument), *operands, **params)
            values = flat_values(name, result)
            _check_types(name, [str(v.type) for v in values], list(map(str, outs)))
            func.ReturnOp(values)
        module.operation.verify()
        return str(function.operation.get_asm(enable_debug_info=False)), added


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


def build(
    name: str, operands: Sequence[Any], out_types: Sequence[str], attributes: str
) -> Any:
    """An operation, where operations are inserted; types and attributes are text."""
    parsed: Any = ir.DictAttr.parse("{" + attributes + "}")
    return ir.Operation.create(
        name,
        [ir.Type.parse(t) for t in out_types],
        list(operands),
        {item.name: item.attr for item in parsed},
    ).opview


def parse_module(text: str) -> Any:
    """A module of its text, in a context of its own."""
    with portable.make_context():
        return ir.Module.parse(text)


def declare(module: Any, symbol: str, in_types: Any, out_types: Any) -> Any:
    """A private function of a module that is written elsewhere, once for a symbol."""
    for op in module.body.operations:
        if _symbol_of(op) == symbol:
            return op
    ins, outs = ([ir.Type.parse(t) for t in types] for types in (in_types, out_types))
    with ir.InsertionPoint.at_block_begin(module.body):
        function = func.FuncOp(symbol, ir.FunctionType.get(ins, outs))
    function.attributes["sym_visibility"] = ir.StringAttr.get("private")
    return function


def _symbol_of(op: Any) -> str:
    return str(ir.StringAttr(op.attributes["sym_name"]).value)


def call(function: Any, operands: Sequence[Any]) -> list[Any]:
    """The results of a call of a function."""
    symbol = ir.FlatSymbolRefAttr.get(_symbol_of(function))
    return list(func.CallOp(function.type.results, symbol, list(operands)).results)


def merge(target: Any, symbol: str, source: Any, table: Any = None) -> str:
    """Copies the functions of a module to another; `main` gets a symbol like the given.

    Returns:
      The symbol of `main` there.
    """
    # A copy in the context of the target; the source stays as it is.
    with target.context, ir.Location.unknown():
        copy = ir.Module.parse(str(source.operation.get_asm()))
        table = ir.SymbolTable(target.operation) if table is None else table
        own = ir.SymbolTable(copy.operation)
        names = [_symbol_of(op) for op in copy.body.operations]
        new = {name: f"{symbol}_{name}" for name in names if name in table}
        new["main"] = symbol
        for name in names:
            wanted = candidate = new.get(name, name)
            n = 0
            while candidate in table or (candidate != name and candidate in names):
                candidate, n = f"{wanted}_{n}", n + 1
            if candidate != name:
                ir.SymbolTable.replace_all_symbol_uses(name, candidate, copy.operation)
                ir.SymbolTable.set_symbol_name(own[name], candidate)
            if name == "main":
                symbol = candidate
        for op in list(copy.body.operations):
            op.attributes["sym_visibility"] = ir.StringAttr.get("private")
            op.operation.detach_from_parent()
            target.body.append(op)
            table.insert(op)
    return symbol


def bytecode(module: Any) -> bytes:
    """A module as MLIR's bytes."""
    output = io.BytesIO()
    module.operation.write_bytecode(file=output)
    return output.getvalue()
