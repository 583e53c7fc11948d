"""Numbers at equal steps or ratios: arange, linspace, logspace, geomspace.

Where nothing is staged, the values are made by NumPy and put on the device, which
compiles nothing. In a staged program ranges are iotas.
"""

from __future__ import annotations

import math
from typing import Any, Literal, overload

import numpy as np

from olympus._src.core import avals, dtypes, trace
from olympus._src.core.array_type import (
    Array,
    ArrayLike,
    DTypeLike,
    OptionalArray,
    Placement,
)
from olympus._src.core.sizes import as_size, at_least, is_symbolic, maximum
from olympus._src.foundation import caching, config, errors
from olympus._src.interpreters import concrete_arrays, evaluate
from olympus._src.interpreters.direct_calls import direct
from olympus._src.lax import elementwise, shaping
from olympus._src.lax import sizes as sizes_
from olympus._src.numpy import arithmetic, elementary, promotion, symbolic_ranges
from olympus._src.numpy.creation import (
    astype,
    constrain_to_device,
    is_far,
    move_to_device,
    put_own_values,
    put_values,
)
from olympus._src.numpy.promotion import aval_of

ShapedArray = avals.ShapedArray


def _number(x: Any, name: str, what: str) -> Any:
    """A bound of a range as a number that is known."""
    if isinstance(x, trace.Tracer):
        raise x.refusal(
            errors.ConcretizationTypeError,
            f"numpy.{name}: {what} must be known while tracing, since it decides the "
            f"size of the result; got a traced value of type {x.aval.short()}.",
        )
    if type(x) is concrete_arrays.ArrayImpl:
        return np.asarray(x)[()]
    return x


def arange(
    start: ArrayLike,
    stop: OptionalArray = None,
    step: OptionalArray = None,
    dtype: DTypeLike | None = None,
    *,
    device: Placement = None,
    out_sharding: Placement = None,
) -> Array:
    """Numbers at equal steps, from `start` up to but without `stop`.

    Differs from NumPy: floats are float32 unless 64-bit dtypes are switched on.

    Args:
      start: first number; where `stop` is None, it is the end and 0 the first number.
      stop: the end.
      step: the difference; default 1.
      dtype: element type; default that of the arguments together.
      device, out_sharding: where it lives.

    Returns:
      An array of one axis.

    Raises:
      ConcretizationTypeError: an argument is traced.
      ZeroDivisionError: the step is zero.

    Source: NumPy, `numpy.arange`.

    Example:
      >>> import olympus.numpy as onp
      >>> onp.arange(2, 8, 2)
      Array([2, 4, 6], dtype=int32)
    """
    arguments = tuple([x for x in (start, stop, step) if x is not None])
    promotion.check_arraylike("arange", *arguments)
    start, stop, step = promotion.resolve_arrays((start, stop, step))
    arguments = promotion.resolve_arrays(arguments)
    if any(map(is_symbolic, arguments)):
        return symbolic_ranges.symbolic_range(start, stop, step, dtype)
    values = [_number(x, "arange", "each argument") for x in arguments]
    if any(np.iscomplexobj(v) for v in values):
        raise ValueError(
            "numpy.arange: arguments must be real, got "
            f"{', '.join(map(str, values))}; complex numbers have no order"
        )
    if any(np.ndim(v) for v in values):
        raise TypeError(
            "numpy.arange: arguments must be scalars, got "
            f"{', '.join([aval_of(v).short() for v in values])}"
        )
    if dtype is None:
        kind = dtypes.lattice_result(*[dtypes.dtype_and_weak(x) for x in arguments])[0]
    else:
        kind = dtypes.check_user_dtype(dtype, "arange")
    if kind == np.bool_:
        if dtype is not None:
            raise TypeError(
                "numpy.arange: dtype must be numeric, got bool; compare a range of "
                "integers with 0"
            )
        kind = dtypes.canonicalize_dtype(int)
    place = device if out_sharding is None else out_sharding
    first, last, by = _range_bounds(start, stop, step, values)
    if not by:
        raise ZeroDivisionError(
            f"numpy.arange: step must not be zero, got {by}; numpy.full repeats one "
            "number"
        )
    if dtype is None and type(first) is type(last) is type(by) is int and by:
        _check_ends(range(first, last, by), kind)
    if place is None and (evaluate.is_staging() or not concrete_arrays.is_near()):
        simple = first == 0 and by == 1 and dtypes.kind(kind) in "iuf"
        size = max(0, math.ceil(last)) if simple and math.isfinite(last) else 0
        if size and (evaluate.is_staging() or is_far(ShapedArray((size,), kind))):
            return shaping.iota(kind, size)
    with np.errstate(all="ignore"):
        host = np.asarray(np.arange(first, last, by))
        if dtypes.kind(kind) in "iu" and dtypes.kind(host.dtype) == "f":
            host = _count_in_integers(first, by, len(host), kind)
        host = host.astype(kind)
    put = put_own_values if first == 0 and by == 1 else put_values
    out = put(host, ShapedArray(host.shape, kind), place)
    if place is not None:
        return constrain_to_device(out, place)
    return concrete_arrays.beside_committed(out, *arguments)


