"""What `vmap` maps of sparse arrays: their batch axes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from olympus._src.api import vmappable
from olympus._src.lax import shaping

_Class = TypeVar("_Class", bound=type)


def map_batch_axes(cls: _Class) -> _Class:
    """Has `vmap` map the batch axes of the arrays of a class."""
    vmappable.register_vmappable(cls, int, int, _to_element, _from_elements, None)
    return cls


def _to_element(
    handler: Callable[..., Any], get_index: Any, array: Any, axis: int | None
) -> Any:
    """An element of an array, whose buffers of size 1 are what all elements share."""
    if axis is None:
        return array
    ndim = len(array.shape)
    at = axis + ndim if axis < 0 else axis
    if not 0 <= at < array.n_batch:
        raise ValueError(
            f"vmap: in_axes of a {type(array).__name__} must be below n_batch="
            f"{array.n_batch}, got {axis} for shape {array.shape}, since vmap maps "
            "batch axes only; make more of them with update_layout(n_batch=...), or "
            "use None in in_axes if all elements share it"
        )
    size = array.shape[at]
    buffers = [
        shaping.squeeze(b, (at,)) if b.shape[at] == 1 != size else handler(b, at)
        for b in array.tree_flatten()[0]
    ]
    return _rebuild(array, buffers, (*array.shape[:at], *array.shape[at + 1 :]))


def _from_elements(
    handler: Callable[..., Any], size: int, array: Any, axis: int | None
) -> Any:
    """The array of all elements."""
    shape, at = array.shape, axis
    if at is not None:
        at = at + len(shape) + 1 if at < 0 else at
        if not 0 <= at <= array.n_batch:
            raise ValueError(
                f"vmap: out_axes for a {type(array).__name__} must be at most n_batch="
                f"{array.n_batch}, got {axis} for elements of shape {shape}, since the "
                "mapped axis is a batch axis; use 0"
            )
        shape = (*shape[:at], size, *shape[at:])
    buffers = [handler(size, b, at) for b in array.tree_flatten()[0]]
    return _rebuild(array, buffers, shape)


def _rebuild(array: Any, buffers: Any, shape: tuple[int, ...]) -> Any:
    return type(array)(
        tuple(buffers),
        shape=shape,
        indices_sorted=array.indices_sorted,
        unique_indices=array.unique_indices,
    )
