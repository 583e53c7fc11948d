"""Values of functions at the ends of the ranges of their dtypes, beside NumPy."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

import olympus
import olympus.numpy as jnp
from olympus import lax


@pytest.mark.slow
@pytest.mark.parametrize("dtype", ["int8", "uint8", "int32", "uint32", "int64"])
def test_powers_of_integers_wrap(dtype):
    bases = np.array([0, 1, 2, 3, 5, 6, 7, 255, 254]).astype(dtype)[:, None]
    exponents = [0, 1, 2, 31, 32, 63, 64, 65, 96, 127]
    if np.iinfo(dtype).max > 1000:
        exponents += [128, 192, 256, 1000, 2**31 - 1]
    exponents = np.array(exponents, dtype)
    with olympus.enable_x64(True), np.errstate(all="ignore"):
        np.testing.assert_array_equal(
            jnp.power(bases, exponents), np.power(bases, exponents)
        )


def test_powers_of_zero_to_negative_integers():
    n = -np.array([1, 2, 3, 32, 64, 128, 192], np.int32)
    np.testing.assert_array_equal(jnp.power(np.int32(0), n), np.zeros(7))
    np.testing.assert_array_equal(jnp.power(np.int32(1), n), np.ones(7))
    np.testing.assert_array_equal(jnp.power(np.int32(-1), n), [-1, 1, -1, 1, 1, 1, 1])


@pytest.mark.slow
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_ldexp_far_out(dtype):
    x = np.array([0, -0.0, 1, -1.5, np.inf, -np.inf, np.nan], dtype)[:, None]
    n = np.array([0, 1, 300, -300, 2000, -2000, 20000, -20000, 7, -7], np.int32)
    with olympus.enable_x64(True), np.errstate(all="ignore"):
        out = np.asarray(jnp.ldexp(x, n))
        np.testing.assert_array_equal(out, np.ldexp(x, n).astype(dtype))
        np.testing.assert_array_equal(np.signbit(out[:2]), [[False] * 10, [True] * 10])
        small = np.finfo(dtype).smallest_subnormal * np.array([1, 3, 1000], dtype)
        up = np.array([60, 70, 100] if dtype != "float16" else [12, 20, 9], np.int32)
        np.testing.assert_array_equal(jnp.ldexp(small, up), np.ldexp(small, up))
        slope = olympus.grad(lambda v: jnp.ldexp(v, np.int32(3)))(x.dtype.type(0))
    assert slope == 8


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_frexp_of_subnormals(dtype):
    info = np.finfo(dtype)
    steps = np.array([1, 2, 3, 5, 1000, 2**info.nmant - 1, 2**info.nmant])
    x = (info.smallest_subnormal * steps).astype(dtype)
    x = np.concatenate([x, -x, np.array([0, -0.0, np.inf, np.nan, 1, -3], dtype)])
    with olympus.enable_x64(True):
        mantissa, exponent = jnp.frexp(x)
    for a, b in zip((mantissa, exponent), np.frexp(x), strict=True):
        keep = np.isfinite(x)
        np.testing.assert_array_equal(np.asarray(a)[keep], b[keep])
    np.testing.assert_array_equal(mantissa, np.frexp(x)[0])


def test_complex_squares_that_overflow():
    with olympus.enable_x64(True):
        for z in (1e300 + 1e300j, 1e300 - 1e300j):
            for f in (jnp.square, lax.square, lambda z: lax.integer_pow(z, 2)):
                out = complex(f(np.complex128(z)))
                assert not out.real < 0
                assert np.isinf(out.imag)


@pytest.mark.parametrize("shape", [(0, 0), (0, 3), (3, 0), (2, 0, 3)])
@pytest.mark.parametrize("order", [None, "fro", "nuc", 1, 2, np.inf])
def test_norms_of_empty_matrices(shape, order):
    out = jnp.linalg.norm(np.zeros(shape, np.float32), order, axis=(-2, -1))
    np.testing.assert_array_equal(out, np.zeros(shape[:-2]))


def test_least_norms_of_nothing_are_refused():
    for order, shape in ((-np.inf, (0,)), (-2, (0, 0)), (-1, (0, 0))):
        with pytest.raises(ValueError, match="zero-size array"):
            jnp.linalg.norm(np.zeros(shape, np.float32), order)


_CASES = {
    "concatenate": lambda x: jnp.concatenate([x, x[:3]]),
    "stack": lambda x: jnp.stack([x, x]),
    "vmap": lambda x: olympus.vmap(lambda y: jnp.concatenate([y, y]))(x[:, None]),
    "sort": jnp.sort,
    "argsort": jnp.argsort,
    "lexsort": lambda x: jnp.lexsort((x, x)),
    "unique": jnp.unique,
    "top_k": lambda x: lax.top_k(x, 2)[0],
    "last of top_k": lambda x: lax.top_k(x, 2)[1],
}


@pytest.mark.parametrize("dtype", ["int2", "uint2", "int4"])
@pytest.mark.parametrize("name", _CASES)
def test_integers_of_few_bits(name, dtype):
    values = np.array([1, 0, 1, -2 if dtype[0] == "i" else 3, 1])
    x = values.astype(getattr(ml_dtypes, dtype))
    out = _CASES[name](jnp.asarray(x))
    wide = _CASES[name](jnp.asarray(values.astype(np.int8)))
    np.testing.assert_array_equal(np.asarray(out).astype(int), np.asarray(wide))
    if out.dtype != np.int32:
        assert out.dtype == x.dtype
