"""Indexing: reading by a plan.

Reading small parts of a ready array on the CPU needs no program at all.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from olympus._src.core import avals, dtypes, trace
from olympus._src.core.sizes import is_symbolic
from olympus._src.foundation import config
from olympus._src.interpreters import concrete_arrays, evaluate
from olympus._src.lax import concatenation, families, gather, shaping, slicing
from olympus._src.lax import elementwise as lax
from olympus._src.lax import sizes as size_rules
from olympus._src.lax.sizes import MAX_NARROW
from olympus._src.numpy import index_parsing
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

# -- reading ---------------------------------------------------------------------------

_HOST_BYTES = 1 << 16  # parts up to this size are read by way of the host


def getitem(x: Any, index: Any) -> Any:
    """`x[index]`."""
    if type(x) is concrete_arrays.ArrayImpl and evaluate.is_evaluating():
        out = _from_host(x, index)
        if config.debug_key_reuse.value:
            return evaluate.share_keys(x, take(x, index) if out is None else out, index)
        if out is not None:
            return out
    return take(x, index)


def _from_host(x: Any, index: Any) -> Any:
    """A small part of an array that is ready on the CPU; None to compute it instead."""
    aval = x.aval
    shape = aval.shape
    if type(index) is int:
        if not shape or not shape[0]:
            return None
        n = shape[0]
        i = index + n if index < 0 else index
        if not 0 <= i < n:
            if config.check_static_indices.value:
                return None
            i = min(max(i, 0), n - 1)
        if aval.size // n * aval.dtype.itemsize > _HOST_BYTES:
            return None
        view = x.host_view()
        if view is None:
            return None
        part = view[i]
    else:
        items = index if type(index) is tuple else (index,)
        if not all(map(_is_basic, items)):
            return None
        view = x.host_view()
        if view is None:
            return None
        try:
            part = view[index]
        except (IndexError, TypeError):  # a program gives the nearest, or says why not
            return None
        if part.nbytes > _HOST_BYTES:
            return None
    return concrete_arrays.put(
        part, avals.ShapedArray(part.shape, aval.dtype, aval.weak_type)
    )


_BASIC = frozenset((int, slice, type(None), type(Ellipsis)))


def _is_basic(item: Any) -> bool:
    kind = type(item)
    return kind in _BASIC and (
        kind is not slice or not isinstance(item.start, trace.Tracer)
    )


def take(
    x: Any,
    index: Any,
    *,
    mode: Any = None,
    fill_value: Any = None,
    indices_are_sorted: bool = False,
    unique_indices: bool = False,
    wrap: bool = True,
) -> Any:
    """`x[index]` with a choice of what out-of-bounds positions give.

    Args:
      mode: None or 'clip' for the nearest position, 'fill' for `fill_value`,
        'promise_in_bounds'.
      fill_value: default NaN, or the lowest value of integers (see lax.gather).
      wrap: negative numbers count from the end; otherwise they are out of bounds.
    """
    mode = None if mode is None else Mode.from_any(mode)
    aval = avals.aval_of(x)
    # A number outside is read from the nearest position, unless others are wanted.
    plan, operands = index_parsing.parse(
        aval, index, clamp=mode is Mode.CLIP, wrap=wrap
    )
    if fill_value is not None:
        fill_value = (
            fill_value
            if isinstance(fill_value, (int, float, complex, bool))
            else np.asarray(fill_value).item()
        )
    # Unless requested, no derivative comes back from positions outside.
    options = (
        mode or Mode.PROMISE_IN_BOUNDS,
        fill_value,
        indices_are_sorted,
        unique_indices,
    )
    if any(type(size) is int and size > MAX_NARROW for size in aval.shape):
        x = _cut_far(x, plan, operands)
    if evaluate.is_evaluating():
        plan, operands = index_parsing.moving(plan, operands, aval.shape)
    return _read(x, *operands, plan=plan, options=options)


def _cut_far(x: Any, plan: Plan, operands: list[Any]) -> Any:
    """The array at each known number that int32 cannot hold, which is 0 from then on.

    Other known numbers are operands of programs, which serve them all.
    """
    axes = [entry for entry in plan.entries if entry[0] != NEW]
    own = [entry for axis, entry in enumerate(axes) if axis not in plan.inserted]
    for axis, entry in enumerate(own):
        at = operands[entry[1]] if entry[0] == INT else 0
        if type(at) is int and at > MAX_NARROW:
            x = concatenation.slice_in_dim(x, at, at + 1, axis=axis)
            operands[entry[1]] = 0
    return x


def read_traced(x: Any, *operands: Any, plan: Plan, options: Any) -> Any:
    """`x` at the plan's positions; see `take` for the options."""
    if plan.inserted:
        x = shaping.expand_dims(x, plan.inserted)
    filling = options[0] is Mode.FILL_OR_DROP
    advanced = plan.has(ARRAY) or (filling and plan.has(SCALAR))
    entries: Any = plan.entries
    if plan.has(MOVING):
        x, entries = _apply_moving(x, entries, operands)
    x, entries = _apply_slices(x, entries, operands, advanced)
    if advanced:
        return _gather(x, entries, operands, options, plan.apart)
    x = _apply_scalars(x, entries, operands)
    return _apply_new(x, entries)


