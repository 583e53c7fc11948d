"""Reductions: sums, products, extremes, means, and the positions of extremes."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from olympus._src.core import dtypes, trace
from olympus._src.core.array_type import (
    Array,
    ArrayLike,
    Axes,
    DTypeLike,
    OptionalArray,
)
from olympus._src.foundation import errors
from olympus._src.interpreters.direct_calls import direct
from olympus._src.lax import elementwise as lax
from olympus._src.lax import families, shaping
from olympus._src.lax import reductions as lax_reductions
from olympus._src.lax import sizes as sizes_
from olympus._src.numpy import logic, promotion
from olympus._src.numpy.promotion import aval_of, program

# -- axes ------------------------------------------------------------------------------


def axes_of(name: str, x: Any, axis: Any) -> tuple[int, ...]:
    """The axes a reduction runs over; None is all of them."""
    rank = aval_of(x).ndim
    if axis is None:
        return tuple(range(rank))
    if isinstance(axis, (trace.Tracer,)):
        raise axis.refusal(
            errors.ConcretizationTypeError,
            f"numpy.{name}: axis must be known while tracing, got a traced value; mark "
            "the argument static.",
        )
    axes = sizes_.as_axes(axis)
    canonical = tuple(
        [sizes_.canonicalize_axis(a, rank, f"numpy.{name}") for a in axes]
    )
    if len(set(canonical)) != len(canonical):
        raise ValueError(f"numpy.{name}: duplicate value in 'axis': {tuple(axes)}")
    return canonical


def static_axis(axis: Any) -> Any:
    """An axis argument in a form that can be a key: iterables become tuples."""
    if axis is None or type(axis) is int:
        return axis
    if isinstance(axis, trace.Tracer) or not sizes_.names_several(axis):
        return _index(axis)
    return tuple([_index(a) for a in axis])


def _index(a: Any) -> Any:
    return a if isinstance(a, trace.Tracer) else operator.index(a)


def keep_dims(out: Any, x: Any, axes: tuple[int, ...]) -> Any:
    """A reduced array with the reduced axes back, of size 1."""
    shape = tuple([1 if i in axes else d for i, d in enumerate(aval_of(x).shape)])
    remaining_axes = tuple([i for i in range(len(shape)) if i not in axes])
    return shaping.broadcast_in_dim(out, shape, remaining_axes)


# -- folds -----------------------------------------------------------------------------


def sum_dtype(dtype: Any) -> Any:
    """The dtype that sums of integers have: at least the default integer's width."""
    kind = dtypes.kind(dtype)
    if kind == "b":
        return dtypes.canonicalize_dtype(int)
    if kind not in "iu":
        return dtype
    wide = dtypes.canonicalize_dtype(np.int64 if kind == "i" else np.uint64)
    narrow = dtypes.itemsize_bits(dtype) < dtypes.itemsize_bits(wide)
    return wide if narrow else dtype


def fold(
    name: str,
    x: Any,
    reduce: Callable[..., Any],
    *,
    axis: Any,
    keepdims: bool,
    dtype: Any = None,
    initial: Any = None,
    where: Any = None,
    identity: Any = None,
    combine: Any = None,
    promote: bool = False,
    upcast: bool = False,
) -> Any:
    """A reduction with NumPy's options.

    Args:
      name: the function's name, for errors.
      x: array.
      reduce: `(array, axes) -> array`.
      identity: for a dtype, the value that changes nothing; None where there is none.
      combine: the operation of two values, for `initial`.
      promote: widen integers.
      upcast: work in float32 where floats are narrower.
    """
    axes = axes_of(name, x, axis)
    kind = aval_of(x).dtype
    if dtype is not None:
        kind = dtypes.check_user_dtype(dtype, name)
    elif promote:
        kind = sum_dtype(kind)
    elif name in ("sum", "prod") and kind == np.bool_:
        kind = np.dtype(np.int32)
    working = dtypes.at_least_single(kind) if upcast else kind
    if dtype is not None:
        x = promotion.cast(x, kind, False)
    x = promotion.cast(x, working, False)
    if where is not None:
        x = _mask_elements(name, x, where, initial, identity)
    out = reduce(x, axes) if axes else x
    if initial is not None:
        start = promotion.cast(initial, working, False)
        if aval_of(start).shape:
            raise ValueError(
                f"numpy.{name}: initial must be a scalar, got {aval_of(start).short()}"
            )
        out = combine(start, out)
    out = promotion.cast(out, kind, False)
    return keep_dims(out, x, axes) if keepdims else out


