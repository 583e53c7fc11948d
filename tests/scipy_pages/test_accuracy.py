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
_QUICK = {"numpy.log1p", "numpy.arctanh", "scipy.special.i0e", "scipy.special.logit"}
_PARAMS = [
    pytest.param(name, marks=() if name in _QUICK else pytest.mark.slow)
    for name in _CASES
]
assert stats


def test_every_function_is_recorded():
    assert set(_RECORDED) == set(_CASES)


@pytest.mark.parametrize("name", _PARAMS)
def test_errors_are_no_larger_than_recorded(name):
    with olympus.enable_x64(True):
        for dtype, bound in zip(("float32", "float64"), _RECORDED[name], strict=True):
            assert accuracy.measure("olympus", _CASES[name], dtype) <= 1.5 * bound + 1


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
