"""Counts of points in bins of the plane and of spaces, against NumPy."""

from __future__ import annotations

import numpy as np
import pytest

import olympus
import olympus.numpy as jnp

RNG = np.random.default_rng(5)
POINTS = RNG.normal(size=(40, 3)).astype(np.float32)
POINTS[3] = POINTS.max(0)  # on the last edges
W = RNG.uniform(size=40).astype(np.float32)
EDGES = np.array([-1.0, 0.0, 0.25, 2.0], np.float32)


def same(found, wanted, **near):
    np.testing.assert_allclose(np.asarray(found), wanted, **near)


@pytest.mark.slow
@pytest.mark.parametrize("density", [None, True])
@pytest.mark.parametrize("weights", [None, W], ids=["plain", "weighted"])
@pytest.mark.parametrize(
    ("bins", "limits"),
    [
        (3, None),
        ([2, 3, 4], [(-1, 1), None, (0, 2)]),
        ([EDGES, 2, EDGES], None),
    ],
    ids=["number", "numbers", "edges"],
)
def test_histogramdd(bins, limits, weights, density):
    options = {"bins": bins, "range": limits, "weights": weights, "density": density}
    found, edges = jnp.histogramdd(POINTS, **options)
    wanted, wanted_edges = np.histogramdd(POINTS, **options)
    assert found.dtype == (np.float32 if density or weights is not None else np.int32)
    same(found, wanted, rtol=1e-5)
    for got, expected in zip(edges, wanted_edges, strict=True):
        same(got, expected, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize(
    "bins",
    [
        *[pytest.param(b, marks=pytest.mark.slow) for b in (3, [2, 3], EDGES)],
        [EDGES, 3],
    ],
    ids=str,
)
def test_histogram2d(bins):
    x, y = POINTS[:, 0], POINTS[:, 1]
    found = jnp.histogram2d(x, y, bins)
    for got, expected in zip(found, np.histogram2d(x, y, bins), strict=True):
        same(got, expected, rtol=1e-5, atol=1e-6)


@pytest.mark.slow
def test_histogramdd_of_integers_and_traced_points():
    points = np.arange(10).reshape(5, 2)
    found, _ = jnp.histogramdd(points, bins=2, weights=np.arange(5))
    assert found.dtype == np.float32
    same(found, [[1, 0], [0, 9]])
    traced, _ = olympus.jit(lambda x: jnp.histogramdd(x, bins=2))(points)
    same(traced, [[2, 0], [0, 3]])


@pytest.mark.parametrize(
    ("call", "kind", "message"),
    [
        (lambda: jnp.histogramdd(POINTS[:, 0]), ValueError, r"\[:, None\]"),
        (lambda: jnp.histogramdd(POINTS, bins=[2, 3]), ValueError, "each of 3 axes"),
        (lambda: jnp.histogramdd(POINTS, range=[(0, 1)]), ValueError, "range must be"),
        (lambda: jnp.histogramdd(POINTS, weights=W[:3]), ValueError, "weights must be"),
        (lambda: jnp.histogramdd([W, W]), TypeError, "asarray"),
        (lambda: jnp.histogram2d(W, W[:3]), TypeError, "of one length"),
        (lambda: jnp.histogram(W, "auto"), NotImplementedError, r"numpy\.histogram:"),
        (lambda: jnp.histogram(W, -1), ValueError, r"numpy\.histogram: bins"),
        (lambda: jnp.histogram(W, weights=W[:3]), ValueError, "shape of a"),
    ],
)
def test_histograms_refuse(call, kind, message):
    with pytest.raises(kind, match=message):
        call()
