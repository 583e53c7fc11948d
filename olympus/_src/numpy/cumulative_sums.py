"""Running totals along an axis, and differences."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any

import numpy as np

from olympus._src.core import dtypes
from olympus._src.core.array_type import (
    Array,
    ArrayLike,
    Axes,
    Axis,
    DTypeLike,
    OptionalArray,
)
from olympus._src.interpreters.direct_calls import direct
from olympus._src.lax import concatenation, cumulative, shaping
from olympus._src.lax import elementwise as lax
from olympus._src.lax import sizes as sizes_
from olympus._src.numpy import docstring_examples, logic, promotion, reductions
from olympus._src.numpy.promotion import aval_of, check_arraylike, program

if TYPE_CHECKING:
    from olympus._src.numpy import function_types


def _define_cumulative(
    name: str, scan: Any, neutral: int, ignore_nan: bool, what: str
) -> function_types.Cumulative:
    @program(1, name=name)
    def run(a: Any, *, axis: Axis, dtype: Any) -> Any:
        x = a
        if axis is None or aval_of(x).ndim == 0:
            x = shaping.reshape(x, (aval_of(x).size,))
            axis = 0 if axis is None else axis
        axis = sizes_.canonicalize_axis(axis, aval_of(x).ndim, f"numpy.{name}")
        kind = aval_of(x).dtype
        if kind == np.bool_:
            kind = dtypes.canonicalize_dtype(int)
        if dtype is not None:
            kind = dtypes.check_user_dtype(dtype, name)
        if ignore_nan and dtypes.kind(aval_of(x).dtype) in "fc":
            fill = promotion.full_shape(promotion.scalar(neutral, x), aval_of(x).shape)
            x = lax.select(lax.ne(x, x), fill, x)
        if kind == np.bool_:
            wide = scan(lax.convert(logic.truth(x), np.dtype(np.int32)), axis)
            return logic.truth(wide)
        return scan(lax.convert(x, kind, False), axis)

    def call(
        a: ArrayLike,
        axis: Axis = None,
        dtype: DTypeLike | None = None,
        out: None = None,
    ) -> Array:
        check_arraylike(name, a)
        promotion.check_out(name, out)
        return run(a, axis=reductions.static_axis(axis), dtype=dtype)

    described = docstring_examples.describe(
        call,
        name,
        f"""{what} of the elements up to each one, along an axis.

    Differs from NumPy: narrow integers keep their dtype.

    Args:
      a: array.
      axis: the axis; None for the flattened array.
      dtype: element type; default a's, integers for booleans.
      out: must be None.

    Source: NumPy, `numpy.{name}`.
""",
    )
    return direct(name)(described)


cumsum = _define_cumulative("cumsum", cumulative.cumsum, 0, False, "Sums")
cumprod = _define_cumulative("cumprod", cumulative.cumprod, 1, False, "Products")
nancumsum = _define_cumulative(
    "nancumsum", cumulative.cumsum, 0, True, "Sums, NaN counting as zero,"
)
nancumprod = _define_cumulative(
    "nancumprod", cumulative.cumprod, 1, True, "Products, NaN counting as one,"
)


def _standard(
    name: str, scan: Any, neutral: int, what: str, *, widen: bool
) -> function_types.CumulativeOfStandard:
    def call(
        x: ArrayLike,
        /,
        *,
        axis: Axis = None,
        dtype: DTypeLike | None = None,
        include_initial: bool = False,
    ) -> Array:
        check_arraylike(name, x)
        rank = aval_of(x).ndim
        if rank == 0:
            raise ValueError(f"numpy.{name}: the input must have at least one axis")
        if axis is None:
            if rank > 1:
                raise ValueError(
                    f"numpy.{name}: axis must be given for arrays of {rank} axes"
                )
            axis = 0
        if dtype is None and widen:
            dtype = reductions.sum_dtype(aval_of(x).dtype)
        out = scan(x, axis, dtype)
        if not include_initial:
            return out
        index = sizes_.canonicalize_axis(axis, rank, f"numpy.{name}")
        return _with_start(out, axis=index, value=neutral)

    kinds = "integers widened" if widen else "integers for booleans"
    described = docstring_examples.describe(
        call,
        name,
        f"""{what} of the elements up to each one, along an axis.

    Args:
      x: array of at least one axis.
      axis: the axis; may be left out for a vector.
      dtype: element type; default x's, {kinds}.
      include_initial: begin with the empty {what.lower()[:-1]}.

    Source: Python array API standard, `{name}`.
