"""Reductions over windows that slide along the axes, and their derivatives: pooling."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from olympus._src.core import avals, trace
from olympus._src.core.array_type import Padding, Shape
from olympus._src.core.primitive import Primitive, takes_primitive
from olympus._src.core.sizes import as_size, maximum
from olympus._src.core.symbolic_values import Zero
from olympus._src.lax import (
    comparison,
    concatenation,
    convolution,
    elementwise,
    families,
    nan_extremes,
    sharding_rules,
    shifting,
    window_lowering,
)
from olympus._src.lax.families import ShapedArray
from olympus._src.lax.kernels import window_reductions
from olympus._src.lowering import dynamic_shapes, types

LISTS = window_lowering.LISTS

# -- shapes ----------------------------------------------------------------------------


def check(name: str, operand: Any, params: Any) -> None:
    """Refuses window parameters that do not fit the operand."""
    for key in LISTS:
        if key in params and len(params[key]) != operand.ndim:
            raise TypeError(
                f"lax.{name}: {key} must have an entry for each of the operand's "
                f"{operand.ndim} axes, got {params[key]} for {operand.short()}"
            )
    for key in LISTS:
        if key != "padding" and any(v < 1 for v in params.get(key, ())):
            raise ValueError(f"lax.{name}: {key} must be positive, got {params[key]}")


def reduce_window_shape_tuple(
    operand_shape: Shape,
    window_dimensions: Shape,
    window_strides: Sequence[int],
    padding: Padding,
    base_dilation: Sequence[int] | None = None,
    window_dilation: Sequence[int] | None = None,
) -> tuple[int, ...]:
    """The shape of a reduction over windows.

    Args:
      operand_shape: sizes of the operand's axes.
      window_dimensions: sizes of the window.
      window_strides: steps of the window.
      padding: (before, after) for each axis.
      base_dilation: distance of the operand's elements; default 1.
      window_dilation: distance of the window's elements; default 1.

    Example:
      >>> lax.reduce_window_shape_tuple((8, 8), (2, 2), (2, 2), [(0, 0), (0, 0)])
      (4, 4)
    """
    ones = (1,) * len(tuple(operand_shape))
    shape = []
    for size, window, step, (low, high), spread, holes in zip(
        operand_shape,
        window_dimensions,
        window_strides,
        padding,
        base_dilation or ones,
        window_dilation or ones,
        strict=True,
    ):
        reach = convolution.dilated_size(window, holes)
        span = convolution.dilated_size(size, spread) + low + high - reach
        shape.append(maximum(span // step + 1, 0))
    return tuple(shape)


def with_axis(params: Any, dim: int) -> dict[str, Any]:
    """Window parameters for an operand with one more axis, which windows do not see."""
    new_params = dict(params)
    for key in LISTS:
        if key in params:
            neutral: Any = (0, 0) if key == "padding" else 1
            new_params[key] = (*params[key][:dim], neutral, *params[key][dim:])
    return new_params


def _patches(x: Any, fill: Any, params: Any) -> Any:
    """For the NumPy meanings: each window's place, positions in `x`, and elements."""
    ones = (1,) * x.ndim
    spread = params.get("base_dilation", ones)
    holes = params.get("window_dilation", ones)
    config = tuple(
        [
            (low, high, s - 1)
            for (low, high), s in zip(params["padding"], spread, strict=True)
        ]
    )
    base = concatenation.pad_host(x, fill, padding_config=config)
    index = np.arange(x.size).reshape(x.shape)
    index = concatenation.pad_host(index, np.int64(-1), padding_config=config)
    out = reduce_window_shape_tuple(
        x.shape,
        params["window_dimensions"],
        params["window_strides"],
        params["padding"],
        spread,
        holes,
    )
    for at in np.ndindex(*out):
        window = [
            slice(i * s, i * s + (k - 1) * h + 1, h)
            for i, s, k, h in zip(
                at,
                params["window_strides"],
                params["window_dimensions"],
                holes,
                strict=True,
            )
        ]
        yield at, index[tuple(window)], base[tuple(window)]


# -- reductions ------------------------------------------------------------------------


def _emit_step(platform: str, block: Any, hlo: str, names: list[str], aval: Any) -> str:
    """The operation that folds one more element, as text."""
    if hlo in nan_extremes.DIRECTIONS and nan_extremes.loses_nan(platform, aval.dtype):
        x, y = names
        return nan_extremes.emit_first(block, hlo, x, y, aval)
    return str(block.elementwise(hlo, names, aval))


