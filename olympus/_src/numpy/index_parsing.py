"""Plans: parsed indices.

An index is parsed once to a `Plan`, which is hashable, and a list of the numbers and
arrays in it, which are operands. Reading and writing by the same plan with other
numbers is then the same program, so that `x[i]` in a loop compiles once.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from olympus._src.core import avals, dtypes, sizes, trace
from olympus._src.foundation import config, errors
from olympus._src.lax import elementwise as lax
from olympus._src.lax import gather
from olympus._src.lax.sizes import MAX_NARROW, position_dtype
from olympus._src.numpy import creation

Mode = gather.GatherScatterMode

# Entries, one for each thing between the brackets once `...` is spelled out:
NEW = "new"  # a new axis                                (NEW,)
SLICE = "slice"  # a slice with known bounds             (SLICE, start, size, step)
INT = "int"  # a number known to be within bounds        (INT, operand)
SCALAR = "scalar"  # a number known only when it runs    (SCALAR, operand[, "counted"])
ARRAY = "array"  # an array of numbers                   (ARRAY, operand[, "counted"])
#                  "counted" ones count from the start: negative ones are outside;
#                  "inside" says that, besides, all are known to be within bounds
MOVING = "moving"  # a slice whose lowest position is an operand, so that one program
#                    serves all              (MOVING, operand, size, step)


class DynamicSlice:
    """A slice of known size whose start may be a traced value; `olympus.ds` makes it.

    Attributes:
      start: the first position; one that is known only when the program runs is moved
        inside where the slice would reach outside.
      size: how many positions.
      stride: from one to the next.
    """

    __slots__ = ("size", "start", "stride")

    def __init__(self, start: Any, size: int, stride: int = 1) -> None:
        self.start = start
        self.size = size
        self.stride = stride

    def __repr__(self) -> str:
        stride = f", {self.stride}" if self.stride != 1 else ""
        return f"ds({self.start!r}, {self.size}{stride})"

    def entry(self, operand: int, axis_size: Any) -> tuple[Any, ...]:
        """What stands for it in a plan; its start is that operand."""
        known = self.start if isinstance(self.start, (int, np.integer)) else 0
        last = known + (self.size - 1) * self.stride
        if known < 0 or last >= axis_size:
            raise IndexError(
                f"ds: a slice must fit its axis, got {self!r} for an axis of size "
                f"{axis_size}; take fewer positions, or begin elsewhere, at 0 or later"
            )
        return (MOVING, operand, self.size, self.stride)


class Plan:
    """A parsed index.

    Attributes:
      entries: what to do along each axis.
      inserted: axes of size one to insert before the entries apply.
      distinct: no position is named twice, as far as is known.
      apart: indices are separated though no axis is between them: `x[i, ..., j]`.
    """

    __slots__ = ("_hash", "apart", "distinct", "entries", "inserted")

    def __init__(
        self,
        entries: tuple[Any, ...],
        inserted: tuple[int, ...],
        distinct: bool,
        apart: bool = False,
    ) -> None:
        self.entries = entries
        self.inserted = inserted
        self.distinct = distinct
        self.apart = apart
        self._hash = hash((entries, inserted, distinct, apart))

    def after_insertion(self) -> Plan:
        """The plan that remains once the inserted axes are there."""
        return Plan(self.entries, (), self.distinct, self.apart)

    def __hash__(self) -> int:
        return self._hash

    def __eq__(self, other: object) -> bool:
        return (
            type(other) is Plan
            and self.entries == other.entries
            and self.inserted == other.inserted
            and self.distinct == other.distinct
            and self.apart == other.apart
        )

    def is_sorted(self) -> bool:
        """Whether the positions are distinct and ascend."""
        return self.distinct and all(
            e[-1] > 0 for e in self.entries if e[0] in (SLICE, MOVING)
        )

    def is_inside(self) -> bool:
        """Whether all positions are known to be within bounds."""
        return all(
            e[0] in (NEW, SLICE, MOVING)
            or (e[0] == INT and len(e) == 2)
            or (e[0] == ARRAY and e[2:] == ("inside",))
            for e in self.entries
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
      index: the expression between the brackets.
      clamp: known numbers out of bounds mean the nearest ones in bounds; otherwise
        they stay outside, for the operation that runs.
      wrap: negative numbers count from the end; otherwise they are out of bounds.

    Raises:
      IndexError: too many indices, or a mask of a wrong shape.
      TypeError: an index has an invalid type.
    """
    items, distinct, apart = _items(aval, index)
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
            entries.append((ARRAY, len(operands), "inside"))
            operands.append(np.zeros(int(item.value), np.int32))
            axis += 1
            continue
        size = aval.shape[axis - len(inserted)]
        if isinstance(item, slice):
            entries.append(_slice_entry(item, size))
        elif type(item) is DynamicSlice:
            entries.append(item.entry(len(operands), size))
            operands.append(item.start)
        else:
            kind, value, counted = _number(
                item, size, clamp, wrap, axis - len(inserted)
            )
            entry: tuple[Any, ...] = (kind, len(operands))
            if counted:
                entry = (*entry, "inside" if _is_inside(value, size) else "counted")
            entries.append(entry)
            operands.append(value)
        axis += 1
    return Plan(tuple(entries), tuple(inserted), distinct, apart), operands


