"""Incomplete beta functions, against SciPy and numbers of many digits."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.special
import scipy.stats

import olympus
from olympus import lax
from olympus._src.foundation import config
from olympus.scipy import stats

SIZES = np.array([0.3, 5, 19, 21, 300, 1e5, 1e8])
A, B, SPREAD = (
    v.ravel() for v in np.meshgrid(SIZES, SIZES, [-5.0, -1.0, 0.0, 0.5, 4.0])
)
MEANS = A / (A + B)
PLACES = MEANS + SPREAD * np.sqrt(MEANS * (1 - MEANS) / (A + B))
INSIDE = (PLACES > 0) & (PLACES < 1 - 1e-7)


@pytest.mark.slow
@pytest.mark.parametrize(("dtype", "tolerance"), [("float32", 2e-5), ("float64", 1e-9)])
def test_values_of_all_sizes(dtype, tolerance):
    """Loops ended too soon, and logarithms of gamma functions cancelled."""
    with config.enable_x64(True):
        a, b, x = (v[INSIDE].astype(dtype) for v in (A, B, PLACES))
        wide = [v.astype(np.float64) for v in (a, b, x)]
        got = olympus.jit(lax.betainc)(a, b, x)
        assert got.dtype == dtype
        want = scipy.special.betainc(*wide)
        np.testing.assert_allclose(got, want, rtol=tolerance, atol=tolerance * 1e-6)
        upper = stats.beta.sf(x, a, b)
        want = scipy.special.betaincc(*wide)
        np.testing.assert_allclose(upper, want, rtol=tolerance, atol=tolerance * 1e-6)


# At dtypes, a, b and x: the value and its slopes in these, by mpmath with 50 digits.
EXACT = {
    "float32 0.5 1e+08 2e-09": (
        "0.4729107369822111 -0.8201614076317961 2.065766176576776e-09 103288311.5950993"
    ),
    "float64 0.5 1e+08 2e-09": (
        "0.472910742824597 -0.8201614055631703 2.065766194103934e-09 103288309.5502642"
    ),
    "float32,float64 30 40 0.375": (
        "0.1831876587952738 -0.03884075487146863 0.02603667164843726 4.606918604420869"
    ),
    "float32 25 1e+06 1.5e-05": (
        "0.01116720504411066 -0.006402898108264894 "
        "1.245196646508818e-07 8301.473062845453"
    ),
    "float64 25 1e+06 1.5e-05": (
        "0.01116720818980375 -0.006402899651755281 "
        "1.245196961065157e-07 8301.47495021733"
    ),
    "float32,float64 1e+06 400000 0.71484375": (
        "0.928114219198837 -7.319255340462249e-05 "
        "0.0001832318927446734 359.2049347174913"
    ),
    "float32,float64 1e+08 1e+08 0.50006103515625": (
        "0.9578564116592632 -6.35651901002984e-06 "
        "6.357294999655735e-06 2542.762818721318"
    ),
    "float32 1e+12 1e+11 0.909091": (
        "0.6222354603000941 -1.145941916320735e-07 "
        "1.145942526780845e-06 1386590.968273785"
    ),
    "float64 1e+12 1e+11 0.909091": (
        "0.6299276280977899 -1.138485465875852e-07 "
        "1.138486092044973e-06 1377568.722399491"
    ),
    "float64 3e+09 7 0.9999999990686774": (
        "0.9758340466264922 -3.764360256949596e-11 0.0252342552486202 121258531.632429"
    ),
}


def _rows():
    for place, values in EXACT.items():
        names, *where = place.split()
        for dtype in names.split(","):
            yield dtype, *map(float, where), tuple(map(float, values.split()))


@pytest.mark.slow
@pytest.mark.parametrize(("dtype", "a", "b", "x", "want"), list(_rows()))
def test_values_and_slopes_are_exact(dtype, a, b, x, want):
    with config.enable_x64(True):
        where = [np.array(v, dtype) for v in (a, b, x)]
        slopes = olympus.grad(lax.betainc, (0, 1, 2))(*where)
        got = [lax.betainc(*where), *slopes]
        assert {v.dtype.name for v in got} == {dtype}
        tolerance = 1e-5 if dtype == "float32" else 1e-13
        np.testing.assert_allclose(got, want, rtol=tolerance)
        mapped = olympus.vmap(olympus.grad(lax.betainc))(*[v[None] for v in where])
        np.testing.assert_allclose(mapped, want[1:2], rtol=tolerance)


@pytest.mark.slow
def test_second_slopes_of_large_parameters_are_differences():
    with config.enable_x64(True):
        where = np.array([3e6, 2e6, 0.6003])
        slope = olympus.jit(olympus.grad(lambda v: lax.betainc(*v)))
        step = where * 1e-5 * [1, 1, 1e-1]
        want = [
            (slope(where + row) - slope(where - row)) / (2 * size)
            for row, size in zip(np.diag(step), step, strict=True)
        ]
        for again in (olympus.jacfwd, olympus.jacrev):
            np.testing.assert_allclose(again(slope)(where), want, rtol=1e-4)


@pytest.mark.parametrize("dtype", ["bfloat16", "float16"])
def test_small_floats(dtype):
    a = np.array([2, 100, 300]).astype(olympus.numpy.dtype(dtype))
    x = np.array([0.3, 0.45, 0.6]).astype(a.dtype)
    got = lax.betainc(a, a[[1, 1, 2]], x)
    assert got.dtype == a.dtype
    wide = [v.astype(np.float64) for v in (a, a[[1, 1, 2]], x)]
    want = scipy.special.betainc(*wide)
    got = np.asarray(got).astype(np.float64)
    np.testing.assert_allclose(got, want, rtol=5e-3, atol=1e-6)


def test_parameters_without_size_and_without_end():
    inf = np.inf
    a = np.array([0, 2, 0, 0, inf, 2, inf, 0, inf], np.float32)
    b = np.array([2, 0, 0, -1, 2, inf, inf, inf, 0], np.float32)
    want = [1, 0, np.nan, np.nan, 0, 1, np.nan, 1, 0]
    got = lax.betainc(a, b, np.full(9, 0.5, np.float32))
    np.testing.assert_array_equal(got, want)
    got = lax.betainc(a[:2], b[:2], np.zeros(2, np.float32))
    np.testing.assert_array_equal(got, [0, 0])


def test_survival_close_to_0():
    """1 - x has no digits of x."""
    x, b = np.float32(1e-9), np.float32(1e9)
    got = stats.beta.sf(x, np.float32(1), b)
    np.testing.assert_allclose(got, scipy.stats.beta.sf(1e-9, 1, 1e9), rtol=1e-5)
