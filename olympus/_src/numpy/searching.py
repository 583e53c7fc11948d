"""Finding elements: nonzero, argwhere, searchsorted, compress.

Results whose size depends on values are made on the host where the values are known;
while tracing the caller states the size.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from olympus._src.control_flow import scan
from olympus._src.core import dtypes, trace
from olympus._src.core.array_type import Array, ArrayLike, Axis, OptionalArray
from olympus._src.core.sizes import as_size, at_least, is_symbolic, upper_bound
from olympus._src.foundation import errors
from olympus._src.interpreters import concrete_arrays, evaluate
from olympus._src.interpreters.direct_calls import direct
from olympus._src.lax import (
    concatenation,
    cumulative,
    gather,
    reductions,
    scatter_functions,
    shaping,
    sorting,
    stacking,
)
from olympus._src.lax import elementwise as lax
from olympus._src.lax.sizes import position_dtype
from olympus._src.numpy import creation, indexing, logic, promotion
from olympus._src.numpy.promotion import aval_of, check_arraylike


def concrete(name: str, x: Any, cure: str) -> np.ndarray:
    """The values of `x` on the host, or an error that says why there are none."""
    if isinstance(x, trace.Tracer):
        raise x.refusal(
            errors.ConcretizationTypeError,
            f"numpy.{name}: the size of the result depends on values that are not "
            "known while tracing, got a traced value of type "
            f"{x.aval.short()}; {cure}.",
        )
    aval_of(x)
    return np.asarray(promotion.resolve(x))


def known_positions(name: str, x: Any) -> np.ndarray:
    """Positions on the host, to refuse those out of range; an error if traced."""
    if isinstance(x, trace.Tracer):
        raise x.refusal(
            errors.ConcretizationTypeError,
            f"numpy.{name}: mode='raise' needs the values of the positions to check "
            f"them, got a traced value of type {x.aval.short()}; pass mode='wrap' or "
            "mode='clip'.",
        )
    aval_of(x)
    return np.asarray(promotion.resolve(x))


def nonzero(
    a: ArrayLike, *, size: int | None = None, fill_value: OptionalArray = None
) -> tuple[Array, ...]:
    """The positions of elements that are not zero.

    Differs from NumPy: under `jit` the number of results must be known: pass `size`,
    and `fill_value` for the places left over.

    Args:
      a: array.
      size: how many positions to return; needed while tracing. More are cut off.
      fill_value: what fills the result where there are fewer; default 0. A number, or
        one for each axis.

    Returns:
      For each axis an integer array.

    Raises:
      ConcretizationTypeError: `a` is traced and `size` not given.

    Source: NumPy, `numpy.nonzero`.

    Example:
      >>> jnp.nonzero(jnp.array([0, 4, 5]), size=3, fill_value=-1)
      (Array([ 1,  2, -1], dtype=int32),)
    """
    check_arraylike("nonzero", a)
    if aval_of(a).ndim == 0:
        raise ValueError(
            "numpy.nonzero: calling nonzero on 0d arrays is not allowed; use "
            "atleast_1d(a).nonzero()"
        )
    if size is None:
        positions = np.nonzero(concrete("nonzero", a, "pass the argument `size`"))
        kind = dtypes.canonicalize_dtype(int)
        outs = [creation.asarray(i.astype(kind)) for i in positions]
        return tuple([concrete_arrays.beside_committed(x, a) for x in outs])
    return _nonzero_sized(a, as_size(size), fill_value)


def _nonzero_sized(a: Any, size: int, fill_value: Any) -> tuple[Any, ...]:
    rank = aval_of(a).ndim
    fills = (
        fill_value if isinstance(fill_value, (tuple, list)) else (fill_value,) * rank
    )
    if len(fills) != rank:
        raise ValueError(
            f"numpy.nonzero: fill_value must give a number for each of the {rank} "
            f"axes, got {len(fills)}"
        )
    fills = [0 if f is None else f for f in fills]
    return tuple(_nonzero_program(a, *fills, size=size))


@evaluate.fuse
def _nonzero_program(a: Any, *fills: Any, size: int) -> Any:
    kind = dtypes.canonicalize_dtype(int)
    aval = aval_of(a)
    total = aval.size
    values = [promotion.cast(f, kind, False) for f in fills]
    if not total or not size:
        return [promotion.full_shape(f, (size,)) for f in values]
    flags = shaping.reshape(logic.truth(a), (total,))
    ranks = cumulative.cumsum(lax.convert(flags, kind), 0)
    flat, count = _positions(ranks, size), _last(ranks)
    valid = lax.lt(shaping.iota(kind, size), promotion.full_shape(count, (size,)))
    outs = []
    step = total
    for length, f in zip(aval.shape, values, strict=True):
        step //= length
        at = _remainder(lax.div(flat, lax.size_value(step, kind)), length)
        outs.append(lax.select(valid, at, promotion.full_shape(f, (size,))))
    return outs


def _remainder(x: Any, size: Any) -> Any:
    return lax.rem(x, lax.size_value(size, aval_of(x).dtype))


def _last(x: Any) -> Any:
    n = aval_of(x).shape[0]
    return shaping.squeeze(concatenation.slice_in_dim(x, n - 1, n), (0,))


def _positions(ranks: Any, size: int) -> Any:
    """For 1, 2, ... size the first place where the non-decreasing `ranks` reach it."""
    kind = aval_of(ranks).dtype
    targets = lax.add(shaping.iota(kind, size), kind.type(1))
    return binary_search(ranks, targets, "left")


_COMPARED = 1 << 14  # comparisons up to which all are made, without a loop


def binary_search(line: Any, values: Any, side: str, method: str = "scan") -> Any:
    """Where values would be inserted in a sorted vector, all at once; NaN is last.

    Args:
      line: sorted vector.
      values: array of the same dtype.
      side: "left" or "right".
      method: "scan" halves in a loop (and compares all in small arrays),
        "scan_unrolled" halves without one, "compare_all" always compares with all,
        "sort" sorts the two together.
    """
    n = aval_of(line).shape[0]
    kind = dtypes.canonicalize_dtype(int)
    sizes = aval_of(values).shape
    if not n or 0 in sizes:
        return promotion.full_shape(kind.type(0), sizes)
    if method == "sort":
        return _rank_by_sorting(line, values, side, kind)
    if method == "compare_all" or (
        method == "scan" and at_least(_COMPARED, n * aval_of(values).size)
    ):
        return _compare_all(line, values, side, kind)
    return _halve(line, values, side, kind, method == "scan_unrolled")


def _choose_comparison(side: str, values: Any) -> Callable[..., Any]:
    """Whether elements stand before the places of values; NaN are equal and last."""
    is_left = side == "left"
    name = dtypes.kind(aval_of(values).dtype)
    if name == "c":  # by real parts, then imaginary ones
        compare = logic.less if is_left else logic.less_equal
    else:
        compare = lax.lt if is_left else lax.le
    if name not in "fc":
        return compare
    nan = lax.ne(values, values)

    def compare_with_nan(elements: Any, values: Any) -> Any:
        flags = compare(elements, values)
        if not is_left:
            return lax.bitwise_or(flags, nan)
        return lax.select_n(nan, flags, lax.eq(elements, elements))

    return compare_with_nan


def _compare_all(line: Any, values: Any, side: str, kind: Any) -> Any:
    rank = aval_of(values).ndim
    shape = (*aval_of(values).shape, aval_of(line).shape[0])
    wide = shaping.broadcast_in_dim(values, shape, range(rank))
    elements = shaping.broadcast_in_dim(line, shape, (rank,))
    flags = _choose_comparison(side, wide)(elements, wide)
    return reductions.reduce_sum(lax.convert(flags, kind), (rank,))


def _halve(line: Any, values: Any, side: str, kind: Any, unrolled: bool) -> Any:
    """Steps of falling powers of two; `last` is the last element known to be before.

    Not all of the line is read, not even to look for NaN.
    """
    n = aval_of(line).shape[0]
    sizes = aval_of(values).shape
    numbers = gather.GatherDimensionNumbers((), (0,), (0,))
    before = _choose_comparison(side, values)

    def step(last: Any, width: Any) -> tuple[Any, None]:
        ahead = lax.add(last, width)  # beyond the end, the last element stands in
        at = shaping.reshape(ahead, (*sizes, 1))
        element = gather.gather(line, at, numbers, (1,), mode="clip")
        return lax.select_n(before(element, values), last, ahead), None

    widths = 2 ** np.arange(_halvings(n), dtype=kind)[::-1]
    last = promotion.full_shape(kind.type(-1), sizes)
    if unrolled:
        for width in widths:
            last, _ = step(last, width)
    else:
        last, _ = scan.scan(step, last, widths)
    return lax.min_(lax.add(last, kind.type(1)), lax.size_value(n, kind))


def _halvings(n: Any) -> int:
    """How often a line must be halved; of a symbolic size, as many as can be."""
    if not is_symbolic(n):
        return int(n.bit_length())
    most = upper_bound(n)
    return 31 if most is None else min(most.bit_length(), 31)


def _rank_by_sorting(line: Any, values: Any, side: str, kind: Any) -> Any:
    """Both sorted together: a value's place is its rank, less the values before it."""
    n, m = aval_of(line).shape[0], aval_of(values).size
    flat = shaping.reshape(values, (m,))
    parts = [flat, line] if side == "left" else [line, flat]  # who goes first of equals
    both = concatenation.concatenate(parts, 0)
    numbers = shaping.iota(kind, n + m)
    _, order = sorting.sort((both, numbers), num_keys=1, is_stable=True)
    first = 0 if side == "left" else n
    own = lax.bitwise_and(
        lax.ge(order, kind.type(first)), lax.lt(order, kind.type(first + m))
    )
    lines = cumulative.cumsum(lax.convert(lax.bitwise_not(own), kind), 0)
    ranks = scatter_functions.scatter(
        promotion.full_shape(kind.type(0), (n + m,)),
        shaping.reshape(order, (n + m, 1)),
        lines,
        gather.ScatterDimensionNumbers((), (0,), (0,)),
        unique_indices=True,
        mode="promise_in_bounds",
    )
    positions = concatenation.slice_in_dim(ranks, first, first + m)
    return shaping.reshape(positions, aval_of(values).shape)


