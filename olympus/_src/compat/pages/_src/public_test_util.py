"""Comparisons of results, as tests of libraries use them."""

from __future__ import annotations

from typing import Any

import numpy as np

from olympus._src import tree
from olympus._src.api.gradient_checks import check_grads as check_grads

# For dtypes of so many bytes, differences that rounding makes.
_TOLERANCES = {2: 1e-2, 4: 1e-6, 8: 1e-15, 16: 1e-15}


def _tolerance(x: np.ndarray, y: np.ndarray, given: Any) -> float:
    if isinstance(given, dict):
        by_dtype = {np.dtype(dtype): value for dtype, value in given.items()}
        return float(max(by_dtype.get(a.dtype, 0.0) for a in (x, y)))
    if given is not None:
        return float(given)
    sizes = [a.dtype.itemsize for a in (x, y) if a.dtype.kind in "fcV"]
    return _TOLERANCES.get(min(sizes), 1e-1) if sizes else 0.0


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
