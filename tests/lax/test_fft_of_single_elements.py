"""Fourier transforms along axes of size 1."""

from __future__ import annotations

import numpy as np
import pytest

import olympus
import olympus.numpy as jnp

X = np.array([[[1.5]], [[-2.0]]], np.float32)


@pytest.mark.parametrize(
    "name", ["fft", "ifft", "rfft", "irfft", "hfft", "fft2", "rfft2"]
)
@pytest.mark.parametrize("dtype", ["float32", "complex64"])
def test_values(name, dtype):
    if name.startswith("rfft") and dtype == "complex64":
        pytest.skip("takes real numbers")
    x = X.astype(dtype)
    options = {"n": 1} if name in ("irfft", "hfft") else {}
    got = olympus.jit(lambda x: getattr(jnp.fft, name)(x, **options))(x)
    np.testing.assert_array_equal(got, getattr(np.fft, name)(x, **options))


def test_the_gradient_of_a_real_transform():
    gradient = olympus.grad(lambda x: jnp.fft.rfft(x).real.sum())(X)
    np.testing.assert_array_equal(gradient, np.ones_like(X))