def flatnonzero(
    a: ArrayLike, *, size: int | None = None, fill_value: OptionalArray = None
) -> Array:
    """The positions, in the flattened array, of elements that are not zero.

    Differs from NumPy: under `jit` the number of results must be known: pass `size`,
    and `fill_value` for the places left over.

    Args:
      a: array.
      size, fill_value: see `nonzero`.

    Source: NumPy, `numpy.flatnonzero`.

    Example:
      >>> jnp.flatnonzero(jnp.array([[0, 4], [5, 0]]))
      Array([1, 2], dtype=int32)
    """
    check_arraylike("flatnonzero", a)
    flat = shaping.reshape(concrete_arrays.as_array_or_tracer(a), (aval_of(a).size,))
    return nonzero(flat, size=size, fill_value=fill_value)[0]


def argwhere(
    a: ArrayLike, *, size: int | None = None, fill_value: OptionalArray = None
) -> Array:
    """The positions of elements that are not zero, one in each row.

    Differs from NumPy: under `jit` the number of rows must be known: pass `size`, and
    `fill_value` for the rows left over.

    Args:
      a: array.
      size, fill_value: see `nonzero`.

    Returns:
      An integer matrix [number of positions, number of axes].

    Source: NumPy, `numpy.argwhere`.

    Example:
      >>> jnp.argwhere(jnp.array([[0, 4], [5, 0]]))
      Array([[0, 1],
             [1, 0]], dtype=int32)
    """
    check_arraylike("argwhere", a)
    kind = dtypes.canonicalize_dtype(int)
    if aval_of(a).ndim == 0:
        flat = shaping.reshape(concrete_arrays.as_array_or_tracer(a), (1,))
        count = nonzero(flat, size=size, fill_value=fill_value)[0]
        return creation.zeros((aval_of(count).shape[0], 0), kind)
    positions = nonzero(a, size=size, fill_value=fill_value)
    return _columns(*positions)


