"""Factors of matrices by SciPy's names, and systems solved by them."""

from __future__ import annotations

from typing import Any, Literal, overload

import numpy as np

from olympus._src.core.array_type import Array, ArrayLike, OptionalArray
from olympus._src.interpreters.direct_calls import direct
from olympus._src.lax.linalg import (
    cholesky_decomposition,
    hermitian_eigenvectors,
    lu_decomposition,
    matrices,
    qr_decomposition,
    triangular,
)
from olympus._src.numpy import (
    creation,
    decompositions,
    linear_systems,
    promotion,
    sorting,
)
from olympus._src.scipy.linalg import checks

aval_of = checks.aval_of
matmul = matrices.matmul

# -- Cholesky --------------------------------------------------------------------------


@direct("cholesky")
def cholesky(
    a: ArrayLike,
    lower: bool = False,
    overwrite_a: bool = False,
    check_finite: bool = True,
) -> Array:
    """The triangular factor of positive definite matrices.

    Differs from SciPy: matrices that are not positive definite, or hold NaN, give NaN
    and no error; `overwrite_a` and `check_finite` have no effect.

    Args:
      a: Hermitian, positive definite matrices [..., n, n], of which one triangle is
        read: the lower one if `lower`, otherwise the upper one.
      lower: return L with `a = L L^H`; otherwise R with `a = R^H R`.
      overwrite_a, check_finite: not used; they are SciPy's.

    Returns:
      Matrices [..., n, n]; NaN where `a` is not positive definite.

    Raises:
      ValueError: the matrices are not square.

    Source: SciPy, `scipy.linalg.cholesky`.

    Example:
      >>> import numpy as np
      >>> from olympus.scipy import linalg
      >>> print(linalg.cholesky(np.array([[4.0, 2.0], [2.0, 5.0]], "float32")))
      [[2. 1.]
       [0. 2.]]
    """
    del overwrite_a, check_finite
    (a,) = checks.as_arrays("cholesky", a)
    checks.check_square("cholesky", "a", a)
    return _cholesky(a, lower=bool(lower))


@promotion.program(1, name="cholesky")
def _cholesky(a: Any, *, lower: bool) -> Any:
    (a,) = promotion.promote_inexact(a)
    below = a if lower else matrices.adjoint(a)
    factor = cholesky_decomposition.cholesky(below, symmetrize_input=False)
    return factor if lower else matrices.adjoint(factor)


def cho_factor(
    a: ArrayLike,
    lower: bool = False,
    overwrite_a: bool = False,
    check_finite: bool = True,
) -> tuple[Array, bool]:
    """As `cholesky`, with which triangle it is, for `cho_solve`.

    Differs from SciPy: the factor's other triangle is zero; matrices that are not
    positive definite give NaN and no error; `overwrite_a` and `check_finite` have no
    effect.

    Args:
      a: Hermitian, positive definite matrices [..., n, n].
      lower: which triangle the factor fills.
      overwrite_a, check_finite: not used; they are SciPy's.

    Returns:
      The factor [..., n, n] and `lower`.

    Raises:
      ValueError: the matrices are not square.

    Source: SciPy, `scipy.linalg.cho_factor`.

    Example:
      >>> import numpy as np
      >>> from olympus.scipy import linalg
      >>> factor = linalg.cho_factor(np.diag(np.array([4.0, 9.0], "float32")))
      >>> print(linalg.cho_solve(factor, np.array([8.0, 9.0], "float32")))
      [2. 1.]
    """
    return cholesky(a, lower, overwrite_a, check_finite), lower


@direct("cho_solve", 0)
def cho_solve(
    c_and_lower: tuple[ArrayLike, bool],
    b: ArrayLike,
    overwrite_b: bool = False,
    check_finite: bool = True,
) -> Array:
    """The x with `a x = b`, by the factor of `a`.

    Differs from SciPy: NaN and infinity spread to the result and are not refused:
    `overwrite_b` and `check_finite` have no effect.

    Args:
      c_and_lower: the result of `cho_factor`.
      b: a vector [n], or matrices [..., n, k].
      overwrite_b, check_finite: not used; they are SciPy's.

    Returns:
      An array of the shape of `b`, its leading axes broadcast with those of the factor.

    Raises:
      ValueError: shapes do not agree.

    Source: SciPy, `scipy.linalg.cho_solve`; see `cho_factor`.

    Example:
      >>> from olympus.scipy import linalg
      >>> linalg.cho_solve(linalg.cho_factor(jnp.array([[4.0]])), jnp.array([8.0]))
      Array([2.], dtype=float32)
    """
    del overwrite_b, check_finite
    c, lower = c_and_lower
    c, b = checks.as_arrays("cho_solve", c, b)
    checks.check_square("cho_solve", "c", c)
    return _cho_solve(c, b, lower=bool(lower))


