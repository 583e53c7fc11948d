"""Entry points to mapped axes, for libraries that write batching rules."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

from olympus._src.core import avals as avals_
from olympus._src.core import trace
from olympus._src.core.array_type import Array, ArrayLike, Axis
from olympus._src.core.avals import ShapedArray
from olympus._src.core.primitive import Primitive
from olympus._src.interpreters import batching
from olympus._src.lax import families


def broadcast(
    x: ArrayLike, sz: int, axis: int, mesh_axis: Hashable | None = None
) -> Array:
    """An array repeated along a new axis.

    Args:
      x: array.
      sz: how many times.
      axis: where the new axis is.
      mesh_axis: the axis of a mesh the new one is spread over; must be None.

    Example:
      >>> import numpy as np
      >>> from olympus.interpreters import batching
      >>> batching.broadcast(np.zeros(3), 2, 1).shape
      (3, 2)
    """
    _check_no_mesh("broadcast", mesh_axis)
    return families.insert_axis(x, axis % (avals_.aval_of(x).ndim + 1), sz)


def bdim_at_front(
    x: ArrayLike, bdim: int | None, size: int, mesh_axis: Hashable | None = None
) -> Array:
    """An operand of a batching rule with its mapped axis in front.

    Args:
      x: array.
      bdim: where it is mapped; `not_mapped` to repeat it.
      size: the size of the mapped axis.
      mesh_axis: the axis of a mesh that a new axis is spread over; must be None.

    Example:
      >>> import numpy as np
      >>> from olympus.interpreters import batching
      >>> batching.bdim_at_front(np.zeros((3, 2)), 1, 2).shape
      (2, 3)
    """
    _check_no_mesh("bdim_at_front", mesh_axis)
    return families.at_front(batching.AxisData(None, size), x, bdim)


def _check_no_mesh(name: str, mesh_axis: Any) -> None:
    if mesh_axis is not None:
        raise NotImplementedError(
            f"batching.{name}: mesh_axis must be None, got {mesh_axis!r}; mapped axes "
            "cannot be sharded over a mesh"
        )


def defbroadcasting(prim: Primitive) -> None:
    """Sets the batching rule of an operation whose operands broadcast as in NumPy."""

    def batch(axis: Any, args: Sequence[Any], dims: Any, **params: Any) -> Any:
        ranks = [
            avals_.aval_of(x).ndim - (d is not None)
            for x, d in zip(args, dims, strict=True)
        ]
        wide = []
        for x, d, own in zip(args, dims, ranks, strict=True):
            if d is not None:
                x = families.move_axis(x, d, 0)
                for _ in range(max(ranks) - own):
                    x = families.insert_axis(x, 1, 1)
            wide.append(x)
        if not prim.multiple_results:
            return prim.bind(*wide, **params), 0
        outs = prim.bind(*wide, **params)
        return outs, [0] * len(outs)

    prim.set_rule("batch", batch)


def defreducer(prim: Primitive, ident: Any = None) -> None:
    """Sets the batching rule of an operation that removes the axes in `axes`."""
    prim.set_rule("batch", families.reduction_batch)


def mapped_aval(size: int, axis: Axis, aval: ShapedArray) -> ShapedArray:
    """The type of one element of a value of a type.

    Args:
      size: the size of the mapped axis.
      axis: where it is; None for a value that is not mapped.
      aval: the type of the whole.

    Raises:
      ValueError: the axis does not have that size.
    """
    if axis is None:
        return aval
    if aval.shape[axis] != size:
        raise ValueError(
            f"mapped_aval: axis {axis} of {aval.short()} must have size {size}"
        )
    return aval.without_axis(axis)


def unmapped_aval(
    size: int,
    axis: Axis,
    aval: ShapedArray,
    explicit_mesh_axis: Hashable | None = None,
) -> ShapedArray:
    """The type of all elements, from that of one.

    Args:
      size: the size of the mapped axis.
      axis: where it is; None for a value that is not mapped.
      aval: the type of one element.
      explicit_mesh_axis: must be None.
    """
    _check_no_mesh("unmapped_aval", explicit_mesh_axis)
    if axis is None:
        return aval
    return aval.with_axis(axis, size)


def unsafe_am_i_under_a_vmap_DO_NOT_USE() -> bool:
    """Whether a function is being mapped around the call."""
    step = trace.current.trace
    while step is not None:
        if isinstance(step, batching.BatchTrace):
            return True
        step = step.parent
    return False


def unsafe_get_axis_names_DO_NOT_USE() -> list[Hashable]:
    """The names of the mapped axes around the call, the outermost first."""
    return [name for name, _ in trace.current.axis_env]


def nonempty_axis_env_DO_NOT_USE() -> bool:
    """Whether a mapped axis around the call has a name."""
    return bool(trace.current.axis_env)
