"""Values and slopes where terms of a formula cancel: tails, zeros, tiny arguments."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import special as reference
from scipy import stats as distributions

import olympus
import olympus.numpy as jnp
from olympus import lax, nn
from olympus.scipy import special, stats

EULER = 0.5772156649015329


def slope(fun, x):
    return np.asarray(olympus.jit(olympus.vmap(olympus.grad(fun)))(x), np.float64)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_log_gamma_keeps_its_digits_around_its_zeros(dtype):
    with olympus.enable_x64(dtype is np.float64):
        step = 2.0 ** -np.arange(8, 23 if dtype is np.float32 else 50)
        for sign in (1, -1):
            e = sign * step
            powers = [(k, (-e) ** k / k) for k in range(2, 14)]
            near_one = -EULER * e + sum(reference.zeta(k) * p for k, p in powers)
            near_two = (1 - EULER) * e + sum(reference.zetac(k) * p for k, p in powers)
            rtol = 4 * np.finfo(dtype).eps
            got = lax.lgamma(jnp.asarray(1 + e, dtype))
            np.testing.assert_allclose(got, near_one, rtol=rtol)
            got = lax.lgamma(jnp.asarray(2 + e, dtype))
            np.testing.assert_allclose(got, near_two, rtol=rtol)
        assert (lax.lgamma(jnp.asarray([1, 2], dtype)) == 0).all()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_log_gamma_everywhere(dtype):
    with olympus.enable_x64(dtype is np.float64):
        x = np.concatenate(
            [np.linspace(0.01, 20, 2001), np.geomspace(1e-30, 1e30, 301)]
        ).astype(dtype)
        exact = reference.gammaln(x.astype(np.float64))  # less exact around 1 and 2
        np.testing.assert_allclose(
            lax.lgamma(x), exact, rtol=8 * np.finfo(dtype).eps, atol=5e-16
        )
        x = -x[x < 1e4]
        x = x[x != np.floor(x)]
        np.testing.assert_allclose(
            lax.lgamma(x),
            reference.gammaln(x.astype(np.float64)),
            rtol=8 * np.finfo(dtype).eps,
            atol=16 * np.finfo(dtype).eps,
        )
        largest = np.finfo(dtype).max
        ends = [0, -0.0, -1, -7, np.inf, -np.inf, largest, -largest]
        ends = lax.lgamma(jnp.asarray(ends, dtype))
        assert (ends == np.inf).all()
        assert np.isnan(lax.lgamma(jnp.asarray(np.nan, dtype)))


@pytest.mark.slow
@pytest.mark.parametrize("fun", [special.betaln, special.beta])
def test_slopes_of_beta_functions_of_unequal_arguments(fun):
    rng = np.random.default_rng(0)
    a, b = (10.0 ** rng.uniform(-6, 6, (2, 300))).astype(np.float32)
    lengths = olympus.vmap(olympus.value_and_grad(fun, (0, 1)))
    value, slopes = olympus.jit(lengths)(a, b)
    with olympus.enable_x64(True):
        a, b = a.astype(np.float64), b.astype(np.float64)
        _, exact = lengths(a, b)
    keep = (np.abs(value) > 1e-30) & (np.abs(value) < 1e30)
    # beta itself has fewer digits where it is the exponential of its logarithm.
    rtol = 1e-6 if fun is special.betaln else 2e-4
    for got, want in zip(slopes, exact, strict=True):
        np.testing.assert_allclose(got[keep], np.asarray(want)[keep], rtol=rtol)
    if fun is special.betaln:  # digamma(b) - digamma(a + b) for tiny a
        tiny = reference.polygamma(1, 3.0) * -1e-9
        with olympus.enable_x64(True):
            second = olympus.grad(fun, 1)(1e-9, 3.0)
        np.testing.assert_allclose(second, tiny, rtol=1e-8)


def test_slope_of_expm1_far_below():
    x = np.float32([-80, -30, -10, -1, 0, 3])
    np.testing.assert_allclose(slope(jnp.expm1, x), np.exp(np.float64(x)), rtol=1e-6)
    scale = 1.6732632423543772 * 1.0507009873554805  # of selu
    for fun, factor in ((nn.elu, 1), (nn.celu, 1), (nn.selu, scale)):
        want = factor * np.exp(np.float64(x[:4]))
        np.testing.assert_allclose(slope(fun, x[:4]), want, rtol=1e-6)


@pytest.mark.parametrize(
    ("name", "parameters", "x"),
    [
        ("pareto", (2.5,), [1.5, 30, 1e3, 1e5]),
        ("gumbel_l", (), [-30, -3, 1, 3]),
        ("gumbel_r", (), [-3, -1, 3, 30]),
    ],
)
def test_slopes_of_distributions_are_densities_in_tails_too(name, parameters, x):
    x = np.float32(x)
    density = getattr(distributions, name).pdf(np.float64(x), *parameters)
    ours = getattr(stats, name)
    for fun, sign in ((ours.cdf, 1), (ours.sf, -1)):
        got = slope(lambda x, fun=fun: fun(x, *parameters), x)
        np.testing.assert_allclose(got * sign, density, rtol=1e-4)


@pytest.mark.parametrize(
    ("name", "parameters"),
    [("gamma", (2.0,)), ("chi2", (4.0,)), ("chi2", (2.0,)), ("beta", (1.0, 2.0))],
)
def test_densities_have_the_digits_of_their_gamma_functions(name, parameters):
    x = np.float32([0.05, 0.3, 0.6, 0.95])
    density = getattr(distributions, name).pdf(np.float64(x), *parameters)
    got = getattr(stats, name).pdf(x, *np.float32(parameters))
    np.testing.assert_allclose(got, density, rtol=5e-7)


def test_slopes_of_inverses_of_normal_probabilities():
    p = np.concatenate(
        [np.geomspace(1e-37, 0.4, 200), 1 - np.geomspace(1e-7, 0.4, 60)]
    ).astype(np.float32)
    wide = p.astype(np.float64)
    want = np.sqrt(2 * np.pi) * np.exp(reference.ndtri(wide) ** 2 / 2)
    np.testing.assert_allclose(slope(special.ndtri, p), want, rtol=1e-6)
    np.testing.assert_allclose(slope(stats.norm.ppf, p), want, rtol=1e-6)
    twice = np.float32(2 * p)
    want = -np.sqrt(np.pi) / 2 * np.exp(reference.erfcinv(np.float64(twice)) ** 2)
    keep = np.abs(want) < 1e38
    got = slope(special.erfcinv, twice)
    np.testing.assert_allclose(got[keep], want[keep], rtol=1e-6)
    ends = [olympus.grad(special.ndtri)(x) for x in (0.0, 1.0, -1.0)]
    np.testing.assert_array_equal(ends, [np.inf, np.inf, np.nan])


def test_slopes_of_sinc_close_to_zero():
    x = np.float32([1e-20, 1e-9, 1e-6, 1e-3, 0.01, 0.1, 0.318, 0.319, 0.5, 1.5])
    wide = x.astype(np.float64)
    direct = (np.cos(np.pi * wide) - np.sinc(wide)) / wide
    series = -(np.pi**2) * wide / 3 + np.pi**4 * wide**3 / 30
    want = np.where(wide < 0.02, series, direct)
    np.testing.assert_allclose(slope(jnp.sinc, x), want, rtol=1e-6)
    second = slope(olympus.grad(jnp.sinc), x)
    np.testing.assert_allclose(second[:4], -(np.pi**2) / 3, rtol=1e-5)


_OF_TWO = ("zeta", "xlogy", "xlog1py", "rel_entr", "betaln", "beta", "kl_div")


@pytest.mark.parametrize("at", [0.0, 0.25, 0.5, 1.0, -1.5, 3.7])
@pytest.mark.parametrize(
    "name",
    [
        *(
            "erfcinv",
            "ndtri",
            "logit",
            "entr",
            "expit",
            "erfcx",
            "dawsn",
            "exp1",
            "expi",
        ),
        *("spence", "fresnel", "i0", "i1", "gamma", "loggamma", "log_ndtr", "sici"),
        *_OF_TWO,
    ],
)
def test_slopes_at_numbers_are_those_in_programs(name, at):
    """Python's numbers reach the formulas, where `~` and `/` mean others of them."""
    fun = getattr(special, name)
    at = (at,) * (2 if name in _OF_TWO else 1)

    def total(*xs):
        leaves = olympus.tree.leaves(fun(*xs))
        return sum(leaf.real for leaf in leaves)

    eager = olympus.value_and_grad(total)(*at)
    compiled = olympus.jit(olympus.value_and_grad(total))(*at)
    for got, want in zip(eager, compiled, strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-5)


