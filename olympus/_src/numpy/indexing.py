"""Indexing: what stands between brackets, as a plan, and reading by it.

An index is parsed once to a `Plan`, which is hashable, and a list of the numbers and
arrays in it, which are operands. Reading and writing by the same plan with other
numbers is then the same program, so that `x[i]` in a loop compiles once. Reading small
parts of a ready array on the CPU needs no program at all.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from olympus._src.core import avals, dtypes, trace
from olympus._src.foundation import config, errors
from olympus._src.interpreters import evaluate
from olympus._src.lax import elementwise as lax
from olympus._src.lax import families, gather, joining, shaping, slicing

Mode = gather.GatherScatterMode

# -- the plan --------------------------------------------------------------------------

# Entries, one for each thing between the brackets once `...` is spelled out:
NEW = "new"  # a new axis                                (NEW,)
SLICE = "slice"  # a slice with known bounds             (SLICE, start, size, step)
INT = "int"  # a number known to be within bounds        (INT, operand)
SCALAR = "scalar"  # a number known only when it runs    (SCALAR, operand)
ARRAY = "array"  # an array of numbers; "counted" ones are known, and count from the
#                  start or are -1, outside           (ARRAY, operand[, "counted"])


class Plan:
    """A parsed index: entries, and axes of size one to insert before they apply."""

    __slots__ = ("_hash", "entries", "inserted")

    def __init__(self, entries: tuple[Any, ...], inserted: tuple[int, ...]) -> None:
        self.entries = entries
        self.inserted = inserted
        self._hash = hash((entries, inserted))

    def __hash__(self) -> int:
        return self._hash

    def __eq__(self, other: object) -> bool:
        return (
            type(other) is Plan
            and self.entries == other.entries
            and self.inserted == other.inserted
        )

    def has(self, kind: str) -> bool:
        """Whether an entry is of this kind."""
        return any(e[0] == kind for e in self.entries)


def parse(
    aval: Any, index: Any, *, clamp: bool, wrap: bool = True
) -> tuple[Plan, list[Any]]:
    """The plan of an index into arrays of type `aval`, and its operands.

    Args:
      aval: the array's type.
      index: what stands between the brackets.
      clamp: known numbers out of bounds mean the nearest ones in bounds; otherwise
        they stay outside, for the operation that runs.
      wrap: negative numbers count from the end; otherwise they are out of bounds.

    Raises:
      IndexError: too many indices, or a mask of a wrong shape.
      TypeError: an index is of a kind that indexes nothing.
    """
    items = _items(aval, index)
    entries: list[Any] = []
    operands: list[Any] = []
    inserted: list[int] = []
    axis = 0  # of the array with its inserted axes
    for item in items:
        if item is None:
            entries.append((NEW,))
            continue
        if isinstance(item, _Flag):
            inserted.append(axis)
            entries.append((ARRAY, len(operands), "counted"))
            operands.append(np.zeros(int(item.value), np.int32))
            axis += 1
            continue
        size = aval.shape[axis - len(inserted)]
        if isinstance(item, slice):
            entries.append(_slice_entry(item, size))
        else:
            kind, value = _number(item if wrap else _outside(item, size), size, clamp)
            entries.append((kind, len(operands)))
            if kind == ARRAY and isinstance(item, np.ndarray):
                entries[-1] += ("counted",)
            operands.append(value)
        axis += 1
    return Plan(tuple(entries), tuple(inserted)), operands


class _Flag:
    """A single truth value as an index."""

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = bool(value)


def _items(aval: Any, index: Any) -> list[Any]:
    """The items of an index with `...` spelled out and masks as positions."""
    given = index if isinstance(index, tuple) else (index,)
    items: list[Any] = []
    for item in given:
        items += _expanded(item)
    consumed = sum(
        not (i is None or i is Ellipsis or isinstance(i, _Flag)) for i in items
    )
    if consumed > aval.ndim:
        raise IndexError(
            f"Too many indices for array: array is {aval.ndim}-dimensional, but "
            f"{consumed} were indexed"
        )
    ellipses = [k for k, i in enumerate(items) if i is Ellipsis]
    if len(ellipses) > 1:
        raise IndexError("an index can only have a single ellipsis ('...')")
    at = ellipses[0] if ellipses else len(items)
    full = [slice(None)] * (aval.ndim - consumed)
    spelled = items[:at] + full + items[at + 1 :]
    return _positions(aval, spelled)


def _expanded(item: Any) -> list[Any]:
    """One item as a list: masks take as many places as they have axes."""
    if item is None or item is Ellipsis or isinstance(item, slice):
        return [item]
    if isinstance(item, (bool, np.bool_)):
        return [_Flag(item)]
    if isinstance(item, (list, tuple)):
        raise TypeError(
            "Using a non-tuple sequence for multidimensional indexing is not allowed; "
            "use arr[array(seq)] in place of arr[seq], or arr[tuple(seq)] for one "
            f"index an axis, got {item!r}"
        )
    if isinstance(item, (int, np.integer)):
        return [item]
    if isinstance(item, (float, complex, str, bytes)):
        raise _bad_kind(item)
    if not avals.is_array_like(item):
        if hasattr(item, "__index__"):
            return [item.__index__()]
        raise _bad_kind(item)
    aval = avals.aval_of(item)
    if aval.dtype == np.bool_:
        return _mask_places(item, aval)
    if not dtypes.issubdtype(aval.dtype, np.integer):
        raise _bad_kind(item)
    return [item]


def _bad_kind(item: Any) -> TypeError:
    dtype = getattr(item, "dtype", None)
    what = f"type {type(item).__name__}" if dtype is None else f"dtype {dtype}"
    return TypeError(
        "Indexer must have integer or boolean type, got indexer with "
        f"{what}: {item!r}; convert it with .astype(int)"
    )


class _MaskPlace:
    """One axis of a mask: the mask itself at its first axis, nothing after."""

    __slots__ = ("axis", "mask")

    def __init__(self, mask: np.ndarray, axis: int) -> None:
        self.mask = mask
        self.axis = axis


def _mask_places(item: Any, aval: Any) -> list[Any]:
    if isinstance(item, trace.Tracer):
        raise item.refusal(
            errors.NonConcreteBooleanIndexError,
            f"Array boolean indices must be concrete; got {item.aval.short()}.",
            "\nUse olympus.numpy.where(mask, x, y) with three arguments, or "
            "olympus.numpy.nonzero(mask, size=...), whose results have a known size.",
        )
    mask = np.asarray(item)
    if not mask.ndim:
        return [_Flag(mask)]
    return [_MaskPlace(mask, axis) for axis in range(mask.ndim)]


def _positions(aval: Any, items: list[Any]) -> list[Any]:
    """Masks replaced by the positions where they hold, after a check of their shape."""
    out = []
    axis = 0
    for item in items:
        if isinstance(item, _MaskPlace):
            size = aval.shape[axis]
            if item.mask.shape[item.axis] != size:
                raise IndexError(
                    f"boolean index did not match shape of indexed array in index "
                    f"{axis}: got {item.mask.shape[item.axis]}, expected {size}"
                )
            item = np.nonzero(item.mask)[item.axis].astype(np.int32)
        out.append(item)
        axis += not (item is None or isinstance(item, _Flag))
    return out


def _slice_entry(item: slice, size: int) -> tuple[Any, ...]:
    for bound in (item.start, item.stop, item.step):
        if isinstance(bound, trace.Tracer):
            raise IndexError(
                "Array slice indices must have static start/stop/step to be used with "
                f"indexing syntax, got slice({item.start}, {item.stop}, {item.step}); "
                "use lax.dynamic_slice for starts that are computed"
                + bound.explanation()
            )
    start, stop, step = slice(
        *map(_as_int, (item.start, item.stop, item.step))
    ).indices(size)
    return (SLICE, start, len(range(start, stop, step)), step)


def _as_int(x: Any) -> int | None:
    return None if x is None else x.__index__()


def _number(item: Any, size: int, clamp: bool) -> tuple[str, Any]:
    """The kind of entry that a number or array of numbers makes, and its operand."""
    if isinstance(item, (int, np.integer)):
        return _known_number(int(item), size, clamp)
    aval = avals.aval_of(item)
    if isinstance(item, np.ndarray):
        if not item.ndim:
            return _known_number(int(item), size, clamp)
        # Positions are known: count from the start here, and save the program the work.
        wide = item.astype(np.int64)
        positions = np.where(wide < 0, wide + size, wide)
        limit = np.iinfo(np.int32).max
        return ARRAY, np.clip(positions, -1, limit).astype(np.int32)
    return (ARRAY if aval.ndim else SCALAR), item


def _outside(item: Any, size: int) -> Any:
    """Positions of which the negative ones stay outside when counted from the end."""
    if isinstance(item, (int, np.integer)):
        return int(item) if item >= 0 else -size - 1
    if isinstance(item, np.ndarray):
        return np.where(item < 0, -size - 1, item.astype(np.int64))
    i = index_dtype(item)
    if dtypes.issubdtype(avals.aval_of(i).dtype, np.unsignedinteger):
        return i
    zero, before = (families.full_like(i, v) for v in (0, -size - 1))
    return lax.select_n(lax.lt(i, zero), i, before)


def _known_number(i: int, size: int, clamp: bool) -> tuple[str, Any]:
    position = i + size if i < 0 else i
    if config.check_static_indices.value and not 0 <= position < size:
        raise IndexError(f"index {i} is out of bounds for an axis of size {size}")
    if clamp and size:
        return INT, min(max(position, 0), size - 1)
    if 0 <= position < size:
        return INT, position
    # Outside also after a program has counted a negative one from the end once more.
    outside = -size - 1 if position < 0 else min(position, np.iinfo(np.int32).max)
    return SCALAR, np.int32(outside)


# -- reading ---------------------------------------------------------------------------

_HOST_BYTES = 1 << 16  # parts up to this size are read by way of the host


def getitem(x: Any, index: Any) -> Any:
    """`x[index]`."""
    if type(x) is evaluate.ArrayImpl and evaluate.is_evaluating():
        found = _from_host(x, index)
        if found is not None:
            return found
    return take(x, index)


def _from_host(x: Any, index: Any) -> Any:
    """A small part of an array that is ready on the CPU; None to compute it instead."""
    aval = x.aval
    if type(index) is int:
        shape = aval.shape
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
    elif type(index) is slice:
        view = x.host_view() if aval.shape else None
        if view is None or isinstance(index.start, trace.Tracer):
            return None
        try:
            part = view[index]
        except TypeError:
            return None
        if part.nbytes > _HOST_BYTES:
            return None
    else:
        return None
    return evaluate.from_host(
        part, avals.ShapedArray(part.shape, aval.dtype, aval.weak_type)
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
    plan, operands = parse(avals.aval_of(x), index, clamp=mode is Mode.CLIP, wrap=wrap)
    if fill_value is not None:
        fill_value = (
            fill_value
            if isinstance(fill_value, (int, float, complex, bool))
            else np.asarray(fill_value).item()
        )
    # Unless asked for, no derivative comes back from positions outside.
    options = (
        mode or Mode.PROMISE_IN_BOUNDS,
        fill_value,
        indices_are_sorted,
        unique_indices,
    )
    return _read(x, *operands, plan=plan, options=options)


def _read_traced(x: Any, *operands: Any, plan: Plan, options: Any) -> Any:
    if plan.inserted:
        x = shaping.expand_dims(x, plan.inserted)
    filling = options[0] is Mode.FILL_OR_DROP
    advanced = plan.has(ARRAY) or (filling and plan.has(SCALAR))
    x, entries = _apply_slices(x, plan.entries, operands, advanced)
    if advanced:
        return _gather(x, entries, operands, options)
    x = _apply_scalars(x, entries, operands)
    return _apply_new(x, entries)


_read = evaluate.fuse(_read_traced)
_read.__name__ = "getitem"


def _apply_slices(
    x: Any, entries: Any, operands: Any, advanced: bool
) -> tuple[Any, list[Any]]:
    """Applies all that is known: slices and, where no array is there, numbers."""
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
        if kind == SLICE:
            _, first, size, step = entry
            start, stop, step = _forward(first, size, step)
            if entry[3] < 0:
                reverse.append(axis)
            left.append(entry)
        elif kind == INT and not advanced and type(operands[entry[1]]) is int:
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
        x = joining.slice_(x, starts, stops, strides)
    if reverse:
        x = shaping.rev(x, tuple(reverse))
    if squeezed:
        x = shaping.squeeze(x, tuple(squeezed))
    return x, left


def _forward(first: int, size: int, step: int) -> tuple[int, int, int]:
    """The slice of positive step with the same positions."""
    if not size:
        return 0, 0, 1
    last = first + (size - 1) * step
    low, high = (first, last) if step > 0 else (last, first)
    return low, high + 1, abs(step)


def _apply_scalars(x: Any, entries: Any, operands: Any) -> Any:
    """Applies numbers known only when the program runs, by one dynamic slice."""
    shape = avals.aval_of(x).shape
    axes = [e for e in entries if e[0] != NEW]
    numbers = [axis for axis, e in enumerate(axes) if e[0] in (INT, SCALAR)]
    if not numbers:
        return x
    starts = [
        position(operands[e[1]], shape[axis], e[0]) if axis in numbers else 0
        for axis, e in enumerate(axes)
    ]
    sizes = [1 if axis in numbers else n for axis, n in enumerate(shape)]
    x = slicing.dynamic_slice(
        x, _one_dtype(starts), sizes, allow_negative_indices=False
    )
    return shaping.squeeze(x, tuple(numbers))


def position(i: Any, size: int, kind: str) -> Any:
    """A number counted from the start of an axis."""
    if kind == INT or isinstance(i, (int, np.integer)):
        return i
    i = index_dtype(i)
    if dtypes.issubdtype(avals.aval_of(i).dtype, np.unsignedinteger):
        return i
    zero, n = (families.full_like(i, v) for v in (0, size))
    return lax.select_n(lax.lt(i, zero), i, lax.add(i, n))


def index_dtype(i: Any) -> Any:
    """Positions in a dtype wide enough to add an axis's size to."""
    dtype = avals.aval_of(i).dtype
    if dtypes.itemsize_bits(dtype) < 32:
        return lax.convert(i, np.dtype(np.int32))
    return lax.convert(i, dtype)


