"""Functions of olympus.scipy.special.

Where the oracle leaves floats (poles, branch cuts, orders that SciPy refuses), the
draws keep to points where both have a value.
"""

from __future__ import annotations

import fractions
import math
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import special

from tests.public_functions.drawing import Call, Draw
from tests.public_functions.entries import entries
from tests.public_functions.reasons import NOT_IN_JAX

entry = entries("scipy.special")


def between(
    d: Draw, low: float, high: float, shape: Any = "any", kinds: str = "single"
) -> np.ndarray[Any, Any]:
    """Numbers of an interval, its ends among them."""
    if isinstance(shape, str):
        shape = d.shape(shape)
    x = np.asarray(d.rng.uniform(low, high, shape))
    x = np.where(d.rng.uniform(size=shape) < 0.1, d.pick([low, high]), x)
    return x.astype(d.dtype(kinds))


def some(kinds: str, values: str) -> Callable[[Draw], Call]:
    """A call with one array of these kinds and values."""
    return lambda d: d.call(d.array(kinds, values=values))


def within(*bounds: tuple[float, float], kinds: str = "single") -> Any:
    """A call with an array for each interval; they broadcast together."""

    def draw(d: Draw) -> Call:
        shapes = d.shapes(len(bounds))
        dtype = d.dtype(kinds)
        args = [
            between(d, *b, shape=shape).astype(dtype)
            for b, shape in zip(bounds, shapes, strict=True)
        ]
        return d.call(*args)

    return draw


def whole_and(low: int, high: int, *bounds: tuple[float, float]) -> Any:
    """A call with whole numbers, and an array for each interval."""

    def draw(d: Draw) -> Call:
        shapes = d.shapes(1 + len(bounds))
        n = d.rng.integers(low, high + 1, shapes[0])
        dtype = d.dtype("single")
        args = [
            between(d, *b, shape=shape).astype(dtype)
            for b, shape in zip(bounds, shapes[1:], strict=True)
        ]
        return d.call(n.astype(np.int32), *args)

    return draw


def plane(low: float, high: float) -> Callable[[Draw], Call]:
    """A call with complex numbers of a square."""

    def draw(d: Draw) -> Call:
        shape = d.shape()
        z = d.rng.uniform(low, high, shape) + 1j * d.rng.uniform(low, high, shape)
        return d.call(z.astype(d.dtype("complex")))

    return draw


def along_axes(d: Draw) -> Call:
    x = d.array("single", "full", "plain ties")
    return d.call(x, **d.options(axis=[a for a in d.axes(x) if a != ()]))


def sums_of_exponentials(d: Draw) -> Call:
    x = d.array("int single single", "full", "plain ties infinite")
    options = d.options(
        axis=[a for a in d.axes(x) if a != ()],
        keepdims=[True, False],
        b=lambda: d.filled(d.dtype("single"), x.shape, d.pick(["positive", "zeros"])),
    )
    if d.chance(0.3):
        options["return_sign"] = True
    elif "b" in options:
        options["b"] = np.abs(options["b"])
    return d.call(x, **options)


def sum_of_exponentials(x: Any, b: Any = None, **options: Any) -> Any:
    """SciPy's, without the terms of weight zero: it lets some of them make NaN."""
    if b is not None:
        x = np.where(b == 0, -np.inf, x)
    return special.logsumexp(x, b=b, **options)


def entropies(d: Draw) -> Call:
    x, y = d.arrays(2, "int single", values="plain positive zeros special", mixed=False)
    return d.call(x, y)


def kl_div(x: Any, y: Any) -> Any:
    """SciPy's quotient may vanish, and then its logarithm is infinite."""
    x, y = np.asarray(x, np.float64), np.asarray(y, np.float64)
    inside = (x > 0) & (y > 0) & np.isfinite(x) & np.isfinite(y)
    by_logarithms = x * (np.log(x) - np.log(y)) - x + y
    return np.where(inside, by_logarithms, special.kl_div(x, y))


