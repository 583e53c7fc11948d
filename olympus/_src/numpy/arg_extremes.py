"""Positions of extremes along an axis."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from olympus._src.core import dtypes
from olympus._src.core.array_type import Array, ArrayLike, Axis
from olympus._src.interpreters.direct_calls import direct
from olympus._src.lax import reductions as lax_reductions
from olympus._src.lax import shaping
from olympus._src.lax import sizes as sizes_
from olympus._src.numpy import docstring_examples, promotion, reductions
from olympus._src.numpy.promotion import aval_of, program

if TYPE_CHECKING:
    from olympus._src.numpy import function_types


def _position_of(name: str, find: Any) -> function_types.PositionOf:
    @program(1, name=name)
    def position(a: Any, *, axis: Any, keepdims: bool) -> Any:
        x = a
        rank = aval_of(x).ndim
        if axis is None:
            x = shaping.reshape(x, (aval_of(x).size,))
        index = (
            0 if axis is None else sizes_.canonicalize_axis(axis, rank, f"numpy.{name}")
        )
        if aval_of(x).shape[index] == 0:
            raise ValueError(
                f"attempt to get {name} of an empty sequence; numpy.{name} needs at "
                "least one element"
            )
        out = find(x, index, dtypes.canonicalize_dtype(int))
        if not keepdims:
            return out
        axes = tuple(range(rank)) if axis is None else (index,)
        return reductions.keep_dims(out, a, axes)

    def call(
        a: ArrayLike, axis: Axis = None, out: None = None, keepdims: bool = False
    ) -> Array:
        promotion.check_arraylike(name, a)
        promotion.check_out(name, out)
        return position(a, axis=reductions.static_axis(axis), keepdims=bool(keepdims))

    which = "largest" if name.endswith("max") else "smallest"
    described = docstring_examples.describe(
        call,
        name,
        f"""The position of the {which} element along an axis.

    Args:
      a: array or number.
      axis: the axis; None for the position in the flattened array.
      out: must be None.
      keepdims: keep the reduced axis, with size 1.

    Returns:
      An integer array: the first position of equals; NaN counts as {which}.

    Raises:
      ValueError: there are no elements.

    Source: NumPy, `numpy.{name}`.
""",
    )
    return direct(name)(described)


argmax = _position_of("argmax", lax_reductions.argmax)
argmin = _position_of("argmin", lax_reductions.argmin)
