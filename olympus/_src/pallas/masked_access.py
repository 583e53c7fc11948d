"""Masked and atomic access to refs, as kernels for GPUs have it."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any, Protocol

from olympus._src.core import avals
from olympus._src.core.array_type import Array, ArrayLike, PyTree
from olympus._src.numpy import creation, ranges, selection
from olympus._src.numpy.index_parsing import DynamicSlice
from olympus._src.refs.functions import RefLike, RefView, is_ref


def _place(what: str, ref: Any, index: Any = ...) -> tuple[Any, tuple[Any, ...]]:
    """The whole ref, and positions along each of its axes that broadcast.

    Slices that begin at a traced number are not moved inside: what is outside is
    masked.
    """
    if isinstance(ref, RefView):
        if index is not ...:
            raise TypeError(
                f"{what}: a part of a ref takes no further index; pass the whole ref"
            )
        ref, index = ref.place()
    if not isinstance(ref, RefView) and not is_ref(ref):
        raise TypeError(
            f"{what}: a ref, or a part of one, is required, got a value of type "
            f"{type(ref).__name__}; pass ref.at[index]"
        )
    return ref, _find_positions(what, _spell_out(what, index, ref.shape), ref.shape)


def _spell_out(what: str, index: Any, shape: tuple[int, ...]) -> tuple[Any, ...]:
    """An index with an entry for each axis."""
    index = index if isinstance(index, tuple) else (index,)
    at = next((k for k, entry in enumerate(index) if entry is Ellipsis), len(index))
    n_named = len(index) - (at < len(index))
    if n_named > len(shape):
        raise IndexError(
            f"{what}: the index must name at most {len(shape)} axes, got {n_named}"
        )
    whole = [slice(None)] * (len(shape) - n_named)
    return (*index[:at], *whole, *index[at + 1 :])


def _find_positions(
    what: str, index: tuple[Any, ...], shape: tuple[int, ...]
) -> tuple[Any, ...]:
    """Each entry as positions; those of slices have axes of their own."""
    arrays = [i for i in index if _is_array(i)]
    has_slices = any(map(_is_slice, index))
    if has_slices and len(arrays) > 1:
        raise NotImplementedError(
            f"{what}: several arrays of positions beside slices are not supported; "
            "write positions along all axes, as arrays that broadcast"
        )
    if arrays and not has_slices:
        return index
    ndims = [
        avals.aval_of(i).ndim if _is_array(i) else int(_is_slice(i)) for i in index
    ]
    total, done, out = sum(ndims), 0, []
    for entry, size, ndim in zip(index, shape, ndims, strict=True):
        line = _line(entry, size)
        done += ndim
        if ndim:
            line = line.reshape(*line.shape, *(1,) * (total - done))
        out.append(line)
    return tuple(out)


def _is_slice(entry: Any) -> bool:
    return isinstance(entry, (slice, DynamicSlice))


def _is_array(entry: Any) -> bool:
    return avals.is_array_like(entry) and avals.aval_of(entry).ndim > 0


def _line(entry: Any, size: int) -> Any:
    if isinstance(entry, DynamicSlice):
        return entry.start + ranges.arange(entry.size) * entry.stride
    if isinstance(entry, slice):
        return ranges.arange(*entry.indices(size))
    return creation.asarray(entry)


def load(
    ref: RefLike,
    *,
    mask: ArrayLike | None = None,
    other: ArrayLike | None = None,
    cache_modifier: str | None = None,
    eviction_policy: str | None = None,
    volatile: bool = False,
) -> Array:
    """What a ref holds, where a mask is true.

    Args:
      ref: a ref, or a part of one, `ref.at[index]`.
      mask: booleans that broadcast to the part's shape.
      other: what is read elsewhere; by default anything may be.
      cache_modifier, eviction_policy, volatile: accepted.

    Raises:
      TypeError: `ref` is no ref.

    Example:
      >>> import olympus.numpy as onp
      >>> from olympus.experimental import pallas as pl
      >>> from olympus.experimental.pallas import triton as plt
      >>> def kernel(x, out):
      ...     at = pl.ds(2, 4)
      ...     out[...] = plt.load(x.at[at], mask=onp.arange(4) < 1, other=0)
      >>> x = onp.array([1, 2, 3])
      >>> pl.pallas_call(kernel, onp.zeros(4, 'int32'))(x)
      Array([3, 0, 0, 0], dtype=int32)
    """
    if mask is None:
        return ref[...]
    whole, places = _place("load", ref)
    value = whole[...].at[places].get(mode="fill", fill_value=0)
    if other is None:
        return value
    return selection.where(mask, value, creation.asarray(other, value.dtype))


def store(
    ref: RefLike,
    val: ArrayLike,
    *,
    mask: ArrayLike | None = None,
    eviction_policy: str | None = None,
) -> None:
    """Writes to a ref, or a part of one, where a mask is true; see `load`."""
    if mask is None:
        ref[...] = val
        return
    whole, places = _place("store", ref)
    held = whole[...]
    old = held.at[places].get(mode="fill", fill_value=0)
    val = selection.where(mask, val, old)
    whole[...] = held.at[places].set(val, mode="drop")


# What `x.at[index]` has no method for.
_BITWISE: dict[str, Callable[[Any, Any], Any]] = {
    "and": operator.and_,
    "or": operator.or_,
    "xor": operator.xor,
}


class AtomicChange(Protocol):
    """A function that changes a part of a ref and returns what was there."""

    def __call__(
        self,
        x_ref_or_view: RefLike,
        idx: PyTree,
        val: ArrayLike,
        *,
        mask: ArrayLike | None = None,
    ) -> Array:
        """Changes a part where `mask` is true."""


def _atomic(name: str, neutral: Any) -> AtomicChange:
    """An atomic change; `neutral` changes nothing, None stands for what was there."""

    def change(
        x_ref_or_view: RefLike,
        idx: PyTree,
        val: ArrayLike,
        *,
        mask: ArrayLike | None = None,
    ) -> Array:
        what = f"atomic_{name}"
        whole, places = _place(what, x_ref_or_view, idx)
        held = whole[...]
        old = held.at[places].get(mode="fill", fill_value=0)
        if mask is not None:
            unchanged = old if neutral is None else creation.asarray(neutral, old.dtype)
            val = selection.where(mask, val, unchanged)
        at = held.at[places]
        if name in _BITWISE:
            whole[...] = at.set(_BITWISE[name](old, val), mode="drop")
        else:
            change_part = at.set if name == "xchg" else getattr(at, name)
            whole[...] = change_part(val, mode="drop")
        return old

    change.__name__ = change.__qualname__ = f"atomic_{name}"
    change.__doc__ = f"""Changes a part of a ref and returns what was there.

    Steps of a grid run one after the other, so nothing comes between.

    Args:
      x_ref_or_view: a ref, or a part of one.
      idx: which part; `...` of a part.
      val: the other operand of `{name}`.
      mask: booleans; where it is false nothing changes.
    """
    return change


atomic_add = _atomic("add", 0)
atomic_max = _atomic("max", None)
atomic_min = _atomic("min", None)
atomic_and = _atomic("and", None)
atomic_or = _atomic("or", None)
atomic_xor = _atomic("xor", 0)
atomic_xchg = _atomic("xchg", None)


def atomic_cas(ref: RefLike, cmp: ArrayLike, val: ArrayLike) -> Array:
    """Writes `val` to a ref where it holds `cmp`; returns what it held."""
    old = ref[...]
    ref[...] = selection.where(old == cmp, creation.asarray(val, old.dtype), old)
    return old
