"""Sorting, and the largest elements.

Short lines are sorted by counting on the CPU; see `ranking`. For longer ones: XLA's
sort on the CPU calls its comparator as a program, unless that is one comparison of
whole elements. So there a key becomes one integer that sorts alike: alone, its bits
in ascending order (1e6 floats: 75-95 ms, not 300); with other operands, those bits
over the element's position, so that equal keys keep their order, and the operands are
gathered (90 ms, not 380).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, overload

import numpy as np

from olympus._src.core import avals, dtypes
from olympus._src.core.array_type import Array, ArrayLike
from olympus._src.core.primitive import Primitive, takes_primitive
from olympus._src.core.sizes import as_size
from olympus._src.core.symbolic_values import Zero
from olympus._src.lax import (
    comparators,
    families,
    gather,
    shaping,
    sharding_rules,
    sizes,
    small_integers,
    sort_keys,
)
from olympus._src.lax.families import ShapedArray
from olympus._src.lax.kernels import long_top_k, short_sort, top_k_kernel
from olympus._src.lowering import dynamic_shapes, types

_I32, _I64 = np.dtype(np.int32), np.dtype(np.int64)
_MOST_KEYS = 4  # each takes a sort
# Up to so many, several keys are sorted at once, which compiles in 0.7 of the time:
# three of 300 take 41 us, not 21 (JAX: 65). Three of 5000 would take 820, not 280.
_FEW_IN_WORDS = 1 << 9
_FEW = 128  # so few are sorted at once anyhow, and what is plain compiles soonest


# -- types -----------------------------------------------------------------------------


def _sort_abstract(
    *operands: Any, dimension: int, is_stable: bool, num_keys: int
) -> Any:
    if not operands:
        raise TypeError("lax.sort: needs at least one operand, got none")
    if any(a.shape != operands[0].shape for a in operands):
        listed = ", ".join([a.short() for a in operands])
        raise TypeError(f"lax.sort: operands must have equal shapes, got {listed}")
    families.check_axes("sort", operands[0], (dimension,))
    for aval in operands:
        families.check_dtype("sort", aval, families.ANY, "each operand")
    if not 1 <= num_keys <= len(operands):
        raise ValueError(
            f"lax.sort: num_keys must be from 1 to the number of operands, "
            f"{len(operands)}, got {num_keys}"
        )
    return list(operands)


# -- keys as integers, for the CPU -----------------------------------------------------


def _has_twins(dtype: Any) -> bool:
    """Whether elements may be equal and yet differ, as zeros of both signs are."""
    return not (dtypes.issubdtype(dtype, np.integer) or dtype == np.bool_)


def _lower_alone(ctx: Any, x: str, aval: Any, dimension: int) -> list[str]:
    if not sort_keys.has_words(aval.dtype):
        return comparators.emit_sort(ctx, [x], [aval], dimension, True, 1)
    word, bits = sort_keys.emit_ordered_bits(ctx, x, aval, merge_zeros=False)
    (word,) = comparators.emit_sort(ctx, [word], [bits], dimension, True, 1)
    word = sort_keys.emit_flip(ctx.block, word, bits)
    return [ctx.block.op1("stablehlo.bitcast_convert", [word], [bits], aval)]


def _packs(aval: Any, dimension: int) -> bool:
    """Whether key and position fit in 64 bits."""
    return sort_keys.packs(aval.dtype) and aval.shape[dimension] < 2**31


def _emit_key(ctx: Any, x: str, aval: Any) -> tuple[str, Any]:
    """Integers or bools that sort as a key does; and their type."""
    if not sort_keys.has_words(aval.dtype):
        return x, aval
    word, bits = sort_keys.emit_ordered_bits(ctx, x, aval, merge_zeros=True)
    return word, bits


def _emit_order(ctx: Any, x: str, aval: Any, dimension: int) -> Any:
    """The stable order of the elements along an axis, as positions; and its type."""
    block = ctx.block
    wide, positions = ShapedArray(aval.shape, _I64), ShapedArray(aval.shape, _I32)
    key, key_aval = _emit_key(ctx, x, aval)
    count = block.iota(dimension, wide)
    packed = sort_keys.emit_packed(ctx, key, key_aval, count)
    (packed,) = comparators.emit_sort(ctx, [packed], [wide], dimension, True, 1)
    return block.convert(packed, wide, positions), positions


def _lower_by_order(
    ctx: Any,
    operands: Sequence[str],
    in_avals: Sequence[Any],
    dimension: int,
    num_keys: int,
) -> list[str]:
    """Orders by the last key, what that gives by the key before it, and so on."""
    order = ""
    positions = ShapedArray(in_avals[0].shape, _I32)
    for k in reversed(range(num_keys)):
        key, aval = operands[k], in_avals[k]
        if not order:
            order, _ = _emit_order(ctx, key, aval, dimension)
            continue
        key = gather.emit_along(ctx, key, aval, order, positions, dimension)
        then, _ = _emit_order(ctx, key, aval, dimension)
        order = gather.emit_along(ctx, order, positions, then, positions, dimension)
    return [
        gather.emit_along(ctx, x, aval, order, positions, dimension)
        for x, aval in zip(operands, in_avals, strict=True)
    ]


def _lower_by_words(
    ctx: Any,
    operands: Sequence[str],
    in_avals: Sequence[Any],
    dimension: int,
    num_keys: int,
) -> list[str]:
    """Sorts by integers of 64 bits, each made of two keys, with all operands beside."""
    words, word_avals = [], []
    for k in range(0, num_keys, 2):
        word, aval = _emit_key(ctx, operands[k], in_avals[k])
        if k + 1 < num_keys:
            low, low_aval = _emit_key(ctx, operands[k + 1], in_avals[k + 1])
            low, wide = sort_keys.emit_low_half(ctx, low, low_aval)
            word, aval = sort_keys.emit_packed(ctx, word, aval, low), wide
        words.append(word)
        word_avals.append(aval)
    out = comparators.emit_sort(
        ctx,
        [*words, *operands],
        [*word_avals, *in_avals],
        dimension,
        True,
        len(words),
    )
    return out[len(words) :]


def _sort_lower(
    ctx: Any, *operands: str, dimension: int, is_stable: bool, num_keys: int
) -> list[str]:
    in_avals = ctx.avals_in
    if types.has_symbolic_size(in_avals[0]):  # which way is best depends on the size
        return comparators.emit_sort(
            ctx, operands, in_avals, dimension, is_stable, num_keys
        )
    on_cpu = ctx.platform == "cpu" and in_avals[0].size > _FEW
    if on_cpu and short_sort.suits(in_avals, num_keys, dimension):
        return short_sort.emit_sort(ctx, operands, in_avals, dimension, num_keys)
    alone = len(operands) == 1
    if on_cpu and alone and not _has_twins(in_avals[0].dtype):
        return comparators.emit_sort(ctx, operands, in_avals, dimension, True, 1)
    by_order = on_cpu and num_keys <= _MOST_KEYS and in_avals[0].size
    if by_order and all(_packs(aval, dimension) for aval in in_avals[:num_keys]):
        few = in_avals[0].shape[dimension] <= _FEW_IN_WORDS
        lower = _lower_by_words if num_keys > 1 and few else _lower_by_order
        return lower(ctx, operands, in_avals, dimension, num_keys)
    if on_cpu and alone:
        return _lower_alone(ctx, operands[0], in_avals[0], dimension)
    return comparators.emit_sort(
        ctx, operands, in_avals, dimension, is_stable, num_keys
    )


# -- other rules -----------------------------------------------------------------------


def _sort_jvp(primals: Any, tangents: Any, *, dimension: int, **params: Any) -> Any:
    shape = avals.aval_of(primals[0]).shape
    if all(type(t) is Zero for t in tangents):
        outs = sort_p.bind(*primals, dimension=dimension, **params)
        return outs, [Zero(avals.aval_of(x).to_tangent()) for x in outs]
    count = shaping.broadcasted_iota(np.int32, shape, dimension)
    *outs, order = sort_p.bind(*primals, count, dimension=dimension, **params)
    out_tangents = [
        Zero(avals.aval_of(x).to_tangent())
        if type(t) is Zero
        else gather.take_along(t, order, dimension)
        for x, t in zip(outs, tangents, strict=True)
    ]
    return outs, out_tangents


def _sort_batch(
    axis: Any, args: Any, dims: Any, *, dimension: int, **params: Any
) -> Any:
    moved = [families.at_front(axis, x, d) for x, d in zip(args, dims, strict=True)]
    outs = sort_p.bind(*moved, dimension=dimension + 1, **params)
    return outs, [0] * len(outs)


def _sort_reference(
    *operands: Any, dimension: int, is_stable: bool, num_keys: int
) -> Any:
    def wide(x: Any) -> Any:
        small_float = x.dtype.kind not in "biufc"
        return x.astype(np.float32) if small_float else x + np.zeros((), x.dtype)

    lines = [np.moveaxis(x, dimension, -1) for x in operands]
    order = np.empty(lines[0].shape, np.int64)
    for at in np.ndindex(*lines[0].shape[:-1]):
        order[at] = np.arange(lines[0].shape[-1])
        for key in reversed(lines[:num_keys]):
            ranks = np.unique(wide(key[at]), return_inverse=True)[1]
            order[at] = order[at][np.argsort(ranks[order[at]], kind="stable")]
    return [np.moveaxis(np.take_along_axis(x, order, -1), -1, dimension) for x in lines]


@takes_primitive
def _rewrite_narrow(p: Any, platform: str, *operands: Any, **params: Any) -> Any:
    if not small_integers.lacks_kernels(platform, operands):
        return None
    return small_integers.run_in_bytes(lambda *xs: p.bind(*xs, **params))


sort_p = Primitive(
    "sort",
    shard=sharding_rules.along("dimension"),
    multiple_results=True,
    abstract=_sort_abstract,
    lower=_sort_lower,
    rewrite=_rewrite_narrow,
    jvp=_sort_jvp,
    batch=_sort_batch,
    reference=_sort_reference,
    may_make_nan=False,
    needs_full_build=True,
)


# -- top_k -----------------------------------------------------------------------------


def _top_k_abstract(operand: Any, *, k: int, axis: int) -> Any:
    families.check_dtype("top_k", operand, families.ORDERED)
    families.check_axes("top_k", operand, (axis,))
    if not 0 <= k <= operand.shape[axis]:
        raise ValueError(
            f"lax.top_k: k must be from 0 to the size of the axis, "
            f"{operand.shape[axis]}, got {k}"
        )
    shape = (*operand.shape[:axis], k, *operand.shape[axis + 1 :])
    values = ShapedArray(shape, operand.dtype, operand.weak_type)
    return [values, ShapedArray(shape, _I32)]


def _top_k_lower(ctx: Any, x: str, *, k: int, axis: int) -> list[str]:
    (aval,) = ctx.avals_in
    last = aval.ndim - 1
    order = [d for d in range(aval.ndim) if d != axis] + [axis]
    back = [int(i) for i in np.argsort(order)]
    moved = _permute_aval(aval, order)
    if axis != last:
        x = families.emit_transpose(ctx, x, aval, moved, order)
    out_avals = [_permute_aval(out, order) for out in ctx.avals_out]
    on_cpu = ctx.platform == "cpu"
    if types.has_symbolic_size(moved) or types.has_symbolic_size(out_avals[0]):
        outs = dynamic_shapes.custom_call(
            ctx.block,
            "stablehlo.dynamic_top_k",
            [x, ctx.block.dimension(k)],
            [moved, dynamic_shapes.SIZE],
            out_avals,
        )
    elif on_cpu and top_k_kernel.suits(moved, k):
        outs = top_k_kernel.emit_top_k(ctx, x, moved, k)
    elif on_cpu and k and short_sort.suits([moved], 1, last):
        outs = short_sort.emit_top_k(ctx, x, moved, k)
    elif ctx.platform == "cuda" and long_top_k.suits(ctx, moved):
        outs = long_top_k.emit_top_k(ctx, x, moved, k)
    else:
        outs = _emit_top_k(ctx, x, moved, k, out_avals)
    if axis == last:
        return outs
    return [
        families.emit_transpose(ctx, v, a, out, back)
        for v, a, out in zip(outs, out_avals, ctx.avals_out, strict=True)
    ]


def _emit_top_k(ctx: Any, x: str, aval: Any, k: int, out_avals: Any) -> list[str]:
    """The operation of CHLO, which fails for elements of less than a byte."""
    values, positions = out_avals
    wide, wide_values = aval, values
    if dtypes.itemsize_bits(aval.dtype) < 8 and aval.dtype != np.bool_:
        floating = dtypes.issubdtype(aval.dtype, np.floating)
        dtype = np.dtype(np.float16 if floating else np.int8)
        wide, wide_values = (ShapedArray(a.shape, dtype) for a in (aval, values))
        x = ctx.block.convert(x, aval, wide)
    kinds = f"{types.tensor_type(wide_values)}, {types.tensor_type(positions)}"
    outs = ctx.block.emit_many(
        f"chlo.top_k({x}, k = {k}) : {types.tensor_type(wide)} -> ({kinds})", 2
    )
    if wide is not aval:
        outs[0] = ctx.block.convert(outs[0], wide_values, values)
    return outs


def _permute_aval(aval: Any, order: Sequence[int]) -> Any:
    return ShapedArray(tuple([aval.shape[d] for d in order]), aval.dtype)


def _top_k_jvp(primals: Any, tangents: Any, *, k: int, axis: int) -> Any:
    return jvp_of_chosen(top_k_p.bind(*primals, k=k, axis=axis), tangents, axis)


def jvp_of_chosen(outs: Sequence[Any], tangents: Sequence[Any], axis: int) -> Any:
    """Results and tangents of what chose elements and tells their positions."""
    (t,), (values, positions) = tangents, outs
    zero = Zero(avals.aval_of(positions).to_tangent())
    if type(t) is Zero:
        return [values, positions], [Zero(avals.aval_of(values).to_tangent()), zero]
    return [values, positions], [gather.take_along(t, positions, axis), zero]


def _top_k_batch(mapped: Any, args: Any, dims: Any, *, k: int, axis: int) -> Any:
    (dim,) = dims
    return top_k_p.bind(args[0], k=k, axis=axis + (axis >= dim)), [dim, dim]


def _top_k_reference(x: Any, *, k: int, axis: int) -> Any:
    ranks = np.unique(x.astype(np.float64), return_inverse=True)[1].reshape(x.shape)
    order = np.argsort(-ranks, axis=axis, kind="stable")
    positions = np.take(order, range(k), axis)
    return [np.take_along_axis(x, positions, axis), positions.astype(np.int32)]


top_k_p = Primitive(
    "top_k",
    shard=sharding_rules.top_k,
    multiple_results=True,
    abstract=_top_k_abstract,
    lower=_top_k_lower,
    rewrite=_rewrite_narrow,
    jvp=_top_k_jvp,
    batch=_top_k_batch,
    reference=_top_k_reference,
    may_make_nan=False,
)


# -- functions -------------------------------------------------------------------------


@overload
def sort(
    operand: Array | np.ndarray,
    dimension: int = ...,
    is_stable: bool = ...,
    num_keys: int = ...,
) -> Array: ...
@overload
def sort(
    operand: Sequence[ArrayLike],
    dimension: int = ...,
    is_stable: bool = ...,
    num_keys: int = ...,
) -> tuple[Array, ...]: ...
def sort(
    operand: ArrayLike | Sequence[ArrayLike],
    dimension: int = -1,
    is_stable: bool = True,
    num_keys: int = 1,
) -> Array | tuple[Array, ...]:
    """Elements in ascending order along an axis; NaN comes last.

    Args:
      operand: an array, or a sequence of arrays of one shape that are reordered
        together, by the first of them.
      dimension: the axis; may be negative.
      is_stable: keep the order of equal elements.
      num_keys: by how many of the arrays, the first mattering most.

    Returns:
      An array, or a tuple of arrays for a sequence.

    Raises:
      TypeError: there is no operand, or shapes differ.
      ValueError: num_keys is not from 1 to the number of arrays.

    Source: `stablehlo.sort`.

    Example:
      >>> lax.sort((jnp.array([3, 1, 2]), jnp.array([30, 10, 20])), num_keys=1)
      (Array([1, 2, 3], dtype=int32), Array([10, 20, 30], dtype=int32))
    """
    several = isinstance(operand, Sequence)
    operands = tuple(operand) if isinstance(operand, Sequence) else (operand,)
    if not operands:
        raise TypeError("lax.sort: needs at least one operand, got none")
    rank = avals.aval_of(operands[0]).ndim
    outs = sort_p.bind(
        *operands,
        dimension=sizes.canonicalize_axis(dimension, rank, "lax.sort"),
        is_stable=bool(is_stable),
        num_keys=int(num_keys),
    )
    return tuple(outs) if several else outs[0]


def sort_key_val(
    keys: ArrayLike, values: ArrayLike, dimension: int = -1, is_stable: bool = True
) -> tuple[Array, Array]:
    """Keys in ascending order along an axis, and values in the order of their keys.

    Args:
      keys: array.
      values: array of the same shape.
      dimension: the axis; may be negative.
      is_stable: keep the order of equal keys.

    Example:
      >>> lax.sort_key_val(jnp.array([3, 1, 2]), jnp.array([30, 10, 20]))
      (Array([1, 2, 3], dtype=int32), Array([10, 20, 30], dtype=int32))
    """
    keys, values = sort((keys, values), dimension, is_stable)
    return keys, values


def top_k(
    operand: ArrayLike, k: int, *, axis: int = -1, is_stable: bool = True
) -> list[Array]:
    """The largest elements along an axis, in descending order, and their positions.

    Args:
      operand: array of bools, integers or floats.
      k: how many.
      axis: the axis; may be negative.
      is_stable: whether equal elements keep their order; here they always do.

    Returns:
      A list of two arrays of size `k` along the axis: values, and positions (int32).

    Raises:
      ValueError: the axis has fewer than `k` elements.

    Source: `chlo.top_k`.

    Example:
      >>> lax.top_k(jnp.array([10, 40, 30]), 2)
      [Array([40, 30], dtype=int32), Array([1, 2], dtype=int32)]
    """
    rank = avals.aval_of(operand).ndim
    axis = sizes.canonicalize_axis(axis, rank, "lax.top_k")
    return list(top_k_p.bind(operand, k=as_size(k), axis=axis))
