"""`associative_scan`: all prefixes of a sum, product, ... in few dependent steps."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from olympus._src import tree
from olympus._src.core import avals as avals_
from olympus._src.core.array_type import PyTree
from olympus._src.lax import sizes
from olympus._src.lax.prefixes import Leaves, accumulate, size_along
from olympus._src.programs import inner_programs


def associative_scan(
    fn: Callable[[Any, Any], Any], elems: PyTree, reverse: bool = False, axis: int = 0
) -> PyTree:
    """Combines elements with all those before them, by an associative operation.

    The operation is applied to whole slices about 2 log2(n) times, to about 2 n
    elements in all, so it runs in parallel where a `scan` takes n steps in a row.
    G. E. Blelloch, Prefix Sums and Their Applications, 1990.

    Args:
      fn: takes two trees like `elems` whose leaves are slices of equal length along
        `axis`, returns their combination, element by element; it must be associative.
      elems: array with n elements along `axis`, or a tree of such arrays.
      reverse: combine each element with those after it.
      axis: the axis to scan along.

    Returns:
      A tree like `elems`; element i is `fn` of elements 0 to i, in order.

    Raises:
      TypeError: `fn` returns types other than those of its arguments.
      ValueError: the arrays differ in length along `axis`, or have no such axis.

    Example:
      >>> import numpy as np
      >>> from olympus import lax
      >>> lax.associative_scan(lax.add, np.arange(5))
      Array([ 0,  1,  3,  6, 10], dtype=int32)
    """
    inner_programs.check_callable("associative_scan", fn=fn)
    leaves, structure = inner_programs.flatten_operands(
        "associative_scan", "elems", elems
    )
    if not leaves:
        return elems
    axes = [_axis(x, axis) for x in leaves]
    lengths = [size_along(x, a) for x, a in zip(leaves, axes, strict=True)]
    if any(n != lengths[0] for n in lengths):
        shapes = ", ".join(avals_.aval_of(x).short() for x in leaves)
        raise ValueError(
            f"associative_scan: all of elems must have one size along axis {axis}, got "
            f"{shapes}; slice them to the same length"
        )
    leaves = [inner_programs.passed_on(x) for x in leaves]
    outs = accumulate(_combiner(fn, structure), leaves, axes, reverse)
    return structure.unflatten(outs)


def _combiner(fn: Any, structure: Any) -> Callable[[Leaves, Leaves], Leaves]:
    def combine(x: Leaves, y: Leaves) -> Leaves:
        out = fn(structure.unflatten(x), structure.unflatten(y))
        leaves, out_structure = tree.tree_flatten(out)
        if out_structure != structure:
            places = inner_programs.structure_mismatch(
                structure, out_structure, "elems", "the result"
            )
            raise TypeError(
                f"associative_scan: fn {inner_programs.fun_text(fn)} must return a "
                "tree "
                f"like elems, got {places}; return every part"
            )
        wrong = inner_programs.type_mismatches(
            structure, _types(leaves), _types(x), "result"
        )
        if wrong:
            raise TypeError(
                f"associative_scan: fn {inner_programs.fun_text(fn)} must return "
                "the types "
                f"of its arguments; {'; '.join(wrong)}; convert the result with astype"
            )
        return leaves

    return combine


def _types(leaves: Leaves) -> list[Any]:
    return [avals_.aval_of(x) for x in leaves]


def _axis(x: Any, axis: int) -> int:
    aval = avals_.aval_of(x)
    if not aval.shape:
        raise ValueError(
            f"associative_scan: elems must be arrays with an axis {axis}, got "
            f"{aval.short()}; stack scalars to an array"
        )
    return sizes.canonicalize_axis(axis, aval.ndim, "associative_scan: axis")
