"""Special functions against SciPy in both precisions; special points and slopes."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import special as reference

import olympus
from olympus import test_util
from olympus.scipy import special

pytestmark = pytest.mark.sampled(3)

LINE = np.concatenate([-np.geomspace(30, 1e-6, 60), [0], np.geomspace(1e-6, 60, 80)])
POSITIVE = np.geomspace(1e-6, 150, 120)
UNIT = np.concatenate([np.geomspace(1e-12, 0.4, 40), np.linspace(0.41, 0.99, 30)])


def grid(*axes):
    """All combinations, an array for each argument."""
    return np.array(np.meshgrid(*axes)).reshape(len(axes), -1)


PAIRS = grid(POSITIVE[::9], POSITIVE[::7])

# Function: its arguments and the relative error allowed, in rounding units, where a
# float32 value is compared with the exact one of the rounded argument.
TABLE = {
    "xlogy": (PAIRS, 4),
    "xlog1py": (PAIRS, 4),
    "entr": ([POSITIVE], 4),
    "rel_entr": (PAIRS, 30),
    "expit": ([LINE], 20),
    "logit": ([UNIT], 8),
    "boxcox": ([PAIRS[0], np.linspace(-3, 3, PAIRS.shape[1])], 100),
    "boxcox1p": ([PAIRS[0], np.linspace(-3, 3, PAIRS.shape[1])], 100),
    "erf": ([LINE], 8),
    "erfc": ([LINE[LINE < 9]], 40),
    "erfinv": ([UNIT], 20),
    "erfcinv": ([np.geomspace(1e-30, 1.9, 100)], 20),
    "ndtr": ([np.linspace(-12, 8, 90)], 200),
    "ndtri": ([UNIT], 20),
    "log_ndtr": ([np.linspace(-40, 5, 90)], 40),
    "gamma": ([np.append(-POSITIVE[:100] - 0.01, np.linspace(0.01, 33, 90))], 60),
    "gammaln": ([np.linspace(3, 500, 90)], 16),
    "gammasgn": ([np.linspace(-20.25, 20.25, 50)], 1),
    "digamma": ([np.linspace(2, 60, 60)], 16),
    "betaln": (np.array([PAIRS[0] + 3, PAIRS[1] + 3]), 60),
    "beta": (grid(np.linspace(0.1, 9, 9), [0.3, 1, 4, 12]), 60),
    "i0": ([np.linspace(-20, 20, 60)], 40),
    "i0e": ([LINE], 60),
    "i1e": ([LINE], 20),
    "factorial": ([np.linspace(0, 30, 61)], 60),
    "poch": (grid([0.5, 2, 7.25, 15], [-1.5, 0, 0.5, 3, 8]), 100),
}  # fmt: skip


def units(name, arguments, dtype):
    """The largest relative error of a function, in rounding units."""
    given = [np.asarray(x, dtype) for x in arguments]
    got = np.asarray(getattr(special, name)(*given))
    assert got.dtype == dtype
    want = getattr(reference, name)(*[x.astype(np.float64) for x in given])
    tiny = float(np.finfo(dtype).tiny)
    usual = np.isfinite(want) & (abs(want) > tiny) & (abs(want) < np.finfo(dtype).max)
    error = abs(got[usual] - want[usual]) / abs(want[usual])
    return error.max() / np.finfo(dtype).eps


@pytest.mark.slow
@pytest.mark.parametrize("name", TABLE)
def test_single_precision(name):
    arguments, bound = TABLE[name]
    assert units(name, arguments, np.float32) < bound


@pytest.mark.slow
@pytest.mark.parametrize("name", TABLE)
def test_double_precision(name):
    arguments, bound = TABLE[name]
    with olympus.enable_x64(True):
        assert units(name, arguments, np.float64) < bound


INF, NAN = np.inf, np.nan

# Values at special points: what jax.scipy.special 0.10.2 gave, but for the signs of
# infinities of gammaln's kin that SciPy decides.
POINTS = {
    "entr": ([-1, 0, INF, NAN], [-INF, 0, -INF, NAN]),
    "erfcinv": ([-1, 0, 1, 2, 3, NAN], [NAN, INF, 0, -INF, NAN, NAN]),
    "expit": ([-INF, 0, INF, NAN], [0, 0.5, 1, NAN]),
    "factorial": ([-1, 0, 3, INF, NAN], [0, 1, 6, INF, NAN]),
    "gamma": ([-INF, -2, -0.0, 0, 1, INF, NAN], [NAN, NAN, -INF, INF, 1, INF, NAN]),
    "gammaln": ([-INF, -2, 0, 1, INF, NAN], [INF, INF, INF, 0, INF, NAN]),
    "gammasgn": ([-INF, -2.5, -2, -0.0, 0, INF, NAN], [NAN, -1, NAN, -1, 1, 1, NAN]),
    "log_ndtr": ([-INF, INF, NAN], [-INF, 0, NAN]),
    "loggamma": ([-2.5, -1, 0, 1, INF], [NAN, NAN, INF, 0, INF]),
    "logit": ([-1, 0, 0.5, 1, 2, NAN], [NAN, -INF, 0, INF, NAN, NAN]),
    "ndtr": ([-INF, 0, INF, NAN], [0, 0.5, 1, NAN]),
    "ndtri": ([-1, 0, 0.5, 1, 2, NAN], [NAN, -INF, 0, INF, NAN, NAN]),
}


@pytest.mark.parametrize("name", POINTS)
def test_special_points(name):
    x, want = POINTS[name]
    got = getattr(special, name)(np.float32(x))
    np.testing.assert_allclose(got, want, rtol=0, atol=1e-6)


@pytest.mark.slow
def test_special_points_of_two_arguments():
    f32 = np.float32
    zero = f32([0, 0, 0, 0])
    np.testing.assert_array_equal(
        special.xlogy(zero, f32([0, INF, -1, NAN])), [0, 0, 0, NAN]
    )
    np.testing.assert_array_equal(
        special.xlog1py(zero, f32([-1, INF, -3, NAN])), [0, 0, 0, NAN]
    )
    p, q = f32([-1, 0, 0, 1, 1, NAN]), f32([1, -1, 0, -1, 0, 1])
    np.testing.assert_array_equal(special.rel_entr(p, q), [INF, INF, 0, INF, INF, NAN])
    np.testing.assert_array_equal(special.kl_div(p, q), [INF, INF, 0, INF, INF, NAN])
    p, q = f32([-2.5, 0, INF, -INF, INF, NAN]), f32([-INF, -INF, 0, -INF, 2, -INF])
    np.testing.assert_array_equal(special.kl_div(p, q), [INF, INF, INF, INF, NAN, NAN])
    quotients = special.poch(f32([-3, -3, -2.5, 0]), f32([2, 5, 2, 1]))
    np.testing.assert_allclose(quotients, [6, 0, 3.75, 0], rtol=1e-6)
    np.testing.assert_array_equal(
        special.comb(f32([3, -1, 2, 5, 20]), f32([5, 1, -1, 2, 3])), [0, 0, 0, 10, 1140]
    )


SLOPES = {
    "beta": ([1.5, 2.5],),
    "betaln": ([1.5, 12.5], [11.0, 13.0]),
    "boxcox": ([1.5, 0.0], [1.5, 1e-3], [2.0, -2.0]),
    "boxcox1p": ([0.5, 0.0], [1.5, 2.0]),
    "comb": ([5.0, 2.0], [13.5, 2.25]),
    "entr": ([0.3],),
    "erfcinv": ([0.2], [1.4]),
    "factorial": ([2.5],),
    "gamma": ([2.5], [-1.3]),
    "gammainc": ([2.5, 2.0],),
    "betainc": ([2.5, 2.0, 0.4],),
    "kl_div": ([0.5, 0.7],),
    "log_ndtr": ([-15.0], [0.5], [4.0]),
    "logit": ([0.3], [0.55]),
    "ndtr": ([-3.0],),
    "ndtri": ([0.01], [0.4]),
    "poch": ([2.5, 1.5],),
    "rel_entr": ([0.5, 0.7],),
    "xlog1py": ([0.5, 0.7],),
    "xlogy": ([0.5, 0.7],),
    "zeta": ([2.0, 0.5], [1.2, 3.0]),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", SLOPES)
def test_derivatives_are_those_of_finite_differences(name):
    with olympus.enable_x64(True):
        for point in SLOPES[name]:
            given = tuple(np.float64(x) for x in point)
            function = getattr(special, name)
            # The slopes in parameters of incomplete integrals are loops to convergence.
            order = 1 if name in ("gammainc", "betainc") else 2
            test_util.check_grads(function, given, order=order, atol=1e-4, rtol=1e-4)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "point", "want"),
    [
        ("entr", 0.0, INF),
        ("log_ndtr", -1e4, 1e4),
        ("log_ndtr", 40.0, 0),
        ("logit", 0.0, INF),
        ("ndtri", 0.0, INF),
        ("ndtri", 0.5, np.sqrt(2 * np.pi)),
    ],
)
def test_slopes_at_ends(name, point, want):
    got = olympus.grad(getattr(special, name))(np.float32(point))
    np.testing.assert_allclose(got, want, rtol=1e-6)


def test_slope_of_a_product_with_a_logarithm_at_zero():
    # As jax.scipy.special 0.10.2.
    slope = olympus.grad(special.xlogy, (0, 1))(np.float32(0), np.float32(2))
    np.testing.assert_allclose(slope, [np.log(2), 0], rtol=1e-6)
    slope = olympus.grad(special.xlog1py, (0, 1))(np.float32(0), np.float32(1))
    np.testing.assert_allclose(slope, [np.log(2), 0], rtol=1e-6)
    # The limit of the derivative in the power, log(x)^2 / 2.
    slope = olympus.grad(special.boxcox, 1)(np.float32(3), np.float32(0))
    np.testing.assert_allclose(slope, np.log(3) ** 2 / 2, rtol=1e-6)


@pytest.mark.slow
def test_transformations_agree():
    x = np.float32([0.25, 0.5, 0.75])
    for name in ("ndtri", "gamma", "logit"):
        function = getattr(special, name)
        want = function(x)
        np.testing.assert_allclose(olympus.vmap(function)(x), want, rtol=1e-6)
        np.testing.assert_allclose(olympus.jit(function)(x), want, rtol=1e-6)


# Results for a Python float, an int32 and a float16 array: as jax.scipy.special 0.10.2,
# but where that refuses a kind of numbers.
@pytest.mark.slow
@pytest.mark.parametrize("name", ["entr", "gamma", "ndtr", "i0", "erfinv"])
def test_dtypes(name):
    function = getattr(special, name)
    weak = function(0.5)
    assert weak.dtype == np.float32
    assert weak.weak_type == (name not in ("gamma", "ndtr"))
    assert function(np.int32([1])).dtype == np.float32
    half = function(np.float16([0.5]))
    assert half.dtype == np.float16
    np.testing.assert_allclose(half, function(np.float32([0.5])), rtol=1e-3)


@pytest.mark.slow
def test_complex_arguments():
    z = np.complex64([0.3 + 2j, -3.2 + 0.7j, 8 - 1j, -20.5 - 0.1j])
    np.testing.assert_allclose(special.loggamma(z), reference.loggamma(z), rtol=2e-5)
    np.testing.assert_allclose(special.gamma(z), reference.gamma(z), rtol=2e-4)
    np.testing.assert_allclose(special.expit(z), 1 / (1 + np.exp(-z)), rtol=1e-5)


def test_bernoulli_numbers():
    np.testing.assert_allclose(special.bernoulli(60), reference.bernoulli(60), 1e-6)
    np.testing.assert_array_equal(special.bernoulli(0), [1])
    np.testing.assert_array_equal(special.bernoulli(1), [1, -0.5])
    with olympus.enable_x64(True):
        want = reference.bernoulli(258)
        np.testing.assert_allclose(special.bernoulli(258), want, rtol=5e-12)


@pytest.mark.slow
def test_functions_of_whole_numbers():
    x = np.float32([2.5, 4])
    np.testing.assert_allclose(
        special.multigammaln(x, 3), reference.multigammaln(x, 3), rtol=1e-6
    )
    np.testing.assert_allclose(
        special.polygamma(np.int32([0, 1, 3]), np.float32(2.5)),
        reference.polygamma([0, 1, 3], 2.5),
        rtol=1e-5,
    )
    np.testing.assert_allclose(
        special.zeta(x, np.float32(1)), reference.zeta(x, 1), rtol=1e-6
    )
    assert special.comb(5, 2, repetition=True) == 15
    assert special.comb(0, 0, repetition=True) == 1
    assert special.comb(0, 1, repetition=True) == 0


def test_softmax_is_over_all_axes():
    x = np.float32([[1, 2], [3, -1]])
    np.testing.assert_allclose(special.softmax(x), reference.softmax(x), rtol=1e-6)
    np.testing.assert_allclose(
        special.log_softmax(x, axis=0), reference.log_softmax(x, axis=0), rtol=1e-6
    )
    np.testing.assert_allclose(special.logsumexp(x), reference.logsumexp(x), rtol=1e-6)


@pytest.mark.parametrize(
    ("call", "kind", "message"),
    [
        (lambda: special.gamma([1.0]), TypeError, "gamma: arguments must be arrays"),
        (lambda: special.logsumexp([1.0]), TypeError, r"special\.logsumexp: arg"),
        (lambda: special.entr(1j), ValueError, "entr: does not support complex"),
        (lambda: special.polygamma(0.5, 1.0), ValueError, "must be of integer type"),
        (lambda: special.zeta(2.0), NotImplementedError, "q must be given"),
        (lambda: special.factorial(3, exact=True), NotImplementedError, "exact"),
        (lambda: special.bernoulli(-1), ValueError, "non-negative"),
        (lambda: special.bernoulli(2.5), TypeError, "must be an integer"),
        (lambda: special.multigammaln(3.0, 2.5), ValueError, "positive integer"),
        (lambda: special.multigammaln(3.0, "d"), ValueError, "invalid literal|integer"),
        (lambda: special.log_ndtr(1.0, -1), ValueError, "non-negative"),
        (lambda: special.log_ndtr(1.0, 31), ValueError, "<= 30"),
        (lambda: special.log_ndtr(1.0, 2.5), TypeError, "Python integer"),
        (lambda: special.beta(np.ones(2), np.ones(3)), TypeError, "incompatible"),
    ],
)
def test_refusals(call, kind, message):
    with pytest.raises(kind, match=message):
        call()


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_owens_t_far_out_is_zero(dtype):
    large = np.finfo(dtype).max
    with olympus.enable_x64(True):
        far = special.owens_t(np.array([large, -large, 200], dtype), dtype(0.75))
        steep = special.owens_t(dtype(1), np.array([large, np.inf], dtype))
        slope = olympus.grad(special.owens_t)(dtype(large), dtype(0.75))
    np.testing.assert_array_equal(far, 0)
    np.testing.assert_allclose(steep, 0.07932763, rtol=1e-3)
    assert slope == 0
