"""Primitives that exchange data between the elements along a named, mapped axis."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from olympus._src.core import avals, trace
from olympus._src.core.symbolic_values import Zero
from olympus._src.lax import (
    collectives,
    concatenation,
    elementwise,
    families,
    gather,
    manual_axes,
    manual_lowering,
    shaping,
    sharding_rules,
    slicing,
)
from olympus._src.lax.collectives import (
    batch_other_axes,
    by_group,
    collective,
    in_front,
    named,
)

ShapedArray = avals.ShapedArray

# -- all_gather ------------------------------------------------------------------------


def _merge_axes(x: Any, position: int, count: int = 2) -> Any:
    """`x` with `count` neighbouring axes as one."""
    shape = avals.aval_of(x).shape
    size = math.prod(shape[position : position + count])
    return shaping.reshape(x, (*shape[:position], size, *shape[position + count :]))


def _split_axis(x: Any, position: int, parts: Sequence[int]) -> Any:
    """`x` with an axis as several."""
    shape = avals.aval_of(x).shape
    return shaping.reshape(x, (*shape[:position], *parts, *shape[position + 1 :]))


def _all_gather_abstract(
    x: Any, *, all_gather_dimension: int, axis_size: int, tiled: bool, **_: Any
) -> Any:
    d, shape = all_gather_dimension, x.shape
    if tiled:
        shape = (*shape[:d], shape[d] * axis_size, *shape[d + 1 :])
    else:
        shape = (*shape[:d], axis_size, *shape[d:])
    return ShapedArray(shape, x.dtype, x.weak_type)


def _all_gather_batch(
    axis: Any,
    args: Any,
    dims: Any,
    *,
    all_gather_dimension: int,
    axis_index_groups: Any,
    axis_name: Any,
    axis_size: int,
    tiled: bool,
) -> Any:
    (x,), (dim,), names = args, dims, named(axis_name)
    position = all_gather_dimension

    def gather_other(x: Any, dim: int | None, **params: Any) -> Any:
        """Gathers over axes that are not the mapped one."""
        params["axis_index_groups"] = axis_index_groups
        return batch_other_axes(
            x,
            dim,
            lambda x, shift: all_gather_p.bind(
                x, all_gather_dimension=position + shift, **params
            ),
        )

    def move_mapped_axis(size: int, x: Any, dim: int | None) -> Any:
        if dim is None:
            return families.insert_axis(x, position, size), None
        return families.move_axis(x, dim, position), None

    if axis.name not in names:
        return gather_other(
            x, dim, axis_name=axis_name, axis_size=axis_size, tiled=tiled
        )
    for name in reversed(names):  # the last name varies fastest
        if name == axis.name:
            x, dim = by_group(axis_index_groups, axis, x, dim, move_mapped_axis)
            continue
        size = trace.axis_size(name, "all_gather") if len(names) > 1 else axis_size
        x, dim = gather_other(x, dim, axis_name=(name,), axis_size=size, tiled=False)
    count = len(names) + tiled
    if count > 1:
        return batch_other_axes(
            x, dim, lambda x, shift: _merge_axes(x, position + shift, count)
        )
    return x, dim


def _all_gather_transpose(
    cts: Any, x: Any, *, all_gather_dimension: int, **params: Any
) -> Any:
    if type(cts[0]) is Zero:
        return [Zero(x.aval)]
    ct = cts[0]
    return [reduce_scatter_p.bind(ct, scatter_dimension=all_gather_dimension, **params)]


all_gather_p = collective(
    "all_gather",
    abstract=_all_gather_abstract,
    shard=sharding_rules.all_gather,
    lower=manual_lowering.all_gather,
    batch=_all_gather_batch,
    transpose=_all_gather_transpose,
    **families.LINEAR,
)


def _all_gather_invariant_transpose(
    cts: Any,
    x: Any,
    *,
    all_gather_dimension: int,
    axis_index_groups: Any,
    axis_name: Any,
    axis_size: int,
    tiled: bool,
) -> Any:
    """The device's own part of a cotangent that is the same on all."""
    if type(cts[0]) is Zero:
        return [Zero(x.aval)]
    ct, d = manual_axes.vary(cts[0], axis_name), all_gather_dimension
    length = x.aval.shape[d] if tiled else 1
    index: Any = np.int32(0)
    for name in axis_name:
        size = np.int32(trace.axis_size(name, "all_gather"))
        own = collectives.axis_index(name)
        index = elementwise.add(elementwise.mul(index, size), own)
    start = elementwise.mul(index, np.int32(length))
    part = slicing.dynamic_slice_in_dim(ct, start, length, d)
    return [part if tiled else shaping.squeeze(part, (d,))]


