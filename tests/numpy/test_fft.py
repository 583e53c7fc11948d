"""Fourier transforms against NumPy's, and their derivatives."""

from __future__ import annotations

import numpy as np
import pytest

import olympus
from olympus import numpy as jnp

pytestmark = pytest.mark.sampled(3)

RNG = np.random.default_rng(0)
REAL = RNG.normal(size=(3, 4, 5))
COMPLEX = REAL + 1j * RNG.normal(size=REAL.shape)

# Each transform with what it takes; the first of each case is for the quick tests.
ONE = {
    "fft": COMPLEX,
    "ifft": COMPLEX,
    "rfft": REAL,
    "irfft": COMPLEX,
    "hfft": COMPLEX,
    "ihfft": REAL,
}
SEVERAL = {
    "fftn": COMPLEX,
    "ifftn": COMPLEX,
    "rfftn": REAL,
    "irfftn": COMPLEX,
    "fft2": COMPLEX,
    "ifft2": COMPLEX,
    "rfft2": REAL,
    "irfft2": COMPLEX,
}


def check(name, x, **kwargs):
    """Agrees with NumPy in value, and in dtype up to the width."""
    got = np.asarray(getattr(jnp.fft, name)(x, **kwargs))
    want = getattr(np.fft, name)(x, **kwargs)
    assert got.dtype.kind == want.dtype.kind
    assert got.shape == want.shape
    np.testing.assert_allclose(got, want, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("name", ONE)
def test_one_axis(x64, name):
    check(name, ONE[name])


@pytest.mark.slow
@pytest.mark.parametrize("norm", ["backward", "ortho", "forward"])
@pytest.mark.parametrize(("n", "axis"), [(None, 0), (3, 1), (8, -1), (1, -1), (7, 2)])
@pytest.mark.parametrize("name", ONE)
def test_one_axis_by_size_axis_and_norm(x64, name, n, axis, norm):
    check(name, ONE[name], n=n, axis=axis, norm=norm)


@pytest.mark.slow
@pytest.mark.parametrize("norm", [None, "ortho", "forward"])
@pytest.mark.parametrize(
    ("s", "axes"), [(None, (0, 2)), ((2, 7), (2, 1)), ((4, 4), (-1, 0))]
)
@pytest.mark.parametrize("name", SEVERAL)
def test_several_axes(x64, name, s, axes, norm):
    check(name, SEVERAL[name], s=s, axes=axes, norm=norm)


@pytest.mark.slow
@pytest.mark.parametrize("name", [n for n in SEVERAL if n.endswith("n")])
def test_all_axes_and_more_than_three(x64, name):
    check(name, SEVERAL[name])
    wide = RNG.normal(size=(2, 3, 2, 3, 4))
    x = wide if name == "rfftn" else wide + 1j * wide[::-1]
    check(name, x)
    check(name, x, s=(2, 2, 3, 3), axes=(3, 0, 4, 1))


@pytest.mark.slow
def test_dtypes():
    f32, c64 = np.float32, np.complex64
    for x in (np.arange(4), np.array([True, False]), np.ones(3, f32)):
        assert jnp.fft.fft(x).dtype == c64
        assert jnp.fft.rfft(x).dtype == c64
        assert jnp.fft.irfft(x).dtype == f32


@pytest.mark.slow
def test_frequencies():
    for n in (1, 4, 5, 0):
        for d in (1.0, 0.25):
            np.testing.assert_allclose(
                jnp.fft.fftfreq(n, d), np.fft.fftfreq(n, d) if n else []
            )
            if n:
                np.testing.assert_allclose(
                    jnp.fft.rfftfreq(n, d), np.fft.rfftfreq(n, d)
                )
    assert jnp.fft.fftfreq(4, dtype="float16").dtype == np.float16
    slope = olympus.grad(lambda d: jnp.fft.fftfreq(4, d)[1])(0.5)
    np.testing.assert_allclose(slope, -1.0)


@pytest.mark.parametrize("name", ["fftshift", "ifftshift"])
def test_shifts(name):
    x = np.arange(20).reshape(4, 5)
    for axes in (None, 0, (1,), (0, -1)):
        got = getattr(jnp.fft, name)(x, axes=axes)
        np.testing.assert_array_equal(got, getattr(np.fft, name)(x, axes=axes))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: jnp.fft.fft([1.0]), "fft.fft"),
        (lambda: jnp.fft.fft(REAL, axis=3), "out of bounds"),
        (lambda: jnp.fft.fft(REAL, axis=(0,)), "fftn"),
        (lambda: jnp.fft.fft(REAL, n=0), "positive"),
        (lambda: jnp.fft.fft(REAL, norm="none"), "norm"),
        (lambda: jnp.fft.rfft(COMPLEX), "real"),
        (lambda: jnp.fft.fftn(REAL, s=(2,), axes=(0, 1)), "different lengths"),
        (lambda: jnp.fft.fftn(REAL, axes=(0, 0)), "repeated"),
        (lambda: jnp.fft.fft2(REAL, axes=(0, 1, 2)), "2 axes"),
        (lambda: jnp.fft.rfftn(REAL, axes=()), "at least one"),
        (lambda: jnp.fft.fft(REAL, n=2.5), "n must be an integer"),
        (lambda: jnp.fft.fftn(REAL, s=3), "s must be a sequence"),
        (lambda: jnp.fft.fft2(REAL, axes=None), "axes must be a sequence"),
        (lambda: jnp.fft.fftfreq([3]), "n must be one number"),
    ],
)
def test_refusals(call, message):
    with pytest.raises((ValueError, TypeError), match=message):
        call()


