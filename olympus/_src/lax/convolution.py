"""Convolutions of any layout, stride, padding, dilation and grouping."""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from olympus._src.core import avals, dtypes
from olympus._src.core.array_type import (
    Array,
    ArrayLike,
    DTypeLike,
    Padding,
    Placement,
    Shape,
)
from olympus._src.core.primitive import Primitive
from olympus._src.core.sizes import as_size, at_least, maximum
from olympus._src.core.symbolic_values import Linear, Zero
from olympus._src.lax import (
    axis_groups,
    convolution_reference,
    elementwise,
    families,
    shaping,
    sharding_constraints,
    sharding_rules,
    small_integers,
)
from olympus._src.lax import precision as precision_
from olympus._src.lax.convolution_layouts import check_groups
from olympus._src.lax.families import ShapedArray
from olympus._src.lax.kernels import cropped_convolution, grouped_convolution
from olympus._src.lowering import dynamic_shapes, partitioning, types

_NAME = "lax.conv_general_dilated"

# -- layouts ---------------------------------------------------------------------------


class ConvDimensionNumbers(NamedTuple):
    """Which axis of each array is which.

    Attributes:
      lhs_spec: axes of the input: batch, features, then spatial ones.
      rhs_spec: axes of the kernel: output features, input features, then spatial ones.
      out_spec: axes of the result: batch, features, then spatial ones.

    Source: `stablehlo.convolution`.
    """

    lhs_spec: tuple[int, ...]
    rhs_spec: tuple[int, ...]
    out_spec: tuple[int, ...]


ConvGeneralDilatedDimensionNumbers = ConvDimensionNumbers | tuple[str, str, str] | None


def conv_general_permutations(dimension_numbers: Sequence[str]) -> tuple[Any, ...]:
    """For layouts such as ('NHWC', 'HWIO', 'NHWC'), the axes in the order of the specs.

    Spatial axes of all three come in the order of the kernel's letters.

    Raises:
      ValueError: a layout lacks a letter, repeats one, or has others than the kernel's.

    Example:
      >>> lax.conv_general_permutations(("NHWC", "HWIO", "NHWC"))
      ((0, 3, 1, 2), (3, 2, 0, 1), (0, 3, 1, 2))
    """
    pairs = ("NC", "OI", "NC")
    layouts = tuple(dimension_numbers)
    kernel = [c for c in layouts[1] if c not in pairs[1]]
    permutations = []
    for layout, pair, name in zip(layouts, pairs, ("lhs", "rhs", "out"), strict=True):
        spatial = [c for c in layout if c not in pair]
        if any(layout.count(c) != 1 for c in pair) or len(set(layout)) != len(layout):
            raise ValueError(
                f"{_NAME}: the layout of {name} must have each of {pair[0]} and "
                f"{pair[1]} once and distinct letters, got {layout!r}"
            )
        if sorted(spatial) != sorted(kernel):
            raise ValueError(
                f"{_NAME}: layouts must have the same spatial letters, got {layouts}"
            )
        permutations.append(tuple([layout.index(c) for c in (*pair, *kernel)]))
    return tuple(permutations)


def conv_dimension_numbers(
    lhs_shape: Shape,
    rhs_shape: Shape,
    dimension_numbers: ConvGeneralDilatedDimensionNumbers,
) -> ConvDimensionNumbers:
    """Any way to give the layouts as a `ConvDimensionNumbers`.

    Args:
      lhs_shape: shape of the input.
      rhs_shape: shape of the kernel.
      dimension_numbers: None for batch and features first ('NCHW', 'OIHW', 'NCHW'), a
        triple of layouts as strings, or a `ConvDimensionNumbers`.

    Raises:
      TypeError: numbers of axes differ.
      ValueError: a layout is invalid.

    Example:
      >>> lax.conv_dimension_numbers(
      ...     (1, 8, 8, 3), (3, 3, 3, 16), ("NHWC", "HWIO", "NHWC")
      ... ).lhs_spec
      (0, 3, 1, 2)
    """
    if isinstance(dimension_numbers, ConvDimensionNumbers):
        return dimension_numbers
    rank = len(lhs_shape)
    if len(rhs_shape) != rank:
        raise TypeError(
            f"{_NAME}: input and kernel must have equal ranks, got {rank} and "
            f"{len(rhs_shape)}"
        )
    if dimension_numbers is None:
        order = tuple(range(rank))
        return ConvDimensionNumbers(order, order, order)
    triple = tuple(dimension_numbers)
    if len(triple) != 3 or not all(isinstance(s, str) for s in triple):
        raise TypeError(
            f"{_NAME}: dimension_numbers must be None, three strings or a "
            f"ConvDimensionNumbers, got {dimension_numbers!r}"
        )
    if any(len(s) != rank for s in triple):
        raise ValueError(
            f"{_NAME}: layouts must have a letter for each of {rank} axes, got {triple}"
        )
    return ConvDimensionNumbers(*conv_general_permutations(triple))


