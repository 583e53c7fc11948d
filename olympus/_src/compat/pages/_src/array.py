"""Pickles of arrays that JAX wrote name a function of this module."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from olympus._src.core.avals import ShapedArray
from olympus._src.runtime import placement


def _reconstruct_array(
    fun: Callable[..., Any],
    args: tuple[Any, ...],
    arr_state: Any,
    aval_state: Mapping[str, Any],
) -> Any:
    """An array from the parts of the pickle of a NumPy array and of its type."""
    elements = fun(*args)
    elements.__setstate__(arr_state)
    dtype = elements.dtype.newbyteorder("=")
    aval = ShapedArray(elements.shape, dtype, aval_state["weak_type"])
    return placement.put(elements.astype(dtype, copy=False), aval, None)


__all__ = ["_reconstruct_array"]