@promotion.program(2, name="cho_solve")
def _cho_solve(c: Any, b: Any, *, lower: bool) -> Any:
    c, b = promotion.promote_inexact(c, b)
    c, b, is_vector = checks.as_columns("cho_solve", c, b)

    def solved(b: Any, adjoint: bool) -> Any:
        return triangular.triangular_solve(
            c,
            b,
            left_side=True,
            lower=lower,
            transpose_a=adjoint,
            conjugate_a=adjoint,
        )

    out = solved(solved(b, not lower), lower)
    return out[..., 0] if is_vector else out


# -- LU --------------------------------------------------------------------------------


@direct("lu_factor")
def lu_factor(
    a: ArrayLike, overwrite_a: bool = False, check_finite: bool = True
) -> tuple[Array, Array]:
    """The LU factorization with exchanges of rows, packed for `lu_solve`.

    Differs from SciPy: singular matrices give no warning, and NaN are not refused:
    `overwrite_a` and `check_finite` have no effect.

    Args:
      a: matrices [..., m, n].
      overwrite_a, check_finite: not used; they are SciPy's.

    Returns:
      One array [..., m, n] of U and, below its diagonal, L without its ones; and the
      row [..., min(m, n)] that each was exchanged with.

    Raises:
      ValueError: `a` has fewer than two axes.

    Source: SciPy, `scipy.linalg.lu_factor`.

    Example:
      >>> import numpy as np
      >>> from olympus.scipy import linalg
      >>> factors = linalg.lu_factor(np.array([[0.0, 2.0], [4.0, 0.0]], "float32"))
      >>> print(factors[1], linalg.lu_solve(factors, np.array([2.0, 4.0], "float32")))
      [1 1] [1. 1.]
    """
    del overwrite_a, check_finite
    (a,) = checks.as_arrays("lu_factor", a)
    return _lu_factor(a)


@promotion.program(1, name="lu_factor")
def _lu_factor(a: Any) -> Any:
    (a,) = promotion.promote_inexact(a)
    packed, pivots, _ = lu_decomposition.lu(a)
    return packed, pivots


def lu_solve(
    lu_and_piv: tuple[ArrayLike, ArrayLike],
    b: ArrayLike,
    trans: int = 0,
    overwrite_b: bool = False,
    check_finite: bool = True,
) -> Array:
    """The x with `a x = b`, by the factors of `a`.

    Differs from SciPy: NaN and infinity spread to the result and are not refused:
    `overwrite_b` and `check_finite` have no effect.

    Args:
      lu_and_piv: the result of `lu_factor`.
      b: a vector [n], or matrices [..., n, k].
      trans: 0 for `a`, 1 for its transpose, 2 for its adjoint.
      overwrite_b, check_finite: not used; they are SciPy's.

    Returns:
      An array of the shape of `b`, leading axes broadcast with those of the factors.

    Raises:
      ValueError: shapes do not agree, or `trans` has another value.

    Source: SciPy, `scipy.linalg.lu_solve`; see `lu_factor`.

    Example:
      >>> from olympus.scipy import linalg
      >>> linalg.lu_solve(linalg.lu_factor(jnp.array([[4.0]])), jnp.array([8.0]))
      Array([2.], dtype=float32)
    """
    del overwrite_b, check_finite
    packed, pivots = lu_and_piv
    packed, pivots, b = checks.as_arrays("lu_solve", packed, pivots, b)
    checks.check_square("lu_solve", "lu", packed)
    checks.one_of("lu_solve", "'trans' value", trans, (0, 1, 2))
    return _lu_solve(packed, pivots, b, trans=int(trans))


