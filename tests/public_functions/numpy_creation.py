"""Arrays made from nothing, from numbers and from other things; windows and grids."""

from __future__ import annotations

from typing import Any

import numpy as np

import olympus.numpy as jnp
from tests.public_functions.drawing import Call, Draw
from tests.public_functions.entries import entries
from tests.public_functions.points import SQUARE, M, SharedCall, X, Y
from tests.public_functions.reasons import CONSTANT, DISCRETE, NOT_OF_ARRAYS, NOT_TRACED

entry = entries("numpy")

ANY = "bool int uint float complex"
DTYPES = [np.float32, np.int32, np.int8, np.uint8, np.complex64, np.float16]


def size(*args: Any, **_: Any) -> float:
    """The largest of the numbers that a sequence is made of."""
    found = [np.max(np.abs(np.nan_to_num(x)), initial=0) for x in args]
    return float(max(found, default=0))


def number(d: Draw, low: int = -6, high: int = 9) -> Any:
    n = d.integer(low, high)
    return n if d.chance() else n / 4


# -- sequences -------------------------------------------------------------------------


def a_range(d: Draw) -> Call:
    """One, two or three numbers; nothing in it where they point the wrong way."""
    stop = number(d)
    if d.chance(0.3):
        return d.call(stop, **d.options(dtype=[np.float32, np.int32]))
    start = number(d)
    if d.chance(0.3):
        return d.call(start, stop)
    step = d.pick([1, 2, 3, -1, -2, 0.5, 0.25, -0.75, 1.5])
    return d.call(start, stop, step, **d.options(dtype=[np.float32]))


def ends(d: Draw) -> tuple[Any, Any]:
    """Two numbers, or arrays that broadcast."""
    if d.chance(0.6):
        return number(d), number(d)
    shape = d.pick([(2,), (2, 3)])
    x = d.array("int single complex", shape)
    return x, (d.array("int single", d.pick([shape, ()])) if d.chance() else number(d))


def a_space(d: Draw) -> Call:
    start, stop = ends(d)
    rank = max(np.ndim(start), np.ndim(stop))
    options = d.options(endpoint=[True, False], axis=[0, -1, -1 - rank])
    if d.chance(0.3):  # of fewer than two numbers NumPy has one step for all, NaN
        return d.call(start, stop, d.pick([3, 5]), retstep=True, **options)
    return d.call(start, stop, d.pick([0, 1, 2, 5, 7]), **options)


def a_space_of_whole_numbers(d: Draw) -> Call:
    n = d.pick([1, 2, 4, 5])
    start, stop = d.integer(-9, 9), d.integer(-9, 9)
    options = d.options(endpoint=[True, False])
    return d.call(start * n, stop * n, n, dtype=np.int32, **options)


def powers(d: Draw) -> Call:
    start, stop = (d.integer(-8, 8) / 4 for _ in range(2))
    options = d.options(endpoint=[True, False], base=[2, 10.0, 3.5])
    return d.call(start, stop, d.pick([0, 1, 2, 5]), **options)


def ratios(d: Draw) -> Call:
    """Two ends of one sign, or pairs of which each has its own."""
    start, stop = (d.integer(1, 40) / 4 for _ in range(2))
    if d.chance(0.3):
        start, stop = -start, -stop
    options = d.options(endpoint=[True, False], axis=[0, -1])
    if d.chance(0.3):
        start = np.array([start, start * 2], np.float32)
    elif d.chance(0.3):
        start, stop = (np.array([x, -2 * x], np.float32) for x in (start, stop))
    return d.call(start, stop, d.pick([0, 1, 2, 5]), **options)


# -- matrices --------------------------------------------------------------------------


def with_a_diagonal(d: Draw) -> Call:
    n = d.integer(0, 4)
    options = d.options(M=[None, 0, 2, 5], k=[0, 1, -1, 3, -6], dtype=DTYPES)
    return d.call(n, **options)


def identities(d: Draw) -> Call:
    return d.call(d.integer(0, 4), **d.options(dtype=[*DTYPES, bool]))


