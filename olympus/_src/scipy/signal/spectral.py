"""Spectra of signals over time, and their means."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from olympus._src.core import avals, dtypes
from olympus._src.core.array_type import Array, ArrayLike, OptionalArray
from olympus._src.lax import complex_numbers as lax
from olympus._src.lax import sizes
from olympus._src.lax.linalg import matrices
from olympus._src.numpy import (
    arithmetic,
    creation,
    fourier,
    index_routines,
    manipulation,
    padding,
    promotion,
    quantiles,
    reductions,
    selection,
)
from olympus._src.scipy import checks
from olympus._src.scipy.signal import detrending, windows

aval_of = checks.aval_of

# -- what is requested -----------------------------------------------------------------


class _Plan(NamedTuple):
    """Sizes of segments, and the window."""

    size: int
    overlap: int
    length: int  # of a transform
    window: Any


def _count(name: str, what: str, value: Any, least: int) -> int:
    if isinstance(value, (float, np.floating)) and float(value).is_integer():
        value = int(value)  # as of fs / 2
    try:
        count = operator.index(value)
    except TypeError:
        count = least - 1
    if count < least:
        kind = "a positive" if least else "a non-negative"
        raise ValueError(
            f"scipy.signal.{name}: {what} must be {kind} integer; got {value}"
        )
    return count


def _overlap(name: str, noverlap: Any, size: int) -> int:
    overlap = size // 2 if noverlap is None else _count(name, "noverlap", noverlap, 0)
    if overlap >= size:
        raise ValueError(
            f"scipy.signal.{name}: noverlap must be less than nperseg, got {overlap} "
            f"and {size}"
        )
    return overlap


def _plan(
    name: str, window: Any, nperseg: Any, noverlap: Any, nfft: Any, n: int
) -> _Plan:
    size = None if nperseg is None else _count(name, "nperseg", nperseg, 1)
    if isinstance(window, (str, tuple, int, float)):
        size = min(256 if size is None else size, n)
        values: Any = windows.periodic(window, size)
    else:
        checks.check_arrays(f"signal.{name}", window)
        values = window
        aval = aval_of(window)
        if aval.ndim != 1:
            raise ValueError(
                f"scipy.signal.{name}: window must be 1-D, got {aval.short()}"
            )
        if aval.shape[0] > n:
            raise ValueError(
                f"scipy.signal.{name}: window is longer than input signal, got "
                f"{aval.short()} for {n} samples"
            )
        if size is not None and size != aval.shape[0]:
            raise ValueError(
                f"scipy.signal.{name}: value specified for nperseg is different from "
                f"length of window, got {size} and {aval.short()}"
            )
        size = aval.shape[0]
    length = size if nfft is None else _count(name, "nfft", nfft, 1)
    if length < size:
        raise ValueError(
            f"scipy.signal.{name}: nfft must be greater than or equal to nperseg, got "
            f"{length} and {size}"
        )
    return _Plan(size, _overlap(name, noverlap, size), length, values)


def _detrender(name: str, detrend: Any) -> Callable[[Any], Any]:
    if callable(detrend):
        return detrend
    if detrend is False:
        return manipulation.as_is
    if detrend not in ("linear", "constant"):
        raise ValueError(
            f"scipy.signal.{name}: Trend type must be 'linear' or 'constant', False or "
            f"a function, got {detrend!r}"
        )
    return lambda x: detrending.detrend(x, type=detrend)


# -- segments and their transforms -----------------------------------------------------


def _segments(x: Any, size: int, step: int) -> Any:
    """Overlapping parts of `x` [..., n]: [..., segments, size]."""
    n = aval_of(x).shape[-1]
    starts = np.arange(0, n - size + 1, step)
    return index_routines.take(
        x, (starts[:, None] + np.arange(size)).astype(np.int32), axis=-1
    )


def _multiply(x: Any, factors: Any) -> Any:
    """Products along the last axis, in the dtype of `x`."""
    factors = promotion.cast(factors, aval_of(x).dtype, False)
    return arithmetic.multiply(*promotion.align_ranks(x, factors))


def _transform(x: Any, plan: _Plan, one_sided: bool, trend: Any) -> Any:
    parts = trend(_segments(x, plan.size, plan.size - plan.overlap))
    parts = _multiply(parts, plan.window)
    forth = fourier.rfft if one_sided else fourier.fft
    return forth(parts, plan.length)


def _extend_signal(x: Any, boundary: str | None, half: int) -> Any:
    if boundary is None or not half:
        return x
    width = [(0, 0)] * (aval_of(x).ndim - 1) + [(half, half)]
    if boundary == "zeros":
        return padding.pad(x, width)
    if boundary == "constant":
        return padding.pad(x, width, mode="edge")
    mirrored = padding.pad(x, width, mode="reflect")
    if boundary == "even":
        return mirrored
    n = aval_of(x).shape[-1]
    inside = slice(half, half + n)
    reflection = 2 * padding.pad(x, width, mode="edge") - mirrored
    return reflection.at[..., inside].set(x)


def _to_the_end(x: Any, size: int, step: int) -> Any:
    """Zeros after `x`, so that segments take it all."""
    n = aval_of(x).shape[-1]
    missing = -(n - size) % step
    return padding.pad(x, [(0, 0)] * (aval_of(x).ndim - 1) + [(0, missing)])


def _frequencies(length: int, fs: Any, one_sided: bool, dtype: Any) -> Any:
    make = np.fft.rfftfreq if one_sided else np.fft.fftfreq
    return creation.asarray(make(length).astype(dtype)) * promotion.cast(
        fs, dtype, False
    )


def _real(x: Any) -> Any:
    return matrices.real_dtype(dtypes.to_inexact_dtype(aval_of(x).dtype))


def _one_sided(asked: bool, *signals: Any) -> bool:
    return asked and all(dtypes.kind(aval_of(x).dtype) != "c" for x in signals)


def _scale(plan: _Plan, scaling: str, fs: Any, dtype: Any) -> Any:
    window = abs(promotion.cast(plan.window, dtype, False))
    if scaling == "spectrum":
        return 1 / promotion.cast(plan.window, dtype, False).sum() ** 2
    return 1 / (promotion.cast(fs, dtype, False) * (window * window).sum())


# -- short-time Fourier transform ------------------------------------------------------

_BOUNDARIES = ("even", "odd", "constant", "zeros", None)


def stft(
    x: ArrayLike,
    fs: ArrayLike = 1.0,
    window: str | float | tuple[Any, ...] | ArrayLike = "hann",
    nperseg: int | None = 256,
    noverlap: int | None = None,
    nfft: int | None = None,
    detrend: str | bool | Callable[[Array], ArrayLike] = False,
    return_onesided: bool = True,
    boundary: str | None = "zeros",
    padded: bool = True,
    axis: int = -1,
) -> tuple[Array, Array, Array]:
    """The short-time Fourier transform: spectra of overlapping segments of a signal.

    Differs from SciPy: there is no `scaling`: it is "spectrum"; the windows "taylor",
    "chebwin" and "dpss" are not known.

    Args:
      x: array.
      fs: samples per unit of time.
      window: a name, a tuple of a name and parameters, or the values [nperseg].
      nperseg: samples of a segment, no more than there are.
      noverlap: samples that a segment shares with the next; default half of them.
      nfft: points of a transform; default `nperseg`.
      detrend: "linear", "constant", a function of segments, or False.
      return_onesided: leave out negative frequencies of real signals.
      boundary: how the signal is extended by half a segment at both ends: "zeros",
        "even", "odd", "constant", or None for no extension.
      padded: add zeros, so that segments take all of it.
      axis: the axis of time.

    Returns:
      Frequencies [f], times [t] of the segments' middles, and complex spectra: the axis
      of time has become that of frequency, and the last axis is that of times. All
      three have the shape of `x` where it is empty.

    Raises:
      ValueError: sizes do not fit, or there is no such window, boundary or trend.

    Source: SciPy, `scipy.signal.stft`.

    Example:
      >>> import numpy as np
      >>> from olympus.scipy import signal
      >>> f, t, z = signal.stft(np.sin(np.arange(40, dtype="float32")), nperseg=8)
      >>> f.shape, t.shape, z.shape
      ((5,), (11,), (5, 11))
    """
    checks.check_arrays("signal.stft", x)
    if boundary not in _BOUNDARIES:
        raise ValueError(
            f"scipy.signal.stft: Unknown boundary option {boundary!r}, must be one of: "
            f"{list(_BOUNDARIES)}"
        )
    aval = aval_of(x)
    place = sizes.canonicalize_axis(operator.index(axis), aval.ndim, "signal.stft")
    if not aval.size:
        empty = creation.zeros(aval.shape, _real(x))
        spectra = creation.zeros(aval.shape, dtypes.complex_dtype(empty.dtype))
        return empty, empty, spectra
    plan = _plan("stft", window, nperseg, noverlap, nfft, aval.shape[place])
    trend = _detrender("stft", detrend)
    one_sided, dtype = _one_sided(return_onesided, x), _real(x)
    step = plan.size - plan.overlap
    (x,) = promotion.promote_inexact(x)
    x = _extend_signal(manipulation.moveaxis(x, place, -1), boundary, plan.size // 2)
    x = _to_the_end(x, plan.size, step) if padded else x
    total = aval_of(x).shape[-1]
    spectra = _transform(x, plan, one_sided, trend)
    spectra = _multiply(spectra, abs(_scale(plan, "spectrum", fs, dtype)) ** 0.5)
    times = np.arange(0, total - plan.size + 1, step)
    times = times + (0 if boundary is not None else plan.size / 2)
    return (
        _frequencies(plan.length, fs, one_sided, dtype),
        creation.asarray(times.astype(dtype)) / promotion.cast(fs, dtype, False),
        manipulation.moveaxis(spectra, -1, place),
    )


def istft(
    Zxx: ArrayLike,
    fs: ArrayLike = 1.0,
    window: str | float | tuple[Any, ...] | ArrayLike = "hann",
    nperseg: int | None = None,
    noverlap: int | None = None,
    nfft: int | None = None,
    input_onesided: bool = True,
    boundary: bool = True,
    time_axis: int = -1,
    freq_axis: int = -2,
) -> tuple[Array, Array]:
    """The inverse of `stft`: overlapping segments added up, divided by their windows.

    Differs from SciPy: there is no `scaling`: it is "spectrum"; the windows "taylor",
    "chebwin" and "dpss" are not known.

    Args:
      Zxx: spectra, with axes of frequency and time.
      fs, window, nperseg, noverlap, nfft: as in `stft`; default sizes are those of the
        spectra.
      input_onesided: negative frequencies are left out.
      boundary: the signal was extended at both ends; the extension is cut off.
      time_axis, freq_axis: which axes they are.

    Returns:
      Times [n], and the signal, along the axis of time.

    Raises:
      ValueError: sizes do not fit.

    Source: SciPy, `scipy.signal.istft`.

    Example:
      >>> import numpy as np
      >>> from olympus.scipy import signal
      >>> x = np.sin(np.arange(40, dtype="float32"))
      >>> back = signal.istft(signal.stft(x, nperseg=8)[2])[1]
      >>> bool(abs(back - x).max() < 1e-5)
      True
    """
    checks.check_arrays("signal.istft", Zxx)
    aval = aval_of(Zxx)
    if aval.ndim < 2:
        raise ValueError(
            f"scipy.signal.istft: Input stft must be at least 2d! got {aval.short()}"
        )
    time, freq = (
        sizes.canonicalize_axis(operator.index(a), aval.ndim, "signal.istft")
        for a in (time_axis, freq_axis)
    )
    if time == freq:
        raise ValueError(
            "scipy.signal.istft: Must specify differing time and frequency axes! got "
            f"{time_axis} and {freq_axis}"
        )
    rows = aval.shape[freq]
    usual = 2 * (rows - 1) if input_onesided else rows
    size = usual if nperseg is None else _count("istft", "nperseg", nperseg, 1)
    plan = _inverse_plan(window, size, noverlap, nfft, usual, input_onesided)
    (z,) = promotion.promote_inexact(Zxx)
    z = manipulation.moveaxis(z, (freq, time), (-1, -2))
    x = _overlap_add(z, plan, input_onesided, boundary)
    dtype = _real(x)
    times = np.arange(aval_of(x).shape[-1]).astype(dtype)
    return (
        creation.asarray(times) / promotion.cast(fs, dtype, False),
        manipulation.moveaxis(x, -1, time - (freq < time)),
    )


def _inverse_plan(
    window: Any, size: int, noverlap: Any, nfft: Any, usual: int, one_sided: bool
) -> _Plan:
    if nfft is None:
        length = size if one_sided and size == usual + 1 else usual
    else:
        length = _count("istft", "nfft", nfft, 1)
    if length < size:
        raise ValueError(
            f"scipy.signal.istft: FFT length ({length}) must be longer than nperseg "
            f"({size})."
        )
    if isinstance(window, (str, tuple, int, float)):
        window = windows.periodic(window, size)
    elif not avals.is_array_like(window) or aval_of(window).shape != (size,):
        raise ValueError(f"scipy.signal.istft: window must have length of {size}")
    return _Plan(size, _overlap("istft", noverlap, size), length, window)


def _overlap_add(z: Any, plan: _Plan, one_sided: bool, boundary: bool) -> Any:
    """Signals [..., n] of spectra [..., segments, frequencies]."""
    back = fourier.irfft if one_sided else fourier.ifft
    parts = back(z, plan.length)[..., : plan.size]
    window = promotion.cast(plan.window, _real(parts), False)
    count, step = aval_of(parts).shape[-2], plan.size - plan.overlap
    total = plan.size + (count - 1) * step
    places = (np.arange(count)[:, None] * step + np.arange(plan.size)).astype(np.int32)
    blank = creation.zeros((*aval_of(parts).shape[:-2], total), aval_of(parts).dtype)
    x = blank.at[..., places].add(_multiply(parts, window * window.sum()))
    weight = creation.zeros(total, _real(parts))
    weight = weight.at[places].add(window * window)
    if boundary:
        half = plan.size // 2
        x, weight = x[..., half : total - half], weight[half : total - half]
    # Samples that no window covers stay as they are.
    return _multiply(x, 1 / selection.where(abs(weight) > 1e-10, weight, 1))


# -- power spectra ---------------------------------------------------------------------


def csd(
    x: ArrayLike,
    y: OptionalArray,
    fs: ArrayLike = 1.0,
    window: str | float | tuple[Any, ...] | ArrayLike = "hann",
    nperseg: int | None = None,
    noverlap: int | None = None,
    nfft: int | None = None,
    detrend: str | bool | Callable[[Array], ArrayLike] = "constant",
    return_onesided: bool = True,
    scaling: str = "density",
    axis: int = -1,
    average: str = "mean",
) -> tuple[Array, Array]:
    """The cross power spectral density of two signals, by Welch's method.

    Differs from SciPy: only None for `y` gives a real result, not `x` passed twice; the
    windows "taylor", "chebwin" and "dpss" are not known.

    Args:
      x: array.
      y: array; None for `x`, which gives a real result.
      fs, window, nperseg, noverlap, nfft, return_onesided: as in `stft`; `nperseg` is
        256 by default.
      detrend: "linear", "constant", a function of segments, or False.
      scaling: "density", power per frequency; or "spectrum", power.
      axis: the axis of time; along it the shorter signal is filled up with zeros.
      average: "mean" or "median" of the segments.

    Returns:
      Frequencies [f], and the spectrum, along the axis of time.

    Raises:
      ValueError: sizes do not fit, or an option has another value.

    Source: Welch, The use of fast Fourier transform for the estimation of power
    spectra, 1967; SciPy, `scipy.signal.csd`.

    Example:
      >>> import numpy as np
      >>> from olympus.scipy import signal
      >>> x = np.sin(np.arange(64, dtype="float32"))
      >>> f, p = signal.csd(x, 2 * x, nperseg=16)
      >>> f.shape, p.shape
      ((9,), (9,))
    """
    return _power(
        "csd",
        x,
        y,
        fs,
        window,
        nperseg,
        noverlap,
        nfft,
        detrend,
        return_onesided,
        scaling,
        axis,
        average,
    )


def welch(
    x: ArrayLike,
    fs: ArrayLike = 1.0,
    window: str | float | tuple[Any, ...] | ArrayLike = "hann",
    nperseg: int | None = None,
    noverlap: int | None = None,
    nfft: int | None = None,
    detrend: str | bool | Callable[[Array], ArrayLike] = "constant",
    return_onesided: bool = True,
    scaling: str = "density",
    axis: int = -1,
    average: str = "mean",
) -> tuple[Array, Array]:
    """The power spectral density of a signal, by Welch's method.

    Differs from SciPy: the windows "taylor", "chebwin" and "dpss" are not known.

    Args:
      x: array.
      fs, window, nperseg, noverlap, nfft, return_onesided: as in `stft`; `nperseg` is
        256 by default.
      detrend, scaling, axis, average: as in `csd`.

    Returns:
      Frequencies [f], and the spectrum, real, along the axis of time.

    Raises:
      ValueError: sizes do not fit, or an option has another value.

    Source: Welch, The use of fast Fourier transform for the estimation of power
    spectra, 1967; SciPy, `scipy.signal.welch`.

    Example:
      >>> import numpy as np
      >>> from olympus.scipy import signal
      >>> f, p = signal.welch(np.sin(np.arange(64, dtype="float32")), nperseg=16)
      >>> float(f[p.argmax()])
      0.1875
    """
    return _power(
        "welch",
        x,
        None,
        fs,
        window,
        nperseg,
        noverlap,
        nfft,
        detrend,
        return_onesided,
        scaling,
        axis,
        average,
    )


def _power(
    name: str,
    x: Any,
    y: Any,
    fs: Any,
    window: Any,
    nperseg: Any,
    noverlap: Any,
    nfft: Any,
    detrend: Any,
    return_onesided: bool,
    scaling: str,
    axis: int,
    average: str,
) -> tuple[Any, Any]:
    signals = (x,) if y is None else (x, y)
    checks.check_arrays(f"signal.{name}", *signals)
    if scaling not in ("density", "spectrum"):
        raise ValueError(
            f"scipy.signal.{name}: Unknown scaling: {scaling}; take 'density' or "
            "'spectrum'"
        )
    if average not in ("mean", "median"):
        raise ValueError(
            f'scipy.signal.{name}: average must be "median" or "mean", got {average}'
        )
    aval = aval_of(x)
    if y is not None and aval_of(y).ndim != aval.ndim:
        raise ValueError(
            f"scipy.signal.{name}: arguments must have the same rank, got "
            f"{aval.short()} and {aval_of(y).short()}"
        )
    place = sizes.canonicalize_axis(operator.index(axis), aval.ndim, f"signal.{name}")
    if not all(aval_of(s).size for s in signals):
        empty = creation.zeros(aval.shape, _real(x))
        return empty, empty
    moved = [
        manipulation.moveaxis(s, place, -1) for s in promotion.promote_inexact(*signals)
    ]
    longest = max(aval_of(s).shape[-1] for s in moved)
    moved = [_pad_zeros(s, longest) for s in moved]
    plan = _plan(name, window, nperseg, noverlap, nfft, longest)
    one_sided, dtype = _one_sided(return_onesided, *signals), _real(x)
    trend = _detrender(name, detrend)
    spectra = [_transform(s, plan, one_sided, trend) for s in moved]
    power = spectra[0].conj() * spectra[-1]
    power = power.real if y is None else power
    power = _multiply(power, _scale(plan, scaling, fs, dtype))
    power = _multiply(power, _sides(plan.length, one_sided))
    out = manipulation.moveaxis(_average_segments(power, average), -1, place)
    return _frequencies(plan.length, fs, one_sided, dtype), out


def _pad_zeros(x: Any, n: int) -> Any:
    width = [(0, 0)] * (aval_of(x).ndim - 1) + [(0, n - aval_of(x).shape[-1])]
    return padding.pad(x, width)


def _sides(length: int, one_sided: bool) -> np.ndarray | float:
    """2 where a frequency stands for its negative too."""
    if not one_sided:
        return 1.0
    factors = np.full(length // 2 + 1, 2.0, np.float32)
    factors[0] = 1
    if length % 2 == 0:
        factors[-1] = 1
    return factors


def _average_segments(power: Any, average: str) -> Any:
    """The mean of [..., segments, f], or the median less its bias."""
    count = aval_of(power).shape[-2]
    if average == "mean" or count == 1:
        return reductions.mean(power, axis=-2)
    # The median of exponentially distributed numbers, over their mean.
    even = 2.0 * np.arange(1, (count - 1) // 2 + 1)
    bias = 1 + float((1 / (even + 1) - 1 / even).sum())
    if dtypes.kind(aval_of(power).dtype) != "c":
        return quantiles.median(power, axis=-2) / bias
    parts = [quantiles.median(p, axis=-2) / bias for p in (power.real, power.imag)]
    return lax.complex_(*parts)
