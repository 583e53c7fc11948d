"""Samples of sorting."""

from __future__ import annotations

import numpy as np

from olympus._src.lax import approximate_top_k, sorting
from tests.lax.sampling import (
    Sample,
    array,
    b1,
    bf16,
    c64,
    distinct,
    f16,
    f32,
    i8,
    i32,
    u8,
    u32,
)

S = Sample
HARD = np.array([3, np.nan, -np.inf, 0, -1e-30, np.inf, -np.nan, -2, 1e-30], f32)
TIES = np.array([[2, 1, 2, 1, 1], [0, 0, -0.0, 0, -3]], f32)
COUNT = np.tile(np.arange(5, dtype=i32), (2, 1))
U = np.array([5, 2**32 - 1, 0, 2**31, 2**31 - 1], u32)


def sort(*args, dimension=0, num_keys=1, stable=True, **options):
    return S(sorting.sort_p, *args, dimension=dimension, num_keys=num_keys,
             is_stable=stable, **options)  # fmt: skip


SAMPLES = [
    sort(HARD, smooth=False),
    sort(HARD.astype(f16), smooth=False),
    sort(HARD.astype(bf16), smooth=False),
    sort(HARD, np.arange(9, dtype=i32), smooth=False),
    sort(HARD.astype(bf16), np.arange(9, dtype=u8), smooth=False),
    *(sort(array((4, 5), kind), dimension=1) for kind in (i8, i32, u8, b1, c64)),
    *(sort(array((2, 5), kind), COUNT, dimension=1) for kind in (i8, i32, u8, b1, c64)),
    sort(U),
    sort(U, np.arange(5, dtype=i32)),
    sort(TIES, COUNT, dimension=1, smooth=False),
    sort(TIES, COUNT[:, ::-1], array((2, 5)), dimension=1, num_keys=2, smooth=False),
    sort(distinct((4, 3)), array((4, 3))),
    sort(array((0, 3)), array((0, 3), i32)),
    sort(distinct((2, 3, 4)), dimension=1),
    *(
        S(sorting.top_k_p, x, k=k, axis=axis, smooth=smooth)
        for x, k, axis, smooth in [
            (distinct((3, 5)), 2, 1, True),
            (distinct((3, 5)), 3, 0, True),
            (np.abs(TIES), 4, 1, False),
            (array((6,), bf16), 2, 0, True),
            (array((6,), i8), 6, 0, True),
            (array((6,), u32), 0, 0, True),
        ]
    ),
]


def _approximately(x, k, axis, largest, aggregate=True):
    return S(
        approximate_top_k.approx_top_k_p,
        x,
        k=k,
        reduction_dimension=axis,
        recall_target=0.95,
        is_max_k=largest,
        reduction_input_size_override=-1,
        aggregate_to_topk=aggregate,
    )


SAMPLES += [
    _approximately(distinct((3, 5)), 2, 1, True),
    _approximately(distinct((3, 5)), 2, -2, False),
    _approximately(distinct((3, 5), bf16), 2, 1, True, False),
]

x23 = array((2, 3))

ERRORS = [
    ("approx_max_k", lambda: approximate_top_k.approx_max_k(x23, 4)),
    ("approx_max_k", lambda: approximate_top_k.approx_max_k(x23.astype(i32), 1)),
    ("approx_min_k", lambda: approximate_top_k.approx_min_k(f32.type(1), 1)),
    ("approx_min_k", lambda: approximate_top_k.approx_min_k(x23, 1, recall_target=2.0)),
    ("sort", lambda: sorting.sort(())),
    ("sort", lambda: sorting.sort((x23, x23.T))),
    ("sort", lambda: sorting.sort(x23, 2)),
    ("sort", lambda: sorting.sort((x23, x23), num_keys=3)),
    ("top_k", lambda: sorting.top_k(x23, 4)),
    ("top_k", lambda: sorting.top_k(x23, 1, axis=2)),
    ("top_k", lambda: sorting.top_k(x23.astype(c64), 1)),
]
