"""Writing by a plan of indices: blocks by slices, the rest by scatters."""

from __future__ import annotations

import math
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from olympus._src.control_flow import reduce
from olympus._src.core import avals
from olympus._src.core.sizes import is_constant_shape
from olympus._src.interpreters import evaluate
from olympus._src.lax import (
    concatenation,
    families,
    gather,
    scatter_functions,
    shaping,
    single_windows,
    slicing,
)
from olympus._src.lax import elementwise as lax
from olympus._src.lax.sizes import position_dtype
from olympus._src.numpy import index_parsing, indexing
from olympus._src.numpy.index_parsing import (
    ARRAY,
    INT,
    MOVING,
    NEW,
    SCALAR,
    SLICE,
    Mode,
    Plan,
)


class Options(NamedTuple):
    """How to write.

    Attributes:
      op: name of the method of `x.at[...]`.
      mode: what happens to positions out of bounds.
      is_sorted, unique: what is promised of the positions.
      wide: the dtype to compute in; None for the array's own.
    """

    op: str
    mode: Mode
    is_sorted: bool
    unique: bool
    wide: Any = None


def update_traced(
    x: Any, values: Any, *operands: Any, plan: Plan, options: Options
) -> Any:
    """`x` with `values` written at the plan's positions."""
    own = avals.aval_of(x)
    if options.wide is not None:
        narrow = options._replace(wide=None)
        wide, values = (lax.convert(v, options.wide) for v in (x, values))
        out = update_traced(wide, values, *operands, plan=plan, options=narrow)
        return lax.convert(out, own.dtype, own.weak_type)
    if plan.inserted:
        whole = shaping.expand_dims(x, plan.inserted)
        plan = plan.after_insertion()
        out = update_traced(whole, values, *operands, plan=plan, options=options)
        return shaping.reshape(out, own.shape)
    if _runs_backward(plan):
        plan, values = _forward(plan, values)
    if avals.aval_of(values).dtype == own.dtype:
        values = lax.convert(values, own.dtype)
    if own.weak_type:  # so that cotangents are as weak as what they belong to
        strong = lax.convert(x, own.dtype)
        out = update_traced(strong, values, *operands, plan=plan, options=options)
        return lax.convert(out, own.dtype, True)
    if _is_window(plan, options.mode):
        return _update_window(x, values, operands, plan, options.op)
    return _update_scattered(x, values, operands, plan, options)


update = evaluate.fuse(update_traced)
update.__name__ = "at"


def _is_window(plan: Plan, mode: Mode) -> bool:
    """Whether the index is one block within bounds, or to be moved inside."""
    # A number known to be outside (an entry of three) writes nothing in any mode.
    inside = (INT,) if mode is Mode.FILL_OR_DROP else (INT, SCALAR)
    return all(
        e[0] == NEW
        or (e[0] in inside and len(e) == 2)
        or (e[0] in (SLICE, MOVING) and e[3] == 1)
        for e in plan.entries
    )


def _runs_backward(plan: Plan) -> bool:
    """Whether slices of step -1 are there, and no array."""
    backward = [e for e in plan.entries if e[0] == SLICE and e[3] == -1]
    known = all(type(e[1]) is int and type(e[2]) is int and e[2] for e in backward)
    return bool(backward) and known and not plan.has(ARRAY)


def _forward(plan: Plan, values: Any) -> tuple[Plan, Any]:
    """A plan whose reversed slices run forward, and the values in that order."""
    entries: list[Any] = []
    reversed_: list[int] = []
    result_entries = [
        k for k, e in enumerate(plan.entries) if e[0] in (NEW, SLICE, MOVING)
    ]
    shape = avals.aval_of(values).shape
    for k, entry in enumerate(plan.entries):
        if entry[0] == SLICE and entry[3] == -1:
            _, start, size, _ = entry
            axis = result_entries.index(k) - len(result_entries) + len(shape)
            if axis >= 0 and shape[axis] != 1:
                reversed_.append(axis)
            entry = (SLICE, start - size + 1, size, 1)
        entries.append(entry)
    if reversed_:
        values = shaping.rev(values, tuple(reversed_))
    return Plan(tuple(entries), (), plan.distinct, plan.apart), values


def _update_window(x: Any, values: Any, operands: Any, plan: Plan, op: str) -> Any:
    """One block: sliced out, changed, and put back."""
    own = avals.aval_of(x)
    starts: list[Any] = []
    sizes: list[int] = []
    result: list[int] = []
    axes: list[int | None] = []  # of the block, for each axis of `x[index]`
    for entry in plan.entries:
        if entry[0] == NEW:
            result.append(1)
            axes.append(None)
        elif entry[0] in (SLICE, MOVING):
            known = entry[0] == SLICE
            axes.append(len(sizes))
            starts.append(entry[1] if known else operands[entry[1]])
            sizes.append(entry[2])
            result.append(entry[2])
        else:
            length = own.shape[len(sizes)]
            starts.append(indexing.position(operands[entry[1]], length, entry))
            sizes.append(1)
    check_values(values, tuple(result), op)
    if 0 in sizes:
        return x
    whole = tuple(sizes) == own.shape
    starts = indexing.one_dtype(starts)
    linear = op in _LINEAR and not whole and is_constant_shape((*own.shape, *sizes))
    if op == "set" or linear or avals.aval_of(values).ndim:
        values = _as_block(values, tuple(sizes), axes)
    if linear:  # its transpose leaves the cotangent of `x` as it is
        return single_windows.accumulate(_LINEAR[op], x, starts, values)
    if op != "set":
        old = x
        if not whole:
            old = slicing.dynamic_slice(x, starts, sizes, allow_negative_indices=False)
        values = combine(op, old, values)
    if whole:
        return lax.convert(values, own.dtype)
    return slicing.dynamic_update_slice(x, values, starts, allow_negative_indices=False)