""",
    )
    return direct(scan.__name__)(described)


@program(1, name="cumulative")
def _with_start(x: Any, *, axis: int, value: int) -> Any:
    config = [(0, 0, 0)] * aval_of(x).ndim
    config[axis] = (1, 0, 0)
    return concatenation.pad(x, promotion.scalar(value, x), config)


cumulative_sum = _standard("cumulative_sum", cumsum, 0, "Sums", widen=True)
# The standard would widen here too; JAX does not.
cumulative_prod = _standard("cumulative_prod", cumprod, 1, "Products", widen=False)


# -- differences -----------------------------------------------------------------------


@direct("_diff", named="prepend append")
def diff(
    a: ArrayLike,
    n: int = 1,
    axis: int = -1,
    prepend: OptionalArray = None,
    append: OptionalArray = None,
) -> Array:
    """Differences of neighbours along an axis.

    Args:
      a: array of at least one axis.
      n: how many times.
      axis: the axis.
      prepend, append: values put before and after `a` along the axis.

    Source: NumPy, `numpy.diff`.

    Example:
      >>> jnp.diff(jnp.array([1, 4, 9, 16]), n=2)
      Array([2, 2], dtype=int32)
    """
    check_arraylike("diff", a)
    promotion.check_optional("diff", prepend, append)
    times = operator.index(n)
    if times < 0:
        raise ValueError(f"order must be non-negative but got {n}; numpy.diff")
    if aval_of(a).ndim == 0:
        raise ValueError(
            "diff requires input that is at least one dimensional; numpy.diff"
        )
    edges = [x for x in (prepend, append) if x is not None]
    flags = (prepend is not None, append is not None)
    return _diff(a, *edges, n=times, axis=operator.index(axis), flags=flags)


@promotion.evaluate.fuse
def _diff(
    a: Any, *edge_values: Any, n: int, axis: int, flags: tuple[bool, bool]
) -> Any:
    rank = aval_of(a).ndim
    axis = sizes_.canonicalize_axis(axis, rank, "numpy.diff")
    if edge_values and n:
        a = _join_edges(a, edge_values, axis, flags)
    for _ in range(n):
        length = aval_of(a).shape[axis]
        if not length:
            break
        late = concatenation.slice_in_dim(a, 1, length, axis=axis)
        early = concatenation.slice_in_dim(a, 0, length - 1, axis=axis)
        a = (
            lax.ne(late, early)
            if aval_of(a).dtype == np.bool_
            else lax.sub(late, early)
        )
    return a


def _join_edges(a: Any, edge_values: Any, axis: int, flags: tuple[bool, bool]) -> Any:
    a, *edges = promotion.promote_dtypes(a, *edge_values)
    edge = list(aval_of(a).shape)
    edge[axis] = 1
    edges = [
        promotion.full_shape(x, tuple(edge)) if not aval_of(x).ndim else x
        for x in edges
    ]
    before = [edges.pop(0)] if flags[0] else []
    return concatenation.concatenate([*before, a, *edges], axis)


@direct("_ediff1d")
def ediff1d(
    ary: ArrayLike, to_end: OptionalArray = None, to_begin: OptionalArray = None
) -> Array:
    """Differences of neighbours in the flattened array.

    Args:
      ary: array.
      to_end, to_begin: values put after and before the differences.

    Source: NumPy, `numpy.ediff1d`.

    Example:
      >>> jnp.ediff1d(jnp.array([1, 4, 9]), to_begin=jnp.array([0]))
      Array([0, 3, 5], dtype=int32)
    """
    check_arraylike("ediff1d", ary)
    promotion.check_optional("ediff1d", to_end, to_begin)
    ends = [x for x in (to_begin, to_end) if x is not None]
    flags = (to_begin is not None, to_end is not None)
    return _ediff1d(ary, *ends, flags=flags)


@promotion.evaluate.fuse
def _ediff1d(ary: Any, *end_values: Any, flags: tuple[bool, bool]) -> Any:
    if aval_of(ary).dtype == np.bool_:
        raise TypeError(
            "numpy.ediff1d: there is no difference of booleans, got "
            f"{aval_of(ary).short()}; convert them with astype(int)"
        )
    flat = shaping.reshape(ary, (aval_of(ary).size,))
    out = _diff(flat, n=1, axis=0, flags=(False, False))
    kind = aval_of(out).dtype
    ends = [
        shaping.reshape(promotion.cast(x, kind, False), (aval_of(x).size,))
        for x in end_values
    ]
    before = [ends.pop(0)] if flags[0] else []
    return concatenation.concatenate([*before, out, *ends], 0)


@direct("_slope")
def gradient(
    f: ArrayLike, *varargs: ArrayLike, axis: Axes = None, edge_order: int | None = None
) -> Array | list[Array]:
    """Slopes by central differences, one-sided at the ends.

    Args:
      f: array of values.
      *varargs: distances between samples: one number for all axes, or for each axis a
        number or a vector of coordinates.
      axis: an axis, several, or None for all.
      edge_order: must be None or 1.

    Returns:
      An array like `f`, or a list of them, one for each axis.

    Source: NumPy, `numpy.gradient`.

    Example:
      >>> jnp.gradient(jnp.array([1.0, 2.0, 4.0, 7.0]))
      Array([1. , 1.5, 2.5, 3. ], dtype=float32)
    """
    if edge_order not in (None, 1):
        raise NotImplementedError("numpy.gradient: edge_order must be 1")
    check_arraylike("gradient", f, *varargs)
    axes = reductions.axes_of("gradient", f, reductions.static_axis(axis))
    spacing: list[Any] = list(varargs) or [None]
    if len(spacing) == 1:
        spacing *= len(axes)
    if len(spacing) != len(axes):
        raise TypeError(
            f"numpy.gradient: spacings must be one or {len(axes)}, got {len(varargs)}"
        )
    outs = [
        _slope(f, axis=i) if h is None else _slope(f, h, axis=i)
        for i, h in zip(axes, spacing, strict=True)
    ]
    return outs[0] if len(outs) == 1 else outs


@promotion.evaluate.fuse
def _slope(f: Any, h: Any = None, *, axis: int) -> Any:
    if h is None:
        f = lax.convert(
            f, dtypes.to_inexact_dtype(aval_of(f).dtype), aval_of(f).weak_type
        )
        h = promotion.scalar(1, f)
    f, h = promotion.promote_inexact(f, h)
    n = aval_of(f).shape[axis]
    if n < 2:
        raise ValueError(
            "Shape of array too small to calculate a numerical gradient, at least 2 "
            f"elements are required; numpy.gradient got {aval_of(f).short()}"
        )

    def part(start: int, stop: int) -> Any:
        return concatenation.slice_in_dim(f, start, stop, axis=axis)

    if aval_of(h).ndim == 0:
        middle = lax.div(
            lax.sub(part(2, n), part(0, n - 2)), lax.mul(h, promotion.scalar(2, h))
        )
        first = lax.div(lax.sub(part(1, 2), part(0, 1)), h)
        last = lax.div(lax.sub(part(n - 1, n), part(n - 2, n - 1)), h)
        return concatenation.concatenate([first, middle, last], axis)
    return _uneven_slope(part, h, n, axis, aval_of(f).ndim)


def _uneven_slope(part: Any, x: Any, n: int, axis: int, rank: int) -> Any:
    """Central differences weighted by the distances to both neighbours."""
    steps = lax.sub(
        concatenation.slice_in_dim(x, 1, n), concatenation.slice_in_dim(x, 0, n - 1)
    )

    def along(v: Any) -> Any:
        sizes = [1] * rank
        sizes[axis] = aval_of(v).shape[0]
        return shaping.reshape(v, sizes)

    slopes = lax.sub(part(1, n), part(0, n - 1))
    slopes = lax.div(slopes, promotion.full_shape(along(steps), aval_of(slopes).shape))
    early = concatenation.slice_in_dim(steps, 0, n - 2)
    late = concatenation.slice_in_dim(steps, 1, n - 1)
    left = concatenation.slice_in_dim(slopes, 0, n - 2, axis=axis)
    right = concatenation.slice_in_dim(slopes, 1, n - 1, axis=axis)
    share = promotion.full_shape(
        along(lax.div(late, lax.add(early, late))), aval_of(left).shape
    )
    complement = lax.sub(promotion.scalar(1, share), share)
    middle = lax.add(lax.mul(left, share), lax.mul(right, complement))
    first = concatenation.slice_in_dim(slopes, 0, 1, axis=axis)
    last = concatenation.slice_in_dim(slopes, n - 2, n - 1, axis=axis)
    return concatenation.concatenate([first, middle, last], axis)


@direct("_trapezoid")
def trapezoid(
    y: ArrayLike, x: OptionalArray = None, dx: ArrayLike = 1.0, axis: int = -1
) -> Array:
    """The integral of samples by the trapezoidal rule.

    Differs from NumPy: integers give float32 unless 64-bit dtypes are switched on.

    Args:
      y: array of values.
      x: their coordinates; default at distances `dx`.
      dx: distance between samples.
      axis: the axis integrated over.

    Source: NumPy, `numpy.trapezoid`.

    Example:
      >>> jnp.trapezoid(jnp.array([1.0, 2.0, 3.0]), dx=2.0)
      Array(8., dtype=float32)
    """
    check_arraylike("trapezoid", y, dx)
    promotion.check_optional("trapezoid", x)
    if x is None:
        kind = dtypes.to_inexact_dtype(aval_of(y).dtype)
        if dtypes.kind(aval_of(dx).dtype) == "c":
            kind = dtypes.lattice_result((kind, False), dtypes.dtype_and_weak(dx))[0]
        known = type(dx) in (int, float) and dx == 1
        step = () if known else (promotion.cast(dx, kind, False),)
        return _trapezoid(y, *step, axis=axis, even=True)
    return _trapezoid(y, x, axis=axis, even=False)


@promotion.evaluate.fuse
def _trapezoid(y: Any, x: Any = None, *, axis: int, even: bool) -> Any:
    if x is None:
        (y,) = promotion.promote_inexact(y)
        x = promotion.scalar(1, y)
    promote = promotion.promote_mixed if even else promotion.promote_inexact
    y, x = promote(y, x)
    axis = sizes_.canonicalize_axis(axis, aval_of(y).ndim, "numpy.trapezoid")
    y = lax_last(y, axis)
    pairs = lax.add(*_neighbours(y))
    if not even:
        if aval_of(x).ndim > 1:
            x = lax_last(x, axis)
        x = lax.sub(*_neighbours(x))
    pairs, x = promotion.broadcast("trapezoid", promotion.align_ranks(pairs, x))
    total = reductions.sum(lax.mul(pairs, x), axis=-1)
    return lax.mul(total, promotion.scalar(0.5, total))


def _neighbours(x: Any) -> tuple[Any, Any]:
    """Along the last axis all elements but the first, and all but the last."""
    n, axis = aval_of(x).shape[-1], aval_of(x).ndim - 1
    later = concatenation.slice_in_dim(x, min(1, n), n, axis=axis)
    return later, concatenation.slice_in_dim(x, 0, max(n - 1, 0), axis=axis)


def lax_last(x: Any, axis: int) -> Any:
    """The array with one axis moved to the end."""
    order = [i for i in range(aval_of(x).ndim) if i != axis]
    return shaping.transpose(x, (*order, axis))