@promotion.program(3, name="lu_solve")
def _lu_solve(packed: Any, pivots: Any, b: Any, *, trans: int) -> Any:
    packed, b = promotion.promote_inexact(packed, b)
    n = aval_of(packed).shape[-1]
    order = lu_decomposition.lu_pivots_to_permutation(pivots, n)
    packed, b, is_vector = checks.as_columns("lu_solve", packed, b)
    order = promotion.broadcast_to_shape(order, aval_of(packed).shape[:-1])

    def solved(b: Any, lower: bool) -> Any:
        return triangular.triangular_solve(
            packed,
            b,
            left_side=True,
            lower=lower,
            unit_diagonal=lower,
            transpose_a=trans > 0,
            conjugate_a=trans == 2,
        )

    if trans == 0:
        out = solved(solved(matrices.take_rows(b, order), True), False)
    else:
        back = sorting.argsort(order, axis=-1)
        out = matrices.take_rows(solved(solved(b, False), True), back)
    return out[..., 0] if is_vector else out


@direct("lu")
def lu(
    a: ArrayLike,
    permute_l: bool = False,
    overwrite_a: bool = False,
    check_finite: bool = True,
) -> tuple[Array, ...]:
    """The LU factorization with exchanges of rows, `a = P L U`.

    Differs from SciPy: rows are exchanged by a matrix: there is no `p_indices`;
    `overwrite_a` and `check_finite` have no effect.

    Args:
      a: matrices [..., m, n].
      permute_l: return `P L` as one matrix.
      overwrite_a, check_finite: not used; they are SciPy's.

    Returns:
      P [..., m, m], L [..., m, k] and U [..., k, n] with k = min(m, n); or two of them.

    Raises:
      ValueError: `a` has fewer than two axes.

    Source: SciPy, `scipy.linalg.lu`.

    Example:
      >>> import numpy as np
      >>> from olympus.scipy import linalg
      >>> a = np.array([[0.0, 2.0], [4.0, 1.0]], "float32")
      >>> p, l, u = linalg.lu(a)
      >>> bool((p @ l @ u == a).all())
      True
    """
    del overwrite_a, check_finite
    (a,) = checks.as_arrays("lu", a)
    return _lu(a, permute_l=bool(permute_l))


@promotion.program(1, name="lu")
def _lu(a: Any, *, permute_l: bool) -> Any:
    (a,) = promotion.promote_inexact(a)
    packed, _, order = lu_decomposition.lu(a)
    m, n = aval_of(a).shape[-2:]
    k = min(m, n)
    left = matrices.lower_triangle(packed[..., :k], -1)
    left = left + creation.eye(m, k, dtype=aval_of(a).dtype)
    right = matrices.upper_triangle(packed[..., :k, :])
    # Row i of `P x` is the row of x that ended up there.
    places = np.arange(m, dtype=np.int32)
    p = (order[..., None, :] == places[:, None]).astype(
        matrices.real_dtype(aval_of(a).dtype)
    )
    if permute_l:
        return matmul(p.astype(aval_of(a).dtype), left), right
    return p, left, right


# -- QR, singular values, eigenvalues --------------------------------------------------


@direct("qr")
def qr(
    a: ArrayLike,
    overwrite_a: bool = False,
    lwork: int | None = None,
    mode: str = "full",
    pivoting: bool = False,
    check_finite: bool = True,
) -> tuple[Array, ...]:
    """The QR factorization: Q with orthonormal columns, R upper triangular.

    Differs from SciPy: there is no mode "raw"; `overwrite_a`, `lwork` and
    `check_finite` have no effect.

    Args:
      a: matrices [..., m, n].
      mode: "full": Q is square; "economic": Q has min(m, n) columns; "r": R alone.
      pivoting: exchange columns, so that the magnitudes on the diagonal of R decrease.
      overwrite_a, lwork, check_finite: not used; they are SciPy's.

    Returns:
      A tuple of Q, except for the mode "r", of R, and with `pivoting` of the columns'
      order [..., n]: `a[:, order] = Q R`.

    Raises:
      ValueError: there is no such mode, or `a` has fewer than two axes.

    Source: SciPy, `scipy.linalg.qr`.

    Example:
      >>> import numpy as np
      >>> from olympus.scipy import linalg
      >>> q, r = linalg.qr(np.ones((3, 2), "float32"), mode="economic")
      >>> q.shape, r.shape
      ((3, 2), (2, 2))
    """
    del overwrite_a, lwork, check_finite
    (a,) = checks.as_arrays("qr", a)
    if mode not in ("full", "economic", "r"):
        raise ValueError(
            f"scipy.linalg.qr: Unsupported QR decomposition mode {mode!r}; take "
            "'full', 'economic' or 'r'"
        )
    return tuple(_qr(a, mode=mode, pivoting=bool(pivoting)))


