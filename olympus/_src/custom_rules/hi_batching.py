"""Functions for the rule `batch` of users' operations."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from olympus._src import tree
from olympus._src.core import avals as avals_
from olympus._src.core import hi_types
from olympus._src.core.symbolic_values import Zero
from olympus._src.interpreters import batching
from olympus._src.lax import families, reductions


def _dims_of(what: str, name: str, dims: Any, structure: Any) -> list[Any]:
    return tree.broadcast_axes(what, name, dims, structure, full_name="the arguments")


def bdims_at_front(axis_data: Any, args: Any, dims: Any) -> Any:
    """The arguments of a rule `batch`, all with the mapped axis in front.

    Args:
      axis_data, args, dims: as the rule gets them. An array that is not mapped is
        repeated; a value of a high type stays as it is mapped, and must be mapped.

    Returns:
      A tree like `args`.

    Raises:
      ValueError: a value of a high type is not mapped.
    """
    leaves, structure = tree.tree_flatten(args)
    flat = _dims_of("bdims_at_front", "dims", dims, structure)
    rows = zip(leaves, flat, strict=True)
    return structure.unflatten([_at_front(axis_data, x, d) for x, d in rows])


def _at_front(axis_data: Any, x: Any, dim: Any) -> Any:
    if type(x) is Zero:
        return Zero(_with_axis(axis_data, x.aval, dim))
    aval = avals_.aval_of(x)
    if not aval.is_high:
        return families.at_front(axis_data, x, dim)
    if dim is None:
        raise ValueError(
            f"bdims_at_front: a value of the high type {aval.short()} cannot be "
            "repeated, got one that is not mapped; handle None in `batch`"
        )
    return x


def unmap_avals(axis_data: Any, avals: Any, dims: Any) -> Any:
    """The types of whole values, of the types of their elements along a mapped axis.

    Args:
      axis_data: as a rule `batch` gets it.
      avals: a tree of types of elements.
      dims: for each where the whole value has the mapped axis; None: it has none.

    Returns:
      A tree of types.
    """
    leaves, structure = tree.tree_flatten(avals)
    flat = _dims_of("unmap_avals", "dims", dims, structure)
    rows = zip(leaves, flat, strict=True)
    return structure.unflatten([_with_axis(axis_data, a, d) for a, d in rows])


def _with_axis(axis_data: Any, aval: Any, dim: Any) -> Any:
    if dim is None:
        return aval
    return hi_types.canonical(aval.inc_rank(axis_data.size, dim))


def vmap_rule(
    axis_data: Any,
    f: Callable[..., Any],
    in_axes: Any,
    out_axes: Any,
    *,
    sum_match: bool = False,
) -> Callable[..., Any]:
    """`f`, mapped over the axis that a rule `batch` is called for.

    `Zero`s among arguments and results have the types of elements inside of `f`, and
    those of whole values outside, so that tangents and cotangents pass through.

    Args:
      axis_data: as the rule gets it.
      f: a function of elements.
      in_axes: where each argument has the mapped axis; a prefix of the arguments.
      out_axes: where each result gets it; a prefix of the result.
      sum_match: results with None in `out_axes` are summed over the axis, if they have
        it.

    Returns:
      A function of whole values.

    Raises:
      ValueError: a result has the axis, and None in `out_axes`, without `sum_match`; or
        a value of a high type has it as another spec says.
    """

    def mapped(*args: Any) -> Any:
        leaves, structure = tree.tree_flatten(args)
        dims = _dims_of("vmap_rule", "in_axes", in_axes, structure)
        is_zero = [type(x) is Zero for x in leaves]
        out_structure: Any = None
        out_zeros: dict[int, Zero] = {}

        def flat(*values: Any) -> list[Any]:
            nonlocal out_structure
            remaining = iter(values)
            inputs = [
                Zero(_without_axis(axis_data, x.aval, d)) if zero else next(remaining)
                for x, d, zero in zip(leaves, dims, is_zero, strict=True)
            ]
            outs, out_structure = tree.tree_flatten(f(*structure.unflatten(inputs)))
            out_zeros.update({i: x for i, x in enumerate(outs) if type(x) is Zero})
            return [x for x in outs if type(x) is not Zero]

        rows = [(x, d) for x, d, z in zip(leaves, dims, is_zero, strict=True) if not z]
        values, value_dims = [x for x, _ in rows], [d for _, d in rows]
        outs, out_dims = batching.batch(flat, axis_data, values, value_dims)
        wanted = _dims_of("vmap_rule", "out_axes", out_axes, out_structure)
        mapped_outs = iter(zip(outs, out_dims, strict=True))
        results = [
            Zero(_with_axis(axis_data, out_zeros[i].aval, w))
            if i in out_zeros
            else place_axis(axis_data, *next(mapped_outs), w, sum_match)
            for i, w in enumerate(wanted)
        ]
        return out_structure.unflatten(results)

    return mapped


def _without_axis(axis_data: Any, aval: Any, dim: Any) -> Any:
    if dim is None:
        return aval
    return hi_types.canonical(aval.dec_rank(axis_data.size, dim))


def place_axis(axis: Any, x: Any, dim: Any, wanted: Any, sum_match: bool) -> Any:
    """A result with its mapped axis where it is wanted."""
    if dim == wanted:
        return x
    aval = avals_.aval_of(x)
    if wanted is None and sum_match and not aval.is_high:
        return reductions.reduce_sum(x, (dim,))
    if wanted is None or aval.is_high:
        raise ValueError(
            f"vmap_rule: out_axes must be {dim} for a result that is mapped so, got "
            f"{wanted}; give it in out_axes"
        )
    if dim is None:
        return families.insert_axis(x, wanted % (aval.ndim + 1), axis.size)
    return families.move_axis(x, dim, wanted % aval.ndim)
