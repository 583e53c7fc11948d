"""Constants and lists of integers in the text of a block."""

from __future__ import annotations

import numpy as np
import pytest

from olympus._src.core.avals import ShapedArray
from olympus._src.lowering import builder, types

F32, I32 = (ShapedArray((), np.dtype(d)) for d in ("float32", "int32"))


def _constants(*values):
    block = builder.Block()
    names = [block.constant(value, aval) for value, aval in values]
    return names, block.lines, block.counter.literals


def test_equal_constants_are_written_once():
    names, lines, _ = _constants((0, I32), (0, I32), (np.int32(0), I32), (2, I32))
    assert names == ["%k0", "%k0", "%k0", "%k1"]
    assert lines == [
        "%k0 = stablehlo.constant dense<0> : tensor<i32>",
        "%k1 = stablehlo.constant dense<2> : tensor<i32>",
    ]


def test_zeros_of_both_signs_are_two_constants():
    values = [(0.0, F32), (-0.0, F32), (0, F32), (np.float32(-0.0), F32), (0.0, F32)]
    names, lines, _ = _constants(*values, *values)
    assert names == ["%k0", "%k1", "%k0", "%k1", "%k0"] * 2
    assert "dense<-0.0E+00>" in lines[1]
    assert len(lines) == 2


def test_the_same_number_in_two_types_is_two_constants():
    names, _, _ = _constants((0, I32), (0, F32), (False, I32), (0, I32))
    assert names == ["%k0", "%k1", "%k0", "%k0"]


def test_literals_are_numbers_other_than_zero():
    *_, literals = _constants((0, I32), (3, I32), (0.0, F32), (1.5, F32))
    assert literals == {"%k1": 3, "%k3": 1.5}


@pytest.mark.parametrize("value", [2**63, -(2**63) - 1, 10**30])
def test_integers_beyond_64_bits_are_refused(value):
    for write in (types.int_list, types.i64_array):
        with pytest.raises(OverflowError, match=f"must fit 64 bits, got {value}"):
            write([1, value])


def test_integers_of_64_bits_are_written():
    values = [2**63 - 1, -(2**63), 0, np.int64(7)]
    assert types.int_list(values) == f"[{2**63 - 1}, {-(2**63)}, 0, 7]"
    assert types.i64_array([]) == "array<i64>"
    assert types.i64_array(range(2)) == "array<i64: 0, 1>"


def test_element_types_have_names():
    assert types.element_type(np.dtype("uint8")) == "ui8"
    assert types.element_type(np.dtype("int16")) == "i16"
    for _ in range(2):
        assert types.element_type(np.dtype("bool")) == "i1"
        with pytest.raises(TypeError, match="no StableHLO element type"):
            types.element_type(np.dtype("S3"))