_read = evaluate.fuse(read_traced)
_read.__name__ = "getitem"


def read(x: Any, operands: Sequence[Any], plan: Plan) -> Any:
    """`x` at a plan's positions; from outside, the nearest."""
    return _read(x, *operands, plan=plan, options=NEAREST)


# Unless requested, no derivative comes back from positions outside.
NEAREST = (Mode.PROMISE_IN_BOUNDS, None, False, False)


def _apply_moving(x: Any, entries: Any, operands: Any) -> tuple[Any, list[Any]]:
    """Applies slices whose starts are operands; what is left of them is their step."""
    window = list(avals.aval_of(x).shape)
    starts: list[Any] = [0] * len(window)
    left = []
    axis = 0
    for entry in entries:
        if entry[0] == MOVING:
            _, operand, size, step = entry
            span = max(0, (size - 1) * abs(step) + 1)
            starts[axis], window[axis] = operands[operand], span
            entry = (SLICE, 0 if step > 0 else span - 1, size, step)
        left.append(entry)
        axis += entry[0] != NEW
    return slicing.dynamic_slice(
        x, one_dtype(starts), window, allow_negative_indices=False
    ), left


def _apply_slices(
    x: Any, entries: Any, operands: Any, advanced: bool
) -> tuple[Any, list[Any]]:
    """Applies all that is known: slices and, where no array is there, numbers.

    Beside arrays a slice of neighbours is left: a gather reads windows, and its
    derivative adds them to the whole array's.
    """
    shape = avals.aval_of(x).shape
    starts, stops, steps, reverse, squeezed = [], [], [], [], []
    left: list[Any] = []
    axis = 0
    for entry in entries:
        kind = entry[0]
        if kind == NEW:
            left.append(entry)
            continue
        start, stop, step = 0, shape[axis], 1
        if kind == SLICE and advanced and is_block(entry):
            left.append(entry)
        elif kind == SLICE:
            _, first, size, step = entry
            start, stop, step = index_parsing.forward(first, size, step)
            if entry[3] < 0:
                reverse.append(axis)
            left.append((SLICE, 0, size, 1))
        elif kind == INT and not advanced and _is_known(operands[entry[1]]):
            start = operands[entry[1]]
            stop = start + 1
            squeezed.append(axis)
        else:
            left.append(entry)
        starts.append(start)
        stops.append(stop)
        steps.append(step)
        axis += 1
    if starts != [0] * len(shape) or stops != list(shape) or set(steps) - {1}:
        strides = None if not set(steps) - {1} else steps
        x = concatenation.slice_(x, starts, stops, strides)
    if reverse:
        x = shaping.rev(x, tuple(reverse))
    if squeezed:
        x = shaping.squeeze(x, tuple(squeezed))
    return x, left


def is_block(entry: Any) -> bool:
    """Whether a slice is of neighbours, at a place that is known."""
    _, start, size, step = entry
    return step == 1 and type(start) is int and type(size) is int and size > 0


def _is_known(position: Any) -> bool:
    return type(position) is int or is_symbolic(position)


