"""Writing where a mask holds, without knowing where that is.

`x.at[mask].add(v)` needs no positions if `v` is the same at all of them, or has a value
for each element of the mask: both sides are computed, and the mask selects.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from olympus._src.core import avals, trace
from olympus._src.foundation import errors
from olympus._src.interpreters import evaluate
from olympus._src.lax import elementwise as lax
from olympus._src.lax import shaping
from olympus._src.numpy import index_parsing, index_updates, indexing


class Masked(NamedTuple):
    """An index with one mask in it.

    Attributes:
      mask: the array of booleans.
      places: the same index with a full slice for each of the mask's axes.
      place: where the mask's axes stand in `x[places]`.
      front: where the one axis that stands for them would be in `x[mask index]`.
      rank: number of axes of `x[places]`.
    """

    mask: Any
    places: tuple[Any, ...]
    place: int
    front: int
    rank: int


def find(aval: Any, index: Any) -> Masked | None:
    """The one mask among slices, new axes and numbers; None if that is not so."""
    items = index if type(index) is tuple else (index,)
    at = [k for k, i in enumerate(items) if _is_mask(i)]
    if len(at) != 1:
        return None
    (k,) = at
    mask = items[k]
    n = avals.aval_of(mask).ndim
    numbers = [j for j, i in enumerate(items) if j != k and _is_number(i)]
    if any(j != k and j not in numbers and not _keeps(i) for j, i in enumerate(items)):
        return None
    consumed = sum(i is not None and i is not Ellipsis for i in items) - 1 + n
    if consumed > aval.ndim or sum(i is Ellipsis for i in items) > 1:
        return None
    spelled: list[Any] = []
    place = dropped = 0
    for j, i in enumerate(items):
        if j == k:
            place = len(spelled) - dropped
            start = sum(s is not None for s in spelled)
            sizes = avals.aval_of(mask).shape
            if 0 in sizes and sizes != aval.shape[start : start + n]:
                return None  # selects nothing, which the plan of the index sees
            index_parsing.check_mask(sizes, aval.shape, start)
            spelled += [slice(None)] * n
        elif i is Ellipsis:
            spelled += [slice(None)] * (aval.ndim - consumed)
        else:
            spelled.append(i)
            dropped += j in numbers
    spelled += [slice(None)] * (aval.ndim - sum(s is not None for s in spelled))
    advanced = sorted([k, *numbers])
    together = advanced[-1] - advanced[0] == len(numbers)
    rank = len(spelled) - len(numbers)
    return Masked(mask, tuple(spelled), place, place if together else 0, rank)


# A mask that holds at fewer than one of this many places is known by these places.
_SPARSE, _LARGE = 16, 512


def is_sparse(masked: Masked) -> bool:
    """Whether a mask is known when a program is traced, and false nearly everywhere."""
    mask = masked.mask
    if type(mask) is not np.ndarray or mask.size < _LARGE:
        return False
    return int(np.count_nonzero(mask)) * _SPARSE < mask.size


def _is_mask(item: Any) -> bool:
    return getattr(item, "dtype", None) == np.bool_ and avals.is_array_like(item)


def _is_number(item: Any) -> bool:
    if isinstance(item, (int, np.integer)):
        return not isinstance(item, bool)
    return (
        avals.is_array_like(item)
        and not avals.aval_of(item).ndim
        and avals.aval_of(item).dtype.kind in "iu"
    )


def _keeps(item: Any) -> bool:
    return item is None or item is Ellipsis or isinstance(item, slice)


def value_shape(masked: Masked, shape: tuple[int, ...]) -> tuple[int, ...] | None:
    """The shape in which values for the mask's places stand beside `x[places]`.

    None where the values differ from one place to the next, so that the number of
    places must be known.
    """
    mask_shape = avals.aval_of(masked.mask).shape
    n = len(mask_shape)
    behind = masked.rank - n - masked.front  # axes of a result behind the mask's
    while len(shape) > masked.rank - n + 1 and shape[0] == 1:
        shape = shape[1:]  # leading axes of size one may be left out, as in NumPy
    if len(shape) <= behind:
        return shape
    at = len(shape) - behind  # where the mask's axes end
    if shape[at - 1] == 1:
        return (*shape[: at - 1], *[1] * n, *shape[at:])
    if n and at >= n and shape[at - n : at] == mask_shape:
        return shape
    return None


def refuse_traced(masked: Masked, op: str, shape: tuple[int, ...]) -> None:
    """Raises where values differ between places that are not known yet."""
    if isinstance(masked.mask, trace.Tracer):
        raise masked.mask.refusal(
            errors.NonConcreteBooleanIndexError,
            f"Array boolean indices must be concrete; got {masked.mask.aval.short()}. "
            f"at[mask].{op}: while tracing, values must be one for all positions of "
            f"the mask, or have the mask's shape {masked.mask.aval.shape}, got shape "
            f"{shape}.",
            f"\nGive x.at[mask].{op} a number or values for all elements, as in "
            "olympus.numpy.where(mask, values, x), or write to positions of a known "
            "number: x.at[olympus.numpy.nonzero(mask, size=..., fill_value=x.size)].",
        )


def update_traced(
    x: Any,
    values: Any,
    mask: Any,
    *operands: Any,
    plan: Any,
    options: index_updates.Options,
    spread: tuple[int, ...],
    move: tuple[int, int],
) -> Any:
    """`x` changed where the mask holds.

    Args:
      x: array.
      values: array; of shape `spread` it broadcasts against `x[places]`.
      mask: array of booleans.
      *operands: of the plan.
      plan: of the index without the mask.
      options: how to write.
      spread: see `value_shape`.
      move: where the mask's axes stand in the values, and where in `x[places]`.
    """
    own = avals.aval_of(x)
    if options.wide is not None:
        wide, values = (lax.convert(v, options.wide) for v in (x, values))
        out = update_traced(
            wide,
            values,
            mask,
            *operands,
            plan=plan,
            options=options._replace(wide=None),
            spread=spread,
            move=move,
        )
        return lax.convert(out, own.dtype, own.weak_type)
    reading = (index_parsing.Mode.CLIP, None, options.is_sorted, options.unique)
    old = indexing.read_traced(x, *operands, plan=plan, options=reading)
    shape = avals.aval_of(old).shape
    # While they are few, and so that their derivatives are as weak as they are.
    values = lax.convert(values, avals.aval_of(values).dtype, own.weak_type)
    if avals.aval_of(values).shape != spread:
        values = shaping.reshape(values, spread)
    if avals.aval_of(values).ndim:
        values = _move_axes(values, len(shape), avals.aval_of(mask).ndim, *move)
        values = index_updates.broadcast_values(values, shape, options.op)
    else:
        values = shaping.broadcast(values, shape)
    new = (
        values
        if options.op == "set"
        else index_updates.combine(options.op, old, values)
    )
    n = avals.aval_of(mask).ndim
    if n:
        mask = shaping.broadcast_in_dim(mask, shape, range(move[1], move[1] + n))
    new = lax.select_n(mask, old, new)
    if old is x:
        return lax.convert(new, own.dtype, own.weak_type)
    writing = options._replace(op="set")
    return index_updates.update_traced(x, new, *operands, plan=plan, options=writing)


update = evaluate.fuse(update_traced)
update.__name__ = "at"


def _move_axes(values: Any, rank: int, n: int, start: int, end: int) -> Any:
    """Values with their `n` axes at `start` at `end`, as in the array's order."""
    if start == end or not n:
        return values
    own = avals.aval_of(values).shape
    if len(own) > rank:
        return values  # which is refused, or has leading axes of size one to drop
    values = shaping.reshape(values, (1,) * (rank - len(own)) + own)
    axes = list(range(start, start + n))
    order = [k for k in range(rank) if k not in axes]
    order[end:end] = axes
    return shaping.transpose(values, tuple(order))