@evaluate.fuse
def _columns(*xs: Any) -> Any:
    return stacking.stack(xs, 1)


def compress(
    condition: ArrayLike,
    a: ArrayLike,
    axis: Axis = None,
    *,
    size: int | None = None,
    fill_value: ArrayLike = 0,
    out: None = None,
) -> Array:
    """The slices of an array where a condition holds.

    Differs from NumPy: under `jit` the number of results must be known: pass `size`,
    and `fill_value` for the places left over.

    Args:
      condition: vector of booleans, no longer than the axis.
      a: array.
      axis: the axis; None for the flattened array.
      size: size of the result's axis; needed while tracing.
      fill_value: what fills the result where fewer slices are found.
      out: must be None.

    Source: NumPy, `numpy.compress`.

    Example:
      >>> jnp.compress(
      ...     jnp.array([True, False, True]),
      ...     jnp.array([[1, 2, 3], [4, 5, 6]]),
      ...     axis=1,
      ... )
      Array([[1, 3],
             [4, 6]], dtype=int32)
    """
    promotion.check_out("compress", out)
    if isinstance(condition, (list, tuple)):
        condition = np.asarray(condition)
    check_arraylike("compress", condition, a)
    if aval_of(condition).ndim != 1:
        raise ValueError(
            "numpy.compress: condition must have one axis, got "
            f"{aval_of(condition).short()}"
        )
    x, axis = promotion.flatten_unless_axis(
        "compress", concrete_arrays.as_array_or_tracer(a), axis
    )
    lead = (slice(None),) * axis
    length = aval_of(x).shape[axis]
    if size is None:
        mask = concrete("compress", condition, "pass the argument `size`").astype(bool)
        where = np.nonzero(mask)[0]
        if where.size and where[-1] >= length:
            raise ValueError(
                "numpy.compress: condition contains entries that are out of bounds: "
                f"position {where[-1]} of an axis of size {length}; cut the condition "
                "to the axis"
            )
        return indexing.getitem(x, (*lead, where.astype(np.int32)))
    if not length:
        sizes = aval_of(x).shape
        fill = promotion.cast(fill_value, aval_of(x).dtype, False)
        return promotion.full_shape(fill, (*sizes[:axis], size, *sizes[axis + 1 :]))
    where = _first_positions(condition, length=length, size=as_size(size))
    place = (*lead, where)
    out = indexing.take(x, place, mode="fill", fill_value=fill_value, wrap=False)
    return promotion.strong(out)