PLACES = [1e-30, 1e-10, 1e-6, 1e-3, 0.3]


@pytest.mark.parametrize("shapes", [(1, 1000), (1.5, 300), (3, 1e6), (40, 1e7)])
def test_slopes_of_the_beta_density_far_below_its_mean(shapes):
    a, b = np.float32(shapes)
    x = np.float32(PLACES)
    wide = x.astype(np.float64)
    want = (a - 1.0) / wide - (b - 1.0) / (1 - wide)
    got = slope(lambda v: stats.beta.logpdf(v, a, b), x)
    np.testing.assert_allclose(got, want, rtol=1e-5)
    mirrored = slope(lambda v: stats.beta.logpdf(v, b, a), 1 - x[-2:])
    wide = 1 - (1 - x[-2:]).astype(np.float64)
    want = -(a - 1.0) / wide + (b - 1.0) / (1 - wide)
    np.testing.assert_allclose(mirrored, want, rtol=1e-5)


def test_curvature_of_the_beta_density_far_below_its_mean():
    x = np.float32(PLACES[1:])
    got = slope(olympus.grad(lambda v: stats.beta.logpdf(v, 1.5, 300.0)), x)
    wide = x.astype(np.float64)
    want = -0.5 / wide**2 - 299 / (1 - wide) ** 2
    np.testing.assert_allclose(got, want, rtol=1e-5)
    crossed = olympus.grad(lambda a, v: stats.beta.logpdf(v, a, 300.0))
    got = slope(lambda v: crossed(1.5, v), x)
    np.testing.assert_allclose(got, 1 / wide, rtol=1e-5)