def _count_in_integers(first: Any, by: Any, count: int, dtype: Any) -> np.ndarray:
    """A range of fractions in an integer dtype: its first number and step are whole."""
    first, by = (
        int(elementwise.cast_on_host(np.asarray(x), dtype)) for x in (first, by)
    )
    return np.uint64(first % 2**64) + np.arange(count, dtype=np.uint64) * np.uint64(
        by % 2**64
    )


def _check_ends(numbers: range, dtype: Any) -> None:
    """Raises OverflowError where numbers of a range do not fit the default dtype."""
    if numbers:
        avals.check_range(numbers[0], dtype)
        avals.check_range(numbers[-1], dtype)


def _range_bounds(start: Any, stop: Any, step: Any, values: list[Any]) -> Any:
    first = values.pop(0) if start is not None else 0
    last = values.pop(0) if stop is not None else None
    by = values.pop(0) if step is not None else 1
    if last is None:
        return type(first)(0) if isinstance(first, np.generic) else 0, first, by
    return first, last, by


@overload
def linspace(
    start: ArrayLike,
    stop: ArrayLike,
    num: int = ...,
    endpoint: bool = ...,
    retstep: Literal[False] = ...,
    dtype: DTypeLike | None = ...,
    axis: int = ...,
    *,
    device: Placement = ...,
) -> Array: ...
@overload
def linspace(
    start: ArrayLike,
    stop: ArrayLike,
    num: int = ...,
    endpoint: bool = ...,
    *,
    retstep: Literal[True],
    dtype: DTypeLike | None = ...,
    axis: int = ...,
    device: Placement = ...,
) -> tuple[Array, Array]: ...
@overload
def linspace(
    start: ArrayLike,
    stop: ArrayLike,
    num: int = ...,
    endpoint: bool = ...,
    retstep: bool = ...,
    dtype: DTypeLike | None = ...,
    axis: int = ...,
    *,
    device: Placement = ...,
) -> Array | tuple[Array, Array]: ...
def linspace(
    start: ArrayLike,
    stop: ArrayLike,
    num: int = 50,
    endpoint: bool = True,
    retstep: bool = False,
    dtype: DTypeLike | None = None,
    axis: int = 0,
    *,
    device: Placement = None,
) -> Array | tuple[Array, Array]:
    """Numbers at equal distances over an interval.

    Differs from NumPy: floats are float32 unless 64-bit dtypes are switched on.

    Args:
      start, stop: ends of the interval: numbers or arrays that broadcast.
      num: how many.
      endpoint: whether `stop` is the last of them.
      retstep: also return the distance.
      dtype: element type; default the floating type of the ends.
      axis: the axis of the result along which they lie.
      device: where it lives.

    Raises:
      ValueError: `num` is negative.

    Source: NumPy, `numpy.linspace`.

    Example:
      >>> import olympus.numpy as onp
      >>> onp.linspace(0, 1, 3)
      Array([0. , 0.5, 1. ], dtype=float32)
    """
    if not retstep and {type(start), type(stop)} <= _NUMBERS:
        known_values = _recall_values(start, stop, num, endpoint, dtype, axis)
        if known_values is not None:
            values, aval = known_values
            array: Any = concrete_arrays.put(values, aval, device)
            return constrain_to_device(array, device)
    num = as_size(num)
    if not at_least(num, 0) and num < 0:
        raise ValueError(f"numpy.linspace: num must be non-negative, got {num}")
    promotion.check_arraylike("linspace", start, stop)
    start, stop = promotion.resolve_arrays((start, stop))
    working, _ = dtypes.lattice_result(
        dtypes.dtype_and_weak(start), dtypes.dtype_and_weak(stop)
    )
    working = dtypes.to_inexact_dtype(working)
    kind = working if dtype is None else dtypes.check_user_dtype(dtype, "linspace")
    arguments = (start, stop, num)
    known = not any(isinstance(x, trace.Tracer) or is_symbolic(x) for x in arguments)
    # Arrays are not waited for; the result lies where they do.
    on_device = known and concrete_arrays.ArrayImpl in (type(start), type(stop))
    make = _linspace_traced if not known else _linspace_known
    make = _linspace_on_device if on_device else make
    out, step = make(start, stop, num, endpoint, working, kind, axis)
    if on_device and device is not None:
        out, step = (move_to_device(x, device) for x in (out, step))
    elif known and not on_device:
        out = concrete_arrays.put(out, ShapedArray(out.shape, kind), device)
        if retstep:
            with np.errstate(all="ignore"):
                step = np.asarray(step, working)
            step = concrete_arrays.put(step, ShapedArray(step.shape, working), device)
    out = constrain_to_device(out, device)
    return (out, step) if retstep else out


