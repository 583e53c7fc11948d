"""Samples of slices, gathers and scatters."""

from __future__ import annotations

import numpy as np

from olympus._src.lax import gather, scatter, scatter_functions, slicing
from tests.lax.sampling import Sample, array, b1, bf16, c64, distinct, f32, i8, i32, u32

S = Sample
MODE = gather.GatherScatterMode
G = gather.GatherDimensionNumbers
N = gather.ScatterDimensionNumbers

ROWS = np.array([[0], [2], [2], [1]], i32)
UNIQUE_ROWS = np.array([[3], [0], [1]], i32)
OUTSIDE = np.array([[-1], [2], [9], [1]], i32)
POINTS = np.array([[[0, 1], [3, 4]]], i32)


def take(x, indices, numbers, sizes, mode=MODE.CLIP, fill=None, **options):
    return S(gather.gather_p, x, indices, dimension_numbers=numbers, slice_sizes=sizes,
             mode=mode, fill_value=fill, unique_indices=False,
             indices_are_sorted=False, **options)  # fmt: skip


def put(name, x, indices, updates, numbers, mode=MODE.FILL_OR_DROP, unique=False,
        **options):  # fmt: skip
    p = {"scatter": scatter.scatter_p, "add": scatter.scatter_add_p,
         "sub": scatter.scatter_sub_p, "mul": scatter.scatter_mul_p,
         "min": scatter.scatter_min_p, "max": scatter.scatter_max_p}[name]  # fmt: skip
    program = scatter.update_program(p, x.dtype)
    return S(p, x, indices, updates, dimension_numbers=numbers, mode=mode,
             unique_indices=unique, indices_are_sorted=False,
             update_jaxpr=program, update_consts=(), **options)  # fmt: skip


BY_ROW = G((1,), (0,), (0,))
ROW_SET = N((1,), (0,), (0,))

SAMPLES = [
    S(slicing.dynamic_slice_p, array((4, 5)), i32.type(1), i32.type(2),
      slice_sizes=(2, 3), linear=(0,)),
    S(slicing.dynamic_slice_p, array((4, 5), bf16), i32.type(-7), i32.type(9),
      slice_sizes=(4, 2)),
    S(slicing.dynamic_slice_p, array((4, 5), b1), np.int8(1), u32.type(2),
      slice_sizes=(0, 3)),
    S(slicing.dynamic_slice_p, array((), i32), slice_sizes=()),
    S(slicing.dynamic_update_slice_p, array((4, 5)), array((2, 2)), i32.type(1),
      i32.type(2), linear=(0, 1)),
    S(slicing.dynamic_update_slice_p, array((4,), c64), array((2,), c64), i32.type(9)),
    S(slicing.dynamic_update_slice_p, array((4,), i8), array((0,), i8), i32.type(1)),
    take(array((4, 3)), ROWS, BY_ROW, (1, 3), linear=(0,)),
    take(array((4, 3)), OUTSIDE, BY_ROW, (1, 3), linear=(0,)),
    take(array((4, 3)), OUTSIDE, BY_ROW, (1, 2), MODE.FILL_OR_DROP, 0, linear=(0,)),
    take(array((4, 3), i32), OUTSIDE, BY_ROW, (1, 3), MODE.FILL_OR_DROP),
    take(array((4, 3), b1), OUTSIDE.astype(u32), BY_ROW, (1, 3), MODE.FILL_OR_DROP),
    take(array((4, 5), bf16), POINTS, G((), (0, 1), (0, 1)), (1, 1)),
    take(array((4, 5)), POINTS, G((1, 3), (), (1, 0)), (2, 3), linear=(0,)),
    take(array((4, 5)), array((0, 1), i32), BY_ROW, (1, 5)),
    take(array((2, 4, 3)), array((2, 5, 1), i32, low=0, high=4),
         G((2,), (1,), (1,), (0,), (0,)), (1, 1, 3), linear=(0,)),
    put("scatter", array((4, 3)), ROWS[:1], array((1, 3)), ROW_SET),
    put("scatter", array((4, 3)), UNIQUE_ROWS, array((3, 3)), ROW_SET, unique=True,
        linear=(0, 2)),
    put("scatter", array((4, 3)), OUTSIDE, array((4, 3)), ROW_SET),
    put("scatter", array((4, 3)), OUTSIDE[1:], array((3, 2)), ROW_SET, MODE.CLIP),
    put("scatter", array((4, 3), bf16), UNIQUE_ROWS, array((3, 3), bf16), ROW_SET),
    put("scatter", array((4, 3)), array((0, 1), i32), array((0, 3)), ROW_SET,
        smooth=False),
    put("add", array((4, 3)), ROWS, array((4, 3)), ROW_SET, linear=(0, 2)),
    put("add", array((4, 3)), OUTSIDE, array((4, 3)), ROW_SET, linear=(0, 2)),
    put("add", array((4, 3)), OUTSIDE, array((4, 3)), ROW_SET, MODE.CLIP,
        linear=(0, 2)),
    put("add", array((4, 3), i8), ROWS, array((4, 3), i8), ROW_SET),
    put("add", array((4, 3), c64), ROWS, array((4, 3), c64), ROW_SET),
    put("add", array((4, 3), b1), ROWS, array((4, 3), b1), ROW_SET),
    put("add", array((4, 5)), POINTS, array((2, 1, 3, 2)), N((0, 2), (), (1, 0)),
        linear=(0, 2)),
    put("add", array((2, 4, 3)), array((2, 5, 1), i32, low=0, high=4),
        array((2, 5, 3)), N((2,), (1,), (1,), (0,), (0,)), linear=(0, 2)),
    put("sub", array((4, 3)), ROWS, array((4, 3)), ROW_SET, linear=(0, 2)),
    put("sub", array((4, 3), u32), ROWS, array((4, 3), u32), ROW_SET),
    put("mul", array((4, 3)), ROWS, array((4, 3)), ROW_SET, smooth=False, linear=(0,)),
    put("mul", array((4, 3)), UNIQUE_ROWS, array((3, 3)), ROW_SET, unique=True,
        linear=(0, 2)),
    put("min", distinct((4, 3)), ROWS, distinct((4, 3), seed=1) + f32.type(0.1),
        ROW_SET),
    put("max", distinct((4, 3)), OUTSIDE, distinct((4, 3), seed=1) + f32.type(0.1),
        ROW_SET),
    put("max", array((4, 3), i8), ROWS, array((4, 3), i8), ROW_SET),
]  # fmt: skip