def test_slopes_of_rare_events():
    p = np.float32(PLACES)
    got = slope(lambda v: stats.binom.logpmf(0, 1000, v), p)
    np.testing.assert_allclose(got, -1000 / (1 - p.astype(np.float64)), rtol=1e-5)


def test_slopes_in_shapes_far_from_the_mean_of_beta():
    a, b = np.float32([51, 1e3, 25, 1.2e7]), np.float32([1e8, 1e6, 2e9, 60])
    x = np.float32([0.5, 0.1, 0.25, 1e-8])
    wide = [v.astype(np.float64) for v in (a, b, x)]
    both = reference.digamma(wide[0] + wide[1])
    want = np.log(wide[2]) - reference.digamma(wide[0]) + both
    slopes = olympus.grad(lambda a, b, x: stats.beta.logpdf(x, a, b).sum(), (0, 1))
    got = slopes(a, b, x)
    np.testing.assert_allclose(got[0], want, rtol=1e-5)
    want = np.log1p(-wide[2]) - reference.digamma(wide[1]) + both
    np.testing.assert_allclose(got[1], want, rtol=1e-5)


@pytest.mark.slow
@pytest.mark.sampled(4)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_chances_of_beta_are_none_below_zero_or_above_one(dtype):
    with olympus.enable_x64(True):
        sizes, places = [1e-10, 1e-6, 1e-3, 1, 30], [1e-30, 1e-10, 1e-3, 0.5, 0.999]
        grid = np.meshgrid(sizes, sizes, places)
        a, b, x = (v.ravel().astype(dtype) for v in grid)
        for fun in (stats.beta.cdf, stats.beta.sf):
            chances = fun(x, a, b)
            assert ((chances >= 0) & (chances <= 1)).all()
        for fun in (stats.beta.logcdf, stats.beta.logsf):
            assert (fun(x, a, b) <= 0).all()


