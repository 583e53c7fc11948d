"""Distributions against SciPy in double precision, and their derivatives.

Where the two differ on purpose (arguments outside what a distribution is defined for,
counts that are no integers), the grids keep away or the test says so.
"""

from __future__ import annotations

import importlib
import inspect
import itertools

import numpy as np
import pytest
from scipy import stats as reference

import olympus
from olympus import scipy

pytestmark = pytest.mark.sampled(6)

stats = scipy.stats
PLACES = [-np.inf, -6, -2.5, -1, -0.4, 0, 1e-3, 0.3, 0.5, 1, 1.7, 3, 7, 30, np.inf]
CHANCES = [-0.1, 1e-4, 0.2, 0.5, 0.75, 0.999, 1.2]
COUNTS = [-2, -1, 0, 1, 2, 3, 4, 5, 9]
LOCS_AND_SCALES = [(0, 1), (1, 2), (-0.5, 0.3)]
# The parameters before loc, and whether loc and scale follow.
CONTINUOUS = {
    "beta": [(2, 3), (0.5, 0.7), (1, 1), (1, 3)],
    "cauchy": [()],
    "chi2": [(3,), (1,), (2,), (20,)],
    "expon": [()],
    "gamma": [(2.5,), (1,), (0.4,), (15,)],
    "gumbel_l": [()],
    "gumbel_r": [()],
    "laplace": [()],
    "logistic": [()],
    "norm": [()],
    "pareto": [(2.5,), (0.4,), (1,)],
    "t": [(2.5,), (0.4,), (30,)],
    "truncnorm": [(-1, 2), (0.5, 3), (-3, -1), (-30, 30), (3, 5)],
    "uniform": [()],
}
UNSHIFTED = {
    "gennorm": [(0.5,), (1,), (2,), (3.5,)],
    "vonmises": [(0.5,), (0,), (20,)],
    "wrapcauchy": [(0.5,), (0.1,), (0.9,)],
}
DISCRETE = {
    "bernoulli": [(0.3,), (0,), (1,)],
    "betabinom": [(5, 2, 3), (3, 0.5, 0.7)],
    "binom": [(5, 0.3), (5, 0), (5, 1)],
    "geom": [(0.3,), (1,)],
    "nbinom": [(5, 0.3), (2.5, 0.6)],
    "poisson": [(2.5,), (0,), (20,)],
}
# The quick tests take one function or two of each distribution.
SLOW_KINDS = ["pdf", "pmf", "logcdf", "sf", "logsf", "isf"]
SLOW = ["beta", "betabinom", "chi2", "gamma", "gennorm", "nbinom", "truncnorm"]


def functions(names):
    for name in names:
        page = importlib.import_module(f"olympus.scipy.stats.{name}")
        for kind in page.__all__:
            if kind != "entropy":
                slow = kind in SLOW_KINDS or name in SLOW
                marks = [pytest.mark.slow] if slow else []
                yield pytest.param(name, kind, id=f"{name}.{kind}", marks=marks)


def grid(name, kind):
    """Arguments of a function, one array for each parameter."""
    count = len(inspect.signature(getattr(getattr(stats, name), kind)).parameters)
    if name in CONTINUOUS:
        shapes = [(*s, *tail) for s in CONTINUOUS[name] for tail in LOCS_AND_SCALES]
    elif name in UNSHIFTED:
        shapes = UNSHIFTED[name]
    else:
        shapes = [(*s, loc) for s in DISCRETE[name] for loc in (0, 1)]
    first = COUNTS if name in DISCRETE else PLACES
    if kind in ("ppf", "isf"):
        first = CHANCES
    rows = [(x, *s)[:count] for s, x in itertools.product(shapes, first)]
    return [np.array(column, np.float64) for column in zip(*rows, strict=True)]


