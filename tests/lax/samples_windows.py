"""Samples of reductions over windows."""

from __future__ import annotations

import numpy as np

from olympus._src.control_flow import reduce
from olympus._src.lax import elementwise, windows
from tests.lax.sampling import Sample, array, bf16, c64, distinct, i8, i32


def over(p, *args, window, steps=None, pads=None, spread=None, holes=None, **options):
    rank = args[0].ndim
    ones = (1,) * rank
    return Sample(
        p, *args, window_dimensions=window, window_strides=steps or ones,
        padding=pads or ((0, 0),) * rank, base_dilation=spread or ones,
        window_dilation=holes or ones, **options,
    )  # fmt: skip


SUM, MAX, MIN = (
    windows.reduce_window_sum_p,
    windows.reduce_window_max_p,
    windows.reduce_window_min_p,
)
GE, LE = elementwise.ge_p, elementwise.le_p
PADS = ((1, 0), (2, 1))


def _selections():
    x = distinct((5, 6))
    for prim in (GE, LE):
        yield over(windows.select_and_gather_add_p, array((5, 6)), x, window=(2, 3),
                   steps=(2, 1), pads=PADS, select_prim=prim, linear=(0,),
                   smooth=False)  # fmt: skip
        yield Sample(windows.select_and_scatter_add_p, array((3, 7)), x,
                     window_dimensions=(2, 3), window_strides=(2, 1), padding=PADS,
                     select_prim=prim, linear=(0,), smooth=False)  # fmt: skip


SAMPLES = [
    over(SUM, array((5, 6)), window=(2, 3), linear=(0,)),
    over(SUM, array((5, 6)), window=(2, 3), steps=(2, 3), pads=PADS, linear=(0,)),
    over(SUM, array((5, 6)), window=(2, 3), steps=(1, 2), pads=PADS, spread=(2, 3),
         holes=(3, 2), linear=(0,)),
    over(SUM, array((5, 6), c64), window=(5, 1), linear=(0,)),
    over(SUM, array((5,), i8), window=(2,)),
    over(SUM, array((2,)), window=(3,), linear=(0,)),
    *(
        over(p, distinct((5, 6)), window=(2, 3), steps=steps, pads=pads)
        for p in (MAX, MIN)
        for steps, pads in [((1, 1), None), ((2, 2), PADS)]
    ),
    over(MAX, array((5, 6), i32), window=(2, 2), pads=PADS),
    over(MIN, array((5, 6), bf16), window=(2, 2), pads=PADS, holes=(2, 1)),
    over(MAX, np.array([1, np.nan, 3, 2], np.float32), window=(2,), smooth=False),
    *_selections(),
]  # fmt: skip

x = array((4, 5))
run = reduce.reduce_window
add, top = elementwise.add, elementwise.max_

ERRORS = [
    ("reduce_window", lambda: run(x, 0.0, add, (2,), (1, 1), ((0, 0),) * 2)),
    ("reduce_window", lambda: run(x, 0.0, add, (2, 2), (0, 1), ((0, 0),) * 2)),
    ("reduce_window", lambda: run(x, 0.0, add, (2, 2), (1,), "SAME")),
    ("padding", lambda: run(x, 0.0, add, (2, 2), (1, 1), "FULL")),
    ("select_and_gather_add",
     lambda: windows.select_and_gather_add_p.bind(
         x, x[0], select_prim=GE, window_dimensions=(1, 1), window_strides=(1, 1),
         padding=PADS, base_dilation=(1, 1), window_dilation=(1, 1))),
    ("select_and_scatter_add",
     lambda: windows.select_and_scatter_add_p.bind(
         x, x, select_prim=GE, window_dimensions=(2, 2), window_strides=(1, 1),
         padding=PADS)),
]  # fmt: skip