@pytest.mark.slow
@pytest.mark.sampled(4)
@pytest.mark.parametrize("b", [0.5, 3, 300])
def test_beta_binomial_chances_of_small_shapes(b):
    """A tiny shape was added to one count and another taken away."""
    a, n = np.float32([1e-6, 1e-3, 0.1, 1, 30]), np.float32(1000)
    wide = a.astype(np.float64)
    for k in (0, 5):
        want = reference.digamma(k + wide) - reference.digamma(wide)
        want += reference.digamma(wide + b) - reference.digamma(wide + b + n)
        got = slope(lambda v, k=k: stats.betabinom.logpmf(k, n, v, b), a)
        near = 4 * np.finfo(np.float32).eps / wide  # digammas of a, which cancel
        np.testing.assert_array_less(abs(got - want), 1e-5 * abs(want) + near)
        want = reference.betaln(k + wide, n - k + b) - reference.betaln(wide, b)
        want -= np.log1p(n) + reference.betaln(n - k + 1, k + 1)
        got = stats.betabinom.logpmf(k, n, a, np.float32(b))
        np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-5)


def test_slope_in_the_shape_of_gamma_far_above_its_mean():
    a, x = np.float32([21, 25, 70, 1e3, 1e5]), np.float32([1e9, 30, 1.2e7, 1e8, 3e5])
    wide = [v.astype(np.float64) for v in (a, x)]
    want = np.log(wide[1]) - reference.digamma(wide[0])
    got = olympus.grad(lambda a: stats.gamma.logpdf(x, a).sum())(a)
    np.testing.assert_allclose(got, want, rtol=1e-5)
    places = olympus.grad(lambda x: stats.gamma.logpdf(x, a).sum())(x)
    np.testing.assert_allclose(places, (wide[0] - 1) / wide[1] - 1, rtol=2e-5)
    values = stats.gamma.logpdf(x, a)
    np.testing.assert_allclose(
        values, distributions.gamma.logpdf(wide[1], wide[0]), rtol=1e-5
    )


def test_negative_binomial_chances_of_less_than_one_success():
    k, n = np.float32([33, 7748, 245, 100, 0]), np.float32([4e-8, 2e-5, 0.5, 0.99, 0.9])
    p = np.float32([2e-8, 2e-9, 1e-3, 0.9, 1e-9])
    wide = [v.astype(np.float64) for v in (k, n, p)]
    got = stats.nbinom.logpmf(k, n, p)
    want = distributions.nbinom.logpmf(*wide)
    np.testing.assert_allclose(got, want, rtol=2e-6, atol=2e-6)
    slopes = olympus.grad(lambda n, p: stats.nbinom.logpmf(k, n, p).sum(), (0, 1))
    in_n, in_p = slopes(n, p)
    want = wide[1] / wide[2] - wide[0] / (1 - wide[2])
    np.testing.assert_allclose(in_p, want, rtol=1e-5)
    want = reference.digamma(wide[0] + wide[1]) - reference.digamma(wide[1])
    np.testing.assert_allclose(in_n, want + np.log(wide[2]), rtol=1e-5)


def test_slopes_of_impossible_negative_binomial_counts():
    k, n = np.float32([0, 0, 5, 30, 30]), np.float32([2, 30, 2, 0.5, 0.5])
    p = np.float32([0, 0, 1, 0, 1])
    slopes = olympus.grad(lambda n, p: stats.nbinom.logpmf(k, n, p).sum(), (0, 1))
    in_n, in_p = slopes(n, p)
    assert (stats.nbinom.logpmf(k, n, p) == -np.inf).all()
    np.testing.assert_array_equal(in_p, np.where(p == 0, np.inf, -np.inf))
    assert (in_n[p == 0] == -np.inf).all()
    assert np.isfinite(in_n[p == 1]).all()


