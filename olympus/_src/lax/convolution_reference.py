"""The meaning of a convolution in NumPy."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np


def _spread(x: Any, by: Sequence[int]) -> Any:
    """An array with holes of zeros between the elements of its last axes."""
    lead = x.ndim - len(by)
    shape = [
        (n - 1) * b + 1 if n else 0 for n, b in zip(x.shape[lead:], by, strict=True)
    ]
    out = np.zeros((*x.shape[:lead], *shape), x.dtype)
    places: Any = (..., *[slice(None, None, b) for b in by])
    out[places] = x
    return out


def convolve(lhs: Any, rhs: Any, **params: Any) -> Any:
    """`conv_general_dilated` of NumPy arrays, window by window."""
    dn, pads = params["dimension_numbers"], params["padding"]
    dtype = params["preferred_element_type"] or lhs.dtype
    work = np.complex128 if lhs.dtype.kind == "c" else np.float64
    x = _spread(np.transpose(lhs, dn.lhs_spec).astype(work), params["lhs_dilation"])
    w = _spread(np.transpose(rhs, dn.rhs_spec).astype(work), params["rhs_dilation"])
    x = np.pad(x, [(0, 0), (0, 0), *[(max(a, 0), max(b, 0)) for a, b in pads]])
    crops = [slice(max(-a, 0), -max(-b, 0) or None) for a, b in pads]
    x = x[(slice(None), slice(None), *crops)]
    groups, batches = params["feature_group_count"], params["batch_group_count"]
    steps = params["window_strides"]
    sizes = [
        max((n - k) // s + 1, 0)
        for n, k, s in zip(x.shape[2:], w.shape[2:], steps, strict=True)
    ]
    out = np.zeros((x.shape[0] // batches, w.shape[0], *sizes), work)
    n_in, n_out, n_batch = w.shape[1], w.shape[0] // groups, x.shape[0] // batches
    for o in range(w.shape[0]):
        group, part = o // n_out, o // (w.shape[0] // batches)
        source = x[
            part * n_batch : (part + 1) * n_batch, group * n_in : (group + 1) * n_in
        ]
        for at in np.ndindex(*sizes):
            window: Any = [
                slice(i * s, i * s + k)
                for i, s, k in zip(at, steps, w.shape[2:], strict=True)
            ]
            patch = source[(..., *window)]
            place: tuple[Any, ...] = (slice(None), o, *at)
            out[place] = (patch * w[o]).reshape(n_batch, -1).sum(1)
    return np.transpose(out, np.argsort(dn.out_spec)).astype(dtype)
