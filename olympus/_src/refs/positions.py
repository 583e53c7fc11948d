"""Which part of a ref an index names, and how arrays are read and written there."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any

from olympus._src.core import avals as avals_
from olympus._src.core.array_type import ArrayLike, PyTree
from olympus._src.foundation import config
from olympus._src.numpy import index_parsing, index_updates, indexing
from olympus._src.numpy.index_parsing import (
    ARRAY,
    INT,
    MOVING,
    NEW,
    SCALAR,
    SLICE,
    DynamicSlice,
    Mode,
    Plan,
)


def ds(
    start: ArrayLike, size: int | None = None, stride: int | None = None
) -> DynamicSlice:
    """A slice of `size` positions that starts at a number known when it runs.

    Args:
      start: integer scalar; one that is known only when the program runs is moved so
        that the slice is inside.
      size: the number of positions, known now.
      stride: from one position to the next, 1 or more; default 1.

    Returns:
      What may be used as an index of a ref, along one axis.

    Raises:
      ValueError: the stride is less than 1.

    Source: `stablehlo.dynamic_slice`.

    Example:
      >>> import olympus
      >>> import olympus.numpy as onp
      >>> ref = olympus.new_ref(onp.arange(5))
      >>> olympus.jit(lambda i: ref[olympus.ds(i, 2)])(3)
      Array([3, 4], dtype=int32)
    """
    if size is None:  # `ds(size)` is all from the start
        start, size = 0, operator.index(start)
    step = 1 if stride is None else operator.index(stride)
    if step < 1:
        raise ValueError(
            f"ds: stride must be 1 or more, got {step}; reverse what is read, "
            "with numpy.flip"
        )
    return DynamicSlice(start, operator.index(size), step)


def parse(aval: Any, index: PyTree) -> tuple[Plan, list[Any]]:
    """The plan of an index into refs of arrays of a type, and its operands.

    Raises:
      IndexError: a known number is out of bounds, or there are too many.
      TypeError: an index has an invalid type.
    """
    with config.check_static_indices(True):
        return index_parsing.parse(aval, index, clamp=True)


def everything(shape: Sequence[Any]) -> Plan:
    """The plan of `ref[...]`."""
    entries = tuple([(SLICE, 0, n, 1) for n in shape])
    return Plan(entries, (), True)


def is_everything(plan: Plan, shape: Sequence[Any]) -> bool:
    """Whether a plan names all of an array in order."""
    return (
        not plan.inserted
        and len(plan.entries) == len(shape)
        and all(e == (SLICE, 0, n, 1) for e, n in zip(plan.entries, shape, strict=True))
    )


def read(x: Any, operands: Sequence[Any], plan: Plan) -> Any:
    """The part of an array that a plan names."""
    if is_everything(plan, avals_.aval_of(x).shape):
        return x
    return indexing.read_traced(x, *operands, plan=plan, options=indexing.NEAREST)


def write(x: Any, values: Any, operands: Sequence[Any], plan: Plan, op: str) -> Any:
    """The array with `values` at a plan's positions; `op` is 'set' or 'add'."""
    if is_everything(plan, avals_.aval_of(x).shape):
        return values if op == "set" else index_updates.combine(op, x, values)
    # Single numbers and blocks are moved inside, as dynamic slices are; what arrays of
    # positions name outside is dropped, as for arrays.
    mode = Mode.FILL_OR_DROP if plan.has(ARRAY) else Mode.CLIP
    options = index_updates.Options(op, mode, False, False)
    return index_updates.update_traced(x, values, *operands, plan=plan, options=options)


def text(plan: Plan, operands: Sequence[str]) -> str:
    """A plan as it is printed between brackets."""
    items = [_item_text(e, operands) for e in plan.entries]
    return ",".join(items) if items else "..."


def _item_text(entry: tuple[Any, ...], operands: Sequence[str]) -> str:
    kind = entry[0]
    if kind == NEW:
        return "None"
    if kind in (INT, SCALAR, ARRAY):
        return operands[entry[1]]
    _, start, size, step = entry
    if kind == MOVING:
        first = operands[start]
        last = f"{first}+{size * step}"
        return f"{first}:{last}" + (f":{step}" if step != 1 else "")
    return _slice_text(start, size, step)


def _slice_text(start: int, size: int, step: int) -> str:
    stop = start + size * step
    if step < 0:
        return f"{start}:{'' if stop < 0 else stop}:{step}"
    return f"{start or ''}:{stop}" + (f":{step}" if step != 1 else "")