@promotion.program(1, name="compress")
def _first_positions(condition: Any, *, length: int, size: int) -> Any:
    """The first positions where a condition holds; beyond `length` where there is none.

    A position is the number of places before it where fewer hold.
    """
    kind = dtypes.canonicalize_dtype(int)
    flags = logic.truth(condition)
    n = aval_of(flags).shape[0]
    if length != n and at_least(n, length):
        flags, n = concatenation.slice_in_dim(flags, 0, length), length
    if not n:
        return promotion.full_shape(lax.size_value(length, kind), (size,))
    positions = _positions(cumulative.cumsum(lax.convert(flags, kind), 0), size)
    if n == length:
        return positions
    return lax.select(lax.lt(positions, kind.type(n)), positions, kind.type(length))


@direct("searchsorted", 2)
def searchsorted(
    a: ArrayLike,
    v: ArrayLike,
    side: str = "left",
    sorter: OptionalArray = None,
    *,
    method: str = "scan",
) -> Array:
    """Where values would be inserted in a sorted vector to keep its order.

    Differs from NumPy: `method` chooses between search, sorting and comparing all,
    which differ in speed only.

    Args:
      a: sorted vector.
      v: array of values.
      side: "left" for the first such place, "right" for the last.
      sorter: integers that would sort `a`.
      method: how: "scan" halves in a loop (and compares all in small arrays),
        "scan_unrolled" halves without one, "sort" sorts both together, "compare_all"
        compares each with each. The result is the same.

    Returns:
      An integer array of v's shape.

    Raises:
      ValueError: `side` is neither, or `a` is not a vector.

    Source: NumPy, `numpy.searchsorted`.

    Example:
      >>> jnp.searchsorted(jnp.array([1, 3, 5]), jnp.array([3, 4]))
      Array([1, 2], dtype=int32)
    """
    if side not in ("left", "right"):
        raise ValueError(
            f"{side!r} is an invalid value for keyword 'side'; numpy.searchsorted "
            "takes 'left' and 'right'"
        )
    _check_method("searchsorted", method)
    check_arraylike("searchsorted", a, v)
    if aval_of(a).ndim != 1:
        raise ValueError(
            f"numpy.searchsorted: a should be 1-dimensional, got {aval_of(a).short()}"
        )
    if sorter is not None:
        check_arraylike("searchsorted", a, sorter)
        a = indexing.getitem(concrete_arrays.as_array_or_tracer(a), (sorter,))
    return _searchsorted(a, v, side=side, method=method)


