"""Comparing what a program computes with what it computed where it was made."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from olympus._src.core import dtypes
from olympus._src.export import named_arrays


def deviation(actual: Any, expected: Any) -> float:
    """The largest difference of two arrays, as a share of the largest expected value.

    Returns:
      0 where they are equal, with NaN equal to NaN; infinity where shape, dtype, or
      which elements are finite differ, or any element that is not a floating number.
    """
    if actual.shape != expected.shape or actual.dtype != expected.dtype:
        return np.inf
    a, b = named_arrays.to_numpy(actual), named_arrays.to_numpy(expected)
    if b.dtype.kind not in "fc":
        return 0.0 if np.array_equal(a, b) else np.inf
    finite = np.isfinite(b)
    if not np.array_equal(a[~finite], b[~finite], equal_nan=True):
        return np.inf
    a, b = a[finite], b[finite]
    if not np.isfinite(a).all():
        return np.inf
    if not b.size:
        return 0.0
    largest = np.max(np.abs(b)) or 1.0
    return float(np.max(np.abs(a - b)) / largest)


def tolerance_of(dtype: Any) -> float:
    """The tolerance for results of a dtype that were computed by other code."""
    if dtypes.kind(dtype) not in "fc":
        return 0.0
    return float(np.sqrt(float(dtypes.finfo(dtypes.real_dtype(dtype)).eps)))


def failures(
    paths: Sequence[str],
    actual: Sequence[Any],
    expected: Sequence[Any],
    tolerance: float | None,
) -> list[str]:
    """Which results differ from the expected ones by more than they may, in words."""
    reasons = []
    for path, a, b in zip(paths, actual, expected, strict=True):
        allowed = tolerance_of(b.dtype) if tolerance is None else tolerance
        got = deviation(a, b)
        if got > allowed:
            reasons.append(
                f"{path} is off by {got:.2g} of its size ({allowed:.2g} may be)"
            )
    return reasons
