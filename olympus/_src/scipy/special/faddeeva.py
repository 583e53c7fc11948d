"""The Faddeeva function and what it gives: scaled erfc, Dawson's and Fresnel's."""

from __future__ import annotations

import functools
import math
from typing import Any

import numpy as np

from olympus._src.core import avals, dtypes
from olympus._src.core.array_type import Array, ArrayLike
from olympus._src.lax import bessel
from olympus._src.lax import elementwise as lax
from olympus._src.numpy import arithmetic, elementary, logic
from olympus._src.numpy.promotion import program
from olympus._src.numpy.selection import where
from olympus._src.scipy.special.arguments import (
    custom_jvp_of_arrays,
    floats,
    inexact,
    is_complex,
    polynomial,
    wide,
)
from olympus._src.scipy.special.erf_ndtr import scaled_erfc

minimum, maximum = arithmetic.minimum, arithmetic.maximum
exp = elementary.exp

_ROOT_PI = math.sqrt(math.pi)
_TERMS = 44
_WIDTH = math.sqrt(_TERMS / math.sqrt(2))


@functools.cache
def _weideman() -> tuple[float, ...]:
    """Coefficients of the rational series, highest power first.

    J. A. C. Weideman, "Computation of the complex error function", SIAM J. Numer. Anal.
    31 (1994), 1497-1518: Fourier coefficients of a function of the half angle.
    """
    count = 4 * _TERMS
    angle = np.arange(-count + 1, count) * (math.pi / count)
    t = _WIDTH * np.tan(angle / 2)
    samples = np.exp(-t * t) * (_WIDTH * _WIDTH + t * t)
    phases = np.exp(-1j * np.outer(np.arange(1, _TERMS + 1), angle))
    coefficients = (phases @ samples).real / (2 * count)
    # The sum ranges over exp(i n angle) with the sign of n: fold both.
    return tuple(float(c) for c in coefficients[::-1])


def _upper(z: Any) -> Any:
    """The function where the imaginary part is not negative."""
    iz = 1j * z
    below = _WIDTH - iz
    powers = polynomial((_WIDTH + iz) / below, _weideman())
    return 2 * powers / (below * below) + (1 / _ROOT_PI) / below


def _fraction(z: Any) -> Any:
    """The continued fraction r with `w(z) = i / (sqrt(pi) (z - r))` for large z."""
    r: Any = 0
    for k in range(24, 0, -1):
        r = (k / 2) / (z - r)
    return r


@custom_jvp_of_arrays
def _wofz(z: Any) -> Any:
    is_lower = lax.imag(z) < 0
    size = abs(z)
    up = where(is_lower, -z, z)
    huge = size > 1e8
    out = _upper(where(huge, 1, up))
    out = where(huge, (1j / _ROOT_PI) / where(huge, up, 1), out)
    below = where(is_lower, z, 0)
    return where(is_lower, 2 * exp(-below * below) - out, out)


def _wofz_slope(out: Any, z: Any) -> Any:
    """`2i / sqrt(pi) - 2 z out`, whose terms cancel for large z."""
    far = (abs(z) > 8) & (lax.imag(z) >= 0)
    safe = where(far, z, 10)
    r = _fraction(safe)
    near = 2j / _ROOT_PI - 2 * where(far, 1, z) * out
    return where(far, (-2j / _ROOT_PI) * (r / (safe - r)), near)


_wofz.defjvps(lambda t, out, z: t * _wofz_slope(out, z))


@program(1)
def wofz(z: ArrayLike) -> Array:
    """Faddeeva function, `exp(-z^2) erfc(-i z)`.

    Args:
      z: array or number.

    Returns:
      A complex array of z's shape.

    Example:
      >>> from olympus.scipy import special
      >>> print(f"{special.wofz(1j).real:.4f}")
      0.4276
    """
    (z,) = inexact("wofz", z, weak=False)
    return _wofz(_as_complex(z))


def _as_complex(x: Any) -> Any:
    dtype = avals.aval_of(x).dtype
    wide_ = dtypes.kind(dtype) != "c" and dtypes.itemsize_bits(dtype) == 64
    if dtypes.kind(dtype) == "c":
        return x
    return lax.convert(x, np.dtype(np.complex128 if wide_ else np.complex64))


