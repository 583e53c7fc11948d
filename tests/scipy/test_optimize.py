"""Minimization: known least places, SciPy's results, options."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.optimize

import olympus
import olympus.numpy as jnp
from olympus.scipy import optimize

pytestmark = pytest.mark.usefixtures("x64")

LIMITED = "l-bfgs-experimental-do-not-rely-on-this"


def rosenbrock(x):
    return (100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2).sum()


def himmelblau(x):
    return (x[0] ** 2 + x[1] - 11) ** 2 + (x[0] + x[1] ** 2 - 7) ** 2


def quartic(x):
    return ((x - 1) ** 2 + x**4).sum()


@pytest.mark.slow
@pytest.mark.parametrize("f", [rosenbrock, himmelblau, quartic])
def test_finds_a_least_place_that_scipy_agrees_on(f):
    start = np.array([0.5, 2.0])
    found = optimize.minimize(f, start, method="BFGS")
    assert bool(found.success)
    assert int(found.status) == 0
    assert float(abs(found.jac).max()) < 1e-5
    again = scipy.optimize.minimize(f, found.x, method="BFGS")
    np.testing.assert_allclose(found.x, again.x, atol=1e-5)
    np.testing.assert_allclose(found.fun, f(np.asarray(found.x)), rtol=1e-6)
    assert int(found.nfev) == int(found.njev) >= int(found.nit) > 0


@pytest.mark.slow
def test_many_unknowns_and_the_inverse_of_the_hessian():
    found = optimize.minimize(rosenbrock, np.zeros(6), method="bfgs")
    np.testing.assert_allclose(found.x, np.ones(6), atol=1e-5)
    curve = np.array([[3.0, 1.0], [1.0, 2.0]])
    bowl = optimize.minimize(
        lambda x, c: 0.5 * x @ c @ x, np.array([2.0, -1.0]), (curve,), method="BFGS"
    )
    np.testing.assert_allclose(bowl.hess_inv, np.linalg.inv(curve), atol=1e-3)


@pytest.mark.slow
def test_it_says_why_it_stopped():
    few = optimize.minimize(
        rosenbrock, np.zeros(2), method="BFGS", options={"maxiter": 2}
    )
    assert (int(few.status), bool(few.success), int(few.nit)) == (1, False, 2)
    endless = optimize.minimize(lambda x: -x.sum(), np.zeros(2), method="BFGS")
    assert (int(endless.status), bool(endless.success)) == (3, False)
    coarse = optimize.minimize(rosenbrock, np.zeros(2), method="BFGS", tol=1.0)
    assert float(abs(coarse.jac).max()) < 1


@pytest.mark.slow
def test_under_jit_and_vmap():
    def least(start, shift):
        return optimize.minimize(
            lambda x, s: ((x - s) ** 2).sum(), start, (shift,), method="BFGS"
        ).x

    shifts = np.array([[1.0, 2.0], [3.0, -4.0]])
    got = olympus.jit(olympus.vmap(least, in_axes=(None, 0)))(np.zeros(2), shifts)
    np.testing.assert_allclose(got, shifts, atol=1e-6)


@pytest.mark.parametrize(
    ("start", "options", "kind", "said"),
    [
        (np.zeros(2), {"method": "x"}, ValueError, "not recognized"),
        (np.zeros((2, 2)), {"method": "BFGS"}, ValueError, "must be a vector"),
        (np.zeros(2, int), {"method": "BFGS"}, TypeError, "floating"),
        (np.zeros(2), {"method": "BFGS", "args": 3.0}, TypeError, "must be a tuple"),
        (np.zeros(2), {"method": "BFGS", "options": {"x": 1}}, TypeError, "known are"),
        ([0.0], {"method": "BFGS"}, TypeError, "numpy.asarray"),
        (np.zeros(2), {"method": LIMITED, "options": {"x": 1}}, TypeError, "maxcor"),
        (
            np.zeros(2),
            {"method": LIMITED, "options": {"maxcor": 0}},
            ValueError,
            "maxcor must be positive, got 0",
        ),
    ],
)
def test_errors_teach(start, options, kind, said):
    with pytest.raises(kind, match=said):
        optimize.minimize(quartic, start, **options)


@pytest.mark.slow
@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    "f",
    [
        lambda x: jnp.log(x).sum(),
        lambda x: (x * x).sum() / 0.0,
        lambda x: (x * x).sum() + jnp.inf,
        lambda x: jnp.where(x[0] < 0, jnp.inf, x[0]),
    ],
)
@pytest.mark.parametrize("method", ["BFGS", LIMITED])
def test_a_start_without_a_finite_value_is_no_success(f, method):
    x0 = np.array([-1, 2], np.float32)
    out = optimize.minimize(f, x0, method=method)
    assert not out.success
    assert out.status != 0
    np.testing.assert_array_equal(out.x, x0)


# -- L-BFGS ----------------------------------------------------------------------------


def beale(p):
    x, y = p
    parts = (1.5 - x + x * y, 2.25 - x + x * y**2, 2.625 - x + x * y**3)
    return sum(part**2 for part in parts)


def bowl(x):
    return ((x - 1) ** 2 * jnp.arange(1, x.size + 1)).sum()


def sum_without_logarithm(x):
    """Least at 1; no number where a component is negative."""
    return (x - jnp.log(x)).sum()


# A function, a start, and the tolerance beside SciPy's place in float32.
PLACES = {
    "a bowl": (bowl, np.zeros(5), 1e-6),
    "a bowl of one unknown": (bowl, np.array([7.0]), 1e-6),
    "Rosenbrock": (rosenbrock, np.array([-1.2, 1.0]), 1e-3),
    "Rosenbrock of ten": (rosenbrock, np.zeros(10), 1e-2),
    "Himmelblau": (himmelblau, np.zeros(2), 1e-4),
    "Beale": (beale, np.ones(2), 1e-3),
    "a quartic": (quartic, np.array([0.5, 2.0]), 1e-4),
    "values that are no number": (sum_without_logarithm, np.array([0.05, 9.0]), 1e-3),
}


@pytest.mark.slow
@pytest.mark.sampled(4)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", PLACES)
def test_limited_memory_finds_what_scipy_finds(name, dtype):
    f, start, atol = PLACES[name]
    x0 = start.astype(dtype)
    out = optimize.minimize(f, x0, method=LIMITED, options={"ftol": 0.0})
    expected = scipy.optimize.minimize(
        lambda x: float(f(x)),
        start,
        jac=lambda x: np.asarray(olympus.grad(f)(x)),
        method="L-BFGS-B",
        options={"ftol": 0.0, "gtol": 1e-9},
    )
    np.testing.assert_allclose(out.x, expected.x, atol=atol)
    assert out.x.dtype == out.fun.dtype == out.jac.dtype == dtype
    np.testing.assert_allclose(out.jac, olympus.grad(f)(out.x), atol=1e-3)
    assert out.hess_inv is None
    assert int(out.nfev) == int(out.njev) > int(out.nit) > 0
    if dtype == "float64":
        assert int(out.status) == 0
        assert bool(out.success)
        assert float(abs(out.jac).max()) < 1e-5


def stiff(x):
    """A bowl whose curvatures differ by 10_000."""
    return ((x - 1) ** 2 * 10.0 ** jnp.linspace(0, 4, x.size)).sum()


@pytest.mark.slow
def test_more_memory_needs_fewer_steps():
    steps = [
        int(optimize.minimize(stiff, np.zeros(30), method=LIMITED, options=o).nit)
        for o in ({"ftol": 0.0, "maxcor": n, "maxiter": 10_000} for n in (1, 5, 30))
    ]
    assert steps[0] > steps[1] > steps[2]


@pytest.mark.slow
@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("options", "status", "nit"),
    [
        ({"maxiter": 0}, 1, 0),
        ({"maxiter": 2}, 1, 2),
        ({"maxfun": 1}, 2, 1),
        ({"maxgrad": 1}, 3, 1),
        ({"maxfun": 1, "maxgrad": 1}, 2, 1),
        ({"ftol": 1.0}, 4, 1),
        ({"ftol": 1.0, "gtol": 100.0}, 0, 0),
        ({"maxls": 0}, 5, 1),
    ],
)
def test_limited_memory_says_why_it_stopped(options, status, nit):
    out = optimize.minimize(
        rosenbrock, np.full(2, 0.5), method=LIMITED, options=options
    )
    assert (int(out.status), int(out.nit)) == (status, nit)
    assert bool(out.success) == (status == 0)
    assert not out.success.weak_type


@pytest.mark.slow
def test_limited_memory_stays_where_no_step_is_found():
    out = optimize.minimize(lambda x: -x.sum(), np.ones(2), method=LIMITED)
    assert (int(out.status), bool(out.success)) == (5, False)
    np.testing.assert_array_equal(out.x, np.ones(2))
    coarse = optimize.minimize(rosenbrock, np.zeros(2), method=LIMITED.upper(), tol=1.0)
    assert 1e-5 < float(abs(coarse.jac).max()) < 1


@pytest.mark.slow
def test_limited_memory_under_jit_and_vmap():
    def least(start, shift):
        return optimize.minimize(
            lambda x, s: rosenbrock(x - s),
            start,
            (shift,),
            method=LIMITED,
            options={"ftol": 0.0},
        )

    starts, shifts = np.array([[0.0, 0.5], [2.0, 1.0], [-1.0, 1.0]]), np.arange(3.0)
    mapped = olympus.jit(olympus.vmap(least))(starts, shifts)
    for i, (start, shift) in enumerate(zip(starts, shifts, strict=True)):
        alone = olympus.jit(least)(start, shift)
        assert int(mapped.status[i]) == int(alone.status) == 0
        assert int(mapped.nit[i]) == int(alone.nit)
        np.testing.assert_allclose(mapped.x[i], alone.x, atol=1e-6)
        np.testing.assert_allclose(alone.x, 1 + shift, atol=1e-4)
