"""Positions of extremes found beside the elements."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

import olympus
from olympus._src.lax import argmax_lowering

NARROW = ["int2", "uint2", "int4", "uint4", "float4_e2m1fn"]


@pytest.mark.parametrize("index_dtype", ["uint8", "int32"])
@pytest.mark.parametrize("largest", [True, False])
@pytest.mark.parametrize("dtype", NARROW)
def test_elements_of_parts_of_bytes(dtype, largest, index_dtype):
    dtype = np.dtype(getattr(ml_dtypes, dtype))
    rows = [[1, 0, 1], [0, 1, 0]]
    x = np.array(rows, np.float32).astype(dtype)

    @olympus.jit
    def positions(x):
        return argmax_lowering.paired_extreme_p.bind(
            x, axes=(1,), index_dtype=np.dtype(index_dtype), largest=largest
        )

    out = positions(x)
    assert out.dtype == index_dtype
    assert out.tolist() == ([0, 1] if largest else [1, 0])
