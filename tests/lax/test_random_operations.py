"""Operations at random: none ends the process, and errors are ours."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

import olympus
import olympus.numpy as jnp
from olympus import lax
from olympus._src.lax import comparison, gather, reductions, windows
from olympus._src.lax.linalg import qr_decomposition
from tests.lax import random_operations
from tests.sampling import EVERYTHING, SEED

F8 = ml_dtypes.float8_e3m4
INT2, INT8 = ml_dtypes.int2, np.int8
CASES = 250 if EVERYTHING else 125

HUGE = {
    "sizes": lambda: lax.broadcasted_iota("float32", (2**31 - 1, 2**31), 0),
    "one size": lambda: lax.iota("int32", 2**63 - 1),
    "widened inside": lambda: lax.iota(F8, 2**62),
    "with no elements": lambda: lax.broadcasted_iota("int8", (2**40, 0, 2**40), 0),
    "beyond 64 bits": lambda: lax.broadcast(1.0, (2**64,)),
    "resized": lambda: olympus.image.resize(
        np.ones((2, 2), np.float32), (2**31, 2**31), "nearest"
    ),
    "in a program": olympus.jit(lambda: lax.iota("int8", 2**63 - 1).max()),
}


@pytest.mark.parametrize("call", HUGE.values(), ids=HUGE)
def test_more_elements_than_the_compiler_counts(call):
    with pytest.raises(ValueError, match=r"no more than 2\*\*58 elements, got"):
        call()


REFUSED = {
    "offsets of more than 64 bits": (
        OverflowError,
        lambda: lax.pad(np.ones(0, np.float32), np.float32(0), [(1, 0, 2**63)]),
    ),
    "indices that are no integers": (
        ValueError,
        lambda: gather.gather_p.bind(
            np.ones((3, 2), np.float32),
            np.ones((2, 1), np.float32),
            dimension_numbers=lax.GatherDimensionNumbers((1,), (0,), (0,)),
            slice_sizes=(1, 2),
            indices_are_sorted=False,
            unique_indices=False,
            mode=lax.GatherScatterMode.CLIP,
            fill_value=None,
        ),
    ),
    "a format of too many bits": (
        ValueError,
        lambda: lax.reduce_precision(np.ones(2, np.float32), 2**40, 7),
    ),
    "a format of negative bits": (
        ValueError,
        lambda: reductions.reduce_precision_p.bind(
            np.ones(2, np.float32), exponent_bits=8, mantissa_bits=-1
        ),
    ),
    "a stack along no axis": (
        ValueError,
        lambda: lax.stack([np.ones(2), np.ones(2)], axis=3),
    ),
    "a product of keys": (
        TypeError,
        lambda: lax.ragged_dot(
            olympus.random.split(olympus.random.key(0), (2, 2)),
            np.ones((1, 2, 2), np.float32),
            np.array([2]),
        ),
    ),
}


@pytest.mark.parametrize(("kind", "call"), REFUSED.values(), ids=REFUSED)
def test_what_the_compiler_would_refuse(kind, call):
    with pytest.raises(kind):
        call()


# Zeros that a compiler works out before it gives divisions by zero a value.
ZEROS = {
    "a literal": lambda x: lax.full((3,), 0, x.dtype),
    "arithmetic": lambda x: lax.full_like(x, 1) - lax.full_like(x, 1),
    "a conversion": lambda x: lax.full((3,), 0.3, "float32").astype(x.dtype),
    "repeated": lambda x: lax.broadcast(lax.full((), 1, x.dtype) * 0, (3,)),
    "a product of an argument": lambda x: x * 0,
    "a difference of an argument": lambda x: x - x,
}


@pytest.mark.parametrize("dtype", ["int4", "uint8", "int32"])
def test_divisions_by_zeros_that_are_folded(dtype):
    def divide(x):
        five = lax.full((3,), 5, dtype)
        pairs = []
        for zero in ZEROS.values():
            y = zero(x)
            pairs.append((lax.div(five, y), lax.rem(five, y)))
        fill = lax.full((3,), 0, dtype)
        ok = x[0] > 3
        branch = lax.cond(ok, lambda: fill, lambda: lax.rem(five, fill - 0 * five))
        _, loop = lax.scan(lambda c, _: (c, lax.div(five, c)), fill, None, length=3)
        return pairs, branch, loop

    x = np.arange(1, 4).astype(jnp.dtype(dtype))
    pairs, branch, loop = olympus.jit(divide)(x)
    bits = np.asarray(-1).astype(jnp.dtype(dtype))
    for quotient, remainder in pairs:
        assert quotient.tolist() == [bits] * 3
        assert remainder.tolist() == [5] * 3
    assert branch.tolist() == [5] * 3
    assert (np.asarray(loop) == bits).all()


def test_literal_divisors_need_no_guard():
    divide = olympus.jit(lambda x: lax.div(x, lax.full_like(x, 3)) + x // 2)
    text = divide.lower(np.arange(3)).as_text()
    assert text.count("stablehlo.select") == 1  # of the floor


def test_no_columns_are_in_any_order():
    empty = np.ones((2, 0, 3), np.float32)
    packed, order, scales = qr_decomposition.geqp3_p.bind(
        empty, np.zeros((2, 3), np.int32), use_magma=None
    )
    assert packed.shape == (2, 0, 3)
    assert order.tolist() == [[1, 2, 3]] * 2
    assert scales.shape == (2, 0)


def test_narrow_floats_have_special_functions():
    x = np.array([0.5, -1.0, 2.0], np.float32)
    got = olympus.jit(lambda x: (lax.erfc(x), lax.bessel_i1e(x)))(x.astype(F8))
    want = lax.erfc(x), lax.bessel_i1e(x)
    for a, b in zip(got, want, strict=True):
        np.testing.assert_array_equal(a, np.asarray(b).astype(F8))


def test_integers_of_two_bits():
    x = np.array([[1, -2, 1], [0, 1, -1]], INT2)
    wide = x.astype(INT8)
    total = np.cumsum(wide, 1).astype(INT2)
    np.testing.assert_array_equal(lax.cumsum(jnp.asarray(x), 1), total)
    product = (wide @ wide.T).astype(INT2)
    np.testing.assert_array_equal(lax.dot(jnp.asarray(x), jnp.asarray(x.T)), product)
    long = jnp.asarray(np.ones((150, 300), INT2))
    last = lax.cumsum(long, 0)[-1]
    assert (np.asarray(last) == np.asarray(150).astype(INT2)).all()


def test_the_largest_of_narrow_floats():
    x = np.array([1, 3, -2, 0.5], ml_dtypes.float4_e2m1fn)
    values, places = lax.top_k(jnp.asarray(x), 2)
    assert np.asarray(values).astype(np.float32).tolist() == [3, 1]
    assert places.tolist() == [1, 0]


def test_selected_unsigned_integers():
    x = np.array([[1, 200, 3, 4]], np.uint8)
    window = {"window_dimensions": (1, 2), "window_strides": (1, 2)}
    p = windows.select_and_scatter_add_p
    ge = comparison.ge_p
    out = p.bind(
        np.array([[5, 7]], np.uint8), x, select_prim=ge, padding=((0, 0),) * 2, **window
    )
    assert out.tolist() == [[0, 5, 0, 7]]


@pytest.mark.slow
def test_operations_at_random():
    wrong = []
    tally = random_operations.run(CASES, SEED, report=wrong.append)
    assert not wrong, "\n".join(wrong)
    assert tally["ran"] > 0.24 * CASES


def test_steps_of_more_than_64_bits_take_the_first_elements():
    x = np.arange(12.0, dtype=np.float32).reshape(3, 4)
    sliced = olympus.jit(lambda x: x[:, :: 2**64])(x)
    np.testing.assert_array_equal(sliced, x[:, :1])