def _fold_patches(x: Any, start: Any, params: Any, fold: Callable[..., Any]) -> Any:
    """What NumPy's `fold` makes of the elements of each window."""
    shape = reduce_window_shape_tuple(x.shape, *[params[k] for k in LISTS])
    out = np.empty(shape, x.dtype)
    for at, _, patch in _patches(x, start, params):
        out[at] = fold(patch.reshape(-1), initial=start)
    return out


def _window_reduction(
    name: str,
    hlo: str,
    identity: Callable[[Any], Any],
    accepts: Any,
    fold: Callable[..., Any],
    op: Callable[..., Any],
    **rules: Any,
) -> Primitive:
    def abstract(operand: Any, **params: Any) -> Any:
        families.check_dtype(name, operand, accepts)
        check(name, operand, params)
        shape = reduce_window_shape_tuple(operand.shape, *[params[k] for k in LISTS])
        return ShapedArray(shape, operand.dtype, operand.weak_type)

    def lower(ctx: Any, x: str, **params: Any) -> str:
        (aval,), (out,) = ctx.avals_in, ctx.avals_out
        scalar = ShapedArray((), aval.dtype)
        start = ctx.block.constant(identity(aval.dtype), scalar)
        if not out.size:
            return ctx.block.splat(0, out)
        return window_lowering.emit_fold(
            ctx,
            [x, start],
            [aval, scalar],
            [out],
            params,
            [scalar],
            lambda block, names: [_emit_step(ctx.platform, block, hlo, names, scalar)],
        )[0]

    @takes_primitive
    def rewrite(p: Primitive, platform: str, x: Any, **params: Any) -> Any:
        if hlo in nan_extremes.DIRECTIONS and nan_extremes.widens(platform, x.dtype):
            return lambda operand: _fold_wide(p, operand, params)
        out, _ = p.results((x,), params)
        start = identity(x.dtype)
        return window_reductions.choose_fold(platform, x, out, op, start, params)

    @takes_primitive
    def batch(p: Primitive, axis: Any, args: Any, dims: Any, **params: Any) -> Any:
        (dim,) = dims
        return p.bind(args[0], **with_axis(params, dim)), dim

    def reference(x: Any, **params: Any) -> Any:
        start = np.asarray(identity(x.dtype)).astype(x.dtype)[()]
        return _fold_patches(x, start, params, fold)

    return Primitive(
        name,
        abstract=abstract,
        shard=sharding_rules.same_rank,
        lower=lower,
        rewrite=rewrite,
        batch=batch,
        reference=reference,
        **rules,
    )


def _fold_wide(p: Primitive, x: Any, params: Any) -> Any:
    """An extreme of small floats through float32."""
    out = p.bind(elementwise.convert(x, np.dtype(np.float32)), **params)
    return elementwise.convert(out, avals.aval_of(x).dtype)


def _sum_transpose(cts: Any, x: Any, **params: Any) -> Any:
    """Each element receives the sum of the windows it was in."""
    (ct,) = cts
    if type(ct) is Zero:
        return [Zero(x.aval)]
    aval = avals.aval_of(ct)
    if not aval.size:
        return [Zero(x.aval)]
    config = []
    for size, out, window, step, (low, _), spread, holes in zip(
        x.aval.shape, aval.shape, *[params[k] for k in LISTS], strict=True
    ):
        reach = convolution.dilated_size(window, holes)
        after = (
            convolution.dilated_size(size, spread)
            + low
            - convolution.dilated_size(out, step)
        )
        config.append((reach - low - 1, after, step - 1))
    zero = np.zeros((), aval.dtype)[()]
    ones = (1,) * aval.ndim
    out = reduce_window_sum_p.bind(
        concatenation.pad_p.bind(ct, zero, padding_config=tuple(config)),
        window_dimensions=params["window_dimensions"],
        window_strides=params["base_dilation"],
        padding=((0, 0),) * aval.ndim,
        base_dilation=ones,
        window_dilation=params["window_dilation"],
    )
    return [out]


