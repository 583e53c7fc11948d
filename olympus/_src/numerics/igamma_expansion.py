"""The regularized gamma functions of large a, for x near a, without loops.

There series and fractions need as many steps as the root of a. The expansion is a
complementary error function of the distance of x from a, and a correction in powers of
1/a, whose coefficients are power series (Temme 1979; NIST's DLMF, 8.12).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from olympus._src.core import avals, dtypes
from olympus._src.interpreters import ad
from olympus._src.lax import elementwise as e
from olympus._src.lax import families, special

# From here on three powers of 1/a suffice, and elsewhere some hundred steps do.
_LEAST_SINGLE, _LEAST_DOUBLE, _WIDTH = 1e3, 5e4, 0.1

# With mu = x/a - 1, and eta of mu's sign so that eta^2 / 2 = mu - log(1 + mu): the
# series in eta of C_0 = 1/mu - 1/eta, and of C_k = (C_(k-1)' + g_k eta/mu) / eta, where
# g_k are Stirling's coefficients -1/12, 1/288.
_CORRECTIONS = (
    (
        -1 / 3,
        1 / 12,
        -2 / 135,
        1 / 864,
        3.527336860670194e-4,
        -1.787551440329218e-4,
        3.919263178522438e-5,
        -2.185448510679992e-6,
        -1.85406221071516e-6,
    ),
    (
        -1 / 540,
        -1 / 288,
        1 / 378,
        -77 / 77760,
        2.0576131687242798e-4,
    ),
    (25 / 6048, -139 / 51840),
)
_STIRLING = (1.0, 1 / 12, 1 / 288, -139 / 51840)


def is_central(a: Any, x: Any) -> Any:
    """Where the expansion is used."""
    is_double = dtypes.itemsize_bits(avals.aval_of(a).dtype) == 64
    is_large = e.ge(a, _number(a, _LEAST_DOUBLE if is_double else _LEAST_SINGLE))
    is_near = e.lt(e.abs_(e.sub(x, a)), e.mul(a, _number(a, _WIDTH)))
    return e.bitwise_and(is_large, is_near)


def lower_and_upper(a: Any, x: Any) -> tuple[Any, Any]:
    """Both functions; a and x as `is_central` says."""
    eta = _distance(a, x)[1]
    y = e.mul(eta, e.sqrt(e.mul(a, _number(a, 0.5))))
    correction = e.mul(_peak(a, eta), _correction(a, eta))
    half = _number(a, 0.5)
    lower = e.sub(e.mul(half, special.erfc(e.neg(y))), correction)
    return lower, e.add(e.mul(half, special.erfc(y)), correction)


def density(a: Any, x: Any) -> Any:
    """The derivative of the lower function in x."""
    mu, eta = _distance(a, x)
    scale = e.mul(e.add(mu, _number(a, 1)), _series(_STIRLING, _inverse(a)))
    return e.div(_peak(a, eta), scale)


def variate_slope(a: Any, x: Any) -> Any:
    """The derivative of a gamma variate x in a, of which the density has gone."""
    mu, eta = _distance(a, x)
    one, half = _number(a, 1), _number(a, 0.5)
    quotient = e.rsqrt(_ratio(mu))  # mu / eta
    tangents = [families.full_like(a, 1), e.neg(e.div(quotient, a))]
    (total,), (change,) = ad.jvp(lambda *xs: [_correction(*xs)], [a, eta], tangents)
    tilt = e.sub(e.log1p(mu), e.mul(half, _inverse(a)))
    out = e.sub(quotient, e.mul(half, eta))
    out = e.add(out, e.add(e.mul(total, tilt), change))
    scale = e.mul(e.add(mu, one), _series(_STIRLING, _inverse(a)))
    return e.mul(out, scale)


def _distance(a: Any, x: Any) -> tuple[Any, Any]:
    """How far x is from a: mu, and eta."""
    mu = e.div(e.sub(x, a), a)
    return mu, e.mul(mu, e.sqrt(_ratio(mu)))


def _ratio(mu: Any) -> Any:
    """(eta / mu)^2: the series of mu - log(1 + mu), without 1/2 mu^2."""
    return _series([2 * (-1) ** k / (k + 2) for k in range(16)], mu)


def _peak(a: Any, eta: Any) -> Any:
    """exp(-a eta^2 / 2) / sqrt(2 pi a)."""
    power = e.mul(e.mul(a, _number(a, -0.5)), e.mul(eta, eta))
    return e.mul(e.exp(power), e.rsqrt(e.mul(a, _number(a, 2 * np.pi))))


def _correction(a: Any, eta: Any) -> Any:
    """The sum of C_k / a^k."""
    inverse = _inverse(a)
    total = _series(_CORRECTIONS[-1], eta)
    for coefficients in _CORRECTIONS[-2::-1]:
        total = e.add(e.mul(total, inverse), _series(coefficients, eta))
    return total


def _inverse(a: Any) -> Any:
    return e.div(_number(a, 1), a)


def _series(coefficients: Sequence[float], x: Any) -> Any:
    total = families.full_like(x, coefficients[-1])
    for c in coefficients[-2::-1]:
        total = e.add(e.mul(total, x), _number(x, c))
    return total


def _number(x: Any, value: float) -> Any:
    return families.number_of(value, avals.aval_of(x).dtype)
