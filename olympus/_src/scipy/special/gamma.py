"""The gamma function, its logarithm and derivatives; the zeta function."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from olympus._src.api.forward_mode import jvp
from olympus._src.core import avals, dtypes
from olympus._src.core.array_type import Array, ArrayLike, OptionalArray
from olympus._src.lax import elementwise as lax
from olympus._src.lax import half_turns, special
from olympus._src.numerics import gamma_terms
from olympus._src.numpy import arithmetic, elementary, logic, promotion
from olympus._src.numpy.promotion import program
from olympus._src.numpy.selection import where
from olympus._src.scipy.special.arguments import (
    check,
    custom_jvp_of_arrays,
    floats,
    inexact,
    is_complex,
    is_double,
    reals,
    wide,
)

exp, log, floor = elementary.exp, elementary.log, arithmetic.floor
minimum, maximum = arithmetic.minimum, arithmetic.maximum

# C. Lanczos, SIAM J. Numer. Anal. B 1 (1964), 86-96; these coefficients, for the shift
# 607/128, are P. Godfrey's (2001).
_SHIFT = 5.2421875
_LANCZOS = (
    57.156235665862923517, -59.597960355475491248, 14.136097974741747174,
    -0.49191381609762019978, 0.33994649984811888699e-4, 0.46523628927048575665e-4,
    -0.98374475304879564677e-4, 0.15808870322491248884e-3, -0.21026444172410488319e-3,
    0.21743961811521264320e-3, -0.16431810653676389022e-3, 0.84418223983852743293e-4,
    -0.26190838401581408670e-4, 0.36899182659531622704e-5,
)  # fmt: skip


@program(1)
def gammaln(x: ArrayLike) -> Array:
    """Logarithm of the magnitude of the gamma function.

    Args:
      x: real array or number.

    Returns:
      A floating array of x's shape.

    Example:
      >>> from olympus.scipy import special
      >>> print(f"{special.gammaln(100.0):.2f}")
      359.13
    """
    return special.lgamma(*reals("gammaln", x))


@program(1)
def gammasgn(x: ArrayLike) -> Array:
    """Sign of the gamma function: NaN at -1, -2, ..., that of x at 0.

    Args:
      x: real array or number.

    Returns:
      A floating array of x's shape.

    Raises:
      ValueError: x is complex.

    Example:
      >>> from olympus.scipy import special
      >>> special.gammasgn(jnp.array([-0.5, 2.0]))
      Array([-1.,  1.], dtype=float32)
    """
    return _sign(*floats("gammasgn", x, weak=False))


def _sign(x: Any) -> Any:
    below = floor(x)
    is_pole = (x < 0) & ((below == x) | logic.isinf(x))
    odd = arithmetic.remainder(where(logic.isfinite(below), below, 0), 2) == 1
    signs = where((x < 0) & odd, -1, arithmetic.copysign(1, where(x == 0, x, 1)))
    signs = where(logic.isnan(x) | is_pole, math.nan, signs)
    return signs.astype(avals.aval_of(x).dtype)


def positive_gamma(x: Any) -> Any:
    """The gamma function of an array of numbers of at least 1/2."""
    shifted = x + _SHIFT
    total: Any = 0.99999999999999709182
    for i, c in enumerate(_LANCZOS):
        total = total + c / (x + (i + 1))
    lack = gamma_terms.subtract_exactly(x, gamma_terms.like(x, -_SHIFT))[1]
    total = total * (1 - (_SHIFT - 0.5) * lack / shifted)
    # The power is taken in two halves: it overflows where the function does not. Its
    # half is not rounded as that of x + 1/2 would be.
    half = elementary.exp(-shifted / 2) * arithmetic.power(shifted, x / 2)
    root = elementary.sqrt(shifted)
    return half * (math.sqrt(2 * math.pi) * total / x * root) * half


@custom_jvp_of_arrays
def real_gamma(x: Any) -> Any:
    """The gamma function of a real array."""
    is_low = x < 0.5
    size = where(is_low, 1 - x, x)
    bound = 200 if is_double(x) else 40
    value = positive_gamma(minimum(size, bound))
    # Small factorials are exact.
    value = where((floor(size) == size) & (size < 11), arithmetic.rint(value), value)
    value = where(size >= bound, math.inf, value)
    sine = half_turns.sine_of_pi(x)
    reflected = math.pi / (sine * value)
    tiny = abs(x) < 1e-20  # 1/x: the product above is not exact for such
    reflected = where(tiny, 1 / x, reflected)
    is_pole = ((floor(x) == x) & (x < 0)) | (x == -math.inf)
    return where(is_pole, math.nan, where(is_low, reflected, value))


real_gamma.defjvps(lambda t, out, x: t * (out * special.digamma(x)))


@program(1)
def gamma(x: ArrayLike) -> Array:
    """Gamma function, `(x - 1)!` at integer x; NaN at -1, -2, ...

    Args:
      x: array or number.

    Returns:
      A floating or complex array of x's shape.

    Example:
      >>> from olympus.scipy import special
      >>> print(special.gamma(5.0))
      24.0
    """
    (x,) = inexact("gamma", x, weak=False)
    return exp(complex_loggamma(x)) if is_complex(x) else wide(real_gamma)(x)


@program(1)
def loggamma(x: ArrayLike) -> Array:
    """Principal branch of the logarithm of the gamma function.

    Args:
      x: array or number.

    Returns:
      A floating or complex array of x's shape; NaN at real numbers below 0, where
      the logarithm is complex.

    Example:
      >>> from olympus.scipy import special
      >>> special.loggamma(jnp.array([1.0]))
      Array([0.], dtype=float32)
    """
    (x,) = inexact("loggamma", x)
    if is_complex(x):
        return complex_loggamma(promotion.strong(x))
    return where(x < 0, math.nan, special.lgamma(where(x < 0, 1, x)))


def complex_loggamma(z: Any) -> Any:
    """The principal branch: Stirling's series at z + 10, moved back; reflected."""
    is_left = lax.real(z) < 0
    w = where(is_left, 1 - z, z)
    moved: Any = 0
    for i in range(10):  # a sum of logarithms, not of a product: the branch is right
        moved = moved + log(w + i)
    far = w + 10
    inverse = 1 / far
    series = inverse * _horner(inverse * inverse, gamma_terms.STIRLING[7::-1])
    right = (far - 0.5) * log(far) - far + 0.5 * math.log(2 * math.pi) + series - moved
    return where(is_left, math.log(math.pi) - _log_sine(z) - right, right)