@pytest.mark.parametrize(
    ("name", "kind"), list(functions([*CONTINUOUS, *UNSHIFTED, *DISCRETE]))
)
def test_values_are_those_of_scipy(name, kind):
    given = grid(name, kind)
    with olympus.enable_x64(True), np.errstate(all="ignore"):
        got = np.asarray(getattr(getattr(stats, name), kind)(*given))
        want = getattr(getattr(reference, name), kind)(*given)
    if kind in ("pdf", "logpdf") and name != "vonmises":
        # Some of SciPy's formulas have no value at infinity, where there is no weight.
        want = np.where(np.isnan(want), {"pdf": 0, "logpdf": -np.inf}[kind], want)
    # Logarithms of what is close to 1 are as exact as the probability is.
    np.testing.assert_allclose(got, want, rtol=2e-10, atol=4e-15)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "kind"), list(functions([*CONTINUOUS, *UNSHIFTED, *DISCRETE]))
)
def test_derivatives_are_those_of_differences(name, kind):
    function = getattr(getattr(stats, name), kind)
    names = list(inspect.signature(function).parameters)
    given = [column[np.isfinite(grid(name, kind)[0])] for column in grid(name, kind)]
    if name not in DISCRETE:
        given[0] = given[0] + 0.0137  # no kink
    steps = 1e-6
    with olympus.enable_x64(True):
        for i in range(len(given)):
            if name in DISCRETE and names[i] in ("k", "q", "n", "loc"):
                continue
            slope = np.asarray(olympus.vmap(olympus.grad(function, i))(*given))
            shifted = [
                [x + d if j == i else x for j, x in enumerate(given)]
                for d in (-2 * steps, -steps, steps, 2 * steps)
            ]
            far_low, low, high, far_high = (np.asarray(function(*s)) for s in shifted)
            with np.errstate(all="ignore"):
                want = (high - low) / (2 * steps)
                wide = (far_high - far_low) / (4 * steps)
                # Kinks, jumps and infinities have no difference quotient.
                smooth = np.abs(want - wide) <= 1e-6 * (1 + np.abs(want))
            if kind == "pmf":  # the exponential of a logarithm, which may be -inf
                smooth &= np.asarray(function(*given)) > 0
            np.testing.assert_allclose(
                slope[smooth], want[smooth], rtol=2e-4, atol=2e-7, err_msg=f"in {i}"
            )


@pytest.mark.slow
@pytest.mark.parametrize(
    ("function", "given", "position"),
    [
        (stats.beta.logpdf, (0.0, 1.0, 2.0), 0),
        (stats.expon.logcdf, (-1.0,), 0),
        (stats.expon.ppf, (1.5,), 0),
        (stats.gamma.logpdf, (-1.0, 0.5), 0),
        (stats.gamma.cdf, (np.inf, 2.5), 0),
        (stats.gamma.logcdf, (0.0, 2.5), 0),
        (stats.pareto.logcdf, (0.5, 2.0), 1),
        (stats.binom.logpmf, (9.0, 5.0, 0.5), 2),
        (stats.poisson.logpmf, (0.0, 0.0), 1),
        (stats.uniform.cdf, (2.0,), 0),
    ],
)
def test_derivatives_at_and_past_ends_are_no_nan(function, given, position):
    assert not np.isnan(olympus.grad(function, position)(*given))


def test_the_middle_of_laplace_has_the_slope_of_its_density():
    assert olympus.grad(stats.laplace.cdf)(0.0) == 0.5


@pytest.mark.parametrize("mu", [0.0, 0.5, 3.0, 15.0, 35.9, 36.1, 120.0])
def test_entropy_of_poisson(mu):
    counts = np.arange(400)
    logs = reference.poisson.logpmf(counts, mu)
    want = -np.sum(np.exp(logs) * np.where(np.isfinite(logs), logs, 0))
    with olympus.enable_x64(True):
        got = stats.poisson.entropy(mu)
    np.testing.assert_allclose(got, want, rtol=1e-10)


def test_arguments_broadcast_and_are_promoted():
    x, df = np.arange(3), np.float32([[1.0], [2.0]])
    out = stats.t.logpdf(x, df=df, scale=2)
    assert out.shape == (2, 3)
    assert out.dtype == np.float32
    np.testing.assert_allclose(out, reference.t.logpdf(x, df, scale=2), rtol=1e-5)
    assert stats.expon.pdf(np.float16([1])).dtype == np.float16
    assert stats.expon.pdf(1).dtype == np.float32
    # jax 0.10.2: a weak type where all arguments are Python's numbers.
    assert stats.expon.pdf(1).weak_type