def moving(plan: Plan, operands: list[Any], shape: Any) -> tuple[Plan, list[Any]]:
    """The plan with the starts of partial slices as operands.

    A program made for it serves all slices of the same size and step.
    """
    if not plan.has(SLICE):
        return plan, operands
    entries, operands = list(plan.entries), list(operands)
    axis = -len(plan.inserted)
    for k, entry in enumerate(entries):
        if entry[0] == SLICE and entry[2]:
            _, start, size, step = entry
            low, high, _ = forward(start, size, step)
            is_near = type(low) is not int or low <= MAX_NARROW
            if is_near and high - low < shape[axis]:
                entries[k] = (MOVING, len(operands), size, step)
                operands.append(low)
        axis += entry[0] != NEW
    return Plan(tuple(entries), plan.inserted, plan.distinct, plan.apart), operands


def forward(first: int, size: int, step: int) -> tuple[int, int, int]:
    """Start, stop and step of the slice of positive step with the same positions."""
    if not size:
        return 0, 0, 1
    last = first + (size - 1) * step
    low, high = (first, last) if step > 0 else (last, first)
    return low, high + 1, abs(step)


class _Flag:
    """A single truth value as an index."""

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = bool(value)


def _items(aval: Any, index: Any) -> tuple[list[Any], bool, bool]:
    """The items of an index with `...` spelled out and masks as positions.

    The other results are what a plan says by `distinct` and `apart`.
    """
    items: list[Any] = []
    if isinstance(index, tuple):
        for item in index:
            sequence = isinstance(item, (list, tuple))
            items += _expand_item(_from_sequence(item) if sequence else item)
    else:
        items = _expand_item(index)
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
    around = items[max(at - 1, 0) : at] + items[at + 1 : at + 2]
    apart = bool(ellipses) and not full and sum(map(_is_advanced, around)) == 2
    return _positions(aval, spelled), _are_distinct(items), apart


def _is_advanced(item: Any) -> bool:
    return not (item is None or isinstance(item, (slice, DynamicSlice)))


def _from_sequence(item: Any) -> Any:
    """An array of a list of numbers that stands beside other indices."""
    if not item:
        return np.zeros(0, np.int32)
    if any(isinstance(leaf, trace.Tracer) for leaf in item):
        return creation.asarray(item)
    array = np.asarray(item)
    return array if array.ndim else item  # no numbers, which is refused


def _are_distinct(items: list[Any]) -> bool:
    """Whether no position is named twice, as far as is known without a look."""
    masks = 0
    for i in items:
        if isinstance(i, _Flag) or (isinstance(i, _MaskPlace) and not i.axis):
            masks += 1
        elif (
            not isinstance(i, int) and avals.is_array_like(i) and avals.aval_of(i).ndim
        ):
            return False
    return masks < 2


_MOST_COMPARED = 1 << 14  # positions: 0.5 ms