def _horner(x: Any, coefficients: Any) -> Any:
    out: Any = coefficients[0]
    for c in coefficients[1:]:
        out = out * x + c
    return out


def _log_sine(z: Any) -> Any:
    """`log(sin(pi z))` on the branch that is continuous off the real axis."""
    up = lax.imag(z) >= 0
    w = where(up, z, lax.conj(z))
    # sin(pi w) = exp(-i pi w) (1 - exp(2 i pi w)) i / 2, whose exponential is small.
    turn = 1j * math.pi * w
    # The same exponential, to all digits.
    period = lax.complex_(lax.real(w) - arithmetic.rint(lax.real(w)), lax.imag(w))
    difference = -elementary.expm1(2j * math.pi * period)
    out = log(difference) - turn + (0.5j * math.pi - math.log(2))
    return where(up, out, lax.conj(out))


@program(1)
def digamma(x: ArrayLike) -> Array:
    """Derivative of the logarithm of the gamma function.

    Differs from SciPy: complex numbers are refused; 0 gives NaN, where SciPy gives an
    infinity of the sign opposite to that of the zero.

    Args:
      x: real array or number.

    Returns:
      A floating array of x's shape; NaN at 0, -1, -2, ...

    Example:
      >>> from olympus.scipy import special
      >>> special.digamma(jnp.array([1.0])).round(4)
      Array([-0.5772], dtype=float32)
    """
    return special.digamma(*reals("digamma", x))