def _one_dtype(numbers: list[Any]) -> list[Any]:
    """Positions in one dtype: int64 if any is, else int32."""
    kinds = {
        np.dtype(avals.aval_of(i).dtype) for i in numbers if not isinstance(i, int)
    }
    wide = any(k.itemsize == 8 for k in kinds)
    dtype = np.dtype(np.int64 if wide else np.int32)
    return [lax.convert(i, dtype) for i in numbers]


def _apply_new(x: Any, entries: Any) -> Any:
    kept = [e for e in entries if e[0] in (NEW, SLICE)]
    new = tuple([k for k, e in enumerate(kept) if e[0] == NEW])
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

    def __init__(self, x_shape: Any, entries: Any, operands: Any) -> None:
        advanced = [k for k, e in enumerate(entries) if e[0] in (INT, SCALAR, ARRAY)]
        together = not advanced or advanced == list(
            range(advanced[0], advanced[-1] + 1)
        )
        self.axes: list[int] = []
        found: list[Any] = []
        labels: list[Any] = []
        axis = 0
        for k, entry in enumerate(entries):
            if entry[0] == NEW:
                labels.append(NEW)
                continue
            if entry[0] == SLICE:
                labels.append(axis)
            else:
                if together and k == advanced[0]:
                    labels.append("batch")
                self.axes.append(axis)
                i = operands[entry[1]]
                counted = len(entry) > 2
                found.append(i if counted else position(i, x_shape[axis], entry[0]))
            axis += 1
        if not together:
            labels.insert(0, "batch")
        self.batch = _broadcast_shape([avals.aval_of(p).shape for p in found])
        self.positions = [_spread(p, self.batch) for p in _one_dtype(found)]
        if advanced:
            at = labels.index("batch")
            labels[at : at + 1] = ["batch"] * len(self.batch)
        self.labels = labels

    def indices(self) -> Any:
        """One array with the position along each indexed axis in its last axis."""
        last = (len(self.batch),)
        parts = [shaping.expand_dims(p, last) for p in self.positions]
        return parts[0] if len(parts) == 1 else joining.concatenate(parts, last[0])


