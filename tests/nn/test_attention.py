"""Attention against its formula in NumPy."""

from __future__ import annotations

import functools

import numpy as np
import pytest
from scipy import special

import olympus
from olympus import nn
from tests.comparing import assert_close

B, T, S, N, K, H = 2, 5, 7, 4, 2, 8
R = np.random.default_rng(0)
Q = R.normal(size=(B, T, N, H)).astype(np.float32)
KEYS = R.normal(size=(B, S, K, H)).astype(np.float32)
V = R.normal(size=(B, S, K, H)).astype(np.float32)
BIAS = R.normal(size=(1, N, T, S)).astype(np.float32)
MASK = R.random((B, 1, T, S)) < 0.7
MASK[..., 0] = True


def formula(q, k, v, bias=0.0, seen=True, scale=None):
    """Output and logarithms of the sums, one head of keys for each of queries."""
    group = q.shape[2] // k.shape[2]
    k, v = (np.repeat(x, group, 2) for x in (k, v))
    scale = q.shape[-1] ** -0.5 if scale is None else scale
    scores = np.einsum("btnh,bsnh->bnts", q, k) * scale + bias
    scores = np.where(seen, scores, -np.inf)
    out = np.einsum("bnts,bsnh->btnh", special.softmax(scores, -1), v)
    return out, np.moveaxis(special.logsumexp(scores, -1), 1, 2)


close = functools.partial(assert_close, rtol=2e-5)


ROW, COLUMN = np.arange(T)[:, None], np.arange(S)[None]


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("options", "formula_options"),
    [
        ({}, {}),
        ({"scale": 0.5}, {"scale": 0.5}),
        ({"bias": BIAS}, {"bias": BIAS}),
        ({"mask": MASK}, {"seen": MASK}),
        ({"bias": BIAS, "mask": MASK}, {"bias": BIAS, "seen": MASK}),
        ({"is_causal": True}, {"seen": COLUMN <= ROW}),
        ({"is_causal": True, "mask": MASK}, {"seen": (COLUMN <= ROW) & MASK}),
        (
            {"local_window_size": (1, 2)},
            {"seen": (ROW - COLUMN <= 1) & (COLUMN - ROW <= 2)},
        ),
        ({"local_window_size": 1}, {"seen": np.abs(ROW - COLUMN) <= 1}),
        (
            {"key_value_seq_lengths": np.array([7, 3])},
            {"seen": np.array([7, 3])[:, None, None, None] > COLUMN},
        ),
    ],
)
@pytest.mark.slow
def test_attention_is_its_formula(options, formula_options):
    want, sums = formula(Q, KEYS, V, **formula_options)
    close(nn.dot_product_attention(Q, KEYS, V, **options), want)
    got, got_sums = nn.dot_product_attention(
        Q, KEYS, V, return_residual=True, **options
    )
    close(got, want)
    close(got_sums, sums)


def test_query_lengths_zero_what_lies_beyond():
    out = nn.dot_product_attention(Q, KEYS, V, query_seq_lengths=np.array([3, 5]))
    want = formula(Q, KEYS, V)[0]
    want[0, 3:] = 0
    close(out, want)


@pytest.mark.slow
def test_one_example_without_a_batch():
    out = nn.dot_product_attention(Q[0], KEYS[0], V[0])
    close(out, formula(Q[:1], KEYS[:1], V[:1])[0][0])
    mapped = olympus.vmap(nn.dot_product_attention)(Q, KEYS, V)
    close(mapped, formula(Q, KEYS, V)[0])


def test_narrow_floats_are_summed_in_wide_ones():
    out = nn.dot_product_attention(*(x.astype(np.float16) for x in (Q, KEYS, V)))
    assert out.dtype == np.float16
    np.testing.assert_allclose(out, formula(Q, KEYS, V)[0], atol=5e-3)


def test_a_row_that_sees_nothing_is_finite():
    out = nn.dot_product_attention(Q, KEYS, V, mask=np.zeros((1, 1, T, S), bool))
    assert np.isfinite(out).all()


@pytest.mark.slow
def test_the_derivative_is_that_of_differences():
    def loss(q):
        return (nn.dot_product_attention(q, KEYS, V, is_causal=True) ** 2).sum()

    slope = np.asarray(olympus.grad(loss)(Q))
    step = np.zeros_like(Q)
    step[0, 2, 1, 3] = 1e-2
    difference = (float(loss(Q + step)) - float(loss(Q - step))) / 2e-2
    np.testing.assert_allclose(slope[0, 2, 1, 3], difference, rtol=2e-2, atol=2e-3)


def test_integers_of_64_bits_are_as_those_of_32():
    rng = np.random.default_rng(1)
    # Weights are rounded to whole numbers; scores so far apart give zeros and ones.
    q, k, v = (rng.integers(-999, 999, (1, 3, 2, 4)) for _ in range(3))
    mask = rng.random((1, 2, 3, 3)) < 0.7
    with olympus.enable_x64(True):
        outs = [
            nn.dot_product_attention(*(x.astype(d) for x in (q, k, v)), mask=mask)
            for d in (np.int32, np.int64)
        ]
    assert [x.dtype for x in outs] == [np.int32, np.int64]
    np.testing.assert_array_equal(*outs)
    assert np.any(outs[0])


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: nn.dot_product_attention(Q, KEYS[0], V), "4 axes each"),
        (lambda: nn.dot_product_attention(Q, KEYS, V[:, :3]), "have one shape"),
        (lambda: nn.dot_product_attention(Q[:, :, :3], KEYS, V), "must be a multiple"),
        (lambda: nn.dot_product_attention(Q, KEYS, V, BIAS[..., :3]), "bias must"),
        (lambda: nn.dot_product_attention(Q, KEYS, V, implementation="x"), "'xla'"),
        (
            lambda: nn.dot_product_attention(Q, KEYS, V, query_seq_lengths=np.ones(3)),
            "one integer for each batch",
        ),
    ],
)
def test_bad_shapes_are_refused(call, message):
    with pytest.raises(ValueError, match=rf"nn\.dot_product_attention.*{message}"):
        call()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"mask": np.ones((1, 1, T, S), "float32")}, "mask dtype should be bool"),
        ({"key_value_seq_lengths": np.ones(2, "float32")}, "lengths must be integers"),
        ({"value": np.float16(V)}, "must have one dtype, got float32, float32 and fl"),
    ],
)
def test_other_dtypes_are_refused(arguments, message):
    given = {"query": Q, "key": KEYS, "value": V, **arguments}
    with pytest.raises(ValueError, match=message):
        nn.dot_product_attention(**given)
