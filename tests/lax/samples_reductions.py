"""Samples of reductions and cumulative operations."""

from __future__ import annotations

import numpy as np

from olympus._src.lax import argmax_lowering, cumulative, families, reductions
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
NAN = np.array([[1, np.nan, 3], [np.nan, np.nan, -np.inf]], f32)
SPREAD = distinct((5, 3)) * f32.type(0.3)
TIES = np.array([[1, 2, 2], [0, -0.0, 0]], f32)

SAMPLES = [
    S(families.reduce_sum_p, array((2, 3, 4)), axes=(0, 2), linear=(0,)),
    S(families.reduce_sum_p, array((3, 4), c64), axes=(), linear=(0,)),
    S(families.reduce_sum_p, array((0, 4), i32), axes=(0,)),
    S(families.reduce_sum_p, array((3, 40), i8), axes=(1,)),
    S(reductions.reduce_prod_p, array((3, 4)), axes=(1,)),
    S(reductions.reduce_prod_p, array((2, 3, 2)), axes=(0, 1)),
    S(reductions.reduce_prod_p, np.array([0, 2, 0], f32), axes=(0,)),
    S(reductions.reduce_prod_p, array((3, 4), c64), axes=(0,)),
    S(reductions.reduce_prod_p, array((0, 4), u8), axes=(0,)),
    *(
        S(p, *args, axes=axes, smooth=smooth)
        for p in (reductions.reduce_max_p, reductions.reduce_min_p)
        for args, axes, smooth in [
            ((distinct((2, 3, 4)),), (0, 2), True),
            ((NAN,), (1,), False),
            ((array((3, 4), bf16),), (0, 1), True),
            ((array((3, 4), b1),), (0,), True),
            ((array((3, 4), u32),), (1,), True),
            ((array((0, 4)),), (0,), False),
            ((array((0, 4), i8),), (0,), True),
            ((array((3, 4), c64),), (1,), True),
            ((array((2, 3, 4), c64),), (0, 2), True),
            ((np.array([[1 + 2j, 1 + 3j], [1 + 3j, 0]], c64),), (0, 1), False),
            ((array((0, 4), c64),), (0,), False),
        ]
    ),
    *(
        S(p, array((3, 4), kind), axes=(1,))
        for p in (
            reductions.reduce_and_p,
            reductions.reduce_or_p,
            reductions.reduce_xor_p,
        )
        for kind in (b1, i32, u8)
    ),
    *(
        S(p, x, axes=(axis,), index_dtype=kind)
        for p in (reductions.argmax_p, reductions.argmin_p)
        for x, axis, kind in [
            (distinct((3, 4)), 1, i32),
            (NAN, 1, i32),
            (TIES, 1, u8),
            (array((3, 4), b1), 0, i32),
            (array((0, 4), i8), 1, i32),
            (array((3, 5), bf16), 0, i8),
        ]
    ),
    *(
        S(argmax_lowering.first_extreme_p, x, axes=(axis,), index_dtype=kind,
          largest=largest)
        for largest in (False, True)
        for x, axis, kind in [
            (NAN, 1, i32),
            (TIES, 1, u8),
            (array((70, 70)), 0, i32),
            (array((70, 70)), 1, i32),
        ]
    ),
    *(
        S(argmax_lowering.paired_extreme_p, x, axes=(axis,), index_dtype=kind,
          largest=largest)
        for largest in (False, True)
        for x, axis, kind in [
            (NAN, 1, i32),
            (TIES, 1, u8),
            (distinct((3, 4)), 0, i32),
            (array((3, 4), b1), 0, i32),
            (array((70, 70), i8), 1, i32),
            (array((70, 70), u32), 0, i32),
        ]
    ),
    S(reductions.reduce_precision_p, array((5,)), exponent_bits=5, mantissa_bits=10,
      smooth=False),
    S(reductions.reduce_precision_p, array((5,)), exponent_bits=8, mantissa_bits=7,
      smooth=False),
    S(reductions.reduce_precision_p, array((5,), f16), exponent_bits=5,
      mantissa_bits=10),
    *(
        S(p, SPREAD, axis=axis, reverse=reverse, linear=linear)
        for p, linear in [
            (cumulative.cumsum_p, (0,)),
            (cumulative.cumprod_p, ()),
            (cumulative.cummax_p, ()),
            (cumulative.cummin_p, ()),
            (cumulative.cumlogsumexp_p, ()),
        ]
        for axis, reverse in [(0, False), (1, True)]
    ),
    *(
        S(p, array((2, 150, 300), kind), axis=axis, reverse=reverse, loop=False,
          smooth=False, tolerance=tolerance)
        for p, kind, tolerance in [
            (cumulative.cumsum_p, f32, 1e-3),
            (cumulative.cumsum_p, i32, None),
            (cumulative.cummax_p, f32, None),
            (cumulative.cummin_p, i8, None),
            (cumulative.cumlogsumexp_p, f32, 1e-4),
        ]
        for axis, reverse in [(1, False), (2, True)]
    ),
    S(cumulative.cumprod_p, array((70000,), f32, low=0.99, high=1.01), axis=0,
      reverse=False, loop=False, smooth=False, tolerance=1e-3),
    S(cumulative.cumsum_p, array((5, 3), bf16), axis=0, reverse=False, tolerance=0.1),
    S(cumulative.cumsum_p, array((5, 3), c64), axis=0, reverse=False),
    S(cumulative.cumsum_p, array((0, 3)), axis=0, reverse=False, smooth=False),
    S(cumulative.cummax_p, NAN, axis=1, reverse=False, smooth=False),
    S(cumulative.cummax_p, array((4,), b1), axis=0, reverse=False),
    S(cumulative.cummax_p, array((5, 3), c64), axis=0, reverse=False),
    S(cumulative.cummin_p, array((40,), c64), axis=0, reverse=True),
    S(cumulative.cumlogsumexp_p, np.full((4,), -np.inf, f32), axis=0, reverse=False,
      smooth=False),
]  # fmt: skip

x23 = array((2, 3))

ERRORS = [
    ("reduce_max", lambda: reductions.reduce_max(x23, (2,))),
    ("reduce_min", lambda: reductions.reduce_min(x23, (0, 0))),
    ("reduce_sum", lambda: reductions.reduce_sum(x23 > 0, (0,))),
    ("reduce_prod", lambda: reductions.reduce_prod(x23 > 0, (0,))),
    ("reduce_and", lambda: reductions.reduce_and(x23, (0,))),
    ("reduce_or", lambda: reductions.reduce_or(x23, (0,))),
    ("reduce_xor", lambda: reductions.reduce_xor(x23, (0,))),
    ("argmax", lambda: reductions.argmax(x23, 5, i32)),
    ("argmax", lambda: reductions.argmax(x23, 1, f32)),
    ("argmin", lambda: reductions.argmin(x23[:, :0], 1, i32)),
    ("argmin", lambda: reductions.argmin_p.bind(x23, axes=(0, 1), index_dtype=i32)),
    ("reduce_precision", lambda: reductions.reduce_precision(x23 > 0, 5, 10)),
    ("cumsum", lambda: cumulative.cumsum(x23, 2)),
    ("cumsum", lambda: cumulative.cumsum(x23 > 0)),
    ("cumprod", lambda: cumulative.cumprod(x23, -3)),
    ("cummax", lambda: cumulative.cummax(x23.astype(c64), 2)),
    ("cummin", lambda: cumulative.cummin(x23, 2)),
    ("cumlogsumexp", lambda: cumulative.cumlogsumexp(x23 > 0)),
]
