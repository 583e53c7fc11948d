"""Discrete Fourier transforms, by NumPy's names, norms and axes."""

from __future__ import annotations

import math
import operator
from collections.abc import Sequence
from typing import Any

import numpy as np

from olympus._src.core import dtypes
from olympus._src.core.array_type import Array, ArrayLike, Axes, DTypeLike, Placement
from olympus._src.core.sizes import as_size, is_symbolic
from olympus._src.interpreters.direct_calls import direct
from olympus._src.lax import concatenation, families, fourier, shaping
from olympus._src.lax import elementwise as lax
from olympus._src.lax import sizes as sizes_
from olympus._src.numpy import arithmetic, creation, manipulation, promotion
from olympus._src.numpy.promotion import aval_of, check_arraylike

FftType = fourier.FftType
_FORTH = (FftType.FFT, FftType.RFFT)
_REAL = (FftType.RFFT, FftType.IRFFT)
_MOST_AXES = 3  # of one operation

# -- checks ----------------------------------------------------------------------------


def _check_norm(name: str, norm: Any) -> str:
    if norm in (None, "backward"):
        return "backward"
    if norm in ("ortho", "forward"):
        return norm
    raise ValueError(
        f'numpy.fft.{name}: Invalid norm value {norm}; should be "backward", '
        '"ortho" or "forward"'
    )


def _integer(name: str, what: str, value: Any) -> int:
    try:
        return operator.index(value)
    except TypeError:
        raise TypeError(
            f"numpy.fft.{name}: {what} must be an integer, got {value!r}; convert it "
            "with int"
        ) from None


def _integers(name: str, what: str, values: Any) -> tuple[int, ...]:
    """Integers that are given as a sequence."""
    try:
        return tuple([operator.index(v) for v in values])
    except TypeError:
        raise TypeError(
            f"numpy.fft.{name}: {what} must be a sequence of integers, got {values!r}; "
            "pass a tuple"
        ) from None


def _one_axis(name: str, axis: Any) -> Any:
    if isinstance(axis, (tuple, list)):
        raise ValueError(
            f"numpy.fft.{name}: axis must be one number, got {axis}; use "
            f"numpy.fft.{name}n for several axes"
        )
    return axis


def _axes_and_sizes(
    name: str, rank: int, s: Any, axes: Any
) -> tuple[tuple[int, ...], tuple[int, ...] | None]:
    """The axes that are meant, none of them negative, and their sizes if given."""
    sizes = None if s is None else _integers(name, "s", s)
    if axes is None:
        axes = range(rank) if sizes is None else range(rank - len(sizes), rank)
    named = _integers(name, "axes", axes)
    if sizes is not None and len(sizes) != len(named):
        raise ValueError(
            f"numpy.fft.{name}: Shape and axes have different lengths: s={sizes} and "
            f"axes={named}; give one size for each axis"
        )
    canonical = tuple(
        [sizes_.canonicalize_axis(a, rank, f"numpy.fft.{name}") for a in named]
    )
    if len(set(canonical)) != len(canonical):
        raise ValueError(
            f"numpy.fft.{name}: does not support repeated axes, got {named}; transform "
            "again by a second call"
        )
    if sizes is not None and any(d < 1 for d in sizes):
        raise ValueError(
            f"numpy.fft.{name}: Shape should be positive, got {sizes}; give sizes of "
            "1 or more"
        )
    return canonical, sizes


# -- the transform ---------------------------------------------------------------------


@promotion.program(1, name="fft")
def _transform(
    x: Any, *, kind: FftType, axes: tuple[int, ...], lengths: Any, norm: str
) -> Any:
    shape = aval_of(x).shape
    if lengths is None:
        lengths = tuple([shape[a] for a in axes])
        if kind == FftType.IRFFT and axes:
            lengths = (*lengths[:-1], max(2 * (lengths[-1] - 1), 0))
    sizes = list(lengths)
    if kind == FftType.IRFFT and axes and sizes[-1]:
        sizes[-1] = sizes[-1] // 2 + 1
    x = _resize_axes(x, axes, sizes)
    rank = len(shape)
    order = [a for a in range(rank) if a not in axes] + list(axes)
    moved = manipulation.transpose(x, order)
    out = _transform_in_groups(moved, kind, lengths)
    out = _scale_by_norm(out, kind, math.prod(lengths), norm)
    return manipulation.transpose(out, [order.index(a) for a in range(rank)])


