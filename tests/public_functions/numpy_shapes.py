"""Functions of olympus.numpy that arrange elements: shapes, joins, pads."""

from __future__ import annotations

from typing import Any

import numpy as np

import olympus.numpy as jnp
from tests.public_functions.drawing import Call, Draw
from tests.public_functions.entries import entries
from tests.public_functions.points import M, N, SharedCall, X, Y, signed_values
from tests.public_functions.reasons import DISCRETE, NOT_TRACED

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


def draw_moved_axis(d: Draw) -> Call:
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


def draw_widened(d: Draw) -> Call:
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


def draw_tiled(d: Draw) -> Call:
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


ENTRIES = [
    *entry(
        "reshape",
        new_shape,
        smooth=(lambda x: jnp.reshape(x, (4, 3)), M),
        types="m, (3, 2)",
        standard="x, /, shape, *, copy=None",
    ),
    *entry("ravel", a_line, smooth=(X,), types="v; a"),
    *entry("transpose", order_of_axes, smooth=(M,), types="v; m, (1, 0)"),
    *entry(
        "permute_dims",
        all_axes,
        smooth=(lambda x: jnp.permute_dims(x, (1, 0)), M),
        types="m, (1, 0)",
        standard="x, /, axes",
    ),
    *entry("matrix_transpose", matrices, smooth=(M,), types="m", standard="x, /"),
    *entry(
        "moveaxis",
        draw_moved_axis,
        smooth=(lambda x: jnp.moveaxis(x, 0, 1), M),
        types="m, 0, 1",
        standard="x, source, destination, /",
    ),
    *entry("rollaxis", rolled, smooth=(lambda x: jnp.rollaxis(x, 1), M), types="m, 1"),
    *entry(
        "swapaxes",
        swapped,
        smooth=(lambda x: jnp.swapaxes(x, 0, 1), M),
        types="m, 0, 1",
    ),
    *entry(
        "expand_dims",
        draw_widened,
        smooth=(lambda x: jnp.expand_dims(x, 1), M),
        types="v, axis=0; m, 1",
        standard="x, /, axis",
    ),
    *entry("squeeze", squeezed, smooth=(M,), types="v", standard="x, /, axis"),
    *entry(
        "broadcast_to",
        spread,
        smooth=(lambda x: jnp.broadcast_to(x, (2, 5)), X),
        types="v, (2, 3)",
        standard="x, /, shape",
    ),
    *entry(
        "broadcast_arrays",
        several,
        smooth=(lambda x, y: jnp.broadcast_arrays(x, y), M, X[:4]),
        types="v; v, w",
        standard="*arrays",
    ),
    *entry(
        "broadcast_shapes",
        shapes_alone,
        jit=False,
        smooth=DISCRETE,
        types="(2, 1), (3,)",
        standard="*shapes",
    ),
    *entry("atleast_1d atleast_2d", any_of_them, smooth=(X,), types="v; a"),
    *entry("atleast_3d", any_of_them, smooth=(X,), types="v"),
    *entry(
        "concatenate",
        joined,
        smooth=(SharedCall(lambda f, x, y: f([x, y], axis=1)), M, N),
        types="m; [v, w]; (v, w); [v]; [v, w], dtype=np.float32; [v], dtype=D",
    ),
    *entry(
        "concat",
        joined,
        smooth=(SharedCall(lambda f, x, y: f([x, y], axis=1)), M, N),
        types="[v, w]",
        standard="arrays, /, *, axis=0",
    ),
    *entry("append", joined_with, smooth=(M, N), types="v, w"),
    *entry(
        "stack",
        stacked,
        smooth=(lambda x, y: jnp.stack([x, y], 1), M, N),
        types=(
            "m; [v, w]; (v, w); [v]; [a, b]; [v, w], dtype=np.float32; [v], dtype=D"
        ),
        standard="arrays, /, *, axis=0",
    ),
    *entry(
        "hstack",
        alike,
        smooth=(SharedCall(lambda f, x, y: f([x, y])), M, N),
        types="m; [v, w]; [v]; [a, b]; [v, w], dtype=np.float32",
    ),
    *entry(
        "vstack",
        alike,
        smooth=(SharedCall(lambda f, x, y: f([x, y])), M, N),
        types="m; [v, w]; [v], dtype=D",
    ),
    *entry(
        "dstack column_stack",
        alike,
        smooth=(SharedCall(lambda f, x, y: f([x, y])), M, N),
        types="m; [v, w]",
    ),
    *entry(
        "block",
        blocks,
        smooth=(SharedCall(lambda f, x, y: f([x, y])), M, N),
        types="[v, w]; [v]",
    ),
    *entry(
        "split",
        cut,
        smooth=(SharedCall(lambda f, x: f(x, 2, axis=1)), M),
        types="m, 3, axis=1",
    ),
    *entry(
        "array_split",
        cut,
        smooth=(SharedCall(lambda f, x: f(x, 2, axis=1)), M),
        types="m, 3, axis=1; m, 3",
    ),
    *entry(
        "hsplit", cut_in_two(1), smooth=(lambda x: jnp.hsplit(x, 2), M), types="m, 3"
    ),
    *entry(
        "vsplit", cut_in_two(2), smooth=(lambda x: jnp.vsplit(x, [1]), M), types="m, 2"
    ),
    *entry(
        "dsplit",
        cut_in_two(3),
        smooth=(lambda x: jnp.dsplit(x, 2), signed_values(2, 2, 2)),
        types="m[..., None][:, :, [0, 0]], 2",
    ),
    *entry("unstack", apart, smooth=(M,), types="v; m", standard="x, /, *, axis=0"),
    *entry(
        "tile",
        draw_tiled,
        smooth=(lambda x: jnp.tile(x, (2, 1)), M),
        types="v, 1; v, (2, 3)",
        standard="x, repetitions, /",
    ),
    *entry(
        "repeat",
        repeated,
        smooth=(lambda x: jnp.repeat(x, 2, axis=1), M),
        types="v, 1; v, w, total_repeat_length=3",
        standard="x, repeats, /, *, axis=None",
    ),
    *entry(
        "delete",
        left_out,
        jit=False,
        smooth=(lambda x: jnp.delete(x, np.array([1])), X),
        types="v, 1; np.arange(3.0, dtype='f'), v",
    ),
    *entry(
        "insert",
        put_in,
        jit=False,
        smooth=(lambda x, v: jnp.insert(x, 2, v), X, Y[0]),
        types="v, 1, w",
    ),
    *entry(
        "resize",
        resized,
        smooth=(lambda x: jnp.resize(x, (7,)), X),
        types="v, 1; m, (3, 2)",
    ),
    *entry(
        "roll",
        rolled_elements,
        smooth=(lambda x: jnp.roll(x, 2), M),
        types="v, 1; v, 1.5; v, a",
        standard="x, /, shift, *, axis=None",
    ),
    *entry("rot90", turned, smooth=(M,), types="m"),
    *entry(
        "flip",
        flipped,
        smooth=(M,),
        types="v; v, axis=0",
        standard="x, /, *, axis=None",
    ),
    *entry("fliplr flipud", of_two_axes, smooth=(M,), types="m"),
    *entry("trim_zeros", trimmed, jit=False, smooth=DISCRETE, unrecorded=NOT_TRACED),
    *entry(
        "pad",
        padded,
        ulps=8,
        scale="args",
        smooth=[
            (lambda x, mode=mode: jnp.pad(x, 2, mode=mode), M)
            for mode in ("constant", "reflect", "edge", "wrap", "mean", "linear_ramp")
        ],
        types=(
            "v, 1; v, 1, mode='mean'; "
            "v, 1, mode='linear_ramp', end_values=2.5; v, 1, mode='edge'; "
            "v, 1, constant_values=w[0] if hasattr(w, 'dtype') else w"
        ),
    ),
    *entry("pad", padded_by_a_function, label="function"),
]
