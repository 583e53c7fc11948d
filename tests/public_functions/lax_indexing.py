"""Slices, gathers and scatters of olympus.lax."""

from __future__ import annotations

import numpy as np

from olympus import lax
from tests.public_functions.entries import entries
from tests.public_functions.points import M, N, SharedCall, signed_values
from tests.public_functions.reasons import NO_RULE, SAMPLES

entry = entries("lax", undrawn=SAMPLES)

STARTS = np.array([[2], [0], [3]])
ROWS = lax.GatherDimensionNumbers((1,), (0,), (0,))
INTO = lax.ScatterDimensionNumbers((1,), (0,), (0,))
SCATTERED = (
    "v, np.array([[0]]), w[:1] if hasattr(w, 'dtype') else w,"
    " lax.ScatterDimensionNumbers((), (0,), (0,))"
)
ENTRIES = [
    *entry(
        "slice",
        smooth=(lambda x: lax.slice(x, (0, 1), (3, 4), (2, 1)), M),
        types="v, (1,), (3,)",
    ),
    *entry(
        "slice_in_dim",
        smooth=(lambda x: lax.slice_in_dim(x, 1, 3, axis=1), M),
        types="v, 0, 2",
    ),
    *entry("index_in_dim", smooth=(lambda x: lax.index_in_dim(x, 1), M), types="v, 0"),
    *entry(
        "dynamic_slice",
        smooth=[
            (lambda x, i=i: lax.dynamic_slice(x, (i, 1), (2, 2)), M) for i in (0, 7, -9)
        ],
        types="v, (b,), (2,)",
    ),
    *entry(
        "dynamic_slice_in_dim",
        smooth=(lambda x: lax.dynamic_slice_in_dim(x, 1, 2, 1), M),
        types="v, 0, 2; v, b, 2",
    ),
    *entry(
        "dynamic_index_in_dim",
        smooth=(lambda x: lax.dynamic_index_in_dim(x, 1), M),
        types="v, b; v, 0",
    ),
    *entry(
        "dynamic_update_slice",
        smooth=[
            (lambda x, v, i=i: lax.dynamic_update_slice(x, v, (i, 1)), M, N[:2, :2])
            for i in (0, 7, -9)
        ],
        types="v, w, (0,)",
    ),
    *entry(
        "dynamic_update_slice_in_dim",
        smooth=(lambda x, v: lax.dynamic_update_slice_in_dim(x, v, 1, 1), M, N[:, :2]),
        types="v, w, 0, 0",
    ),
    *entry(
        "dynamic_update_index_in_dim",
        smooth=(lambda x, v: lax.dynamic_update_index_in_dim(x, v, 1, 0), M, N[0]),
        types="v, b, 0, 0",
    ),
    *entry(
        "index_take",
        smooth=(lambda x: lax.index_take(x, [np.array([2, 0])], (0,)), M),
        types="v, (np.array([0]),), (0,)",
    ),
    *entry(
        "gather",
        smooth=[
            (
                lambda x, mode=mode: lax.gather(
                    x, STARTS, ROWS, (1, 4), mode=mode, fill_value=0
                ),
                M,
            )
            for mode in ("fill", "clip")
        ],
        types=(
            "v, np.array([[0]]), lax.GatherDimensionNumbers((), (0,), (0,)), (1,); "
            "v, np.array([[0]]), lax.GatherDimensionNumbers((), (0,), (0,)), (1,),"
            " mode='fill', fill_value=2; "
            "np.ones(3, 'f'), w[:, None],"
            " lax.GatherDimensionNumbers((), (0,), (0,)), (1,)"
        ),
    ),
    *entry(
        "scatter scatter_add scatter_sub scatter_min scatter_max",
        smooth=[
            (
                SharedCall(lambda f, x, v, mode=mode: f(x, STARTS, v, INTO, mode=mode)),
                M,
                signed_values(3, 4, seed=5) + 0.07,
            )
            for mode in ("drop", "clip")
        ],
        types=SCATTERED,
    ),
    *entry(
        "scatter_mul",
        smooth=[
            (
                lambda x, v, mode=mode: lax.scatter_mul(
                    x, STARTS, v, INTO, mode=mode, unique_indices=True
                ),
                M,
                N,
            )
            for mode in ("drop",)
        ],
        types=SCATTERED,
    ),
    *entry(
        "scatter_apply",
        smooth=NO_RULE,
        types=(
            "v, np.array([[0]]), lambda x: x,"
            " lax.ScatterDimensionNumbers((), (0,), (0,)), update_shape=(1,)"
        ),
    ),
]