def _resize_axes(x: Any, axes: Sequence[int], sizes: Sequence[int]) -> Any:
    """`x` cut off or followed by zeros along some axes."""
    shape = aval_of(x).shape
    config = [(0, 0, 0)] * len(shape)
    for axis, size in zip(axes, sizes, strict=True):
        config[axis] = (0, size - shape[axis], 0)
    if not any(high for _, high, _ in config):
        return x
    return concatenation.pad(x, np.zeros((), aval_of(x).dtype)[()], config)


def _transform_in_groups(x: Any, kind: FftType, lengths: Any) -> Any:
    """The transform of any number of last axes, by three at a time.

    A transform of real numbers takes the last axes first, one back to them takes them
    last.
    """
    extra = len(lengths) - _MOST_AXES
    if extra <= 0:
        return fourier.fft(x, kind, lengths)
    leading, last = lengths[:extra], lengths[extra:]
    complex_kind = FftType.FFT if kind in _FORTH else FftType.IFFT

    def of_rest(x: Any) -> Any:
        rank = aval_of(x).ndim
        start, middle = rank - len(lengths), rank - _MOST_AXES
        swapped = [*range(start), *range(middle, rank), *range(start, middle)]
        moved = manipulation.transpose(x, swapped)
        out = _transform_in_groups(moved, complex_kind, leading)
        return manipulation.transpose(out, [swapped.index(a) for a in range(rank)])

    if kind in _FORTH:
        return of_rest(fourier.fft(x, kind, last))
    return fourier.fft(of_rest(x), kind, last)


def _scale_by_norm(x: Any, kind: FftType, count: int, norm: str) -> Any:
    """The operation itself divides in the inverse alone, by the whole count."""
    if norm == "backward" or not count:
        return x
    power = 0.5 if norm == "ortho" else 1.0
    scale = float(count) ** (-power if kind in _FORTH else power)
    return lax.mul(x, families.number_of(scale, aval_of(x).dtype))


def _check_real(name: str, kind: FftType, a: Any) -> None:
    check_arraylike(f"fft.{name}", a)
    if kind == FftType.RFFT and dtypes.kind(aval_of(a).dtype) == "c":
        raise ValueError(
            f"numpy.fft.{name}: only real valued inputs supported, got "
            f"{aval_of(a).short()}; take the real part, or a transform of complex "
            "numbers"
        )


def _transform_one_axis(
    name: str, kind: FftType, a: Any, n: Any, axis: Any, norm: Any
) -> Any:
    _check_real(name, kind, a)
    place = _integer(name, "axis", _one_axis(name, axis))
    size = None if n is None else (_integer(name, "n", n),)
    axes, lengths = _axes_and_sizes(name, aval_of(a).ndim, size, (place,))
    norm = _check_norm(name, norm)
    return _transform(a, kind=kind, axes=axes, lengths=lengths, norm=norm)


def _transform_axes(
    name: str, kind: FftType, a: Any, s: Any, axes: Any, norm: Any, two: bool = False
) -> Any:
    _check_real(name, kind, a)
    if two and len(_integers(name, "axes", axes)) != 2:
        raise ValueError(
            f"numpy.fft.{name}: only supports 2 axes, got axes = {axes}; use "
            f"numpy.fft.{name[:-1]}n"
        )
    canonical, lengths = _axes_and_sizes(name, aval_of(a).ndim, s, axes)
    if kind in _REAL and not canonical:
        raise ValueError(
            f"numpy.fft.{name}: at least one axis must be transformed, got {axes} for "
            f"{aval_of(a).short()}; name an axis"
        )
    norm = _check_norm(name, norm)
    return _transform(a, kind=kind, axes=canonical, lengths=lengths, norm=norm)


# -- along one axis --------------------------------------------------------------------


