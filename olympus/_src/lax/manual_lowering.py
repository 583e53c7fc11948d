"""Collectives over manual axes of a mesh, as StableHLO.

Devices are identified by their position in the mesh. A collective over some axes runs
in groups of devices that differ in their positions along these axes alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from olympus._src.core import avals, trace
from olympus._src.lowering import partitioning, types
from olympus._src.sharding.specs import PartitionSpec

ShapedArray = avals.ShapedArray

# What XLA does not do with complex values, and says only when the program runs.
_OF_REAL_VALUES = frozenset(("stablehlo.maximum", "stablehlo.minimum"))

_CHANNEL = "channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>"


def mesh_of(ctx: Any, names: Sequence[Any], what: str) -> Any:
    """The mesh of the program around a collective, which must be manual along names.

    Raises:
      NameError: it is not.
    """
    manual = ctx.module.manual
    for name in names:
        if manual is None or name not in manual.axes:
            raise trace.unbound_axis(name, what)
    return manual.mesh


def device_groups(mesh: Any, names: Sequence[Any], index_groups: Any) -> np.ndarray:
    """Positions of devices in rows: one for each group, in the order of its indices."""
    sizes = mesh.shape
    positions = np.arange(mesh.size).reshape(mesh.axis_sizes)
    axes = [mesh.axis_names.index(name) for name in names]
    n = int(np.prod([sizes[name] for name in names], dtype=np.int64))
    last = range(-len(axes), 0)
    rows = np.moveaxis(positions, axes, list(last)).reshape(-1, n)
    if index_groups is None:
        return rows
    return np.concatenate([rows[:, list(group)] for group in index_groups])


def _groups_text(groups: np.ndarray) -> str:
    rows = ", ".join([f"[{', '.join(map(str, row))}]" for row in groups.tolist()])
    n, size = groups.shape
    return f"replica_groups = dense<[{rows}]> : tensor<{n}x{size}xi64>"


def _sum_region(ctx: Any, op: str, dtype: Any) -> str:
    block = ctx.block.inner()
    scalar = ShapedArray((), dtype)
    names = block.arguments([scalar, scalar])
    out = block.elementwise(op, names, scalar)
    return block.region(names, [scalar, scalar], [out], [scalar])


def all_reduce(
    ctx: Any, op: str, x: str, aval: Any, names: Any, index_groups: Any, what: str
) -> str:
    """What an operation makes of the values of a group, on each of its devices."""
    mesh = mesh_of(ctx, names, what)
    if np.issubdtype(aval.dtype, np.complexfloating) and op in _OF_REAL_VALUES:
        raise NotImplementedError(
            f"{what}: values of different devices must be real, got {aval.short()}; "
            "write the extreme of lax.all_gather of them"
        )
    groups = _groups_text(device_groups(mesh, names, index_groups))
    return ctx.block.op1(
        "stablehlo.all_reduce",
        [x],
        [aval],
        aval,
        f"{groups}, {_CHANNEL}, use_global_device_ids",
        [_sum_region(ctx, op, aval.dtype)],
    )


def all_gather(
    ctx: Any, x: str, *, all_gather_dimension: int, axis_index_groups: Any,
    axis_name: Any, axis_size: int, tiled: bool,
) -> str:  # fmt: skip
    """The values of a group, joined along an axis, or along a new one."""
    (aval,), (out,) = ctx.avals_in, ctx.avals_out
    mesh = mesh_of(ctx, axis_name, "all_gather")
    d = all_gather_dimension
    block = ctx.block
    if not tiled:
        wide = aval.update(shape=(*aval.shape[:d], 1, *aval.shape[d:]))
        x, aval = block.reshape(x, aval, wide), wide
    groups = _groups_text(device_groups(mesh, axis_name, axis_index_groups))
    return block.op1(
        "stablehlo.all_gather",
        [x],
        [aval],
        out,
        f"all_gather_dim = {d} : i64, {groups}, {_CHANNEL}, use_global_device_ids",
    )


def reduce_scatter(
    ctx: Any, x: str, *, axis_index_groups: Any, axis_name: Any, axis_size: int,
    scatter_dimension: int, tiled: bool,
) -> str:  # fmt: skip
    """The sum of the values of a group, of which each device gets a part."""
    (aval,), (out,) = ctx.avals_in, ctx.avals_out
    mesh = mesh_of(ctx, axis_name, "psum_scatter")
    d = scatter_dimension
    groups = _groups_text(device_groups(mesh, axis_name, axis_index_groups))
    length = aval.shape[d] // axis_size
    part = aval.update(shape=(*aval.shape[:d], length, *aval.shape[d + 1 :]))
    y = ctx.block.op1(
        "stablehlo.reduce_scatter",
        [x],
        [aval],
        part,
        f"scatter_dimension = {d} : i64, {groups}, {_CHANNEL}, use_global_device_ids",
        [_sum_region(ctx, "stablehlo.add", aval.dtype)],
    )
    return y if tiled else ctx.block.reshape(y, part, out)


def all_to_all(
    ctx: Any, x: str, *, split_axis: int, concat_axis: int, axis_index_groups: Any,
    axis_name: Any, axis_size: int, tiled: bool,
) -> str:  # fmt: skip
    """Parts of an axis distributed to a group, and those received joined along one."""
    names = axis_name if isinstance(axis_name, tuple) else (axis_name,)
    mesh = mesh_of(ctx, names, "all_to_all")
    groups = _groups_text(device_groups(mesh, names, axis_index_groups))
    (aval,), (out,) = ctx.avals_in, ctx.avals_out
    return ctx.block.op1(
        "stablehlo.all_to_all",
        [x],
        [aval],
        out,
        f"split_dimension = {split_axis} : i64, concat_dimension = {concat_axis} : i64,"
        f" split_count = {axis_size} : i64, {groups}, {_CHANNEL}",
    )


def permute(ctx: Any, x: str, *, axis_name: Any, perm: Any) -> str:
    """Values sent from device to device; one that receives nothing gets zeros."""
    mesh = mesh_of(ctx, axis_name, "ppermute")
    groups = device_groups(mesh, axis_name, None)
    pairs = [[int(row[s]), int(row[d])] for row in groups for s, d in perm]
    (aval,) = ctx.avals_in
    rows = f"[{', '.join(map(str, pairs))}]" if pairs else ""
    return ctx.block.op1(
        "stablehlo.collective_permute",
        [x],
        [aval],
        aval,
        f"source_target_pairs = dense<{rows}> : tensor<{len(pairs)}x2xi64>, {_CHANNEL}",
    )


def axis_index(ctx: Any, *, axis_name: Any, varies: bool) -> str:
    """The position of the device along an axis."""
    mesh = mesh_of(ctx, (axis_name,), "axis_index")
    (out,) = ctx.avals_out
    free = [n for n in mesh.axis_names if n not in ctx.module.manual.axes]
    if not free or mesh.size == 1:
        return _device_position(ctx.block, mesh, axis_name, out)
    # The compiler refuses it where it divides values further, along other axes.
    block, kind = ctx.block.inner(), types.tensor_type(out)
    index = _device_position(block, mesh, axis_name, out)
    region = block.region((), (), [index], [out], "sdy.return")
    sharding = partitioning.sharding_text(ctx.module.mesh(mesh), PartitionSpec(), 0)
    axes = ", ".join(map(partitioning.axis_text, free))
    return ctx.block.emit(
        f"sdy.manual_computation() in_shardings=[] out_shardings=[{sharding}] "
        f"manual_axes={{{axes}}} () {region} : () -> {kind}"
    )


def _device_position(block: Any, mesh: Any, axis_name: Any, out: Any) -> str:
    word = ShapedArray((), np.dtype(np.uint32))
    index = block.emit(f"stablehlo.partition_id : {types.tensor_type(word)}")
    axis = mesh.axis_names.index(axis_name)
    stride = int(np.prod(mesh.axis_sizes[axis + 1 :], dtype=np.int64))
    for op, number in (("divide", stride), ("remainder", mesh.axis_sizes[axis])):
        divisor = block.constant(np.uint32(number), word)
        index = block.elementwise(f"stablehlo.{op}", [index, divisor], word)
    return block.convert(index, word, out)
