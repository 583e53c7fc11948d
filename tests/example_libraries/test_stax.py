"""Layers under transformations, shapes of any number of examples, and errors."""

from __future__ import annotations

import numpy as np
import pytest

import olympus
import olympus.numpy as jnp
from olympus import random
from olympus.example_libraries import optimizers, stax

KEY = random.key(0)
NETWORK = stax.serial(
    stax.Dense(16), stax.Relu, stax.Dropout(0.9), stax.Dense(3), stax.LogSoftmax
)


def test_a_network_learns_under_jit():
    init, apply = NETWORK
    shape, params = init(KEY, (-1, 2))
    assert shape == (-1, 3)
    rng = np.random.default_rng(0)
    x = rng.normal(size=(60, 2)).astype(np.float32)
    labels = (x[:, 0] > 0) + (x[:, 1] > 0).astype(int)

    def loss(params, key):
        return -jnp.mean(apply(params, x, rng=key)[np.arange(60), labels])

    opt_init, update, get_params = optimizers.adam(0.02)

    @olympus.jit
    def step(i, state):
        key = random.fold_in(KEY, i)
        value, grads = olympus.value_and_grad(loss)(get_params(state), key)
        return update(i, grads, state), value

    state = opt_init(params)
    losses = []
    for i in range(40):
        state, value = step(i, state)
        losses.append(float(value))
    assert losses[-1] < 0.5 * losses[0]


def test_a_network_of_each_key():
    init, apply = stax.serial(stax.Dense(3), stax.Tanh)
    keys = random.split(KEY, 4)
    params = olympus.vmap(lambda key: init(key, (-1, 2))[1])(keys)
    x = jnp.ones((5, 2))
    outs = olympus.vmap(apply, in_axes=(0, None))(params, x)
    np.testing.assert_allclose(outs[2], apply(init(keys[2], (-1, 2))[1], x), rtol=1e-6)


@pytest.mark.parametrize(
    ("layer", "shape", "expected"),
    [
        (stax.Dense(4), (-1, 3), (-1, 4)),
        (stax.Conv(4, (3, 3), padding="SAME"), (-1, 8, 8, 3), (-1, 8, 8, 4)),
        (stax.ConvTranspose(4, (3, 3), (2, 2)), (-1, 8, 8, 3), (-1, 17, 17, 4)),
        (stax.MaxPool((2, 2), strides=(2, 2)), (-1, 8, 8, 3), (-1, 4, 4, 3)),
        (stax.AvgPool((2,), spec="CNW"), (3, -1, 8), (3, -1, 7)),
        (stax.Flatten, (-1, 8, 3), (-1, 24)),
    ],
)
def test_any_number_of_examples(layer, shape, expected):
    assert layer[0](KEY, shape)[0] == expected


def test_windows_of_integers():
    x = jnp.arange(4).reshape(1, 4, 1)
    assert stax.MaxPool((2,))[1]((), -x).ravel().tolist() == [0, -1, -2]


def test_no_layers_return_their_input():
    init, apply = stax.serial()
    assert init(KEY, (2, 3)) == ((2, 3), [])
    assert apply([], 2.0) == 2.0


ERRORS = [
    (ValueError, "with a random key", lambda: stax.Dropout(0.5)[1]((), jnp.ones(3))),
    (ValueError, "must have 2 sizes", lambda: stax.Conv(3, (3,))),
    (ValueError, "must have 4 axes", lambda: stax.Conv(3, (3, 3))[0](KEY, (2, 3))),
    (ValueError, "an axis or more", lambda: stax.Dense(3)[0](KEY, ())),
    (ValueError, "one number for each", lambda: stax.MaxPool((2, 2), strides=(1,))),
    (ValueError, "one input or more", lambda: stax.FanInConcat()[0](KEY, [])),
    (
        TypeError,
        "got .*Dense.* at position 1",
        lambda: stax.serial(stax.Relu, stax.Dense),
    ),
    (TypeError, "pairs", lambda: stax.parallel([stax.Relu])),
]


@pytest.mark.parametrize(("kind", "message", "call"), ERRORS)
def test_errors(kind, message, call):
    with pytest.raises(kind, match=message):
        call()