def _mask_elements(name: str, x: Any, where: Any, initial: Any, identity: Any) -> Any:
    """Elements that do not count replaced by what changes nothing."""
    promotion.check_arraylike(name, where)
    mask = logic.truth(where)
    if identity is None and initial is None:
        raise ValueError(
            f"numpy.{name}: reduction operation {name} does not have an identity, so "
            "to use a where mask one has to specify 'initial'"
        )
    dtype = aval_of(x).dtype
    if identity is not None:
        fill = families.number_of(identity(dtype), dtype)
    else:
        fill = promotion.cast(initial, dtype, False)
    shape = promotion.result_shape(name, [aval_of(x).shape, aval_of(mask).shape])
    x, mask = (promotion.full_shape(v, shape) for v in (x, mask))
    return lax.select(mask, x, promotion.full_shape(fill, shape))


def _constant(value: Any) -> Callable[[Any], Any]:
    return lambda dtype: np.asarray(value).astype(dtype)[()]


def run(
    run_program: Callable[..., Any],
    name: str,
    a: Any,
    out: Any,
    where: Any,
    initial: Any,
    **static: Any,
) -> Any:
    """Calls the program of a reduction, where arrays are positional."""
    promotion.check_arraylike(name, a)
    promotion.check_numbers(name, a)
    promotion.check_out(name, out)
    static["axis"] = static_axis(static["axis"])
    static["keepdims"] = bool(static["keepdims"])
    if where is None and initial is None:
        return promotion.as_result(run_program(a, **static))
    promotion.check_optional(name, where, initial)
    check_mask(name, where)
    operands = [v for v in (where, initial) if v is not None]
    flags = (where is not None, initial is not None)
    return promotion.as_result(run_program(a, *operands, flags=flags, **static))


def check_mask(name: str, where: Any) -> None:
    """Raises ValueError where a mask is not of booleans."""
    if where is not None and aval_of(where).dtype != np.bool_:
        raise ValueError(
            f"numpy.{name}: where must be of booleans, got {aval_of(where).short()}; "
            "write the condition, as in x != 0"
        )


def chosen(operands: tuple[Any, ...], flags: tuple[bool, bool]) -> Any:
    """The `where` and `initial` among the positional arrays."""
    values = iter(operands)
    where = next(values) if flags[0] else None
    return where, next(values) if flags[1] else None


def _fuse(fun: Callable[..., Any]) -> Any:
    return promotion.evaluate.fuse(fun)


@_fuse
def _sum(
    x: Any,
    *operands: Any,
    axis: Any,
    keepdims: bool,
    dtype: Any,
    promote: bool,
    flags: Any = (False, False),
) -> Any:
    where, initial = chosen(operands, flags)
    return fold(
        "sum",
        x,
        lambda v, axes: _sum_up(v, axes),
        axis=axis,
        keepdims=keepdims,
        dtype=dtype,
        initial=initial,
        where=where,
        identity=_constant(0),
        combine=lambda start, v: (
            lax.bitwise_or(start, v) if _is_bool(v) else lax.add(start, v)
        ),
        promote=promote,
        upcast=True,
    )


def _is_bool(x: Any) -> bool:
    return aval_of(x).dtype == np.bool_


def _sum_up(x: Any, axes: tuple[int, ...]) -> Any:
    if _is_bool(x):  # requested by dtype=bool: whether there is any
        return lax_reductions.reduce_or(x, axes)
    return families.reduce_sum_p.bind(x, axes=tuple(sorted(axes)))


