"""Errors of special and elementary functions stay what the page on accuracy says."""

from __future__ import annotations

import json
import pathlib

import numpy as np
import pytest

import olympus
from bench import accuracy
from olympus.scipy import special, stats

_RECORDED = json.loads(
    (pathlib.Path(__file__).parents[1] / "data" / "accuracy.json").read_text()
)
_CASES = {f"{c.page}.{c.name}": c for c in accuracy.cases()}
_QUICK = {"numpy.log1p", "numpy.log10", "scipy.special.i0e", "scipy.special.dawsn"}
_PARAMS = [
    pytest.param(name, marks=() if name in _QUICK else pytest.mark.slow)
    for name in _CASES
]
# XLA's arctan in float32 has one of two errors, by the length of what it computes and
# by its release; the table has the smaller one.
_LARGER = {("numpy.arctan", "float32"): 5.31}
assert stats


def test_every_function_is_recorded():
    assert set(_RECORDED) == set(_CASES)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("name", _PARAMS)
def test_errors_are_no_larger_than_recorded(name):
    with olympus.enable_x64(True):
        for dtype, bound in zip(("float32", "float64"), _RECORDED[name], strict=True):
            largest = accuracy.measure("olympus", _CASES[name], dtype)
            bound = _LARGER.get((name, dtype), bound)
            assert largest.units <= 1.5 * bound + 1, largest.point


@pytest.mark.parametrize(
    ("name", "units", "small_units"),
    [("dawsn", 2, 3), ("i0", 3, 3.2), ("i0e", 3, 4), ("i1", 3, 4), ("spence", 3, 6)],
)
@pytest.mark.slow
def test_errors_are_no_larger_than_those_of_jax(name, units, small_units):
    with olympus.enable_x64(True):
        for dtype, bound in (("float64", units), ("float32", small_units)):
            largest = accuracy.measure(
                "olympus", _CASES[f"scipy.special.{name}"], dtype
            )
            assert largest.units <= bound, largest.point


@pytest.mark.parametrize("f", [special.rel_entr, special.kl_div])
def test_entropies_of_close_numbers_keep_their_digits(f):
    q = np.float32(3)
    p = q + np.float32(2) ** -np.arange(1, 20, dtype=np.float32)
    gap = (p.astype(np.float64) - 3) / 3
    series = [(-1) ** k * gap**k / (k * (k - 1)) for k in range(2, 60)]
    wanted = 3 * (sum(reversed(series)) + (gap if f is special.rel_entr else 0))
    out = np.asarray(f(p, q), np.float64)
    assert np.all(abs(out - wanted) <= 4 * np.spacing(wanted.astype(np.float32)))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("f", "args", "wanted", "units"),
    [
        # From 40 digits of mpmath.
        (special.gammainc, (1000.0, 464.0), 4.686348977673168e-103, 8),
        (special.gammainc, (100.0, 50.0), 3.200065324585125e-10, 8),
        (special.gammaincc, (200.0, 400.0), 6.209511842996089e-29, 8),
        (special.gammainc, (1e6, 1.001e6), 1 - 0.15865521363165971, 8),
    ],
)
def test_incomplete_gamma_functions_of_large_shapes(f, args, wanted, units):
    with olympus.enable_x64(True):
        out = f(*map(np.float64, args))
        small = f(*map(np.float32, args))
    assert abs(out - wanted) <= units * np.spacing(wanted)
    if wanted > 1e-30:
        wide = np.spacing(np.float32(wanted)).astype(np.float64)
        assert abs(np.float64(small) - wanted) <= 10 * wide


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(
    ("f", "a", "x", "wanted"),
    [
        # From 50 digits of mpmath.
        (special.gammaincc, 2.0**-80, 0.25, 8.6381034923766084e-25),
        (special.gammaincc, 2.0**-27, 0.5, 4.1706383001954152e-9),
        (special.gammaincc, 2.0**-10, 2.0**-20, 0.012891314530522348),
        (special.gammaincc, 2.0**-7, 0.96875, 0.0018207116703820907),
        (special.gammaincc, 0.375, 0.875, 0.13196437868306831),
        (special.gammaincc, 0.125, 1.25, 0.021003360481341208),
        (special.gammaincc, 8.0, 64.0, 1.5681496687501501e-19),
        (special.gammainc, 4.0, 2.0**-24, 5.2590724507012901e-31),
        (special.gammainc, 15.0, 0.125, 1.9331628531601311e-26),
        (special.gammainc, 125.0, 31.625, 4.1649737453146525e-36),
    ],
)
def test_small_results_of_incomplete_gamma_functions(f, a, x, wanted, dtype):
    with olympus.enable_x64(True):
        out = np.float64(f(dtype(a), dtype(x)))
    assert abs(out - wanted) <= 12 * np.float64(np.spacing(dtype(wanted)))
