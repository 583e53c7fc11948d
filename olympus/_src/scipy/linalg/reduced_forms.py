"""Reduced forms of matrices: Schur, Hessenberg, polar, tridiagonal."""

from __future__ import annotations

import operator
from typing import Any, Literal, overload

import numpy as np

from olympus._src.api.vmap import vmap
from olympus._src.control_flow import loops
from olympus._src.core import dtypes
from olympus._src.core.array_type import Array, ArrayLike
from olympus._src.lax import slicing
from olympus._src.lax.linalg import (
    eigenvectors,
    matrices,
    qr_decomposition,
    schur_hessenberg,
)
from olympus._src.numerics import polar as polar_
from olympus._src.numpy import (
    arithmetic,
    creation,
    decompositions,
    elementary,
    manipulation,
    padding,
    promotion,
    selection,
)
from olympus._src.scipy.linalg import checks, tridiagonal

aval_of = checks.aval_of
matmul = matrices.matmul


def schur(a: ArrayLike, output: str = "real") -> list[Array]:
    """Schur's form T of square matrices, with `a = Z T Z^H`.

    Differs from SciPy: integers are refused; eigenvalues cannot be sorted, and `lwork`,
    `overwrite_a` and `check_finite` do not exist.

    Args:
      a: square matrices [..., n, n], floating or complex.
      output: "real": blocks of two rows stand for complex eigenvalues of real matrices;
        "complex": T is triangular.

    Returns:
      T and Z, both [..., n, n].

    Raises:
      ValueError: `output` has another value, or the matrices are not square.
      TypeError: the matrices are of integers.

    Source: SciPy, `scipy.linalg.schur`.

    Example:
      >>> import numpy as np
      >>> from olympus.scipy import linalg
      >>> t, z = linalg.schur(np.array([[1.0, 2.0], [0.0, 3.0]], "float32"))
      >>> print(t)
      [[1. 2.]
       [0. 3.]]
    """
    (a,) = checks.as_arrays("schur", a)
    if output not in ("real", "complex"):
        raise ValueError(
            "scipy.linalg.schur: Expected 'output' to be either 'real' or 'complex', "
            f"got {output!r}"
        )
    return list(_schur(a, to_complex=output == "complex"))


@promotion.program(1, name="schur")
def _schur(a: Any, *, to_complex: bool) -> Any:
    if to_complex:
        (a,) = promotion.promote_inexact(a)
        dtype = aval_of(a).dtype
        a = promotion.cast(a, eigenvectors.complex_dtype(dtype), False)
    return schur_hessenberg.schur(a)


def rsf2csf(
    T: ArrayLike, Z: ArrayLike, check_finite: bool = True
) -> tuple[Array, Array]:
    """The complex Schur form of a real one.

    Args:
      T, Z: the real form, [..., n, n], as in `schur`.
      check_finite: not used; it is SciPy's.

    Returns:
      T, triangular, and Z, both complex.

    Raises:
      ValueError: shapes differ, or are not square.

    Source: SciPy, `scipy.linalg.rsf2csf`.

    Example:
      >>> import numpy as np
      >>> from olympus.scipy import linalg
      >>> a = np.array([[0.0, -1.0], [1.0, 0.0]], "float32")
      >>> t, z = linalg.rsf2csf(*linalg.schur(a))
      >>> bool(abs(z @ t @ z.conj().T - a).max() < 1e-6)
      True
    """
    del check_finite
    T, Z = checks.as_arrays("rsf2csf", T, Z)
    for name, x in (("T", T), ("Z", Z)):
        checks.check_square("rsf2csf", name, x)
    if aval_of(T).shape != aval_of(Z).shape:
        raise ValueError(
            "scipy.linalg.rsf2csf: Input array shapes must match: "
            f"Z: {aval_of(Z).short()} vs. T: {aval_of(T).short()}"
        )
    return tuple(_rsf2csf(T, Z))


@promotion.program(2, name="rsf2csf")
def _rsf2csf(t: Any, z: Any) -> Any:
    t, z = promotion.promote_inexact(t, z)
    dtype = eigenvectors.complex_dtype(aval_of(t).dtype)
    t, z = (promotion.cast(x, dtype, False) for x in (t, z))
    n = aval_of(t).shape[-1]
    if n < 2:
        return t, z

    def step(i: Any, pair: Any) -> Any:
        return _turn_block(n - 2 - i, *pair)

    return loops.fori_loop(0, n - 1, step, (t, z))


