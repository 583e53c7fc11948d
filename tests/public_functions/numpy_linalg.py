"""olympus.numpy.linalg: factors are compared by what does not depend on their signs."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

import olympus.numpy as jnp
from tests.public_functions.drawing import Call, Draw
from tests.public_functions.entries import entries
from tests.public_functions.points import (
    COMPLEX,
    OF_DEFINITE,
    REGULAR,
    STACK,
    TALL,
    WIDE,
    X,
    Z,
    make_hermitian,
    numbers,
    signed_values,
)
from tests.public_functions.reasons import DISCRETE, OWN_TESTS

entry = entries("numpy.linalg")

SQUARES = [(1, 1), (2, 2), (3, 3), (2, 3, 3), (2, 1, 2, 2)]
OBLONG = [(2, 3), (3, 2), (3, 3), (1, 4), (2, 3, 2)]


def size(*args: Any, **_: Any) -> float:
    """The size of the largest element times the number of all."""
    arrays = [x for x in args if isinstance(x, np.ndarray) and x.size]
    return max([1.0, *[float(np.max(np.abs(x))) * x.shape[-1] for x in arrays]])


def matrix(d: Draw, shapes: Any, kinds: str = "single complex") -> Any:
    return d.array(kinds, d.pick(shapes))


def regular(d: Draw, shapes: Any = SQUARES) -> Any:
    """Far from singular: a large diagonal."""
    x = d.array("single complex", d.pick(shapes), "unit")
    return (x + 3 * np.eye(x.shape[-1])).astype(x.dtype)


def hermitian(d: Draw) -> Any:
    """Eigenvalues apart from each other."""
    x = d.array("single complex", d.pick(SQUARES), "unit")
    n = x.shape[-1]
    sym = (x + np.conj(np.swapaxes(x, -1, -2))) / 4
    return (sym + np.diag(3.0 * np.arange(1, n + 1))).astype(x.dtype)


def positive(d: Draw) -> Call:
    x = regular(d)
    product = x @ np.conj(np.swapaxes(x, -1, -2))
    return d.call(product.astype(x.dtype), **d.options(upper=[True, False]))


def one(d: Draw) -> Call:
    return d.call(regular(d))


def one_hermitian(d: Draw) -> Call:
    return d.call(hermitian(d), **d.options(UPLO=["L", "U"]))


def system(d: Draw) -> Call:
    a = regular(d)
    n = a.shape[-1]
    if d.chance(0.3) and a.ndim == 2:
        return d.call(a, d.filled(a.dtype, (n,), "plain"))
    lead = a.shape[:-2] if d.chance() else ()
    return d.call(a, d.filled(a.dtype, (*lead, n, d.pick([1, 2])), "plain"))


def oblong(d: Draw) -> Call:
    return d.call(matrix(d, OBLONG))


def factored(d: Draw) -> Call:
    return d.call(matrix(d, OBLONG), **d.options(full_matrices=[True, False]))


def rebuilt(f: Any, x: Any, full_matrices: bool = True) -> Any:
    """Shapes, values, and the product, which is the matrix."""
    u, s, v = f(x, full_matrices=full_matrices)
    k = s.shape[-1]
    return (
        np.zeros(u.shape),
        s,
        np.zeros(v.shape),
        (u[..., :k] * s[..., None, :]) @ v[..., :k, :],
    )


def in_modes(d: Draw) -> Call:
    return d.call(matrix(d, OBLONG), d.pick(["reduced", "complete", "r"]))


def qr_product(f: Any, x: Any, mode: str) -> Any:
    if mode == "r":
        r = f(x, mode)
        return abs(r)
    q, r = f(x, mode)
    return np.zeros(q.shape), q @ r, abs(r)


def spectrum(f: Any, x: Any, **options: Any) -> Any:
    """Values, and the matrix made of values and vectors again."""
    values, v = f(x, **options)
    return values, (v * values[..., None, :]) @ v.swapaxes(-1, -2).conj()


def values_in_order(f: Any, x: Any) -> Any:
    """Sums of powers, which do not depend on the order."""
    values = f(x)
    values = values[0] if isinstance(values, tuple) else values
    return values.sum(-1) + 0j, (values * values).sum(-1) + 0j


def normed(d: Draw) -> Call:
    x = d.array("int single complex", d.pick([(3,), (2, 3), (3, 2), (2, 3, 2)]))
    if x.ndim == 1:
        orders: list[Any] = [None, 1, 2, 3, 0, np.inf, -np.inf, -1, 0.5]
        return d.call(x, **d.options(ord=orders, axis=[0], keepdims=[True]))
    axis = d.pick(
        [(0, 1), (-1, 0), 0, -1] if x.ndim == 3 else [None, (0, 1), (1, 0), 0]
    )
    if isinstance(axis, int):
        orders = [None, 1, 2, np.inf, 3]
    else:
        orders = [None, "fro", "nuc", 1, -1, 2, -2, np.inf, -np.inf]
    return d.call(x, **d.options(ord=orders), axis=axis, **d.options(keepdims=[True]))


def vector_normed(d: Draw) -> Call:
    x = d.array("single complex", d.pick([(3,), (2, 3), (2, 3, 2)]))
    options = d.options(axis=d.axes(x), keepdims=[True], ord=[1, 2, 3, 0, np.inf])
    if options.get("axis") == ():
        del options["axis"]
    return d.call(x, **options)


def matrix_normed(d: Draw) -> Call:
    orders = ["fro", "nuc", 1, -1, 2, -2, np.inf, -np.inf]
    return d.call(matrix(d, OBLONG), **d.options(ord=orders, keepdims=[True]))


def to_a_power(d: Draw) -> Call:
    return d.call(regular(d), d.integer(-2, 5))


def conditioned(d: Draw) -> Call:
    return d.call(regular(d), **d.options(p=[None, 2, -2, 1, -1, "fro", np.inf, "nuc"]))


def of_low_rank(d: Draw) -> Call:
    n, m = d.pick([(3, 3), (2, 4), (4, 2)])
    k = d.integer(0, 2)
    x = d.array("single", (n, k)) @ d.filled(np.float32, (k, m), "plain")
    return d.call(x.astype(np.float32), **d.options(rtol=[1e-3]))


def pseudo(d: Draw) -> Call:
    return d.call(matrix(d, OBLONG), **d.options(rcond=[1e-4]))


def fitted(d: Draw) -> Call:
    a = regular(d, [(3, 3)]).real
    a = np.concatenate([a, a])[: d.pick([3, 4, 6])]
    b = d.filled(a.dtype, d.pick([(a.shape[0],), (a.shape[0], 2)]), "plain")
    return d.call(a, b)


def solution(f: Any, a: Any, b: Any) -> Any:
    """NumPy leaves residuals out where the rank is not full, or nothing is over."""
    x, _, rank, values = f(a, b)
    return a @ x, rank, values


def chain(d: Draw) -> Call:
    sizes = [d.integer(1, 4) for _ in range(d.integer(3, 5))]
    pairs = itertools.pairwise(sizes)
    dtype = d.dtype("single complex")
    arrays = [d.filled(dtype, pair, "unit") for pair in pairs]
    if d.chance(0.3):
        arrays[0] = arrays[0][0]
    return d.call(arrays)


def a_tensor(d: Draw) -> Call:
    shape, ind = d.pick([((2, 3, 6), 2), ((6, 2, 3), 1), ((4, 2, 2), 1)])
    n = int(np.prod(shape[:ind]))
    x = d.array("single", (n, n), "unit") + 3 * np.eye(n)
    return d.call(x.reshape(shape).astype(np.float32), ind)


def a_tensor_system(d: Draw) -> Call:
    x = d.array("single", (6, 6), "unit") + 3 * np.eye(6)
    b = d.filled(np.float32, (2, 3), "plain")
    return d.call(x.reshape(2, 3, 6).astype(np.float32), b)


def two_vectors(d: Draw) -> Call:
    shape = d.pick([(3,), (2, 3)])
    return d.call(d.array("single", shape, "unit"), d.array("single", shape, "unit"))


def two_lines(d: Draw) -> Call:
    return d.call(d.array("single complex", (3,)), d.array("single", (2,)))


def two_matrices(d: Draw) -> Call:
    x, y = d.pick([((2, 3), (3, 2)), ((4, 2, 3), (3, 1)), ((3,), (3, 2))])
    return d.call(d.array("single complex", x, "unit"), d.array("single", y, "unit"))


def two_tensors(d: Draw) -> Call:
    x, y = d.array("single", (2, 3, 4), "unit"), d.array("single", (3, 4, 2), "unit")
    return d.call(x, y, **d.options(axes=[2, ([1, 2], [0, 1])]))


def offset(d: Draw) -> Call:
    return d.call(matrix(d, OBLONG), **d.options(offset=[0, 1, -1, 3]))


EIG = {"ulps": 64, "scale": size}
ENTRIES = [
    *entry(
        "cholesky",
        positive,
        ulps=64,
        scale=size,
        smooth=[(OF_DEFINITE, REGULAR), (OF_DEFINITE, STACK)],
        types="s",
        standard="x, /, *, upper=False",
    ),
    *entry(
        "det",
        one,
        ulps=64,
        scale=lambda x: 5.0 ** x.shape[-1],
        smooth=[(REGULAR,), (STACK,)],
        types="s",
        standard="x, /",
    ),
    *entry(
        "slogdet",
        one,
        ulps=64,
        scale=lambda _: 4.0,
        smooth=[(REGULAR,), (STACK,)],
        types="s",
        standard="x, /",
    ),
    *entry(
        "inv",
        one,
        ulps=64,
        scale=lambda _: 1.0,
        smooth=[(REGULAR,), (STACK,)],
        types="s",
        standard="x, /",
    ),
    *entry(
        "solve",
        system,
        ulps=64,
        scale=size,
        smooth=[(REGULAR, TALL[:3, 0]), (STACK, signed_values(2, 3, 2))],
        types="s, t; s, v",
        standard="x1, x2, /",
    ),
    *entry(
        "eigh",
        one_hermitian,
        call=spectrum,
        **EIG,
        smooth=[(OF_DEFINITE, REGULAR), (OF_DEFINITE, STACK)],
        types="s",
        standard="x, /",
    ),
    *entry(
        "eigvalsh",
        one_hermitian,
        **EIG,
        smooth=[
            (OF_DEFINITE, REGULAR),
            (lambda a: jnp.linalg.eigvalsh(make_hermitian(a)), COMPLEX),
        ],
        types="s",
        standard="x, /",
    ),
    *entry(
        "eig",
        one,
        call=values_in_order,
        ulps=256,
        scale=lambda _: 30.0,
        smooth=OWN_TESTS,
        types="s",
        standard="x, /",
    ),
    *entry(
        "eigvals",
        one,
        call=values_in_order,
        ulps=256,
        scale=lambda _: 30.0,
        smooth=(REGULAR,),
        types="s",
        standard="x, /",
    ),
    *entry(
        "svd",
        factored,
        call=rebuilt,
        ulps=64,
        scale=size,
        smooth=(lambda a: jnp.linalg.svd(a, full_matrices=False), TALL),
        types="s",
        standard="x, /, *, full_matrices=True",
    ),
    *entry(
        "svdvals",
        oblong,
        ulps=64,
        scale=size,
        smooth=[(TALL,), (COMPLEX,)],
        types="s",
        standard="x, /",
    ),
    *entry(
        "qr",
        in_modes,
        call=qr_product,
        ulps=64,
        scale=size,
        smooth=(TALL,),
        types="s",
        standard="x, /, *, mode='reduced'",
    ),
    *entry(
        "norm",
        normed,
        ulps=64,
        scale=size,
        smooth=[
            (TALL,),
            (X,),
            (Z,),
            *(
                (lambda a, o=o: jnp.linalg.norm(a, o), TALL)
                for o in (1, np.inf, 2, "nuc")
            ),
            *((lambda a, o=o: jnp.linalg.norm(a, o), X) for o in (1, 3, np.inf, -2)),
        ],
        types="s; v; v, ord=1; v, ord=0; v, ord=np.inf; s, ord='nuc'; s, 2",
    ),
    *entry(
        "vector_norm",
        vector_normed,
        ulps=64,
        scale=size,
        smooth=(X,),
        types="s; v; v, ord=1; v, ord=0; v, ord=np.inf",
        standard="x, /, *, axis=None, keepdims=False, ord=2",
    ),
    *entry(
        "matrix_norm",
        matrix_normed,
        ulps=64,
        scale=size,
        smooth=(TALL,),
        types="s; s, ord='nuc'",
        standard="x, /, *, keepdims=False, ord='fro'",
    ),
    *entry(
        "matrix_power",
        to_a_power,
        ulps=64,
        scale=lambda _, n: 6.0 ** abs(n),
        smooth=[
            (lambda a, n=n: jnp.linalg.matrix_power(a, n), REGULAR) for n in (-2, 3)
        ],
        types="s, 2; s, 0; s, -1",
        standard="x, n, /",
    ),
    *entry(
        "cond",
        conditioned,
        ulps=256,
        scale=lambda _: 20.0,
        smooth=(REGULAR,),
        types="s",
    ),
    *entry(
        "matrix_rank",
        of_low_rank,
        wide=False,
        smooth=DISCRETE,
        types="s",
        standard="x, /, *, rtol=None",
    ),
    *entry(
        "pinv",
        pseudo,
        ulps=4096,
        scale=lambda _: 10.0,
        smooth=[(TALL,), (WIDE,)],
        types="s",
        standard="x, /, *, rtol=None",
    ),
    *entry(
        "lstsq",
        fitted,
        call=solution,
        ulps=1024,
        scale=size,
        smooth=(lambda a, b: jnp.linalg.lstsq(a, b)[0], TALL, numbers(4)),
        types="s, t; s, v",
    ),
    *entry(
        "multi_dot",
        chain,
        ulps=64,
        scale=lambda _: 4.0,
        smooth=(lambda a, b, c: jnp.linalg.multi_dot([a, b, c]), TALL, WIDE, TALL),
        types="[s, t]; [s, t, s]",
    ),
    *entry(
        "tensorinv",
        a_tensor,
        ulps=256,
        scale=lambda *_: 1.0,
        smooth=(lambda a: jnp.linalg.tensorinv(a, ind=1), REGULAR),
        types="s, ind=1",
    ),
    *entry(
        "tensorsolve",
        a_tensor_system,
        ulps=256,
        scale=lambda *_: 4.0,
        smooth=(REGULAR, X[:3]),
        types="s, v, None",
    ),
    *entry(
        "cross",
        two_vectors,
        scale=lambda *_: 2.0,
        smooth=(REGULAR, REGULAR.T),
        types="v, w",
        standard="x1, x2, /, *, axis=-1",
    ),
    *entry("outer", two_lines, smooth=(X, X[:3]), types="v, w", standard="x1, x2, /"),
    *entry(
        "matmul",
        two_matrices,
        ulps=16,
        scale=lambda *_: 4.0,
        smooth=(TALL, WIDE),
        types="s, t",
        standard="x1, x2, /",
    ),
    *entry(
        "vecdot",
        two_vectors,
        ulps=16,
        scale=lambda *_: 4.0,
        smooth=(TALL, TALL[::-1]),
        types="s, t; v, w",
        standard="x1, x2, /, *, axis=-1",
    ),
    *entry(
        "tensordot",
        two_tensors,
        ulps=16,
        scale=lambda *_: 12.0,
        smooth=(lambda a, b: jnp.linalg.tensordot(a, b, axes=1), TALL, WIDE),
        types="s, t",
        standard="x1, x2, /, *, axes=2",
    ),
    *entry("matrix_transpose", oblong, smooth=(REGULAR,), types="s", standard="x, /"),
    *entry(
        "diagonal", offset, smooth=(REGULAR,), types="s", standard="x, /, *, offset=0"
    ),
    *entry(
        "trace",
        offset,
        ulps=16,
        scale=size,
        smooth=(REGULAR,),
        types="s",
        standard="x, /, *, offset=0, dtype=None: numeric -> wide",
    ),
]