@pytest.mark.parametrize(
    ("name", "others", "at"),
    [
        ("log_ndtr", (), 0.0),
        ("erfcx", (), 4.0),
        ("spence", (), 1.0),
        ("owens_t", (0.5,), 0.0),
        ("owens_t", (-2.0,), 0.0),
    ],
)
def test_second_derivatives_where_formulas_meet(name, others, at):
    """At such a point they are what they are beside it."""
    with olympus.enable_x64(True):
        fun = getattr(special, name)
        for of in (olympus.grad, olympus.jacfwd):
            second = olympus.vmap(of(olympus.grad(lambda x: fun(x, *others))))
            below, here, above = second(np.float64([at - 1e-5, at, at + 1e-5]))
            np.testing.assert_allclose(here, (below + above) / 2, rtol=1e-8)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_polygamma_and_zeta_below_zero(dtype):
    eps = np.finfo(dtype).eps
    x = np.array([-0.5, -1.25, -7.5, -8.5, -9.25, -10.75, -100.375, -1e4 - 0.5])
    n = np.array([[1], [2], [3], [6]])
    with olympus.enable_x64(dtype is np.float64):
        short = x.astype(dtype)
        polygamma = special.polygamma(n, short)
        zeta = special.zeta((n + 1).astype(dtype), short)
        first = slope(special.digamma, short)
        second = slope(lambda v: special.polygamma(1, v), short)
        of_slope = slope(olympus.grad(special.digamma), short)
        of_gammaln = slope(olympus.grad(special.gammaln), short)
    for got, fun, order in [
        (polygamma, reference.polygamma, n),
        (zeta, reference.zeta, n + 1),
        (first, reference.polygamma, 1),
        (of_gammaln, reference.polygamma, 1),
        (second, reference.polygamma, 2),
        (of_slope, reference.polygamma, 2),
    ]:
        # Close to zeros of the function, its digits are those of its terms.
        error = np.abs(np.asarray(got, np.float64) - fun(order, x))
        size = np.abs(fun(order, x)) + np.abs(fun(order, 0.5))
        assert (error <= 50 * eps * size).all(), (fun, order, error / size / eps)


def test_polygamma_and_zeta_at_infinity_and_poles():
    ends = np.float32([np.inf, -np.inf, 0, -3])
    got = special.polygamma(np.array([[1], [3]]), ends)
    np.testing.assert_array_equal(got, [[0, *[np.inf] * 3]] * 2)
    got = special.polygamma(np.array([[0], [2]]), ends[[0, 1, 3]])
    np.testing.assert_array_equal(got, [[np.inf, *[np.nan] * 2], [0, *[np.nan] * 2]])
    got = special.zeta(np.float32([[1], [2], [4]]), ends)
    want = [[np.inf] * 4, *[[0, *[np.inf] * 3]] * 2]
    np.testing.assert_array_equal(got, want)
    assert np.isnan(special.zeta(2.5, -1.5))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_slopes_of_scaled_bessel_functions_far_out(dtype):
    with olympus.enable_x64(True):
        x = np.array([9, 29.9, 30.1, 1e3, 1999, 2001, 1e8, 1e30], dtype)
        x = np.concatenate([x, -x])
        wide = x.astype("f8")
        size = np.abs(wide)
        # (I0 - I1) exp(-x) is an integral of exp(-x (1 - cos t)) (1 - cos t), whose
        # first terms for large x these are; below, SciPy's have the digits.
        z = 1 / size
        series = z * (1 / 2 + z * (3 / 16 + z * (45 / 256 + z * 525 / 2048)))
        excess = series / np.sqrt(2 * np.pi * size)
        near = reference.i0e(size) - reference.i1e(size)
        excess = np.where(size < 100, near, excess)
        zero = -np.sign(wide) * excess
        one = excess - reference.i1e(size) / size
        tolerance = 3e-5 if dtype == np.float32 else 3e-12
        tiny = float(np.finfo(dtype).tiny)
        np.testing.assert_allclose(slope(special.i0e, x), zero, tolerance, tiny)
        np.testing.assert_allclose(slope(special.i1e, x), one, tolerance, tiny)
        ends = np.array([np.inf, -np.inf], dtype)
        for fun in (special.i0e, special.i1e):
            np.testing.assert_array_equal(np.abs(slope(fun, ends)), 0)


def test_slope_of_digamma_at_infinity():
    assert olympus.grad(special.digamma)(np.float32(np.inf)) == 0
    assert olympus.grad(special.digamma)(np.float32(3e38)) < 1e-30


@pytest.mark.parametrize(
    ("a", "curvature"), [(0.5, -np.inf), (1, -1), (1.5, np.inf), (2, 1), (3, 0), (4, 0)]
)
def test_curvature_of_the_incomplete_gamma_function_at_zero(a, curvature):
    with olympus.enable_x64(True):
        density = olympus.grad(special.gammainc, 1)
        out = olympus.grad(density, 1)(float(a), 0.0)
        upper = olympus.grad(olympus.grad(special.gammaincc, 1), 1)(float(a), 0.0)
    assert out == curvature
    assert upper == -curvature