def _turn_block(m: Any, t: Any, z: Any) -> Any:
    """Makes the element below the diagonal in column `m` zero, by a rotation."""
    rank, n = aval_of(t).ndim, aval_of(t).shape[-1]
    rows, columns = rank - 2, rank - 1
    pair = slicing.dynamic_slice_in_dim(t, m, 2, rows)
    block = slicing.dynamic_slice_in_dim(pair, m, 2, columns)
    a, b = block[..., 0, 0], block[..., 0, 1]
    c, d = block[..., 1, 0], block[..., 1, 1]
    # The eigenvector of the block to one of its eigenvalues is (value - d, c).
    half = (a - d) / 2
    first = half + elementary.sqrt(half * half + b * c)
    length = arithmetic.hypot(abs(first), abs(c)).astype(aval_of(t).dtype)
    tiny = float(dtypes.finfo(aval_of(t).dtype).eps)
    turns = abs(c) > tiny * (abs(a) + abs(d))
    safe = selection.where(turns, length, 1)
    cosine = selection.where(turns, first / safe, 1)
    sine = selection.where(turns, c / safe, 0)

    def matrix(*rows: Any) -> Any:
        return manipulation.moveaxis(creation.asarray(rows), (0, 1), (-2, -1))

    turn = matrix((cosine.conj(), sine.conj()), (-sine, cosine))
    pair = matmul(turn, pair)
    t = slicing.dynamic_update_slice_in_dim(t, pair, m, rows)
    back = matrices.adjoint(turn)
    t, z = (
        slicing.dynamic_update_slice_in_dim(
            x, matmul(slicing.dynamic_slice_in_dim(x, m, 2, columns), back), m, columns
        )
        for x in (t, z)
    )
    i, j = np.arange(n)[:, None], np.arange(n)[None, :]
    below = (i == m + 1) & (j <= m)
    return selection.where(below, 0, t), z


@overload
def hessenberg(
    a: ArrayLike,
    *,
    calc_q: Literal[False] = ...,
    overwrite_a: bool = ...,
    check_finite: bool = ...,
) -> Array: ...
@overload
def hessenberg(
    a: ArrayLike,
    *,
    calc_q: Literal[True],
    overwrite_a: bool = ...,
    check_finite: bool = ...,
) -> tuple[Array, Array]: ...
@overload
def hessenberg(
    a: ArrayLike,
    *,
    calc_q: bool = ...,
    overwrite_a: bool = ...,
    check_finite: bool = ...,
) -> Array | tuple[Array, Array]: ...
def hessenberg(
    a: ArrayLike,
    *,
    calc_q: bool = False,
    overwrite_a: bool = False,
    check_finite: bool = True,
) -> Array | tuple[Array, Array]:
    """Hessenberg's form H of square matrices, with `a = Q H Q^H`.

    Differs from SciPy: integers are refused; `overwrite_a` and `check_finite` have no
    effect.

    Args:
      a: square matrices [..., n, n], floating or complex.
      calc_q: whether to compute Q.
      overwrite_a, check_finite: not used; they are SciPy's.

    Returns:
      H [..., n, n], zero below the diagonal next to the main one; and Q.

    Raises:
      ValueError: the matrices are not square.
      TypeError: the matrices are of integers.

    Source: SciPy, `scipy.linalg.hessenberg`.

    Example:
      >>> import numpy as np
      >>> from olympus.scipy import linalg
      >>> print(linalg.hessenberg(np.array([[1.0, 2.0], [3.0, 4.0]], "float32")))
      [[1. 2.]
       [3. 4.]]
    """
    del overwrite_a, check_finite
    (a,) = checks.as_arrays("hessenberg", a)
    return _hessenberg(a, calc_q=bool(calc_q))


@promotion.program(1, name="hessenberg")
def _hessenberg(a: Any, *, calc_q: bool) -> Any:
    packed, scales = schur_hessenberg.hessenberg(a)
    form = matrices.upper_triangle(packed, -1)
    if not calc_q:
        return form
    n = aval_of(a).shape[-1]
    if n < 2:
        return form, matrices.identity_like(form)
    inner = qr_decomposition.householder_product(packed[..., 1:, :-1], scales)
    widths = [(0, 0)] * (aval_of(a).ndim - 2) + [(1, 0), (1, 0)]
    corner = np.zeros((n, n), aval_of(a).dtype)
    corner[0, 0] = 1
    return form, padding.pad(inner, widths) + corner


