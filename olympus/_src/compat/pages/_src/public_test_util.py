"""Comparisons of results, as tests of libraries use them."""

from __future__ import annotations

from typing import Any

import numpy as np

from olympus._src import tree
from olympus._src.api.gradient_checks import check_grads as check_grads
from olympus._src.core import dtypes

# By dtype, differences that rounding makes; integers and booleans have none.
_TOLERANCES = {
    "float16": 1e-3,
    "bfloat16": 1e-2,
    "float32": 1e-6,
    "complex64": 1e-6,
    "float64": 1e-15,
    "complex128": 1e-15,
    "float4_e2m1fn": 1.0,
    "float8_e8m0fnu": 1.0,
}
_OF_SHORT_FLOATS = 1e-1


def _tolerance(x: np.ndarray, y: np.ndarray, given: Any) -> float:
    if given is not None and not isinstance(given, dict):
        return float(given)
    named = {np.dtype(dtype): value for dtype, value in (given or {}).items()}
    kept = [dtypes.canonicalize_dtype(a.dtype) for a in (x, y)]
    return float(max(named.get(dtype, _default(dtype)) for dtype in kept))


def _default(dtype: np.dtype) -> float:
    if dtypes.kind(dtype) not in "fc":
        return 0.0
    return _TOLERANCES.get(dtype.name, _OF_SHORT_FLOATS)


def check_close(
    xs: Any, ys: Any, atol: Any = None, rtol: Any = None, err_msg: str = ""
) -> None:
    """Raises AssertionError where two trees of arrays differ."""

    def compare(x: Any, y: Any) -> None:
        x, y = np.asarray(x), np.asarray(y)
        np.testing.assert_allclose(
            x.astype(float) if x.dtype.kind == "V" else x,
            y.astype(float) if y.dtype.kind == "V" else y,
            atol=_tolerance(x, y, atol),
            rtol=_tolerance(x, y, rtol),
            err_msg=err_msg,
        )

    tree.tree_map(compare, xs, ys)


__all__ = ["check_close", "check_grads"]