@direct("_sum", named="initial")
def sum(
    a: ArrayLike,
    axis: Axes = None,
    dtype: DTypeLike | None = None,
    out: None = None,
    keepdims: bool = False,
    initial: OptionalArray = None,
    where: OptionalArray = None,
    promote_integers: bool = True,
) -> Array:
    """The sum of elements, over some axes or all.

    Differs from NumPy: narrow integers widen to 32 bits, and not at all with
    `promote_integers=False`; `out` must be None.

    Args:
      a: array or number.
      axis: an axis, several, or None for all.
      dtype: element type of the sum; default a's, integers widened.
      out: must be None.
      keepdims: keep the summed axes, with size 1.
      initial: number the sum starts from.
      where: mask of the elements that count.
      promote_integers: whether narrow integers are widened to the default width.

    Returns:
      An array without the summed axes.

    Source: NumPy, `numpy.sum`.

    Example:
      >>> import olympus.numpy as onp
      >>> onp.sum(onp.ones((2, 3)), axis=0)
      Array([2., 2., 2.], dtype=float32)
    """
    return run(
        _sum,
        "sum",
        a,
        out,
        where,
        initial,
        axis=axis,
        keepdims=keepdims,
        dtype=dtype,
        promote=bool(promote_integers),
    )


@_fuse
def _prod(
    x: Any,
    *operands: Any,
    axis: Any,
    keepdims: bool,
    dtype: Any,
    promote: bool,
    flags: Any = (False, False),
) -> Any:
    where, initial = chosen(operands, flags)

    def multiply_up(v: Any, axes: Any) -> Any:
        if _is_bool(v):
            return lax_reductions.reduce_and(v, axes)
        return lax_reductions.reduce_prod(v, axes)

    return fold(
        "prod",
        x,
        multiply_up,
        axis=axis,
        keepdims=keepdims,
        dtype=dtype,
        initial=initial,
        where=where,
        identity=_constant(1),
        combine=lambda start, v: (
            lax.bitwise_and(start, v) if _is_bool(v) else lax.mul(start, v)
        ),
        promote=promote,
        upcast=True,
    )


@direct("_prod", named="initial")
def prod(
    a: ArrayLike,
    axis: Axes = None,
    dtype: DTypeLike | None = None,
    out: None = None,
    keepdims: bool = False,
    initial: OptionalArray = None,
    where: OptionalArray = None,
    promote_integers: bool = True,
) -> Array:
    """The product of elements, over some axes or all.

    Differs from NumPy: narrow integers widen to 32 bits, and not at all with
    `promote_integers=False`; `out` must be None.

    Args:
      a: array or number.
      axis: an axis, several, or None for all.
      dtype: element type of the product; default a's, integers widened.
      out: must be None.
      keepdims: keep the reduced axes, with size 1.
      initial: number the product starts from.
      where: mask of the elements that count.
      promote_integers: whether narrow integers are widened to the default width.

    Source: NumPy, `numpy.prod`.

    Example:
      >>> jnp.prod(jnp.array([[1, 2], [3, 4]]), axis=1)
      Array([ 2, 12], dtype=int32)
    """
    return run(
        _prod,
        "prod",
        a,
        out,
        where,
        initial,
        axis=axis,
        keepdims=keepdims,
        dtype=dtype,
        promote=bool(promote_integers),
    )


# -- extremes --------------------------------------------------------------------------


def _extreme_fold(
    name: str,
    reduce: Any,
    combine: Any,
    x: Any,
    operands: Any,
    axis: Any,
    keepdims: bool,
    flags: Any,
) -> Any:
    where, initial = chosen(operands, flags)
    axes = axes_of(name, x, axis)
    shape = aval_of(x).shape
    if initial is None and 0 in [shape[a] for a in axes]:
        raise ValueError(
            f"zero-size array to reduction operation {name} which has no identity; "
            f"numpy.{name} takes `initial` for arrays that may be empty"
        )
    if dtypes.kind(aval_of(x).dtype) == "c":
        return _complex_extreme(name, x, axes, keepdims, where, initial)
    return fold(
        name,
        x,
        reduce,
        axis=axis,
        keepdims=keepdims,
        initial=initial,
        where=where,
        combine=combine,
    )


def _complex_extreme(
    name: str, x: Any, axes: Any, keepdims: bool, where: Any, initial: Any
) -> Any:
    """By real part, then by imaginary part; NaN wins."""
    reduce = lax_reductions.reduce_max if name == "max" else lax_reductions.reduce_min
    worst = -np.inf if name == "max" else np.inf
    if where is not None:
        x = _mask_elements(name, x, where, initial, _constant(complex(worst, worst)))
    out = promotion.strong(reduce(x, axes))
    if initial is not None:
        start = promotion.cast(initial, aval_of(out).dtype, False)
        out = (lax.max_ if name == "max" else lax.min_)(start, out)
    return keep_dims(out, x, axes) if keepdims else out


