"""Odd inputs: result types and kinds of errors, as recorded from JAX 0.10.2."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

import olympus
from olympus import lax

F32, I32 = np.float32, np.int32
V = np.array([3, 1, 2], F32)
WHOLE = V.astype(I32)
HALF = V.astype(ml_dtypes.bfloat16)
BITS = V > 1
Z = np.array([1j, 2], np.complex64)

REFUSED = {
    "broadcast": (TypeError, lambda: lax.broadcast(V, [-1])),
    "iota": (TypeError, lambda: lax.iota(F32, -1)),
    "full": (TypeError, lambda: lax.full((-1,), 3)),
    "complex to real bits": (TypeError, lambda: lax.bitcast_convert_type(Z, F32)),
    "bool to bits": (TypeError, lambda: lax.bitcast_convert_type(BITS, np.uint8)),
    "bits to bool": (TypeError, lambda: lax.bitcast_convert_type(V, np.bool_)),
    "complex of halves": (TypeError, lambda: lax.complex(HALF, HALF)),
    "conj of halves": (TypeError, lambda: lax.conj(HALF)),
    "no exponent": (ValueError, lambda: lax.reduce_precision(V, 0, 2)),
    "negative mantissa": (ValueError, lambda: lax.reduce_precision(V, 5, -1)),
    "stride of zero": (
        ValueError,
        lambda: lax.conv(np.ones((1, 1, 3)), np.ones((1, 1, 2)), (0,), "SAME"),
    ),
    "negative power": (TypeError, lambda: lax.integer_pow(WHOLE, -1)),
    "reciprocal of integers": (TypeError, lambda: lax.reciprocal(WHOLE)),
}


@pytest.mark.parametrize(("kind", "call"), REFUSED.values(), ids=REFUSED)
def test_refused(kind: type[Exception], call: Any) -> None:
    with pytest.raises(kind):
        call()


# dtype, weakness
TYPES = {
    "int by its class": ("int32", False, lambda: lax.convert_element_type(V, int)),
    "float of an array": (
        "float32",
        False,
        lambda: lax.convert_element_type(WHOLE, float),
    ),
    "igamma": ("float32", True, lambda: lax.igamma(1.0, 2.0)),
    "betainc": ("float32", True, lambda: lax.betainc(1.0, 2.0, 0.5)),
    "pow of an array": ("float32", False, lambda: lax.pow(2.5, V)),
    "pow of numbers": ("float32", True, lambda: lax.pow(2.5, 2)),
    "dot with integers": ("float32", False, lambda: lax.dot(V, WHOLE)),
    "dot with halves": ("float32", False, lambda: lax.dot(HALF, V)),
    "dot of both": ("bfloat16", False, lambda: lax.dot(WHOLE, HALF)),
}


@pytest.mark.slow
@pytest.mark.parametrize(("dtype", "weak", "call"), TYPES.values(), ids=TYPES)
def test_types(dtype: str, weak: bool, call: Any) -> None:
    aval = olympus.numpy.asarray(call()).aval
    assert (aval.dtype.name, call().aval.weak_type) == (dtype, weak)
    staged = olympus.jit(call)()
    assert (staged.dtype, staged.aval.weak_type) == (aval.dtype, weak)


@pytest.mark.parametrize(
    ("number", "dtype", "want"),
    [
        (np.nan, I32, 0),
        (-1.5, np.uint8, 0),
        (300.0, np.uint8, 255),
        (1e30, I32, 2**31 - 1),
        (-np.inf, np.int8, -128),
        (-2.7, I32, -2),
    ],
)
def test_numbers_are_converted_as_arrays_are(
    number: Any, dtype: Any, want: int
) -> None:
    assert lax.convert_element_type(number, dtype) == want
    compiled = olympus.jit(lambda x: lax.convert_element_type(x, dtype))(number)
    assert int(compiled) == want


def test_conversions_on_the_host_return_arrays() -> None:
    numbers = (1, 2.5, True, 1j, np.int64(3), np.float32(2), np.ones(2), np.array(3))
    for x in numbers:
        for dtype in ("float32", "bool", "bfloat16", int):
            if isinstance(x, complex) and dtype != "bool":
                continue
            got = lax.convert_element_type(x, dtype)
            assert isinstance(got, olympus.Array)
            assert not got.weak_type
            want = np.asarray(x).astype(got.dtype)
            np.testing.assert_array_equal(np.asarray(got), want)
    text = str(olympus.make_olympuspr(lambda: lax.convert_element_type(1, float))())
    assert "convert_element_type" not in text
    with pytest.raises(ValueError, match="new_dtype must be specified, got None"):
        lax.convert_element_type(1.0, None)


@pytest.mark.parametrize(
    "name", ["int8", "uint8", "int16", "int32", "uint32", "int64", "uint64"]
)
def test_upper_halves_of_products(name: str) -> None:
    info = np.iinfo(name)
    ends = [info.min, info.max, 0, 1, 77, info.max // 3, info.min // 2]
    numbers = np.array(ends, object)
    x, y = (v.astype(name) for v in np.meshgrid(numbers, numbers))
    want = (x.astype(object) * y.astype(object)) >> info.bits
    with olympus.enable_x64(True):
        got = olympus.vmap(lax.mulhi)(x[:, None], y[:, None])
    assert got.dtype == name
    np.testing.assert_array_equal(got[:, 0], want.astype(name))


def test_bools_are_clamped() -> None:
    for low in (False, True):
        for high in (False, True):
            got = olympus.jit(lambda x, a=low, b=high: lax.clamp(a, x, b))(BITS)
            np.testing.assert_array_equal(got, np.minimum(np.maximum(BITS, low), high))


def test_products_of_two_dtypes_have_derivatives() -> None:
    slope = olympus.grad(lambda x: lax.dot(x, HALF))(V)
    assert slope.dtype == F32
    np.testing.assert_array_equal(slope, V)
    np.testing.assert_array_equal(olympus.grad(lambda x: lax.dot(WHOLE, x))(V), V)


def test_complex_numbers_are_clamped_by_real_parts_first():
    z = np.array([1 + 2j, 3 - 1j, 1 + 1j], np.complex64)
    low, high = np.complex64(1 + 1.5j), np.complex64(2)
    np.testing.assert_array_equal(
        lax.clamp(low, z, high), np.minimum(np.maximum(z, low), high)
    )


def test_any_integer_chooses_among_cases():
    cases = [np.zeros(3, np.float32), np.ones(3, np.float32)]
    for dtype in ("int8", "uint8", "uint32"):
        which = np.array([0, 1, np.iinfo(dtype).max], dtype)
        np.testing.assert_array_equal(lax.select_n(which, *cases), [0, 1, 1])


def test_what_changes_nothing_makes_numpy_arrays_of_64_bits_narrow():
    x = np.ones(3)
    for found in (
        lax.transpose(x, (0,)),
        lax.broadcast_like(x, x),
        lax.convert_element_type(x, float),
    ):
        assert found.dtype == np.float32


def test_a_long_array_of_start_indices_is_not_taken_apart() -> None:
    starts = olympus.ShapeDtypeStruct((2**40,), np.int32)
    x = olympus.ShapeDtypeStruct((3, 3), F32)
    slice_of = lambda x, i: lax.dynamic_slice(x, i, (1, 1))  # noqa: E731
    with pytest.raises(ValueError, match="2 axes, got 1099511627776"):
        olympus.eval_shape(slice_of, x, starts)


def test_a_long_axis_is_not_taken_apart() -> None:
    x = olympus.ShapeDtypeStruct((2**31, 1, 2**63 - 1), np.uint32)
    with pytest.raises(ValueError, match="unstack: the axis must have at most"):
        olympus.eval_shape(lax.unstack, x)
