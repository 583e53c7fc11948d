"""Training on a mesh has the losses of training on one device."""

from __future__ import annotations

import numpy as np
import pytest

import olympus
from demo.training import (
    data_parallel,
    fully_sharded,
    model,
    pipeline_parallel,
    tensor_parallel,
)

pytestmark = [pytest.mark.slow, pytest.mark.eight_devices]

SMALL = model.Config(vocabulary=16, width=16, hidden=32, length=8, batch=8)
STEPS = 4
PROGRAMS = {
    "data": data_parallel,
    "tensor": tensor_parallel,
    "sharded": fully_sharded,
    "pipeline": pipeline_parallel,
}


@pytest.fixture(scope="module")
def expected():
    return model.train_on_one_device(SMALL, STEPS)


@pytest.mark.parametrize("name", PROGRAMS)
def test_losses(name, expected):
    losses = PROGRAMS[name].train(SMALL, STEPS)
    np.testing.assert_allclose(losses, expected, rtol=2e-6)
    assert len(set(losses.tolist())) == STEPS


def test_each_device_has_an_eighth_of_what_is_fully_sharded():
    mesh = olympus.make_mesh((8,), ("data",))
    init, step = fully_sharded.make_step(mesh, SMALL)
    state = init()
    for x in olympus.tree.leaves(state):
        assert x.ndim == 0 or x.addressable_shards[3].data.size * 8 == x.size
    text = step.lower(state, next(model.batches(SMALL))).compile().as_text()
    assert "all-gather" in text
    assert "reduce-scatter" in text
    largest = max(x.size for x in olympus.tree.leaves(state))
    assert f"f32[{SMALL.layers},{SMALL.width},{SMALL.hidden}]" not in text, largest