@_fuse
def _max(
    x: Any, *operands: Any, axis: Any, keepdims: bool, flags: Any = (False, False)
) -> Any:
    reduce = lax_reductions.reduce_max
    return _extreme_fold("max", reduce, lax.max_, x, operands, axis, keepdims, flags)


@_fuse
def _min(
    x: Any, *operands: Any, axis: Any, keepdims: bool, flags: Any = (False, False)
) -> Any:
    reduce = lax_reductions.reduce_min
    return _extreme_fold("min", reduce, lax.min_, x, operands, axis, keepdims, flags)


@direct("_max", named="initial")
def max(
    a: ArrayLike,
    axis: Axes = None,
    out: None = None,
    keepdims: bool = False,
    initial: OptionalArray = None,
    where: OptionalArray = None,
) -> Array:
    """The largest element, over some axes or all; NaN where there is one.

    Args:
      a: array or number.
      axis: an axis, several, or None for all.
      out: must be None.
      keepdims: keep the reduced axes, with size 1.
      initial: least value of the result; needed for empty arrays and with `where`.
      where: mask of the elements that count.

    Raises:
      ValueError: there is no element and no `initial`.

    Source: NumPy, `numpy.max`.

    Example:
      >>> jnp.max(jnp.array([[1, 5], [7, 2]]), axis=0)
      Array([7, 5], dtype=int32)
    """
    return run(_max, "max", a, out, where, initial, axis=axis, keepdims=keepdims)


@direct("_min", named="initial")
def min(
    a: ArrayLike,
    axis: Axes = None,
    out: None = None,
    keepdims: bool = False,
    initial: OptionalArray = None,
    where: OptionalArray = None,
) -> Array:
    """The smallest element, over some axes or all; NaN where there is one.

    Args:
      a: array or number.
      axis: an axis, several, or None for all.
      out: must be None.
      keepdims: keep the reduced axes, with size 1.
      initial: greatest value of the result; needed for empty arrays and with `where`.
      where: mask of the elements that count.

    Raises:
      ValueError: there is no element and no `initial`.

    Source: NumPy, `numpy.min`.

    Example:
      >>> jnp.min(jnp.array([[1, 5], [7, 2]]), axis=0)
      Array([1, 2], dtype=int32)
    """
    return run(_min, "min", a, out, where, initial, axis=axis, keepdims=keepdims)


@program(1, name="ptp")
def _ptp(a: Any, *, axis: Any, keepdims: bool) -> Any:
    high = max(a, axis=axis, keepdims=keepdims)
    return lax.sub(high, min(a, axis=axis, keepdims=keepdims))


def ptp(
    a: ArrayLike, axis: Axes = None, out: None = None, keepdims: bool = False
) -> Array:
    """The largest element minus the smallest, over some axes or all.

    Args:
      a: array or number.
      axis: an axis, several, or None for all.
      out: must be None.
      keepdims: keep the reduced axes, with size 1.

    Source: NumPy, `numpy.ptp`.

    Example:
      >>> jnp.ptp(jnp.array([[1, 5], [7, 2]]), axis=1)
      Array([4, 5], dtype=int32)
    """
    promotion.check_arraylike("ptp", a)
    promotion.check_out("ptp", out)
    return _ptp(a, axis=static_axis(axis), keepdims=bool(keepdims))


# -- truth -----------------------------------------------------------------------------


def _truth_fold(name: str, reduce: Any, identity: bool, combine: Any) -> Any:
    def folded(
        x: Any, *operands: Any, axis: Any, keepdims: bool, flags: Any = (False, False)
    ) -> Any:
        where, _ = chosen(operands, flags)
        return fold(
            name,
            logic.truth(x),
            reduce,
            axis=axis,
            keepdims=keepdims,
            where=where,
            identity=_constant(identity),
            combine=combine,
        )

    folded.__name__ = name
    return _fuse(folded)


_all = _truth_fold("all", lax_reductions.reduce_and, True, lax.bitwise_and)
_any = _truth_fold("any", lax_reductions.reduce_or, False, lax.bitwise_or)