@pytest.mark.slow
def test_one_program_for_a_call_and_the_same_values_within_jit_and_vmap():
    x = np.linspace(0.1, 2, 5, dtype=np.float32)
    for function in (stats.beta.logpdf, stats.pareto.sf):
        rest = (1.5,) if function is not stats.beta.logpdf else (1.5, 2.5)
        eager = function(x, *rest)
        jitted = olympus.jit(lambda x, f=function, r=rest: f(x, *r))(x)
        mapped = olympus.vmap(lambda x, f=function, r=rest: f(x, *r))(x)
        np.testing.assert_allclose(eager, jitted, rtol=1e-5)
        np.testing.assert_allclose(eager, mapped, rtol=1e-5)


def test_what_is_wrong_with_arguments_is_said():
    with pytest.raises(TypeError, match=r"scipy.stats.expon.pdf: x must be an array"):
        stats.expon.pdf([1.0])
    with pytest.raises(TypeError, match="scale must be real"):
        stats.cauchy.pdf(1.0, scale=1j)
    with pytest.raises(TypeError, match=r"got x \(2,\), loc \(3,\), scale \(\)"):
        stats.cauchy.pdf(np.zeros(2), np.zeros(3))
    with pytest.raises(ValueError, match="shapes must broadcast"):
        stats.cauchy.pdf(np.zeros((2, 2)), np.zeros(3))
    with pytest.raises(TypeError, match="missing 1 required positional argument"):
        stats.gamma.pdf(1.0)
    with pytest.raises(TypeError, match="unexpected keyword"):
        stats.gamma.pdf(1.0, 1.0, mean=1)


@pytest.mark.slow
def test_counts_of_betabinom_are_rounded_down():
    # As JAX 0.10.2 does; SciPy gives no probability to what is not whole.
    got = scipy.stats.betabinom.pmf(np.float32([1.5, 1.0]), 5, 1.0, 2.0)
    np.testing.assert_allclose(got[0], got[1], rtol=1e-6)


def _of_large(n):
    """Places and parameters of about `n`, one standard deviation from the mean."""
    near = n + n**0.5
    return {
        "poisson.pmf": (np.floor(near), n),
        "gamma.pdf": (near, n),
        "chi2.pdf": (near, n),
        "beta.pdf": (0.5 + 0.5 / n**0.5, n, n),
        "binom.pmf": (n, 2 * n, 0.5),
        "nbinom.pmf": (n, n, 0.5),
        "betabinom.pmf": (n, 2 * n, n, n),
        "t.pdf": (1.0, n),
    }


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(_of_large(1.0)))
def test_densities_of_large_parameters(name):
    """Logarithms of gamma functions have no digits of them in float32."""
    distribution, function = name.split(".")
    for n in (30.0, 1e4, 1e6, 1e8):
        args = [np.float32(v) for v in _of_large(n)[name]]
        wide = [np.float64(v) for v in args]
        got = getattr(getattr(scipy.stats, distribution), function)(*args)
        want = getattr(getattr(reference, distribution), function)(*wide)
        np.testing.assert_allclose(got, want, rtol=2e-5)


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(_of_large(1.0)))
def test_slopes_of_densities_of_large_parameters(name):
    distribution, function = name.split(".")
    fun = getattr(getattr(scipy.stats, distribution), "log" + function)
    with olympus.enable_x64(True):
        args = [np.float64(v) for v in _of_large(3e4)[name]]
        slopes = olympus.grad(lambda args: fun(*args))(args)
        for i in range(1, len(args)):
            step = 1e-5 * args[i]
            high, low = (
                fun(*[v + s * (j == i) for j, v in enumerate(args)])
                for s in (step, -step)
            )
            want = (high - low) / (2 * step)
            np.testing.assert_allclose(slopes[i], want, rtol=1e-4, atol=1e-9)