def polar(
    a: ArrayLike,
    side: str = "right",
    *,
    method: str = "qdwh",
    eps: float | None = None,
    max_iterations: int | None = None,
) -> tuple[Array, Array]:
    """The polar decomposition: orthonormal rows or columns times a positive matrix.

    Differs from SciPy: the default method is an iteration, which refuses matrices that
    have more columns than rows for "right", more rows than columns for "left"; the
    singular value decomposition, which is SciPy's method, accepts all.

    Args:
      a: matrices [..., m, n], floating or complex.
      side: "right" for `a = U P` with P [..., n, n]; "left" for `a = P U` with P
        [..., m, m].
      method: "qdwh", by iteration, of matrices that have no fewer rows than columns for
        "right", no more for "left"; or "svd", of all.
      eps, max_iterations: when "qdwh" stops, see `lax.linalg.qdwh`.

    Returns:
      U [..., m, n] and P.

    Raises:
      ValueError: `side` or `method` has another value, or the dtype is of integers.
      NotImplementedError: the method does not support such matrices.

    Source: SciPy, `scipy.linalg.polar`.

    Example:
      >>> import numpy as np
      >>> from olympus.scipy import linalg
      >>> u, p = linalg.polar(np.array([[0.0, -2.0], [3.0, 0.0]], "float32"))
      >>> print(np.round(abs(p)))
      [[3. 0.]
       [0. 2.]]
    """
    (a,) = checks.as_arrays("polar", a)
    if side not in ("right", "left"):
        raise ValueError(
            "scipy.linalg.polar: The argument `side` must be either 'right' or 'left', "
            f"got {side!r}"
        )
    aval = aval_of(a)
    if dtypes.kind(aval.dtype) not in "fc":
        raise ValueError(
            f"scipy.linalg.polar: data type {aval.dtype} not inexact; convert a with "
            "astype"
        )
    if method == "svd":
        return tuple(_polar_by_svd(a, left=side == "left"))
    if method != "qdwh":
        raise ValueError(
            f"scipy.linalg.polar: Unknown polar decomposition method {method}; take "
            "'qdwh' or 'svd'"
        )
    rows, columns = aval.shape[-2:]
    if (rows < columns) if side == "right" else (rows > columns):
        raise NotImplementedError(
            "scipy.linalg.polar: method='qdwh' needs m >= n for side='right' and m <= "
            f"n for side='left', got {aval.short()} with side={side!r}; take "
            "method='svd'"
        )
    return tuple(
        _polar_by_iteration(a, left=side == "left", eps=eps, most=max_iterations)
    )


@promotion.program(1, name="polar")
def _polar_by_svd(a: Any, *, left: bool) -> Any:
    u, s, v_h = decompositions.svd(a, full_matrices=False)
    middle = s.astype(aval_of(u).dtype)
    if left:
        return matmul(u, v_h), matmul(u * middle[..., None, :], matrices.adjoint(u))
    return matmul(u, v_h), matmul(matrices.adjoint(v_h) * middle[..., None, :], v_h)


@promotion.program(1, name="polar")
def _polar_by_iteration(a: Any, *, left: bool, eps: Any, most: Any) -> Any:
    x = matrices.adjoint(a) if left else a

    def factors(x: Any) -> Any:
        return polar_.qdwh(x, eps=eps, max_iterations=most)[:2]

    for _ in range(aval_of(x).ndim - 2):
        factors = vmap(factors)
    u, p = factors(x)
    return (matrices.adjoint(u), p) if left else (u, p)