def _all_gather_invariant_batch(
    axis: Any, args: Any, dims: Any, *, all_gather_dimension: int, **params: Any
) -> Any:
    """Manual axes are never mapped ones."""
    return batch_other_axes(
        args[0],
        dims[0],
        lambda x, shift: all_gather_invariant_p.bind(
            x, all_gather_dimension=all_gather_dimension + shift, **params
        ),
    )


all_gather_invariant_p = collective(
    "all_gather_invariant",
    abstract=_all_gather_abstract,
    shard=sharding_rules.all_gather,
    batch=_all_gather_invariant_batch,
    lower=manual_lowering.all_gather,
    vary=lambda joined, *, axis_name, **_: joined - set(axis_name),
    transpose=_all_gather_invariant_transpose,
    **families.LINEAR,
)


# -- reduce_scatter --------------------------------------------------------------------


def _reduce_scatter_abstract(
    x: Any, *, scatter_dimension: int, axis_size: int, tiled: bool, **_: Any
) -> Any:
    d, shape = scatter_dimension, x.shape
    block_sizes = (shape[d] // axis_size,) if tiled else ()
    return ShapedArray(
        (*shape[:d], *block_sizes, *shape[d + 1 :]), x.dtype, x.weak_type
    )


def _own(x: Any, dim: int | None, position: int) -> int:
    """The size of an axis, counted without the mapped one."""
    return avals.aval_of(x).shape[position + (dim is not None and dim <= position)]


def _reduce_scatter_batch(
    axis: Any,
    args: Any,
    dims: Any,
    *,
    axis_index_groups: Any,
    axis_name: Any,
    axis_size: int,
    scatter_dimension: int,
    tiled: bool,
) -> Any:
    (x,), (dim,), names = args, dims, named(axis_name)
    position = scatter_dimension

    def scatter_other(x: Any, dim: int | None, **params: Any) -> Any:
        """Scatters over axes that are not the mapped one."""
        params["axis_index_groups"] = axis_index_groups
        return batch_other_axes(
            x,
            dim,
            lambda x, shift: reduce_scatter_p.bind(
                x, scatter_dimension=position + shift, **params
            ),
        )

    def sum_mapped_axis(size: int, x: Any, dim: int | None) -> Any:
        if dim is None:
            return collectives.times(x, size), position
        x = families.move_axis(x, dim, 0)
        return families.reduce_sum_p.bind(x, axes=(0,)), position

    if axis.name not in names:
        return scatter_other(
            x, dim, axis_name=axis_name, axis_size=axis_size, tiled=tiled
        )
    sizes = [axis_size]
    if len(names) > 1:
        sizes = [trace.axis_size(name, "psum_scatter") for name in names]
    if tiled or len(names) > 1:
        parts = list(sizes)
        if tiled:
            parts.append(_own(x, dim, position) // axis_size)
        x, dim = batch_other_axes(
            x, dim, lambda x, shift: _split_axis(x, position + shift, parts)
        )
    for name, size in zip(names, sizes, strict=True):
        if name == axis.name:
            x, dim = by_group(axis_index_groups, axis, x, dim, sum_mapped_axis)
            continue
        x, dim = scatter_other(x, dim, axis_name=(name,), axis_size=size, tiled=False)
    return x, dim


def _reduce_scatter_transpose(
    cts: Any, x: Any, *, scatter_dimension: int, **params: Any
) -> Any:
    if type(cts[0]) is Zero:
        return [Zero(x.aval)]
    ct = cts[0]
    return [all_gather_p.bind(ct, all_gather_dimension=scatter_dimension, **params)]


reduce_scatter_p = collective(
    "reduce_scatter",
    abstract=_reduce_scatter_abstract,
    shard=sharding_rules.reduce_scatter,
    lower=manual_lowering.reduce_scatter,
    batch=_reduce_scatter_batch,
    transpose=_reduce_scatter_transpose,
    **families.LINEAR,
)


# -- all_to_all ------------------------------------------------------------------------


def _all_to_all_abstract(
    x: Any, *, split_axis: int, concat_axis: int, axis_size: int, **_: Any
) -> Any:
    shape = list(x.shape)
    shape[split_axis] //= axis_size
    shape[concat_axis] *= axis_size
    return ShapedArray(tuple(shape), x.dtype, x.weak_type)


def _all_to_all_batch(
    axis: Any,
    args: Any,
    dims: Any,
    *,
    split_axis: int,
    concat_axis: int,
    axis_name: Any,
    axis_index_groups: Any,
    axis_size: int,
    tiled: bool,
) -> Any:
    (x,), (dim,), names = args, dims, named(axis_name)
    if axis.name not in names:
        return batch_other_axes(
            x,
            dim,
            lambda x, shift: all_to_all_p.bind(
                x,
                split_axis=split_axis + shift,
                concat_axis=concat_axis + shift,
                axis_name=axis_name,
                axis_index_groups=axis_index_groups,
                axis_size=axis_size,
                tiled=tiled,
            ),
        )
    if len(names) > 1:
        return _all_to_all_by_name(axis, x, dim, names, split_axis, concat_axis)

    def exchanged(size: int, x: Any, dim: int | None) -> Any:
        return _exchange(in_front(x, dim, size), size, split_axis, concat_axis), 0

    return by_group(axis_index_groups, axis, x, dim, exchanged)


def _exchange(x: Any, size: int, split_axis: int, concat_axis: int) -> Any:
    """Element i gets part i of each element's `split_axis`, joined in `concat_axis`.

    Args:
      x: mapped in front; the other axes are counted without that.
    """
    own = avals.aval_of(x).shape[split_axis + 1]
    x = _split_axis(x, split_axis + 1, (size, own // size))
    x = families.move_axis(x, split_axis + 1, 0)  # who gets it, who gives it, ...
    x = families.move_axis(x, 1, concat_axis + 1)
    return _merge_axes(x, concat_axis + 1)


def _all_to_all_by_name(
    axis: Any, x: Any, dim: Any, names: Any, split_axis: int, concat_axis: int
) -> Any:
    """Over several names: over one after another, on axes of their own."""
    sizes = [trace.axis_size(name, "all_to_all") for name in names]
    x = in_front(x, dim, axis.size)
    shape: list[int] = [axis.size]
    for i, own in enumerate(avals.aval_of(x).shape[1:]):
        if i == split_axis:
            split_at = len(shape)
            shape += sizes
            own //= math.prod(sizes)
        if i == concat_axis:
            concat_at = len(shape)
            shape += [1] * len(sizes)
        shape.append(own)
    x, out_dim = shaping.reshape(x, shape), 0
    for i, (name, size) in enumerate(zip(names, sizes, strict=True)):
        places = split_at + i, concat_at + i
        if name == axis.name:
            x = _exchange(x, size, places[0] - 1, places[1] - 1)
            continue
        x = all_to_all_p.bind(
            x,
            split_axis=places[0],
            concat_axis=places[1],
            axis_name=name,
            axis_index_groups=None,
            axis_size=size,
            tiled=True,
        )
    ones = tuple(range(split_at, split_at + len(sizes)))
    x = shaping.squeeze(x, ones)
    start = concat_at - (len(sizes) if concat_at > split_at else 0)
    return _merge_axes(x, start, len(sizes) + 1), out_dim


def _all_to_all_transpose(
    cts: Any, x: Any, *, split_axis: int, concat_axis: int, **params: Any
) -> Any:
    if type(cts[0]) is Zero:
        return [Zero(x.aval)]
    back = {"split_axis": concat_axis, "concat_axis": split_axis}
    return [all_to_all_p.bind(cts[0], **back, **params)]


def _without_size(eqn: Any) -> Any:
    """The size of the axis is not shown: the types of operand and result tell it."""
    return [(k, v) for k, v in sorted(eqn.params.items()) if k != "axis_size"]


all_to_all_p = collective(
    "all_to_all",
    abstract=_all_to_all_abstract,
    shard=sharding_rules.same_rank,
    lower=manual_lowering.all_to_all,
    batch=_all_to_all_batch,
    transpose=_all_to_all_transpose,
    print=_without_size,
    **families.LINEAR,
)


# -- ppermute --------------------------------------------------------------------------


def _ppermute_batch(
    axis: Any, args: Any, dims: Any, *, axis_name: Any, perm: Any
) -> Any:
    (x,), (dim,), names = args, dims, named(axis_name)
    if axis.name not in names:
        return batch_other_axes(
            x,
            dim,
            lambda x, shift: ppermute_p.bind(x, axis_name=axis_name, perm=perm),
        )
    if len(names) > 1:
        return _ppermute_by_name(axis, x, dim, names, {d: s for s, d in perm})
    sources = {d: s for s, d in perm}
    if dim is None and len(sources) == axis.size:
        return x, None
    x = in_front(x, dim, axis.size)
    source_rows = [sources.get(i, axis.size) for i in range(axis.size)]
    if len(sources) < axis.size:  # one more row, of zeros, for those who get nothing
        nothing = families.full_like(concatenation.slice_in_dim(x, 0, 1), 0)
        x = concatenation.concatenate([x, nothing], 0)
    return collectives.rows(x, source_rows), 0


def _ppermute_by_name(
    axis: Any, x: Any, dim: Any, names: Any, sources: dict[int, int]
) -> Any:
    """Over several names: each element picks from all of them."""
    sizes = [trace.axis_size(name, "ppermute") for name in names]
    count = math.prod(sizes)
    table = np.asarray([sources.get(i, -1) for i in range(count)], np.int32)
    everyone, _ = _all_gather_batch(
        axis,
        (x,),
        (dim,),
        all_gather_dimension=0,
        axis_index_groups=None,
        axis_name=names,
        axis_size=count,
        tiled=False,
    )
    index: Any = np.zeros((), np.int32)
    for name, size in zip(names, sizes, strict=True):
        mine = shaping.iota(np.int32, size)
        if name != axis.name:
            mine = collectives.axis_index(name)
        index = elementwise.add(elementwise.mul(index, np.int32(size)), mine)
    source = gather.index_take(table, (index,), (0,))
    rows = gather.index_take(everyone, (elementwise.max_(source, _ZERO),), (0,))
    shape = avals.aval_of(rows).shape
    valid = families.broadcast_in_dim_p.bind(
        elementwise.ge(source, _ZERO),
        shape=shape,
        broadcast_dimensions=(0,),
        sharding=None,
    )
    return elementwise.select(valid, rows, families.full_like(rows, 0)), 0


_ZERO = np.int32(0)


def _ppermute_transpose(cts: Any, x: Any, *, axis_name: Any, perm: Any) -> Any:
    if type(cts[0]) is Zero:
        return [Zero(x.aval)]
    back = tuple([(d, s) for s, d in perm])
    return [ppermute_p.bind(cts[0], axis_name=axis_name, perm=back)]


ppermute_p = collective(
    "ppermute",
    abstract=lambda x, *, axis_name, perm: x,
    shard=sharding_rules.keep,
    lower=manual_lowering.permute,
    batch=_ppermute_batch,
    transpose=_ppermute_transpose,
    **families.LINEAR,
)


# -- pbroadcast ------------------------------------------------------------------------


def _pbroadcast_batch(
    axis: Any, args: Any, dims: Any, *, axis_name: Any, source: int
) -> Any:
    (x,), (dim,), names = args, dims, named(axis_name)

    def rebind(name: Any, source: int, x: Any, dim: int | None) -> Any:
        return batch_other_axes(
            x,
            dim,
            lambda x, shift: pbroadcast_p.bind(x, axis_name=name, source=source),
        )

    if axis.name not in names:
        return rebind(axis_name, source, x, dim)
    sizes = [axis.size]
    if len(names) > 1:
        sizes = [trace.axis_size(name, "pbroadcast") for name in names]
    for name, index in zip(names, np.unravel_index(source, sizes), strict=True):
        if name != axis.name:
            x, dim = rebind(name, int(index), x, dim)
        elif dim is not None:
            x, dim = (
                concatenation.index_in_dim(x, int(index), dim, keepdims=False),
                None,
            )
    return x, dim


def _pbroadcast_transpose(cts: Any, x: Any, *, axis_name: Any, source: int) -> Any:
    """What all elements got came from one: it gets the sum, the others nothing."""
    if type(cts[0]) is Zero:
        return [Zero(x.aval)]
    names = named(axis_name)
    total = collectives.psum_p.bind(cts[0], axes=names, axis_index_groups=None)
    index: Any = _ZERO
    for name in names:
        size = trace.axis_size(name, "pbroadcast")
        mine = collectives.axis_index(name)
        index = elementwise.add(elementwise.mul(index, np.int32(size)), mine)
    is_source = elementwise.eq(index, np.int32(source))
    return [elementwise.select(is_source, total, families.full_like(total, 0))]


pbroadcast_p = collective(
    "pbroadcast",
    abstract=lambda x, *, axis_name, source: x,
    shard=sharding_rules.keep,
    batch=_pbroadcast_batch,
    transpose=_pbroadcast_transpose,
    **families.LINEAR,
)
