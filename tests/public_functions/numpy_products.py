"""Products of vectors, matrices and tensors; polynomials."""

from __future__ import annotations

import string
from typing import Any

import numpy as np

import olympus.numpy as jnp
from tests.public_functions.drawing import Call, Draw
from tests.public_functions.entries import entries, in_common_dtype
from tests.public_functions.points import OTHER, SQUARE, M, N, W, X, Y, Z
from tests.public_functions.reasons import DISCRETE, NOT_TRACED

entry = entries("numpy")

ANY = "bool int uint single complex half"
NUMBERS = "int single complex half"


def magnitude(*args: Any, **_: Any) -> float:
    """A bound of the sums of products of the numbers given."""
    size = 1.0
    for x in args:
        if isinstance(x, (tuple, list)):
            size *= magnitude(*x)
        elif isinstance(x, np.ndarray) and x.size:
            size *= max(float(np.max(np.abs(x.astype(complex)))), 1.0)
    return size * 4


def pair(d: Draw, shapes: Any, kinds: str = ANY) -> Call:
    one, two = d.pick(shapes)
    x = d.array(kinds, one, "unit")
    same = d.chance(0.7)
    y = d.filled(x.dtype, two, "unit") if same else d.array(kinds, two, "unit")
    return d.call(x, y)


DOTS = [
    ((3,), (3,)),
    ((2, 3), (3,)),
    ((3,), (3, 2)),
    ((2, 3), (3, 4)),
    ((2, 2, 3), (3, 2)),
    ((2, 2, 3), (4, 3, 2)),
    ((), (3,)),
    ((2, 2), ()),
    ((0,), (0,)),
    ((2, 0), (0, 3)),
    ((1, 1), (1, 1)),
    ((3,), (4,)),
]
STACKS = [
    ((3,), (3,)),
    ((2, 3), (3,)),
    ((3,), (3, 2)),
    ((2, 3), (3, 4)),
    ((5, 2, 3), (3, 2)),
    ((5, 2, 3), (5, 3, 1)),
    ((1, 2, 3), (5, 3, 2)),
    ((2, 1, 2, 3), (3, 3, 2)),
    ((3,), (2, 3, 2)),
    ((2, 0), (0, 3)),
    ((0, 2, 3), (3, 2)),
    ((2, 3), (2, 3)),
    ((), (3,)),
]


def dots(d: Draw) -> Call:
    return pair(d, DOTS)


def inners(d: Draw) -> Call:
    shapes = [
        ((3,), (3,)),
        ((2, 3), (3,)),
        ((2, 3), (4, 3)),
        ((), (2, 3)),
        ((0,), (0,)),
    ]
    return pair(d, [*shapes, ((2, 2, 3), (4, 3)), ((3,), (2,))])


def stacks(d: Draw) -> Call:
    return pair(d, STACKS)


def flats(d: Draw) -> Call:
    return pair(
        d, [((3,), (3,)), ((2, 3), (3, 2)), ((), ()), ((0,), (0,)), ((2,), (3,))]
    )


def outers(d: Draw) -> Call:
    return pair(d, [((3,), (2,)), ((2, 2), (3,)), ((), (3,)), ((0,), (2,))])


def krons(d: Draw) -> Call:
    shapes = [
        ((2,), (3,)),
        ((2, 2), (1, 3)),
        ((2,), (2, 2)),
        ((), (3,)),
        ((2, 1, 2), (2,)),
    ]
    return pair(d, shapes, NUMBERS)


def crosses(d: Draw) -> Call:
    x, y = pair(d, [((3,), (3,)), ((2, 3), (3,)), ((4, 3), (4, 3))], NUMBERS).args
    if x.shape == (4, 3) == y.shape and d.chance():
        return d.call(x.T, y.T, axis=0) if d.chance() else d.call(x.T, y, axisa=0)
    return d.call(x, y)


def vecdots(d: Draw) -> Call:
    x, y = pair(
        d, [((3,), (3,)), ((2, 3), (3,)), ((4, 1, 3), (2, 3)), ((0,), (0,))]
    ).args
    return d.call(x, y, **d.options(axis=[-1]))


def matvecs(d: Draw) -> Call:
    shapes = [((2, 3), (3,)), ((4, 2, 3), (3,)), ((4, 2, 3), (4, 3)), ((2, 3), (5, 3))]
    return pair(d, [*shapes, ((2, 3), (2,))], NUMBERS)


def vecmats(d: Draw) -> Call:
    shapes = [((2,), (2, 3)), ((2,), (4, 2, 3)), ((4, 2), (4, 2, 3)), ((5, 2), (2, 3))]
    return pair(d, [*shapes, ((3,), (2, 3))], NUMBERS)


def tensordots(d: Draw) -> Call:
    (one, two), axes = d.pick(
        [
            (((2, 3), (3, 4)), 1),
            (((2, 3), (2, 3)), 2),
            (((2, 3), (4,)), 0),
            (((2, 3, 4), (4, 3, 2)), ([1, 2], [1, 0])),
            (((2, 3, 4), (3, 5)), (1, 0)),
            (((2, 3, 4), (3, 2)), ((0, -2), (1, 0))),
            (((2, 3), (4, 3)), 1),
            (((), ()), 0),
        ]
    )
    call = pair(d, [(one, two)])
    return d.call(*call.args, axes)