def _broadcast_shape(shapes: list[Any]) -> tuple[int, ...]:
    try:
        return tuple(np.broadcast_shapes(*shapes))
    except ValueError:
        listed = ", ".join(map(str, shapes))
        raise ValueError(
            f"indexing: arrays between the brackets must broadcast together, got "
            f"shapes {listed}"
        ) from None


def _spread(p: Any, shape: tuple[int, ...]) -> Any:
    own = avals.aval_of(p).shape
    if own == shape:
        return p
    dims = tuple(range(len(shape) - len(own), len(shape)))
    return shaping.broadcast_in_dim(p, shape, dims)


def _gather(x: Any, entries: Any, operands: Any, options: Any) -> Any:
    mode, fill_value, is_sorted, unique = options
    shape = avals.aval_of(x).shape
    layout = Layout(shape, entries, operands)
    labels = [label for label in layout.labels if label != NEW]
    offsets = tuple([k for k, label in enumerate(labels) if label != "batch"])
    numbers = gather.GatherDimensionNumbers(
        offset_dims=offsets,
        collapsed_slice_dims=tuple(layout.axes),
        start_index_map=tuple(layout.axes),
    )
    sizes = tuple([1 if a in layout.axes else n for a, n in enumerate(shape)])
    if any(shape[a] == 0 for a in layout.axes) and 0 not in layout.batch:
        raise IndexError(
            f"indexing: an axis of size 0 has no position to read, got an array of "
            f"type {avals.aval_of(x).short()}"
        )
    if 0 in layout.batch or 0 in [
        n for a, n in enumerate(shape) if a not in layout.axes
    ]:
        out_shape = iter(layout.batch)
        dims = [next(out_shape) if lab == "batch" else shape[lab] for lab in labels]
        out = shaping.full(tuple(dims), 0, avals.aval_of(x).dtype)
    else:
        out = gather.gather(
            x,
            layout.indices(),
            numbers,
            sizes,
            indices_are_sorted=is_sorted,
            unique_indices=unique,
            mode=mode,
            fill_value=fill_value,
        )
    new = tuple([k for k, label in enumerate(layout.labels) if label == NEW])
    return shaping.expand_dims(out, new) if new else out
