"""Values of functions by mpmath, to 60 digits, rounded to float64.

python -m bench.exact            writes bench/exact.npz, for `bench.accuracy`
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import mpmath as mp
import numpy as np

from bench import accuracy

mp.mp.dps = 60
_QUADRATURE_DIGITS = 25
_PI, _ROOT_TWO = mp.pi, mp.sqrt(2)


def _dawsn(x: Any) -> Any:
    return x * mp.hyp1f1(1, mp.mpf(3) / 2, -x * x)


def _real_dilogarithm(x: Any) -> Any:
    return mp.re(mp.polylog(2, 1 - x))


def _owens_t(h: Any, a: Any) -> Any:
    with mp.workdps(_QUADRATURE_DIGITS):
        end = min(abs(a), 14 / max(abs(h), mp.mpf("0.1")))
        parts = [end * k / 4 for k in range(5)]
        value = mp.quad(lambda t: mp.exp(-h * h * t * t / 2) / (1 + t * t), parts)
        return mp.sign(a) * value * mp.exp(-h * h / 2) / (2 * _PI)


def _log_ndtr(x: Any) -> Any:
    # Above 0 the logarithm of what is missing from one, which may be all of the digits.
    return mp.log1p(-_ndtr(-x)) if x > 0 else mp.log(_ndtr(x))


def _ndtr(x: Any) -> Any:
    return mp.erfc(-x / _ROOT_TWO) / 2


def _times(x: Any, factor: Any) -> Any:
    return mp.mpf(0) if x == 0 else x * factor()


def _fresnel(x: Any) -> tuple[Any, ...]:
    return mp.fresnels(x), mp.fresnelc(x)


def _multigammaln(a: Any) -> Any:
    parts = sum(mp.re(mp.loggamma(a - mp.mpf(j) / 2)) for j in range(3))
    return parts + mp.mpf(3) / 2 * mp.log(_PI)


def _softmax(*xs: Any) -> tuple[Any, ...]:
    total = sum(mp.exp(x) for x in xs)
    return tuple(mp.exp(x) / total for x in xs)


def _boxcox(x: Any, power: Any) -> Any:
    return mp.log(x) if power == 0 else mp.expm1(power * mp.log(x)) / power


def _kl_div(x: Any, y: Any) -> Any:
    return _times(x, lambda: mp.log(x / y)) - x + y


def _beta_pdf(x: Any, a: Any, b: Any) -> Any:
    return x ** (a - 1) * (1 - x) ** (b - 1) / mp.beta(a, b)


def _t_pdf(x: Any, df: Any) -> Any:
    scale = mp.gamma((df + 1) / 2) / mp.gamma(df / 2) / mp.sqrt(df * _PI)
    return scale * (1 + x * x / df) ** (-(df + 1) / 2)


NUMPY: dict[str, Callable[..., Any]] = {
    "arccos": mp.acos,
    "arccosh": mp.acosh,
    "arcsin": mp.asin,
    "arcsinh": mp.asinh,
    "arctan": mp.atan,
    "arctanh": mp.atanh,
    "cbrt": lambda x: mp.sign(x) * mp.cbrt(abs(x)),
    "cos": mp.cos,
    "cosh": mp.cosh,
    "exp": mp.exp,
    "exp2": lambda x: mp.mpf(2) ** x,
    "expm1": mp.expm1,
    "log": mp.log,
    "log10": mp.log10,
    "log1p": mp.log1p,
    "log2": lambda x: mp.log(x, 2),
    "sin": mp.sin,
    "sinh": mp.sinh,
    "sqrt": mp.sqrt,
    "tan": mp.tan,
    "tanh": mp.tanh,
}
SPECIAL: dict[str, Callable[..., Any]] = {
    "bessel_jn": lambda z: tuple(mp.besselj(v, z) for v in range(4)),
    "beta": mp.beta,
    "betainc": lambda a, b, x: mp.betainc(a, b, 0, x, regularized=True),
    "betaln": lambda a, b: mp.loggamma(a) + mp.loggamma(b) - mp.loggamma(a + b),
    "boxcox": _boxcox,
    "boxcox1p": lambda x, power: _boxcox(1 + x, power),
    "comb": mp.binomial,
    "dawsn": _dawsn,
    "digamma": mp.digamma,
    "entr": lambda x: -_times(x, lambda: mp.log(x)),
    "erf": mp.erf,
    "erfc": mp.erfc,
    "erfcinv": lambda p: mp.erfinv(1 - p),
    "erfcx": lambda x: mp.exp(x * x) * mp.erfc(x),
    "erfinv": mp.erfinv,
    "exp1": mp.e1,
    "expi": mp.ei,
    "expit": lambda x: 1 / (1 + mp.exp(-x)),
    "expn": mp.expint,
    "factorial": mp.factorial,
    "fresnel": _fresnel,
    "gamma": mp.gamma,
    "gammainc": lambda a, x: mp.gammainc(a, 0, x, regularized=True),
    "gammaincc": lambda a, x: mp.gammainc(a, x, regularized=True),
    "gammaln": lambda x: mp.re(mp.loggamma(x)),
    "gammasgn": lambda x: mp.sign(mp.gamma(x)),
    "hyp1f1": mp.hyp1f1,
    "hyp2f1": mp.hyp2f1,
    "i0": lambda x: mp.besseli(0, x),
    "i0e": lambda x: mp.besseli(0, x) * mp.exp(-abs(x)),
    "i1": lambda x: mp.besseli(1, x),
    "i1e": lambda x: mp.besseli(1, x) * mp.exp(-abs(x)),
    "kl_div": _kl_div,
    "log_ndtr": _log_ndtr,
    "log_softmax": lambda *xs: tuple(mp.log(v) for v in _softmax(*xs)),
    "loggamma": lambda x, y: mp.loggamma(mp.mpc(x, y)),
    "logit": lambda p: mp.log(p) - mp.log1p(-p),
    "logsumexp": lambda *xs: mp.log(sum(mp.exp(x) for x in xs)),
    "multigammaln": _multigammaln,
    "ndtr": _ndtr,
    "ndtri": lambda p: _ROOT_TWO * mp.erfinv(2 * p - 1),
    "owens_t": _owens_t,
    "poch": mp.rf,
    "polygamma": mp.polygamma,
    "rel_entr": lambda x, y: _times(x, lambda: mp.log(x / y)),
    "sici": lambda x: (mp.si(x), mp.re(mp.ci(abs(x)))),
    "softmax": _softmax,
    "spence": _real_dilogarithm,
    "sph_harm_y": lambda n, m, t, p: mp.spherharm(int(n), int(m), t, p),
    "wofz": lambda x, y: mp.exp(-(mp.mpc(x, y) ** 2)) * mp.erfc(mp.mpc(y, -x)),
    "xlog1py": lambda x, y: _times(x, lambda: mp.log1p(y)),
    "xlogy": lambda x, y: _times(x, lambda: mp.log(y)),
    "zeta": lambda x, q: mp.zeta(x, q),
}
STATS: dict[str, Callable[..., Any]] = {
    "norm.pdf": lambda x: mp.exp(-x * x / 2) / mp.sqrt(2 * _PI),
    "norm.cdf": _ndtr,
    "norm.ppf": SPECIAL["ndtri"],
    "expon.pdf": lambda x: mp.exp(-x),
    "logistic.cdf": SPECIAL["expit"],
    "cauchy.cdf": lambda x: mp.atan(1 / -x) / _PI if x < 0 else _above_cauchy(x),
    "gamma.pdf": lambda x, a: x ** (a - 1) * mp.exp(-x) / mp.gamma(a),
    "beta.pdf": _beta_pdf,
    "t.pdf": _t_pdf,
}


def _above_cauchy(x: Any) -> Any:
    return mp.mpf(1) / 2 + mp.atan(x) / _PI


def evaluate(case: accuracy.Case) -> np.ndarray:
    """The function's results at the arguments that are drawn in float64."""
    tables = {"numpy": NUMPY, "scipy.special": SPECIAL, "scipy.stats": STATS}
    fun = tables[case.page][case.name]
    columns = []
    for point in zip(*accuracy.draw(case, "float64"), strict=True):
        out = fun(*[mp.mpf(float(x)) for x in point])
        outs = out if isinstance(out, tuple) else (out,)
        columns.append([complex(y) for y in outs])
    values = np.array(columns).T
    return values if np.any(values.imag) else values.real


def main() -> None:
    values = {f"{c.page}.{c.name}": evaluate(c) for c in accuracy.cases()}
    np.savez_compressed(accuracy.EXACT_FILE, **values)


if __name__ == "__main__":
    main()