def triangles(d: Draw) -> Call:
    shape = d.pick([(3, 3), (2, 5), (4, 1), (0, 3), (2, 3, 2)])
    return d.call(d.array(ANY, shape), **d.options(k=[0, 1, -1, 4, -4]))


def powers_of(d: Draw) -> Call:
    x = d.array("int single complex", "vector", "unit")
    return d.call(x, **d.options(N=[None, 0, 1, 4], increasing=[True, False]))


def diagonals(d: Draw) -> Call:
    x = d.array(ANY, d.pick([(0,), (1,), (3,), (3, 3), (2, 5), (4, 1)]))
    return d.call(x, **d.options(k=[0, 1, -1, 2, -4]))


def flat_diagonals(d: Draw) -> Call:
    x = d.array(ANY, d.pick([(1,), (3,), (2, 2), ()]))
    return d.call(x, **d.options(k=[0, 1, -2]))


def of_matrices(d: Draw) -> Call:
    x = d.array(ANY, d.pick([(3, 3), (2, 5), (2, 3, 2), (0, 2)]))
    options = d.options(offset=[0, 1, -1, 3, -5])
    if x.ndim > 2 and d.chance():
        options |= {"axis1": d.pick([0, 1]), "axis2": d.pick([2, -1])}
    return d.call(x, **options)


# -- grids -----------------------------------------------------------------------------


def axes_of_a_grid(d: Draw) -> Call:
    vectors = [
        d.array("bool int uint float complex", d.pick([(0,), (1,), (2,), (3,)]))
        for _ in range(d.integer(1, 3))
    ]
    return d.call(*vectors, **d.options(indexing=["xy", "ij"], sparse=[True, False]))


def places(d: Draw) -> Call:
    shape = d.pick([(), (3,), (2, 3), (2, 0), (1, 2, 2)])
    return d.call(shape, **d.options(dtype=DTYPES, sparse=[True, False]))


def open_grid(d: Draw) -> Call:
    return d.call(*[d.array("int", d.pick([(0,), (2,), (3,)])) for _ in range(2)])


def a_slice(d: Draw) -> Any:
    """Whole or broken ends; the third is a step, or how many numbers there are."""
    start = d.integer(-3, 3) * d.pick([1, 1, 0.5])
    if d.chance(0.3):
        return slice(start, start + d.integer(1, 4), complex(0, d.integer(2, 5)))
    step = d.pick([None, 1, 2, 0.5])
    if d.chance(0.3):
        return slice(None, d.integer(0, 5), step)
    return slice(start, start + d.integer(0, 5), step)


def a_grid(d: Draw) -> Call:
    if d.chance(0.4):
        return d.call(a_slice(d))
    return d.call(tuple(a_slice(d) for _ in range(d.integer(1, 3))))


def indexed(f: Any, index: Any) -> Any:
    return f[index]


def to_be_joined(d: Draw) -> Call:
    """Slices, numbers and vectors, or matrices with the axis they are joined along."""
    if d.chance(0.7):
        dtype = d.dtype("int single complex")
        makers = [
            lambda: a_slice(d),
            lambda: d.filled(dtype, (d.integer(1, 3),), "plain"),
            lambda: d.integer(-3, 3),
            lambda: 0.5,
        ]
        return d.call(tuple(d.pick(makers)() for _ in range(d.integer(1, 3))))
    dtype = d.dtype("int single complex")
    parts = [d.filled(dtype, (2, 2), "plain") for _ in range(2)]
    return d.call((d.pick(["0", "1", "-1", "0,3", "1,2"]), *parts))


def columns(d: Draw) -> Call:
    n = d.integer(1, 3)
    shape = d.pick([(n,), (n, 2)])
    return d.call(tuple(d.array("int single", shape) for _ in range(d.integer(1, 3))))


def an_index(d: Draw) -> Call:
    return d.call(d.pick([2, slice(1, None), (0, slice(None, None, 2)), (None, ...)]))


def written(f: Any, index: Any) -> str:
    return repr(f[index])


def a_function(d: Draw) -> Call:
    if d.chance():
        return d.call(lambda i: 2 * i + 1, (d.integer(0, 4),))
    return d.call(lambda i, j: i - 3 * j, (2, 3), **d.options(dtype=[int, np.float32]))