@direct("fft")
def fft(
    a: ArrayLike, n: int | None = None, axis: int = -1, norm: str | None = None
) -> Array:
    """The discrete Fourier transform along an axis.

    Differs from NumPy: an empty array gives an empty one, where NumPy raises;
    there is no `out`.

    Args:
      a: array, of any dtype of numbers.
      n: the size to which the axis is cut or padded with zeros.
      axis: which axis is transformed.
      norm: which transform is divided by n: "backward" (the default) the inverse one,
        "forward" the forward one, "ortho" both, by sqrt(n).

    Returns:
      A complex array.

    Raises:
      ValueError: there is no such axis or norm, or `n` is below 1.

    Source: NumPy, `numpy.fft.fft`.

    Example:
      >>> from olympus import numpy as jnp
      >>> print(jnp.fft.fft(jnp.array([1.0, 0.0, 1.0, 0.0])))
      [2.+0.j 0.+0.j 2.+0.j 0.+0.j]
    """
    return _transform_one_axis("fft", FftType.FFT, a, n, axis, norm)


@direct("fft")
def ifft(
    a: ArrayLike, n: int | None = None, axis: int = -1, norm: str | None = None
) -> Array:
    """The inverse of `fft`.

    Differs from NumPy: an empty array gives an empty one, where NumPy raises;
    there is no `out`.

    Args:
      a: array, of any dtype of numbers.
      n: the size to which the axis is cut or padded with zeros.
      axis: which axis is transformed.
      norm: which transform is divided by n: "backward" (the default) the inverse one,
        "forward" the forward one, "ortho" both, by sqrt(n).

    Returns:
      A complex array.

    Raises:
      ValueError: there is no such axis or norm, or `n` is below 1.

    Source: NumPy, `numpy.fft.ifft`.

    Example:
      >>> from olympus import numpy as jnp
      >>> print(jnp.fft.ifft(jnp.array([4.0, 0.0])))
      [2.+0.j 2.+0.j]
    """
    return _transform_one_axis("ifft", FftType.IFFT, a, n, axis, norm)


@direct("fft")
def rfft(
    a: ArrayLike, n: int | None = None, axis: int = -1, norm: str | None = None
) -> Array:
    """The discrete Fourier transform of real numbers.

    Differs from NumPy: an empty array gives an empty one, where NumPy raises;
    there is no `out`.

    Args:
      a: array, real.
      n: the size to which the axis is cut or padded with zeros.
      axis: which axis is transformed.
      norm: which transform is divided by n: "backward" (the default) the inverse one,
        "forward" the forward one, "ortho" both, by sqrt(n).

    Returns:
      A complex array of n // 2 + 1 frequencies; the others are conjugates of these.

    Raises:
      ValueError: there is no such axis or norm, or `n` is below 1.

    Source: NumPy, `numpy.fft.rfft`.

    Example:
      >>> from olympus import numpy as jnp
      >>> print(jnp.fft.rfft(jnp.array([1.0, 0.0, 1.0, 0.0])))
      [2.+0.j 0.+0.j 2.+0.j]
    """
    return _transform_one_axis("rfft", FftType.RFFT, a, n, axis, norm)


@direct("fft")
def irfft(
    a: ArrayLike, n: int | None = None, axis: int = -1, norm: str | None = None
) -> Array:
    """The inverse of `rfft`.

    Differs from NumPy: an empty array gives an empty one, where NumPy raises;
    there is no `out`.

    Args:
      a: array, of n // 2 + 1 frequencies.
      n: size of the result; by default twice the size of the axis, less 2.
      axis: which axis is transformed.
      norm: which transform is divided by n: "backward" (the default) the inverse one,
        "forward" the forward one, "ortho" both, by sqrt(n).

    Returns:
      A real array.

    Raises:
      ValueError: there is no such axis or norm, or `n` is below 1.

    Source: NumPy, `numpy.fft.irfft`.

    Example:
      >>> from olympus import numpy as jnp
      >>> print(jnp.fft.irfft(jnp.array([2.0, 0.0, 2.0])))
      [1. 0. 1. 0.]
    """
    return _transform_one_axis("irfft", FftType.IRFFT, a, n, axis, norm)