def _extreme_jvp(select_p: Primitive) -> Callable[..., Any]:
    @takes_primitive
    def jvp(p: Primitive, primals: Any, tangents: Any, **params: Any) -> Any:
        (x,), (t,) = primals, tangents
        out = p.bind(x, **params)
        if type(t) is Zero:
            return out, Zero(avals.aval_of(out).to_tangent())
        return out, select_and_gather_add_p.bind(t, x, select_prim=select_p, **params)

    return jvp


reduce_window_sum_p = _window_reduction(
    "reduce_window_sum",
    "stablehlo.add",
    lambda dtype: 0,
    families.NUMERIC,
    np.sum,
    elementwise.add,
    transpose=_sum_transpose,
    **families.LINEAR,
)
reduce_window_max_p = _window_reduction(
    "reduce_window_max",
    "stablehlo.maximum",
    families.lowest,
    families.ORDERED,
    np.max,
    elementwise.max_,
    jvp=_extreme_jvp(elementwise.ge_p),
    may_make_nan=False,
)
reduce_window_min_p = _window_reduction(
    "reduce_window_min",
    "stablehlo.minimum",
    families.highest,
    families.ORDERED,
    np.min,
    elementwise.min_,
    jvp=_extreme_jvp(elementwise.le_p),
    may_make_nan=False,
)

# -- what goes along with the selected element -----------------------------------------


def _start_of(select_prim: Primitive) -> Callable[[Any], Any]:
    """The value that no element loses against."""
    return families.lowest if select_prim is elementwise.ge_p else families.highest


def _direction(select_prim: Primitive) -> str:
    return "GE" if select_prim is elementwise.ge_p else "LE"


def _gather_abstract(
    tangents: Any, operand: Any, *, select_prim: Any, **params: Any
) -> Any:
    name = "select_and_gather_add"
    if tangents.shape != operand.shape:
        raise TypeError(
            f"lax.{name}: operands must have equal shapes, got {tangents.short()} and "
            f"{operand.short()}"
        )
    families.check_dtype(name, operand, families.ORDERED)
    families.common_dtype(name, (tangents, operand))
    check(name, operand, params)
    shape = reduce_window_shape_tuple(operand.shape, *[params[k] for k in LISTS])
    return ShapedArray(shape, tangents.dtype, tangents.weak_type)


def _gather_lower(
    ctx: Any, tangents: str, operand: str, *, select_prim: Any, **params: Any
) -> str:
    """One reduction of pairs: the selected element takes its tangent along."""
    t_aval, aval = ctx.avals_in
    (out,) = ctx.avals_out
    if not out.size:
        return ctx.block.splat(0, out)
    scalar = ShapedArray((), aval.dtype)
    start = ctx.block.constant(_start_of(select_prim)(aval.dtype), scalar)
    zero = ctx.block.constant(0, scalar)
    kind = comparison.comparison_kind(aval.dtype, False)

    def choose(block: Any, names: list[str]) -> list[str]:
        x, t, y, s = names
        flag = ShapedArray((), np.bool_)
        first = block.compare(_direction(select_prim), x, y, scalar, kind, flag)
        text = f"{types.tensor_type(flag)}, {types.tensor_type(scalar)}"
        return [
            block.emit(f"stablehlo.select {first}, {a}, {b} : {text}")
            for a, b in ((x, y), (t, s))
        ]

    return window_lowering.emit_fold(
        ctx,
        [operand, tangents, start, zero],
        [aval, t_aval, scalar, scalar],
        [ShapedArray(out.shape, aval.dtype), out],
        params,
        [scalar, scalar],
        choose,
    )[1]


def _both_batch(p_name: str) -> Callable[..., Any]:
    def batch(axis: Any, args: Any, dims: Any, **params: Any) -> Any:
        moved = [families.at_front(axis, x, d) for x, d in zip(args, dims, strict=True)]
        return _selections[p_name].bind(*moved, **with_axis(params, 0)), 0

    return batch