def two_counts(d: Draw) -> Call:
    shapes = d.shapes(2)
    n, k = (d.rng.integers(0, high, s) for high, s in zip((13, 9), shapes, strict=True))
    dtype = d.dtype("int single")
    repetition = d.options(repetition=[True, False])
    return d.call(n.astype(dtype), k.astype(dtype), **repetition)


def bernoulli_numbers(d: Draw) -> Call:
    return d.call(d.integer(0, 40))


def exact_bernoulli(n: int) -> Any:
    """By their recurrence in fractions; SciPy's lose four digits."""
    found = [fractions.Fraction(1)]
    for m in range(1, n + 1):
        sums = sum(math.comb(m + 1, k) * b for k, b in enumerate(found))
        found.append(-sums / (m + 1))
    return np.array([float(b) for b in found])


def first_kind(f: Any, z: Any, v: int) -> Any:
    """Orders 0 to v, of which SciPy's functions each take one."""
    if f is not special.jv:
        return f(z, v=v)
    return np.stack([f(k, z) for k in range(v + 1)])


def harmonics(d: Draw) -> Call:
    n = d.rng.integers(0, 7, 4)
    m = np.asarray([d.integer(-int(k), int(k)) for k in n])
    dtype = d.dtype("single")
    theta, phi = (
        d.rng.uniform(0, high, 4).astype(dtype) for high in (np.pi, 2 * np.pi)
    )
    return d.call(n.astype(np.int32), m.astype(np.int32), theta, phi)


POSITIVE, NOT_NEGATIVE = (0.05, 12.0), (0.0, 12.0)
UNIT = (0.0, 1.0)

