"""Operations that leave their operand as it is give an array, as any operation does."""

from __future__ import annotations

import numpy as np
import pytest

import olympus
from olympus import lax

MATRIX = np.ones((2, 3), np.float32)

CASES = {
    "reshape": lambda x: lax.reshape(x, (2, 3)),
    "collapse": lambda x: lax.collapse(x, 0, 1),
    "squeeze": lambda x: lax.squeeze(x, ()),
    "expand_dims": lambda x: lax.expand_dims(x, ()),
    "transpose": lambda x: lax.transpose(x, (0, 1)),
    "broadcast": lambda x: lax.broadcast(x, ()),
    "broadcast_in_dim": lambda x: lax.broadcast_in_dim(x, (2, 3), (0, 1)),
    "broadcast_to_rank": lambda x: lax.broadcast_to_rank(x, 2),
    "rev": lambda x: lax.rev(x, ()),
    "concatenate": lambda x: lax.concatenate([x], 0),
    "integer_pow": lambda x: lax.integer_pow(x, 1),
    "fft": lambda x: lax.fft(x.astype(np.complex64), "FFT", ()),
}


@pytest.mark.parametrize("name", CASES)
def test_the_result_is_an_array(name):
    out = CASES[name](MATRIX)
    assert isinstance(out, olympus.Array)
    assert out.shape == MATRIX.shape
    assert not out.weak_type


@pytest.mark.parametrize("name", CASES)
def test_traced_it_is_no_operation(name):
    program = olympus.make_olympuspr(lambda y: lax.mul(y, CASES[name](MATRIX).real))
    operand = np.ones((2, 3), np.float32)
    assert [str(e.primitive) for e in program(operand).eqns] == ["mul"]


def test_a_number_stays_weak():
    out = lax.integer_pow(2.0, 1)
    assert isinstance(out, olympus.Array)
    assert out.weak_type
