"""Softmax and its kin: a row with NaN is NaN, whatever kernel finds the largest."""

from __future__ import annotations

import numpy as np
import pytest

import olympus
import olympus.numpy as onp
from olympus import nn

DTYPES = ("float32", "bfloat16", "float16")
FUNCTIONS = {
    "softmax": nn.softmax,
    "log_softmax": nn.log_softmax,
    "logsumexp": lambda x: nn.logsumexp(x, -1, keepdims=True),
    "logmeanexp": lambda x: nn.logmeanexp(x, -1, keepdims=True),
    "weighted": lambda x: nn.logsumexp(x, -1, b=2.0, keepdims=True),
    "gradient": olympus.grad(lambda x: (nn.softmax(x) ** 2).sum().astype("float32")),
    "of a logsumexp": olympus.grad(lambda x: nn.logsumexp(x, -1).sum()),
    "mapped": olympus.vmap(nn.softmax),
}
# Few of one fold that may lose NaN, rows of many, and what XLA folds by its library.
SHAPES = ((3, 5), (60, 6), (16, 700), (700, 16))


def _rows(shape, dtype):
    x = np.random.default_rng(0).normal(size=shape).astype(np.float32)
    bad = {0: [0], 1: [-1], 2: slice(None)}
    for row, places in bad.items():
        x[row, places] = np.nan
    return onp.asarray(x, dtype), sorted(bad)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_row_with_nan_is_nan(name, dtype, shape):
    x, bad = _rows(shape, dtype)
    out = np.asarray(olympus.jit(FUNCTIONS[name])(x)).astype(np.float32)
    whole = np.isnan(out).all(axis=-1)
    np.testing.assert_array_equal(np.flatnonzero(whole), bad)
    np.testing.assert_array_equal(np.isnan(out).any(axis=-1), whole)


@pytest.mark.parametrize("shape", SHAPES)
def test_what_a_mask_leaves_out_does_not_count(shape):
    x, bad = _rows(shape, "float32")
    where = ~onp.isnan(x)
    for f in (nn.softmax, nn.log_softmax):
        out = np.asarray(olympus.jit(lambda x, f=f: f(x, where=where))(x))
        assert not np.isnan(out[where]).any()
    total = np.asarray(olympus.jit(lambda x: nn.logsumexp(x, -1, where=where))(x))
    assert np.isneginf(total[bad[-1]])
    assert np.isfinite(np.delete(total, bad[-1])).all()


@pytest.mark.parametrize("shape", SHAPES)
def test_infinities_are_as_numpy_has_them(shape):
    x = np.random.default_rng(0).normal(size=shape).astype(np.float32)
    x[0, 0], x[1], x[2, 1] = np.inf, -np.inf, -np.inf
    out = np.asarray(olympus.jit(lambda x: nn.logsumexp(x, -1))(x))
    with np.errstate(all="ignore"):
        expected = np.logaddexp.reduce(x.astype(np.float64), -1)
    np.testing.assert_allclose(out, expected, rtol=1e-5)
    shares = np.asarray(olympus.jit(nn.softmax)(x))
    assert np.isnan(shares[:2]).all()
    np.testing.assert_allclose(shares[2:].sum(-1), 1, rtol=1e-5)
    assert shares[2, 1] == 0


def test_the_program_is_printed_as_before():
    program = str(olympus.make_olympuspr(nn.softmax)(onp.zeros((2, 3))))
    assert "reduce_max[axes=(1,)]" in program
