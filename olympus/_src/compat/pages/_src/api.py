"""Helpers of derivatives of trees."""

from __future__ import annotations

import math
from typing import Any

from olympus._src import tree
from olympus._src.api import jacobians
from olympus._src.core import avals, dtypes
from olympus._src.lax import concatenation, shaping


def _dtype(x: Any) -> Any:
    """The dtype of an array or number.

    Raises:
      TypeError: it is none.
    """
    return dtypes.dtype_of(x)


def _std_basis(pytree: Any) -> Any:
    """The rows of a unit matrix, as trees of arrays with an axis in front."""
    leaves, structure = tree.tree_flatten(pytree)
    types = [avals.aval_of(leaf) for leaf in leaves]
    rows = jacobians.make_basis(types, sum(t.size for t in types))
    return tree.tree_unflatten(structure, rows)


def _jacrev_unravel(output_pytree: Any, input_pytree_leaf: Any, arr: Any) -> Any:
    """A Jacobian's rows, in the shape of the outputs.

    Args:
      output_pytree: a tree whose leaves have the outputs' shapes.
      input_pytree_leaf: an array of the shape of the input.
      arr: the derivatives: a row for each number of the outputs.
    """
    leaves, structure = tree.tree_flatten(output_pytree)
    shapes = [avals.aval_of(leaf).shape for leaf in leaves]
    parts = concatenation.split(arr, [math.prod(s) for s in shapes], 0)
    below = avals.aval_of(input_pytree_leaf).shape
    rows = [
        shaping.reshape(part, (*shape, *below))
        for part, shape in zip(parts, shapes, strict=True)
    ]
    return tree.tree_unflatten(structure, rows)


__all__ = ["_dtype", "_jacrev_unravel", "_std_basis"]
