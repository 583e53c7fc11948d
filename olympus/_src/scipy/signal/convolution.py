"""Convolution and correlation of arrays of any number of axes."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any

from olympus._src.core import dtypes
from olympus._src.core.array_type import Array, ArrayLike, Axes
from olympus._src.lax import convolution, shaping, sizes
from olympus._src.lax.linalg import matrices
from olympus._src.lax.precision import PrecisionLike
from olympus._src.numpy import fourier, promotion
from olympus._src.scipy import checks

aval_of = checks.aval_of
_MODES = ("full", "same", "valid")


def _check(name: str, in1: Any, in2: Any, mode: str) -> None:
    _check_ranks(name, in1, in2, mode)
    _check_sizes(name, in1, in2, "zero-size arrays not supported in convolutions")


def _check_ranks(
    name: str,
    in1: Any,
    in2: Any,
    mode: str,
    rule: str = "must have the same number of dimensions",
) -> None:
    checks.check_arrays(f"signal.{name}", in1, in2)
    checks.one_of(f"signal.{name}", "mode", mode, _MODES)
    first, second = aval_of(in1), aval_of(in2)
    if first.ndim != second.ndim:
        raise ValueError(
            f"scipy.signal.{name}: in1 and in2 {rule}, got {first.short()} and "
            f"{second.short()}"
        )


def _check_sizes(name: str, in1: Any, in2: Any, rule: str) -> None:
    first, second = aval_of(in1), aval_of(in2)
    if not first.size or not second.size:
        raise ValueError(
            f"scipy.signal.{name}: {rule}, got {first.short()} and {second.short()}"
        )


def _check_nested(name: str, pairs: Sequence[tuple[int, int]]) -> bool:
    """Whether the second is larger; raises where neither lies within the other."""
    if all(m >= n for m, n in pairs):
        return False
    if all(m <= n for m, n in pairs):
        return True
    raise ValueError(
        f"scipy.signal.{name}: for 'valid' mode, one input must be at least as large "
        f"as the other in every dimension, got sizes {[m for m, _ in pairs]} and "
        f"{[n for _, n in pairs]}"
    )


def _direct(name: str, in1: Any, in2: Any, mode: str, precision: Any) -> Any:
    """The convolution; of the mode "same" in the shape of `in1`."""
    first, second = aval_of(in1).shape, aval_of(in2).shape
    if not first:
        return in1 * in2
    pairs = list(zip(first, second, strict=True))
    if mode == "valid":
        if _check_nested(name, pairs):
            in1, in2, first, second = in2, in1, second, first
        padding = [(0, 0)] * len(first)
    elif mode == "full":
        padding = [(n - 1, n - 1) for n in second]
    else:
        # Of an even size SciPy's correlate2d keeps the later half, others the earlier.
        late = name == "correlate2d"
        pads = [(n // 2, (n - 1) // 2) for n in second]
        padding = [p[::-1] for p in pads] if late else pads
    out = convolution.conv_general_dilated(
        shaping.reshape(in1, (1, 1, *first)),
        shaping.rev(shaping.reshape(in2, (1, 1, *second)), range(2, len(first) + 2)),
        (1,) * len(first),
        padding,
        precision=precision,
    )
    return shaping.reshape(out, aval_of(out).shape[2:])


def _convolve_whole(in1: Any, in2: Any, sized: Sequence[tuple[int, int]]) -> Any:
    """The whole convolution over axes that come with their sizes in it."""
    axes, sizes_ = zip(*sized, strict=True)
    if dtypes.kind(aval_of(in1).dtype) == "c":
        forth, back = fourier.fftn, fourier.ifftn
    else:
        forth, back = fourier.rfftn, fourier.irfftn
    return back(forth(in1, sizes_, axes) * forth(in2, sizes_, axes), sizes_, axes)


def _convolve_by_fourier(name: str, in1: Any, in2: Any, mode: str, axes: Any) -> Any:
    first, second = aval_of(in1).shape, aval_of(in2).shape
    pairs = [(first[a], second[a]) for a in axes]
    if mode == "valid" and _check_nested(name, pairs):
        in1, in2 = in2, in1
        pairs = [(n, m) for m, n in pairs]
    # Over an axis along which one has a single element, a convolution is a product.
    long = [
        (axis, m + n - 1)
        for axis, (m, n) in zip(axes, pairs, strict=True)
        if min(m, n) > 1
    ]
    out = _convolve_whole(in1, in2, long) if long else in1 * in2
    cut = [slice(None)] * aval_of(out).ndim
    for axis, (m, n) in zip(axes, pairs, strict=True):
        start = {"full": 0, "same": (n - 1) // 2, "valid": n - 1}[mode]
        size = {"full": m + n - 1, "same": m, "valid": m - n + 1}[mode]
        cut[axis] = slice(start, start + size)
    return out[tuple(cut)]


def _promote_and_turn(in1: Any, in2: Any, turned: bool) -> tuple[Any, Any]:
    """Both in one inexact dtype; the second, for a correlation, conjugated and back to
    front.
    """
    in1, in2 = promotion.promote_inexact(in1, in2)
    if turned:
        in2 = shaping.rev(matrices.conjugate_if_complex(in2), range(aval_of(in2).ndim))
    return in1, in2


@promotion.program(2, name="convolve")
def _convolve(
    in1: Any, in2: Any, *, name: str, mode: str, precision: Any, turned: bool
) -> Any:
    in1, in2 = _promote_and_turn(in1, in2, turned)
    out = _direct(name, in1, in2, mode, precision)
    # SciPy's correlate2d conjugates the smaller one of those that it exchanges.
    if name != "correlate2d" or mode != "valid":
        return out
    pairs = list(zip(aval_of(in1).shape, aval_of(in2).shape, strict=True))
    is_exchanged = _check_nested(name, pairs)
    return matrices.conjugate_if_complex(out) if is_exchanged else out


@promotion.program(2, name="fftconvolve")
def _fftconvolve(
    in1: Any, in2: Any, *, name: str, mode: str, axes: Any, turned: bool
) -> Any:
    in1, in2 = _promote_and_turn(in1, in2, turned)
    return _convolve_by_fourier(name, in1, in2, mode, axes)


def _either(
    name: str, in1: Any, in2: Any, mode: str, method: str, precision: Any, turned: bool
) -> Any:
    _check(name, in1, in2, mode)
    checks.one_of(f"signal.{name}", "method", method, ("auto", "direct", "fft"))
    if method == "fft":
        axes = tuple(range(aval_of(in1).ndim))
        return _fftconvolve(in1, in2, name=name, mode=mode, axes=axes, turned=turned)
    return _convolve(in1, in2, name=name, mode=mode, precision=precision, turned=turned)


def convolve(
    in1: ArrayLike,
    in2: ArrayLike,
    mode: str = "full",
    method: str = "auto",
    precision: PrecisionLike = None,
) -> Array:
    """The convolution of two arrays.

    Differs from SciPy: integers give floats; "auto" is "direct", whatever the sizes.

    Args:
      in1, in2: arrays of equally many axes.
      mode: "full"; "same", the middle of that in the shape of `in1`; or "valid", what
        needs no zeros around them.
      method: "fft"; "direct", and "auto" which is the same.
      precision: how exactly products are summed, see `lax.Precision`.

    Returns:
      A floating or complex array.

    Raises:
      ValueError: numbers of axes differ, an array is empty, or there is no such mode or
        method.
      TypeError: an argument is not an array.

    Source: SciPy, `scipy.signal.convolve`.

    Example:
      >>> import numpy as np
      >>> from olympus.scipy import signal
      >>> print(signal.convolve(np.float32([1, 2, 3]), np.float32([1, 1])))
      [1. 3. 5. 3.]
    """
    return _either("convolve", in1, in2, mode, method, precision, False)


def correlate(
    in1: ArrayLike,
    in2: ArrayLike,
    mode: str = "full",
    method: str = "auto",
    precision: PrecisionLike = None,
) -> Array:
    """The cross-correlation of two arrays: sums of one and the other's shifts.

    Differs from SciPy: integers give floats; "auto" is "direct", whatever the sizes.

    Args:
      in1, in2: arrays of equally many axes; the second is conjugated.
      mode: "full"; "same", the middle of that in the shape of `in1`; or "valid", what
        needs no zeros around them.
      method: "fft"; "direct", and "auto" which is the same.
      precision: how exactly products are summed, see `lax.Precision`.

    Returns:
      A floating or complex array.

    Raises:
      ValueError: numbers of axes differ, an array is empty, or there is no such mode or
        method.
      TypeError: an argument is not an array.

    Source: SciPy, `scipy.signal.correlate`.

    Example:
      >>> import numpy as np
      >>> from olympus.scipy import signal
      >>> print(signal.correlate(np.float32([1, 2, 3]), np.float32([0, 1])))
      [1. 2. 3. 0.]
    """
    return _either("correlate", in1, in2, mode, method, precision, True)


def _convolve_in_plane(
    name: str,
    in1: Any,
    in2: Any,
    mode: str,
    boundary: str,
    fillvalue: float,
    precision: Any,
) -> Any:
    if boundary != "fill" or fillvalue != 0:
        raise NotImplementedError(
            f"scipy.signal.{name}() only supports boundary='fill', fillvalue=0, got "
            f"{boundary!r}, {fillvalue!r}; pad the array first"
        )
    _check(name, in1, in2, mode)
    if aval_of(in1).ndim != 2:
        raise ValueError(
            f"scipy.signal.{name}() only supports 2-dimensional inputs, got "
            f"{aval_of(in1).short()} and {aval_of(in2).short()}"
        )
    is_correlation = name == "correlate2d"
    return _convolve(
        in1, in2, name=name, mode=mode, precision=precision, turned=is_correlation
    )


def convolve2d(
    in1: ArrayLike,
    in2: ArrayLike,
    mode: str = "full",
    boundary: str = "fill",
    fillvalue: float = 0,
    precision: PrecisionLike = None,
) -> Array:
    """The convolution of two matrices.

    Differs from SciPy: integers give floats; beyond the matrices there are zeros, and
    no other `boundary` or `fillvalue`.

    Args:
      in1, in2: matrices.
      mode: as in `convolve`.
      boundary, fillvalue: "fill" and 0: there are zeros around the matrices.
      precision: how exactly products are summed, see `lax.Precision`.

    Returns:
      A floating or complex matrix.

    Raises:
      ValueError: an argument is not a matrix, or there is no such mode.
      NotImplementedError: another boundary is requested.

    Source: SciPy, `scipy.signal.convolve2d`.

    Example:
      >>> import numpy as np
      >>> from olympus.scipy import signal
      >>> ones = np.ones((2, 2), "float32")
      >>> print(signal.convolve2d(ones, ones, mode="valid"))
      [[4.]]
    """
    return _convolve_in_plane(
        "convolve2d", in1, in2, mode, boundary, fillvalue, precision
    )


def correlate2d(
    in1: ArrayLike,
    in2: ArrayLike,
    mode: str = "full",
    boundary: str = "fill",
    fillvalue: float = 0,
    precision: PrecisionLike = None,
) -> Array:
    """The cross-correlation of two matrices.

    Differs from SciPy: integers give floats; beyond the matrices there are zeros, and
    no other `boundary` or `fillvalue`.

    Args:
      in1, in2: matrices; the second is conjugated, or the first where the mode is
        "valid" and it is the smaller.
      mode: as in `correlate`.
      boundary, fillvalue: "fill" and 0: there are zeros around the matrices.
      precision: how exactly products are summed, see `lax.Precision`.

    Returns:
      A floating or complex matrix.

    Raises:
      ValueError: an argument is not a matrix, or there is no such mode.
      NotImplementedError: another boundary is requested.

    Source: SciPy, `scipy.signal.correlate2d`.

    Example:
      >>> import numpy as np
      >>> from olympus.scipy import signal
      >>> print(signal.correlate2d(np.eye(2, dtype="float32"), np.ones((1, 2))))
      [[1. 1. 0.]
       [0. 1. 1.]]
    """
    return _convolve_in_plane(
        "correlate2d", in1, in2, mode, boundary, fillvalue, precision
    )


def fftconvolve(
    in1: ArrayLike, in2: ArrayLike, mode: str = "full", axes: Axes = None
) -> Array:
    """The convolution of two arrays, by Fourier transforms.

    Differs from SciPy: integers give float32 unless 64-bit dtypes are switched on;
    empty arrays are refused.

    Args:
      in1, in2: arrays of equally many axes.
      mode: as in `convolve`.
      axes: the axes convolved over, default all; sizes of others must be equal.

    Returns:
      A floating or complex array.

    Raises:
      ValueError: shapes do not fit, an axis does not exist or is named twice, or there
        is no such mode.

    Source: SciPy, `scipy.signal.fftconvolve`.

    Example:
      >>> import numpy as np
      >>> from olympus.scipy import signal
      >>> print(signal.fftconvolve(np.float32([1, 2, 3]), np.float32([2])).round())
      [2. 4. 6.]
    """
    name = "signal.fftconvolve"
    rule = "should have the same dimensionality"
    _check_ranks("fftconvolve", in1, in2, mode, rule)
    first, second = aval_of(in1), aval_of(in2)
    named = range(first.ndim) if axes is None else axes
    named = [named] if isinstance(named, int) else list(named)
    canonical = tuple(
        [sizes.canonicalize_axis(operator.index(a), first.ndim, name) for a in named]
    )
    if len(set(canonical)) != len(canonical):
        raise ValueError(f"scipy.{name}: axes must be unique, got {axes}")
    _check_sizes("fftconvolve", in1, in2, "arrays must not be empty")
    for i, (m, n) in enumerate(zip(first.shape, second.shape, strict=True)):
        if i not in canonical and m != n:
            raise ValueError(
                f"scipy.{name}: mapped axes must have same shape; got {first.short()} "
                f"and {second.short()} for axes={axes}"
            )
    return _fftconvolve(
        in1, in2, name="fftconvolve", mode=mode, axes=canonical, turned=False
    )