@program(2)
def polygamma(n: ArrayLike, x: ArrayLike) -> Array:
    """Derivatives of `digamma`, of order n.

    Differs from SciPy: n must be of an integer dtype.

    Args:
      n: array or number of an integer dtype, not negative.
      x: real array or number.

    Returns:
      A floating array of the common shape.

    Raises:
      ValueError: n is not of an integer dtype.

    Example:
      >>> from olympus.scipy import special
      >>> print(f"{special.polygamma(1, 1.0):.4f}")
      1.6449
    """
    check("polygamma", n, x)
    dtype = avals.aval_of(n).dtype
    if dtypes.kind(dtype) not in "iu":
        raise ValueError(
            "scipy.special.polygamma: Argument `n` to polygamma must be of integer "
            f"type, got dtype {dtype}; pass an int or an array of integers"
        )
    order, x = floats("polygamma", n, x)
    return _reflect(special.polygamma, order, x, 0)


def _reflect(fun: Callable[[Any, Any], Any], order: Any, x: Any, first: int) -> Any:
    """A polygamma or zeta function, whose `first` order is that of `digamma`.

    Below 0, where a sum from there on has no digits: the function less its mirror
    image, or their sum for orders of the other parity, has period 1.
    """
    is_low = x < 0
    low = where(is_low, where(logic.isinf(x), -1, x), -0.5)
    # With all digits of x, close to an integer too.
    turn = low - arithmetic.rint(low)
    above = where(turn < 0, 1 + turn, turn)
    mirrored = where(turn < 0, -turn, 1 - turn)
    right = fun(order, where(is_low, 1 - low, x))
    sign = where(arithmetic.remainder(order, 2) == first, 1, -1)
    left = sign * right + (fun(order, above) - sign * fun(order, mirrored))
    # At poles the two sides have the same sign or not; releases of XLA differ there.
    left = where(turn == 0, where(sign > 0, math.nan, math.inf), left)
    right = where((x == math.inf) & (order > first), 0, right)
    return where(is_low, left, right)


# Bernoulli numbers B_2k over (2k)!: Abramowitz, Stegun 23.2 and 23.1.30.
_MACLAURIN = (
    1 / 12, -1 / 720, 1 / 30240, -1 / 1209600, 1 / 47900160, -691 / 1307674368000,
    1 / 74724249600, -3617 / 10670622842880000,
)  # fmt: skip


def _euler_maclaurin(x: Any, q: Any) -> Any:
    """The zeta function by a sum that can be differentiated in x."""
    total: Any = 0
    for k in range(12):
        total = total + arithmetic.power(q + k, -x)
    end = q + 12
    power = arithmetic.power(end, -x)
    total = total + power * (end / (x - 1) + 0.5)
    term = x * power / end
    for k, factor in enumerate(_MACLAURIN):
        total = total + factor * term
        term = term * ((x + (2 * k + 1)) * (x + (2 * k + 2)) / (end * end))
    return total


@custom_jvp_of_arrays
def _zeta(x: Any, q: Any) -> Any:
    out = _reflect(special.zeta, x, q, 1)
    out = where((q < 0) & (floor(x) != x), math.nan, out)
    return where(x == 1, math.inf, out)


_zeta.defjvps(
    lambda t, out, x, q: (
        t * jvp(lambda s: _euler_maclaurin(s, q), (x,), (x * 0 + 1,))[1]
    ),
    lambda t, out, x, q: t * (-x * _zeta(x + 1, q)),
)


@program(2)
def _hurwitz(x: Any, q: Any) -> Any:
    return wide(_zeta)(*reals("zeta", x, q))


def zeta(x: ArrayLike, q: OptionalArray = None) -> Array:
    """Hurwitz zeta function, the sum over n from 0 of `(n + q)^-x`.

    Differs from SciPy: q has to be given: 1 is for Riemann's function.

    Args:
      x: real array or number, above 1.
      q: real array or number; must be given.

    Returns:
      A floating array of the common shape.

    Raises:
      NotImplementedError: q is None.

    Example:
      >>> from olympus.scipy import special
      >>> print(f"{special.zeta(2.0, 1.0):.4f}")
      1.6449
    """
    if q is None:
        raise NotImplementedError(
            "scipy.special.zeta: q must be given, got None; pass q=1 for Riemann's "
            "zeta function of numbers above 1"
        )
    return _hurwitz(x, q)