def _gather_transpose(
    cts: Any,
    t: Any,
    operand: Any,
    *,
    base_dilation: Any,
    window_dilation: Any,
    **params: Any,
) -> Any:
    (ct,) = cts
    if type(ct) is Zero:
        return [Zero(t.aval), None]
    if any(d != 1 for d in window_dilation):
        raise NotImplementedError(
            "lax.reduce_window: the gradient of a maximum or minimum must be over "
            f"windows without holes, got window_dilation={window_dilation}; use "
            "strided slices"
        )
    if all(d == 1 for d in base_dilation):
        return [select_and_scatter_add_p.bind(ct, operand, **params), None]
    # What no element loses against fills the holes; what they get is left out.
    aval = avals.aval_of(operand)
    start = _start_of(params["select_prim"])(aval.dtype)
    no_padding = [(0, 0)] * aval.ndim
    wide = shifting.pad_interior(operand, start, no_padding, base_dilation)
    spread = select_and_scatter_add_p.bind(ct, wide, **params)
    starts = [0] * aval.ndim
    out = concatenation.slice_(spread, starts, avals.aval_of(wide).shape, base_dilation)
    return [out, None]


def _gather_reference(t: Any, x: Any, *, select_prim: Any, **params: Any) -> Any:
    shape = reduce_window_shape_tuple(x.shape, *[params[k] for k in LISTS])
    out = np.zeros(shape, t.dtype)
    pick = np.argmax if select_prim is elementwise.ge_p else np.argmin
    fill = _start_of(select_prim)(x.dtype)
    for at, index, patch in _patches(x, fill, params):
        source = index.reshape(-1)[pick(patch)]
        out[at] = t.reshape(-1)[source] if source >= 0 else 0
    return out


select_and_gather_add_p = Primitive(
    "select_and_gather_add",
    shard=sharding_rules.same_rank,
    abstract=_gather_abstract,
    lower=_gather_lower,
    transpose=_gather_transpose,
    batch=_both_batch("gather"),
    reference=_gather_reference,
    **families.LINEAR,
)


def _scatter_abstract(source: Any, operand: Any, **params: Any) -> Any:
    name = "select_and_scatter_add"
    families.check_dtype(name, operand, families.ORDERED)
    families.common_dtype(name, (source, operand))
    check(name, operand, params)
    shape = reduce_window_shape_tuple(
        operand.shape,
        params["window_dimensions"],
        params["window_strides"],
        params["padding"],
    )
    if source.shape != shape:
        raise TypeError(
            f"lax.{name}: the source must have a value for each window, shape {shape}, "
            f"got {source.short()}"
        )
    return ShapedArray(operand.shape, source.dtype)


def _scatter_lower(
    ctx: Any, source: str, operand: str, *, select_prim: Any, **params: Any
) -> str:
    s_aval, aval = ctx.avals_in
    (out,) = ctx.avals_out
    if dynamic_shapes.any_symbolic([p for pair in params["padding"] for p in pair]):
        return _scatter_padded(ctx, source, operand, select_prim, params)
    if not s_aval.size:
        return ctx.block.splat(0, out)
    return _emit_scatter(ctx, source, operand, aval, select_prim, params)


def _scatter_padded(
    ctx: Any, source: str, operand: str, select_prim: Any, params: Any
) -> str:
    """Pads before and cuts after: the operation itself takes known padding only."""
    _, aval = ctx.avals_in
    scalar = ShapedArray((), aval.dtype)
    lows, highs = zip(*params["padding"], strict=True)
    parts = zip(lows, aval.shape, highs, strict=True)
    wide = ShapedArray(tuple([a + d + b for a, d, b in parts]), aval.dtype)
    start = ctx.block.constant(_start_of(select_prim)(aval.dtype), scalar)
    zeros = [0] * aval.ndim
    operand = ctx.block.pad([operand, start], [aval, scalar], wide, lows, highs, zeros)
    params = {**params, "padding": [(0, 0)] * aval.ndim}
    padded_out = _emit_scatter(ctx, source, operand, wide, select_prim, params)
    ends = [a + d for a, d in zip(lows, aval.shape, strict=True)]
    return str(ctx.block.slice(padded_out, wide, aval, lows, ends))