x23 = array((2, 3))
ints = array((2, 1), i32)

ERRORS = [
    ("dynamic_slice", lambda: slicing.dynamic_slice(x23, (0,), (1, 1))),
    ("dynamic_slice", lambda: slicing.dynamic_slice(x23, (0, 0), (3, 1))),
    ("dynamic_slice", lambda: slicing.dynamic_slice(x23, (0, 1.5), (1, 1))),
    ("dynamic_slice_in_dim", lambda: slicing.dynamic_slice_in_dim(x23, 0, 1, 2)),
    ("axis", lambda: slicing.dynamic_index_in_dim(x23, 0, 2)),
    ("dynamic_update_slice",
     lambda: slicing.dynamic_update_slice(x23, x23[0], (0, 0))),
    ("dynamic_update_slice",
     lambda: slicing.dynamic_update_slice(x23, x23 > 0, (0, 0))),
    ("dynamic_update_slice",
     lambda: slicing.dynamic_update_slice(x23, x23, (0,))),
    ("dynamic_update_index_in_dim",
     lambda: slicing.dynamic_update_index_in_dim(x23, x23[0], 0, 4)),
    ("gather", lambda: gather.gather(x23, x23, BY_ROW, (1, 3))),
    ("gather", lambda: gather.gather(x23, ints, BY_ROW, (1, 4))),
    ("gather", lambda: gather.gather(x23, ints, BY_ROW, (2, 3))),
    ("gather", lambda: gather.gather(x23, ints, G((1,), (0,), (0, 1)), (1, 3))),
    ("gather", lambda: gather.gather(x23, ints, G((1,), (5,), (0,)), (1, 3))),
    ("gather", lambda: gather.gather(x23, ints, G((), (0,), (0,)), (1, 3))),
    ("gather", lambda: gather.gather(x23, ints, BY_ROW, (1, 3), mode="nearest")),
    ("scatter", lambda: scatter_functions.scatter(x23, ints, x23[0], ROW_SET)),
    ("scatter_sub", lambda: scatter_functions.scatter_sub(x23, ints, x23[0], ROW_SET)),
    ("scatter_mul", lambda: scatter_functions.scatter_mul(x23, ints, x23[0], ROW_SET)),
    ("scatter_min", lambda: scatter_functions.scatter_min(x23, ints, x23[0], ROW_SET)),
    ("scatter_max", lambda: scatter_functions.scatter_max(x23, ints, x23[0], ROW_SET)),
    ("scatter", lambda: scatter_functions.scatter(x23, x23, x23, ROW_SET)),
    ("scatter", lambda: scatter_functions.scatter(x23, ints, x23 > 0, ROW_SET)),
    ("scatter_add", lambda: scatter_functions.scatter_add(x23, ints, x23[:1], ROW_SET)),
    (
        "scatter_add",
        lambda: scatter_functions.scatter_add(x23, ints, x23, N((1,), (0,), (7,))),
    ),
]  # fmt: skip