@direct("all")
def all(
    a: ArrayLike,
    axis: Axes = None,
    out: None = None,
    keepdims: bool = False,
    *,
    where: OptionalArray = None,
) -> Array:
    """Whether all elements are true, over some axes or all; zero is false.

    Args:
      a: array or number.
      axis: an axis, several, or None for all.
      out: must be None.
      keepdims: keep the reduced axes, with size 1.
      where: mask of the elements that count.

    Source: NumPy, `numpy.all`.

    Example:
      >>> jnp.all(jnp.array([[True, False], [True, True]]), axis=1)
      Array([False,  True], dtype=bool)
    """
    return run(_all, "all", a, out, where, None, axis=axis, keepdims=keepdims)


@direct("any")
def any(
    a: ArrayLike,
    axis: Axes = None,
    out: None = None,
    keepdims: bool = False,
    *,
    where: OptionalArray = None,
) -> Array:
    """Whether any element is true, over some axes or all; zero is false.

    Args:
      a: array or number.
      axis: an axis, several, or None for all.
      out: must be None.
      keepdims: keep the reduced axes, with size 1.
      where: mask of the elements that count.

    Source: NumPy, `numpy.any`.

    Example:
      >>> jnp.any(jnp.array([[True, False], [False, False]]), axis=1)
      Array([ True, False], dtype=bool)
    """
    return run(_any, "any", a, out, where, None, axis=axis, keepdims=keepdims)


@program(1, name="count_nonzero")
def _count(a: Any, *, axis: Any, keepdims: bool) -> Any:
    return sum(logic.truth(a), axis=axis, keepdims=keepdims)


@direct("count_nonzero")
def count_nonzero(a: ArrayLike, axis: Axes = None, keepdims: bool = False) -> Array:
    """How many elements are not zero, over some axes or all.

    Args:
      a: array or number.
      axis: an axis, several, or None for all.
      keepdims: keep the reduced axes, with size 1.

    Source: NumPy, `numpy.count_nonzero`.

    Example:
      >>> jnp.count_nonzero(jnp.array([[0, 1], [2, 3]]), axis=0)
      Array([1, 2], dtype=int32)
    """
    promotion.check_arraylike("count_nonzero", a)
    return _count(a, axis=static_axis(axis), keepdims=bool(keepdims))


# -- means and spreads -----------------------------------------------------------------


def _count_of(
    name: str, x: Any, axes: Any, where: Any, dtype: Any, keepdims: bool
) -> Any:
    """How many elements enter each result: a literal, or an array with `where`."""
    if where is None:
        total = math.prod([aval_of(x).shape[a] for a in axes])
        return lax.size_value(total, np.dtype(dtype))
    shape = promotion.result_shape(name, [aval_of(x).shape, aval_of(where).shape])
    if shape != aval_of(x).shape:
        raise ValueError(
            f"numpy.{name}: where must broadcast to the shape of the array, got "
            f"{aval_of(where).short()} for {aval_of(x).short()}; repeat the array"
        )
    mask = promotion.full_shape(logic.truth(where), shape)
    return _sum(mask, axis=axes, keepdims=keepdims, dtype=dtype, promote=True)


def _mean_dtypes(name: str, x: Any, dtype: Any) -> tuple[Any, Any]:
    """The dtype of the result and that of the work."""
    if dtype is not None:
        kind = dtypes.check_user_dtype(dtype, name)
    else:
        kind = dtypes.canonicalize_dtype(dtypes.to_inexact_dtype(aval_of(x).dtype))
    return kind, dtypes.at_least_single(kind)


@_fuse
def _mean(
    x: Any,
    *operands: Any,
    axis: Any,
    keepdims: bool,
    dtype: Any,
    flags: Any = (False, False),
) -> Any:
    where, _ = chosen(operands, flags)
    kind, working = _mean_dtypes("mean", x, dtype)
    axes = axes_of("mean", x, axis)
    n = _count_of("mean", x, axes, where, working, keepdims)
    x = promotion.cast(x, working, False)
    args = () if where is None else (where,)
    total = _sum(
        x, *args, axis=axes, keepdims=keepdims, dtype=working, promote=True, flags=flags
    )
    if dtypes.kind(working) in "iu":
        return lax.div(total, n)
    return promotion.cast(lax.div(total, n), kind, False)