def _emit_scatter(
    ctx: Any, source: str, operand: str, aval: Any, select_prim: Any, params: Any
) -> str:
    s_aval = ctx.avals_in[0]
    scalar, flag = ShapedArray((), aval.dtype), ShapedArray((), np.bool_)
    zero = ctx.block.constant(0, scalar)
    pair = [scalar, scalar]
    choice = ctx.block.inner()
    names = choice.arguments(pair)
    kind = comparison.comparison_kind(aval.dtype, False)
    first = choice.compare(_direction(select_prim), *names, scalar, kind, flag)
    select = choice.region(names, pair, [first], [flag])
    adding = ctx.block.inner()
    names = adding.arguments(pair)
    total = adding.elementwise("stablehlo.add", names, scalar)
    add = adding.region(names, pair, [total], [scalar])
    axes = window_lowering.windowed_axes(params)
    operand, source = window_lowering.keep_axes_whole(
        ctx, (operand, source), (aval, s_aval), axes
    )
    result = ctx.block.op1(
        "stablehlo.select_and_scatter",
        [operand, source, zero],
        [aval, s_aval, scalar],
        aval,
        window_lowering.attributes(params),
        [select, add],
    )
    return window_lowering.keep_axes_whole(ctx, (result,), (aval,), axes)[0]


def _scatter_rewrite(
    platform: str, source: Any, operand: Any, *, select_prim: Any, **params: Any
) -> Any:
    return window_reductions.choose_scatter(
        platform, source, operand, select_prim.bind, params
    )


def _scatter_transpose(cts: Any, source: Any, operand: Any, **params: Any) -> Any:
    (ct,) = cts
    if type(ct) is Zero:
        return [Zero(source.aval), None]
    ones = (1,) * avals.aval_of(ct).ndim
    out = select_and_gather_add_p.bind(
        ct, operand, base_dilation=ones, window_dilation=ones, **params
    )
    return [out, None]


def _scatter_reference(source: Any, x: Any, *, select_prim: Any, **params: Any) -> Any:
    out = np.zeros(x.size, source.dtype)
    pick = np.argmax if select_prim is elementwise.ge_p else np.argmin
    fill = _start_of(select_prim)(x.dtype)
    for at, index, patch in _patches(x, fill, params):
        target = index.reshape(-1)[pick(patch)]
        if target >= 0:
            out[target] += source[at]
    return out.reshape(x.shape)


select_and_scatter_add_p = Primitive(
    "select_and_scatter_add",
    shard=sharding_rules.second_operand,
    abstract=_scatter_abstract,
    lower=_scatter_lower,
    rewrite=_scatter_rewrite,
    transpose=_scatter_transpose,
    batch=_both_batch("scatter"),
    reference=_scatter_reference,
    **families.LINEAR,
)
_selections = {"gather": select_and_gather_add_p, "scatter": select_and_scatter_add_p}

# -- for the functions -----------------------------------------------------------------

_KNOWN = {
    elementwise.add: (reduce_window_sum_p, lambda dtype: 0),
    elementwise.max_: (reduce_window_max_p, families.lowest),
    elementwise.min_: (reduce_window_min_p, families.highest),
}


def known_reduction(computation: Any, start: Any, dtype: Any) -> Primitive | None:
    """The primitive that folds windows with an operation of `lax` from its identity."""
    try:
        entry = _KNOWN.get(computation)
    except TypeError:  # a computation that has no hash
        return None
    if entry is None or isinstance(start, trace.Tracer):
        return None
    p, identity = entry
    value = np.asarray(start)
    if value.shape or value != np.asarray(identity(dtype)).astype(dtype):
        return None
    return p


def parameters(
    shape: Any,
    window_dimensions: Any,
    window_strides: Any,
    padding: Any,
    base_dilation: Any,
    window_dilation: Any,
) -> dict[str, Any]:
    """The parameters of a reduction over windows, from what users give."""
    ones = (1,) * len(shape)
    window = _ints(window_dimensions)
    steps = ones if window_strides is None else _ints(window_strides)
    spread = ones if base_dilation is None else _ints(base_dilation)
    holes = ones if window_dilation is None else _ints(window_dilation)
    if isinstance(padding, str):
        window_params = {"window_dimensions": window, "window_strides": steps}
        window_params["window_dilation"] = holes
        check("reduce_window", ShapedArray(shape, np.float32), window_params)
        reach = [
            convolution.dilated_size(k, h) for k, h in zip(window, holes, strict=True)
        ]
        padding = convolution.padtype_to_pads(shape, reach, steps, padding)
    return {
        "window_dimensions": window,
        "window_strides": steps,
        "padding": tuple([_ints(pair) for pair in padding]),
        "base_dilation": spread,
        "window_dilation": holes,
    }


def _ints(values: Any) -> tuple[int, ...]:
    return tuple([as_size(v) for v in values])