# -- sizes -----------------------------------------------------------------------------


def dilated_size(size: int, by: int) -> int:
    """The size of an axis with `by - 1` holes between its elements."""
    return size if size == 0 else (size - 1) * by + 1


def padtype_to_pads(
    in_shape: Shape,
    window_shape: Shape,
    window_strides: Shape,
    padding: Padding,
) -> list[tuple[int, int]]:
    """A padding's name as the numbers of elements before and after each axis.

    Args:
      in_shape: sizes of the axes.
      window_shape: sizes of the window along them.
      window_strides: steps of the window along them.
      padding: 'SAME' (the odd element goes after), 'SAME_LOWER' (before), 'VALID'.

    Raises:
      ValueError: there is no such padding.

    Example:
      >>> lax.padtype_to_pads((8, 8), (3, 3), (2, 2), "SAME")
      [(0, 1), (0, 1)]
    """
    kind = padding.upper() if isinstance(padding, str) else padding
    if kind == "VALID":
        return [(0, 0)] * len(tuple(in_shape))
    if kind not in ("SAME", "SAME_LOWER"):
        raise ValueError(
            "padding must be 'SAME', 'SAME_LOWER', 'VALID' or pairs of numbers, got "
            f"{padding!r}"
        )
    if len(window_strides) != len(window_shape):
        raise ValueError(
            f"window_strides must have an entry for each of the {len(window_shape)} "
            f"spatial axes, got {tuple(window_strides)}"
        )
    if any(step < 1 for step in window_strides):
        raise ValueError(
            f"window_strides must be 1 or more, got {tuple(window_strides)}"
        )
    pads = []
    for size, window, step in zip(in_shape, window_shape, window_strides, strict=True):
        out = (size + step - 1) // step
        total = maximum((out - 1) * step + window - size, 0)
        less, more = total // 2, total - total // 2
        pads.append((less, more) if kind == "SAME" else (more, less))
    return pads


