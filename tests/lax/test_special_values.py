"""Values of elementwise functions where parts are zero, infinite or tiny."""

from __future__ import annotations

import numpy as np
import pytest

import olympus
import olympus.numpy as jnp
from olympus import lax

INF, NAN = np.inf, np.nan


@pytest.mark.parametrize(
    ("fun", "z", "wanted"),
    [
        # Recorded from jax 0.10.2; the real axis keeps sines real and cosines real.
        (lax.sin, complex(0, INF), complex(0, INF)),
        (lax.sin, complex(0, -INF), complex(0, -INF)),
        (lax.sin, complex(-0.0, -2), complex(0, -3.626860407847019)),
        (lax.sin, complex(0, NAN), complex(0, NAN)),
        (lax.sin, complex(0, -0.0), complex(0, -0.0)),
        (lax.cos, complex(0, INF), complex(INF, 0)),
        (lax.cos, complex(0, -INF), complex(INF, 0)),
        (lax.cos, complex(0, NAN), complex(NAN, 0)),
        (lax.cos, complex(1, -0.0), complex(0.5403023058681398, 0)),
        (lax.cos, complex(-2, -0.0), complex(-0.4161468365471424, -0.0)),
        (lax.cos, complex(0, 1), complex(1.5430806348152437, 0)),
    ],
)
def test_complex_sine_and_cosine(fun, z, wanted):
    with olympus.enable_x64(True):
        found = complex(fun(np.complex128(z)))
    for x, y in ((found.real, wanted.real), (found.imag, wanted.imag)):
        np.testing.assert_allclose(x, y, rtol=1e-14)
        assert np.isnan(y) or np.signbit(x) == np.signbit(y)


def test_complex_sine_and_cosine_elsewhere():
    z = np.random.default_rng(0).normal(size=(40, 2)).view(np.complex128)[:, 0] * 3
    with olympus.enable_x64(True):
        np.testing.assert_allclose(lax.sin(z), np.sin(z), rtol=1e-13)
        np.testing.assert_allclose(lax.cos(z), np.cos(z), rtol=1e-13)
        np.testing.assert_allclose(lax.sin(z * 1e-9), np.sin(z * 1e-9), rtol=1e-13)


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_spacing_of_small_numbers(dtype):
    tiny = np.finfo(dtype).smallest_subnormal
    normal = np.finfo(dtype).tiny
    x = np.array([0, tiny, normal, normal * 2, 1, -3, np.finfo(dtype).max], dtype)
    with olympus.enable_x64(True):
        found = np.asarray(jnp.spacing(x))
        assert np.isnan(jnp.spacing(np.array([INF, -INF, NAN], dtype))).all()
    assert found.dtype == dtype
    with np.errstate(over="ignore"):
        wanted = np.copysign(np.spacing(x), x)  # half precision loses the sign there
    assert found.tobytes() == wanted.tobytes()


def test_decimal_logarithms_of_powers_of_ten():
    powers = np.arange(-30, 31)
    x = (10.0**powers).astype(np.float32)
    np.testing.assert_array_max_ulp(np.asarray(jnp.log10(x)), powers.astype("f4"), 1)
    few = np.arange(-5, 6)
    found = jnp.log10((10.0**few).astype(np.float32))
    np.testing.assert_array_equal(found, few)
    np.testing.assert_array_equal(jnp.geomspace(1, 100, 3), [1, 10, 100])
    x = np.abs(np.random.default_rng(0).normal(size=2000)).astype(np.float32) * 100
    exact = np.log10(x.astype(np.float64)).astype(np.float32)
    np.testing.assert_array_max_ulp(np.asarray(jnp.log10(x)), exact, 2)


@pytest.mark.slow
def test_incomplete_gamma_functions_of_the_shape_zero():
    a, x = np.float32([0, 0, 0]), np.float32([2, np.inf, 0])
    np.testing.assert_array_equal(lax.igamma(a, x), [1, 1, np.nan])
    np.testing.assert_array_equal(lax.igammac(a, x), [0, 0, np.nan])


def test_negative_powers_of_integers_and_formats_without_exponent_are_refused():
    with pytest.raises(TypeError, match="Integers cannot be raised to negative"):
        lax.integer_pow(np.int32([2, 3]), -1)
    with pytest.raises(ValueError, match="exponent_bits must be 1 or more"):
        lax.reduce_precision(np.float32([1]), 0, 3)


@pytest.mark.parametrize("dtype", ["bfloat16", "float32", "float64"])
def test_division_by_literals_with_a_subnormal_reciprocal(dtype):
    with olympus.enable_x64(dtype == "float64"):
        largest = jnp.finfo(dtype).max
        x = jnp.asarray([1.0, -0.5, 0.25, jnp.nan, jnp.inf], dtype) * largest
        for literal in (largest, largest / 2, largest / 4, jnp.inf):
            with np.errstate(invalid="ignore"):
                want = np.asarray(x).astype("longdouble") / np.longdouble(literal)
            got = np.asarray(olympus.jit(lambda x, y=literal: x / y)(x))
            np.testing.assert_allclose(got.astype("longdouble"), want, rtol=1e-2)
