"""`estimate_cost`: what a function computes and moves."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from olympus._src import tree
from olympus._src.api import jit as jit_
from olympus._src.api.shapes import ShapeDtypeStruct
from olympus._src.core.array_type import PyTree
from olympus._src.pallas.specs import CostEstimate


def estimate_cost(
    fun: Callable[..., Any], *args: PyTree, **kwargs: PyTree
) -> CostEstimate:
    """What a function of arrays costs: operations as XLA counts them, and bytes.

    Args:
      fun: a function of arrays.
      *args, **kwargs: arrays or types of them, as `ShapeDtypeStruct`; anything else is
        passed as it is.

    Returns:
      A `CostEstimate`, whose bytes are those of arguments and results.

    Example:
      >>> import olympus.numpy as onp
      >>> from olympus.experimental import pallas as pl
      >>> pl.estimate_cost(lambda x: onp.sin(x) @ x, onp.ones((4, 4))).transcendentals
      16
    """
    leaves, treedef = tree.tree_flatten((args, kwargs))
    structs = [ShapeDtypeStruct(x.shape, x.dtype) for x in leaves if _is_typed(x)]

    def run(*arrays: Any) -> Any:
        remaining = iter(arrays)
        values = [next(remaining) if _is_typed(x) else x for x in leaves]
        own, named = tree.tree_unflatten(treedef, values)
        return fun(*own, **named)

    lowered = jit_.jit(run).lower(*structs)
    counts = lowered.cost_analysis() or {}
    moved = tree.tree_leaves((structs, lowered.out_info))
    return CostEstimate(
        flops=int(counts.get("flops", 0)),
        transcendentals=int(counts.get("transcendentals", 0)),
        bytes_accessed=sum(x.size * x.dtype.itemsize for x in moved),
    )


def _is_typed(x: Any) -> bool:
    return hasattr(x, "shape") and hasattr(x, "dtype")
