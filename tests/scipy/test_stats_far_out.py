"""Distributions where squares, sums or quotients leave the range of floats."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest
from scipy import special as scipy_special
from scipy import stats as reference

import olympus
from olympus.scipy import special, stats

INF = np.inf
# The function, its arguments, and what it gives if SciPy is no reference.
VALUES = [
    ("norm.logpdf", (1e20, 0, 1e20), None),
    ("norm.logpdf", (3e-20, 0, 1e-20), None),
    ("norm.pdf", (0, 0, 1e-25), None),
    ("cauchy.logpdf", (-1e30, 0, 2), None),
    ("cauchy.logcdf", (1e10, 0, 1), None),
    ("cauchy.logsf", (-3e5, 0, 1), None),
    ("t.logpdf", (1e25, 3.0, 0, 1), None),
    ("t.logpdf", (1.5, INF, 0, 1), None),
    ("gumbel_r.logsf", (100, 0, 1), None),
    ("gumbel_l.logcdf", (-150, 0, 1), None),
    ("vonmises.logpdf", (1e-3, 1e6), None),
    ("vonmises.logpdf", (-2e-5, 1e10), None),
    ("wrapcauchy.logpdf", (1e-3, 0.999999), None),
    ("gamma.cdf", (3, INF), 0),
    ("gamma.sf", (3, INF), 1),
    ("chi2.logsf", (3, INF), 0),
    ("poisson.pmf", (0, INF), 0),
    ("poisson.cdf", (INF, 2.5), 1),
    ("poisson.entropy", (INF,), INF),
    ("pareto.cdf", (0.5, INF), 0),
    ("pareto.logsf", (0.5, INF), 0),
    ("beta.logpdf", (1e-37, 25, 1000), None),
    ("nbinom.logpmf", (20, 1e10, 1e-30), None),
    ("binom.logpmf", (0, 21, 1e-30), -2.1e-29),
    ("binom.logpmf", (5, 5, 1), 0),
    ("nbinom.logpmf", (0, 100, 0.999), None),
    pytest.param("betabinom.pmf", (5, 5, 1e8, 1e-20), 1, marks=pytest.mark.slow),
    ("beta.cdf", (1e-8, 1e-10, 1e8), 1),
    ("gamma.logcdf", (1e-30, 2), None),
    ("gamma.logcdf", (0.7, 50), None),
    ("gamma.logcdf", (300, 1000), None),
    ("gamma.logcdf", (0.98e6, 1e6), None),
    ("gamma.logcdf", (40, 2), None),
    ("gamma.logsf", (104, 2), None),
    ("gamma.logsf", (88, 0.5), None),
    ("gamma.logsf", (300, 50), None),
    ("gamma.logsf", (1.02e6, 1e6), None),
    ("gamma.logsf", (1e-3, 2), None),
    ("chi2.logcdf", (88, 1), None),
    ("chi2.logsf", (13, 100), None),
    ("chi2.logsf", (1000, 3), None),
    ("beta.logcdf", (0.99999905, 2, 3), None),
    ("beta.logsf", (1e-10, 2, 3), None),
    ("cauchy.logsf", (1e30, 0, 1), None),
    ("gennorm.cdf", (0.01, 30), 0.5050926),  # 1/2 + x / (2 gamma(1 + 1/30))
]


@pytest.mark.sampled(4)
@pytest.mark.parametrize(("name", "args", "wanted"), VALUES)
def test_values_far_out(name, args, wanted):
    args = [np.float32(x) for x in args]
    owner, kind = name.split(".")
    if wanted is None:
        fun = getattr(getattr(reference, owner), kind)
        wanted = fun(*[float(x) for x in args])
    out = getattr(getattr(stats, owner), kind)(*args)
    np.testing.assert_allclose(out, np.float32(wanted), 2e-5)


@pytest.mark.parametrize("name", ["uniform.cdf", "pareto.sf"])
def test_no_chance_above_one_beside_rounded_ends(name):
    owner, kind = name.split(".")
    loc, scale = (1e8, 1e-4) if owner == "uniform" else (3.0, 0.001)
    shape = [] if owner == "uniform" else [1e10]
    with olympus.enable_x64(True):
        end = np.float64(loc) + np.float64(scale)
        near = np.nextafter(end, [0, end, 1e9])
        out = getattr(getattr(stats, owner), kind)(near, *shape, loc, scale)
        density = stats.beta.pdf(near, 2.0, 1.0, loc, scale)
    assert (np.asarray(out) <= 1).all()
    assert not np.isnan(density).any()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_incomplete_gamma_functions_of_an_infinite_shape(dtype):
    a, x = dtype(INF), np.array([0, 1e-30, 3, 1e30], dtype)
    with olympus.enable_x64(True):
        # In one program with infinity, as each takes a second to compile.
        lower = np.asarray(special.gammainc(a, np.append(x, dtype(INF))))
        upper = special.gammaincc(a, x)
        slope = olympus.grad(special.gammainc, 1)(a, dtype(3))
    assert lower.dtype == dtype
    np.testing.assert_array_equal(lower[:-1], scipy_special.gammainc(a, x))
    np.testing.assert_array_equal(upper, scipy_special.gammaincc(a, x))
    assert np.isnan(lower[-1])
    assert slope == 0


def test_upper_chances_of_tiny_shapes_are_not_negative():
    x = np.linspace(0.01, 1.5, 60, dtype=np.float32)
    assert (np.asarray(special.gammaincc(np.float32(1e-30), x)) >= 0).all()


@pytest.mark.parametrize(
    ("name", "args"),
    [
        ("norm.logpdf", (2e20, 1e20, 1e20)),
        ("cauchy.logpdf", (1e25, 0, 1e3)),
        ("t.logpdf", (1e25, 3, 0, 1)),
        ("gumbel_r.logsf", (100, 1, 2)),
        ("vonmises.logpdf", (0.1, 1e4)),
        ("wrapcauchy.logpdf", (1e-3, 0.9999)),
        ("cauchy.logcdf", (1e6, 0, 1)),
    ],
)
def test_slopes_far_out(name, args):
    owner, kind = name.split(".")
    narrow = getattr(getattr(stats, owner), kind)
    args = [np.float32(x) for x in args]
    slopes = olympus.grad(narrow, tuple(range(len(args))))(*args)
    with olympus.enable_x64(True):
        wide = [np.float64(x) for x in args]
        exact = olympus.grad(narrow, tuple(range(len(args))))(*wide)
    np.testing.assert_allclose(slopes, np.array(exact, np.float32), 1e-4)


@pytest.mark.parametrize("name", ["cdf", "logcdf", "sf", "logsf"])
@pytest.mark.parametrize(
    ("owner", "parameters"),
    [("gamma", (2,)), ("gamma", (50,)), ("gamma", (0.5,)), ("chi2", (100,))],
)
def test_slopes_of_gamma_chances_in_tails(owner, parameters, name):
    x = np.float32([1e-4, 1e-3, 0.7, 13, 40, 104, 300])
    narrow, exact = getattr(getattr(stats, owner), name), getattr(reference, owner)
    p = np.float32(parameters)
    got = olympus.vmap(lambda x: olympus.grad(narrow)(x, *p))(x)
    wide, below = exact(*parameters), "cdf" in name
    wanted = wide.pdf(x.astype(float)) * (1 if below else -1)
    if "log" in name:
        wanted = wanted / (wide.cdf if below else wide.sf)(x.astype(float))
    np.testing.assert_allclose(got, np.float32(wanted), 2e-4, 1e-37)


@pytest.mark.parametrize("name", ["cdf", "sf", "logsf"])
@pytest.mark.parametrize("x", [88, 150, 1e10, INF])
def test_slopes_of_extreme_values_where_a_power_overflows(name, x):
    mirrored = {"cdf": "sf", "sf": "cdf", "logsf": "logcdf"}[name]
    x = np.float32(x)
    assert olympus.grad(getattr(stats.gumbel_r, name))(-x) == 0
    assert olympus.grad(getattr(stats.gumbel_l, mirrored))(x) == 0


def test_slopes_of_the_cauchy_distribution_at_infinity():
    x = np.float32(INF)
    assert olympus.grad(stats.cauchy.logcdf)(-x) == 0
    assert olympus.grad(stats.cauchy.logsf)(x) == 0
    assert stats.cauchy.logsf(x) == -INF


@pytest.mark.parametrize("x", [0.0, -0.3, 1e-6, 0.9, 1.5, -1e6])
@pytest.mark.parametrize("beta", [0.5, 1.0, 2.0, 900.0])
def test_slopes_of_the_generalized_normal_distribution(x, beta):
    with olympus.enable_x64(True):
        slope = olympus.grad(stats.gennorm.cdf)(x, beta)
        others = [olympus.grad(stats.gennorm.cdf, 1)(x, beta)]
        others += olympus.grad(stats.gennorm.pdf, (0, 1))(x, beta)
        density = stats.gennorm.pdf(x, beta)
    np.testing.assert_allclose(slope, density, 1e-9)
    assert np.isfinite(others).all()


@pytest.mark.parametrize("name", ["cauchy", "t"])
def test_squares_beyond_half_precision(name):
    x = np.array([15, 17, 300, 6e4], np.float16)
    shape = () if name == "cauchy" else (np.float16(3),)
    out = getattr(stats, name).logpdf(x, *shape)
    wanted = getattr(reference, name).logpdf(x.astype(float), *shape)
    np.testing.assert_allclose(out.astype(float), wanted, 1e-3)


@pytest.mark.parametrize("dtype", [np.float16, ml_dtypes.bfloat16])
@pytest.mark.parametrize("name", ["norm", "cauchy", "logistic", "laplace", "gumbel_r"])
def test_densities_of_short_floats_are_rounded_once(name, dtype):
    x = np.linspace(-2, 4, 300).astype(dtype)
    density = getattr(stats, name).pdf(x)
    wanted = getattr(reference, name).pdf(x.astype(np.float64))
    assert density.dtype == dtype
    gap = abs(np.asarray(density, np.float64) - wanted)
    assert (gap <= 0.51 * np.spacing(wanted.astype(dtype)).astype(np.float64)).all()
