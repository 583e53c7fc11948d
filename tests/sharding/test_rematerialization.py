"""`checkpoint` in programs over a mesh."""

from __future__ import annotations

import re

import numpy as np
import pytest

import olympus
import olympus.numpy as jnp
from olympus import lax
from tests.sharding.meshes import divide, entries

pytestmark = pytest.mark.eight_devices
HOST = np.arange(8, dtype=np.float32)


def layer(w, x):
    return jnp.tanh(jnp.tanh(x @ w) @ w.T)


def test_gradients_through_checkpoints_are_divided_as_without():
    """The branch that keeps the second computation apart passes shardings on."""
    random = np.random.default_rng(0)
    x = divide(random.normal(size=(8, 16)).astype(np.float32), "x")
    w = divide(random.normal(size=(16, 16)).astype(np.float32), None, "y")
    results = []
    for f in (layer, olympus.checkpoint(layer)):
        step = olympus.jit(olympus.grad(lambda w, x, f=f: f(w, f(w, x)).sum()))
        text = step.lower(w, x).compile().as_text()
        assert not re.search(r"\ball-gather(-start)?\(", text)
        results.append(step(w, x))
        assert entries(results[-1]) == (None, "y")
    np.testing.assert_allclose(*results, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize(
    "loss",
    [
        lambda x: jnp.sin(jnp.sin(x)).sum(),
        lambda x: jnp.sin(jnp.outer(x, x) @ jnp.sin(x)).sum(),
        lambda x: lax.scan(lambda c, _: (jnp.sin(c), None), x, None, 3)[0].sum(),
    ],
)
def test_one_checkpoint(loss):
    x = divide(HOST, "x")
    out = olympus.jit(olympus.grad(olympus.checkpoint(loss)))(x)
    assert entries(out) == ("x",)
    np.testing.assert_allclose(out, olympus.grad(loss)(HOST), rtol=1e-4, atol=1e-5)