def are_known_distinct(plan: Plan, operands: list[Any], shape: Any) -> bool:
    """Whether known arrays among the indices name no position twice.

    Args:
      plan, operands: of an index.
      shape: of the array that is indexed.
    """
    if plan.distinct or plan.inserted:
        return plan.distinct
    axes = [e for e in plan.entries if e[0] != NEW]
    arrays = [
        (operands[entry[1]], size, entry)
        for entry, size in zip(axes, shape, strict=True)
        if entry[0] == ARRAY
    ]
    batches = [avals.aval_of(i).shape for i, _, _ in arrays]
    try:
        batch = np.broadcast_shapes(*batches)
    except (TypeError, ValueError):  # symbolic sizes, or some that do not fit
        return False
    if math.prod(batch) > _MOST_COMPARED:
        return False
    place = np.zeros(batch, np.int64)
    for i, size, entry in arrays:
        if entry[2:] == ("inside",) and isinstance(i, np.ndarray):
            place = place * size + i
    ordered = np.sort(place, axis=None)
    return bool((ordered[1:] != ordered[:-1]).all())


def _expand_item(item: Any) -> list[Any]:
    """One item as a list: masks take as many places as they have axes."""
    if item is None or item is Ellipsis or isinstance(item, (slice, DynamicSlice)):
        return [item]
    if isinstance(item, (bool, np.bool_)):
        return [_Flag(item)]
    if isinstance(item, (list, tuple, range)):
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
        if hasattr(item, "dtype"):
            raise _bad_kind(item)
        raise IndexError(
            "only integers, slices (`:`), ellipsis (`...`), newaxis (`None`) and "
            "integer or boolean arrays are valid indices, got an object of type "
            f"{type(item).__name__}: {item!r}"
        )
    aval = avals.aval_of(item)
    if aval.dtype == np.bool_:
        return _mask_places(item, aval)
    if not dtypes.issubdtype(aval.dtype, np.integer):
        raise _bad_kind(item)
    return [item]


def _whole(item: Any) -> Any:
    """The float without its fraction; None for anything else."""
    return item // 1 if isinstance(item, float) else None


