"""LSTMs beside JAX's, and what becomes of sequences of different lengths."""

from __future__ import annotations

import json
import pathlib

import numpy as np
import pytest

import olympus
import olympus.numpy as jnp
from olympus import random
from olympus.experimental import rnn
from tests.nn import lstm_cases

PATH = pathlib.Path(__file__).parents[1] / "data" / "lstm.json"
DATA = json.loads(PATH.read_text())


@pytest.mark.parametrize(
    ("sizes", "recorded"),
    [
        pytest.param(s, r, marks=[] if s[3] else [pytest.mark.slow])
        for s, r in zip(lstm_cases.SIZES, DATA, strict=True)
    ],
)
def test_recorded(sizes, recorded):
    leaves = lstm_cases.run("olympus", sizes)
    for leaf, expected in zip(leaves, recorded, strict=True):
        np.testing.assert_allclose(np.ravel(leaf), expected, rtol=1e-5, atol=1e-6)


@pytest.mark.slow
def test_a_short_sequence_has_the_result_of_itself_alone():
    sizes = (2, 3, 2, True)
    weights = rnn.init_lstm_weight(random.key(0), *sizes)
    x, zero = random.normal(random.key(1), (2, 5, 2)), jnp.zeros((4, 2, 3))
    run = olympus.jit(
        lambda x, zero, lengths: rnn.lstm(
            x, zero, zero, weights, lengths, 2, 3, 2, 0.0, True
        )
    )
    y, h, c = run(x, zero, jnp.array([3, 5]))
    alone = run(x[:1, :3], zero[:, :1], jnp.array([3]))
    np.testing.assert_allclose(y[0, :3], alone[0][0], rtol=1e-5, atol=1e-7)
    assert not np.any(y[0, 3:])
    np.testing.assert_allclose(h[:, 0], alone[1][:, 0], rtol=1e-5, atol=1e-7)
    np.testing.assert_allclose(c[:, 0], alone[2][:, 0], rtol=1e-5, atol=1e-7)


@pytest.mark.slow
@pytest.mark.parametrize("both", [False, True])
def test_the_two_halves_of_the_derivative(both):
    n = 2 if both else 1
    x, (h, c) = random.normal(random.key(1), (3, 4, 2)), jnp.ones((2, n, 3, 3))
    w = rnn.init_lstm_weight(random.key(0), 2, 3, 1, both)
    lengths, sizes = jnp.array([1, 4, 3]), (2, 3, 1, 0.0, both, None)
    cts = [
        random.normal(random.key(k), s)
        for k, s in enumerate([(3, 4, 3 * n), h.shape, c.shape])
    ]
    expected_outs, pullback = olympus.vjp(
        lambda *args: rnn.lstm(*args, lengths, *sizes), x, h, c, w
    )
    outs, residuals = olympus.jit(lambda *args: rnn.lstm_fwd(*args, *sizes))(
        x, h, c, w, lengths
    )
    *grads, last = olympus.jit(lambda *args: rnn.lstm_bwd(*sizes, *args))(
        residuals, tuple(cts)
    )
    assert last is None
    expected = (*expected_outs, *pullback(tuple(cts)))
    for value, other in zip((*outs, *grads), expected, strict=True):
        np.testing.assert_allclose(value, other, rtol=1e-5, atol=1e-6)


def test_errors():
    zero = jnp.zeros((1, 1, 2))
    with pytest.raises(ValueError, match="a vector of 40 numbers, got the shape"):
        rnn.unpack_lstm_weights(jnp.zeros(39), 1, 2, 1, False)
    with pytest.raises(NotImplementedError, match=r"dropout must be 0, got 0\.5"):
        rnn.lstm(zero, zero, zero, jnp.zeros(48), jnp.array([1]), 2, 2, 1, 0.5, False)