@direct("fft")
def hfft(
    a: ArrayLike, n: int | None = None, axis: int = -1, norm: str | None = None
) -> Array:
    """The transform of a signal that is Hermitian in time, hence a real spectrum.

    Differs from NumPy: an empty array gives an empty one, where NumPy raises;
    there is no `out`.

    Args:
      a: array, of the n // 2 + 1 first points in time.
      n: number of frequencies; by default twice the size of the axis, less 2.
      axis: which axis is transformed.
      norm: which transform is divided by n: "backward" (the default) the inverse one,
        "forward" the forward one, "ortho" both, by sqrt(n).

    Returns:
      A real array.

    Raises:
      ValueError: there is no such axis or norm, or `n` is below 1.

    Source: NumPy, `numpy.fft.hfft`.

    Example:
      >>> from olympus import numpy as jnp
      >>> print(jnp.fft.hfft(jnp.array([1.0, 0.0, 1.0])))
      [2. 0. 2. 0.]
    """
    return _transform_one_axis(
        "hfft",
        FftType.IRFFT,
        arithmetic.conjugate(a),
        n,
        axis,
        _invert_norm("hfft", norm),
    )


def ihfft(
    a: ArrayLike, n: int | None = None, axis: int = -1, norm: str | None = None
) -> Array:
    """The inverse of `hfft`.

    Differs from NumPy: an empty array gives an empty one, where NumPy raises;
    there is no `out`.

    Args:
      a: array, real.
      n: the size to which the axis is cut or padded with zeros.
      axis: which axis is transformed.
      norm: which transform is divided by n: "backward" (the default) the inverse one,
        "forward" the forward one, "ortho" both, by sqrt(n).

    Returns:
      A complex array of n // 2 + 1 points in time.

    Raises:
      ValueError: there is no such axis or norm, or `n` is below 1.

    Source: NumPy, `numpy.fft.ihfft`.

    Example:
      >>> from olympus import numpy as jnp
      >>> print(jnp.fft.ihfft(jnp.array([2.0, 0.0, 2.0, 0.0])))
      [1.-0.j 0.-0.j 1.-0.j]
    """
    a = creation.asarray(a) if isinstance(a, (list, tuple)) else a
    return arithmetic.conjugate(
        _transform_one_axis(
            "ihfft", FftType.RFFT, a, n, axis, _invert_norm("ihfft", norm)
        )
    )


def _invert_norm(name: str, norm: Any) -> str:
    """The norm of the transform the other way."""
    scaling = _check_norm(name, norm)
    return {"backward": "forward", "forward": "backward"}.get(scaling, scaling)


# -- along several axes ----------------------------------------------------------------


@direct("fft")
def fftn(
    a: ArrayLike,
    s: Sequence[int] | None = None,
    axes: Sequence[int] | None = None,
    norm: str | None = None,
) -> Array:
    """The discrete Fourier transform along several axes.

    Differs from NumPy: an axis may not repeat; each of the sizes is a positive integer,
    not -1 or None; there is no `out`.

    Args:
      a: array, of any dtype of numbers.
      s: the sizes to which the axes are cut or padded with zeros.
      axes: which axes are transformed; by default all, or the last ones if `s` is
        given.
      norm: as in `fft`.

    Returns:
      A complex array.

    Raises:
      ValueError: an axis does not exist or repeats, or `s` and `axes` differ in length.

    Source: NumPy, `numpy.fft.fftn`.

    Example:
      >>> jnp.fft.fftn(jnp.ones((2, 1, 2)))
      Array([[[4.+0.j, 0.+0.j]],
             [[0.+0.j, 0.+0.j]]], dtype=complex64)
    """
    return _transform_axes("fftn", FftType.FFT, a, s, axes, norm)


@direct("fft")
def fft2(
    a: ArrayLike,
    s: Sequence[int] | None = None,
    axes: Sequence[int] = (-2, -1),
    norm: str | None = None,
) -> Array:
    """The discrete Fourier transform along two axes.

    Differs from NumPy: there must be two axes, and they must differ; there is no `out`.

    Args:
      a: array, of any dtype of numbers.
      s: the sizes to which the axes are cut or padded with zeros.
      axes: which axes are transformed; by default the last two.
      norm: as in `fft`.

    Returns:
      A complex array.

    Raises:
      ValueError: an axis does not exist or repeats, or `s` and `axes` differ in length.

    Source: NumPy, `numpy.fft.fft2`.

    Example:
      >>> jnp.fft.fft2(jnp.ones((2, 2)))
      Array([[4.+0.j, 0.+0.j],
             [0.+0.j, 0.+0.j]], dtype=complex64)
    """
    return _transform_axes("fft2", FftType.FFT, a, s, axes, norm, True)