def _apply_scalars(x: Any, entries: Any, operands: Any) -> Any:
    """Applies numbers known only when the program runs, by one dynamic slice."""
    shape = avals.aval_of(x).shape
    axes = [e for e in entries if e[0] != NEW]
    numbers = [axis for axis, e in enumerate(axes) if e[0] in (INT, SCALAR)]
    if not numbers:
        return x
    for axis in numbers:
        if shape[axis] == 0:
            raise index_parsing.empty_axis(axis)
    starts = [
        position(operands[e[1]], shape[axis], e) if axis in numbers else 0
        for axis, e in enumerate(axes)
    ]
    sizes = [1 if axis in numbers else n for axis, n in enumerate(shape)]
    x = slicing.dynamic_slice(x, one_dtype(starts), sizes, allow_negative_indices=False)
    return shaping.squeeze(x, tuple(numbers))


def position(i: Any, size: int, entry: Any) -> Any:
    """The numbers of an entry of a plan, counted from the start of an axis."""
    if entry[0] == INT or isinstance(i, (int, np.integer)):
        return i
    if isinstance(i, np.ndarray) and len(entry) > 2:
        return i  # counted when it was parsed
    signed = dtypes.issubdtype(avals.aval_of(i).dtype, np.signedinteger)
    i = index_parsing.index_dtype(i, size)
    if len(entry) > 2 or not signed:
        return i
    kind = avals.aval_of(i).dtype
    wrapped = lax.add(i, lax.size_value(size, kind))
    return lax.select_n(lax.lt(i, families.number_of(0, kind)), i, wrapped)


def one_dtype(numbers: list[Any]) -> list[Any]:
    """Positions in one dtype: int64 if any is, else int32."""
    dtype = np.dtype(np.int64 if any(map(_is_wide, numbers)) else np.int32)
    return [lax.convert(i, dtype) for i in numbers]


def _is_wide(number: Any) -> bool:
    if isinstance(number, int):
        return number > MAX_NARROW
    return np.dtype(avals.aval_of(number).dtype).itemsize == 8


def _apply_new(x: Any, entries: Any) -> Any:
    result_entries = [e for e in entries if e[0] in (NEW, SLICE)]
    new = tuple([k for k, e in enumerate(result_entries) if e[0] == NEW])
    return shaping.expand_dims(x, new) if new else x


# -- arrays as indices -----------------------------------------------------------------


class Layout:
    """Where the axes of a result come from, when some indices are arrays.

    Attributes:
      axes: indexed axes of the array, in order.
      positions: the index of each, broadcast together to shape `batch`.
      before: number of axes of the result before those of `batch` (new ones counted).
      labels: for each axis of the result: NEW, 'batch', or the array's axis.
    """

    __slots__ = ("axes", "batch", "labels", "positions")

    def __init__(
        self, x_shape: Any, entries: Any, operands: Any, apart: bool = False
    ) -> None:
        advanced = [k for k, e in enumerate(entries) if e[0] in (INT, SCALAR, ARRAY)]
        together = not advanced or (
            not apart and advanced[-1] - advanced[0] == len(advanced) - 1
        )
        self.axes: list[int] = []
        index_arrays: list[Any] = []
        labels: list[Any] = []
        axis = 0
        for k, entry in enumerate(entries):
            if entry[0] == NEW:
                labels.append(NEW)
                continue
            if entry[0] in (SLICE, MOVING):
                labels.append(axis)
            else:
                if together and k == advanced[0]:
                    labels.append("batch")
                self.axes.append(axis)
                index_arrays.append(position(operands[entry[1]], x_shape[axis], entry))
            axis += 1
        if not together:
            labels.insert(0, "batch")
        self.batch = _broadcast_shape([avals.aval_of(p).shape for p in index_arrays])
        self.positions = _broadcast_positions(index_arrays, self.batch)
        if advanced:
            at = labels.index("batch")
            labels[at : at + 1] = ["batch"] * len(self.batch)
        self.labels = labels

    def indices(self, starts: Any = ()) -> Any:
        """One array with the position along each indexed axis in its last axis.

        Args:
          starts: numbers that come after the positions, the same everywhere.
        """
        return join_positions(self.positions, self.batch, starts)