@overload
def eigh_tridiagonal(
    d: ArrayLike,
    e: ArrayLike,
    *,
    eigvals_only: Literal[False] = ...,
    select: str = ...,
    select_range: tuple[int, int] | None = ...,
    tol: float | None = ...,
    key: object = ...,
) -> tuple[Array, Array]: ...
@overload
def eigh_tridiagonal(
    d: ArrayLike,
    e: ArrayLike,
    *,
    eigvals_only: Literal[True],
    select: str = ...,
    select_range: tuple[int, int] | None = ...,
    tol: float | None = ...,
    key: object = ...,
) -> Array: ...
@overload
def eigh_tridiagonal(
    d: ArrayLike,
    e: ArrayLike,
    *,
    eigvals_only: bool = ...,
    select: str = ...,
    select_range: tuple[int, int] | None = ...,
    tol: float | None = ...,
    key: object = ...,
) -> tuple[Array, Array] | Array: ...
def eigh_tridiagonal(
    d: ArrayLike,
    e: ArrayLike,
    *,
    eigvals_only: bool = False,
    select: str = "a",
    select_range: tuple[int, int] | None = None,
    tol: float | None = None,
    key: object = None,
) -> Array | tuple[Array, Array]:
    """Eigenvalues and eigenvectors of a tridiagonal Hermitian matrix.

    Differs from SciPy: complex off-diagonal elements are accepted; there is no
    choice of eigenvalues in an interval (`select="v"`); there is no `lapack_driver` and
    no `check_finite`.

    They are computed to full accuracy, whatever the tolerance.

    Args:
      d: the diagonal [n]; its real part is used.
      e: the diagonal above it, [n - 1].
      eigvals_only: whether vectors are left out.
      select: "a" for all; "i" for those from the first to the last position of
        `select_range`, both included.
      select_range: two positions, counted from the smallest eigenvalue.
      tol, key: not used.

    Returns:
      Eigenvalues, ascending, and eigenvectors in columns; or values alone.

    Raises:
      TypeError: the dtype is neither floating nor complex, or shapes do not agree.
      ValueError: `select` has another value, or has no fitting range.
      NotImplementedError: `select` is "v", for values in an interval.

    Source: SciPy, `scipy.linalg.eigh_tridiagonal`.

    Example:
      >>> import numpy as np
      >>> from olympus.scipy import linalg
      >>> d, e = np.array([2.0, 2.0], "float32"), np.array([1.0], "float32")
      >>> values = linalg.eigh_tridiagonal(d, e, eigvals_only=True)
      >>> print(np.asarray(values).round(3))
      [1. 3.]
    """
    del tol, key
    d, e = checks.as_arrays("eigh_tridiagonal", d, e)
    d_aval, e_aval = aval_of(d), aval_of(e)
    if dtypes.kind(d_aval.dtype) not in "fc" or d_aval.dtype != e_aval.dtype:
        raise TypeError(
            "scipy.linalg.eigh_tridiagonal: d and e must be floating or complex, of "
            f"one dtype, got {d_aval.short()} and {e_aval.short()}; convert them with "
            "astype"
        )
    if d_aval.ndim != 1 or e_aval.shape != (d_aval.size - 1,):
        raise TypeError(
            "scipy.linalg.eigh_tridiagonal: d must be [n] and e [n - 1], got "
            f"incompatible shapes {d_aval.short()} and {e_aval.short()}; use vmap "
            "for several"
        )
    first, last = _parse_selection(select, select_range, d_aval.size)
    if eigvals_only:
        return promotion.strong(_tridiagonal_values(d, e, first=first, last=last))
    return _eigh_tridiagonal(d, e, first=first, last=last)


def _parse_selection(select: str, bounds: Any, n: int) -> tuple[int, int]:
    where = "scipy.linalg.eigh_tridiagonal"
    if select == "v":
        raise NotImplementedError(
            f"{where}: select='v' is not implemented; take all and choose among them"
        )
    if select not in ("a", "i"):
        raise ValueError(
            f"{where}: select must have a value in ['a', 'i', 'v'], got {select!r}"
        )
    if select == "a":
        return 0, n
    if bounds is None:
        raise ValueError(f"{where}: for select='i', select_range must be specified")
    first, last = map(operator.index, bounds)
    if not 0 <= first <= last < n:
        raise ValueError(
            f"{where}: select_range must be two increasing positions below {n}, got "
            f"{bounds}"
        )
    return first, last + 1


@promotion.program(2, name="eigh_tridiagonal")
def _eigh_tridiagonal(d: Any, e: Any, *, first: int, last: int) -> Any:
    values, vectors = tridiagonal.eigensystem(d, e)
    return values[first:last], vectors[:, first:last]


@promotion.program(2, name="eigh_tridiagonal")
def _tridiagonal_values(d: Any, e: Any, *, first: int, last: int) -> Any:
    return tridiagonal.eigenvalues(d, e, first, last)
