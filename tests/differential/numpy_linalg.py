"""olympus.numpy.linalg: factors are compared by what does not depend on their signs."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from tests.differential.drawing import Call, Draw
from tests.differential.entries import entries

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
    *entry("cholesky", positive, ulps=64, scale=size),
    *entry("det", one, ulps=64, scale=lambda x: 5.0 ** x.shape[-1]),
    *entry("slogdet", one, ulps=64, scale=lambda _: 4.0),
    *entry("inv", one, ulps=64, scale=lambda _: 1.0),
    *entry("solve", system, ulps=64, scale=size),
    *entry("eigh", one_hermitian, call=spectrum, **EIG),
    *entry("eigvalsh", one_hermitian, **EIG),
    *entry("eig eigvals", one, call=values_in_order, ulps=256, scale=lambda _: 30.0),
    *entry("svd", factored, call=rebuilt, ulps=64, scale=size),
    *entry("svdvals", oblong, ulps=64, scale=size),
    *entry("qr", in_modes, call=qr_product, ulps=64, scale=size),
    *entry("norm", normed, ulps=64, scale=size),
    *entry("vector_norm", vector_normed, ulps=64, scale=size),
    *entry("matrix_norm", matrix_normed, ulps=64, scale=size),
    *entry("matrix_power", to_a_power, ulps=64, scale=lambda _, n: 6.0 ** abs(n)),
    *entry("cond", conditioned, ulps=256, scale=lambda _: 20.0),
    *entry("matrix_rank", of_low_rank, wide=False),
    *entry("pinv", pseudo, ulps=4096, scale=lambda _: 10.0),
    *entry("lstsq", fitted, call=solution, ulps=1024, scale=size),
    *entry("multi_dot", chain, ulps=64, scale=lambda _: 4.0),
    *entry("tensorinv", a_tensor, ulps=256, scale=lambda *_: 1.0),
    *entry("tensorsolve", a_tensor_system, ulps=256, scale=lambda *_: 4.0),
    *entry("cross", two_vectors, scale=lambda *_: 2.0),
    *entry("outer", two_lines),
    *entry("matmul", two_matrices, ulps=16, scale=lambda *_: 4.0),
    *entry("vecdot", two_vectors, ulps=16, scale=lambda *_: 4.0),
    *entry("tensordot", two_tensors, ulps=16, scale=lambda *_: 12.0),
    *entry("matrix_transpose", oblong),
    *entry("diagonal", offset),
    *entry("trace", offset, ulps=16, scale=size),
]