_NUMBERS = {int, float}
_MAX_NUM = 1024  # of numbers that are kept
_values = caching.Bounded(256, "values of linspace")


def _recall_values(
    start: Any, stop: Any, num: Any, endpoint: Any, dtype: Any, axis: Any
) -> Any:
    """The values between two numbers and their type; None: not of those kept."""
    if type(num) is not int or not 0 <= num <= _MAX_NUM or axis != 0:
        return None
    ends = caching.exact((start, stop))
    kind = None if dtype is None else dtypes.check_user_dtype(dtype, "linspace")
    key = (config.trace_context(), ends, num, bool(endpoint), kind)
    known = _values.get(key)
    if known is None:
        working, _ = dtypes.lattice_result(
            dtypes.dtype_and_weak(start), dtypes.dtype_and_weak(stop)
        )
        working = dtypes.to_inexact_dtype(working)
        kind = working if kind is None else kind
        values, _ = _linspace_known(start, stop, num, bool(endpoint), working, kind, 0)
        known = _values[key] = values, ShapedArray(values.shape, kind)
    return known


def _linspace_known(
    start: Any, stop: Any, num: int, endpoint: bool, working: Any, kind: Any, axis: int
) -> Any:
    # Interpolated in double precision and rounded once.
    wide = np.complex128 if dtypes.kind(working) == "c" else np.float64
    for x in (start, stop):
        avals.check_not_masked(x)
    low, high = (np.asarray(x).astype(working).astype(wide) for x in (start, stop))
    with np.errstate(all="ignore"):
        values, step = np.linspace(low, high, num, endpoint, retstep=True, axis=axis)
        if wide is np.float64 and not (np.isfinite(low) & np.isfinite(high)).all():
            values = np.moveaxis(_means_of_ends(low, high, num, endpoint), 0, axis)
        if dtypes.kind(kind) in "iu":
            values = np.floor(values)
        return elementwise.cast_on_host(np.asarray(values), kind), step


