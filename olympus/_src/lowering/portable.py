"""A program as a module that others call: for one platform, or for several.

`main` takes, in this order: the number of the platform (int32, only where there are
several), a token for each ordered effect, and the program's inputs; it returns the
tokens and the results. What is the same on all platforms is written once.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from olympus._src.core import ir
from olympus._src.foundation import vocabulary
from olympus._src.lowering import builder, types
from olympus._src.lowering.module import (
    Function,
    Module,
    add_shardings,
    alias,
    function_text,
    names_other_memories,
    with_attributes,
)
from olympus._src.sharding.division import Division

_INDEX_TYPE = "tensor<i32>"


def lower_portable(
    variants: Sequence[tuple[str, ir.Olympuspr]],
    consts: Sequence[Any] = (),
    *,
    name: str,
    result_names: Sequence[str] | None = None,
    aliases: dict[int, int | None] | None = None,
    sizes: Any = None,
    division: Division | None = None,
) -> Module:
    """Lowers a program for platforms.

    Args:
      variants: each platform with the program for it; all take and return the same.
      consts: values of the programs' constants, which are written in the module.
      name: symbol of the module.
      result_names: the path of each output.
      aliases: for donated inputs, the output each may share its buffer with.
      sizes: `lowering.variables.Arguments` of the inputs, where sizes are symbolic.
      division: how it is divided over several devices.
    """
    module = Module(name, variants[0][0])
    module.share_by_text()
    platforms = [platform for platform, _ in variants]
    module.has_other_memories = names_other_memories(
        variants[0][1], division, platforms
    )
    if division is not None:
        module.divided_over = division.mesh
    module.variables, find_sizes = (), None
    if sizes is not None and sizes.names:
        module.variables, find_sizes = sizes.names, sizes.write
    views = module.for_platforms(platforms) if len(variants) > 1 else [module]
    functions = [
        Function(view, program, consts, find_sizes=find_sizes)
        for view, (_, program) in zip(views, variants, strict=True)
    ]
    if any(f.takes_callbacks for f in functions):
        for function in functions:  # all take the same
            function.take_callbacks()
    first = functions[0]
    n = len(first.effects)
    in_attributes: list[list[str]] = [[] for _ in first.in_types]
    for i, out in (aliases or {}).items():
        in_attributes[n + i].append(alias(None if out is None else n + out))
    out_attributes: list[list[str]] = [[] for _ in first.out_types]
    for i, path in enumerate(result_names or ()):
        out_attributes[n + i].append(
            f"{vocabulary.name()}.result_info = {types.string(path)}"
        )
    if division is not None:  # which has no tokens
        program = variants[0][1]
        add_shardings(module, in_attributes, division.in_shardings, program.in_avals)
        add_shardings(module, out_attributes, division.out_shardings, program.out_avals)
    in_types = list(map(with_attributes, first.in_types, in_attributes))
    out_types = list(map(with_attributes, first.out_types, out_attributes))
    if len(variants) > 1:
        main = _write_platform_switch(
            module, platforms, functions, name, in_types, out_types
        )
    else:
        main = first.text("public", "main", in_types, out_types)
    module.functions.insert(0, main)
    return module


def _write_platform_switch(
    module: Module,
    platforms: Sequence[str],
    functions: Sequence[Function],
    name: str,
    in_types: Sequence[str],
    out_types: Sequence[str],
) -> str:
    """A `main` that calls the function for the platform whose number it is given."""
    first = functions[0]
    symbols = [
        module.add(f, module.symbol(f"{name}_{p}"))
        for p, f in zip(platforms, functions, strict=True)
    ]
    block = builder.Block()
    if len(set(symbols)) == 1:
        outs = _call(block, symbols[0], first)
    else:
        regions = []
        for symbol in symbols:
            inner = block.inner()
            results = _call(inner, symbol, first)
            regions.append(inner.region((), (), results, first.out_types))
        outs = block.op(
            "stablehlo.case",
            ["%platform"],
            [_INDEX_TYPE],
            first.out_types,
            regions=regions,
        )
    index = f'{_INDEX_TYPE} {{olympus.global_constant = "_platform_index"}}'
    return function_text(
        "public",
        "main",
        block,
        ["%platform", *first.names],
        [index, *in_types],
        outs,
        out_types,
        first.out_types,
    )


def _call(block: builder.Block, symbol: str, function: Function) -> list[str]:
    return block.emit_many(
        f"func.call @{symbol}({', '.join(function.names)}) : "
        f"({', '.join(function.in_types)}) -> ({', '.join(function.out_types)})",
        len(function.out_types),
    )