def join_positions(
    positions: Sequence[Any], shape: tuple[int, ...], starts: Iterable[Any]
) -> Any:
    """Index vectors: positions of a shape, then numbers that are the same everywhere.

    Known ones are joined here, so that the program has one constant and no more to do.
    """
    if positions and all(isinstance(p, np.ndarray) for p in positions):
        kind = dtype_with(positions[0].dtype, starts)
        known = [*positions, *[np.full(shape, start, kind) for start in starts]]
        return np.stack(known, -1)
    parts = [shaping.expand_dims(p, (len(shape),)) for p in positions]
    kind = avals.aval_of(parts[0]).dtype if parts else np.dtype(np.int32)
    kind = dtype_with(kind, starts)
    parts = [lax.convert(p, kind) for p in parts]
    parts += [shaping.full((*shape, 1), kind.type(start)) for start in starts]
    return parts[0] if len(parts) == 1 else concatenation.concatenate(parts, len(shape))


def dtype_with(kind: Any, starts: Iterable[Any]) -> Any:
    """The dtype for positions of some dtype beside known starts."""
    counters = [size_rules.position_dtype(start) for start in starts]
    return max([kind, *counters], key=lambda counter: counter.itemsize)


def _broadcast_positions(numbers: list[Any], shape: tuple[int, ...]) -> list[Any]:
    """Numbers of one dtype and shape; as NumPy's arrays if no larger one arises."""
    known = all(isinstance(i, (int, np.integer, np.ndarray)) for i in numbers)
    if known and any(np.shape(i) == shape != () for i in numbers):
        dtype = np.dtype(np.int64 if any(map(_is_wide, numbers)) else np.int32)
        return [np.broadcast_to(np.asarray(i, dtype), shape) for i in numbers]
    return [families.broadcast_to_shape(p, shape) for p in one_dtype(numbers)]


def _broadcast_shape(shapes: list[Any]) -> tuple[int, ...]:
    try:
        return size_rules.broadcast_shapes(*shapes)
    except ValueError:
        listed = ", ".join(map(str, shapes))
        raise ValueError(
            f"indexing: arrays between the brackets must broadcast together, got "
            f"shapes {listed}"
        ) from None


def partial_blocks(entries: Any, shape: Any) -> dict[int, tuple[int, int]]:
    """Axes of which a block is taken: its start and size."""
    slices = [e for e in entries if e[0] != NEW]
    return {
        axis: entry[1:3]
        for axis, entry in enumerate(slices)
        if entry[0] == SLICE and is_block(entry) and entry[1:3] != (0, shape[axis])
    }


def _gather(x: Any, entries: Any, operands: Any, options: Any, apart: bool) -> Any:
    mode, fill_value, is_sorted, unique = options
    shape = avals.aval_of(x).shape
    layout = Layout(shape, entries, operands, apart)
    labels = [label for label in layout.labels if label != NEW]
    offsets = tuple([k for k, label in enumerate(labels) if label != "batch"])
    blocks = partial_blocks(entries, shape)
    numbers = gather.GatherDimensionNumbers(
        offset_dims=offsets,
        collapsed_slice_dims=tuple(layout.axes),
        start_index_map=(*layout.axes, *blocks),
    )
    wide = [blocks[a][1] if a in blocks else n for a, n in enumerate(shape)]
    sizes = tuple([1 if a in layout.axes else n for a, n in enumerate(wide)])
    for axis in layout.axes:
        if shape[axis] == 0 and 0 not in layout.batch:
            raise index_parsing.empty_axis(axis)
    if 0 in layout.batch or 0 in [
        n for a, n in enumerate(shape) if a not in layout.axes
    ]:
        out_shape = iter(layout.batch)
        dims = [next(out_shape) if lab == "batch" else wide[lab] for lab in labels]
        out = shaping.full(tuple(dims), 0, avals.aval_of(x).dtype)
    else:
        out = gather.gather(
            x,
            layout.indices([start for start, _ in blocks.values()]),
            numbers,
            sizes,
            indices_are_sorted=is_sorted,
            unique_indices=unique,
            mode=mode,
            fill_value=fill_value,
        )
    new = tuple([k for k, label in enumerate(layout.labels) if label == NEW])
    return shaping.expand_dims(out, new) if new else out