@direct("_mean")
def mean(
    a: ArrayLike,
    axis: Axes = None,
    dtype: DTypeLike | None = None,
    out: None = None,
    keepdims: bool = False,
    *,
    where: OptionalArray = None,
) -> Array:
    """The arithmetic mean of elements, over some axes or all.

    Differs from NumPy: integers are averaged in float32 unless 64-bit dtypes are
    switched on; `out` must be None.

    Args:
      a: array or number.
      axis: an axis, several, or None for all.
      dtype: element type of the mean; default a's, floats for integers.
      out: must be None.
      keepdims: keep the reduced axes, with size 1.
      where: mask of the elements that count.

    Returns:
      An array; NaN where no element counts.

    Source: NumPy, `numpy.mean`.

    Example:
      >>> jnp.mean(jnp.array([[1, 2], [3, 5]]), axis=0)
      Array([2. , 3.5], dtype=float32)
    """
    return run(
        _mean, "mean", a, out, where, None, axis=axis, keepdims=keepdims, dtype=dtype
    )


def square_magnitude(x: Any) -> Any:
    """|x|^2, real also for complex numbers."""
    if dtypes.kind(aval_of(x).dtype) != "c":
        return lax.square(x)
    return lax.add(lax.square(lax.real(x)), lax.square(lax.imag(x)))


@_fuse
def _var(
    x: Any,
    *operands: Any,
    axis: Any,
    keepdims: bool,
    dtype: Any,
    ddof: Any,
    has_mean: bool = False,
    flags: Any = (False, False),
) -> Any:
    known_mean = None
    if has_mean:
        known_mean, *others = operands
        operands = tuple(others)
    where, _ = chosen(operands, flags)
    axes = axes_of("var", x, axis)
    working, kind = _variance_dtypes(aval_of(x).dtype, dtype)
    real = dtypes.real_dtype(working)
    x = promotion.cast(x, working, False)
    args = () if where is None else (where,)
    center = known_mean
    if center is None:
        center = _mean(x, *args, axis=axes, keepdims=True, dtype=working, flags=flags)
    center = promotion.cast(center, working, False)
    gap = lax.sub(*promotion.broadcast("var", (x, center)))
    if where is not None:
        # Before the square, whose derivative is not finite where an element is not.
        shape = promotion.result_shape("var", [aval_of(v).shape for v in (where, gap)])
        counted, gap = (
            promotion.broadcast_to_shape(v, shape) for v in (logic.truth(where), gap)
        )
        gap = lax.select(counted, gap, families.full_like(gap, 0))
    n = _count_of("var", x, axes, where, real, keepdims)
    less = np.asarray(ddof, real)[()]
    n = n - less if isinstance(n, np.generic) else lax.sub(n, less)
    total = square_magnitude(gap)
    total = _sum(total, axis=axes, keepdims=keepdims, dtype=real, promote=True)
    return promotion.cast(_divide_by_freedom(total, n), kind, False)


def _variance_dtypes(dtype: Any, asked: Any) -> tuple[Any, Any]:
    """The dtype that a variance is computed in, and that of the result.

    Args:
      dtype: of the array.
      asked: the caller's, or None.
    """
    own = dtypes.canonicalize_dtype(dtypes.to_inexact_dtype(dtype))
    if asked is None:
        return dtypes.at_least_single(own), dtypes.real_dtype(own)
    kind = dtypes.check_user_dtype(asked, "var")
    if dtypes.kind(kind) == "b":
        raise TypeError(
            "numpy.var: dtype must be numeric, got bool; convert the result with astype"
        )
    if dtypes.kind(kind) != "c" and dtypes.kind(own) == "c":
        raise ValueError(
            f"numpy.var: dtype must be complex for complex arrays, got {kind}; "
            "take the real part first"
        )
    if dtypes.kind(kind) in "iu":  # a variance is not an integer
        kind = dtypes.canonicalize_dtype(float)
    return dtypes.at_least_single(
        dtypes.standard_result((own, False), (kind, False))[0]
    ), kind


