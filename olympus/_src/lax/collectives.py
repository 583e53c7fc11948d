"""Primitives that combine the elements along a named, mapped axis.

Inside a mapped function one element cannot see the others, except through these. They
name the axis; the batching of the axis with that name replaces them with ordinary
operations along it, and leaves other names to the outer maps. One that is still
there when the program is lowered refers to an axis that is not mapped.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

import numpy as np

from olympus._src.core import avals, trace
from olympus._src.core.primitive import Primitive, takes_primitive
from olympus._src.core.symbolic_values import Zero
from olympus._src.lax import (
    concatenation,
    elementwise,
    families,
    gather,
    manual_axes,
    manual_lowering,
    reductions,
    shaping,
    sharding_rules,
)

ShapedArray = avals.ShapedArray


def named(axes: Any) -> tuple[Any, ...]:
    """The names in an `axis_name` parameter: one, or a tuple of several."""
    return axes if isinstance(axes, tuple) else (axes,)


def collective(name: str, **rules: Any) -> Primitive:
    """A primitive that refers to mapped axes; `axis_name` says which by default.

    Along manual axes of a mesh it makes values that vary along them.
    """

    @takes_primitive
    def lower(p: Any, ctx: Any, *operands: Any, **params: Any) -> NoReturn:
        raise trace.unbound_axis(p.axes(**params)[0], name)

    rules.setdefault("axes", lambda *, axis_name, **_: named(axis_name))
    rules.setdefault("vary", _as_operands)
    return Primitive(name, **{"lower": lower, **rules})


def _as_operands(joined: frozenset[Any], **_: Any) -> frozenset[Any]:
    """The rule `vary`: operands were cast to vary along the axes."""
    return joined


def batch_other_axes(x: Any, dim: int | None, rebind: Callable[[Any, int], Any]) -> Any:
    """A collective over other axes than the mapped one, with that in front."""
    if dim is None:
        return rebind(x, 0), None
    return rebind(families.move_axis(x, dim, 0), 1), 0


class _Sized:
    """As much of a mapped axis as `families.at_front` reads."""

    __slots__ = ("size",)
    manual = ()

    def __init__(self, size: int) -> None:
        self.size = size


def in_front(x: Any, dim: int | None, size: int) -> Any:
    return families.at_front(_Sized(size), x, dim)


# -- rows and groups -------------------------------------------------------------------

_MOST_SLICES = 4


def rows(x: Any, indices: Sequence[int]) -> Any:
    """`x` at some positions of its first axis; runs of neighbours are sliced."""
    size = avals.aval_of(x).shape[0]
    if list(indices) == list(range(size)):
        return x
    breaks = [i for i in range(1, len(indices)) if indices[i] != indices[i - 1] + 1]
    starts = [0, *breaks, len(indices)]
    if len(indices) == 0 or len(breaks) >= _MOST_SLICES:
        return gather.index_take(x, (np.asarray(indices, np.int32),), (0,))
    runs = [
        concatenation.slice_in_dim(x, indices[low], indices[high - 1] + 1)
        for low, high in itertools.pairwise(starts)
    ]
    return concatenation.concatenate(runs, 0)


def by_group(
    groups: Any, axis: Any, x: Any, dim: int | None, resolve: Callable[..., Any]
) -> tuple[Any, int | None]:
    """Resolves a collective within each group of indices of the axis.

    Args:
      groups: lists of indices that together are all of them, or None for one group.
      axis: the mapped axis.
      x: the operand.
      dim: where it is mapped.
      resolve: `(size, x, dim) -> (result, dim)` for a whole axis.
    """
    if groups is None:
        return resolve(axis.size, x, dim)
    x = in_front(x, dim, axis.size)
    parts = []
    for group in groups:
        out, out_dim = resolve(len(group), rows(x, group), 0)
        parts.append(in_front(out, out_dim, len(group)))
    order = np.argsort(np.concatenate([np.asarray(g) for g in groups]))
    return rows(concatenation.concatenate(parts, 0), [int(i) for i in order]), 0


# -- psum, pmax, pmin ------------------------------------------------------------------


def _names_among(axes: Any) -> tuple[Any, ...]:
    return tuple([a for a in axes if not isinstance(a, int)])


def _positions_among(axes: Any) -> tuple[int, ...]:
    return tuple([a for a in axes if isinstance(a, int)])


def _all_reduce_abstract(name: str) -> Any:
    def abstract(x: Any, *, axes: Any, axis_index_groups: Any) -> Any:
        families.check_dtype(name, x, (families.BOOL, families.NUMBER))
        positions = _positions_among(axes)
        families.check_axes(name, x, positions)
        shape = [s for i, s in enumerate(x.shape) if i not in positions]
        return ShapedArray(tuple(shape), x.dtype)

    return abstract


def _all_reduce_varying(
    joined: frozenset[Any], *, axes: Any, axis_index_groups: Any
) -> frozenset[Any]:
    """All devices get the same result, but for groups, which have one each."""
    return joined if axis_index_groups is not None else joined - set(axes)


def _all_reduce(
    name: str, reduce_p: Primitive, hlo: str, repeated: Any, **rules: Any
) -> Primitive:
    """A reduction over named axes, and over axes of the operand given by position.

    Args:
      name: of the primitive.
      reduce_p: the same over positions alone.
      hlo: the operation on two elements.
      repeated: `(x, n)`, the reduction of n equal elements.
      **rules: those that follow from what is folded.
    """

    @takes_primitive
    def batch(
        p: Primitive,
        axis: Any,
        args: Any,
        dims: Any,
        *,
        axes: Any,
        axis_index_groups: Any,
    ) -> Any:
        (x,), (dim,) = args, dims

        def rebind(x: Any, shift: int) -> Any:
            shifted = tuple([a + shift if isinstance(a, int) else a for a in axes])
            return p.bind(x, axes=shifted, axis_index_groups=axis_index_groups)

        if axis.name not in axes:
            return batch_other_axes(x, dim, rebind)

        def reduce_mapped_axis(size: int, x: Any, dim: int | None) -> Any:
            positions = _positions_among(axes)
            if dim is None:
                x = repeated(x, size)
                return (reduce_p.bind(x, axes=positions) if positions else x), None
            x = families.move_axis(x, dim, 0)
            return reduce_p.bind(x, axes=(0, *[a + 1 for a in positions])), None

        out, out_dim = by_group(axis_index_groups, axis, x, dim, reduce_mapped_axis)
        other_axes = tuple([a for a in _names_among(axes) if a != axis.name])
        if other_axes:
            out = p.bind(out, axes=other_axes, axis_index_groups=None)
        return out, out_dim

    def lower(ctx: Any, x: str, *, axes: Any, axis_index_groups: Any) -> Any:
        names, (aval,) = _names_among(axes), ctx.avals_in
        if len(names) < len(axes):
            x = reduce_p.lower(ctx, x, axes=_positions_among(axes))  # type: ignore[misc]
            aval = ctx.avals_out[0]
        if not names:
            return x
        groups = axis_index_groups
        return manual_lowering.all_reduce(ctx, hlo, x, aval, names, groups, name)

    return collective(
        name,
        lower=lower,
        vary=_all_reduce_varying,
        abstract=_all_reduce_abstract(name),
        shard=sharding_rules.all_reduce,
        axes=lambda *, axes, **_: _names_among(axes),
        batch=batch,
        **rules,
    )


def times(x: Any, n: int) -> Any:
    return elementwise.mul(x, np.asarray(n).astype(avals.aval_of(x).dtype)[()])


def _spread_positions(ct: Any, aval: Any, positions: Any) -> Any:
    """A cotangent repeated along the axes that were summed over by position."""
    if not positions:
        return ct
    kept_axes = tuple([i for i in range(aval.ndim) if i not in positions])
    return families.broadcast_in_dim_p.bind(
        ct, shape=aval.shape, broadcast_dimensions=kept_axes, sharding=None
    )


def _psum_transpose(cts: Any, x: Any, *, axes: Any, axis_index_groups: Any) -> Any:
    if type(cts[0]) is Zero:
        return [Zero(x.aval)]
    ct, names = cts[0], _names_among(axes)
    if names:
        ct = psum_p.bind(ct, axes=names, axis_index_groups=axis_index_groups)
    return [_spread_positions(ct, x.aval, _positions_among(axes))]


@takes_primitive
def _extreme_jvp(
    p: Primitive, primals: Any, tangents: Any, *, axes: Any, axis_index_groups: Any
) -> Any:
    """The tangent is the mean of the tangents of the elements that are extreme."""
    (x,), (t,) = primals, tangents
    params = {"axes": axes, "axis_index_groups": axis_index_groups}
    out = p.bind(x, **params)
    if type(t) is Zero:
        return out, Zero(avals.aval_of(out).to_tangent())
    wide = _spread_positions(out, avals.aval_of(x), _positions_among(axes))
    mask = elementwise.eq(x, wide)
    mask = elementwise.convert(mask, avals.aval_of(t).dtype)
    count = sum_over(mask, **params)
    total = sum_over(elementwise.mul(t, mask), **params)
    return out, elementwise.div(total, count)


def pvary_transpose(cts: Any, x: Any, *, axes: Any) -> Any:
    """The devices' cotangents of one value, summed."""
    if type(cts[0]) is Zero:
        return [Zero(x.aval)]
    return [psum_invariant_p.bind(cts[0], axes=axes, axis_index_groups=None)]


