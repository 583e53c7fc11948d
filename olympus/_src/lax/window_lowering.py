"""Reductions over windows as StableHLO text."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from olympus._src.lowering import builder, dynamic_shapes, partitioning, types

Write = Callable[[Any, list[str]], list[str]]


def attributes(params: Any) -> str:
    """The attributes of `stablehlo.reduce_window`."""
    rows = [list(pair) for pair in params["padding"]]
    padding = f"dense<{rows}>" if rows else "dense<>"
    text = (
        f"window_dimensions = {types.i64_array(params['window_dimensions'])}, "
        f"window_strides = {types.i64_array(params['window_strides'])}, "
        f"padding = {padding} : tensor<{len(rows)}x2xi64>"
    )
    if "base_dilation" in params:
        text += (
            f", base_dilations = {types.i64_array(params['base_dilation'])}, "
            f"window_dilations = {types.i64_array(params['window_dilation'])}"
        )
    return text


def emit_fold(
    ctx: Any,
    args: Sequence[str],
    in_avals: Sequence[Any],
    out_avals: Sequence[Any],
    params: Any,
    scalars: Sequence[Any],
    write: Write,
) -> list[str]:
    """Writes a reduction over windows.

    Args:
      ctx: what the lowering rule was given.
      args: names of the operands, and of the values that folds begin with.
      in_avals: their types.
      out_avals: the types of the results.
      params: the window, its strides, dilations and padding; sizes may be symbolic.
      scalars: the types of an element of each operand.
      write: given a block and names for two elements of each, writes their fold.
    """
    pairs = [*scalars, *scalars]
    if _is_dynamic(params):
        symbol = _function(ctx, pairs, scalars, write)
        return _dynamic(ctx.block, args, in_avals, out_avals, params, symbol)
    inner = ctx.block.inner()
    names = inner.arguments(pairs)
    region = inner.region(names, pairs, write(inner, names), scalars)
    n, axes = len(scalars), windowed_axes(params)
    operands = keep_axes_whole(ctx, args[:n], in_avals[:n], axes)
    outs = ctx.block.op(
        "stablehlo.reduce_window",
        [*operands, *args[n:]],
        in_avals,
        out_avals,
        attributes(params),
        [region],
    )
    return keep_axes_whole(ctx, outs, out_avals, axes)


LISTS = (
    "window_dimensions",
    "window_strides",
    "padding",
    "base_dilation",
    "window_dilation",
)


def windowed_axes(params: Any) -> list[int]:
    """The axes along which windows are more than single elements, one after another.

    XLA ends the process, or gives wrong values, where it divides some of them.
    """
    rank = len(params["window_dimensions"])
    lists = [
        (params[name], (0, 0) if name == "padding" else 1)
        for name in LISTS
        if name in params
    ]
    return [i for i in range(rank) if any(row[i] != neutral for row, neutral in lists)]


def keep_axes_whole(
    ctx: Any, names: Sequence[str], avals: Sequence[Any], axes: Sequence[int]
) -> list[str]:
    """Values of which each device holds the axes whole, in a divided program."""
    rows = zip(names, avals, strict=True)
    return [partitioning.keep_whole(ctx, name, aval, axes) for name, aval in rows]


def _is_dynamic(params: Any) -> bool:
    padding = [p for pair in params["padding"] for p in pair]
    return dynamic_shapes.any_symbolic([*padding, *params["window_dimensions"]])


def _function(ctx: Any, pairs: Any, scalars: Any, write: Write) -> str:
    """The fold as a function of the module, by which a custom call can name it."""
    block = builder.Block()
    names = [f"%arg{i}" for i in range(len(pairs))]
    outs = write(block, names)
    symbol = ctx.module.symbol("fold")
    bound, kinds = ([builder.type_text(a) for a in group] for group in (pairs, scalars))
    arguments = ", ".join([f"{n}: {t}" for n, t in zip(names, bound, strict=True)])
    lines = [
        f"func.func private @{symbol}({arguments}) -> ({', '.join(kinds)}) {{",
        *block.lines,
        f"func.return {', '.join(outs)} : {', '.join(kinds)}",
        "}",
    ]
    ctx.module.functions.append("\n".join(lines))
    return str(symbol)


def _dynamic(
    block: Any, args: Any, in_avals: Any, out_avals: Any, params: Any, symbol: str
) -> list[str]:
    """A reduction whose window or padding has dynamic sizes, as refinement knows it."""
    ones = [1] * len(params["window_dimensions"])
    rows = [
        params["window_dimensions"],
        params.get("window_strides", ones),
        params.get("base_dilation", ones),
        params.get("window_dilation", ones),
    ]
    padding, pairs = dynamic_shapes.pairs(block, params["padding"])
    return dynamic_shapes.custom_call(
        block,
        "stablehlo.dynamic_reduce_window",
        [*args, *[dynamic_shapes.row(block, r) for r in rows], padding],
        [*in_avals, *[dynamic_shapes.row_aval(len(r)) for r in rows], pairs],
        out_avals,
        f"called_computations = [@{symbol}]",
    )