def _divide_by_freedom(total: Any, n: Any) -> Any:
    """The sum of squares by the degrees of freedom; NaN where there are none."""
    is_known = isinstance(n, np.generic)
    if is_known and n <= 0:
        return families.full_like(total, np.nan)
    if is_known:
        return lax.div(total, n)
    enough = lax.gt(n, promotion.scalar(0, n))
    shape = aval_of(total).shape
    out = lax.div(total, promotion.full_shape(n, shape))
    missing = promotion.full_shape(promotion.scalar(np.nan, total), shape)
    return lax.select(promotion.full_shape(enough, shape), out, missing)


def _spread(
    name: str,
    a: Any,
    axis: Any,
    dtype: Any,
    out: Any,
    ddof: Any,
    keepdims: Any,
    where: Any,
    mean: Any,
    correction: Any,
    final: Any,
) -> Any:
    promotion.check_arraylike(name, a)
    promotion.check_optional(name, where, mean)
    check_mask(name, where)
    promotion.check_out(name, out)
    if correction is not None:
        if ddof != 0:
            raise ValueError(
                f"numpy.{name}: ddof and correction can't be provided simultaneously; "
                "they are two names of one number"
            )
        ddof = correction
    operands = [v for v in (mean, where) if v is not None]
    return final(
        a,
        *operands,
        axis=static_axis(axis),
        keepdims=bool(keepdims),
        dtype=dtype,
        ddof=0 if ddof is None else ddof,
        has_mean=mean is not None,
        flags=(where is not None, False),
    )


@_fuse
def _std(x: Any, *operands: Any, **options: Any) -> Any:
    dtype = options["dtype"]
    if dtype is not None and dtypes.kind(dtypes.as_dtype(dtype)) not in "fc":
        raise ValueError(
            "numpy.std: dtype must be floating or complex, got "
            f"{dtypes.as_dtype(dtype)}; convert the result with astype"
        )
    return lax.sqrt(_var(x, *operands, **options))


@direct("_var")
def var(
    a: ArrayLike,
    axis: Axes = None,
    dtype: DTypeLike | None = None,
    out: None = None,
    ddof: int = 0,
    keepdims: bool = False,
    *,
    where: OptionalArray = None,
    mean: OptionalArray = None,
    correction: float | None = None,
) -> Array:
    """The variance of elements, over some axes or all.

    Differs from NumPy: NaN, not infinity, where `ddof` is the number of elements or
    more.

    Args:
      a: array or number.
      axis: an axis, several, or None for all.
      dtype: element type of the result; default a's, floats for integers.
      out: must be None.
      ddof: what is subtracted from the number of elements in the divisor.
      keepdims: keep the reduced axes, with size 1.
      where: mask of the elements that count.
      mean: the mean, where it is known, with the reduced axes kept.
      correction: another name of `ddof`.

    Returns:
      A real array; NaN where the divisor is not positive.

    Source: NumPy, `numpy.var`.

    Example:
      >>> jnp.var(jnp.array([[1.0, 3.0], [2.0, 2.0]]), axis=1)
      Array([1., 0.], dtype=float32)
    """
    return _spread(
        "var", a, axis, dtype, out, ddof, keepdims, where, mean, correction, _var
    )


@direct("_std")
def std(
    a: ArrayLike,
    axis: Axes = None,
    dtype: DTypeLike | None = None,
    out: None = None,
    ddof: int = 0,
    keepdims: bool = False,
    *,
    where: OptionalArray = None,
    mean: OptionalArray = None,
    correction: float | None = None,
) -> Array:
    """The standard deviation of elements, over some axes or all.

    Differs from NumPy: NaN, not infinity, where `ddof` is the number of elements or
    more.

    Args:
      a: array or number.
      axis: an axis, several, or None for all.
      dtype: element type of the result; default a's, floats for integers.
      out: must be None.
      ddof: what is subtracted from the number of elements in the divisor.
      keepdims: keep the reduced axes, with size 1.
      where: mask of the elements that count.
      mean: the mean, where it is known, with the reduced axes kept.
      correction: another name of `ddof`.

    Source: NumPy, `numpy.std`.

    Example:
      >>> jnp.std(jnp.array([[1.0, 3.0], [2.0, 2.0]]), axis=1)
      Array([1., 0.], dtype=float32)
    """
    return _spread(
        "std", a, axis, dtype, out, ddof, keepdims, where, mean, correction, _std
    )
