"""Rows of one value of a high type: what loops start from where their carry is mapped.

Rows of a high type are rows of its arrays, by `leading_axis_spec`, as in `scan`. So a
value that is the same for all elements can be repeated without a rule of its
user's.
"""

from __future__ import annotations

from typing import Any

from olympus._src.core import avals as avals_
from olympus._src.core.primitive import Primitive, as_abstract_says
from olympus._src.core.symbolic_values import Zero
from olympus._src.interpreters import hi_lowering
from olympus._src.lax import families


def at_front(axis: Any, x: Any, dim: Any) -> Any:
    """A value with its mapped axis in front; repeated, where it has none."""
    if dim is None:
        return repeat(x, axis.size)
    front = avals_.aval_of(x).leading_axis_spec()
    return x if dim == front else families.move_axis(x, dim, front)


def repeat(x: Any, size: int) -> Any:
    """A value as `size` rows, which are all the same."""
    return repeat_rows_p.bind(x, size=size)[0]


def _abstract(aval: Any, *, size: int) -> list[Any]:
    return [aval.with_leading_axis(size)]


def _repeat_lows(x: Any, *, size: int) -> list[Any]:
    rows = [families.insert_axis(low, 0, size) for low in hi_lowering.lower_value(x)]
    return hi_lowering.raise_values(_abstract(avals_.aval_of(x), size=size), rows)


def _jvp(primals: Any, tangents: Any, *, size: int) -> Any:
    (x,), (t,) = primals, tangents
    out = repeat(x, size)
    if type(t) is Zero:
        return [out], [Zero(t.aval.with_leading_axis(size))]
    is_high = avals_.aval_of(t).is_high
    return [out], [repeat(t, size) if is_high else families.insert_axis(t, 0, size)]


def _batch(axis: Any, args: Any, dims: Any, *, size: int) -> Any:
    """Refuses a mapped value: where its rows would go, its type does not tell."""
    del axis, size
    aval = avals_.aval_of(args[0])
    raise NotImplementedError(
        f"vmap: a loop whose carry is of the high type {aval.short()} is mapped twice, "
        f"with the carry mapped along {dims[0]!r} and repeated by the inner map; map "
        "the arrays of the value, or write one vmap over both axes"
    )


repeat_rows_p = Primitive(
    "repeat_rows",
    multiple_results=True,
    is_high=True,
    vary=as_abstract_says,
    abstract=_abstract,
    impl=_repeat_lows,
    to_low=_repeat_lows,
    jvp=_jvp,
    batch=_batch,
)