_LINEAR = {"add": "scatter_add", "subtract": "scatter_sub"}


def _as_block(values: Any, sizes: tuple[int, ...], axes: list[int | None]) -> Any:
    """Values that broadcast against a result whose axes are `axes` of the block."""
    own = avals.aval_of(values).shape
    drop = max(len(own) - len(axes), 0)
    axes = axes[len(axes) - len(own) + drop :]
    pairs = [(n, a) for n, a in zip(own[drop:], axes, strict=True) if a is not None]
    shape, dims = tuple([n for n, _ in pairs]), [a for _, a in pairs]
    if math.prod(shape) == math.prod(sizes):
        return values if own == sizes else shaping.reshape(values, sizes)
    if shape != own:
        values = shaping.reshape(values, shape)
    return shaping.broadcast_in_dim(values, sizes, dims)


def combine(op: str, old: Any, new: Any) -> Any:
    combine = {
        "add": lax.add,
        "subtract": lax.sub,
        "multiply": lax.mul,
        "min": lax.min_,
        "max": lax.max_,
    }[op]
    if avals.aval_of(old).dtype == np.bool_ and op in ("add", "multiply"):
        combine = lax.bitwise_or if op == "add" else lax.bitwise_and
    return combine(old, new)


def broadcast_values(values: Any, shape: tuple[int, ...], op: str) -> Any:
    """Values repeated to the shape of what they replace."""
    check_values(values, shape, op)
    own = avals.aval_of(values).shape
    if len(own) > len(shape):  # leading axes of size one may be left out, as in NumPy
        own = own[len(own) - len(shape) :]
        values = shaping.reshape(values, own)
    return families.broadcast_to_shape(values, shape)


def check_values(values: Any, shape: tuple[int, ...], op: str) -> None:
    """Raises ValueError unless values broadcast to the shape of what they replace."""
    own = avals.aval_of(values).shape
    front = max(len(own) - len(shape), 0)
    if any(n != 1 for n in own[:front]) or any(
        a not in (1, b) for a, b in zip(own[front:][::-1], shape[::-1], strict=False)
    ):
        raise ValueError(
            f"at[...].{op}: values must broadcast to the indexed shape {shape}, got "
            f"shape {own}; pass values of that shape, or index only their positions"
        )


def _update_scattered(
    x: Any, values: Any, operands: Any, plan: Plan, options: Options
) -> Any:
    x_shape = avals.aval_of(x).shape
    layout = indexing.Layout(x_shape, plan.entries, operands, plan.apart)
    blocks = indexing.partial_blocks(plan.entries, x_shape)
    partial = _partial_slices(plan, x_shape, operands)
    partial = {axis: p for axis, p in partial.items() if axis not in blocks}
    result = _result_shape(layout, partial, x_shape, blocks)
    check_values(values, result, options.op)
    if not avals.aval_of(x).size or 0 in result:
        return x
    old_axes = [k for k, label in enumerate(layout.labels) if label != NEW]
    labels = [layout.labels[k] for k in old_axes]
    # In the order scatter wants: arrays' axes, partly taken axes, whole axes.
    order = [k for k, label in enumerate(labels) if label == "batch"]
    order += [labels.index(axis) for axis in partial]
    n_scattered = len(order)
    order += [k for k in range(len(labels)) if k not in order]
    if avals.aval_of(values).ndim:
        values = broadcast_values(values, result, options.op)
        values = shaping.reshape(values, tuple([result[k] for k in old_axes]))
        values = shaping.transpose(values, tuple(order))
    else:
        values = shaping.broadcast(values, [result[old_axes[k]] for k in order])
    mode = options.mode
    if mode is Mode.FILL_OR_DROP and plan.is_inside():
        mode = Mode.PROMISE_IN_BOUNDS  # the derivative has nothing to look for
    return _SCATTERS[options.op](
        x,
        _indices(layout, partial, blocks),
        values,
        _numbers(layout, partial, n_scattered, len(order), blocks),
        indices_are_sorted=options.is_sorted or plan.is_sorted(),
        unique_indices=options.unique or plan.distinct,
        mode=mode,
    )


