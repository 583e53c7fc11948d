"""A transformer's training, against what jax 0.10.2 computed of the same program.

Recorded on CPU in double precision by `transformer.trained(jax, 5, jax.tree.map)`.
"""

from __future__ import annotations

import numpy as np
import pytest

import olympus
from tests.examples import transformer

LOSSES = [
    2.6730530729183664,
    2.4003735723945736,
    2.1547815230522227,
    1.9891411646386485,
    1.8027215000888983,
]
# Sums of squares of the weights after the last step.
EMBEDDINGS = {"words": 6.2230830332455085, "places": 4.357118629622578}
LAYERS = [
    {
        "down": 9.194583442867893,
        "out": 5.174131895696844,
        "qkv": 14.690603852498512,
        "scale": 7.683867232735656,
        "up": 11.596968766951468,
    },
    {
        "down": 12.389818572841477,
        "out": 5.128304646677172,
        "qkv": 17.002438568981603,
        "scale": 7.886772485590582,
        "up": 10.235274683163912,
    },
]


def energies(weights):
    return {name: float(np.sum(np.asarray(w) ** 2)) for name, w in weights.items()}


@pytest.mark.slow
def test_five_steps_of_training():
    with olympus.enable_x64(True):
        losses, params = transformer.trained(olympus, 5, olympus.tree.map)
    np.testing.assert_allclose(losses, LOSSES, rtol=1e-10)
    layers = params.pop("layers")
    for found, want in zip(
        [energies(params), *map(energies, layers)], [EMBEDDINGS, *LAYERS], strict=True
    ):
        assert found.keys() == want.keys()
        for name in want:
            np.testing.assert_allclose(found[name], want[name], rtol=1e-9, err_msg=name)
