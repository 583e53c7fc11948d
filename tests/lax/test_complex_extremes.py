"""The largest and smallest complex numbers, and their derivatives."""

from __future__ import annotations

import numpy as np
import pytest

import olympus
import olympus.numpy as jnp
from olympus import export, lax

Z = np.array([1 + 2j, 3 - 1j, 1 + 3j, 3 - 2j, 0 + 5j, 2 + 0j], np.complex64)
# Recorded from JAX 0.12: numbers are ordered by the real, then the imaginary part.
EXTREMES = {"max": (lax.reduce_max, jnp.max, 1), "min": (lax.reduce_min, jnp.min, 4)}


@pytest.mark.parametrize("jitted", [False, True])
@pytest.mark.parametrize("name", EXTREMES)
def test_values(name, jitted):
    reduce, of_numpy, at = EXTREMES[name]
    for f in (lambda z: reduce(z, (0,)), of_numpy):
        f = olympus.jit(f) if jitted else f
        assert f(Z) == Z[at]
        rows = olympus.vmap(f)(np.stack([Z, Z[::-1], Z * 1j]))
        assert rows[0] == rows[1] == Z[at]
    square = Z.reshape(2, 3)
    for axes in [(0,), (1,), (0, 1)]:
        want = np.max(square, axes) if name == "max" else np.min(square, axes)
        np.testing.assert_array_equal(reduce(square, axes), want)


@pytest.mark.parametrize("name", EXTREMES)
def test_derivatives(name):
    """Another number of the same real part has none."""
    reduce, of_numpy, at = EXTREMES[name]
    for f in (lambda z: reduce(z, (0,)), of_numpy):
        slope = olympus.grad(lambda z, f=f: jnp.real(f(z) * (1 + 2j)))(Z)
        want = np.zeros_like(Z)
        want[at] = 1 + 2j
        np.testing.assert_array_equal(slope, want)
        out, tangent = olympus.jvp(f, (Z,), (Z[::-1],))
        assert out == Z[at]
        assert tangent == Z[::-1][at]


@pytest.mark.parametrize("name", EXTREMES)
def test_symbolic_sizes(name):
    reduce, of_numpy, at = EXTREMES[name]
    for f in (lambda z: reduce(z, (0,)), of_numpy):
        (n,) = export.symbolic_shape("n")
        kind = olympus.ShapeDtypeStruct((n,), np.complex64)
        assert export.export(olympus.jit(f))(kind).call(Z) == Z[at]


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("n", [1, 6, 300, 5000])
def test_cumulative_extremes(n, reverse):
    rng = np.random.default_rng(n)
    z = (rng.integers(-2, 3, n) + 1j * rng.integers(-9, 9, n)).astype(np.complex64)
    for f, accumulate in [
        (lax.cummax, np.maximum.accumulate),
        (lax.cummin, np.minimum.accumulate),
    ]:
        want = accumulate(z[::-1])[::-1] if reverse else accumulate(z)
        np.testing.assert_array_equal(f(z, reverse=reverse), want)
        rows = f(np.stack([z, z]), axis=1, reverse=reverse)
        np.testing.assert_array_equal(rows, [want, want])