# -- einsum ----------------------------------------------------------------------------

SIZES = {"a": 2, "b": 3, "c": 1, "d": 4, "e": 2}
FORMS = """
ab->ba ab-> ab aa-> aa->a aab->b ab,bc->ac ab,bc ab,bc->abc a,a-> a,b->ab ab,cb->ac
ab,ab->a ab,ab->b aab,b->a abb,a->b ab,bd,da-> ab,bd,de->ae ab,bd,de,e->a a,ab,b->
abd,bde->aed a...,...a->... ...ab,...bd->...ad ab...->b...a a...b->... ...,...->...
...a,a ,a->a ,-> abab->ab abab-> ba,b-> ab,ab,ab->ab a,a,a->a aa,ab->b bad,b->da
ab,b,a->"""


def einsums(d: Draw) -> Call:
    form = d.pick(FORMS.split())
    operands = form.split("->")[0].split(",")
    dtype = d.dtype("int single complex bool half")
    arrays = []
    for names in operands:
        shape: list[int] = []
        for part in names.replace("...", ".").strip():
            shape += (2, 2) if part == "." else (SIZES[part],)
        arrays.append(d.filled(dtype, tuple(shape), "unit"))
    return d.call(form, *arrays, **d.options(optimize=["optimal", "greedy"]))


def einsums_by_numbers(d: Draw) -> Call:
    form = d.pick(["ab,bd->ad", "a,b->ab", "aa->a", "ab->ba", "ab,ab->"])
    inputs, output = form.split("->")
    call: list[Any] = []
    for names in inputs.split(","):
        shape = tuple(SIZES[n] for n in names)
        call += [
            d.array("single", shape),
            [string.ascii_lowercase.index(n) for n in names],
        ]
    return d.call(*call, [string.ascii_lowercase.index(n) for n in output])


def drop_optimize(form: str, *arrays: Any, optimize: Any = None) -> Any:
    return np.einsum(form, *arrays)


def a_path(d: Draw) -> Call:
    form = d.pick(["ab,bd,de->ae", "ab,bc->ac", "a,ab,b->"])
    names = form.split("->")[0].split(",")
    arrays = [d.array("single", tuple(SIZES[n] for n in part)) for part in names]
    return d.call(form, *arrays)


def steps(f: Any, *args: Any) -> Any:
    """How many products there are; which is best differs by what counts as work."""
    return len(f(*args)[0])


def steps_there(form: str, *arrays: Any) -> Any:
    return max(len(arrays) - 1, 1)


# -- polynomials -----------------------------------------------------------------------


def coefficients(d: Draw, kinds: str = "int single complex half") -> Any:
    return d.array(kinds, (d.integer(1, 4),), "unit")


def at_points(d: Draw) -> Call:
    p = d.array("int single complex", (d.integer(0, 5),), "unit")
    x = d.array("int single complex", d.pick([(), (3,), (2, 2)]), "unit")
    return d.call(p if p.size else np.zeros(0, x.dtype), x)


def of_two(d: Draw) -> Call:
    return d.call(coefficients(d), coefficients(d))


def draw_division(d: Draw) -> Call:
    u, v = d.array("single complex", (d.integer(1, 5),)), d.array("single", (2,))
    v[0] = 1.5
    return d.call(u, v)


def untrimmed(u: Any, v: Any) -> Any:
    """Leading zeros stay, since how many there are depends on values."""
    return np.convolve(u, v)


def with_zeros(u: Any, v: Any) -> Any:
    """The remainder as long as the dividend."""
    quotient, rest = np.polydiv(u, v)
    if len(u) < len(v):
        rest = u
    return quotient, np.concatenate([np.zeros(len(u) - len(rest), rest.dtype), rest])


def times_differentiated(d: Draw) -> Call:
    return d.call(d.array("int single complex", (5,)), **d.options(m=[0, 1, 2, 5]))


def times_integrated(d: Draw) -> Call:
    p = d.array("single complex int", (d.integer(1, 4),))
    m = d.pick([0, 1, 2])
    return d.call(
        p, m, **d.options(k=[2 if m else None, np.ones(m, p.dtype) if m else None])
    )


def integrate_floats(p: Any, m: int, k: Any = None) -> Any:
    """Integers become floats, also where they are integrated no times."""
    return np.polyint(p + 0.0, m, k)


def by_roots(d: Draw) -> Call:
    return d.call(d.array("single complex int", d.pick([(1,), (3,)]), "unit"))


def roots_of(d: Draw) -> Call:
    """Distinct roots, in any order."""
    roots = d.filled(np.float32, (d.integer(1, 3),), "distinct")
    return d.call(np.poly(roots).astype(np.float32) * d.pick([1, 2]))


def in_order(f: Any, p: Any) -> Any:
    out = f(p)
    order = abs(out).argsort()
    return abs(out)[order]


def fitted(d: Draw) -> Call:
    x = np.linspace(-1, 1, 8).astype(np.float32)
    return d.call(x, d.array("single", (8,)), d.integer(0, 3))