def _out_size(
    size: int, window: int, step: int, pads: Any, dilation: int, window_dilation: int
) -> int:
    padded = dilated_size(size, dilation) + pads[0] + pads[1]
    reach = dilated_size(window, window_dilation)
    if not at_least(padded, 0) and padded < 0:
        return 0
    return maximum((padded - reach) // step + 1, 0)


def conv_shape_tuple(
    lhs_shape: Shape,
    rhs_shape: Shape,
    strides: Sequence[int],
    pads: str | Sequence[tuple[int, int]],
    batch_group_count: int = 1,
) -> tuple[int, ...]:
    """The shape of a convolution of axes in the order batch, features, spatial.

    Args:
      lhs_shape: [batch, features, *spatial].
      rhs_shape: [output features, input features, *spatial].
      strides: steps along the spatial axes.
      pads: a padding's name, or pairs of numbers.
      batch_group_count: how many groups the batch is divided in.

    Example:
      >>> lax.conv_shape_tuple((1, 3, 8, 8), (16, 3, 3, 3), (1, 1), [(0, 0), (0, 0)])
      (1, 16, 6, 6)
    """
    if isinstance(pads, str):
        pads = padtype_to_pads(lhs_shape[2:], rhs_shape[2:], strides, pads)
    spatial = [
        _out_size(n, k, s, p, 1, 1)
        for n, k, s, p in zip(lhs_shape[2:], rhs_shape[2:], strides, pads, strict=True)
    ]
    return (lhs_shape[0] // batch_group_count, rhs_shape[0], *spatial)


def conv_general_shape_tuple(
    lhs_shape: Shape,
    rhs_shape: Shape,
    window_strides: Shape,
    padding: Padding,
    dimension_numbers: ConvGeneralDilatedDimensionNumbers,
) -> tuple[int, ...]:
    """The shape of a convolution of arrays in any layout.

    Args:
      lhs_shape: shape of the input.
      rhs_shape: shape of the kernel.
      window_strides: steps along the spatial axes.
      padding: a padding's name, or pairs of numbers.
      dimension_numbers: see `conv_dimension_numbers`.

    Example:
      >>> lax.conv_general_shape_tuple(
      ...     (1, 8, 8, 3), (3, 3, 3, 16), (2, 2), "SAME", ("NHWC", "HWIO", "NHWC")
      ... )
      (1, 4, 4, 16)
    """
    dn = conv_dimension_numbers(lhs_shape, rhs_shape, dimension_numbers)
    plain = conv_shape_tuple(
        [lhs_shape[d] for d in dn.lhs_spec],
        [rhs_shape[d] for d in dn.rhs_spec],
        window_strides,
        padding,
    )
    return order_by_spec(plain, dn.out_spec)


def order_by_spec(values: Sequence[int], spec: Sequence[int]) -> tuple[int, ...]:
    """Sizes listed in a spec's order, at the axes it names."""
    out = [0] * len(spec)
    for d, value in zip(spec, values, strict=True):
        out[d] = value
    return tuple(out)


# -- types -----------------------------------------------------------------------------


_LISTS = ("window_strides", "padding", "lhs_dilation", "rhs_dilation")


def _abstract(lhs: Any, rhs: Any, **params: Any) -> Any:
    dn = params["dimension_numbers"]
    groups, batches = params["feature_group_count"], params["batch_group_count"]
    families.check_dtype("conv_general_dilated", lhs, families.NUMERIC)
    small_integers.refuse_two_bits("conv_general_dilated", (lhs, rhs))
    dtype = families.common_dtype("conv_general_dilated", (lhs, rhs))
    if lhs.ndim != rhs.ndim or lhs.ndim < 2:
        raise TypeError(
            f"{_NAME}: input and kernel must have equal ranks, two or more, got "
            f"{lhs.short()} and {rhs.short()}"
        )
    _check_window(params, spatial=lhs.ndim - 2)
    check_groups(lhs, rhs, dn, groups, batches)
    n, _, *sizes = [lhs.shape[d] for d in dn.lhs_spec]
    out_features, _, *window = [rhs.shape[d] for d in dn.rhs_spec]
    out = [
        _out_size(*line)
        for line in zip(sizes, window, *[params[k] for k in _LISTS], strict=True)
    ]
    shape = order_by_spec((n // batches, out_features, *out), dn.out_spec)
    preferred = params["preferred_element_type"]
    weak = lhs.weak_type and rhs.weak_type
    return ShapedArray(shape, dtype if preferred is None else preferred, weak)


def _check_window(params: dict[str, Any], spatial: int) -> None:
    """Raises unless the lists that describe the window fit the spatial axes."""
    for name in _LISTS:
        if len(params[name]) != spatial:
            raise TypeError(
                f"{_NAME}: {name} must have an entry for each of {spatial} spatial "
                f"axes, got {params[name]}"
            )
    if any(len(pair) != 2 for pair in params["padding"]):
        raise TypeError(
            f"{_NAME}: padding must consist of pairs, got {params['padding']}"
        )
    for name in ("window_strides", "lhs_dilation", "rhs_dilation"):
        if any(v < 1 for v in params[name]):
            raise ValueError(f"{_NAME}: {name} must be positive, got {params[name]}")


# -- lowering --------------------------------------------------------------------------


def _letters(spec: Sequence[int], pair: str) -> str:
    names = [*pair, *map(str, range(len(spec) - 2))]
    return f"[{', '.join([names[spec.index(d)] for d in range(len(spec))])}]"


def _attributes(params: Any) -> str:
    dn, pads = params["dimension_numbers"], params["padding"]
    layout = (
        f"{_letters(dn.lhs_spec, 'bf')}x{_letters(dn.rhs_spec, 'oi')}->"
        f"{_letters(dn.out_spec, 'bf')}"
    )
    padding = ""
    if not _is_padded_by_name(pads):
        rows = [list(p) for p in pads]
        dense = f"dense<{rows}>" if rows else "dense<>"
        padding = f"padding = {dense} : tensor<{len(rows)}x2xi64>, "
    text = (
        f"dimension_numbers = #stablehlo.conv<{layout}>, "
        f"window_strides = {types.i64_array(params['window_strides'])}, "
        f"{padding}"
        f"lhs_dilation = {types.i64_array(params['lhs_dilation'])}, "
        f"rhs_dilation = {types.i64_array(params['rhs_dilation'])}, "
        f"feature_group_count = {params['feature_group_count']} : i64, "
        f"batch_group_count = {params['batch_group_count']} : i64"
    )
    text += precision_.convolution_text(params["precision"])
    return text


def _lower(ctx: Any, lhs: str, rhs: str, **params: Any) -> str:
    (a, b), (out,) = ctx.avals_in, ctx.avals_out
    if not (a.size and b.size and out.size):
        return ctx.block.splat(0, out)
    if dtypes.issubdtype(a.dtype, np.complexfloating):
        return _emit_complex(ctx, lhs, rhs, params)
    if ctx.platform == "cpu" and a.dtype != out.dtype:
        wide_a, wide_b = (ShapedArray(v.shape, out.dtype) for v in (a, b))
        lhs = ctx.block.convert(lhs, a, wide_a)
        rhs = ctx.block.convert(rhs, b, wide_b)
        a, b = wide_a, wide_b
    return _emit(ctx, (lhs, rhs), (a, b), out, params)


def _whole_axes(params: dict[str, Any]) -> list[tuple[int, ...]]:
    """The axes of the operands and of the result that must not be divided.

    XLA's sums are wrong where an operand is divided along a spatial axis and the other
    along another one, or where features are divided into more parts than groups; and
    it ends the process for some divisions of groups of the batch (jaxlib 0.10.2 to
    0.12.0).
    """
    lhs, rhs, out = map(tuple, params["dimension_numbers"])
    if params["batch_group_count"] > 1:
        return [lhs, rhs, out]
    if params["feature_group_count"] > 1:
        return [lhs[1:], rhs, out[1:]]
    return [lhs[2:], rhs[2:], out[2:]]


def _is_padded_by_name(padding: Any) -> bool:
    """Whether the padding has sizes that are known by name only."""
    return dynamic_shapes.any_symbolic([p for pair in padding for p in pair])


def _emit(
    ctx: Any, operands: Sequence[str], in_avals: Any, out: Any, params: Any
) -> str:
    """Writes one convolution, which XLA may divide in the ways that it does rightly."""
    whole = _whole_axes(params)
    operands = [
        partitioning.keep_whole(ctx, *row)
        for row in zip(operands, in_avals, whole[:2], strict=True)
    ]
    attributes, block, op = _attributes(params), ctx.block, "stablehlo.convolution"
    if _is_padded_by_name(params["padding"]):
        name, kind = dynamic_shapes.pairs(block, params["padding"])
        operands, in_avals = [*operands, name], [*in_avals, kind]
        op = "stablehlo.dynamic_conv"
    result = block.op1(op, operands, in_avals, out, attributes)
    return partitioning.keep_whole(ctx, result, out, whole[2])


def _emit_complex(ctx: Any, lhs: str, rhs: str, params: Any) -> str:
    """Four convolutions of real and imaginary parts: backends lack the complex one."""
    block, t = ctx.block, types.tensor_type
    a, b, out = [
        ShapedArray(v.shape, dtypes.real_dtype(v.dtype))
        for v in (*ctx.avals_in, *ctx.avals_out)
    ]

    def part(op: str, x: str, whole: Any, aval: Any) -> str:
        return block.emit(f"stablehlo.{op} {x} : ({t(whole)}) -> {t(aval)}")

    left = [part(op, lhs, ctx.avals_in[0], a) for op in ("real", "imag")]
    right = [part(op, rhs, ctx.avals_in[1], b) for op in ("real", "imag")]
    products = [_emit(ctx, (x, y), (a, b), out, params) for x in left for y in right]
    rr, ri, ir, ii = products
    re = block.elementwise("stablehlo.subtract", (rr, ii), out)
    im = block.elementwise("stablehlo.add", (ri, ir), out)
    return block.emit(
        f"stablehlo.complex {re}, {im} : ({t(out)}, {t(out)}) -> {t(ctx.avals_out[0])}"
    )


# -- derivatives -----------------------------------------------------------------------


def _jvp(primals: Any, tangents: Any, **params: Any) -> Any:
    lhs, rhs = primals
    tl, tr = tangents
    p = conv_general_dilated_p
    out = p.bind(lhs, rhs, **params)
    total: Any = Zero(avals.aval_of(out).to_tangent())
    if type(tl) is not Zero:
        total = families.add_tangents(total, p.bind(tl, rhs, **params))
    if type(tr) is not Zero:
        total = families.add_tangents(total, p.bind(lhs, tr, **params))
    return out, total


def _swap_first_two(spec: Sequence[int]) -> tuple[int, ...]:
    return (spec[1], spec[0], *spec[2:])


def _dilated_sizes(aval: Any, spec: Sequence[int], by: Sequence[int]) -> list[int]:
    return [dilated_size(aval.shape[d], n) for d, n in zip(spec[2:], by, strict=True)]


def _reaches(lhs: Any, rhs: Any, ct: Any, params: Any) -> Any:
    """For each spatial axis the dilated input, kernel, result, and the low padding."""
    dn = params["dimension_numbers"]
    return zip(
        _dilated_sizes(lhs, dn.lhs_spec, params["lhs_dilation"]),
        _dilated_sizes(rhs, dn.rhs_spec, params["rhs_dilation"]),
        _dilated_sizes(ct, dn.out_spec, params["window_strides"]),
        [low for low, _ in params["padding"]],
        strict=True,
    )


def _transpose_lhs(ct: Any, lhs: Any, rhs: Any, params: Any) -> Any:
    """The result convolved with the reversed kernel, features in and out exchanged."""
    dn = params["dimension_numbers"]
    groups = params["feature_group_count"] * params["batch_group_count"]
    sizes = _reaches(lhs, avals.aval_of(rhs), avals.aval_of(ct), params)
    padding = tuple([(k - low - 1, n + low - out) for n, k, out, low in sizes])
    kernel = axis_groups.regroup(rhs, dn.rhs_spec[0], dn.rhs_spec[1], groups)
    out = conv_general_dilated_p.bind(
        ct,
        shaping.rev(kernel, dn.rhs_spec[2:]),
        window_strides=params["lhs_dilation"],
        padding=padding,
        lhs_dilation=params["window_strides"],
        rhs_dilation=params["rhs_dilation"],
        dimension_numbers=ConvDimensionNumbers(
            dn.out_spec, _swap_first_two(dn.rhs_spec), dn.lhs_spec
        ),
        feature_group_count=groups,
        batch_group_count=1,
        precision=params["precision"],
        preferred_element_type=params["preferred_element_type"],
        out_sharding=None,
    )
    out = axis_groups.regroup(
        out, dn.lhs_spec[1], dn.lhs_spec[0], params["batch_group_count"]
    )
    return elementwise.convert(out, lhs.dtype)


def _transpose_rhs(ct: Any, lhs: Any, rhs: Any, params: Any) -> Any:
    """The input convolved with the result, whose batches are summed over."""
    dn = params["dimension_numbers"]
    sizes = _reaches(avals.aval_of(lhs), rhs, avals.aval_of(ct), params)
    padding = tuple([(low, k - 1 + out - n - low) for n, k, out, low in sizes])
    out = conv_general_dilated_p.bind(
        lhs,
        ct,
        window_strides=params["rhs_dilation"],
        padding=padding,
        lhs_dilation=params["lhs_dilation"],
        rhs_dilation=params["window_strides"],
        dimension_numbers=ConvDimensionNumbers(
            _swap_first_two(dn.lhs_spec),
            _swap_first_two(dn.out_spec),
            _swap_first_two(dn.rhs_spec),
        ),
        # Groups of features become groups of the batch that is summed, and vice versa.
        feature_group_count=params["batch_group_count"],
        batch_group_count=params["feature_group_count"],
        precision=params["precision"],
        preferred_element_type=params["preferred_element_type"],
        out_sharding=None,
    )
    return elementwise.convert(out, rhs.dtype)


def _transpose(cts: Any, lhs: Any, rhs: Any, **params: Any) -> Any:
    (ct,) = cts
    unknown = lhs if type(lhs) is Linear else rhs
    if type(ct) is Zero:
        operand_ct: Any = Zero(unknown.aval)
    elif unknown is lhs:
        operand_ct = _transpose_lhs(ct, lhs.aval, rhs, params)
    else:
        operand_ct = _transpose_rhs(ct, lhs, rhs.aval, params)
    return [operand_ct, None] if unknown is lhs else [None, operand_ct]


# -- batching --------------------------------------------------------------------------


def _batch(axis: Any, args: Any, dims: Any, **params: Any) -> Any:
    lhs, rhs = args
    dl, dr = dims
    if axis.size == 0:  # as many groups, of which there must be one
        return _batch_of_none(args, dims, params), 0
    if dl is not None and dr is not None:
        return _batch_both(axis, lhs, rhs, dl, dr, params)
    if dl is not None:
        return _batch_lhs(axis, lhs, rhs, dl, params)
    return _batch_rhs(axis, lhs, rhs, dr, params)


def _batch_of_none(args: Any, dims: Any, params: Any) -> Any:
    one = []
    for x, d in zip(args, dims, strict=True):
        aval = avals.aval_of(x)
        shape = aval.shape if d is None else (*aval.shape[:d], *aval.shape[d + 1 :])
        one.append(aval.update(shape=shape))
    out, _ = conv_general_dilated_p.results(tuple(one), params)
    return shaping.full((0, *out.shape), 0, out.dtype)


def _batch_both(axis: Any, lhs: Any, rhs: Any, dl: int, dr: int, params: Any) -> Any:
    """Each example is a group of its own."""
    dn = params["dimension_numbers"]
    by_batch = params["batch_group_count"] > 1
    kind = "batch_group_count" if by_batch else "feature_group_count"
    lhs = axis_groups.merge(lhs, dl, dn.lhs_spec[0 if by_batch else 1])
    rhs = axis_groups.merge(rhs, dr, dn.rhs_spec[0])
    grouped = {**params, kind: params[kind] * axis.size}
    out = conv_general_dilated_p.bind(lhs, rhs, **grouped)
    return axis_groups.split(out, dn.out_spec[1], axis.size), dn.out_spec[1]


def _batch_lhs(axis: Any, lhs: Any, rhs: Any, dim: int, params: Any) -> Any:
    """The mapped axis joins the batch, inside each group of it."""
    dn, groups = params["dimension_numbers"], params["batch_group_count"]
    lhs = _merge_inside(lhs, dim, dn.lhs_spec[0], groups)
    out = conv_general_dilated_p.bind(lhs, rhs, **params)
    return axis_groups.split(out, dn.out_spec[0], axis.size), dn.out_spec[0]


def _batch_rhs(axis: Any, lhs: Any, rhs: Any, dim: int, params: Any) -> Any:
    """The mapped axis joins the output features, inside each group of them."""
    dn = params["dimension_numbers"]
    groups = params["feature_group_count"] * params["batch_group_count"]
    rhs = _merge_inside(rhs, dim, dn.rhs_spec[0], groups)
    out = conv_general_dilated_p.bind(lhs, rhs, **params)
    features = dn.out_spec[1]
    if groups == 1:
        return axis_groups.split(out, features, axis.size), features
    out = axis_groups.split(
        axis_groups.split(out, features, groups), features + 1, axis.size
    )
    return axis_groups.merge(out, features, features + 1), features


def _merge_inside(x: Any, dim: int, into: int, groups: int) -> Any:
    """`x` with its mapped axis made a part of the axis `into`, within each group."""
    if groups == 1:
        return axis_groups.merge(x, dim, into)
    x = families.move_axis(x, dim, 0)
    x = axis_groups.split(x, into + 1, groups)
    x = families.move_axis(x, 0, into + 1)
    shape = avals.aval_of(x).shape
    merged_size = math.prod(shape[into : into + 3])
    return shaping.reshape(x, (*shape[:into], merged_size, *shape[into + 3 :]))


# -- the record ------------------------------------------------------------------------


def _rewrite(platform: str, lhs: Any, rhs: Any, **params: Any) -> Any:
    (out, _) = conv_general_dilated_p.results((lhs, rhs), params)
    convolve = conv_general_dilated_p.bind
    replacement = grouped_convolution.choose(convolve, platform, lhs, rhs, out, params)
    if replacement is not None or platform != "cpu":
        return replacement
    if _is_padded_by_name(params["padding"]):
        return None
    return cropped_convolution.choose(convolve, lhs, out, params)


conv_general_dilated_p = Primitive(
    "conv_general_dilated",
    shard=sharding_rules.convolution,
    abstract=_abstract,
    lower=_lower,
    rewrite=_rewrite,
    jvp=_jvp,
    transpose=_transpose,
    batch=_batch,
    reference=convolution_reference.convolve,
    needs_full_build=True,
    taylor=families.bilinear_series,
)


# -- functions -------------------------------------------------------------------------


def conv_general_dilated(
    lhs: ArrayLike,
    rhs: ArrayLike,
    window_strides: Shape,
    padding: Padding,
    lhs_dilation: Sequence[int] | None = None,
    rhs_dilation: Sequence[int] | None = None,
    dimension_numbers: ConvGeneralDilatedDimensionNumbers = None,
    feature_group_count: int = 1,
    batch_group_count: int = 1,
    precision: precision_.PrecisionLike = None,
    preferred_element_type: DTypeLike | None = None,
    out_sharding: Placement = None,
) -> Array:
    """A convolution (without reversing the kernel), with any stride and dilation.

    Args:
      lhs: input, with axes for batch, features and space.
      rhs: kernel, with axes for output features, input features and space.
      window_strides: step of the window along each spatial axis.
      padding: 'SAME', 'SAME_LOWER', 'VALID', or (before, after) for each spatial axis.
      lhs_dilation: holes in the input, as the distance of its elements; default 1.
      rhs_dilation: holes in the kernel, likewise.
      dimension_numbers: the layouts; see `conv_dimension_numbers`.
      feature_group_count: groups of features that are convolved separately.
      batch_group_count: groups of the batch, each for its own output features.
      precision: None, a `Precision`, its name, a pair of them, or a `DotAlgorithm`.
      preferred_element_type: dtype of the sums and the result; default the operands'.
      out_sharding: where the result lives.

    Returns:
      An array in the layout of the third of `dimension_numbers`.

    Raises:
      TypeError: numbers of axes, or dtypes, do not agree.
      ValueError: sizes do not agree with the groups.

    Source: `stablehlo.convolution`.

    Example:
      >>> lax.conv_general_dilated(
      ...     jnp.arange(5.0).reshape(1, 1, 5), jnp.ones((1, 1, 2)), (2,), [(0, 1)]
      ... )
      Array([[[1., 5., 4.]]], dtype=float32)
    """
    lhs_aval, rhs_aval = avals.aval_of(lhs), avals.aval_of(rhs)
    dn = conv_dimension_numbers(lhs_aval.shape, rhs_aval.shape, dimension_numbers)
    spatial = len(dn.lhs_spec) - 2
    ones = (1,) * spatial
    lhs_dilation = ones if lhs_dilation is None else _ints(lhs_dilation)
    rhs_dilation = ones if rhs_dilation is None else _ints(rhs_dilation)
    steps = _ints(window_strides)
    if isinstance(padding, str):
        if any(d != 1 for d in lhs_dilation):
            raise ValueError(
                f"{_NAME}: padding {padding!r} is undefined for a dilated input; "
                "give pairs of numbers, or use lax.conv_transpose"
            )
        sizes = [lhs_aval.shape[d] for d in dn.lhs_spec[2:]]
        window = _dilated_sizes(rhs_aval, dn.rhs_spec, rhs_dilation)
        padding = padtype_to_pads(sizes, window, steps, padding)
    preferred = None
    if preferred_element_type is not None:
        preferred = dtypes.canonicalize_dtype(dtypes.as_dtype(preferred_element_type))
    convolve = functools.partial(
        conv_general_dilated_p.bind,
        window_strides=steps,
        padding=tuple([_ints(pair) for pair in padding]),
        lhs_dilation=lhs_dilation,
        rhs_dilation=rhs_dilation,
        dimension_numbers=dn,
        feature_group_count=int(feature_group_count),
        batch_group_count=int(batch_group_count),
        precision=precision_.canonical_precision(precision),
        preferred_element_type=preferred,
        out_sharding=None,
    )
    if out_sharding is None:
        return convolve(lhs, rhs)
    return sharding_constraints.divide_result(convolve, out_sharding, _NAME, lhs, rhs)


def _ints(values: Any) -> tuple[int, ...]:
    return tuple([as_size(v) for v in values])


def conv(
    lhs: ArrayLike,
    rhs: ArrayLike,
    window_strides: Shape,
    padding: str,
    precision: precision_.PrecisionLike = None,
    preferred_element_type: DTypeLike | None = None,
) -> Array:
    """A convolution of axes in the order batch, features, spatial.

    Args:
      lhs: input [batch, features, *spatial].
      rhs: kernel [output features, input features, *spatial].
      window_strides: step of the window along each spatial axis.
      padding: 'SAME', 'SAME_LOWER' or 'VALID'.
      precision: None, a `Precision`, its name, a pair of them, or a `DotAlgorithm`.
      preferred_element_type: dtype of the sums and the result.

    Example:
      >>> lax.conv(jnp.ones((1, 1, 4, 4)), jnp.ones((1, 1, 3, 3)), (1, 1), "VALID")[
      ...     0, 0
      ... ]
      Array([[9., 9.],
             [9., 9.]], dtype=float32)
    """
    return conv_general_dilated(
        lhs,
        rhs,
        window_strides,
        padding,
        precision=precision,
        preferred_element_type=preferred_element_type,
    )


def conv_with_general_padding(
    lhs: ArrayLike,
    rhs: ArrayLike,
    window_strides: Shape,
    padding: Padding,
    lhs_dilation: Sequence[int] | None,
    rhs_dilation: Sequence[int] | None,
    precision: precision_.PrecisionLike = None,
    preferred_element_type: DTypeLike | None = None,
) -> Array:
    """A dilated convolution of axes in the order batch, features, spatial.

    Args:
      lhs: input [batch, features, *spatial].
      rhs: kernel [output features, input features, *spatial].
      window_strides: step of the window along each spatial axis.
      padding: a padding's name, or (before, after) for each spatial axis.
      lhs_dilation: distance of the input's elements.
      rhs_dilation: distance of the kernel's elements.
      precision: None, a `Precision`, its name, a pair of them, or a `DotAlgorithm`.
      preferred_element_type: dtype of the sums and the result.

    Example:
      >>> lax.conv_with_general_padding(
      ...     jnp.ones((1, 1, 4)), jnp.ones((1, 1, 3)), (1,), [(1, 1)], None, None
      ... )
      Array([[[2., 3., 3., 2.]]], dtype=float32)
    """
    return conv_general_dilated(
        lhs,
        rhs,
        window_strides,
        padding,
        lhs_dilation=lhs_dilation,
        rhs_dilation=rhs_dilation,
        precision=precision,
        preferred_element_type=preferred_element_type,
    )


_TRANSPOSE_LAYOUTS = {
    2: ("NC", "IO", "NC"),
    3: ("NHC", "HIO", "NHC"),
    4: ("NHWC", "HWIO", "NHWC"),
    5: ("NHWDC", "HWDIO", "NHWDC"),
}


def transpose_pads(window: int, step: int, padding: str) -> tuple[int, int]:
    """Padding of the dilated input, so that the result is `step` times the input."""
    kind = padding.upper()
    if kind not in ("SAME", "VALID"):
        raise ValueError(
            "lax.conv_transpose: padding must be 'SAME', 'VALID' or pairs of numbers, "
            f"got {padding!r}"
        )
    total = window + step - 2
    if kind == "VALID":
        total += max(window - step, 0)
        return window - 1, total - window + 1
    before = window - 1 if step > window - 1 else -(-total // 2)
    return before, total - before


def conv_transpose(
    lhs: ArrayLike,
    rhs: ArrayLike,
    strides: Sequence[int],
    padding: Padding,
    rhs_dilation: Sequence[int] | None = None,
    dimension_numbers: ConvGeneralDilatedDimensionNumbers = None,
    transpose_kernel: bool = False,
    precision: precision_.PrecisionLike = None,
    preferred_element_type: DTypeLike | None = None,
    use_consistent_padding: bool = False,
) -> Array:
    """A convolution of the input dilated by `strides`: the adjoint of a strided one.

    Args:
      lhs: input.
      rhs: kernel.
      strides: distance of the input's elements in the result, for each spatial axis.
      padding: 'SAME' (the result is `strides` times the input), 'VALID', or (before,
        after) for each spatial axis, of the dilated input.
      rhs_dilation: distance of the kernel's elements; default 1.
      dimension_numbers: the layouts; default batch first and features last, with the
        kernel's features last.
      transpose_kernel: reverse the kernel and exchange its features, so that the result
        is the gradient of a convolution with that kernel.
      precision: None, a `Precision`, its name, a pair of them, or a `DotAlgorithm`.
      preferred_element_type: dtype of the sums and the result.
      use_consistent_padding: pairs of numbers are the padding of the convolution whose
        adjoint this is.

    Example:
      >>> lax.conv_transpose(
      ...     jnp.ones((1, 4, 1)), jnp.ones((3, 1, 2)), (2,), "SAME"
      ... ).shape
      (1, 8, 2)
    """
    lhs_shape, rhs_shape = avals.aval_of(lhs).shape, avals.aval_of(rhs).shape
    if dimension_numbers is None:
        dimension_numbers = _TRANSPOSE_LAYOUTS.get(len(lhs_shape))
        if dimension_numbers is None:
            raise ValueError(
                "lax.conv_transpose: give dimension_numbers for arrays of "
                f"{len(lhs_shape)} axes; there is a default for 2 to 5"
            )
    dn = conv_dimension_numbers(lhs_shape, rhs_shape, dimension_numbers)
    dilation = (1,) * (len(rhs_shape) - 2) if rhs_dilation is None else rhs_dilation
    window = _dilated_sizes(avals.aval_of(rhs), dn.rhs_spec, dilation)
    if isinstance(padding, str):
        pads = [
            transpose_pads(k, s, padding) for k, s in zip(window, strides, strict=True)
        ]
    else:
        pads = [(low, high) for low, high in padding]
        if use_consistent_padding:
            pads = [
                (k - 1 - low, k - 1 - high)
                for k, (low, high) in zip(window, pads, strict=True)
            ]
    if transpose_kernel:
        rhs = shaping.rev(rhs, dn.rhs_spec[2:])
        dn = dn._replace(rhs_spec=_swap_first_two(dn.rhs_spec))
    return conv_general_dilated(
        lhs,
        rhs,
        (1,) * len(pads),
        pads,
        lhs_dilation=strides,
        rhs_dilation=dilation,
        dimension_numbers=dn,
        precision=precision,
        preferred_element_type=preferred_element_type,
    )
