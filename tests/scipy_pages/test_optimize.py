"""Minimization: known least places, SciPy's results, options."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.optimize

import olympus
import olympus.numpy as jnp
from olympus.scipy import optimize


@pytest.fixture(autouse=True)
def double():
    with olympus.enable_x64(True):
        yield


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
    ],
)
def test_errors_teach(start, options, kind, said):
    with pytest.raises(kind, match=said):
        optimize.minimize(quartic, start, **options)


@pytest.mark.parametrize(
    "f",
    [
        lambda x: jnp.log(x).sum(),
        lambda x: (x * x).sum() / 0.0,
        lambda x: (x * x).sum() + jnp.inf,
        lambda x: jnp.where(x[0] < 0, jnp.inf, x[0]),
    ],
)
def test_a_start_without_a_finite_value_is_no_success(f):
    x0 = np.array([-1, 2], np.float32)
    out = optimize.minimize(f, x0, method="BFGS")
    assert not out.success
    assert out.status != 0
    np.testing.assert_array_equal(out.x, x0)
