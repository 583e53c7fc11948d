"""The interpreter of `vmap`, and containers that it maps."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from olympus._src.api import vmappable
from olympus._src.api.vmappable import is_container as is_vmappable
from olympus._src.core import avals
from olympus._src.interpreters.batching import BatchTrace as BatchTrace
from olympus._src.interpreters.batching import BatchTracer as BatchTracer
from olympus._src.lax import shaping


def make_iota(axis_size: int) -> Any:
    """The numbers of the elements along a mapped axis."""
    return shaping.iota("int32", axis_size)


def to_elt(trace: BatchTrace, get_idx: Callable[[], Any], x: Any, spec: Any) -> Any:
    """The element of an array or container that a mapped function sees.

    Args:
      trace: the interpreter that maps it.
      get_idx: gives the element's number.
      x: an array, or a container of a registered type.
      spec: the mapped axis, or what stands for it; None where there is none.
    """
    if is_vmappable(x):
        below = functools.partial(to_elt, trace, get_idx)
        return vmappable.element_of(x, below, get_idx, spec)
    return trace.wrap(x, None if spec is None else spec % avals.aval_of(x).ndim)


__all__ = ["BatchTrace", "BatchTracer", "is_vmappable", "make_iota", "to_elt"]
