"""Bessel functions, integrals, hypergeometric functions, harmonics, against SciPy."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import special as reference

import olympus
from olympus import test_util
from olympus.scipy import special

pytestmark = pytest.mark.sampled(5)

LINE = np.concatenate([-np.geomspace(30, 1e-6, 60), [0], np.geomspace(1e-6, 60, 80)])
POSITIVE = np.geomspace(1e-6, 80, 100)
RADII, ANGLES = np.geomspace(0.01, 50, 12), np.linspace(0, np.pi, 13)


def grid(*axes):
    """All combinations, an array for each argument."""
    return np.array(np.meshgrid(*axes)).reshape(len(axes), -1)


# Function: its arguments and the relative error allowed, in rounding units.
TABLE = {
    "dawsn": ([LINE], 100),
    "erfcx": ([LINE[LINE > -9]], 60),
    "exp1": ([POSITIVE], 20),
    "expi": ([LINE], 20),
    "expn": (grid([0, 1, 2, 3, 5, 12], POSITIVE[::3]), 80),
    "fresnel": ([LINE], 30),
    "hyp1f1": (
        grid([-2, 0.3, 1, 2.5, 6], [0.5, 1.7, 8], [-200, -60, -3, 0, 0.1, 15, 60]),
        150,
    ),
    "hyp2f1": (
        grid([-2, 0.3, 1.1], [0.4, 1.7], [0.6, 2.1, 4.3], [-50, -0.9, 0.1, 0.85, 0.93]),
        300,
    ),
    "owens_t": (grid([0, 0.1, 0.7, 2, 5, 9], [-3, -1, -0.4, 0, 0.2, 1.7, 30]), 100),
    "sici": ([POSITIVE], 100),
    "spence": ([np.append(0, POSITIVE)], 120),
    "wofz": ([(RADII[:, None] * np.exp(1j * ANGLES)).ravel()], 100),
}  # fmt: skip


def units(name, arguments, dtype):
    """The largest relative error of a function, in rounding units."""
    short = np.complex64 if dtype == np.float32 else np.complex128
    given = [np.asarray(x, short if np.iscomplexobj(x) else dtype) for x in arguments]
    outs = getattr(special, name)(*given)
    wide = [x.astype(complex if np.iscomplexobj(x) else float) for x in given]
    wants = getattr(reference, name)(*wide)
    if not isinstance(outs, tuple):
        outs, wants = (outs,), (wants,)
    worst = 0
    limits = np.finfo(dtype)
    for got, want in zip(outs, wants, strict=True):
        assert got.dtype == (short if np.iscomplexobj(want) else dtype)
        usual = np.isfinite(want) & (abs(want) > limits.tiny) & (abs(want) < limits.max)
        error = abs(np.asarray(got)[usual] - want[usual]) / abs(want[usual])
        worst = max(worst, error.max() / limits.eps)
    return worst


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


@pytest.mark.slow
def test_a_value_of_each():
    for name in ("expi", "spence", "owens_t", "hyp2f1"):
        count = {"owens_t": 2, "hyp2f1": 4}.get(name, 1)
        point = [0.5, 0.75, 1.25, 0.25][:count]
        got = getattr(special, name)(*point)
        np.testing.assert_allclose(got, getattr(reference, name)(*point), rtol=3e-6)


INF, NAN = np.inf, np.nan

# SciPy's values. jax.scipy.special 0.10.2 gives NaN for expi at 0 and infinity, and for
# exp1 and sici's first result at infinity.
POINTS = {
    "dawsn": ([-INF, -0.0, INF, NAN], [0, 0, 0, NAN]),
    "erfcx": ([-INF, 0, INF, NAN], [INF, 1, 0, NAN]),
    "exp1": ([-1, 0, INF, NAN], [NAN, INF, 0, NAN]),
    "expi": ([-INF, 0, INF, NAN], [0, -INF, INF, NAN]),
    "spence": ([-1, 0, 1, NAN], [NAN, np.pi**2 / 6, 0, NAN]),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", POINTS)
def test_special_points(name):
    x, want = POINTS[name]
    got = getattr(special, name)(np.float32(x))
    np.testing.assert_allclose(got, want, rtol=1e-6)


@pytest.mark.slow
def test_special_points_of_pairs():
    x = np.float32([-INF, 0, INF, NAN])
    sine, cosine = special.fresnel(x)
    np.testing.assert_array_equal(sine, [-0.5, 0, 0.5, NAN])
    np.testing.assert_array_equal(cosine, [-0.5, 0, 0.5, NAN])
    sine, cosine = special.sici(x)
    np.testing.assert_allclose(sine, [-np.pi / 2, 0, np.pi / 2, NAN], rtol=1e-6)
    np.testing.assert_array_equal(cosine, [NAN, -INF, 0, NAN])
    n, x = np.float32([-1, 2.5, 1, 3, 2]), np.float32([1, 1, 0, 0, INF])
    np.testing.assert_allclose(special.expn(n, x), [NAN, NAN, INF, 0.5, 0])
    a, b, c = np.float32([0.3, 0.3]), np.float32([0.4, 0.4]), np.float32([2, 0.5])
    at_one = special.hyp2f1(a, b, c, np.float32(1))
    np.testing.assert_allclose(at_one, [reference.hyp2f1(0.3, 0.4, 2, 1), INF], 1e-5)


@pytest.mark.slow
@pytest.mark.parametrize("v", [0, 12, 40])
def test_bessel_functions_of_the_first_kind(v):
    z = np.concatenate([[0], np.geomspace(1e-5, 90, 60), -np.geomspace(0.1, 40, 5)])
    for dtype in (np.float32, np.float64):
        with olympus.enable_x64(dtype == np.float64):
            given = z.astype(dtype)
            got = special.bessel_jn(given, v=v)
        want = np.stack([reference.jv(n, given.astype(float)) for n in range(v + 1)])
        assert got.shape == (v + 1, z.size)
        eps = np.finfo(dtype).eps
        np.testing.assert_allclose(got, want, rtol=0, atol=10 * eps)
        small = abs(given) < 1
        np.testing.assert_allclose(got[:, small], want[:, small], 100 * eps, 1e-30)


@pytest.mark.slow
def test_spherical_harmonics():
    n, m, theta, phi = grid(range(7), range(-7, 8), [0, 0.1, 1.2, 2.9], [-0.3, 2.0])
    n, m = n.astype(int), m.astype(int)
    want = np.where(abs(m) > n, 0, reference.sph_harm_y(n, m, theta, phi))
    given = n, m, theta.astype(np.float32), phi.astype(np.float32)
    np.testing.assert_allclose(special.sph_harm_y(*given), want, atol=2e-6)
    with olympus.enable_x64(True):
        got = special.sph_harm_y(n, m, theta, phi)
        assert got.dtype == np.complex128
        np.testing.assert_allclose(got, want, atol=1e-14)
    traced = olympus.jit(lambda *args: special.sph_harm_y(*args, n_max=4))(*given)
    np.testing.assert_allclose(traced[n <= 4], want[n <= 4], atol=2e-6)
    assert np.isnan(traced[n > 4]).all()


SLOPES = {
    "dawsn": ([0.5], [3.0], [12.0]),
    "erfcx": ([-1.0], [2.0], [7.0]),
    "exp1": ([0.5], [3.0]),
    "expi": ([-2.0], [0.5], [45.0]),
    "fresnel": ([0.7], [3.2]),
    "hyp1f1": ([1.2, 2.5, 0.7], [1.2, 2.5, -3.0]),
    "hyp2f1": ([1.2, 0.5, 2.3, 0.3], [1.2, 0.5, 2.3, -1.5]),
    "owens_t": ([0.7, 0.4], [0.5, 3.0]),
    "sici": ([0.7], [6.0]),
    "spence": ([0.3], [1.0], [3.0]),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", SLOPES)
def test_derivatives_are_those_of_finite_differences(name):
    with olympus.enable_x64(True):
        for point in SLOPES[name]:
            given = tuple(np.float64(x) for x in point)
            function = getattr(special, name)
            test_util.check_grads(function, given, order=1, atol=1e-4, rtol=1e-4)


@pytest.mark.slow
def test_derivatives_of_functions_with_orders():
    with olympus.enable_x64(True):
        check = {"order": 1, "atol": 1e-5, "rtol": 1e-5}
        z = np.float64([0.4, 7.0, 33.0])
        test_util.check_grads(lambda x: special.bessel_jn(x, v=3), (z,), **check)
        x = np.float64([0.4, 2.0])
        for n in (0, 1, 3):
            test_util.check_grads(lambda x, n=n: special.expn(n, x), (x,), **check)
        z = np.complex128([0.4 + 1j, 9 + 2j, 0.5 - 0.3j])
        slope = olympus.jvp(special.wofz, (z,), (np.ones_like(z),))[1]
        want = 2j / np.sqrt(np.pi) - 2 * z * reference.wofz(z)
        np.testing.assert_allclose(slope, want, rtol=1e-11)
        angle = np.float64(0.7)
        test_util.check_grads(
            lambda x: special.sph_harm_y(3, 2, x, 0.3).real, (angle,), **check
        )


@pytest.mark.slow
def test_transformations_agree():
    x = np.float32([0.25, 0.5, 2.75])
    for name in ("expi", "dawsn", "spence"):
        function = getattr(special, name)
        want = function(x)
        np.testing.assert_allclose(olympus.vmap(function)(x), want, rtol=1e-6)
        np.testing.assert_allclose(olympus.jit(function)(x), want, rtol=1e-6)
        np.testing.assert_allclose(function(np.float16(x)), want, rtol=2e-3)


@pytest.mark.parametrize(
    ("call", "kind", "message"),
    [
        (lambda: special.expi([1.0]), TypeError, "expi: arguments must be arrays"),
        (lambda: special.exp1(1j), ValueError, "exp1: does not support complex"),
        (lambda: special.fresnel(1j), NotImplementedError, "complex-valued"),
        (lambda: special.bessel_jn(1.0, v=2.5), TypeError, "v must be an integer"),
        (lambda: special.bessel_jn(1.0, v=-1), ValueError, "v must not be negative"),
        (
            lambda: special.sph_harm_y(0.5, 1, 1.0, 1.0),
            TypeError,
            "n must have an integer dtype",
        ),
        (
            lambda: special.sph_harm_y(1, 1, 1.0, 1.0, diff_n=1),
            NotImplementedError,
            "diff_n must be None",
        ),
        (
            lambda: olympus.jit(special.sph_harm_y)(1, 1, 1.0, 1.0),
            olympus.errors.ConcretizationTypeError,
            "n_max must be given",
        ),
    ],
)
def test_refusals(call, kind, message):
    with pytest.raises(kind, match=message):
        call()


# Derivatives in a parameter, from differences of 50 digits (mpmath): the first one, and
# for the confluent function the second one too.
HYPERGEOMETRIC = {
    ("hyp1f1", 0): [
        ((-2.0, 0.5, 5.0), -3.533053623271789, -38.5525842344239),
        ((0.5, 0.5, -20.0), -0.4070985340902168, 2.84229128474571),
        ((-2.0, 4.0, 30.0), 372085.54629423306, 1529578.67379517),
        ((-3.0, 1.5, 150.0), -1.3530739865897685e56, -9.99936119174474e56),
    ],
    ("hyp1f1", 1): [
        ((0.5, 0.5, -20.0), 0.4070985340902168, -1.15119579244839),
        ((2.5, 2.5, -3.0), 0.10391350352951938, -0.00691814464900376),
    ],
    ("hyp2f1", 0): [
        ((-2.0, 0.5, 1.5, 0.7), 0.1056380420635128, None),
        ((-1.0, 1.0, 2.0, -3.0), -2.446784962986375, None),
    ],
    ("hyp2f1", 1): [
        ((-2.0, -1.0, 1.5, 0.7), -1.0639999999999998, None),
        ((0.5, -1.0, 2.0, 0.9), 0.15935175299544113, None),
        ((1.5, 0.5, 0.5, -2.0), -0.9812283924520223, None),
    ],
    ("hyp2f1", 2): [
        ((-2.0, 0.5, 1.5, -0.4), -0.21191111111111113, None),
    ],
}


@pytest.mark.slow
@pytest.mark.parametrize(("name", "argnum"), HYPERGEOMETRIC)
def test_slopes_in_parameters_where_the_series_ends(name, argnum):
    """The series of the slope goes on where that of the value is a polynomial."""
    points, first, second = zip(*HYPERGEOMETRIC[name, argnum], strict=True)
    with olympus.enable_x64(True):
        columns = np.array(points).T
        slope = olympus.grad(getattr(special, name), argnum)
        got = olympus.jit(olympus.vmap(slope))(*columns)
        np.testing.assert_allclose(got, first, rtol=1e-12)
        if None not in second:
            of = olympus.grad if argnum else olympus.jacfwd
            got = olympus.jit(olympus.vmap(of(slope, argnum)))(*columns)
            np.testing.assert_allclose(got, second, rtol=1e-11)
