"""Samples of ragged contractions."""

from __future__ import annotations

from typing import Any

import numpy as np

from olympus._src.lax import ragged
from tests.lax.sampling import Sample, array, bf16, f32, i8, i32, u8

Numbers = ragged.RaggedDotDimensionNumbers
ROWS = Numbers((((1,), (1,)), ((), ())), [0], [0])
STACKED = Numbers((((2,), (2,)), ((0,), (1,))), [1], [0])
INNER = Numbers((((0,), (1,)), ((), ())), [1], [0])
PARTS = Numbers((((1,), (0,)), ((), ())), [1], [])
SEVERAL = Numbers((((0, 2), (1, 0)), ((), ())), [2], [])
BATCH = Numbers((((2,), (1,)), ((0,), (0,))), [0], [])


def _sample(
    numbers: Any, x: Any, y: Any, sizes: Any, preferred: Any = None, **options: Any
) -> Sample:
    floating = x.dtype.kind == "f"
    return Sample(
        ragged.ragged_dot_general_p,
        x,
        y,
        np.asarray(sizes),
        ragged_dot_dimension_numbers=numbers,
        precision=None,
        preferred_element_type=preferred,
        group_offset=None,
        out_sharding=None,
        linear=(0, 1) if floating else (),
        **options,
    )


SIZES = np.array([1, 0, 3], i32)
EACH = np.array([[1, 2, 0], [2, 2, 2]], i32)

SAMPLES = [
    _sample(ROWS, array((6, 2)), array((3, 2, 4)), SIZES, tolerance=1e-4),
    _sample(ROWS, array((6, 2), bf16), array((3, 2, 4), bf16), SIZES, f32, slow=True),
    _sample(ROWS, array((6, 2), i8), array((3, 2, 4), i8), SIZES.astype(u8), i32),
    _sample(ROWS, array((0, 2)), array((3, 2, 4)), SIZES),
    _sample(STACKED, array((2, 6, 2)), array((3, 2, 2, 3)), EACH, tolerance=1e-4),
    _sample(INNER, array((2, 5, 3)), array((3, 2, 2)), SIZES, tolerance=1e-4),
    _sample(PARTS, array((2, 6)), array((6, 3)), SIZES, tolerance=1e-4),
    _sample(SEVERAL, array((2, 3, 6)), array((6, 2, 2)), EACH, tolerance=1e-4),
    _sample(BATCH, array((4, 2, 3)), array((4, 3, 2)), SIZES, tolerance=1e-4),
]

x62, y324 = array((6, 2)), array((3, 2, 4))


def _general(x: Any, y: Any, sizes: Any, *numbers: Any) -> Any:
    return lambda: ragged.ragged_dot_general(x, y, np.asarray(sizes), Numbers(*numbers))


PLAIN = (((1,), (1,)), ((), ()))
ERRORS = [
    ("ragged_dot", lambda: ragged.ragged_dot(x62, y324[0], SIZES)),
    ("ragged_dot_general", lambda: ragged.ragged_dot(x62, y324, SIZES[:2])),
    ("ragged_dot_general", lambda: ragged.ragged_dot(x62, y324, SIZES.astype(f32))),
    ("ragged_dot_general", lambda: ragged.ragged_dot(x62[:, :1], y324, SIZES)),
    ("ragged_dot_general", _general(x62, y324, SIZES, PLAIN, [0], [])),
    ("ragged_dot_general", _general(x62, y324, SIZES, PLAIN, [0, 1], [0])),
    ("ragged_dot_general", _general(x62, y324, SIZES, PLAIN, [5], [0])),
    ("ragged_dot_general", _general(x62, y324, SIZES, PLAIN, [0], [1])),
    ("ragged_dot_general", _general(x62, y324, SIZES, PLAIN, [1], [0])),
]
