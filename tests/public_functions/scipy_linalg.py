"""olympus.scipy.linalg: factors are compared by what does not depend on their signs."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import linalg

from tests.public_functions.drawing import Call, Draw
from tests.public_functions.entries import entries
from tests.public_functions.numpy_linalg import (
    OBLONG,
    hermitian,
    matrix,
    one,
    rebuilt,
    regular,
    size,
    spectrum,
)

entry = entries("scipy.linalg")
METHODS = ["schur", "eigen"]  # of solve_sylvester
FLAT = [(1, 1), (2, 2), (3, 3), (4, 4)]


def flat(d: Draw) -> Any:
    return regular(d, FLAT)


def one_flat(d: Draw) -> Call:
    return d.call(flat(d))


def definite(d: Draw, x: Any) -> Any:
    """Hermitian, with eigenvalues above zero."""
    return (x @ np.conj(np.swapaxes(x, -1, -2))).astype(x.dtype)


def sides(d: Draw, a: Any) -> Any:
    """Right-hand sides: a vector, or columns."""
    n = a.shape[-1]
    return d.filled(a.dtype, d.pick([(n,), (n, 1), (n, 2)]), "plain")


# -- systems ---------------------------------------------------------------------------


def system(d: Draw) -> Call:
    a = flat(d)
    if d.chance():
        return d.call(a, sides(d, a), **d.options(assume_a=["gen"]))
    b = sides(d, a)
    return d.call(definite(d, a), b, assume_a="pos", **d.options(lower=[True, False]))


def triangular(d: Draw) -> Call:
    a = flat(d)
    options = d.options(
        trans=[0, 1, 2, "N", "T", "C"], lower=[True, False], unit_diagonal=[True]
    )
    return d.call(a, sides(d, a), **options)


def to_cholesky(d: Draw) -> Call:
    return d.call(definite(d, regular(d)), **d.options(lower=[True, False]))


def one_to_cholesky(d: Draw) -> Call:
    return d.call(definite(d, flat(d)), **d.options(lower=[True, False]))


def its_triangle(f: Any, a: Any, lower: bool = False) -> Any:
    """What is beyond the triangle is of no meaning."""
    c, is_lower = f(a, lower=lower)
    assert is_lower == lower
    mask = np.tri(a.shape[-1], dtype=bool)
    return c * (mask if lower else mask.T).astype(c.dtype)


def from_cholesky(d: Draw) -> Call:
    a = flat(d)
    lower = d.chance()
    c, _ = linalg.cho_factor(definite(d, a), lower=lower)
    return d.call((c.astype(a.dtype), lower), sides(d, a))


def from_lu(d: Draw) -> Call:
    a = flat(d)
    factors, pivots = linalg.lu_factor(a)
    given = (factors.astype(a.dtype), pivots.astype(np.int32))
    return d.call(given, sides(d, a), **d.options(trans=[0, 1, 2]))


def oblong(d: Draw) -> Call:
    return d.call(matrix(d, OBLONG))


def to_lu(d: Draw) -> Call:
    return d.call(matrix(d, OBLONG), **d.options(permute_l=[True, False]))


def flat_oblong(d: Draw) -> Call:
    return d.call(matrix(d, OBLONG[:4]))


def sylvester(d: Draw) -> Call:
    """Eigenvalues of A and -B are apart: their sum is far from singular."""
    dtype, (m, n) = d.dtype("single complex"), d.pick([(1, 2), (2, 2), (3, 2)])
    a, b = (d.filled(dtype, (k, k), "unit") + 3 * np.eye(k) for k in (m, n))
    c = d.filled(dtype, (m, n), "plain")
    return d.call(a.astype(dtype), b.astype(dtype), c, **d.options(method=METHODS))


def solved_sylvester(a: Any, b: Any, c: Any, method: str = "schur") -> Any:
    return linalg.solve_sylvester(a, b, c)


# -- factors ---------------------------------------------------------------------------


def to_svd(d: Draw) -> Call:
    x = matrix(d, OBLONG)
    return d.call(x, **d.options(full_matrices=[True, False]))


def values_alone(f: Any, x: Any) -> Any:
    return f(x, compute_uv=False)


def to_eigh(d: Draw) -> Call:
    return d.call(hermitian(d), **d.options(lower=[True, False]))


def eigenvalues_alone(f: Any, x: Any, lower: bool = True) -> Any:
    return f(x, lower=lower, eigvals_only=True)


def to_qr(d: Draw) -> Call:
    x = matrix(d, OBLONG[:4])
    return d.call(x, d.pick(["full", "economic", "r"]), d.chance())


def qr_product(f: Any, x: Any, mode: str, pivoting: bool) -> Any:
    """Rows of R have any sign or phase; the product and the order have not."""
    *factors, last = f(x, mode=mode, pivoting=pivoting)
    r, order = (factors[-1], [last]) if pivoting else (last, [])
    if mode == "r":
        return [abs(r), *order]
    q = factors[0]
    return [np.zeros(q.shape), q @ r, abs(r), *order]


def times_q(d: Draw) -> Call:
    a = d.pick([flat(d), matrix(d, [(3, 2), (4, 2)])])
    m, n = a.shape
    mode = d.pick(["left", "right"])
    shape = d.pick([(n, 2), (n,)] if mode == "left" else [(2, m), (m,)])
    options = d.options(pivoting=[True, False], conjugate=[True, False])
    return d.call(a, d.filled(a.dtype, shape, "plain"), mode=mode, **options)


def to_schur(d: Draw) -> Call:
    return d.call(flat(d), **d.options(output=["real", "complex"]))


def schur_product(f: Any, *args: Any, **options: Any) -> Any:
    """The product, a unit matrix, and zeros below the diagonal."""
    t, z = f(*args, **options)
    is_complex = t.dtype.kind == "c"
    below = np.tri(t.shape[-1], k=-1 if is_complex else -2, dtype=t.dtype)
    other = z.conj().T
    return z @ t @ other, z @ other, t * below


def from_schur(d: Draw) -> Call:
    a = flat(d)
    t, z = linalg.schur(a)
    return d.call(t.astype(a.dtype), z.astype(a.dtype))


def hessenberg_product(f: Any, a: Any) -> Any:
    h, q = f(a, calc_q=True)
    return q @ h @ q.conj().T, abs(h), abs(f(a))


def to_polar(d: Draw) -> Call:
    a = d.pick([flat(d), matrix(d, [(3, 2), (4, 2)])])
    return d.call(a, d.pick(["right", "left"] if len({*a.shape}) == 1 else ["right"]))


def by_svd(f: Any, a: Any, side: str) -> Any:
    """SciPy has this method alone."""
    return f(a, side) if f is linalg.polar else f(a, side, method="svd")


def tridiagonal(d: Draw) -> Call:
    n = d.integer(2, 5)
    dtype = d.dtype("single")
    diagonal, off = d.filled(dtype, (n,), "plain"), d.filled(dtype, (n - 1,), "plain")
    options = d.pick([{}, {"select": "a"}, {"select": "i", "select_range": (0, n - 2)}])
    return d.call(diagonal, off, eigvals_only=True, **options)


# -- functions of matrices -------------------------------------------------------------


def small(d: Draw, shapes: Any = FLAT) -> Any:
    return d.array("single complex", d.pick(shapes), "unit")


def exponent(d: Draw) -> Call:
    return d.call(small(d, [*FLAT, (2, 3, 3)]))


def frechet(d: Draw) -> Call:
    a = small(d)
    e = d.filled(a.dtype, a.shape, "unit")
    return d.call(a, e, **d.options(compute_expm=[True, False]))


def root(d: Draw) -> Call:
    return d.call(definite(d, flat(d)) if d.chance() else flat(d))


def as_complex(f: Any, *args: Any) -> Any:
    """SciPy gives real numbers where none has an imaginary part."""
    return f(*args) + 0j


def of_values(f: Any, a: Any) -> Any:
    return f(a, lambda x: x * x + 1) + 0j


# -- matrices of a pattern -------------------------------------------------------------


def blocks(d: Draw) -> Call:
    shapes = [(), (2,), (1, 3), (2, 2), (3, 1)]
    dtype = d.dtype("int single complex")
    return d.call(
        *[d.filled(dtype, d.pick(shapes), "plain") for _ in range(d.integer(1, 3))]
    )


def vector(d: Draw) -> Call:
    return d.call(d.array("int single complex", (d.integer(1, 5),)))


def points(d: Draw) -> Call:
    """More than one: SciPy gives a float for one, of any dtype."""
    return d.call(d.array("int single complex", (d.integer(2, 5),)))


def polynomial(d: Draw) -> Call:
    return d.call(d.array("single complex", (d.integer(2, 5),), "positive"))


def column_and_row(d: Draw) -> Call:
    dtype = d.dtype("int single complex")
    c, r = (d.filled(dtype, (d.integer(1, 4),), "plain") for _ in range(2))
    return d.call(c, **d.options(r=lambda: r))


def kernel(d: Draw) -> Call:
    a = d.array("int single complex", (d.integer(1, 4),))
    return d.call(a, d.integer(1, 5), **d.options(mode=["full", "same", "valid"]))


def population(d: Draw) -> Call:
    n = d.integer(2, 4)
    dtype = d.dtype("int single")
    return d.call(*[d.filled(dtype, (k,), "plain") for k in (n, n - 1)])


def fourier(d: Draw) -> Call:
    return d.call(d.integer(1, 6), **d.options(scale=["sqrtn", "n"]))


def walsh(d: Draw) -> Call:
    return d.call(d.pick([1, 2, 4, 8, 3]), **d.options(dtype=[np.int32, np.float32]))


def ordered(d: Draw) -> Call:
    return d.call(d.integer(1, 5))


def helmert(d: Draw) -> Call:
    return d.call(d.integer(2, 5), **d.options(full=[True, False]))


def binomials(d: Draw) -> Call:
    kinds = ["symmetric", "lower", "upper"]
    return d.call(d.integer(1, 6), **d.options(kind=kinds))


NEAR: dict[str, Any] = {"ulps": 128, "scale": size}
ENTRIES = [
    *entry("solve", system, ulps=256, scale="args"),
    *entry("solve_triangular", triangular, ulps=256, scale="result"),
    *entry("cholesky", to_cholesky, **NEAR),
    *entry("cho_factor", one_to_cholesky, call=its_triangle, **NEAR),
    *entry("cho_solve", from_cholesky, ulps=256, scale="args"),
    *entry("lu_solve", from_lu, ulps=256, scale="args"),
    *entry("lu", to_lu, **NEAR),
    *entry("lu_factor", flat_oblong, **NEAR),
    *entry(
        "solve_sylvester", sylvester, oracle=solved_sylvester, ulps=256, scale="args"
    ),
    *entry("det", one, ulps=128, scale=lambda x: 5.0 ** x.shape[-1]),
    *entry("inv", one, ulps=128, scale=1.0),
    *entry("svd", to_svd, call=rebuilt, **NEAR),
    *entry("svd", oblong, call=values_alone, label="values", **NEAR),
    *entry("eigh", to_eigh, call=spectrum, **NEAR),
    *entry("eigh", to_eigh, call=eigenvalues_alone, label="values", **NEAR),
    *entry("eigh_tridiagonal", tridiagonal, **NEAR),
    *entry("qr", to_qr, call=qr_product, **NEAR),
    *entry("qr_multiply", times_q, ulps=256, scale="args"),
    *entry("schur", to_schur, call=schur_product, **NEAR),
    *entry("rsf2csf", from_schur, call=schur_product, **NEAR),
    *entry("hessenberg", one_flat, call=hessenberg_product, **NEAR),
    *entry("polar", to_polar, oracle=linalg.polar, **NEAR),
    *entry("polar", to_polar, call=by_svd, label="svd", **NEAR),
    *entry("expm", exponent, ulps=256, scale="result"),
    *entry("expm_frechet", frechet, ulps=512, scale="result"),
    *entry("sqrtm", root, call=as_complex, ulps=1024, scale="args"),
    *entry("funm", one_flat, call=of_values, ulps=1024, scale="result"),
    *entry("block_diag", blocks),
    *entry("circulant", vector),
    *entry("fiedler", points, scale="args"),
    *entry("companion fiedler_companion", polynomial),
    *entry("toeplitz hankel", column_and_row),
    *entry("convolution_matrix", kernel),
    *entry("leslie", population),
    *entry("dft", fourier, ulps=32, scale=1.0),
    *entry("hadamard", walsh),
    *entry("helmert", helmert, ulps=16),
    *entry("hilbert", ordered),
    *entry("invhilbert", ordered, ulps=64),
    *entry("pascal invpascal", binomials, kinds=False),  # whole numbers as floats
]