def _means_of_ends(
    low: np.ndarray, high: np.ndarray, num: int, endpoint: bool
) -> np.ndarray:
    """What `_interpolate` gives; NumPy's sum of steps is NaN beside infinite ends."""
    parts = max(num - 1 if endpoint else num, 1)
    weights = np.expand_dims(
        np.arange(num) / parts, tuple(range(1, 1 + np.broadcast(low, high).ndim))
    )
    means = low * (1 - weights) + high * weights
    means = np.where(weights == 1, high, means)
    return np.where(weights == 0, low, means)


def _linspace_traced(
    start: Any, stop: Any, num: int, endpoint: bool, working: Any, kind: Any, axis: int
) -> Any:
    low, high = (elementwise.convert(x, working) for x in (start, stop))
    shape = promotion.result_shape(
        "linspace", [aval_of(low).shape, aval_of(high).shape]
    )
    low, high = (promotion.full_shape(x, shape) for x in (low, high))
    parts = num - 1 if endpoint else num
    rank = len(shape)
    if dtypes.kind(working) == "c":
        ends = [
            (part(low), part(high)) for part in (elementwise.real, elementwise.imag)
        ]
        out = elementwise.complex_(*(_interpolate(*x, num, parts) for x in ends))
    else:
        out = _interpolate(low, high, num, parts)
    axis = sizes_.canonicalize_axis(axis, rank + 1, "numpy.linspace")
    order = list(range(1, rank + 1))
    order.insert(axis, 0)
    out = shaping.transpose(out, order)
    if dtypes.kind(kind) in "iu":
        out = elementwise.floor(out)
    if is_symbolic(parts):
        divisor = elementwise.size_value(parts, np.dtype(working))
    else:
        divisor = np.asarray(parts if parts else np.nan, working)[()]
    step = elementwise.div(elementwise.sub(high, low), divisor)
    return elementwise.convert(out, kind), step


def _interpolate(low: Any, high: Any, num: Any, parts: Any) -> Any:
    """`num` values that begin with `low`, in steps of one of `parts` up to `high`.

    They are means of the ends whose weights are exact: each is rounded once where the
    products are exact too, as those of small integers are. The sum of the weights is
    the same everywhere, but XLA, if it knew, would multiply by its reciprocal.
    """
    dtype = aval_of(low).dtype
    wide = dtypes.at_least_single(dtype)
    shape = (num, *aval_of(low).shape)
    low, high = (
        promotion.full_shape(elementwise.convert(x, wide), shape) for x in (low, high)
    )
    steps, last, *weights = symbolic_ranges.weights(num, maximum(parts, 1), wide)
    of_low, of_high, whole, is_first, is_last = (
        shaping.broadcast_in_dim(x, shape, (0,))
        for x in (
            *weights,
            elementwise.add(*weights),
            elementwise.eq(steps, promotion.scalar(0, steps)),
            elementwise.eq(steps, last),
        )
    )
    total = elementwise.add(
        elementwise.mul(low, of_low), elementwise.mul(high, of_high)
    )
    # The ends are themselves, also where the other one is infinite.
    out = elementwise.select(is_last, high, elementwise.div(total, whole))
    return elementwise.convert(elementwise.select(is_first, low, out), dtype)


@evaluate.fuse
def _linspace_program(
    start: Any, stop: Any, *, num: int, endpoint: bool, kinds: Any, axis: int
) -> Any:
    working, kind = kinds
    return _linspace_traced(start, stop, num, endpoint, working, kind, axis)


def _linspace_on_device(
    start: Any, stop: Any, num: int, endpoint: bool, working: Any, kind: Any, axis: int
) -> Any:
    options = {"num": num, "endpoint": bool(endpoint), "axis": axis}
    return _linspace_program(start, stop, kinds=(working, kind), **options)


