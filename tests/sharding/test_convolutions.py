"""Convolutions of divided arrays: each division, of each kind of groups."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import olympus
import olympus.numpy as jnp
from olympus import lax
from tests.sampling import part
from tests.sharding.meshes import divide, entries

pytestmark = pytest.mark.eight_devices

KINDS = {
    "plain": ((4, 4, 8), (4, 4, 4), {}),
    "padded": ((4, 4, 8), (4, 4, 4), {"padding": [(3, 3)]}),
    "dilated": ((4, 4, 8), (4, 4, 4), {"padding": [(1, 2)], "lhs_dilation": (2,)}),
    "groups": ((4, 8, 8), (8, 2, 4), {"feature_group_count": 4}),
    "few groups": ((4, 4, 8), (8, 2, 4), {"feature_group_count": 2}),
    "groups of the batch": ((4, 4, 8), (8, 4, 4), {"batch_group_count": 2}),
}


def specs(shape):
    """All specs of a mesh of 4 by 2 that divide a shape evenly."""
    counts = {None: 1, "x": 4, "y": 2}
    for spec in itertools.product(counts, repeat=len(shape)):
        named = [n for n in spec if n]
        rows = zip(shape, spec, strict=True)
        if len(set(named)) == len(named) and all(n % counts[e] == 0 for n, e in rows):
            yield spec


CASES = [
    (kind, spec, kernel_spec)
    for kind, (shape, kernel_shape, _) in KINDS.items()
    for spec in specs(shape)
    for kernel_spec in specs(kernel_shape)
]


@pytest.mark.parametrize(("kind", "spec", "kernel_spec"), part(CASES, 40))
def test_values_and_gradients(kind, spec, kernel_spec):
    shape, kernel_shape, options = KINDS[kind]
    rng = np.random.default_rng(0)
    x = rng.normal(size=shape).astype(np.float32)
    kernel = rng.normal(size=kernel_shape).astype(np.float32)

    def convolve(x, kernel):
        return lax.conv_general_dilated(
            x, kernel, (1,), **{"padding": "SAME", **options}
        )

    def loss(x, kernel):
        return jnp.sin(convolve(x, kernel)).sum()

    both = olympus.jit(lambda *xs: (convolve(*xs), olympus.grad(loss, (0, 1))(*xs)))
    got = both(divide(x, *spec), divide(kernel, *kernel_spec))
    want = both(x, kernel)
    for a, b in zip(olympus.tree.leaves(got), olympus.tree.leaves(want), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-3, atol=1e-3)


def test_the_batch_and_the_features_stay_divided():
    x, kernel = np.ones((8, 4, 5), np.float32), np.ones((4, 4, 3), np.float32)
    f = olympus.jit(lambda x, k: lax.conv(x, k, (1,), "SAME"))
    text = f.lower(divide(x, "x"), divide(kernel, "y")).compile().as_text()
    assert "all-gather(" not in text
    assert entries(f(divide(x, "x"), divide(kernel, "y"))) == ("x", "y")