def _psum_invariant_transpose(
    cts: Any, x: Any, *, axes: Any, axis_index_groups: Any
) -> Any:
    """Each device's value is in the one sum once."""
    if type(cts[0]) is Zero:
        return [Zero(x.aval)]
    ct = manual_axes.vary(cts[0], _names_among(axes))
    return [_spread_positions(ct, x.aval, _positions_among(axes))]


psum_p = _all_reduce(
    "psum",
    families.reduce_sum_p,
    "stablehlo.add",
    times,
    transpose=_psum_transpose,
    **families.LINEAR,
)
psum_invariant_p = _all_reduce(
    "psum_invariant",
    families.reduce_sum_p,
    "stablehlo.add",
    times,
    transpose=_psum_invariant_transpose,
    **families.LINEAR,
)
pmax_p = _all_reduce(
    "pmax",
    reductions.reduce_max_p,
    "stablehlo.maximum",
    lambda x, n: x,
    jvp=_extreme_jvp,
)
pmin_p = _all_reduce(
    "pmin",
    reductions.reduce_min_p,
    "stablehlo.minimum",
    lambda x, n: x,
    jvp=_extreme_jvp,
)


def sum_over(x: Any, *, axes: Any, axis_index_groups: Any) -> Any:
    """The sum over axes, some of which may be manual axes of a mesh."""
    checked = manual_axes.checked_axes(axes)
    if not checked:
        return psum_p.bind(x, axes=axes, axis_index_groups=axis_index_groups)
    x = manual_axes.vary(x, checked)
    if axis_index_groups is not None:
        return psum_p.bind(x, axes=axes, axis_index_groups=axis_index_groups)
    others = tuple([a for a in axes if a not in checked])
    if others:
        x = psum_p.bind(x, axes=others, axis_index_groups=None)
    return psum_invariant_p.bind(x, axes=checked, axis_index_groups=None)


# -- axis_index ------------------------------------------------------------------------


def axis_index(name: Any) -> Any:
    """The position along an axis."""
    return axis_index_p.bind(
        axis_name=name, varies=bool(manual_axes.checked_axes((name,)))
    )


def _axis_index_batch(
    axis: Any, args: Any, dims: Any, *, axis_name: Any, varies: bool
) -> Any:
    if axis.name != axis_name:
        return axis_index_p.bind(axis_name=axis_name, varies=varies), None
    return shaping.iota(np.int32, axis.size), 0


axis_index_p = collective(
    "axis_index",
    abstract=lambda *, axis_name, varies: ShapedArray((), np.dtype(np.int32)),
    vary=lambda joined, *, axis_name, varies: frozenset((axis_name,) if varies else ()),
    print=lambda eqn: [("axis_name", eqn.params["axis_name"])],
    lower=manual_lowering.axis_index,
    batch=_axis_index_batch,
    communicates=False,
)