@promotion.program(1, name="qr")
def _qr(a: Any, *, mode: str, pivoting: bool) -> Any:
    (a,) = promotion.promote_inexact(a)
    factors = qr_decomposition.qr(
        a, pivoting=pivoting, full_matrices=mode != "economic"
    )
    return tuple(factors[1:] if mode == "r" else factors)


def qr_multiply(
    a: ArrayLike,
    c: ArrayLike,
    mode: str = "right",
    pivoting: bool = False,
    conjugate: bool = False,
    overwrite_a: bool = False,
    overwrite_c: bool = False,
) -> tuple[Array, ...]:
    """The QR factorization of `a`, and the product of Q and a matrix.

    Differs from SciPy: `overwrite_a` and `overwrite_c` have no effect.

    Args:
      a: matrices [..., m, n], of which Q has k = min(m, n) columns.
      c: matrices [..., j, m] for the mode "right", [..., k, j] for "left"; or a vector.
      mode: "right" for `c Q`, "left" for `Q c`.
      pivoting: exchange columns of `a`.
      conjugate: take the conjugate of Q.
      overwrite_a, overwrite_c: not used; they are SciPy's.

    Returns:
      A tuple of the product, R, and with `pivoting` the columns' order.

    Raises:
      ValueError: shapes do not agree, or there is no such mode.

    Source: SciPy, `scipy.linalg.qr_multiply`.

    Example:
      >>> import numpy as np
      >>> from olympus.scipy import linalg
      >>> a = np.array([[2.0, 1.0], [0.0, 3.0], [0.0, 0.0]], "float32")
      >>> linalg.qr_multiply(a, np.ones((4, 3), "float32"))[0].shape
      (4, 2)
    """
    del overwrite_a, overwrite_c
    a, c = checks.as_arrays("qr_multiply", a, c)
    if mode not in ("right", "left"):
        raise ValueError(
            f"scipy.linalg.qr_multiply: mode must be 'right' or 'left', got {mode!r}"
        )
    out = _qr_multiply(
        a, c, mode=mode, pivoting=bool(pivoting), conjugate=bool(conjugate)
    )
    return tuple(out)


@promotion.program(2, name="qr_multiply")
def _qr_multiply(a: Any, c: Any, *, mode: str, pivoting: bool, conjugate: bool) -> Any:
    a, c = promotion.promote_inexact(a, c)
    q, *others = qr_decomposition.qr(a, pivoting=pivoting, full_matrices=False)
    q = matrices.conjugate_if_complex(q) if conjugate else q
    is_vector = aval_of(c).ndim == 1
    right = mode == "right"
    if is_vector:
        c = c[None, :] if right else c[:, None]
    rows, columns = aval_of(q).shape[-2:]
    if aval_of(c).shape[-1 if right else -2] != (rows if right else columns):
        product = "c @ Q" if right else "Q @ c"
        raise ValueError(
            "scipy.linalg.qr_multiply: Array shapes are not compatible for "
            f"{product} operation: Q is {aval_of(q).short()}, c is {aval_of(c).short()}"
        )
    c, q = checks.spread("qr_multiply", c, q)
    out = matmul(c, q) if right else matmul(q, c)
    if is_vector:
        out = out[..., 0, :] if right else out[..., 0]
    return (out, *others)


