"""Operations that cut arrays in pieces and join pieces: concatenate, split, slice, pad.

They are in one file because each is another's transpose.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from olympus._src.core import avals
from olympus._src.core.array_type import Array, ArrayLike
from olympus._src.core.primitive import Cost, Exact, LateRule, Primitive
from olympus._src.core.sizes import as_size, non_negative
from olympus._src.core.symbolic_values import Linear, Zero
from olympus._src.lax import (
    elementwise,
    families,
    shaping,
    sharding_rules,
    small_integers,
)
from olympus._src.lax import sizes as sizes_
from olympus._src.lax.families import ShapedArray
from olympus._src.lowering import dynamic_shapes, partitioning

# -- concatenate -----------------------------------------------------------------------


def _concatenate_abstract(*operands: Any, dimension: int) -> Any:
    if not operands:
        raise ValueError("lax.concatenate: expects at least one operand, got 0")
    first = operands[0]
    listed = ", ".join([a.short() for a in operands])
    if any(a.ndim != first.ndim for a in operands):
        raise TypeError(
            f"lax.concatenate: operands must have equal numbers of axes, got {listed}"
        )
    if not 0 <= dimension < first.ndim:
        raise TypeError(
            "lax.concatenate: dimension must be an axis of the operands, got "
            f"{dimension} for {first.short()}"
        )
    other_sizes = [a.shape[:dimension] + a.shape[dimension + 1 :] for a in operands]
    wrong = [i for i, sizes in enumerate(other_sizes) if sizes != other_sizes[0]]
    if wrong:
        i, odd = wrong[0], operands[wrong[0]]
        axis = next(
            d
            for d in range(first.ndim)
            if d != dimension and first.shape[d] != odd.shape[d]
        )
        raise TypeError(
            "Cannot concatenate arrays with shapes that differ in dimensions other "
            f"than the one being concatenated: concatenating along dimension "
            f"{dimension} in lax.concatenate, got {listed}; array {i} has size "
            f"{odd.shape[axis]} on axis {axis}, array 0 has {first.shape[axis]}"
        )
    total = sum(a.shape[dimension] for a in operands)
    shape = (*first.shape[:dimension], total, *first.shape[dimension + 1 :])
    dtype = families.common_dtype("concatenate", operands)
    return ShapedArray(shape, dtype, all(a.weak_type for a in operands))


def _concatenate_lower(ctx: Any, *operands: str, dimension: int) -> str:
    return ctx.block.op1(
        "stablehlo.concatenate",
        operands,
        ctx.avals_in,
        ctx.avals_out[0],
        f"dimension = {dimension} : i64",
    )


def _concatenate_jvp(primals: Any, tangents: Any, *, dimension: int) -> Any:
    return families.apply_linear(concatenate_p, primals, tangents, dimension=dimension)


def _concatenate_transpose(cts: Any, *operands: Any, dimension: int) -> Any:
    (ct,) = cts
    outs: list[Any] = []
    start = 0
    if type(ct) is not Zero and all(type(x) is Linear for x in operands):
        return split(ct, [x.aval.shape[dimension] for x in operands], dimension)
    for x in operands:
        aval = x.aval if type(x) is Linear else avals.aval_of(x)
        stop = start + aval.shape[dimension]
        if type(x) is not Linear:
            outs.append(None)
        elif type(ct) is Zero:
            outs.append(Zero(aval))
        else:
            outs.append(slice_in_dim(ct, start, stop, axis=dimension))
        start = stop
    return outs


def _concatenate_batch(axis: Any, args: Any, dims: Any, *, dimension: int) -> Any:
    moved = [families.at_front(axis, x, d) for x, d in zip(args, dims, strict=True)]
    return concatenate_p.bind(*moved, dimension=dimension + 1), 0


def _concatenate_rewrite(platform: str, *operands: Any, dimension: int) -> Any:
    if not small_integers.lacks_kernels(platform, operands):
        return None
    return small_integers.run_in_bytes(
        lambda *xs: concatenate_p.bind(*xs, dimension=dimension)
    )


concatenate_p = Primitive(
    "concatenate",
    key_reuse=lambda uses, eqn, operands: uses.concatenate(eqn, operands),
    shard=sharding_rules.linear_in(sharding_rules.concatenate),
    abstract=_concatenate_abstract,
    lower=_concatenate_lower,
    rewrite=_concatenate_rewrite,
    jvp=_concatenate_jvp,
    transpose=_concatenate_transpose,
    batch=_concatenate_batch,
    reference=lambda *xs, dimension: np.concatenate(xs, dimension),
    cost=Cost.MOVE,
    may_make_nan=False,
    taylor=families.linear_series(),
    exact=Exact.MOVES,
)


def concatenate(operands: Sequence[ArrayLike], dimension: int) -> Array:
    """Arrays one after another along an axis.

    Args:
      operands: arrays of one dtype, equal in shape except for that axis.
      dimension: the axis.

    Raises:
      TypeError: shapes or dtypes do not agree.
      ValueError: there are no operands.

    Source: `stablehlo.concatenate`.

    Example:
      >>> lax.concatenate([jnp.array([[1], [2]]), jnp.array([[3], [4]])], 1)
      Array([[1, 3],
             [2, 4]], dtype=int32)
    """
    operands = tuple(operands)
    if len(operands) == 1 and not np.isscalar(operands[0]):
        return elementwise.unchanged(operands[0])
    return concatenate_p.bind(*operands, dimension=int(dimension))


# -- split -----------------------------------------------------------------------------


def _split_abstract(operand: Any, *, sizes: Any, axis: int) -> Any:
    families.check_axes("split", operand, (axis,))
    if sum(sizes) != operand.shape[axis] or any(s < 0 for s in sizes):
        raise ValueError(
            f"lax.split: sizes must be non-negative and sum to {operand.shape[axis]}, "
            f"the size of axis {axis} of {operand.short()}; got {tuple(sizes)}"
        )
    before, after = operand.shape[:axis], operand.shape[axis + 1 :]
    return [
        ShapedArray((*before, s, *after), operand.dtype, operand.weak_type)
        for s in sizes
    ]


def _split_lower(ctx: Any, x: str, *, sizes: Any, axis: int) -> list[str]:
    aval = families.storage(ctx.avals_in[0])
    outs = []
    begin = 0
    for size, out in zip(sizes, ctx.avals_out, strict=True):
        starts, limits = [0] * aval.ndim, list(aval.shape)
        starts[axis], limits[axis] = begin, begin + size
        outs.append(emit_slice(ctx, x, aval, out, starts, limits))
        begin += size
    return outs


def _split_transpose(cts: Any, x: Any, *, sizes: Any, axis: int) -> Any:
    if all(type(ct) is Zero for ct in cts):
        return [Zero(x.aval)]
    parts = [families.instantiate(ct) for ct in cts]
    return [concatenate(parts, axis)]


def _split_jvp(primals: Any, tangents: Any, **params: Any) -> Any:
    outs = split_p.bind(*primals, **params)
    if type(tangents[0]) is Zero:
        return outs, [Zero(avals.aval_of(x).to_tangent()) for x in outs]
    return outs, split_p.bind(tangents[0], **params)


def _split_batch(mapped: Any, args: Any, dims: Any, *, sizes: Any, axis: int) -> Any:
    (dim,) = dims
    outs = split_p.bind(args[0], sizes=sizes, axis=axis + (axis >= dim))
    return outs, [dim] * len(outs)


split_p = Primitive(
    "split",
    shard=sharding_rules.linear_in(sharding_rules.same_rank),
    multiple_results=True,
    abstract=_split_abstract,
    lower=_split_lower,
    jvp=_split_jvp,
    transpose=_split_transpose,
    batch=_split_batch,
    reference=lambda x, *, sizes, axis: np.split(x, np.cumsum(sizes)[:-1], axis),
    cost=Cost.MOVE,
    may_make_nan=False,
    taylor=families.linear_series(),
    exact=Exact.MOVES,
)


def split(operand: ArrayLike, sizes: Sequence[int], axis: int = 0) -> list[Array]:
    """The operand cut along an axis in pieces of given sizes.

    Args:
      operand: array.
      sizes: sizes of the pieces; they sum to the axis's size.
      axis: the axis; may be negative.

    Returns:
      A list of arrays.

    Raises:
      ValueError: the sizes do not sum to the axis's.

    Source: `stablehlo.slice`.

    Example:
      >>> [x.shape for x in lax.split(jnp.ones((5, 2)), (2, 3))]
      [(2, 2), (3, 2)]
    """
    axis = _axis_of(operand, axis, "lax.split")
    pieces = tuple([as_size(s) for s in sizes])
    return split_p.bind(operand, sizes=pieces, axis=axis)


def _axis_of(x: Any, axis: int, where: str) -> int:
    return sizes_.canonicalize_axis(axis, avals.aval_of(x).ndim, where)


# -- slice -----------------------------------------------------------------------------


def _slice_abstract(
    operand: Any, *, start_indices: Any, limit_indices: Any, strides: Any
) -> Any:
    steps = (1,) * operand.ndim if strides is None else strides
    if not len(start_indices) == len(limit_indices) == len(steps) == operand.ndim:
        raise TypeError(
            "lax.slice: start_indices, limit_indices and strides must have an entry "
            f"for each of the operand's {operand.ndim} axes, got "
            f"start_indices={tuple(start_indices)}, strides={strides}, "
            f"limit_indices={tuple(limit_indices)} for {operand.short()}"
        )
    shape = []
    for axis, (size, start, limit, step) in enumerate(
        zip(operand.shape, start_indices, limit_indices, steps, strict=True)
    ):
        if not 0 <= start <= limit <= size or step < 1:
            raise TypeError(
                "lax.slice: requires 0 <= start <= limit <= size and stride >= 1 on "
                f"each axis, got start_indices={tuple(start_indices)}, limit_indices="
                f"{tuple(limit_indices)}, strides={strides} for {operand.short()}; "
                f"axis {axis} of size {size} has no {start}:{limit}:{step}"
            )
        shape.append((limit - start + step - 1) // step)
    return ShapedArray(tuple(shape), operand.dtype, operand.weak_type)


def emit_slice(
    ctx: Any,
    x: str,
    aval: Any,
    out: Any,
    starts: Sequence[int],
    limits: Sequence[int],
    strides: Sequence[int] | None = None,
) -> str:
    """Writes `stablehlo.slice`."""
    if strides is not None:
        # XLA divides an axis of one element wrongly where its stride is not 1.
        rows = list(zip(starts, limits, strides, out.shape, strict=True))
        limits = [a + 1 if n == 1 else b for a, b, _, n in rows]
        strides = [1 if n == 1 else step for _, _, step, n in rows]
    return ctx.block.slice(x, aval, out, starts, limits, strides)


def _slice_lower(
    ctx: Any, x: str, *, start_indices: Any, limit_indices: Any, strides: Any
) -> str:
    aval = families.storage(ctx.avals_in[0])
    hidden = aval.shape[len(start_indices) :]
    steps = None if strides is None else (*strides, *[1] * len(hidden))
    return emit_slice(
        ctx,
        x,
        aval,
        families.storage(ctx.avals_out[0]),
        (*start_indices, *[0] * len(hidden)),
        (*limit_indices, *hidden),
        steps,
    )


def _slice_transpose(
    cts: Any, x: Any, *, start_indices: Any, limit_indices: Any, strides: Any
) -> Any:
    (ct,) = cts
    if type(ct) is Zero:
        return [Zero(x.aval)]
    steps = (1,) * len(start_indices) if strides is None else strides
    got = avals.aval_of(ct).shape
    config = []
    for size, n, start, step in zip(
        x.aval.shape, got, start_indices, steps, strict=True
    ):
        end = start + (n - 1) * step + 1 if n else start
        config.append((start, size - end, step - 1))
    zero = np.zeros((), avals.aval_of(ct).dtype)[()]
    return [pad_p.bind(ct, zero, padding_config=tuple(config))]


def _slice_batch(
    axis: Any,
    args: Any,
    dims: Any,
    *,
    start_indices: Any,
    limit_indices: Any,
    strides: Any,
) -> Any:
    (dim,) = dims

    def insert(values: Any, value: int) -> Any:
        return (*values[:dim], value, *values[dim:])

    out = slice_p.bind(
        args[0],
        start_indices=insert(start_indices, 0),
        limit_indices=insert(limit_indices, axis.size),
        strides=None if strides is None else insert(strides, 1),
    )
    return out, dim


def _slice_reference(
    x: Any, *, start_indices: Any, limit_indices: Any, strides: Any
) -> Any:
    steps = (1,) * x.ndim if strides is None else strides
    ranges = zip(start_indices, limit_indices, steps, strict=True)
    return x[tuple([np.s_[a:b:c] for a, b, c in ranges])]


slice_p = Primitive(
    "slice",
    shard=sharding_rules.linear_in(sharding_rules.same_rank),
    abstract=_slice_abstract,
    lower=_slice_lower,
    transpose=_slice_transpose,
    batch=_slice_batch,
    reference=_slice_reference,
    cost=Cost.MOVE,
    may_make_nan=False,
    exact=Exact.MOVES,
    **families.LINEAR,
    transpose_into=LateRule("lax.single_windows", "add_slice"),
)


def slice_(
    operand: ArrayLike,
    start_indices: Sequence[int],
    limit_indices: Sequence[int],
    strides: Sequence[int] | None = None,
) -> Array:
    """The part of an array between fixed positions.

    Args:
      operand: array.
      start_indices: for each axis the first position.
      limit_indices: for each axis one past the last position.
      strides: for each axis the step; default 1.

    Raises:
      TypeError: positions are outside the operand, or their number is wrong.

    Source: `stablehlo.slice`.

    Example:
      >>> lax.slice(jnp.arange(10), (2,), (8,), (3,))
      Array([2, 5], dtype=int32)
    """
    steps = None if strides is None else tuple([as_size(s) for s in strides])
    return slice_p.bind(
        operand,
        start_indices=sizes_.canonicalize_shape(start_indices),
        limit_indices=sizes_.canonicalize_shape(limit_indices),
        strides=steps,
    )


def slice_in_dim(
    operand: ArrayLike,
    start_index: int | None,
    limit_index: int | None,
    stride: int = 1,
    axis: int = 0,
) -> Array:
    """The part of an array between fixed positions of one axis.

    Args:
      operand: array.
      start_index: first position, as in Python's slices: None for the beginning,
        negative ones count from the end.
      limit_index: one past the last position, likewise.
      stride: the step.
      axis: the axis; may be negative.

    Source: `stablehlo.slice`.

    Example:
      >>> lax.slice_in_dim(jnp.arange(10), -3, None)
      Array([7, 8, 9], dtype=int32)
    """
    shape = avals.aval_of(operand).shape
    axis = sizes_.canonicalize_axis(axis, len(shape), "lax.slice_in_dim")
    size = shape[axis]
    start = 0 if start_index is None else as_size(start_index)
    limit = size if limit_index is None else as_size(limit_index)
    starts, limits, steps = [0] * len(shape), list(shape), [1] * len(shape)
    starts[axis] = start + size if start < 0 else start
    limits[axis] = limit + size if limit < 0 else limit
    steps[axis] = as_size(stride)
    return slice_p.bind(
        operand,
        start_indices=tuple(starts),
        limit_indices=tuple(limits),
        strides=tuple(steps) if stride != 1 else None,
    )


def index_in_dim(
    operand: ArrayLike, index: int, axis: int = 0, keepdims: bool = True
) -> Array:
    """The slice of an array at one fixed position of an axis.

    Args:
      operand: array.
      index: the position; may be negative.
      axis: the axis; may be negative.
      keepdims: keep the axis, with size 1.

    Raises:
      IndexError: there is no such position.

    Example:
      >>> lax.index_in_dim(jnp.array([[1, 2], [3, 4]]), 1, keepdims=False)
      Array([3, 4], dtype=int32)
    """
    shape = avals.aval_of(operand).shape
    axis = sizes_.canonicalize_axis(axis, len(shape), "lax.index_in_dim")
    index, size = as_size(index), shape[axis]
    if not -size <= index < size:
        raise IndexError(
            f"lax.index_in_dim: index {index} is out of bounds for axis {axis} of size "
            f"{size}"
        )
    index = index + size if index < 0 else index
    out = slice_in_dim(operand, index, index + 1, axis=axis)
    return out if keepdims else shaping.squeeze(out, (axis,))


# -- pad -------------------------------------------------------------------------------


def _pad_abstract(operand: Any, padding_value: Any, *, padding_config: Any) -> Any:
    dtype = families.common_dtype("pad", (operand, padding_value))
    if padding_value.shape:
        raise TypeError(
            f"lax.pad: padding_value must be a scalar, got {padding_value.short()}"
        )
    if len(padding_config) != operand.ndim:
        raise TypeError(
            "lax.pad: padding_config must give (low, high, interior) for each of the "
            f"operand's {operand.ndim} axes, got {padding_config} for {operand.short()}"
        )
    if any(interior < 0 for _, _, interior in padding_config):
        raise TypeError(
            f"lax.pad: interior padding must be non-negative, got {padding_config}"
        )
    shape = tuple(
        [
            low + high + size + non_negative(size - 1) * interior
            for (low, high, interior), size in zip(
                padding_config, operand.shape, strict=True
            )
        ]
    )
    if any(s < 0 for s in shape):
        raise ValueError(
            "lax.pad: negative padding must leave sizes of at least 0, got shape "
            f"{shape} from {operand.short()} and {padding_config}"
        )
    weak = operand.weak_type and padding_value.weak_type
    return ShapedArray(shape, dtype, weak)


def _pad_lower(ctx: Any, x: str, value: str, *, padding_config: Any) -> str:
    # XLA ends the process, or pads wrongly, where it divides such axes.
    axes = [
        i
        for i, row in enumerate(padding_config)
        if not dynamic_shapes.any_symbolic(row) and (min(row) < 0 or row[2] > 0)
    ]
    (aval, _), (out,) = ctx.avals_in, ctx.avals_out
    x = partitioning.keep_whole(ctx, x, aval, axes)
    columns = _columns(padding_config)
    result = ctx.block.pad([x, value], ctx.avals_in, out, *columns)
    return partitioning.keep_whole(ctx, result, out, axes)


def _columns(padding_config: Any) -> Any:
    return tuple(zip(*padding_config, strict=True)) if padding_config else ((), (), ())


def _pad_jvp(primals: Any, tangents: Any, *, padding_config: Any) -> Any:
    return families.apply_linear(
        pad_p, primals, tangents, padding_config=padding_config
    )


def _pad_transpose(cts: Any, x: Any, value: Any, *, padding_config: Any) -> Any:
    (ct,) = cts
    unknown = [type(v) is Linear for v in (x, value)]
    if type(ct) is Zero:
        return [
            Zero(v.aval) if u else None
            for v, u in zip((x, value), unknown, strict=True)
        ]
    inner = _unpad(ct, padding_config)
    outer = None
    if unknown[1]:
        outer = families.add_tangents(_sum(ct), elementwise.neg(_sum(inner)))
    return [inner if unknown[0] else None, outer]


def _sum(x: Any) -> Any:
    axes = tuple(range(avals.aval_of(x).ndim))
    return families.reduce_sum_p.bind(x, axes=axes) if axes else x


def _unpad(ct: Any, padding_config: Any) -> Any:
    """The part of `ct` that stands where the operand's elements stood."""
    zero = np.zeros((), avals.aval_of(ct).dtype)[()]
    crops = tuple([(-low, -high, 0) for low, high, _ in padding_config])
    if any(low or high for low, high, _ in padding_config):
        ct = pad_p.bind(ct, zero, padding_config=crops)
    steps = [interior + 1 for _, _, interior in padding_config]
    if all(s == 1 for s in steps):
        return ct
    shape = avals.aval_of(ct).shape
    return slice_p.bind(
        ct,
        start_indices=(0,) * len(shape),
        limit_indices=shape,
        strides=tuple(steps),
    )


