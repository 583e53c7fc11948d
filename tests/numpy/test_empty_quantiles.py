"""Quantiles without NaN of lines that have no elements: NaN, as in NumPy."""

from __future__ import annotations

import numpy as np
import pytest

import olympus.numpy as jnp


@pytest.mark.parametrize("method", ["linear", "higher", "inverted_cdf"])
def test_nan_quantiles_of_nothing_are_nan(method):
    nothing = jnp.zeros((0, 3))
    q = jnp.array([0.1, 0.5])
    out = jnp.nanquantile(nothing, q, axis=0, method=method)
    np.testing.assert_array_equal(out, np.full((2, 3), np.nan))
    assert jnp.isnan(jnp.nanpercentile(nothing, 30, method=method))
    kept = jnp.nanmedian(nothing, axis=0, keepdims=True)
    np.testing.assert_array_equal(kept, np.full((1, 3), np.nan))


def test_quantiles_of_nothing_are_refused():
    with pytest.raises(ValueError, match="arrays must have elements"):
        jnp.quantile(jnp.zeros(0), 0.5)
