"""Ragged contractions: products of rows in groups, each with its own matrix.

One axis of the first operand is cut in groups of given sizes. What that means depends
on the axis:

- It is free: rows of a group are multiplied by that group's matrix in the second
  operand.
- It is contracted: each group is a separate contraction, stacked on a new first axis.
- It is a batch axis: the plain contraction.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from olympus._src.core import avals, dtypes
from olympus._src.core.array_type import (
    Array,
    ArrayLike,
    DTypeLike,
    OptionalArray,
    Placement,
)
from olympus._src.core.primitive import Primitive
from olympus._src.core.symbolic_values import Linear, Zero
from olympus._src.lax import (
    contraction,
    elementwise,
    families,
    ragged_lowering,
    sharding_constraints,
    sharding_rules,
    small_integers,
)
from olympus._src.lax.families import ShapedArray
from olympus._src.lax.precision import (
    DotDimensionNumbers,
    PrecisionLike,
    canonical_precision,
)

_NAME = "lax.ragged_dot_general"


class RaggedDotDimensionNumbers:
    """Which axes a ragged contraction contracts, batches and cuts in groups.

    Args:
      dot_dimension_numbers: as for `dot_general`.
      lhs_ragged_dimensions: the axis of the first operand that is cut; one.
      rhs_group_dimensions: the axis of the second that counts groups; one if the
        ragged axis is neither contracted nor a batch axis, else none.

    Example:
      >>> from olympus import lax
      >>> lax.RaggedDotDimensionNumbers((((1,), (1,)), ((), ())), [0], [0])
      RaggedDotDimensionNumbers(dot_dimension_numbers=(((1,), (1,)), ((), ())), \
lhs_ragged_dimensions=(0,), rhs_group_dimensions=(0,))
    """

    __slots__ = (
        "dot_dimension_numbers",
        "lhs_ragged_dimensions",
        "rhs_group_dimensions",
    )

    def __init__(
        self,
        dot_dimension_numbers: DotDimensionNumbers,
        lhs_ragged_dimensions: Sequence[int],
        rhs_group_dimensions: Sequence[int],
    ) -> None:
        (cx, cy), (bx, by) = dot_dimension_numbers
        self.dot_dimension_numbers = (_ints(cx), _ints(cy)), (_ints(bx), _ints(by))
        self.lhs_ragged_dimensions = _ints(lhs_ragged_dimensions)
        self.rhs_group_dimensions = _ints(rhs_group_dimensions)

    def _key(self) -> Any:
        return (
            self.dot_dimension_numbers,
            self.lhs_ragged_dimensions,
            self.rhs_group_dimensions,
        )

    def __eq__(self, other: object) -> bool:
        if type(other) is not RaggedDotDimensionNumbers:
            return NotImplemented
        return self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def __repr__(self) -> str:
        return (
            f"RaggedDotDimensionNumbers(dot_dimension_numbers="
            f"{self.dot_dimension_numbers}, lhs_ragged_dimensions="
            f"{self.lhs_ragged_dimensions}, rhs_group_dimensions="
            f"{self.rhs_group_dimensions})"
        )


def _ints(values: Any) -> tuple[int, ...]:
    return tuple([int(v) for v in values])


# -- types -----------------------------------------------------------------------------


def _mode(numbers: RaggedDotDimensionNumbers) -> str:
    (cx, _), (bx, _) = numbers.dot_dimension_numbers
    (ragged,) = numbers.lhs_ragged_dimensions
    if ragged in cx:
        return "contracted"
    return "batch" if ragged in bx else "free"


def _check_numbers(x: Any, y: Any, numbers: RaggedDotDimensionNumbers) -> str:
    if not isinstance(numbers, RaggedDotDimensionNumbers):
        raise TypeError(
            f"{_NAME}: ragged_dot_dimension_numbers must be RaggedDotDimensionNumbers, "
            f"got {numbers!r}"
        )
    contraction.check_dimensions(_NAME, x, y, numbers.dot_dimension_numbers)
    (_, cy), (_, by) = numbers.dot_dimension_numbers
    ragged, group = numbers.lhs_ragged_dimensions, numbers.rhs_group_dimensions
    if len(ragged) != 1 or not 0 <= ragged[0] < x.ndim:
        raise TypeError(
            f"{_NAME}: lhs_ragged_dimensions must be one axis of {x.short()}, got "
            f"{ragged}"
        )
    mode = _mode(numbers)
    n_group_axes = 1 if mode == "free" else 0
    if len(group) != n_group_axes:
        what = "one axis" if n_group_axes else "empty"
        raise TypeError(
            f"{_NAME}: rhs_group_dimensions must be {what} where the ragged axis is "
            f"{mode}, got {group}"
        )
    if group and (group[0] in (*cy, *by) or not 0 <= group[0] < y.ndim):
        raise TypeError(
            f"{_NAME}: rhs_group_dimensions must be an axis of {y.short()} that is "
            f"neither contracted nor a batch axis, got {group}"
        )
    return mode


def _outer(x: Any, numbers: RaggedDotDimensionNumbers) -> list[int]:
    """Axes of the first operand that may each have group sizes of their own."""
    (cx, _), (bx, _) = numbers.dot_dimension_numbers
    (ragged,) = numbers.lhs_ragged_dimensions
    mode = _mode(numbers)
    if mode == "batch":
        return list(bx[: bx.index(ragged)])
    if mode == "contracted":
        return [*bx, *cx[: cx.index(ragged)]]
    free = [d for d in range(x.ndim) if d not in (*cx, *bx)]
    return [*bx, *free[: free.index(ragged)]]


def _abstract(
    x: Any,
    y: Any,
    sizes: Any,
    *,
    ragged_dot_dimension_numbers: Any,
    precision: Any,
    preferred_element_type: Any,
    group_offset: Any,
    out_sharding: Any,
) -> Any:
    numbers = ragged_dot_dimension_numbers
    for operand in (x, y):
        families.check_dtype(_NAME, operand, families.ANY)
    small_integers.refuse_two_bits(_NAME, (x, y))
    mode = _check_numbers(x, y, numbers)
    if not dtypes.issubdtype(sizes.dtype, np.integer) or not sizes.ndim:
        raise TypeError(
            f"{_NAME}: group_sizes must be an array of integers, got {sizes.short()}"
        )
    groups = sizes.shape[-1]
    full = (*[x.shape[d] for d in _outer(x, numbers)], groups)
    if sizes.shape not in ((groups,), full):
        raise TypeError(
            f"{_NAME}: group_sizes must have shape ({groups},) or {full}, got "
            f"{sizes.short()}"
        )
    group = numbers.rhs_group_dimensions
    if group and y.shape[group[0]] != groups:
        raise TypeError(
            f"{_NAME}: rhs must have a matrix for each of the {groups} groups, got "
            f"{y.shape[group[0]]} along axis {group[0]} of {y.short()}"
        )
    (cx, cy), (bx, by) = numbers.dot_dimension_numbers
    shape = [groups] if mode == "contracted" else []
    shape += [x.shape[d] for d in bx]
    shape += [s for d, s in enumerate(x.shape) if d not in (*cx, *bx)]
    shape += [s for d, s in enumerate(y.shape) if d not in (*cy, *by, *group)]
    dtype = preferred_element_type
    if dtype is None:
        dtype = contraction.common_dtype(x, y)
    return ShapedArray(tuple(shape), dtype)


def _lower(ctx: Any, x: str, y: str, sizes: str, **params: Any) -> Any:
    numbers = params["ragged_dot_dimension_numbers"]
    arguments = (numbers, _mode(numbers), _outer(ctx.avals_in[0], numbers))
    return ragged_lowering.write(ctx, (x, y, sizes), *arguments, params["precision"])


# -- derivatives -----------------------------------------------------------------------


def _jvp(primals: Any, tangents: Any, **params: Any) -> Any:
    x, y, sizes = primals
    tx, ty, _ = tangents
    out = ragged_dot_general_p.bind(x, y, sizes, **params)
    total = Zero(avals.aval_of(out).to_tangent())
    if type(tx) is not Zero:
        term = ragged_dot_general_p.bind(tx, y, sizes, **params)
        total = families.add_tangents(total, term)
    if type(ty) is not Zero:
        term = ragged_dot_general_p.bind(x, ty, sizes, **params)
        total = families.add_tangents(total, term)
    return out, total


def _transpose(
    cts: Any, x: Any, y: Any, sizes: Any, *, ragged_dot_dimension_numbers: Any, **p: Any
) -> Any:
    (ct,) = cts
    unknown = x if type(x) is Linear else y
    if type(ct) is Zero:
        operand_ct = Zero(unknown.aval)
    else:
        numbers = ragged_dot_dimension_numbers
        which = (_of_second, _of_first)[unknown is x]
        known = y if unknown is x else x
        out, order = which(ct, known, unknown.aval, sizes, numbers, p)
        if order != sorted(order):
            out = families.transpose_p.bind(out, permutation=families.inverse(order))
        operand_ct = elementwise.convert(out, unknown.aval.dtype)
    return [operand_ct, None, None] if unknown is x else [None, operand_ct, None]


def _apply(x: Any, y: Any, sizes: Any, p: Any, *numbers: Any) -> Any:
    dims = RaggedDotDimensionNumbers(*numbers)
    return ragged_dot_general_p.bind(
        x, y, sizes, ragged_dot_dimension_numbers=dims, **p
    )


def _sort_by_others(mine: Any, others: Any) -> list[int]:
    """`mine` in the order of the axes of the other operand that they meet."""
    return [m for _, m in sorted(zip(others, mine, strict=True))]


def _free(rank: int, *taken: Any) -> list[int]:
    used = {d for dims in taken for d in dims}
    return [d for d in range(rank) if d not in used]


def _lined_up(x: Any, batch: Any, contracted: Any, free: Any) -> Any:
    """An operand with its axes in that order, in which sizes of groups are given.

    Returns:
      The operand, and where its batch, contracted and free axes are now.
    """
    order = (*batch, *contracted, *free)
    if list(order) != sorted(order):
        x = families.transpose_p.bind(x, permutation=order)
    n, m = len(batch), len(batch) + len(contracted)
    return x, range(n), range(n, m), range(m, len(order))


def _of_first(ct: Any, y: Any, x: Any, sizes: Any, numbers: Any, p: Any) -> Any:
    """The cotangent of the first operand, and which of its axes each axis is."""
    (cx, cy), (bx, by) = numbers.dot_dimension_numbers
    (ragged,), group = numbers.lhs_ragged_dimensions, numbers.rhs_group_dimensions
    x_free = _free(x.ndim, cx, bx)
    y_free = _free(avals.aval_of(y).ndim, cy, by, group)
    n, m = len(bx), len(x_free)
    if _mode(numbers) == "contracted":
        y, by, cy, y_free = _lined_up(y, by, cy, y_free)
        batch = range(1, n + 1)
        last = range(n + m + 1, n + m + 1 + len(y_free))
        dims = ((y_free, last), (by, batch))
        out = _apply(y, ct, sizes, p, dims, [cy[cx.index(ragged)]], [0])
        return out, [*bx, *cx, *x_free]
    batch, last = range(n), range(n + m, n + m + len(y_free))
    place = n + x_free.index(ragged) if ragged in x_free else bx.index(ragged)
    out = _apply(ct, y, sizes, p, ((last, y_free), (batch, by)), [place], group)
    return out, [*bx, *x_free, *_sort_by_others(cx, cy)]


def _of_second(ct: Any, x: Any, y: Any, sizes: Any, numbers: Any, p: Any) -> Any:
    """The cotangent of the second operand, and which of its axes each axis is."""
    (cx, cy), (bx, by) = numbers.dot_dimension_numbers
    (ragged,), group = numbers.lhs_ragged_dimensions, numbers.rhs_group_dimensions
    x_free = _free(avals.aval_of(x).ndim, cx, bx)
    y_free = _free(y.ndim, cy, by, group)
    n, m = len(bx), len(x_free)
    if _mode(numbers) == "contracted":
        place = cx.index(ragged)
        x, bx, cx, x_free = _lined_up(x, bx, cx, x_free)
        dims = ((x_free, range(n + 1, n + 1 + m)), (bx, range(1, n + 1)))
        out = _apply(x, ct, sizes, p, dims, [cx[place]], [0])
        return out, [*by, *cy, *y_free]
    dims = ((x_free, range(n, n + m)), (bx, range(n)))
    out = _apply(x, ct, sizes, p, dims, [ragged], [])
    return out, [*group, *by, *_sort_by_others(cy, cx), *y_free]


# -- batching --------------------------------------------------------------------------


def _batch(
    axis: Any, args: Any, dims: Any, *, ragged_dot_dimension_numbers: Any, **p: Any
) -> Any:
    x, y, sizes = args
    dx, dy, ds = dims
    numbers = ragged_dot_dimension_numbers
    mode = _mode(numbers)
    (cx, cy), (bx, by) = numbers.dot_dimension_numbers
    ragged, group = numbers.lhs_ragged_dimensions, numbers.rhs_group_dimensions
    rank = avals.aval_of(x).ndim - (dx is not None)
    outer = [
        s
        for d, s in enumerate(_without(avals.aval_of(x).shape, dx))
        if d in _outer(ShapedArray((1,) * rank, np.bool_), numbers)
    ]
    x = families.at_front(axis, x, dx)
    cx, bx, ragged = ([d + 1 for d in ds_] for ds_ in (cx, bx, ragged))
    position = 0
    if dy is None and mode == "free":  # one more free axis, before the ragged one
        position = len(bx)
    else:
        y = families.at_front(axis, y, dy)
        cy, by, group = ([d + 1 for d in ds_] for ds_ in (cy, by, group))
        bx, by = [0, *bx], [0, *by]
    sizes = _batched_sizes(axis, sizes, ds, outer, position)
    out = _apply(x, y, sizes, p, ((cx, cy), (bx, by)), ragged, group)
    return out, 1 if mode == "contracted" else position


def _without(shape: Any, dim: int | None) -> list[int]:
    return [s for d, s in enumerate(shape) if d != dim]


def _batched_sizes(axis: Any, sizes: Any, dim: Any, outer: Any, position: int) -> Any:
    """Group sizes with the mapped axis at a position; one list for all stays one."""
    aval = avals.aval_of(sizes)
    rank = aval.ndim - (dim is not None)
    if dim is None and rank == 1:
        return sizes
    if rank == 1 and outer:
        sizes = families.move_axis(sizes, dim, 0)
        shape = [*outer, aval.shape[1 - dim]]
        shape.insert(position, axis.size)
        return families.broadcast_in_dim_p.bind(
            sizes,
            shape=tuple(shape),
            broadcast_dimensions=(position, len(shape) - 1),
            sharding=None,
        )
    if dim is None:
        return families.insert_axis(sizes, position, axis.size)
    return families.move_axis(sizes, dim, position)


# -- the record ------------------------------------------------------------------------


_plain_reference: Any = contraction.dot_general_p.reference


def _reference(
    x: Any,
    y: Any,
    sizes: Any,
    *,
    ragged_dot_dimension_numbers: Any,
    preferred_element_type: Any,
    **_: Any,
) -> Any:
    """Group by group, with the rest of the first operand set to zero."""
    numbers = ragged_dot_dimension_numbers
    mode, outer = _mode(numbers), _outer(x, numbers)
    (ragged,), group = numbers.lhs_ragged_dimensions, numbers.rhs_group_dimensions
    dims = numbers.dot_dimension_numbers
    kind = {"preferred_element_type": preferred_element_type}
    if mode == "batch":
        return _plain_reference(x, y, dimension_numbers=dims, **kind)
    full = [x.shape[d] for d in outer]
    ends = np.cumsum(np.broadcast_to(sizes, (*full, sizes.shape[-1])), -1)
    parts = []
    for g in range(sizes.shape[-1]):
        shape = [s if d in (*outer, ragged) else 1 for d, s in enumerate(x.shape)]
        order = [(*outer, ragged).index(d) for d in sorted((*outer, ragged))]
        rows = np.arange(x.shape[ragged])
        stop = ends[..., g, None]
        inside = (rows >= stop - np.asarray(sizes)[..., g, None]) & (rows < stop)
        inside = inside.transpose(order).reshape(shape)
        one = np.where(inside, x, np.zeros((), x.dtype))
        other, own = y, dims
        if group:
            other = np.take(y, g, group[0])
            (cx, cy), (bx, by) = dims
            cy, by = ([d - (d > group[0]) for d in ds] for ds in (cy, by))
            own = (cx, cy), (bx, by)
        parts.append(_plain_reference(one, other, dimension_numbers=own, **kind))
    return np.stack(parts) if mode == "contracted" else sum(parts)


ragged_dot_general_p = Primitive(
    "ragged_dot_general",
    shard=sharding_rules.replicate,
    abstract=_abstract,
    lower=_lower,
    jvp=_jvp,
    transpose=_transpose,
    batch=_batch,
    reference=_reference,
    needs_full_build=True,
)


def ragged_dot_general(
    lhs: ArrayLike,
    rhs: ArrayLike,
    group_sizes: ArrayLike,
    ragged_dot_dimension_numbers: RaggedDotDimensionNumbers,
    precision: PrecisionLike = None,
    preferred_element_type: DTypeLike | None = None,
    group_offset: OptionalArray = None,
    out_sharding: Placement = None,
) -> Array:
    """A contraction of which one axis of the first operand is cut in groups.

    With `b` batch axes, `m` free and `k` contracted ones, and `g` groups:

    - `m` is cut: `[b, m, k], [g, b, k, n] -> [b, m, n]`, each row with the matrix of
      its group; rows after the last group are zero.
    - `k` is cut: `[b, m, k], [b, k, n] -> [g, b, m, n]`, each group contracted alone.
    - `b` is cut: `[b, m, k], [b, k, n] -> [b, m, n]`, the plain contraction.

    Args:
      lhs: array.
      rhs: array.
      group_sizes: integers, array [g]; or an array of such lists, with an axis for each
        batch axis and each free (or contracted) axis before the ragged one. A negative
        size counts as zero.
      ragged_dot_dimension_numbers: which axes do what.
      precision: None, a `Precision`, its name, a pair of them, or a `DotAlgorithm`.
      preferred_element_type: dtype of the sum and the result; default the operands'.
      group_offset: only None.
      out_sharding: where the result lives.

    Returns:
      Array as above.

    Raises:
      TypeError: axes or sizes do not agree, or `group_sizes` are not integers.

    Source: groups of rows as in T. Gale and others, MegaBlocks, 2022.
    """
    if group_offset is not None:
        raise NotImplementedError(
            f"{_NAME}: group_offset must be None, got {group_offset!r}; slice the "
            "operands, so that the first group comes first"
        )
    p: dict[str, Any] = {"precision": canonical_precision(precision)}
    p["preferred_element_type"] = preferred_element_type
    if preferred_element_type is not None:
        kind = dtypes.as_dtype(preferred_element_type)
        p["preferred_element_type"] = dtypes.canonicalize_dtype(kind)
    p.update(group_offset=None, out_sharding=None)
    p["ragged_dot_dimension_numbers"] = ragged_dot_dimension_numbers
    if out_sharding is None:
        return ragged_dot_general_p.bind(lhs, rhs, group_sizes, **p)
    return sharding_constraints.divide_result(
        lambda *xs: ragged_dot_general_p.bind(*xs, **p),
        out_sharding,
        _NAME,
        lhs,
        rhs,
        group_sizes,
    )


_ROWS = RaggedDotDimensionNumbers((((1,), (1,)), ((), ())), (0,), (0,))


def ragged_dot(
    lhs: ArrayLike,
    rhs: ArrayLike,
    group_sizes: ArrayLike,
    precision: PrecisionLike = None,
    preferred_element_type: DTypeLike | None = None,
    group_offset: OptionalArray = None,
    out_sharding: Placement = None,
) -> Array:
    """Rows in groups times a matrix for each group.

    Args:
      lhs: array [m, k], rows of the first group first.
      rhs: array [g, k, n].
      group_sizes: integers, array [g]: how many rows each group has; a negative size
        counts as zero.
      precision: None, a `Precision`, its name, a pair of them, or a `DotAlgorithm`.
      preferred_element_type: dtype of the sum and the result; default the operands'.
      group_offset: only None.
      out_sharding: where the result lives.

    Returns:
      Array [m, n]; rows after the last group are zero.

    Raises:
      TypeError: sizes do not agree, or `group_sizes` are not integers.

    Source: groups of rows as in T. Gale and others, MegaBlocks, 2022.

    Example:
      >>> import numpy as np
      >>> from olympus import lax
      >>> rows = np.ones((3, 2), 'float32')
      >>> matrices = np.array([[[1], [1]], [[5], [5]]], 'float32')
      >>> lax.ragged_dot(rows, matrices, np.array([2, 1]))
      Array([[ 2.],
             [ 2.],
             [10.]], dtype=float32)
    """
    ranks = avals.aval_of(lhs).ndim, avals.aval_of(rhs).ndim
    if ranks != (2, 3):
        raise TypeError(
            "lax.ragged_dot: lhs must be [m, k] and rhs [g, k, n], got "
            f"{avals.aval_of(lhs).short()} and {avals.aval_of(rhs).short()}; use "
            "lax.ragged_dot_general"
        )
    return ragged_dot_general(
        lhs,
        rhs,
        group_sizes,
        _ROWS,
        precision,
        preferred_element_type,
        group_offset,
        out_sharding,
    )