@direct("fft")
def ifftn(
    a: ArrayLike,
    s: Sequence[int] | None = None,
    axes: Sequence[int] | None = None,
    norm: str | None = None,
) -> Array:
    """The inverse of `fftn`.

    Differs from NumPy: an axis may not repeat; each of the sizes is a positive integer,
    not -1 or None; there is no `out`.

    Args:
      a: array, of any dtype of numbers.
      s: the sizes to which the axes are cut or padded with zeros.
      axes: which axes are transformed; by default all, or the last ones if `s` is
        given.
      norm: as in `fft`.

    Returns:
      A complex array.

    Raises:
      ValueError: an axis does not exist or repeats, or `s` and `axes` differ in length.

    Source: NumPy, `numpy.fft.ifftn`.

    Example:
      >>> jnp.fft.ifftn(jnp.ones((2, 1, 2)))
      Array([[[1.+0.j, 0.+0.j]],
             [[0.+0.j, 0.+0.j]]], dtype=complex64)
    """
    return _transform_axes("ifftn", FftType.IFFT, a, s, axes, norm)


@direct("fft")
def ifft2(
    a: ArrayLike,
    s: Sequence[int] | None = None,
    axes: Sequence[int] = (-2, -1),
    norm: str | None = None,
) -> Array:
    """The inverse of `fft2`.

    Differs from NumPy: there must be two axes, and they must differ; there is no `out`.

    Args:
      a: array, of any dtype of numbers.
      s: the sizes to which the axes are cut or padded with zeros.
      axes: which axes are transformed; by default the last two.
      norm: as in `fft`.

    Returns:
      A complex array.

    Raises:
      ValueError: an axis does not exist or repeats, or `s` and `axes` differ in length.

    Source: NumPy, `numpy.fft.ifft2`.

    Example:
      >>> jnp.fft.ifft2(jnp.ones((2, 2)))
      Array([[1.+0.j, 0.+0.j],
             [0.+0.j, 0.+0.j]], dtype=complex64)
    """
    return _transform_axes("ifft2", FftType.IFFT, a, s, axes, norm, True)


@direct("fft")
def rfftn(
    a: ArrayLike,
    s: Sequence[int] | None = None,
    axes: Sequence[int] | None = None,
    norm: str | None = None,
) -> Array:
    """The transform of real numbers along several axes.

    Differs from NumPy: an axis may not repeat; each of the sizes is a positive integer,
    not -1 or None; there is no `out`.

    Args:
      a: array, real.
      s: the sizes to which the axes are cut or padded with zeros.
      axes: which axes are transformed; by default all, or the last ones if `s` is
        given.
      norm: as in `fft`.

    Returns:
      A complex array; along the last axis n // 2 + 1 frequencies are kept.

    Raises:
      ValueError: an axis does not exist or repeats, or `s` and `axes` differ in length.

    Source: NumPy, `numpy.fft.rfftn`.

    Example:
      >>> jnp.fft.rfftn(jnp.ones((2, 2)))
      Array([[4.+0.j, 0.+0.j],
             [0.+0.j, 0.+0.j]], dtype=complex64)
    """
    return _transform_axes("rfftn", FftType.RFFT, a, s, axes, norm)


@direct("fft")
def rfft2(
    a: ArrayLike,
    s: Sequence[int] | None = None,
    axes: Sequence[int] = (-2, -1),
    norm: str | None = None,
) -> Array:
    """The transform of real numbers along two axes.

    Differs from NumPy: there must be two axes, and they must differ; there is no `out`.

    Args:
      a: array, real.
      s: the sizes to which the axes are cut or padded with zeros.
      axes: which axes are transformed; by default the last two.
      norm: as in `fft`.

    Returns:
      A complex array; along the last axis n // 2 + 1 frequencies are kept.

    Raises:
      ValueError: an axis does not exist or repeats, or `s` and `axes` differ in length.

    Source: NumPy, `numpy.fft.rfft2`.

    Example:
      >>> jnp.fft.rfft2(jnp.ones((2, 2)))
      Array([[4.+0.j, 0.+0.j],
             [0.+0.j, 0.+0.j]], dtype=complex64)
    """
    return _transform_axes("rfft2", FftType.RFFT, a, s, axes, norm, True)