@program(1)
def erfcx(x: ArrayLike) -> Array:
    """Scaled complementary error function, `exp(x^2) erfc(x)`.

    Args:
      x: array or number.

    Returns:
      A floating or complex array of x's shape.

    Example:
      >>> from olympus.scipy import special
      >>> print(special.erfcx(0.0))
      1.0
    """
    (x,) = inexact("erfcx", x, weak=False)
    return _wofz(1j * x) if is_complex(x) else wide(scaled_erfc)(x)


# -- Dawson's integral -----------------------------------------------------------------

_DAWSON = [(-2.0) ** k / math.prod(range(1, 2 * k + 2, 2)) for k in range(26)][::-1]

# Chebyshev series of 2x times the function: from 1 to 4 in x, beyond in 32/x^2 - 1.
# They interpolate values of 60 digits (mpmath).
_DAWSON_MIDDLE = (
    1.1237819417485548, -0.0921012819156928, -0.029548525356246004,
    0.060343536322961, -0.039231457606104296, 0.013043950104440455,
    -0.0003736617507461752, -0.0018701200988621126, 0.0008995795043973509,
    -0.00013376785199317623, -5.212985708117284e-05, 3.1593753105471025e-05,
    -4.969569873929336e-06, -1.332093368766861e-06, 7.682945252362632e-07,
    -9.322968364403697e-08, -3.290440103450305e-08, 1.3700119701219832e-08,
    -8.107315190207406e-10, -6.657686032025429e-10, 1.7416263076342487e-10,
    4.6742870548935445e-12, -9.918929069503674e-12, 1.4198826109694674e-12,
    2.4831997601054075e-13, -1.0337346777990834e-13, 4.267613734709492e-15,
    3.793106952471062e-15, -6.943256018320776e-16, -5.845007615697703e-17,
    3.403584987084532e-17,
)  # fmt: skip
_DAWSON_FAR = (
    1.016904856377657, 0.017366504556813916, 0.0004849728084835431,
    2.52236479914538e-05, 2.132906629272354e-06, 2.716319589581455e-07,
    4.342084713154597e-08, 5.734021003610591e-09, -3.80267278607164e-10,
    -6.195560968790402e-10, -2.0588297521150185e-10, -1.2520712918919153e-11,
    1.7126264994892902e-11, 6.066090296151318e-12, -5.047236613618582e-13,
    -8.421209590881329e-13, -8.862281653292477e-14, 9.82242054568241e-14,
    2.4717124845678067e-14, -1.157746639803314e-14, -4.565446589614717e-15,
    1.5274298822028253e-15, 7.703093767133623e-16, -2.3998641138565813e-16,
    -1.2626878300189145e-16, 4.4791199319459505e-17, 1.997585166015299e-17,
)  # fmt: skip


@custom_jvp_of_arrays
def _dawsn(x: Any) -> Any:
    size = abs(x)
    near = minimum(size, 1)
    series = near * polynomial(near * near, _DAWSON)
    above = maximum(size, 1)
    middle = bessel.chebyshev((minimum(above, 4) - 2.5) / 1.5, _DAWSON_MIDDLE)
    part = 4 / maximum(above, 4)
    far = bessel.chebyshev(2 * (part * part) - 1, _DAWSON_FAR)
    product = where(above < 4, middle, far)
    return arithmetic.copysign(where(size <= 1, series, 0.5 / above * product), x)


def _dawsn_slope(out: Any, x: Any) -> Any:
    far = abs(x) > 8
    safe = where(far, x, 10)
    r: Any = 0
    for k in range(12, 0, -1):
        r = (k / 2) / (safe - r)
    return where(far, -r / (safe - r), 1 - 2 * where(far, 1, x) * out)


_dawsn.defjvps(lambda t, out, x: t * _dawsn_slope(out, x))


