"""Complex functions at zeros, infinities and NaN, as JAX 0.10.2 gives them."""

import json
from pathlib import Path

import numpy as np
import pytest

from olympus import lax

DATA = Path(__file__).parents[1] / "data" / "complex_special_values.json"
RECORDED = json.loads(DATA.read_text())
PARTS = np.array([0.0, -0.0, 1.0, -2.0, np.inf, -np.inf, np.nan, 1e30], np.float32)


@pytest.mark.parametrize("name", RECORDED)
def test_values_and_signs_of_zeros_are_those_of_jax(name):
    z = np.empty((8, 8), np.complex64)
    z.real, z.imag = PARTS[:, None], PARTS
    found = np.asarray(getattr(lax, name)(z.ravel()))
    pairs = [pair.split(",") for pair in RECORDED[name].split()]
    expected = np.array(pairs, np.float32)
    parts = np.stack([found.real, found.imag], -1)
    np.testing.assert_allclose(parts, expected, rtol=1e-5, atol=1e-30)
    is_zero = expected == 0
    signs = np.signbit(parts)[is_zero] == np.signbit(expected)[is_zero]
    assert signs.all(), z.ravel()[is_zero.any(1)]