def _pad_batch(axis: Any, args: Any, dims: Any, *, padding_config: Any) -> Any:
    x, value = args
    dx, dv = dims
    if dv is None:
        config = list(padding_config)
        config.insert(dx, (0, 0, 0))
        return pad_p.bind(x, value, padding_config=tuple(config)), dx
    # A padding value for each element: pad a mask too, and choose.
    x = families.at_front(axis, x, dx)
    whole = ((0, 0, 0), *padding_config)
    aval = avals.aval_of(x)
    zero = np.zeros((), aval.dtype)[()]
    padded = pad_p.bind(x, zero, padding_config=whole)
    mask = pad_p.bind(
        shaping.full(aval.shape, True, np.bool_), np.False_, padding_config=whole
    )
    shape = avals.aval_of(padded).shape
    spread = shaping.broadcast_in_dim(value, shape, (0,))
    return elementwise.select(mask, padded, spread), 0


def pad_host(x: Any, value: Any, *, padding_config: Any) -> Any:
    """`pad` of NumPy arrays."""
    for axis, (low, high, interior) in enumerate(padding_config):
        size = x.shape[axis]
        wide = size + max(size - 1, 0) * interior
        shape = list(x.shape)
        shape[axis] = max(low, 0) + wide + max(high, 0)
        out = np.full(shape, value, x.dtype)
        at = [slice(None)] * x.ndim
        at[axis] = slice(max(low, 0), max(low, 0) + wide, interior + 1)
        out[tuple(at)] = x
        at[axis] = slice(max(-low, 0), shape[axis] - max(-high, 0))
        x = out[tuple(at)]
    return x


pad_p = Primitive(
    "pad",
    shard=sharding_rules.same_rank,
    abstract=_pad_abstract,
    lower=_pad_lower,
    jvp=_pad_jvp,
    transpose=_pad_transpose,
    batch=_pad_batch,
    reference=pad_host,
    cost=Cost.MOVE,
    may_make_nan=False,
    taylor=families.linear_series(),
    exact=Exact.MOVES,
)


def pad(
    operand: ArrayLike,
    padding_value: ArrayLike,
    padding_config: Sequence[tuple[int, int, int]],
) -> Array:
    """The operand with a value before, after and between its elements.

    Args:
      operand: array.
      padding_value: scalar of the operand's dtype.
      padding_config: for each axis `(low, high, interior)`; negative low or high cut
        elements off.

    Raises:
      TypeError: wrong number of triples, or dtypes that differ.
      ValueError: more is cut off than there is.

    Source: `stablehlo.pad`.

    Example:
      >>> lax.pad(np.array([1., 2.], np.float32), np.float32(0), [(1, 0, 1)])
      Array([0., 1., 0., 2.], dtype=float32)
    """
    config = tuple([tuple([as_size(v) for v in triple]) for triple in padding_config])
    return pad_p.bind(operand, padding_value, padding_config=config)