@overload
def svd(
    a: ArrayLike,
    full_matrices: bool = ...,
    compute_uv: Literal[True] = ...,
    overwrite_a: bool = ...,
    check_finite: bool = ...,
    lapack_driver: str = ...,
) -> tuple[Array, Array, Array]: ...
@overload
def svd(
    a: ArrayLike,
    full_matrices: bool = ...,
    *,
    compute_uv: Literal[False],
    overwrite_a: bool = ...,
    check_finite: bool = ...,
    lapack_driver: str = ...,
) -> Array: ...
@overload
def svd(
    a: ArrayLike,
    full_matrices: bool = ...,
    compute_uv: bool = ...,
    overwrite_a: bool = ...,
    check_finite: bool = ...,
    lapack_driver: str = ...,
) -> Array | tuple[Array, Array, Array]: ...
@direct("svd")
def svd(
    a: ArrayLike,
    full_matrices: bool = True,
    compute_uv: bool = True,
    overwrite_a: bool = False,
    check_finite: bool = True,
    lapack_driver: str = "gesdd",
) -> Array | tuple[Array, Array, Array]:
    """The singular value decomposition, `a = U diag(s) Vh`.

    Differs from SciPy: where SciPy raises, for NaN, the results are NaN; the platform
    chooses the algorithm: `lapack_driver`, `overwrite_a` and `check_finite` have no
    effect.

    Args:
      a: matrices [..., m, n].
      full_matrices: whether U and Vh are square.
      compute_uv: whether to compute U and Vh.
      overwrite_a, check_finite, lapack_driver: not used; they are SciPy's.

    Returns:
      U, s [..., min(m, n)], descending, and Vh; or s alone.

    Raises:
      ValueError: `a` has fewer than two axes.

    Source: SciPy, `scipy.linalg.svd`.

    Example:
      >>> import numpy as np
      >>> from olympus.scipy import linalg
      >>> a = np.array([[0.0, 3.0], [4.0, 0.0]], "float32")
      >>> print(linalg.svd(a, compute_uv=False))
      [4. 3.]
    """
    del overwrite_a, check_finite, lapack_driver
    (a,) = checks.as_arrays("svd", a)
    if not compute_uv:
        return decompositions.svd(a, full_matrices, compute_uv=False)
    u, s, vh = decompositions.svd(a, full_matrices)
    return u, s, vh


@overload
def eigh(
    a: ArrayLike,
    b: OptionalArray = ...,
    lower: bool = ...,
    eigvals_only: Literal[False] = ...,
    overwrite_a: bool = ...,
    overwrite_b: bool = ...,
    turbo: bool = ...,
    eigvals: None = ...,
    type: int = ...,
    check_finite: bool = ...,
) -> tuple[Array, Array]: ...
@overload
def eigh(
    a: ArrayLike,
    b: OptionalArray = ...,
    lower: bool = ...,
    *,
    eigvals_only: Literal[True],
    overwrite_a: bool = ...,
    overwrite_b: bool = ...,
    turbo: bool = ...,
    eigvals: None = ...,
    type: int = ...,
    check_finite: bool = ...,
) -> Array: ...
@overload
def eigh(
    a: ArrayLike,
    b: OptionalArray = ...,
    lower: bool = ...,
    eigvals_only: bool = ...,
    overwrite_a: bool = ...,
    overwrite_b: bool = ...,
    turbo: bool = ...,
    eigvals: None = ...,
    type: int = ...,
    check_finite: bool = ...,
) -> tuple[Array, Array] | Array: ...
@direct("eigh")
def eigh(
    a: ArrayLike,
    b: OptionalArray = None,
    lower: bool = True,
    eigvals_only: bool = False,
    overwrite_a: bool = False,
    overwrite_b: bool = False,
    turbo: bool = True,
    eigvals: None = None,
    type: int = 1,
    check_finite: bool = True,
) -> Array | tuple[Array, Array]:
    """Eigenvalues and eigenvectors of Hermitian matrices, or of pairs of them.

    Differs from SciPy: both triangles are read, as `(a + a^H) / 2`, whatever `lower`
    is; there is no choice of some eigenvalues (`subset_by_index`, `subset_by_value`) or
    of a driver; NaN, and `b` that is not positive definite, give NaN and no error.

    Args:
      a: Hermitian matrices [..., n, n].
      b: Hermitian, positive definite matrices [..., n, n], or None for the identity.
      lower: has no effect.
      eigvals_only: whether vectors are left out.
      eigvals: None; all are computed.
      type: which problem pairs of matrices pose: 1 for `a v = w b v`, 2 for
        `a b v = w v`, 3 for `b a v = w v`.
      overwrite_a, overwrite_b, turbo, check_finite: not used; they are SciPy's.

    Returns:
      Eigenvalues [..., n], ascending, and eigenvectors in columns; or values alone.
      With `b`, vectors `v` have `v^H b v = 1`, those of type 3 `v^H b^-1 v = 1`.

    Raises:
      NotImplementedError: `eigvals` is not None.
      ValueError: the matrices are not square, or there is no such type.

    Source: SciPy, `scipy.linalg.eigh`.

    Example:
      >>> import numpy as np
      >>> from olympus.scipy import linalg
      >>> a = np.array([[2.0, 1.0], [1.0, 2.0]], "float32")
      >>> print(linalg.eigh(a, eigvals_only=True))
      [1. 3.]
    """
    del overwrite_a, overwrite_b, turbo, check_finite
    if eigvals is not None:
        raise NotImplementedError(
            "scipy.linalg.eigh: Only the eigvals=None case of eigh is implemented, got "
            f"{eigvals!r}; leave it out"
        )
    if b is not None:
        return _eigh_of_pairs(a, b, type, eigvals_only)
    (a,) = checks.as_arrays("eigh", a)
    eigenpairs = decompositions.eigh(a, "L" if lower else "U")
    values, vectors = eigenpairs
    return values if eigvals_only else (values, vectors)


