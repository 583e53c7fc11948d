"""Sequences: convolution, correlation, interpolation, unwrapping, windows."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from olympus._src.core import dtypes
from olympus._src.core.array_type import Array, ArrayLike, DTypeLike, OptionalArray
from olympus._src.interpreters.direct_calls import direct
from olympus._src.lax import concatenation, convolution, shaping
from olympus._src.lax import elementwise as lax
from olympus._src.lax import sizes as sizes_
from olympus._src.lax.precision import PrecisionLike
from olympus._src.numpy import (
    arithmetic,
    creation,
    cumulative_sums,
    docstring_examples,
    elementary,
    indexing,
    promotion,
    searching,
    selection,
    sorting,
)
from olympus._src.numpy.promotion import aval_of, check_arraylike

if TYPE_CHECKING:
    from olympus._src.numpy import function_types


def _sequence_product(
    name: str, what: str, reverse: bool
) -> function_types.SequenceProduct:
    @promotion.program(2, name=name)
    def run(a: Any, v: Any, *, mode: str, precision: Any, preferred: Any) -> Any:
        a, v = promotion.promote_inexact(a, v)
        return _slide(name, a, v, mode, precision, preferred, reverse)

    default = "full" if reverse else "valid"

    def call(
        a: ArrayLike,
        v: ArrayLike,
        mode: str = default,
        *,
        precision: PrecisionLike = None,
        preferred_element_type: DTypeLike | None = None,
    ) -> Array:
        _check_sequences(name, a, v, mode)
        return run(
            a, v, mode=mode, precision=precision, preferred=preferred_element_type
        )

    described = docstring_examples.describe(
        call,
        name,
        f"""{what} of two vectors.

    Differs from NumPy: integers give floats.

    Args:
      a, v: vectors.
      mode: "full", "same" (the longer one's size) or "valid" (full overlaps only).
      precision: how exactly, see `lax.Precision`.
      preferred_element_type: dtype of the sums and the result.

    Source: NumPy, `numpy.{name}`.
""",
    )
    return direct(name, 2)(described)


def _check_sequences(name: str, a: Any, v: Any, mode: str) -> None:
    check_arraylike(name, a, v)
    for x in (a, v):
        if aval_of(x).ndim != 1:
            raise ValueError(
                f"{name}() only support 1-dimensional inputs; got {aval_of(x).short()}"
            )
        if not aval_of(x).size:
            raise ValueError(f"{name}: inputs cannot be empty; numpy.{name}")
    if mode not in ("full", "same", "valid"):
        raise ValueError(
            f"mode must be one of ['full', 'same', 'valid']; numpy.{name} got {mode!r}"
        )


def _slide(
    name: str, a: Any, v: Any, mode: str, precision: Any, preferred: Any, reverse: bool
) -> Any:
    m, n = aval_of(a).shape[0], aval_of(v).shape[0]
    turn = False
    if reverse:
        if m < n:
            a, v, m, n = v, a, n, m
        v = shaping.rev(v, (0,))
    else:
        if _is_complex(v):
            v = lax.conj(v)
        if m < n:  # exchanged operands give the sequence back to front
            a, v, m, n, turn = v, a, n, m, True
    padding = {
        "valid": (0, 0),
        "same": (n // 2, n - n // 2 - 1),
        "full": (n - 1, n - 1),
    }
    out = convolution.conv_general_dilated(
        shaping.reshape(a, (1, 1, m)),
        shaping.reshape(v, (1, 1, n)),
        (1,),
        [padding[mode]],
        precision=precision,
        preferred_element_type=preferred,
    )
    out = shaping.reshape(out, (aval_of(out).shape[-1],))
    return shaping.rev(out, (0,)) if turn else out


def _is_complex(x: Any) -> bool:
    return dtypes.kind(aval_of(x).dtype) == "c"


convolve = _sequence_product("convolve", "The convolution", True)
correlate = _sequence_product("correlate", "The cross-correlation", False)


# -- interpolation ---------------------------------------------------------------------


def interp(
    x: ArrayLike,
    xp: ArrayLike,
    fp: ArrayLike,
    left: ArrayLike | str | None = None,
    right: ArrayLike | str | None = None,
    period: OptionalArray = None,
) -> Array:
    """Values between samples, on straight lines.

    Differs from NumPy: a period of 0 gives NaN and no error.

    Args:
      x: where to interpolate.
      xp: increasing vector of the samples' coordinates.
      fp: vector of the samples' values.
      left, right: values outside the samples' range, default the first and last; or
        "extrapolate".
      period: the period of the coordinates.

    Raises:
      ValueError: the samples are not vectors of one size.

    Source: NumPy, `numpy.interp`.

    Example:
      >>> jnp.interp(
      ...     jnp.array([0.5, 5.0]), jnp.array([0.0, 1.0]), jnp.array([10.0, 20.0])
      ... )
      Array([15., 20.], dtype=float32)
    """
    check_arraylike("interp", x, xp, fp)
    if aval_of(xp).ndim != 1 or aval_of(xp).shape != aval_of(fp).shape:
        raise ValueError(
            "xp and fp must be one-dimensional arrays of equal size; numpy.interp"
        )
    sides, operands = [], []
    for name, side in (("left", left), ("right", right)):
        if isinstance(side, str) and side != "extrapolate":
            raise ValueError(
                f"the only valid string value of `{name}` is 'extrapolate', but got: "
                f"{side!r}"
            )
        sides.append("extrapolate" if isinstance(side, str) else side is not None)
        if side is not None and not isinstance(side, str):
            operands.append(side)
    if period is not None:
        operands.append(period)
    return _interp(
        x, xp, fp, *operands, sides=tuple(sides), periodic=period is not None
    )


@promotion.evaluate.fuse
def _interp(
    x: Any, xp: Any, fp: Any, *operands: Any, sides: Any, periodic: bool
) -> Any:
    x, xp = promotion.promote_inexact(x, xp)
    (fp,) = promotion.promote_inexact(fp)
    x, xp, fp_real = promotion.promote_inexact(x, xp, _real(fp))
    fp = promotion.promote_dtypes(fp, fp_real)[0]
    remaining = list(operands)
    if periodic:
        period = promotion.cast(remaining.pop(), aval_of(x).dtype, False)
        x, xp, fp = _periodic(x, xp, fp, lax.abs_(period))
        sides = (False, False)
        remaining = []
    n = aval_of(xp).shape[0]
    where = searching.binary_search(xp, x, "right")
    kind = aval_of(where).dtype
    i = lax.max_(lax.min_(where, kind.type(max(n - 1, 1))), kind.type(1))
    early = lax.sub(i, kind.type(1))
    x0, f0 = (indexing.getitem(v, (early,)) for v in (xp, fp))
    x1, f1 = (indexing.getitem(v, (i,)) for v in (xp, fp))
    wide = lax.sub(x1, x0)
    zero = promotion.scalar(0, wide)
    flat = lax.eq(wide, zero)
    safe = lax.select(
        flat, promotion.full_shape(promotion.scalar(1, wide), aval_of(wide).shape), wide
    )
    share = lax.div(lax.sub(x, x0), safe)
    share = lax.convert(share, aval_of(fp).dtype, aval_of(share).weak_type)
    out = lax.add(f0, lax.mul(lax.sub(f1, f0), share))
    out = lax.select(flat, f0, out)
    ends = (lax.lt, 0), (lax.gt, n - 1)
    for side, (outside, k) in zip(sides, ends, strict=True):
        if side == "extrapolate":
            continue
        value = remaining.pop(0) if side else indexing.getitem(fp, (k,))
        value = promotion.full_shape(
            promotion.cast(value, aval_of(out).dtype, False), aval_of(out).shape
        )
        out = lax.select(outside(x, indexing.getitem(xp, (k,))), value, out)
    return out


def _real(x: Any) -> Any:
    return lax.real(x) if dtypes.kind(aval_of(x).dtype) == "c" else x


def _periodic(x: Any, xp: Any, fp: Any, period: Any) -> tuple[Any, Any, Any]:
    """The samples in one period, with one more at each end."""
    x, xp = (arithmetic.remainder(v, period) for v in (x, xp))
    order = sorting.argsort(xp)
    xp, fp = (indexing.getitem(v, (order,)) for v in (xp, fp))
    n = aval_of(xp).shape[0]
    first, last = (
        concatenation.slice_in_dim(xp, 0, 1),
        concatenation.slice_in_dim(xp, n - 1, n),
    )
    xp = concatenation.concatenate(
        [lax.sub(last, period), xp, lax.add(first, period)], 0
    )
    f_first, f_last = (
        concatenation.slice_in_dim(fp, 0, 1),
        concatenation.slice_in_dim(fp, n - 1, n),
    )
    return x, xp, concatenation.concatenate([f_last, fp, f_first], 0)


@direct("_unwrap")
def unwrap(
    p: ArrayLike,
    discont: OptionalArray = None,
    axis: int = -1,
    period: ArrayLike = 6.283185307179586,
) -> Array:
    """The array with jumps of more than half a period taken out.

    Args:
      p: real array, as of angles.
      discont: jumps up to this size stay; default half the period.
      axis: the axis.
      period: the size of the range that values wrap around.

    Source: NumPy, `numpy.unwrap`.

    Example:
      >>> jnp.unwrap(jnp.array([0.0, 7.0]), period=4.0)
      Array([ 0., -1.], dtype=float32)
    """
    check_arraylike("unwrap", p)
    # A number is part of the program, as 2 pi mostly is.
    known = period if type(period) in (int, float) else None
    operands = [x for x in (None if known else period, discont) if x is not None]
    return _unwrap(p, *operands, axis=operator.index(axis), period=known)


@promotion.evaluate.fuse
def _unwrap(p: Any, *operands: Any, axis: int, period: Any) -> Any:
    if dtypes.kind(aval_of(p).dtype) == "c":
        raise ValueError(
            "jnp.unwrap does not support complex inputs; unwrap numpy.angle(p)"
        )
    if period is None:
        period, operands = operands[0], operands[1:]
    p = promotion.promote_dtypes(p, period)[0]
    if dtypes.kind(aval_of(p).dtype) == "b":
        (p,) = promotion.promote_inexact(p)
    dtype = aval_of(p).dtype
    axis = sizes_.canonicalize_axis(axis, aval_of(p).ndim, "numpy.unwrap")
    n = aval_of(p).shape[axis]
    if n == 0:
        return p
    period = promotion.cast(period, dtype, False)
    half = (
        arithmetic.floor_divide(period, 2)
        if dtypes.kind(dtype) in "iu"
        else lax.mul(period, promotion.scalar(0.5, p))
    )
    least = promotion.cast(operands[0], dtype, False) if operands else half
    jump = cumulative_sums.diff(p, axis=axis)
    folded = arithmetic.subtract(
        arithmetic.remainder(arithmetic.add(jump, half), period), half
    )
    boundary = arithmetic.remainder(period, 2) if dtypes.kind(dtype) in "iu" else None
    at_edge = lax.eq(folded, promotion.full_shape(lax.neg(half), aval_of(jump).shape))
    at_edge = lax.bitwise_and(at_edge, lax.gt(jump, promotion.scalar(0, jump)))
    if boundary is not None:
        even = promotion.full_shape(
            lax.eq(boundary, promotion.scalar(0, p)), aval_of(jump).shape
        )
        at_edge = lax.bitwise_and(at_edge, even)
    folded = selection.where(at_edge, half, folded)
    change = arithmetic.subtract(folded, jump)
    small = lax.lt(lax.abs_(jump), promotion.full_shape(least, aval_of(jump).shape))
    change = selection.where(small, promotion.scalar(0, p), change)
    total = cumulative_sums.cumsum(change, axis=axis)
    config = [(0, 0, 0)] * aval_of(p).ndim
    config[axis] = (1, 0, 0)
    return lax.add(p, concatenation.pad(total, promotion.scalar(0, p), config))


# -- windows ---------------------------------------------------------------------------


def _fill_window(M: Any, values: Callable[[int, Any], Any]) -> Any:
    """A window of `M` points; of at most one it is 1."""
    n, kind = int(M), dtypes.canonicalize_dtype(float)
    return values(n, kind) if n > 1 else creation.ones(max(n, 0), kind)


def _window(name: str, values: Any, what: str) -> function_types.Window:
    def make(M: int) -> Array:
        return _fill_window(M, lambda n, kind: creation.asarray(values(n).astype(kind)))

    return docstring_examples.describe(
        make,
        name,
        f"""The {what} window.

    Args:
      M: number of points.

    Source: NumPy, `numpy.{name}`.
""",
    )


bartlett = _window("bartlett", np.bartlett, "triangular Bartlett")
blackman = _window("blackman", np.blackman, "Blackman")
hamming = _window("hamming", np.hamming, "Hamming")
hanning = _window("hanning", np.hanning, "Hann")


def kaiser(M: int, beta: ArrayLike) -> Array:
    """The Kaiser window.

    Args:
      M: number of points.
      beta: its shape.

    Source: NumPy, `numpy.kaiser`.

    Example:
      >>> jnp.kaiser(1, 14.0)
      Array([1.], dtype=float32)
    """

    def values(n: int, kind: Any) -> Any:
        half = 0.5 * (n - 1)
        line = np.sqrt(np.maximum(0, 1 - ((np.arange(n) - half) / half) ** 2))
        return arithmetic.true_divide(
            elementary.i0(arithmetic.multiply(beta, line.astype(kind))),
            elementary.i0(beta),
        )

    return _fill_window(M, values)