ENTRIES = [
    *entry(
        "erf entr ndtr", some("int half single", "plain special"), ulps=32, types="v; a"
    ),
    *entry("erfc expit", some("int half single", "plain special"), ulps=32, types="v"),
    *entry("i0e i1e", some("int half single", "plain special"), ulps=64, types="v"),
    *entry("i0", some("int single", "plain"), ulps=64, types="v; a"),
    *entry("i1", some("int single", "plain"), ulps=64, types="v"),
    # exp(-x**2 / 2) is off by x**2 / 2 units of the last place.
    *entry("log_ndtr", within((-20.0, 12.0)), ulps=128, types="v"),
    *entry("erfcx dawsn", within((-6.0, 40.0)), ulps=32, types="v"),
    *entry("gammasgn", some("single", "plain special"), types="v"),
    *entry("gammaln", within((-12.0, 40.0)), ulps=64, scale=1.0, types="v; a"),
    *entry("digamma", within((-8.3, 40.0)), ulps=512, scale="result", types="v; a"),
    *entry("gamma", within((-4.3, 12.0)), ulps=256, types="v"),
    *entry("factorial", within((-0.5, 12.0)), ulps=128, types="v; v, exact=False"),
    *entry("spence", within((0.0, 30.0)), ulps=32, scale=1.0, types="v"),
    *entry("exp1", within((0.01, 30.0)), ulps=64, types="v"),
    *entry("expi", within((-20.0, 20.0)), ulps=64, scale=1.0, types="v"),
    *entry("sici", within((-30.0, 30.0)), ulps=64, scale=4.0, types="v"),
    *entry("fresnel", within((-6.0, 6.0)), ulps=256, scale=1.0, types="v"),
    *entry("erfinv", within((-1.0, 1.0)), ulps=32, scale=1.0, types="v"),
    *entry("erfcinv", within((0.0, 2.0)), ulps=64, scale=1.0, unrecorded=NOT_IN_JAX),
    *entry("ndtri", within(UNIT), ulps=64, scale=1.0, types="v"),
    *entry("logit", within(UNIT), ulps=32, scale=1.0, types="v"),
    *entry("beta", within(POSITIVE, POSITIVE), ulps=512, types="v, w; 2, v; v, 2.5"),
    *entry("betaln", within(POSITIVE, (0.05, 60.0)), ulps=64, scale=60.0, types="v, w"),
    *entry(
        "betainc",
        within(POSITIVE, POSITIVE, UNIT),
        ulps=256,
        scale=1.0,
        types="v, w, v; v, w, 0.5",
    ),
    *entry(
        "gammainc",
        within(NOT_NEGATIVE, (0.0, 30.0)),
        ulps=256,
        scale=1.0,
        types="v, w; v, 2; v, 2.5",
    ),
    *entry(
        "gammaincc",
        within(NOT_NEGATIVE, (0.0, 30.0)),
        ulps=256,
        scale=1.0,
        types="v, w",
    ),
    *entry("xlogy", entropies, ulps=32, scale="args", types="v, w; 2, v; v, 2; v, 2.5"),
    *entry("xlog1py", entropies, ulps=32, scale="args", types="v, w; v, 2"),
    *entry("kl_div", entropies, oracle=kl_div, ulps=32, scale="args", types="v, w"),
    *entry("rel_entr", entropies, ulps=32, scale="args", types="v, w; v, 2.5"),
    *entry("zeta", within((1.05, 12.0), POSITIVE), ulps=256, types="v, w; 2, v; v, 2"),
    *entry(
        "polygamma",
        whole_and(0, 6, (0.2, 12.0)),
        ulps=1024,
        scale=1.0,
        types="v, w; 2, v; v, 2",
    ),
    *entry("comb", two_counts, ulps=512, types="v, w; 2, v; v, 2"),
    *entry("poch", within(POSITIVE, (-3.7, 6.0)), ulps=2048, types="v, w; v, 2"),
    *entry(
        "boxcox",
        within((0.05, 12.0), (-2.0, 2.0)),
        ulps=256,
        scale=1.0,
        types="v, w; v, 2.5",
    ),
    *entry(
        "boxcox1p", within((-0.8, 12.0), (-2.0, 2.0)), ulps=256, scale=1.0, types="v, w"
    ),
    *entry("expn", whole_and(0, 9, (0.05, 20.0)), ulps=256, types="v, w; 2, v"),
    *entry(
        "owens_t", within((-6.0, 6.0), (-6.0, 6.0)), ulps=256, scale=0.25, types="v, w"
    ),
    *entry(
        "hyp1f1",
        within((-4.0, 4.0), (0.3, 6.0), (-6.0, 6.0)),
        ulps=4096,
        scale=1.0,
        types="v, w, v; v, w, 0.5",
    ),
    *entry(
        "hyp2f1",
        within((-3.0, 3.0), (-3.0, 3.0), (0.4, 6.0), (-0.9, 0.8)),
        ulps=8192,
        scale=1.0,
        types="v, w, 1, 0.5",
    ),
    *entry("loggamma", plane(-5.0, 8.0), ulps=512, scale=8.0, label="complex"),
    *entry("loggamma", within((0.05, 30.0)), ulps=64, scale=1.0, types="v"),
    *entry("wofz", plane(-4.0, 5.0), ulps=512, types="v"),
    *entry("softmax log_softmax", along_axes, ulps=32, scale=1.0, types="v"),
    *entry(
        "logsumexp",
        sums_of_exponentials,
        oracle=sum_of_exponentials,
        ulps=32,
        scale="args",
        types="v; v, b=w",
    ),
    *entry(
        "bernoulli",
        bernoulli_numbers,
        oracle=exact_bernoulli,
        ulps=64,
        jit=False,
        types="v; a",
    ),
    *entry(
        "bessel_jn",
        lambda d: d.call(between(d, 0.05, 9.0, "vector"), d.integer(0, 6)),
        call=first_kind,
        oracle=lambda z, v: first_kind(special.jv, z, v),
        ulps=4096,
        scale=1.0,
        types="v, v=2",
    ),
    *entry(
        "sph_harm_y",
        harmonics,
        call=lambda f, *args: f(*args, n_max=6),
        oracle=lambda *args: special.sph_harm_y(*args),
        ulps=512,
        scale=1.0,
        types="np.array([1]), np.array([1]), v[:1], w[:1], n_max=2",
    ),
    *entry(
        "multigammaln",
        lambda d: d.call(between(d, 3.6, 20.0), d.integer(1, 7)),
        ulps=64,
        scale=60.0,
        types="v, 2",
    ),
]