def apply_traced(
    x: Any, *operands: Any, plan: Plan, options: Options, func: Any
) -> Any:
    """`x` with a function applied at the plan's positions, as often as they occur."""
    if plan.inserted:
        whole = shaping.expand_dims(x, plan.inserted)
        plan = plan.after_insertion()
        out = apply_traced(whole, *operands, plan=plan, options=options, func=func)
        return shaping.reshape(out, avals.aval_of(x).shape)
    x_shape = avals.aval_of(x).shape
    layout = indexing.Layout(x_shape, plan.entries, operands, plan.apart)
    partial = _partial_slices(plan, x_shape, operands)
    if not avals.aval_of(x).size or 0 in _result_shape(layout, partial, x_shape):
        return x
    scattered = (*layout.axes, *partial)
    windows = [n for axis, n in enumerate(x_shape) if axis not in scattered]
    before = layout.batch + tuple([avals.aval_of(p).size for p in partial.values()])
    return reduce.scatter_apply(
        x,
        _indices(layout, partial),
        func,
        _numbers(layout, partial, len(before), len(before) + len(windows)),
        update_shape=(*before, *windows),
        indices_are_sorted=options.is_sorted,
        unique_indices=options.unique,
        mode=options.mode,
    )


def _result_shape(
    layout: Any, partial: Any, x_shape: Any, blocks: Any = MappingProxyType({})
) -> tuple[int, ...]:
    """The shape of `x[index]`."""
    result = []
    batch = iter(layout.batch)
    for label in layout.labels:
        if label == NEW:
            result.append(1)
        elif label == "batch":
            result.append(next(batch))
        elif label in partial:
            result.append(avals.aval_of(partial[label]).size)
        elif label in blocks:
            result.append(blocks[label][1])
        else:
            result.append(x_shape[label])
    return tuple(result)


def _numbers(
    layout: Any, partial: Any, n_scattered: int, rank: int, blocks: Any = ()
) -> Any:
    axes = (*layout.axes, *partial)
    return gather.ScatterDimensionNumbers(
        update_window_dims=tuple(range(n_scattered, rank)),
        inserted_window_dims=tuple(sorted(axes)),
        scatter_dims_to_operand_dims=(*axes, *blocks),
    )


def _partial_slices(plan: Plan, shape: Any, operands: Any) -> dict[int, Any]:
    """Axes of which a slice takes a part, and the positions it takes."""
    positions: dict[int, Any] = {}
    axis = 0
    for entry in plan.entries:
        if entry[0] == NEW:
            continue
        if entry[0] == SLICE:
            _, start, size, step = entry
            if (start, size, step) != (0, shape[axis], 1):
                positions[axis] = _list_slice_positions(start, size, step)
        elif entry[0] == MOVING:
            _, operand, size, step = entry
            reach = (size - 1) * step
            (low,) = indexing.one_dtype([operands[operand]])
            if type(shape[axis]) is int:  # as the slices that read
                low = lax.clamp(0, low, shape[axis] - 1 - abs(reach))
            counter = position_dtype(size)
            steps = np.arange(size, dtype=counter) * step - min(0, reach)
            positions[axis] = lax.add(steps.astype(avals.aval_of(low).dtype), low)
        axis += 1
    return positions


def _list_slice_positions(start: Any, size: Any, step: int) -> Any:
    """The positions that a slice takes."""
    if type(size) is int and type(start) is int:
        counter = position_dtype(index_parsing.forward(start, size, step)[1])
        return np.arange(size, dtype=counter) * step + start
    kind = np.dtype(np.int32)
    steps = lax.mul(shaping.iota(kind, size), kind.type(step))
    return lax.add(steps, lax.size_value(start, kind))


def _indices(
    layout: Any, partial: dict[int, Any], blocks: Any = MappingProxyType({})
) -> Any:
    """Positions along each scattered axis, over all arrays' and slices' axes.

    After them come the starts of blocks, which are the same everywhere.
    """
    starts = [start for start, _ in blocks.values()]
    if not partial and layout.positions:
        return indexing.join_positions(layout.positions, layout.batch, starts)
    along = indexing.one_dtype([*layout.positions, *partial.values()])
    n, m = len(layout.batch), len(layout.positions)
    shape = layout.batch + tuple([avals.aval_of(p).size for p in partial.values()])
    parts = [
        shaping.broadcast_in_dim(p, (*shape, 1), tuple(range(n))) for p in along[:m]
    ]
    parts += [
        shaping.broadcast_in_dim(p, (*shape, 1), (n + k,))
        for k, p in enumerate(along[m:])
    ]
    kind = avals.aval_of(along[0]).dtype if along else np.dtype(np.int32)
    kind = indexing.dtype_with(kind, starts)
    parts = [lax.convert(p, kind) for p in parts]
    parts += [shaping.full((*shape, 1), kind.type(start)) for start in starts]
    return parts[0] if len(parts) == 1 else concatenation.concatenate(parts, len(shape))


_SCATTERS = {
    "set": scatter_functions.scatter,
    "add": scatter_functions.scatter_add,
    "subtract": scatter_functions.scatter_sub,
    "multiply": scatter_functions.scatter_mul,
    "min": scatter_functions.scatter_min,
    "max": scatter_functions.scatter_max,
}