ENTRIES = [
    *entry(
        "dot",
        dots,
        scale=magnitude,
        prepare=in_common_dtype,
        smooth=[(SQUARE, OTHER), (X, Y), (Z, W)],
        types=(
            "v, w; a, b; s, t; v, w, preferred_element_type=np.float32; "
            "v, v, preferred_element_type=D"
        ),
    ),
    *entry(
        "inner",
        inners,
        scale=magnitude,
        prepare=in_common_dtype,
        smooth=(M, N),
        types="v, w; s, t; v, w, preferred_element_type=np.float32",
    ),
    *entry(
        "matmul",
        stacks,
        scale=magnitude,
        prepare=in_common_dtype,
        smooth=[(SQUARE, OTHER), (X, Y), (Z, W)],
        types="v, w; s, t; v, v, preferred_element_type=D",
        standard="x1, x2, /",
    ),
    *entry(
        "vdot",
        flats,
        scale=magnitude,
        prepare=in_common_dtype,
        smooth=[(X, Y), (Z, W)],
        types="v, w; s, t; v, w, preferred_element_type=np.float32",
    ),
    *entry(
        "outer",
        outers,
        scale=magnitude,
        prepare=in_common_dtype,
        smooth=(X, Y[:3]),
        types="v, w; a, b",
    ),
    *entry(
        "kron",
        krons,
        scale=magnitude,
        prepare=in_common_dtype,
        smooth=(X, Y[:3]),
        types="v, w; s, t",
    ),
    *entry(
        "cross",
        crosses,
        scale=magnitude,
        prepare=in_common_dtype,
        smooth=(SQUARE, OTHER),
        types="v, w",
    ),
    *entry(
        "vecdot",
        vecdots,
        scale=magnitude,
        prepare=in_common_dtype,
        smooth=(M, N),
        types="v, w; s, t",
        standard="x1, x2, /, *, axis=-1",
    ),
    *entry(
        "matvec",
        matvecs,
        scale=magnitude,
        prepare=in_common_dtype,
        smooth=(M, X[:4]),
        types="s, t",
    ),
    *entry(
        "vecmat",
        vecmats,
        scale=magnitude,
        prepare=in_common_dtype,
        smooth=(X[:3], M),
        types="s, t",
    ),
    *entry(
        "tensordot",
        tensordots,
        scale=magnitude,
        smooth=(lambda x, y: jnp.tensordot(x, y, axes=[[0], [0]]), M, N),
        types="s, t",
        standard="x1, x2, /, *, axes=2",
    ),
    *entry(
        "einsum",
        einsums,
        oracle=drop_optimize,
        scale=magnitude,
        ulps=8,
        smooth=(lambda x, y: jnp.einsum("ij,kj->ik", x, y), M, N),
        types=(
            "'i,i->', v, w; 'i,j->ij', v, w; 'ii->i', s; 'ij->i', m; "
            "'i,i,i->i', v, w, v"
        ),
    ),
    *entry("einsum", einsums_by_numbers, scale=magnitude, label="numbers"),
    *entry(
        "einsum_path",
        a_path,
        call=steps,
        oracle=steps_there,
        jit=False,
        smooth=DISCRETE,
        unrecorded=NOT_TRACED,
    ),
    *entry(
        "polyval", at_points, scale=lambda *_: 30.0, ulps=8, smooth=(X, Y), types="v, w"
    ),
    *entry(
        "polyadd polysub",
        of_two,
        prepare=in_common_dtype,
        scale="args",
        smooth=(X, Y[:3]),
        types="v, w",
    ),
    *entry(
        "polymul",
        of_two,
        oracle=untrimmed,
        scale=magnitude,
        kinds=False,
        smooth=(X, Y[:3]),
        types="v, w; v, w, trim_leading_zeros=False",
    ),
    *entry(
        "polydiv",
        draw_division,
        oracle=with_zeros,
        ulps=64,
        scale=lambda *_: 200.0,
        smooth=(lambda x, y: jnp.polydiv(x, y)[0], X, Y[:3]),
        types="v, w, trim_leading_zeros=False",
    ),
    *entry(
        "polyder", times_differentiated, ulps=8, kinds=False, smooth=(X,), types="v"
    ),
    *entry(
        "polyint",
        times_integrated,
        oracle=integrate_floats,
        ulps=8,
        smooth=(X,),
        types="v; v, 1, b",
    ),
    *entry("poly", by_roots, ulps=16, scale=lambda *_: 4.0, smooth=(X[:3],), types="v"),
    *entry(
        "roots",
        roots_of,
        call=in_order,
        ulps=1e4,
        scale=lambda *_: 1.0,
        jit=False,
        smooth=(lambda x: jnp.roots(x, strip_zeros=False), np.array([1.0, -6, 11, -6])),
        types="v, strip_zeros=False",
    ),
    *entry(
        "polyfit",
        fitted,
        ulps=1e4,
        scale=lambda *_: 1.0,
        smooth=(lambda x, y: jnp.polyfit(x, y, 2), X, Y),
        types="v, w, 1",
    ),
]