def logspace(
    start: ArrayLike,
    stop: ArrayLike,
    num: int = 50,
    endpoint: bool = True,
    base: ArrayLike = 10.0,
    dtype: DTypeLike | None = None,
    axis: int = 0,
) -> Array:
    """Powers of a base whose exponents lie at equal distances.

    Args:
      start, stop: first and last exponent.
      num: how many.
      endpoint: whether `stop` is the last exponent.
      base: the base.
      dtype: element type; default the floating type of the arguments.
      axis: the axis of the result along which they lie.

    Source: NumPy, `numpy.logspace`.

    Example:
      >>> jnp.logspace(0, 3, 4, base=2)
      Array([1., 2., 4., 8.], dtype=float32)
    """
    key = _key_of_powers(start, stop, num, endpoint, base, dtype, axis)
    known = None if key is None else _powers.get(key)
    if known is not None:
        array: Any = concrete_arrays.put(known[0], known[1], None)
        return array
    out = arithmetic.power(base, linspace(start, stop, num, endpoint, axis=axis))
    out = out if dtype is None else astype(out, dtype)
    if key is not None and type(out) is concrete_arrays.ArrayImpl:
        values = np.array(out)
        if np.isfinite(values).all():  # others, each call may look for
            _powers[key] = values, out.aval
    return out


_powers = caching.Bounded(256, "values of logspace")


def _key_of_powers(
    start: Any, stop: Any, num: Any, endpoint: Any, base: Any, dtype: Any, axis: Any
) -> Any:
    """What tells a row of powers of a number whose values are kept; None: no such."""
    if not {type(start), type(stop), type(base)} <= _NUMBERS or axis != 0:
        return None
    if type(num) is not int or not 0 <= num <= _MAX_NUM or not evaluate.is_evaluating():
        return None
    kind = None
    if dtype is not None:
        kind = dtypes.canonicalize_dtype(dtype)
        if kind != dtype:  # it is narrowed, which warns
            return None
    numbers = caching.exact((start, stop, base))
    return (config.trace_context(), numbers, num, bool(endpoint), kind)


@direct("_geomspace", 2)
def geomspace(
    start: ArrayLike,
    stop: ArrayLike,
    num: int = 50,
    endpoint: bool = True,
    dtype: DTypeLike | None = None,
    axis: int = 0,
) -> Array:
    """Numbers at equal ratios over an interval.

    Differs from NumPy: an end of 0 gives NaN and no error.

    Args:
      start, stop: ends of the interval, of one sign.
      num: how many.
      endpoint: whether `stop` is the last of them.
      dtype: element type; default the floating type of the ends.
      axis: the axis of the result along which they lie.

    Source: NumPy, `numpy.geomspace`.

    Example:
      >>> jnp.geomspace(1, 8, 4).round(4)
      Array([1., 2., 4., 8.], dtype=float32)
    """
    promotion.check_arraylike("geomspace", start, stop)
    options = {"num": num, "endpoint": endpoint, "dtype": dtype, "axis": axis}
    return _geomspace(start, stop, **options)


@evaluate.fuse
def _geomspace(
    start: Any, stop: Any, *, num: int, endpoint: bool, dtype: Any, axis: int
) -> Any:
    bound_types = [dtypes.dtype_and_weak(x) for x in (start, stop)]
    kind = dtypes.to_inexact_dtype(dtypes.lattice_result(*bound_types)[0])
    start, stop = (promotion.cast(x, kind, False) for x in (start, stop))
    signs = arithmetic.sign(start)
    low, high = (
        elementary.log10(arithmetic.true_divide(x, signs)) for x in (start, stop)
    )
    out = logspace(low, high, num, endpoint, dtype=kind, axis=axis)
    out = arithmetic.multiply(_align_with_lines(signs, aval_of(high).ndim, axis), out)
    return out if dtype is None else astype(out, dtype)


def _align_with_lines(x: Any, rank: int, axis: int) -> Any:
    """One number for each line: axes of one in front, and where the lines lie."""
    shape = aval_of(x).shape
    if not shape:
        return x
    full = [1] * (rank - len(shape)) + list(shape)
    full.insert(sizes_.canonicalize_axis(axis, rank + 1, "numpy.geomspace"), 1)
    return shaping.reshape(x, tuple(full))