@program(1)
def dawsn(x: ArrayLike) -> Array:
    """Dawson's integral, `exp(-x^2)` times the integral of `exp(t^2)` from 0 to x.

    Differs from SciPy: complex numbers are refused.

    Args:
      x: real array or number.

    Returns:
      A floating array of x's shape.

    Raises:
      ValueError: x is complex.

    Example:
      >>> from olympus.scipy import special
      >>> print(special.dawsn(0.0))
      0.0
    """
    return wide(_dawsn)(*floats("dawsn", x, weak=False))


# -- Fresnel's integrals ---------------------------------------------------------------


def _fresnel_series(odd: int) -> list[float]:
    """Coefficients in x^4 of the sine integral over x^3, or of the cosine's over x."""
    terms = []
    for k in range(14):
        power = 2 * k + odd
        size = (math.pi / 2) ** power / math.factorial(power) / (2 * power + 1)
        terms.append((-1) ** k * size)
    return terms[::-1]


_SINE, _COSINE = _fresnel_series(1), _fresnel_series(0)


def _quarter_turns(x: Any) -> tuple[Any, Any]:
    """Sine and cosine of `pi x^2 / 2`, exact for large x too."""
    even = 2 * arithmetic.rint(x / 2)
    offset = x - even
    # x^2 is 2 even offset + offset^2, up to a multiple of 4, which is a whole turn.
    turns = arithmetic.fmod(2 * even * offset, 4) + offset * offset
    return elementary.sin(math.pi / 2 * turns), elementary.cos(math.pi / 2 * turns)


def _sine_slope(x: Any) -> Any:
    return _quarter_turns(where(logic.isfinite(x), x, 0))[0]


def _cosine_slope(x: Any) -> Any:
    return _quarter_turns(where(logic.isfinite(x), x, 0))[1]


def _fresnel_value(x: Any) -> tuple[Any, Any]:
    size = abs(x)
    near = minimum(size, 1.5)
    fourth = (near * near) * (near * near)
    near_sine = near * near * near * polynomial(fourth, _SINE)
    near_cosine = near * polynomial(fourth, _COSINE)
    # C + iS = (1 + i)/2 (1 - exp(i pi x^2 / 2) w((1 + i) sqrt(pi) x / 2)).
    far = arithmetic.clip(size, 1.5, 1e7)
    w = _upper((0.5 + 0.5j) * _ROOT_PI * _as_complex(far))
    sine, cosine = _quarter_turns(far)
    real, imag = lax.real(w), lax.imag(w)
    p, q = cosine * real - sine * imag, sine * real + cosine * imag
    far_sine, far_cosine = 0.5 - (p + q) / 2, 0.5 - (p - q) / 2
    out_sine = where(size < 1.5, near_sine, where(size < 1e7, far_sine, 0.5))
    out_cosine = where(size < 1.5, near_cosine, where(size < 1e7, far_cosine, 0.5))
    keep = logic.isnan(x)
    return (
        where(keep, x, arithmetic.copysign(out_sine, x)),
        where(keep, x, arithmetic.copysign(out_cosine, x)),
    )


@custom_jvp_of_arrays
def _fresnel(x: Any) -> tuple[Any, Any]:
    return _fresnel_value(x)


@_fresnel.defjvp
def _fresnel_jvp(primals: Any, tangents: Any) -> Any:
    (x,), (t,) = primals, tangents
    return _fresnel(x), (t * _sine_slope(x), t * _cosine_slope(x))


@program(1)
def fresnel(x: ArrayLike) -> tuple[Array, Array]:
    """Fresnel's integrals of `sin(pi t^2 / 2)` and `cos(pi t^2 / 2)` from 0 to x.

    Differs from SciPy: complex numbers are refused.

    Args:
      x: real array or number.

    Returns:
      Two floating arrays of x's shape: the sine integral and the cosine integral.

    Raises:
      NotImplementedError: x is complex.

    Example:
      >>> from olympus.scipy import special
      >>> special.fresnel(jnp.array([0.0]))
      (Array([0.], dtype=float32), Array([0.], dtype=float32))
    """
    (x,) = inexact("fresnel", x, weak=False)
    if is_complex(x):
        raise NotImplementedError(
            "scipy.special.fresnel: complex-valued inputs are not supported, got "
            f"{avals.aval_of(x).dtype}; express them by wofz"
        )
    return wide(_fresnel)(x)