def energy(name, weights):
    def run(x):
        y = getattr(jnp.fft, name)(x)
        return jnp.sum(weights * jnp.real(y * jnp.conj(y)))

    return run


@pytest.mark.slow
@pytest.mark.parametrize("name", ["rfft", "irfft"])
def test_gradients_of_real_transforms(x64, name):
    x = REAL[0]
    f = energy(name, 1.0 + np.arange(np.prod(getattr(np.fft, name)(x).shape[-1])))
    t, step = RNG.normal(size=x.shape), 1e-6
    want = (f(x + step * t) - f(x - step * t)) / (2 * step)
    np.testing.assert_allclose(np.sum(olympus.grad(f)(x) * t), want, rtol=1e-6)


def test_a_filter_by_transforms_is_a_convolution(x64):
    """And so are their gradients."""
    x, kernel = REAL[0, 0], REAL[1, 0, :3]

    def by_fft(x):
        n = x.shape[0] + 2
        return jnp.fft.irfft(jnp.fft.rfft(x, n) * jnp.fft.rfft(kernel, n), n)

    np.testing.assert_allclose(by_fft(x), np.convolve(x, kernel), atol=1e-12)
    got = olympus.grad(lambda x: jnp.sum(by_fft(x) ** 2))(x)
    want = 2 * np.correlate(np.convolve(x, kernel), kernel, "valid")
    np.testing.assert_allclose(got, want, atol=1e-12)


@pytest.mark.slow
def test_under_transformations(x64):
    x = REAL[0]
    mapped = olympus.vmap(jnp.fft.rfft, in_axes=1, out_axes=1)(x)
    np.testing.assert_allclose(mapped, np.fft.rfft(x, axis=0), atol=1e-12)
    jitted = olympus.jit(jnp.fft.irfft2)(COMPLEX)
    np.testing.assert_allclose(jitted, np.fft.irfft2(COMPLEX), atol=1e-12)
    hessian = olympus.hessian(energy("rfft", 1.0))(x[0])
    # Parseval: the sum of squares of all frequencies is n times that of the places.
    full = olympus.hessian(energy("fft", 1.0))(x[0])
    np.testing.assert_allclose(full, 2 * len(x[0]) * np.eye(len(x[0])), atol=1e-10)
    np.testing.assert_allclose(hessian, hessian.T, atol=1e-10)