@direct("fft")
def irfftn(
    a: ArrayLike,
    s: Sequence[int] | None = None,
    axes: Sequence[int] | None = None,
    norm: str | None = None,
) -> Array:
    """The inverse of `rfftn`.

    Differs from NumPy: an axis may not repeat; each of the sizes is a positive integer,
    not -1 or None; there is no `out`.

    Args:
      a: array, with n // 2 + 1 frequencies along the last axis.
      s: the sizes of the result; by default those of `a`, along the last axis twice
        that, less 2.
      axes: which axes are transformed; by default all, or the last ones if `s` is
        given.
      norm: as in `fft`.

    Returns:
      A real array.

    Raises:
      ValueError: an axis does not exist or repeats, or `s` and `axes` differ in length.

    Source: NumPy, `numpy.fft.irfftn`.

    Example:
      >>> jnp.fft.irfftn(jnp.ones((2, 2)))
      Array([[1., 0.],
             [0., 0.]], dtype=float32)
    """
    return _transform_axes("irfftn", FftType.IRFFT, a, s, axes, norm)


@direct("fft")
def irfft2(
    a: ArrayLike,
    s: Sequence[int] | None = None,
    axes: Sequence[int] = (-2, -1),
    norm: str | None = None,
) -> Array:
    """The inverse of `rfft2`.

    Differs from NumPy: there must be two axes, and they must differ; there is no `out`.

    Args:
      a: array, with n // 2 + 1 frequencies along the last axis.
      s: the sizes of the result; by default those of `a`, along the last axis twice
        that, less 2.
      axes: which axes are transformed; by default the last two.
      norm: as in `fft`.

    Returns:
      A real array.

    Raises:
      ValueError: an axis does not exist or repeats, or `s` and `axes` differ in length.

    Source: NumPy, `numpy.fft.irfft2`.

    Example:
      >>> jnp.fft.irfft2(jnp.ones((2, 2)))
      Array([[1., 0.],
             [0., 0.]], dtype=float32)
    """
    return _transform_axes("irfft2", FftType.IRFFT, a, s, axes, norm, True)


# -- frequencies -----------------------------------------------------------------------