def _bad_kind(item: Any) -> TypeError:
    dtype = getattr(item, "dtype", None)
    what = f"type {type(item).__name__}" if dtype is None else f"dtype {dtype}"
    cure = "convert it with .astype(int)"
    if dtype is None:
        cure = "an array is indexed by numbers, slices and arrays of them"
        cure = f"write {int(item)}" if item == _whole(item) else cure
    return TypeError(
        "Indexer must have integer or boolean type, got indexer with "
        f"{what}: {item!r}; {cure}"
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
            if not item.axis:
                check_mask(item.mask.shape, aval.shape, axis, True)
            item = np.nonzero(item.mask)[item.axis].astype(np.int32)
        out.append(item)
        axis += not (item is None or isinstance(item, _Flag))
    return out


def check_mask(mask: Any, shape: Any, first: int, may_be_empty: bool = False) -> None:
    """Raises IndexError unless a mask has the sizes of the axes that it indexes.

    Args:
      mask: its shape.
      shape: the array's.
      first: the first of the array's axes that the mask indexes.
      may_be_empty: accept empty axes in place of those of any size: they select
        nothing.
    """
    for axis, (got, size) in enumerate(zip(mask, shape[first:], strict=False), first):
        if got != size and not (may_be_empty and got == 0):
            raise IndexError(
                f"boolean index did not match shape of indexed array in index {axis}: "
                f"got {got}, expected {size}; a mask of shape {tuple(mask)} indexes "
                f"axes of those sizes, the array has shape {tuple(shape)}"
            )


def _bounds_text(item: slice) -> str:
    bounds = (item.start, item.stop, item.step)
    return ", ".join(
        [
            f"a traced {b.aval.short()}" if isinstance(b, trace.Tracer) else repr(b)
            for b in bounds
        ]
    )


def _slice_entry(item: slice, size: int) -> tuple[Any, ...]:
    for bound in (item.start, item.stop, item.step):
        if isinstance(bound, trace.Tracer):
            raise IndexError(
                "Array slice indices must have static start/stop/step to be used with "
                f"indexing syntax, got slice({_bounds_text(item)}); "
                "use lax.dynamic_slice for starts that are computed"
                + bound.explanation()
            )
    bounds = slice(*map(_as_int, (item.start, item.stop, item.step)))
    return (SLICE, *sizes.slice_positions(bounds, size))


def _as_int(x: Any) -> Any:
    if x is None or sizes.is_symbolic(x):
        return x
    if not hasattr(x, "__index__"):
        raise TypeError(
            "indexing: bounds and steps of slices must be integers or None, got "
            f"{type(x).__name__}: {x!r}; convert it with int()"
        )
    return x.__index__()


def _number(
    item: Any, size: int, clamp: bool, wrap: bool, axis: int
) -> tuple[str, Any, bool]:
    """The kind of entry that numbers make, their operand, whether that is counted."""
    if isinstance(item, (int, np.integer)):
        return _known_number(int(item), size, clamp, wrap, axis)
    if sizes.is_symbolic(item):
        return _known_number(item, size, clamp, wrap, axis)
    if isinstance(item, np.ndarray):
        if not item.ndim:
            return _known_number(int(item), size, clamp, wrap, axis)
        if wrap and sizes.is_symbolic(size) and item.dtype.kind == "i":
            return ARRAY, item, False
        return ARRAY, _count_from_start(item, size, wrap), True
    return (ARRAY if avals.aval_of(item).ndim else SCALAR), item, not wrap


def _is_inside(counted: Any, size: Any) -> bool:
    """Whether numbers that count from the start are known to be within bounds."""
    if not isinstance(counted, np.ndarray) or sizes.is_symbolic(size):
        return False
    return not counted.size or bool(counted.min() >= 0 and counted.max() < size)


def _count_from_start(known: np.ndarray, size: int, wrap: bool) -> np.ndarray:
    """Known positions from the start, which saves the program the work.

    Those outside stay so, and are what `checkify` shows.
    """
    positions = known.astype(np.int64)
    far = _far_position(size)
    if known.dtype.kind == "u":
        positions = np.where(known > far, far, positions)
    elif wrap:
        positions = np.where(positions < 0, positions + size, positions)
    positions = np.minimum(np.maximum(positions, -MAX_NARROW), far)
    are_near = far == MAX_NARROW or not np.any(positions > MAX_NARROW)
    return positions.astype(np.int32 if are_near else position_dtype(size))


def _far_position(size: Any) -> int:
    """A position outside of an axis, for those that are farther."""
    return max(size, MAX_NARROW) if type(size) is int else MAX_NARROW


def _clip_position(position: int, size: Any) -> Any:
    """A position that is known to be outside, or may be, before the start or behind."""
    near = min(max(position, -MAX_NARROW), _far_position(size))
    return np.int32(near) if near <= MAX_NARROW else position_dtype(size).type(near)


def _known_number(
    i: int, size: int, clamp: bool, wrap: bool, axis: int
) -> tuple[str, Any, bool]:
    if size == 0:
        raise empty_axis(axis)
    position = i + size if i < 0 and wrap else i
    if sizes.is_symbolic(size) or sizes.is_symbolic(position):
        return _symbolic_number(position, size, clamp)
    if 0 <= position < size:
        return INT, position, False
    if config.check_static_indices.value:
        raise IndexError(
            f"index {i} is out of bounds for axis {axis} with size {size}; positions "
            f"are from {-size} to {size - 1}"
        )
    if clamp:
        return INT, min(max(position, 0), size - 1), False
    return SCALAR, _clip_position(position, size), True


def _symbolic_number(position: Any, size: Any, clamp: bool) -> tuple[str, Any, bool]:
    """The same where sizes are symbolic: whether it is within may be unknown."""
    if sizes.at_least(position, 0) and sizes.at_least(size - 1, position):
        return INT, position, False
    if clamp:
        position = sizes.maximum(sizes.minimum(position, size - 1), 0)
        return INT, position, False
    if type(position) is int:
        return SCALAR, _clip_position(position, size), True
    return SCALAR, position.dimension_as_value(), True


def empty_axis(axis: int) -> IndexError:
    """The error of reading or writing one position of an axis that has none."""
    return IndexError(
        f"index is out of bounds for axis {axis} with size 0; an axis of size 0 has no "
        "positions to read: check its size first, or take a slice"
    )


def index_dtype(i: Any, size: Any) -> Any:
    """Positions in a dtype wide enough to add an axis's size to."""
    dtype, counter = avals.aval_of(i).dtype, position_dtype(size)
    if dtypes.itemsize_bits(dtype) < 8 * counter.itemsize:
        return lax.convert(i, counter)
    return lax.convert(i, dtype)