def _check_method(name: str, method: str | None) -> None:
    if method not in (None, "scan", "scan_unrolled", "sort", "compare_all"):
        raise ValueError(
            f"{method!r} is an invalid value for keyword 'method'; numpy.{name} takes "
            "'scan', 'scan_unrolled', 'sort' and 'compare_all'"
        )


@promotion.program(2, name="searchsorted")
def _searchsorted(a: Any, v: Any, *, side: str, method: str) -> Any:
    a, v = promotion.promote_dtypes(a, v)
    counter = position_dtype(aval_of(a).shape[0])
    return lax.convert(binary_search(a, v, side, method), counter)


def digitize(
    x: ArrayLike, bins: ArrayLike, right: bool = False, *, method: str | None = None
) -> Array:
    """The number of the bin that each value falls in.

    Differs from NumPy: edges that are not monotonic are not an error, and give
    meaningless positions.

    Args:
      x: array of values.
      bins: monotonic vector of edges.
      right: whether bins contain their right edges.
      method: see `searchsorted`.

    Returns:
      An integer array of x's shape.

    Source: NumPy, `numpy.digitize`.

    Example:
      >>> jnp.digitize(jnp.array([0.2, 6.4]), jnp.array([0.0, 1.0, 5.0]))
      Array([1, 3], dtype=int32)
    """
    _check_method("digitize", method)
    check_arraylike("digitize", x, bins)
    if aval_of(bins).ndim != 1:
        raise ValueError(
            f"numpy.digitize: bins must be a vector, got {aval_of(bins).short()}"
        )
    return _digitize(x, bins, right=bool(right), method=method or "scan")


@promotion.program(2, name="digitize")
def _digitize(x: Any, bins: Any, *, right: bool, method: str) -> Any:
    n = aval_of(bins).shape[0]
    x, bins = promotion.promote_dtypes(x, bins)
    if not n:
        return promotion.full_shape(np.int32(0), aval_of(x).shape)
    side = "left" if right else "right"
    backwards = shaping.rev(bins, (0,))
    ends = (
        concatenation.slice_in_dim(bins, n - 1, n),
        concatenation.slice_in_dim(bins, 0, 1),
    )
    down = shaping.squeeze(logic.less(*ends), (0,))
    rising = binary_search(bins, x, side, method)
    falling = binary_search(backwards, x, side, method)
    falling = lax.sub(lax.size_value(n, aval_of(falling).dtype), falling)
    return lax.convert(lax.select_n(down, rising, falling), np.dtype(np.int32))