def triangle_places(d: Draw) -> Call:
    return d.call(d.integer(0, 4), **d.options(k=[0, 1, -1, 5], m=[None, 2, 5]))


def triangle_places_of(d: Draw) -> Call:
    x = d.array("int", d.pick([(3, 3), (2, 4), (4, 2)]))
    return d.call(x, **d.options(k=[0, 1, -1]))


def diagonal_places(d: Draw) -> Call:
    return d.call(d.integer(0, 4), **d.options(ndim=[1, 2, 3]))


def diagonal_places_of(d: Draw) -> Call:
    return d.call(d.array("int", d.pick([(3, 3), (2, 2, 2)])))


def masked_places(d: Draw) -> Call:
    n = d.integer(1, 4)
    return d.call(n, d.pick(["triu", "tril"]), **d.options(k=[0, 1, -1]))


def by_mask(f: Any, n: int, name: str, k: int = 0) -> Any:
    return f(n, getattr(np, name), k)


# -- filled arrays ---------------------------------------------------------------------

SIZES: list[Any] = [(), 3, (0,), (2, 3), [2, 1]]


def constants(d: Draw) -> Call:
    return d.call(d.pick(SIZES), **d.options(dtype=[*DTYPES, bool]))


def filled(d: Draw) -> Call:
    value = d.pick([2, 1.5, True, 1 + 2j, np.arange(3, dtype=np.int16)])
    shape = d.pick([(3,), (2, 3)]) if np.ndim(value) else d.pick(SIZES)
    dtypes = [np.complex64] if isinstance(value, complex) else DTYPES
    return d.call(shape, value, **d.options(dtype=dtypes))


def alike(d: Draw) -> Call:
    return d.call(d.array(ANY), **d.options(dtype=DTYPES, shape=[(2,), 3, (1, 2)]))


def filled_alike(d: Draw) -> Call:
    options = d.options(dtype=[np.float32, np.complex64], shape=[(2,), (1, 2)])
    return d.call(d.array("single complex int"), d.pick([1, 0, 3]), **options)


# -- from other things -----------------------------------------------------------------

NESTS: list[Any] = [
    1,
    2.5,
    1j,
    True,
    [],
    [[]],
    [1, 2],
    [1, 2.5],
    [[1, 2], [3, 4]],
    (1, (2, 3)),
    [True, False],
    [[1j, 2], [3, 4.5]],
    [1, [2]],
    "text",
    [np.float32(1), 2],
    [np.arange(2), np.arange(2.0)],
    range(3),
    np.int8(3),
]


def of_numbers(x: Any, **options: Any) -> Any:
    """As `np.array`, but that text is refused: it is no number."""
    out = np.array(x, **options)
    if out.dtype.kind == "U":
        raise TypeError
    return out


def a_nest(d: Draw) -> Call:
    options = d.options(dtype=[np.float32, np.complex64], ndmin=[0, 1, 3])
    return d.call(d.pick(NESTS), **options)


def something(d: Draw) -> Call:
    x = d.array(ANY) if d.chance() else d.pick(NESTS)
    return d.call(x, **d.options(dtype=[np.complex64]))


def a_copy(d: Draw) -> Call:
    return d.call(d.array(ANY))


def in_another_dtype(d: Draw) -> Call:
    """Numbers that the other dtype holds."""
    x = d.array("bool int single", values="positive")
    return d.call(x, d.pick(DTYPES[1:] if x.dtype.kind == "f" else DTYPES))


def cast(x: Any, dtype: Any) -> Any:
    return np.asarray(x).astype(dtype)


def bytes_of(d: Draw) -> Call:
    dtype = np.dtype(d.pick([np.int32, np.float32, np.uint8, np.int8]))
    data = d.filled(dtype, (6,), "plain").tobytes()
    options = d.options(count=[-1, 2], offset=[0, dtype.itemsize])
    return d.call(data, dtype=dtype, **options)