def _eigh_of_pairs(a: Any, b: Any, type: int, eigvals_only: bool) -> Any:
    a, b = checks.as_arrays("eigh", a, b)
    checks.check_square("eigh", "a", a)
    checks.check_square("eigh", "b", b)
    checks.one_of("eigh", "type", type, (1, 2, 3))
    if aval_of(a).shape[-1] != aval_of(b).shape[-1]:
        raise ValueError(
            "scipy.linalg.eigh: a and b must be of one size, got "
            f"{aval_of(a).short()} and {aval_of(b).short()}"
        )
    values, vectors = _eigh_program(a, b, type=int(type))
    return values if eigvals_only else (values, vectors)


@promotion.program(2, name="eigh")
def _eigh_program(a: Any, b: Any, *, type: int) -> Any:
    """By Cholesky's factor of `b`, as a problem of one matrix."""
    a, b = promotion.promote_inexact(a, b)
    a, b = checks.spread("eigh", a, b)
    a = matrices.hermitian_part(a)
    factor = cholesky_decomposition.cholesky(b)

    def without_factor(x: Any) -> Any:  # L^-H x
        return triangular.triangular_solve(
            factor, x, left_side=True, lower=True, transpose_a=True, conjugate_a=True
        )

    if type == 1:  # L^-1 a L^-H
        one = matmul(a, without_factor(matrices.identity_like(a)))
        one = triangular.triangular_solve(factor, one, left_side=True, lower=True)
    else:
        one = matmul(matmul(matrices.adjoint(factor), a), factor)
    vectors, values = hermitian_eigenvectors.eigh(one)
    vectors = matmul(factor, vectors) if type == 3 else without_factor(vectors)
    return values, vectors


@direct("inv")
def inv(a: ArrayLike, overwrite_a: bool = False, check_finite: bool = True) -> Array:
    """The inverses of matrices.

    Differs from SciPy: singular matrices give inf or NaN and no error; there is no
    `assume_a` and no `lower`; `overwrite_a` and `check_finite` have no effect.

    Args:
      a: square matrices [..., n, n].
      overwrite_a, check_finite: not used; they are SciPy's.

    Raises:
      ValueError: the matrices are not square.

    Source: SciPy, `scipy.linalg.inv`.

    Example:
      >>> import numpy as np
      >>> from olympus.scipy import linalg
      >>> print(linalg.inv(np.diag(np.array([2.0, 4.0], "float32"))))
      [[0.5  0.  ]
       [0.   0.25]]
    """
    del overwrite_a, check_finite
    (a,) = checks.as_arrays("inv", a)
    return linear_systems.inv(a)


def det(a: ArrayLike, overwrite_a: bool = False, check_finite: bool = True) -> Array:
    """The determinants of matrices.

    Differs from SciPy: integers are computed in float32 unless 64-bit dtypes are
    switched on; `overwrite_a` and `check_finite` have no effect.

    Args:
      a: square matrices [..., n, n].
      overwrite_a, check_finite: not used; they are SciPy's.

    Raises:
      ValueError: the matrices are not square.

    Source: SciPy, `scipy.linalg.det`.

    Example:
      >>> import numpy as np
      >>> from olympus.scipy import linalg
      >>> print(linalg.det(np.diag(np.array([2.0, 4.0], "float32"))))
      8.0
    """
    del overwrite_a, check_finite
    (a,) = checks.as_arrays("det", a)
    return linear_systems.det(a)


# -- systems ---------------------------------------------------------------------------


