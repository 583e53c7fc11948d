"""Decompositions of matrices by NumPy's names, and what singular values give."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, NamedTuple, overload

import numpy as np

from olympus._src import tree
from olympus._src.core import dtypes
from olympus._src.core.array_type import Array, ArrayLike, Matrices, OptionalArray
from olympus._src.interpreters.direct_calls import direct
from olympus._src.lax import elementwise as lax
from olympus._src.lax.linalg import (
    cholesky_decomposition,
    eigenvectors,
    hermitian_eigenvectors,
    matrices,
    qr_decomposition,
    singular_values,
)
from olympus._src.numpy import (
    index_routines,
    logic,
    manipulation,
    promotion,
    reductions,
    selection,
    sorting,
)
from olympus._src.numpy.promotion import aval_of, check_arraylike


@tree.returned_by("olympus.numpy.linalg.eig")
class EigResult(NamedTuple):
    """Eigenvalues, and eigenvectors as columns."""

    eigenvalues: Array
    eigenvectors: Array


@tree.returned_by("olympus.numpy.linalg.eigh")
class EighResult(NamedTuple):
    """Eigenvalues, and eigenvectors as columns."""

    eigenvalues: Array
    eigenvectors: Array


@tree.returned_by("olympus.numpy.linalg.qr")
class QRResult(NamedTuple):
    """Q with orthonormal columns and R upper triangular."""

    Q: Array
    R: Array


@tree.returned_by("olympus.numpy.linalg.svd")
class SVDResult(NamedTuple):
    """Left singular vectors, singular values, right singular vectors as rows."""

    U: Array
    S: Array
    Vh: Array


def _matrix_cure(name: str, aval: Any) -> str:
    if aval.ndim < 2:
        return "add the axes with reshape"
    others = {"solve": "lstsq", "inv": "pinv", "eig": "svd", "eigh": "svd"}
    if name in others:
        return f"for others there is linalg.{others[name]}"
    return "take a square part of it"


def check_matrices(name: str, x: Any, *, square: bool = False) -> None:
    """Raises ValueError unless `x` holds (square) matrices."""
    aval = aval_of(x)
    if aval.ndim < 2 or (square and aval.shape[-1] != aval.shape[-2]):
        kind = "square matrices [..., n, n]" if square else "matrices [..., m, n]"
        raise ValueError(
            f"numpy.linalg.{name}: the argument must hold {kind}, got {aval.short()}; "
            f"{_matrix_cure(name, aval)}"
        )


# -- Cholesky and QR -------------------------------------------------------------------


@direct("cholesky")
def cholesky(
    a: Matrices, *, upper: bool = False, symmetrize_input: bool = True
) -> Array:
    """The triangular factor of positive definite matrices.

    Differs from NumPy: both triangles are read, as `(a + a^H) / 2`, unless
    `symmetrize_input` is off; matrices that are not positive definite give NaN and no
    error.

    Args:
      a: Hermitian, positive definite matrices [..., n, n].
      upper: return R with `a = R^H R`; otherwise L with `a = L L^H`.
      symmetrize_input: take `(a + a^H) / 2`; otherwise only one triangle is read: the
        upper one where `upper` is on.

    Returns:
      Matrices [..., n, n]; NaN where `a` is not positive definite.

    Raises:
      ValueError: the matrices are not square.

    Source: NumPy, `numpy.linalg.cholesky`.

    Example:
      >>> from olympus import numpy as jnp
      >>> print(jnp.linalg.cholesky(jnp.array([[4.0, 2.0], [2.0, 5.0]])))
      [[2. 0.]
       [1. 2.]]
    """
    check_arraylike("linalg.cholesky", a)
    check_matrices("cholesky", a, square=True)
    return _cholesky(a, upper=bool(upper), symmetrize=bool(symmetrize_input))


@promotion.program(1, name="cholesky")
def _cholesky(a: Any, *, upper: bool, symmetrize: bool) -> Any:
    (a,) = promotion.promote_inexact(a)
    factor = cholesky_decomposition.cholesky(
        matrices.adjoint(a) if upper else a, symmetrize_input=symmetrize
    )
    return matrices.adjoint(factor) if upper else factor


@overload
def qr(a: Matrices, mode: Literal["r"]) -> Array: ...
@overload
def qr(
    a: Matrices, mode: Literal["reduced", "complete", "full", "raw"] = ...
) -> QRResult: ...
@overload
def qr(a: Matrices, mode: str = ...) -> Array | QRResult: ...
@direct("qr")
def qr(a: Matrices, mode: str = "reduced") -> Array | QRResult:
    """The QR factorization: Q with orthonormal columns, R upper triangular.

    Differs from NumPy: "full" is another name of "reduced", and there is no "economic".

    Args:
      a: matrices [..., m, n].
      mode: "reduced" (or "full", its older name): Q has min(m, n) columns; "complete":
        Q is square; "r": R alone; "raw": LAPACK's reflections, transposed, and their
        scales.

    Returns:
      `QRResult` of Q and R; or R alone.

    Raises:
      ValueError: `a` has fewer than two axes, or there is no such mode.

    Source: NumPy, `numpy.linalg.qr`.

    Example:
      >>> from olympus import numpy as jnp
      >>> q, r = jnp.linalg.qr(jnp.array([[3.0, 1.0], [4.0, 2.0]]))
      >>> bool(jnp.allclose(q.T @ q, jnp.eye(2), atol=1e-6))
      True
    """
    check_arraylike("linalg.qr", a)
    check_matrices("qr", a)
    if mode not in ("reduced", "complete", "r", "raw", "full"):
        raise ValueError(
            f"numpy.linalg.qr: Unsupported QR decomposition mode {mode!r}; take "
            "'reduced', 'complete', 'r' or 'raw'"
        )
    factors = _qr(a, mode=mode)
    return factors if mode == "r" else QRResult(*factors)


@promotion.program(1, name="qr")
def _qr(a: Any, *, mode: str) -> Any:
    (a,) = promotion.promote_inexact(a)
    if mode == "raw":
        packed, scales = qr_decomposition.geqrf(a)
        return matrices.transpose_matrices(packed), scales
    q, r = qr_decomposition.qr(a, full_matrices=mode == "complete")
    return r if mode == "r" else (q, r)


# -- singular values -------------------------------------------------------------------


@overload
def svd(
    a: Matrices,
    full_matrices: bool = ...,
    compute_uv: Literal[True] = ...,
    hermitian: bool = ...,
    subset_by_index: Sequence[int] | None = ...,
) -> SVDResult: ...
@overload
def svd(
    a: Matrices,
    full_matrices: bool = ...,
    *,
    compute_uv: Literal[False],
    hermitian: bool = ...,
    subset_by_index: Sequence[int] | None = ...,
) -> Array: ...
@overload
def svd(
    a: Matrices,
    full_matrices: bool = ...,
    compute_uv: bool = ...,
    hermitian: bool = ...,
    subset_by_index: Sequence[int] | None = ...,
) -> Array | SVDResult: ...
@direct("svd")
def svd(
    a: Matrices,
    full_matrices: bool = True,
    compute_uv: bool = True,
    hermitian: bool = False,
    subset_by_index: Sequence[int] | None = None,
) -> Array | SVDResult:
    """The singular value decomposition, `a = U diag(S) Vh`.

    Differs from NumPy: NaN elements give NaN and no error.

    Args:
      a: matrices [..., m, n].
      full_matrices: whether U and Vh are square; otherwise they have min(m, n) columns
        and rows.
      compute_uv: whether to compute U and Vh.
      hermitian: promises that `a` is Hermitian, which costs less.
      subset_by_index: a range of singular values, which no platform offers so far.

    Returns:
      `SVDResult` of U, S and Vh; or S [..., min(m, n)] alone, descending.

    Raises:
      ValueError: `a` has fewer than two axes.
      NotImplementedError: a part of the values is requested.

    Source: NumPy, `numpy.linalg.svd`.

    Example:
      >>> from olympus import numpy as jnp
      >>> print(jnp.linalg.svd(jnp.array([[0.0, 3.0], [4.0, 0.0]])).S)
      [4. 3.]
    """
    check_arraylike("linalg.svd", a)
    check_matrices("svd", a, square=hermitian)
    factors = _svd(
        a,
        full=bool(full_matrices),
        compute_uv=bool(compute_uv),
        hermitian=bool(hermitian),
        subset=matrices.index_range(subset_by_index),
    )
    return SVDResult(*factors) if compute_uv else factors


@promotion.program(1, name="svd")
def _svd(a: Any, *, full: bool, compute_uv: bool, hermitian: bool, subset: Any) -> Any:
    (a,) = promotion.promote_inexact(a)
    if not hermitian:
        return singular_values.svd(
            a, full_matrices=full, compute_uv=compute_uv, subset_by_index=subset
        )
    if subset is not None:
        raise NotImplementedError(
            "numpy.linalg.svd: subset_by_index must be None where hermitian is on, got "
            f"{subset}; slice the results"
        )
    # Singular values are sizes of eigenvalues, in their own order.
    vectors, values = hermitian_eigenvectors.eigh(a)
    size = lax.abs_(values)
    order = sorting.argsort(size, axis=-1, descending=True)
    sorted_size = index_routines.take_along_axis(size, order, -1)
    if not compute_uv:
        return sorted_size
    negative = lax.lt(values, np.zeros((), size.dtype)[()])
    signs = selection.where(negative, -1, 1).astype(size.dtype)
    u = index_routines.take_along_axis(vectors, order[..., None, :], -1)
    flipped = index_routines.take_along_axis(signs, order, -1)[..., None, :]
    v = u * lax.convert(flipped, aval_of(u).dtype)
    return u, sorted_size, matrices.adjoint(v)


@direct("svd")
def svdvals(x: Matrices, /) -> Array:
    """The singular values of matrices, descending.

    Differs from NumPy: NaN elements give NaN and no error.

    Args:
      x: matrices [..., m, n].

    Returns:
      An array [..., min(m, n)].

    Raises:
      ValueError: `x` has fewer than two axes.

    Source: NumPy, `numpy.linalg.svdvals`.

    Example:
      >>> from olympus import numpy as jnp
      >>> print(jnp.linalg.svdvals(jnp.array([[0.0, 3.0], [4.0, 0.0]])))
      [4. 3.]
    """
    return svd(x, full_matrices=False, compute_uv=False)


@direct("matrix_rank")
def matrix_rank(
    M: ArrayLike,
    rtol: OptionalArray = None,
    *,
    hermitian: bool = False,
    tol: OptionalArray = None,
) -> Array:
    """How many singular values are not negligible.

    Args:
      M: matrices [..., m, n]; of an array of fewer axes, whether any element is not
        zero.
      rtol: what is negligible, in proportion to the largest singular value; by default
        max(m, n) times the dtype's spacing at 1.
      hermitian: promises that `M` is Hermitian, which costs less.
      tol: what is negligible, as a number.

    Returns:
      Integers [...].

    Raises:
      ValueError: `rtol` and `tol` are both given.

    Source: NumPy, `numpy.linalg.matrix_rank`.

    Example:
      >>> from olympus import numpy as jnp
      >>> print(jnp.linalg.matrix_rank(jnp.ones((3, 2))))
      1
    """
    check_arraylike("linalg.matrix_rank", M)
    bound = one_of("matrix_rank", rtol=rtol, tol=tol)
    if aval_of(M).ndim < 2:
        return _any_nonzero(M)
    if bound is None:
        return _rank(M, hermitian=bool(hermitian))
    return _rank_by(M, bound, hermitian=bool(hermitian), relative=tol is None)


def one_of(name: str, **names: Any) -> Any:
    """The one argument that is not None, of two names for one thing."""
    arguments = {k: v for k, v in names.items() if v is not None}
    if len(arguments) > 1:
        both = " and ".join(arguments)
        raise ValueError(
            f"numpy.linalg.{name}: only one of {both} may be specified; leave out one"
        )
    return next(iter(arguments.values()), None)


@promotion.program(1, name="matrix_rank")
def _any_nonzero(x: Any) -> Any:
    return lax.convert(
        reductions.any(logic.truth(x)), dtypes.canonicalize_dtype(int), False
    )


@promotion.program(1, name="matrix_rank")
def _rank(x: Any, *, hermitian: bool) -> Any:
    (x,) = promotion.promote_inexact(x)
    values = _svd(x, full=False, compute_uv=False, hermitian=hermitian, subset=None)
    return _count(values, cutoff(values, negligible(x)))


@promotion.program(2, name="matrix_rank")
def _rank_by(x: Any, bound: Any, *, hermitian: bool, relative: bool) -> Any:
    (x,) = promotion.promote_inexact(x)
    values = _svd(x, full=False, compute_uv=False, hermitian=hermitian, subset=None)
    least = cutoff(values, bound) if relative else _align_bound(values, bound)
    return _count(values, least)


def _count(values: Any, least: Any) -> Any:
    return reductions.sum(values > least, axis=-1)


def cutoff(values: Any, rtol: Any) -> Any:
    """`rtol` [...] times the largest of singular values [..., k], as [..., 1]."""
    largest = reductions.max(values, axis=-1, keepdims=True, initial=0)
    return largest * _align_bound(values, rtol)


def _align_bound(values: Any, bound: Any) -> Any:
    """A bound [...] of singular values [..., k], as [..., 1] in their dtype."""
    if aval_of(bound).ndim:
        bound = manipulation.expand_dims(bound, -1)
    return promotion.cast(bound, aval_of(values).dtype, False)


def negligible(x: Any) -> float:
    """max(m, n) times the spacing of the dtype at 1."""
    aval = aval_of(x)
    return max(aval.shape[-2:]) * float(dtypes.finfo(aval.dtype).eps)


# -- eigenvalues -----------------------------------------------------------------------


def _which_triangle(name: str, UPLO: Any) -> bool:
    if UPLO in (None, "L"):
        return True
    if UPLO == "U":
        return False
    raise ValueError(
        f"numpy.linalg.{name}: UPLO must be one of None, 'L', or 'U', got {UPLO!r}"
    )


@direct("eigh")
def eigh(
    a: Matrices, UPLO: str | None = None, symmetrize_input: bool = True
) -> EighResult:
    """Eigenvalues and eigenvectors of Hermitian matrices.

    Differs from NumPy: both triangles are read, as `(a + a^H) / 2`, unless
    `symmetrize_input` is off; NaN gives NaN.

    Args:
      a: Hermitian matrices [..., n, n].
      UPLO: without `symmetrize_input`, which triangle is read, "L" or "U".
      symmetrize_input: take `(a + a^H) / 2`.

    Returns:
      `EighResult` of eigenvalues [..., n], ascending, and eigenvectors [..., n, n], one
      in each column.

    Raises:
      ValueError: the matrices are not square, or UPLO is something else.

    Source: NumPy, `numpy.linalg.eigh`.

    Example:
      >>> from olympus import numpy as jnp
      >>> print(jnp.linalg.eigh(jnp.array([[2.0, 1.0], [1.0, 2.0]])).eigenvalues)
      [1. 3.]
    """
    check_arraylike("linalg.eigh", a)
    check_matrices("eigh", a, square=True)
    lower = _which_triangle("eigh", UPLO)
    return EighResult(*_eigh(a, lower=lower, symmetrize=bool(symmetrize_input)))


@promotion.program(1, name="eigh")
def _eigh(a: Any, *, lower: bool, symmetrize: bool, whole: bool = True) -> Any:
    (a,) = promotion.promote_inexact(a)
    vectors, values = hermitian_eigenvectors.eigh(
        a, lower=lower, symmetrize_input=symmetrize
    )
    return (values, vectors) if whole else values


@direct("eigh")
def eigvalsh(
    a: Matrices, UPLO: str | None = None, *, symmetrize_input: bool = True
) -> Array:
    """The eigenvalues of Hermitian matrices, ascending.

    Differs from NumPy: both triangles are read, as `(a + a^H) / 2`, unless
    `symmetrize_input` is off; NaN gives NaN.

    Args:
      a: Hermitian matrices [..., n, n].
      UPLO: without `symmetrize_input`, which triangle is read, "L" or "U".
      symmetrize_input: take `(a + a^H) / 2`.

    Returns:
      Real numbers [..., n].

    Raises:
      ValueError: the matrices are not square, or UPLO is something else.

    Source: NumPy, `numpy.linalg.eigvalsh`.

    Example:
      >>> from olympus import numpy as jnp
      >>> print(jnp.linalg.eigvalsh(jnp.array([[2.0, 1.0], [1.0, 2.0]])))
      [1. 3.]
    """
    check_arraylike("linalg.eigvalsh", a)
    check_matrices("eigvalsh", a, square=True)
    lower = _which_triangle("eigvalsh", UPLO)
    return _eigh(a, lower=lower, symmetrize=bool(symmetrize_input), whole=False)


def eig(a: Matrices) -> EigResult:
    """Eigenvalues and right eigenvectors of general matrices.

    Differs from NumPy: the results are complex, even where all eigenvalues are real;
    there is no error for NaN.

    Args:
      a: square matrices [..., n, n].

    Returns:
      `EigResult` of eigenvalues [..., n] and eigenvectors [..., n, n], one in each
      column; both complex.

    Raises:
      ValueError: the matrices are not square.

    Source: NumPy, `numpy.linalg.eig`. The vectors have no derivative here: see
    `lax.linalg.eig`.

    Example:
      >>> from olympus import numpy as jnp
      >>> print(jnp.linalg.eig(jnp.array([[0.0, 1.0], [-1.0, 0.0]])).eigenvalues)
      [0.+1.j 0.-1.j]
    """
    check_arraylike("linalg.eig", a)
    check_matrices("eig", a, square=True)
    return EigResult(*_eig(a, vectors=True))


@promotion.program(1, name="eig")
def _eig(a: Any, *, vectors: bool) -> Any:
    (a,) = promotion.promote_inexact(a)
    return tuple(
        eigenvectors.eig(
            a, compute_left_eigenvectors=False, compute_right_eigenvectors=vectors
        )
    )


@direct("eig")
def eigvals(a: Matrices) -> Array:
    """The eigenvalues of general matrices.

    Differs from NumPy: the result is complex, even where all eigenvalues are real;
    there is no error for NaN.

    Args:
      a: square matrices [..., n, n].

    Returns:
      Complex numbers [..., n], in LAPACK's order.

    Raises:
      ValueError: the matrices are not square.

    Source: NumPy, `numpy.linalg.eigvals`.

    Example:
      >>> from olympus import numpy as jnp
      >>> print(jnp.linalg.eigvals(jnp.array([[0.0, 1.0], [-1.0, 0.0]])))
      [0.+1.j 0.-1.j]
    """
    check_arraylike("linalg.eigvals", a)
    check_matrices("eigvals", a, square=True)
    return _eig(a, vectors=False)[0]