def _frequencies(name: str, n: Any, d: Any, dtype: Any, device: Any, half: bool) -> Any:
    for what, value in (("n", n), ("d", d)):
        if np.ndim(value):
            raise ValueError(
                f"numpy.fft.{name}: {what} must be one number, got {value}; call it "
                "once for each"
            )
    count = as_size(n) if hasattr(n, "__index__") else int(n)
    kind = dtypes.canonicalize_dtype(np.float64 if dtype is None else dtype)
    if (half and kind == np.bool_) or isinstance(d, complex):
        raise TypeError(
            f"numpy.fft.{name}: d must be real and dtype one of numbers, got {d} and "
            f"{kind}; leave dtype out"
        )
    if half:
        kind = dtypes.to_inexact_dtype(kind)
    if is_symbolic(count):
        return _symbolic_frequencies(count, d, kind, half)
    # From zero to the largest, then from the smallest to -1.
    order = np.fft.ifftshift(np.arange(count) - count // 2)
    numbers = np.arange(count // 2 + 1) if half else order
    if isinstance(d, (int, float)):
        scaled = numbers / (d * count) if count else numbers.astype(float)
        return creation.asarray(scaled.astype(kind), device=device)
    unit = lax.convert(arithmetic.multiply(d, count), kind)
    whole = creation.asarray(numbers.astype(kind), device=device)
    return arithmetic.true_divide(whole, unit)


def _symbolic_frequencies(count: Any, d: Any, kind: Any, half: bool) -> Any:
    """The same for a symbolic number of places, computed while the program runs."""
    whole = dtypes.canonicalize_dtype(int)
    numbers = shaping.iota(whole, count // 2 + 1 if half else count)
    if not half:
        shape = (count,)
        size, middle = (
            promotion.full_shape(lax.size_value(n, whole), shape)
            for n in (count, (count + 1) // 2)
        )
        upper = lax.ge(numbers, middle)
        numbers = lax.select(upper, lax.sub(numbers, size), numbers)
    unit = arithmetic.multiply(d, lax.size_value(count, kind))
    return lax.convert(arithmetic.true_divide(lax.convert(numbers, kind), unit), kind)


def fftfreq(
    n: int,
    d: ArrayLike = 1.0,
    *,
    dtype: DTypeLike | None = None,
    device: Placement = None,
) -> Array:
    """The frequencies of the elements of a result of `fft`.

    Differs from NumPy: the dtype can be chosen, and is float32 by default unless 64-bit
    dtypes are switched on; `n` may be 0.

    Args:
      n: how many samples there are.
      d: the distance between two samples, in units of time.
      dtype: of the result; by default the default floating dtype.
      device: where the result lives.

    Returns:
      An array [n]: cycles per unit of time, zero first, negative ones last.

    Raises:
      ValueError: `n` or `d` is an array of several numbers.

    Source: NumPy, `numpy.fft.fftfreq`.

    Example:
      >>> from olympus import numpy as jnp
      >>> print(jnp.fft.fftfreq(4))
      [ 0.    0.25 -0.5  -0.25]
    """
    return _frequencies("fftfreq", n, d, dtype, device, half=False)


def rfftfreq(
    n: int,
    d: ArrayLike = 1.0,
    *,
    dtype: DTypeLike | None = None,
    device: Placement = None,
) -> Array:
    """The frequencies of the elements of a result of `rfft`.

    Differs from NumPy: the dtype can be chosen, and is float32 by default unless 64-bit
    dtypes are switched on.

    Args:
      n: how many samples there are.
      d: the distance between two samples, in units of time.
      dtype: of the result; by default the default floating dtype.
      device: where the result lives.

    Returns:
      An array [n // 2 + 1]: cycles per unit of time, from zero up.

    Raises:
      ValueError: `n` or `d` is an array of several numbers.

    Source: NumPy, `numpy.fft.rfftfreq`.

    Example:
      >>> from olympus import numpy as jnp
      >>> print(jnp.fft.rfftfreq(4))
      [0.   0.25 0.5 ]
    """
    return _frequencies("rfftfreq", n, d, dtype, device, half=True)


def _shift_by_half(name: str, x: Any, axes: Any, back: bool) -> Any:
    check_arraylike(f"fft.{name}", x)
    shape = aval_of(x).shape
    if axes is None:
        axes = tuple(range(len(shape)))
    named = (axes,) if isinstance(axes, (int, np.integer)) else tuple(axes)
    canonical = [
        sizes_.canonicalize_axis(operator.index(a), len(shape), f"numpy.fft.{name}")
        for a in named
    ]
    steps = [-(shape[a] // 2) if back else shape[a] // 2 for a in canonical]
    return manipulation.roll(x, tuple(steps), tuple(canonical))


@direct("roll")
def fftshift(x: ArrayLike, axes: Axes = None) -> Array:
    """Moves the zero frequency to the middle.

    Args:
      x: array.
      axes: one axis, several, or None for all.

    Raises:
      ValueError: there is no such axis.

    Source: NumPy, `numpy.fft.fftshift`.

    Example:
      >>> from olympus import numpy as jnp
      >>> print(jnp.fft.fftshift(jnp.array([0, 1, 2, -2, -1])))
      [-2 -1  0  1  2]
    """
    return _shift_by_half("fftshift", x, axes, back=False)


@direct("roll")
def ifftshift(x: ArrayLike, axes: Axes = None) -> Array:
    """The inverse of `fftshift`.

    Args:
      x: array.
      axes: one axis, several, or None for all.

    Raises:
      ValueError: there is no such axis.

    Source: NumPy, `numpy.fft.ifftshift`.

    Example:
      >>> from olympus import numpy as jnp
      >>> print(jnp.fft.ifftshift(jnp.array([-2, -1, 0, 1, 2])))
      [ 0  1  2 -2 -1]
    """
    return _shift_by_half("ifftshift", x, axes, back=True)