def a_text(d: Draw) -> Call:
    text = d.pick(["1, 2, 3", "4", "1.5,2", ""])
    return d.call(text, dtype=d.pick([np.float32]), sep=",")


def steps(d: Draw) -> Call:
    return d.call([1, 4, 9], d.pick([np.int32, np.float32]), **d.options(count=[2]))


def a_window(d: Draw) -> Call:
    return d.call(d.pick([0, 1, 2, 3, 6, 9]))


def a_kaiser(d: Draw) -> Call:
    return d.call(d.pick([0, 1, 2, 5, 8]), d.pick([0, 1.5, 8.6, 14]))


ENTRIES = [
    *entry(
        "arange",
        a_range,
        scale=size,
        jit=False,
        smooth=CONSTANT,
        types="a; a, b; 0, a, 2; 3, dtype=D",
        standard="start, /, stop=None, step=1, *, dtype=None, device=None",
    ),
    *entry(
        "linspace",
        a_space,
        scale=size,
        smooth=(lambda x, y: jnp.linspace(x, y, 4), X[0], Y[0]),
        types="a, b, 3; 0, a, 3; 0, 1.5, 3, dtype=D; 1, 8, 4, dtype=D",
        standard="start, stop, /, num, *, dtype=None, device=None, endpoint=True",
    ),
    *entry("linspace", a_space_of_whole_numbers, label="whole"),
    *entry(
        "logspace",
        powers,
        ulps=64,
        smooth=(SharedCall(lambda f, x, y: f(x, y, 4)), X[0], Y[0]),
        types="a, b, 3; 0, a, 3; 0, 1.5, 3, dtype=D",
    ),
    *entry(
        "geomspace",
        ratios,
        ulps=64,
        smooth=(SharedCall(lambda f, x, y: f(x, y, 4)), X[0], Y[0]),
        types="a, b, 3; 0, a, 3; 1, 8, 4, dtype=D",
    ),
    *entry(
        "eye",
        with_a_diagonal,
        smooth=CONSTANT,
        types="a; 3, dtype=D",
        standard="n_rows, n_cols=None, /, *, k=0, dtype=None, device=None",
    ),
    *entry("tri", with_a_diagonal, smooth=CONSTANT, types="3, dtype=D"),
    *entry("identity", identities, smooth=CONSTANT, types="3, dtype=D"),
    *entry(
        "tril triu",
        triangles,
        smooth=(SQUARE,),
        types="m; v, 1",
        standard="x, /, *, k=0",
    ),
    *entry("vander", powers_of, ulps=16, smooth=(X[:3],), types="v; v, 2"),
    *entry("diag", diagonals, smooth=[(X,), (SQUARE,)], types="v; s"),
    *entry("diagflat", flat_diagonals, smooth=(X,), types="v"),
    *entry("diagonal", of_matrices, smooth=(SQUARE,), types="m; m, 1"),
    *entry(
        "trace",
        of_matrices,
        scale="args",
        ulps=8,
        smooth=(SQUARE,),
        types="m; m, 1; m, dtype=D; s",
    ),
    *entry(
        "meshgrid",
        axes_of_a_grid,
        smooth=(X, Y[:3]),
        types="v; v, w",
        standard="*arrays, indexing='xy'",
    ),
    *entry("indices", places, smooth=CONSTANT, types="(2, 2), dtype=D"),
    *entry("ix_", open_grid, jit=False, smooth=DISCRETE, types="v"),
    *entry(
        "mgrid ogrid",
        a_grid,
        call=indexed,
        scale=3.0,
        smooth=CONSTANT,
        types="{f}[0:3]; {f}[0:2:0.5]",
    ),
    *entry(
        "r_",
        to_be_joined,
        call=indexed,
        scale=3.0,
        smooth=(lambda x: jnp.r_[x, 1, x * x], X),
        types="{f}[v, 1, 2.5]",
    ),
    *entry(
        "c_",
        columns,
        call=indexed,
        smooth=(lambda x, y: jnp.c_[x, y], X, Y),
        types="{f}[v, w]",
    ),
    *entry(
        "s_ index_exp",
        an_index,
        call=written,
        jit=False,
        smooth=CONSTANT,
        unrecorded=NOT_OF_ARRAYS,
    ),
    *entry(
        "fromfunction",
        a_function,
        smooth=(lambda x: jnp.fromfunction(lambda i: i * x[0], (3,)), X),
        types="lambda i: i, (3,), dtype=D",
    ),
    *entry("tril_indices triu_indices", triangle_places, smooth=DISCRETE, types="3"),
    *entry(
        "tril_indices_from triu_indices_from",
        triangle_places_of,
        smooth=DISCRETE,
        types="s",
    ),
    *entry("diag_indices", diagonal_places, smooth=DISCRETE, types="3"),
    *entry("diag_indices_from", diagonal_places_of, smooth=DISCRETE, types="s"),
    *entry(
        "mask_indices",
        masked_places,
        call=by_mask,
        jit=False,
        smooth=DISCRETE,
        unrecorded=NOT_TRACED,
    ),
    *entry(
        "zeros ones",
        constants,
        smooth=CONSTANT,
        types="3, D",
        standard="shape, *, dtype=None, device=None",
    ),
    *entry(
        "empty",
        constants,
        oracle=np.zeros,
        smooth=CONSTANT,
        types="3, D",
        standard="shape, *, dtype=None, device=None",
    ),
    *entry(
        "full",
        filled,
        smooth=(lambda x: jnp.full((2, 3), x), X[0]),
        types="3, a; 3, a, D",
        standard="shape, fill_value, *, dtype=None, device=None",
    ),
    *entry(
        "zeros_like",
        alike,
        smooth=CONSTANT,
        types="v; v, dtype=D",
        standard="x, /, *, dtype=None, device=None",
    ),
    *entry(
        "ones_like",
        alike,
        smooth=CONSTANT,
        types="v; a; v, dtype=D",
        standard="x, /, *, dtype=None, device=None",
    ),
    *entry(
        "empty_like",
        alike,
        oracle=np.zeros_like,
        smooth=CONSTANT,
        types="v; v, dtype=D",
        standard="x, /, *, dtype=None, device=None",
    ),
    *entry(
        "full_like",
        filled_alike,
        smooth=(lambda x: jnp.full_like(M, x), X[0]),
        types="a; v, 1.5; v, a; v, 2, D",
        standard="x, /, fill_value, *, dtype=None, device=None",
    ),
    *entry(
        "array",
        a_nest,
        oracle=of_numbers,
        jit=False,
        smooth=(X,),
        types=(
            "v; a; (v, w); [v]; [a, b]; [a, 1]; [a, 2.5]; v, dtype=D; "
            "v, D; [1, 2], D; 1.5, D"
        ),
    ),
    *entry(
        "asarray",
        something,
        oracle=of_numbers,
        jit=False,
        smooth=(X,),
        types=(
            "v; a; (v, w); [v]; [a, b]; [a, 1]; [a, 2.5]; v, dtype=D; [1, 2], D; 1.5, D"
        ),
        standard="obj, /, *, dtype=None, device=None, copy=None",
    ),
    *entry("copy", a_copy, smooth=(X,), types="v"),
    *entry(
        "astype",
        in_another_dtype,
        oracle=cast,
        smooth=(lambda x: jnp.astype(x, np.float64), X),
        types="v, D",
        standard="x, dtype, /, *, copy=True, device=None",
    ),
    *entry("frombuffer", bytes_of, jit=False, smooth=CONSTANT, types="b'12345678', D"),
    *entry("fromstring", a_text, jit=False, smooth=CONSTANT, types="'1 2', D, sep=' '"),
    *entry("fromiter", steps, jit=False, smooth=CONSTANT, unrecorded=NOT_TRACED),
    *entry("bartlett", a_window, scale=lambda *_: 1.0, smooth=CONSTANT, types="a"),
    *entry(
        "blackman hamming hanning",
        a_window,
        scale=lambda *_: 1.0,
        smooth=CONSTANT,
        types="3",
    ),
    *entry(
        "kaiser", a_kaiser, ulps=64, scale=lambda *_: 1.0, smooth=CONSTANT, types="3, a"
    ),
]
