"""Shapes, order and place of elements: joining, splitting, repeating, padding, bits."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.differential.drawing import Call, Draw
from tests.differential.entries import entries

entry = entries("numpy")

ANY = "bool int uint float complex"
SHAPES = [(), (0,), (1,), (5,), (3, 4), (1, 4), (2, 0), (2, 3, 2)]


# -- axes ------------------------------------------------------------------------------


def new_shape(d: Draw) -> Call:
    shape, new = d.pick(
        [
            ((2, 3), (3, 2)),
            ((2, 3), -1),
            ((2, 3), (-1, 2)),
            ((6,), (2, 1, -1)),
            ((), (1, 1)),
            ((2, 0), (0, 5)),
            ((2, 3, 2), (4, 3)),
            ((2, 3), (4, 2)),
            ((0,), (-1, 0)),
        ]
    )
    return d.call(d.array(ANY, shape), new, **d.options(order=["C", "F"]))


def a_line(d: Draw) -> Call:
    return d.call(d.array(ANY), **d.options(order=["C", "F"]))


def order_of_axes(d: Draw) -> Call:
    x = d.array(ANY)
    if d.chance(0.3):
        return d.call(x)
    axes = tuple(int(a) - d.pick([0, x.ndim]) for a in d.rng.permutation(x.ndim))
    return d.call(x, axes)


def all_axes(d: Draw) -> Call:
    x = d.array(ANY, d.pick([(5,), (3, 4), (2, 3, 2)]))
    return d.call(x, tuple(int(a) for a in d.rng.permutation(x.ndim)))


def moved(d: Draw) -> Call:
    x = d.array(ANY, d.pick([(5,), (3, 4), (2, 3, 2)]))
    if x.ndim == 3 and d.chance():
        return d.call(x, (0, -1), d.pick([(1, 0), (-1, 0), (2, 1)]))
    return d.call(x, d.axis(x), d.axis(x))


def rolled(d: Draw) -> Call:
    x = d.array(ANY, d.pick([(5,), (3, 4), (2, 3, 2)]))
    return d.call(x, d.axis(x), **d.options(start=[0, 1, x.ndim, -1]))


def swapped(d: Draw) -> Call:
    x = d.array(ANY, d.pick([(5,), (3, 4), (2, 3, 2)]))
    return d.call(x, d.axis(x), d.axis(x))


def widened(d: Draw) -> Call:
    x = d.array(ANY)
    return d.call(x, d.pick([0, -1, (0, 1), (-1, 0), x.ndim, (0, 0)]))


def squeezed(d: Draw) -> Call:
    x = d.array(ANY, d.pick([(1,), (1, 4), (3, 1, 2), (), (1, 1), (2, 3)]))
    # NumPy alone takes 0 and -1 as axes of a scalar.
    axes = [None, 0, -1, (0,), 1, ()] if x.ndim else [None, 1, ()]
    return d.call(x, **d.options(axis=axes))


def matrices(d: Draw) -> Call:
    return d.call(d.array(ANY, d.pick([(3, 4), (2, 3, 2), (0, 2)])))


def spread(d: Draw) -> Call:
    x = d.array(ANY, d.pick([(), (3,), (1, 3), (2, 1)]))
    return d.call(x, d.pick([(2, 3), (4, 2, 3), 3, (1, 3), (2, 2)]))


def several(d: Draw) -> Call:
    return d.call(*[d.array(ANY, s) for s in d.shapes(d.integer(1, 3))])


def any_of_them(d: Draw) -> Call:
    return d.call(*[d.array(ANY) for _ in range(d.integer(1, 2))])


def shapes_alone(d: Draw) -> Call:
    return d.call(*d.shapes(3))


# -- joining and splitting -------------------------------------------------------------


def parts(d: Draw, axis: int, shape: Any) -> list[Any]:
    found = []
    for _ in range(d.integer(1, 3)):
        own = list(shape)
        own[axis] = d.pick([shape[axis], 1, 0, 2])
        found.append(d.array("bool int single complex", tuple(own)))
    return found


def joined(d: Draw) -> Call:
    shape = d.pick([(3,), (2, 3), (2, 1, 2)])
    axis = d.integer(-len(shape), len(shape) - 1)
    if d.chance(0.2):
        return d.call([d.array(ANY) for _ in range(2)], axis=None)
    return d.call(parts(d, axis, shape), axis=axis)


def joined_with(d: Draw) -> Call:
    if d.chance():
        return d.call(d.array(ANY), d.array(ANY))
    x, y = (d.array("int single", (2, 3)) for _ in range(2))
    return d.call(x, y, axis=d.pick([0, 1, -1]))


def stacked(d: Draw) -> Call:
    shape = d.pick(SHAPES)
    rank = len(shape)
    arrays = [d.array("int single bool", shape) for _ in range(d.integer(1, 3))]
    return d.call(arrays, **d.options(axis=[d.integer(-rank - 1, rank)]))


def alike(d: Draw) -> Call:
    shape = d.pick([(), (3,), (2, 3), (2, 3, 2), (0,)])
    return d.call(
        [d.array("int single complex", shape) for _ in range(d.integer(1, 3))]
    )


def blocks(d: Draw) -> Call:
    a, b = d.array("int single", (2, 3)), d.array("int single", (2, 1))
    c = d.array("single", (1, 4))
    return d.call(d.pick([[a, b], [[a, b], [c]], [[a], [a]], a, [1, 2, a[0]]]))


def cut(d: Draw) -> Call:
    x = d.array(ANY, d.pick([(6,), (4, 6), (6, 2, 3)]))
    axis = d.axis(x)
    return d.call(x, d.pick([1, 2, 3, 4, [1, 3], [2, 2, 9], [], [-2]]), axis)


def cut_in_two(rank: int) -> Any:
    def draw(d: Draw) -> Call:
        shape = d.pick([s for s in [(6,), (4, 6), (2, 4, 6)] if len(s) >= rank])
        return d.call(d.array(ANY, shape), d.pick([1, 2, [1, 3], [1]]))

    return draw


def apart(d: Draw) -> Call:
    x = d.array(ANY, d.pick([(3,), (2, 3), (0, 2)]))
    return d.call(x, **d.options(axis=[0, -1]))


# -- repeating, leaving out ------------------------------------------------------------


def tiled(d: Draw) -> Call:
    return d.call(d.array(ANY), d.pick([2, (2,), (2, 1), (1, 2, 3), 0, ()]))


def repeated(d: Draw) -> Call:
    x = d.array(ANY, d.pick([(3,), (3, 2), (), (0,)]))
    if x.shape[:1] == (3,) and d.chance():
        return d.call(x, d.pick([[1, 0, 2], (2, 2, 2)]), axis=0)
    return d.call(x, d.pick([0, 1, 3]), **d.options(axis=[None, 0, -1]))


def left_out(d: Draw) -> Call:
    x = d.array(ANY, d.pick([(5,), (3, 4)]))
    axis = d.pick([None, 0, -1])
    which = d.pick([0, -1, 2, slice(None, None, 2), slice(1, 3), slice(3, 0, -1)])
    if d.chance():
        which = np.array(d.pick([[0, 2], [1, 1], [-1, 0]]))
    return d.call(x, which, axis)


def put_in(d: Draw) -> Call:
    x = d.array("int single", d.pick([(5,), (3, 4)]))
    axis = d.pick([0, -1])
    where = d.pick([0, -1, 2, np.array([0, 2]), np.array([1, 1]), 3])
    return d.call(x, where, d.pick([7, d.array("int", ())]), axis)


def resized(d: Draw) -> Call:
    return d.call(d.array(ANY), d.pick([3, (2, 3), (0,), (4, 4), ()]))


def rolled_elements(d: Draw) -> Call:
    x = d.array(ANY, "axes")
    if x.ndim > 1 and d.chance(0.3):
        return d.call(x, (1, -2), (0, 1))
    return d.call(x, d.pick([0, 1, -1, 7, -9]), **d.options(axis=d.axes(x)))


def turned(d: Draw) -> Call:
    x = d.array(ANY, d.pick([(3, 4), (2, 3, 2), (1, 1), (0, 2)]))
    return d.call(x, **d.options(k=[0, 1, 2, 3, -1, 5], axes=[(0, 1), (1, 0), (-1, 0)]))


def flipped(d: Draw) -> Call:
    x = d.array(ANY)
    return d.call(x, **d.options(axis=d.axes(x)))


def of_two_axes(d: Draw) -> Call:
    return d.call(d.array(ANY, d.pick([(3, 4), (2, 3, 2), (5,)])))


def trimmed(d: Draw) -> Call:
    x = d.array("int single", "vector", "zeros ties")
    return d.call(x, **d.options(trim=["fb", "f", "b"]))


# -- padding ---------------------------------------------------------------------------

STATISTICS = ["maximum", "mean", "median", "minimum"]


def widths(d: Draw, x: Any) -> Any:
    found: list[Any] = [1, 2, (1, 0), (0, 3), [(2, 1)] * x.ndim, 0]
    if x.ndim == 2:
        found.append(((0, 1), (2, 0)))
    return d.pick(found)


def padded(d: Draw) -> Call:
    x = d.array("int single", d.pick([(4,), (3, 4), (2, 3, 2)]))
    width = widths(d, x)
    mode = d.pick(
        [
            "constant",
            "edge",
            "linear_ramp",
            "maximum",
            "mean",
            "median",
            "minimum",
            "reflect",
            "symmetric",
            "wrap",
            "empty",
        ]
    )
    if mode == "empty":
        return d.call(x, 0, mode)
    options: dict[str, Any] = {}
    if mode == "constant":
        options = d.options(constant_values=[3, (1, 2), 0])
    if mode == "linear_ramp":
        options = d.options(end_values=[3, (1, -2), 0])
    if mode in ("reflect", "symmetric"):
        options = d.options(reflect_type=["even", "odd"])
    if mode in STATISTICS:
        options = d.options(stat_length=[None, 1, 2, (1, 2)])
    return d.call(x, width, mode, **options)


def ramp(vector: Any, pad: Any, axis: Any, kwargs: Any) -> Any:
    """Pads a vector by its own ends with the sign changed."""
    before, after = pad
    n = vector.shape[0]
    if hasattr(vector, "at"):
        vector = vector.at[:before].set(-1)
        return vector.at[n - after :].set(-2) if after else vector
    vector[:before] = -1
    vector[n - after :] = -2
    return vector


def padded_by_a_function(d: Draw) -> Call:
    x = d.array("single", d.pick([(4,), (3, 4)]))
    return d.call(x, d.pick([1, (2, 1)]), ramp)


# -- choosing --------------------------------------------------------------------------


def by_conditions(d: Draw) -> Call:
    shape = d.pick([(4,), (2, 3), ()])
    n = d.integer(1, 3)
    conditions = [d.array("bool", shape) for _ in range(n)]
    choices = [d.array("single int", shape) for _ in range(n)]
    return d.call(conditions, choices, **d.options(default=[0, 2.5, -1]))


def by_pieces(d: Draw) -> Call:
    x = d.array("single", d.pick([(5,), (2, 3), ()]))
    conditions = [np.asarray(x < 0), np.asarray(x > 1)]
    functions: list[Any] = [lambda v: -v, 3.5]
    if d.chance():
        functions.append(lambda v: v * 2)
    return d.call(x, conditions, functions)


def by_number(d: Draw) -> Call:
    choices = [d.array("int single", (3,)) for _ in range(3)]
    mode = d.pick(["wrap", "clip"])
    return d.call(d.array("int", (3,), "plain"), choices, mode=mode)


def where_it_holds(d: Draw) -> Call:
    x = d.array(ANY, d.pick([(5,), (4, 5)]))
    axis = d.pick([None, 0, -1]) if x.ndim > 1 else 0
    n = x.size if axis is None else x.shape[axis]
    return d.call(d.array("bool", (d.pick([n, n - 1]),)), x, axis=axis)


def taken_out(d: Draw) -> Call:
    x = d.array(ANY, d.pick([(5,), (2, 3)]))
    return d.call(d.array("bool", x.shape), x)


# -- along axes ------------------------------------------------------------------------


def by_vectors(d: Draw) -> Call:
    x = d.array("int single", d.pick([(5,), (3, 4), (2, 3, 2)]))
    f = d.pick([lambda v: v[::-1] * 2, lambda v: v.sum(), lambda v: v[:, None] * v])
    return d.call(f, d.axis(x), x)


def over_axes(d: Draw) -> Call:
    x = d.array("int single", d.pick([(3, 4), (2, 3, 2)]))
    return d.call(lambda v, axis: v.sum(axis), x, d.pick([0, (0, 1), [-1]]))


def elementwise(d: Draw) -> Call:
    return d.call(d.array("int single", (3,)), d.array("single", (2, 1)))


def vectorized(f: Any, x: Any, y: Any) -> Any:
    return f(lambda a, b: a * b + a, otypes=[np.float64])(x, y)


# -- differences and bits --------------------------------------------------------------


def differences(d: Draw) -> Call:
    x = d.array(ANY, d.pick([(5,), (3, 4), (1,), (2, 0)]))
    options = d.options(n=[0, 1, 2, 4], axis=[0, -1])
    if x.ndim == 1 and x.dtype.kind in "if":
        options |= d.options(prepend=[0, np.ones(2, x.dtype)], append=[1])
    return d.call(x, **options)


def flat_differences(d: Draw) -> Call:
    x = d.array("int single", d.pick([(5,), (2, 3), (1,), (0,)]))
    return d.call(x, **d.options(to_end=[1, np.ones(2, np.int8)], to_begin=[-1]))


def slopes(d: Draw) -> Call:
    x = d.array("int single complex", d.pick([(5,), (3, 4), (2, 3, 2)]))
    if x.dtype.kind == "i":
        x = x.astype(np.int32)  # NumPy takes differences in the narrow dtype
    axis = d.pick([None, 0, -1])
    if d.chance(0.3):
        places = np.cumsum(d.rng.uniform(0.5, 2, x.shape[0])).astype(np.float32)
        return d.call(x, places, axis=0)
    return d.call(x, *d.pick([(), (2,), (0.5,)]), axis=axis)


def bits(d: Draw) -> Call:
    x = d.array("bool int", d.pick([(5,), (3, 9), (8,), (0,)]), "ties")
    return d.call(x, **d.options(axis=[None, 0, -1], bitorder=["big", "little"]))


def from_bits(d: Draw) -> Call:
    x = d.filled(np.uint8, d.pick([(3,), (2, 3), (0,)]), "extreme")
    options = d.options(axis=[None, 0, -1], bitorder=["big", "little"])
    return d.call(x, **options, **d.options(count=[None, 3, 0, -2, 30]))


# -- places ----------------------------------------------------------------------------


def flat_places(d: Draw) -> Call:
    dims = d.pick([(3, 4), (2, 3, 2), (5,)])
    mode = d.pick(["wrap", "clip"])
    rows = tuple(d.array("int", (4,), "plain").astype(np.int32) for _ in dims)
    return d.call(rows, dims, mode, **d.options(order=["C", "F"]))


def unraveled(d: Draw) -> Call:
    dims = d.pick([(3, 4), (2, 3, 2), (5,)])
    n = int(np.prod(dims))
    return d.call(d.rng.integers(0, n, d.pick([(), (4,)])).astype(np.int32), dims)


ENTRIES = [
    *entry("reshape", new_shape),
    *entry("ravel", a_line),
    *entry("transpose", order_of_axes),
    *entry("permute_dims", all_axes),
    *entry("matrix_transpose", matrices),
    *entry("moveaxis", moved),
    *entry("rollaxis", rolled),
    *entry("swapaxes", swapped),
    *entry("expand_dims", widened),
    *entry("squeeze", squeezed),
    *entry("broadcast_to", spread),
    *entry("broadcast_arrays", several),
    *entry("broadcast_shapes", shapes_alone, jit=False),
    *entry("atleast_1d atleast_2d atleast_3d", any_of_them),
    *entry("concatenate concat", joined),
    *entry("append", joined_with),
    *entry("stack", stacked),
    *entry("hstack vstack dstack column_stack", alike),
    *entry("block", blocks),
    *entry("split array_split", cut),
    *entry("hsplit", cut_in_two(1)),
    *entry("vsplit", cut_in_two(2)),
    *entry("dsplit", cut_in_two(3)),
    *entry("unstack", apart),
    *entry("tile", tiled),
    *entry("repeat", repeated),
    *entry("delete", left_out, jit=False),
    *entry("insert", put_in, jit=False),
    *entry("resize", resized),
    *entry("roll", rolled_elements),
    *entry("rot90", turned),
    *entry("flip", flipped),
    *entry("fliplr flipud", of_two_axes),
    *entry("trim_zeros", trimmed, jit=False),
    *entry("pad", padded, ulps=8),
    *entry("pad", padded_by_a_function, label="function"),
    *entry("select", by_conditions),
    *entry("piecewise", by_pieces),
    *entry("choose", by_number),
    *entry("compress", where_it_holds, jit=False),
    *entry("extract", taken_out, jit=False),
    *entry("apply_along_axis", by_vectors, ulps=16, scale="args"),
    *entry("apply_over_axes", over_axes, ulps=16, scale="args"),
    *entry("diff", differences, ulps=16, scale="args"),
    *entry("ediff1d", flat_differences, scale="args"),
    *entry("gradient", slopes, ulps=16, scale="args"),
    *entry("packbits", bits),
    *entry("unpackbits", from_bits),
    *entry("ravel_multi_index", flat_places),
    *entry("unravel_index", unraveled),
]
