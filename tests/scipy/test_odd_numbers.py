"""Values of SciPy's functions at infinities, NaN and far out."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import special as scipy_special

import olympus
from olympus import lax
from olympus.scipy import linalg, special

INF, NAN = np.inf, np.nan


@pytest.mark.slow
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_owens_t_at_infinity(dtype):
    ends = np.array([0, -0.0, 0.5, -1, 3, INF, -INF, NAN], dtype)
    h, a = np.meshgrid(ends, ends)
    with olympus.enable_x64(True):
        out = special.owens_t(h, a)
        np.testing.assert_allclose(
            out, scipy_special.owens_t(h, a), 2e-6 if dtype == "float32" else 1e-14
        )
        slopes = [
            olympus.grad(special.owens_t, i)(dtype_(0), dtype_(INF))
            for dtype_ in (np.dtype(dtype).type,)
            for i in (0, 1)
        ]
    assert np.isfinite(slopes).all()
    assert slopes[1] == 0


@pytest.mark.slow
def test_gamma_variates_far_from_their_shape():
    a = np.array([1, 1, 0.5, 10, 1e-3, 100, 1000, 1e4, 0.5, 1e-3])
    x = np.array([50, 2000, 300, 500, 30, 2000, 1, 2e4, 1e-200, 1e-300])
    with olympus.enable_x64(True):
        out = np.asarray(lax.random_gamma_grad(a, x))
        assert np.isfinite(out).all()
        h = 1e-6 * a[:2]
        # dx/da at a fixed probability; for the shape 1 in its upper tail.
        q = np.exp(-x[:1])
        numeric = (
            scipy_special.gammainccinv(a[:1] + h[:1], q)
            - scipy_special.gammainccinv(a[:1] - h[:1], q)
        ) / (2 * h[:1])
        np.testing.assert_allclose(out[:1], numeric, 1e-7)
        # Recorded from jax 0.10.2.
        np.testing.assert_allclose(
            out[[2, 3, 5]], [7.65788836901754, 4.03741393758025, 3.1574], 1e-4
        )
        small = lax.random_gamma_grad(a[:8].astype("f4"), x[:8].astype("f4"))
        np.testing.assert_allclose(small, out[:8], 2e-5)
        once = olympus.grad(lambda a: lax.random_gamma_grad(a, 30.0))(2.0)
        step = 1e-5
        twice = lax.random_gamma_grad(2.0 + step, 30.0)
        twice = (twice - lax.random_gamma_grad(2.0 - step, 30.0)) / (2 * step)
        np.testing.assert_allclose(once, twice, 1e-6)
        once = olympus.grad(lambda x: lax.random_gamma_grad(2.0, x))(30.0)
        twice = lax.random_gamma_grad(2.0, 30.0 + step)
        twice = (twice - lax.random_gamma_grad(2.0, 30.0 - step)) / (2 * step)
        np.testing.assert_allclose(once, twice, 1e-6)


@pytest.mark.slow
def test_the_exponential_of_nan_and_its_derivative():
    a, e = np.full((2, 2), NAN, np.float32), np.ones((2, 2), np.float32)
    for out in linalg.expm_frechet(a, e):
        assert np.isnan(out).all()
    assert np.isnan(linalg.expm(a)).all()


@pytest.mark.slow
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_sine_integrals_far_out(dtype):
    x = np.array([1e20, 1e30, 1.1e30, 1e35, -1e35, INF, -INF, NAN], dtype)
    with olympus.enable_x64(True):
        sine, cosine = special.sici(x)
    with np.errstate(invalid="ignore"):
        wanted = np.sin(x) / x
    np.testing.assert_allclose(sine, scipy_special.sici(x)[0], 1e-6)
    np.testing.assert_allclose(cosine[:4], wanted[:4], 1e-5)
    np.testing.assert_array_equal(np.asarray(cosine)[[5, 6, 7]], [0, NAN, NAN])