@direct("solve", 2)
def solve(
    a: ArrayLike,
    b: ArrayLike,
    lower: bool = False,
    overwrite_a: bool = False,
    overwrite_b: bool = False,
    debug: bool = False,
    check_finite: bool = True,
    assume_a: str = "gen",
) -> Array:
    """The x with `a x = b`.

    Differs from SciPy: singular matrices give inf or NaN, with no error and no warning;
    there is no `transposed`; `assume_a` does not know diagonal, banded or triangular
    matrices, and the promise is not checked.

    Args:
      a: square matrices [..., n, n].
      b: a vector [n], or matrices [..., n, k].
      lower: which triangle the factor fills where `assume_a` is "pos".
      assume_a: what is promised of `a`: "gen", nothing; "sym"; "her"; "pos", that it is
        positive definite, which costs half.
      overwrite_a, overwrite_b, debug, check_finite: not used; they are SciPy's.

    Raises:
      ValueError: shapes do not agree, or `assume_a` has another value.

    Source: SciPy, `scipy.linalg.solve`.

    Example:
      >>> import numpy as np
      >>> from olympus.scipy import linalg
      >>> a = np.array([[4.0, 2.0], [2.0, 5.0]], "float32")
      >>> print(linalg.solve(a, np.array([8.0, 12.0], "float32"), assume_a="pos"))
      [1. 2.]
    """
    del overwrite_a, overwrite_b, debug, check_finite
    a, b = checks.as_arrays("solve", a, b)
    checks.check_square("solve", "a", a)
    checks.one_of("solve", "assume_a", assume_a, ("gen", "sym", "her", "pos"))
    if assume_a == "pos":
        return _solve_positive(a, b, lower=bool(lower))
    return linear_systems.solve(a, b)


@promotion.program(2, name="solve")
def _solve_positive(a: Any, b: Any, *, lower: bool) -> Any:
    a, b = promotion.promote_inexact(a, b)
    return _cho_solve(_cholesky(a, lower=lower), b, lower=lower)


_TRANSPOSES = {0: 0, "N": 0, 1: 1, "T": 1, 2: 2, "C": 2}


@direct("solve_triangular", 2)
def solve_triangular(
    a: ArrayLike,
    b: ArrayLike,
    trans: int | str = 0,
    lower: bool = False,
    unit_diagonal: bool = False,
    overwrite_b: bool = False,
    debug: bool | None = None,
    check_finite: bool = True,
) -> Array:
    """The x with `a x = b`, for triangular matrices.

    Differs from SciPy: a zero on the diagonal gives inf or NaN and no error;
    `overwrite_b` and `check_finite` have no effect.

    Args:
      a: matrices [..., n, n], of which one triangle is read.
      b: a vector [n], or matrices [..., n, k].
      trans: 0 or "N" for `a`, 1 or "T" for its transpose, 2 or "C" for its adjoint.
      lower: which triangle is read.
      unit_diagonal: take 1 for each element of the diagonal.
      overwrite_b, debug, check_finite: not used; they are SciPy's.

    Raises:
      ValueError: shapes do not agree, or `trans` has another value.

    Source: SciPy, `scipy.linalg.solve_triangular`.

    Example:
      >>> import numpy as np
      >>> from olympus.scipy import linalg
      >>> a = np.array([[2.0, 1.0], [0.0, 4.0]], "float32")
      >>> print(linalg.solve_triangular(a, np.array([5.0, 4.0], "float32")))
      [2. 1.]
    """
    del overwrite_b, debug, check_finite
    a, b = checks.as_arrays("solve_triangular", a, b)
    checks.check_square("solve_triangular", "a", a)
    if trans not in _TRANSPOSES:
        raise ValueError(
            f"scipy.linalg.solve_triangular: Invalid 'trans' value {trans!r}; take 0, "
            "1, 2, 'N', 'T' or 'C'"
        )
    return _solve_triangular(
        a,
        b,
        trans=_TRANSPOSES[trans],
        lower=bool(lower),
        unit_diagonal=bool(unit_diagonal),
    )


@promotion.program(2, name="solve_triangular")
def _solve_triangular(
    a: Any, b: Any, *, trans: int, lower: bool, unit_diagonal: bool
) -> Any:
    a, b = promotion.promote_inexact(a, b)
    a, b, is_vector = checks.as_columns("solve_triangular", a, b)
    out = triangular.triangular_solve(
        a,
        b,
        left_side=True,
        lower=lower,
        unit_diagonal=unit_diagonal,
        transpose_a=trans > 0,
        conjugate_a=trans == 2,
    )
    return out[..., 0] if is_vector else out
