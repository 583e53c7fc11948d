"""Systems of linear equations, inverses and determinants, by NumPy's names."""

from __future__ import annotations

import math
import operator
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from olympus._src import tree
from olympus._src.api.custom_jvp import custom_jvp
from olympus._src.core import dtypes
from olympus._src.core.array_type import Array, ArrayLike, OptionalArray
from olympus._src.interpreters.direct_calls import direct
from olympus._src.lax import elementwise as lax
from olympus._src.lax import shaping
from olympus._src.lax import sizes as sizes_
from olympus._src.lax.linalg import (
    linear_systems,
    lu_decomposition,
    matrices,
    qr_decomposition,
    triangular,
)
from olympus._src.numpy import (
    arg_extremes,
    contractions,
    creation,
    decompositions,
    manipulation,
    promotion,
    reductions,
    selection,
)
from olympus._src.numpy.decompositions import check_matrices
from olympus._src.numpy.promotion import aval_of, check_arraylike

matmul = contractions.matmul

# -- systems ---------------------------------------------------------------------------


@direct("solve", 2)
def solve(a: ArrayLike, b: ArrayLike) -> Array:
    """The x with `a x = b`.

    Differs from NumPy: singular matrices give inf or NaN and no error.

    Args:
      a: square matrices [..., n, n].
      b: one vector [n], or matrices [..., n, m]; leading axes are broadcast.

    Returns:
      An array [..., n], or [..., n, m]; inf or NaN where `a` is singular.

    Raises:
      ValueError: the matrices are not square, or `b` has other sizes.

    Source: NumPy 2, `numpy.linalg.solve`; LU factorization.

    Example:
      >>> from olympus import numpy as jnp
      >>> print(jnp.linalg.solve(jnp.array([[2.0, 0.0], [0.0, 4.0]]), jnp.ones(2)))
      [0.5  0.25]
    """
    check_arraylike("linalg.solve", a, b)
    check_matrices("solve", a, square=True)
    a_aval, b_aval = aval_of(a), aval_of(b)
    if b_aval.ndim == 0 or (
        b_aval.shape[-2 if b_aval.ndim > 1 else 0] != a_aval.shape[-1]
    ):
        raise ValueError(
            "numpy.linalg.solve: b must be one vector, or matrices [..., n, m] with as "
            f"many rows as a, got {a_aval.short()} and {b_aval.short()}; for a vector "
            "for each matrix, use solve(a, b[..., None])[..., 0]"
        )
    return _solve(a, b)


@promotion.program(2, name="solve")
def _solve(a: Any, b: Any) -> Any:
    a, b = promotion.promote_inexact(a, b)
    if aval_of(b).ndim == 1:
        return _solve_broadcast(a, b[:, None])[..., 0]
    return _solve_broadcast(a, b)


def _solve_broadcast(a: Any, b: Any) -> Any:
    many_a, many_b = aval_of(a).shape[:-2], aval_of(b).shape[:-2]
    many = sizes_.broadcast_shapes(many_a, many_b)
    if not many_a and many_b:
        # One matrix for all: leading axes become more right-hand sides.
        moved = manipulation.moveaxis(b, -2, 0)
        flat = linear_systems.solve(a, moved.reshape(moved.shape[0], -1))
        return manipulation.moveaxis(flat.reshape(moved.shape), 0, -2)
    a, b = (manipulation.broadcast_to(x, many + aval_of(x).shape[-2:]) for x in (a, b))
    return linear_systems.solve(a, b)


@direct("inv")
def inv(a: ArrayLike) -> Array:
    """The inverse of matrices.

    Differs from NumPy: singular matrices give inf or NaN and no error.

    Args:
      a: square matrices [..., n, n].

    Returns:
      Matrices [..., n, n]; inf or NaN where `a` is singular.

    Raises:
      ValueError: the matrices are not square.

    Source: NumPy, `numpy.linalg.inv`.

    Example:
      >>> from olympus import numpy as jnp
      >>> print(jnp.linalg.inv(jnp.array([[2.0, 0.0], [0.0, 4.0]])))
      [[0.5  0.  ]
       [0.   0.25]]
    """
    check_arraylike("linalg.inv", a)
    check_matrices("inv", a, square=True)
    return _inv(a)


@promotion.program(1, name="inv")
def _inv(a: Any) -> Any:
    (a,) = promotion.promote_inexact(a)
    return linear_systems.solve(
        a, matrices.identity(aval_of(a).shape, aval_of(a).dtype)
    )


# -- determinants ----------------------------------------------------------------------


@tree.returned_by("olympus.numpy.linalg.slogdet")
class SlogdetResult(NamedTuple):
    """The sign of a determinant, and the logarithm of its magnitude."""

    sign: Array
    logabsdet: Array


@direct("det")
def det(a: ArrayLike) -> Array:
    """The determinant of matrices.

    Args:
      a: square matrices [..., n, n].

    Returns:
      Numbers [...].

    Raises:
      ValueError: the matrices are not square.

    Source: NumPy, `numpy.linalg.det`. The derivative is exact for singular matrices
    too.

    Example:
      >>> from olympus import numpy as jnp
      >>> print(jnp.linalg.det(jnp.array([[1.0, 2.0], [3.0, 4.0]])))
      -2.0
    """
    check_arraylike("linalg.det", a)
    check_matrices("det", a, square=True)
    return _det(a)


@promotion.program(1, name="det")
def _det(a: Any) -> Any:
    (a,) = promotion.promote_inexact(a)
    shape = aval_of(a).shape
    if shape[-1] == 0:
        return creation.ones(shape[:-2], aval_of(a).dtype)
    if shape[-1] == 1:
        return a[..., 0, 0]
    if shape[-1] == 2:
        return a[..., 0, 0] * a[..., 1, 1] - a[..., 0, 1] * a[..., 1, 0]
    if shape[-1] == 3:
        return _triple_product(a)
    return _det_by_lu(a)


def _triple_product(a: Any) -> Any:
    (x, y, z), (p, q, r), (s, t, u) = (
        [a[..., i, j] for j in range(3)] for i in range(3)
    )
    return x * (q * u - r * t) - y * (p * u - r * s) + z * (p * t - q * s)


def _parity(pivots: Any) -> Any:
    """1 or -1: the sign of the exchanges of rows."""
    shape = aval_of(pivots).shape
    places = shaping.broadcasted_iota(np.int32, shape, len(shape) - 1)
    signs = selection.where(pivots != places, -1, 1)
    return reductions.prod(signs, axis=-1)


@custom_jvp
def _det_by_lu(a: Any) -> Any:
    packed, pivots, _ = lu_decomposition.lu(a)
    return _det_of_factors(packed, pivots)


def _det_of_factors(packed: Any, pivots: Any) -> Any:
    product = reductions.prod(matrices.diagonal(packed), axis=-1)
    return product * _parity(pivots).astype(product.dtype)


@_det_by_lu.defjvp
def _det_jvp(primals: Any, tangents: Any) -> Any:
    """The trace of adj(a) da, with an adjugate that needs no division by small pivots.

    Let u be the smallest pivot, in place k, D the product of the others, and U' the
    factor U with a one in place of u. As U = U' + (u - 1) e_k e_k^T,
    adj(U) = D (u U'^-1 - (u - 1) U'^-1 e_k e_k^T U'^-1), which is exact for u = 0.
    """
    (a,), (a_dot,) = primals, tangents
    packed, pivots, order = lu_decomposition.lu(a)
    size = aval_of(a).shape[-1]
    pivot = matrices.diagonal(packed)
    place = arg_extremes.argmin(lax.abs_(pivot), axis=-1, keepdims=True)
    is_least = place == shaping.iota(np.int32, size)
    least = reductions.sum(selection.where(is_least, pivot, 0), axis=-1)
    others = reductions.prod(selection.where(is_least, 1, pivot), axis=-1)
    scale = others * _parity(pivots).astype(others.dtype)
    # Where another pivot is zero too, the scale is.
    safe = selection.where(is_least | (pivot == 0), 1, pivot)
    row, column = (
        shaping.broadcasted_iota(np.int32, (size, size), axis) for axis in (0, 1)
    )
    upper = selection.where(lax.eq(row, column), safe[..., None, :], packed)
    unit = is_least[..., None].astype(pivot.dtype)
    column = triangular.triangular_solve(upper, unit, left_side=True)
    moved = matrices.take_rows(a_dot, order)
    for factor, is_lower in ((packed, True), (upper, False)):
        moved = triangular.triangular_solve(
            factor, moved, left_side=True, lower=is_lower, unit_diagonal=is_lower
        )
    row = reductions.sum(unit * moved, axis=-2)
    trace = reductions.sum(matrices.diagonal(moved), axis=-1)
    crossed = reductions.sum(row * column[..., 0], axis=-1)
    change = scale * (least * trace - (least - 1) * crossed)
    return _det_of_factors(packed, pivots), change


@direct("slogdet")
def slogdet(a: ArrayLike, *, method: str | None = None) -> SlogdetResult:
    """The sign of the determinant of matrices, and the logarithm of its magnitude.

    Args:
      a: square matrices [..., n, n].
      method: by which factorization: "lu", the default, or "qr".

    Returns:
      `SlogdetResult` of sign and logabsdet, [...], so that the determinant is
      `sign * exp(logabsdet)`: 0 and -inf for singular matrices.

    Raises:
      ValueError: the matrices are not square, or there is no such method.

    Source: NumPy, `numpy.linalg.slogdet`.

    Example:
      >>> from olympus import numpy as jnp
      >>> sign, logabsdet = jnp.linalg.slogdet(jnp.array([[0.0, 1.0], [1.0, 0.0]]))
      >>> print(sign, logabsdet)
      -1.0 0.0
    """
    check_arraylike("linalg.slogdet", a)
    check_matrices("slogdet", a, square=True)
    if method not in (None, "lu", "qr"):
        raise ValueError(
            f"numpy.linalg.slogdet: Unknown slogdet method {method!r}; take 'lu' or "
            "'qr'"
        )
    return SlogdetResult(*_slogdet(a, by_qr=method == "qr"))


@promotion.program(1, name="slogdet")
def _slogdet(a: Any, *, by_qr: bool) -> Any:
    (a,) = promotion.promote_inexact(a)
    kind = aval_of(a).dtype
    if dtypes.itemsize_bits(kind) == 16:  # XLA has no factors of those
        a = lax.convert(a, np.dtype(np.float32))
    parts = _slogdet_by_qr(a) if by_qr else _slogdet_by_lu(a)
    return [lax.convert(x, kind) for x in parts] if aval_of(a).dtype != kind else parts


@custom_jvp
def _slogdet_by_lu(a: Any) -> Any:
    packed, pivots, _ = lu_decomposition.lu(a)
    return _slogdet_of(matrices.diagonal(packed), _parity(pivots))


@custom_jvp
def _slogdet_by_qr(a: Any) -> Any:
    packed, scales = qr_decomposition.geqrf(a)
    # A reflection I - t v v^H has the determinant 1 - t v^H v.
    below = matrices.lower_triangle(packed, -1)
    length = 1 + reductions.sum(lax.square(lax.abs_(below)), axis=-2)
    turns = 1 - scales * length.astype(scales.dtype)
    if aval_of(a).dtype.kind != "c":
        turns = lax.sign(turns)
    return _slogdet_of(matrices.diagonal(packed), reductions.prod(turns, axis=-1))


def _slogdet_of(pivots: Any, factor: Any) -> Any:
    """Sign and logarithm of a product of pivots, times a number of size 1."""
    signs = lax.sign(pivots)
    sign = reductions.prod(signs, axis=-1) * factor.astype(signs.dtype)
    return sign, reductions.sum(lax.log(lax.abs_(pivots)), axis=-1)


def _slogdet_jvp(run: Any) -> Any:
    """D log det = tr(a^-1 da); its imaginary part turns the sign."""

    def rule(primals: Any, tangents: Any) -> Any:
        (a,), (a_dot,) = primals, tangents
        sign, size = run(a)
        trace = reductions.sum(
            matrices.diagonal(linear_systems.solve(a, a_dot)), axis=-1
        )
        if aval_of(a).dtype.kind != "c":
            return (sign, size), (creation.zeros_like(sign), trace)
        turn = lax.complex_(creation.zeros_like(size), lax.imag(trace))
        return (sign, size), (sign * turn, lax.real(trace))

    return rule


_slogdet_by_lu.defjvp(_slogdet_jvp(_slogdet_by_lu))
_slogdet_by_qr.defjvp(_slogdet_jvp(_slogdet_by_qr))

# -- pseudo-inverses and least squares -------------------------------------------------


def pinv(
    a: ArrayLike,
    rtol: OptionalArray = None,
    hermitian: bool = False,
    *,
    rcond: OptionalArray = None,
) -> Array:
    """The Moore-Penrose pseudo-inverse.

    Differs from NumPy: the default `rtol` grows with the size of the matrices and the
    dtype's precision, where NumPy's is 1e-15 for all.

    Args:
      a: matrices [..., m, n].
      rtol: which singular values count as zero, in proportion to the largest; by
        default 10 max(m, n) times the dtype's spacing at 1.
      hermitian: promises that `a` is Hermitian, which costs less.
      rcond: another name of `rtol`.

    Returns:
      Matrices [..., n, m].

    Raises:
      ValueError: `a` has fewer than two axes, or `rtol` and `rcond` are both given.

    Source: NumPy, `numpy.linalg.pinv`; the derivative is that of Golub and Pereyra,
    1973, for matrices of constant rank.

    Example:
      >>> from olympus import numpy as jnp
      >>> print(jnp.linalg.pinv(jnp.array([[2.0, 0.0], [0.0, 0.0]])))
      [[0.5 0. ]
       [0.  0. ]]
    """
    check_arraylike("linalg.pinv", a)
    check_matrices("pinv", a, square=hermitian)
    bound = decompositions.one_of("pinv", rtol=rtol, rcond=rcond)
    if bound is None:
        dtype = dtypes.to_inexact_dtype(aval_of(a).dtype)
        bound = 10.0 * max(aval_of(a).shape[-2:]) * float(dtypes.finfo(dtype).eps)
    return _pinv(a, bound, hermitian=bool(hermitian))


@promotion.program(2, name="pinv")
def _pinv(a: Any, rtol: Any, *, hermitian: bool) -> Any:
    (a,) = promotion.promote_inexact(a)
    (rtol,) = promotion.promote_inexact(rtol)
    if not aval_of(a).size:
        shape = aval_of(a).shape
        return creation.zeros((*shape[:-2], shape[-1], shape[-2]), aval_of(a).dtype)
    return _pinv_of(a, rtol, hermitian)


def _pseudo_inverse(a: Any, rtol: Any, hermitian: bool) -> Any:
    u, s, v_h = decompositions.svd(a, full_matrices=False, hermitian=hermitian)
    # A value that is NaN is none of those left out.
    s = selection.where(s <= decompositions.cutoff(s, rtol), np.inf, s)
    divided = matrices.adjoint(u) / s[..., None].astype(aval_of(u).dtype)
    return matrices.matmul(matrices.adjoint(v_h), divided)


_pinv_of = custom_jvp(_pseudo_inverse, nondiff_argnums=(2,))


@_pinv_of.defjvp
def _pinv_jvp(hermitian: bool, primals: Any, tangents: Any) -> Any:
    a, rtol = primals
    change = tangents[0]
    p = _pinv_of(a, rtol, hermitian)
    p_h, change_h = matrices.adjoint(p), matrices.adjoint(change)
    dot = matrices.matmul

    def rest(x: Any) -> Any:
        return lax.sub(matrices.identity_like(x), x)

    inner = dot(dot(p, change), p)
    left = dot(dot(dot(p, p_h), change_h), rest(dot(a, p)))
    right = dot(rest(dot(p, a)), dot(change_h, dot(p_h, p)))
    return p, left + right - inner


def lstsq(
    a: ArrayLike, b: ArrayLike, rcond: float | None = None, *, numpy_resid: bool = False
) -> tuple[Array, Array, Array, Array]:
    """The x for which `a x` is nearest to `b`; of several the shortest.

    Differs from NumPy: the sums of squares are always returned, unless `numpy_resid` is
    set.

    Args:
      a: a matrix [m, n].
      b: a vector [m], or a matrix [m, k].
      rcond: which singular values count as zero, in proportion to the largest; by
        default, or below zero, max(m, n) times the dtype's spacing at 1.
      numpy_resid: leave the sums of squares empty where NumPy does, which a traced
        function cannot.

    Returns:
      A tuple: x [n] or [n, k]; the sums of squares [1] or [k] of `b - a x`; the rank of
      `a`; its singular values.

    Raises:
      TypeError: `a` is not a matrix, or `b` is neither a vector nor a matrix.
      ValueError: `a` and `b` have different numbers of rows.

    Source: NumPy, `numpy.linalg.lstsq`.

    Example:
      >>> from olympus import numpy as jnp
      >>> a, b = jnp.array([[2.0], [0.0]]), jnp.array([1.0, 3.0])
      >>> x, _, rank, _ = jnp.linalg.lstsq(a, b)
      >>> print(x, rank)
      [0.5] 1
    """
    check_arraylike("linalg.lstsq", a, b)
    a_aval, b_aval = aval_of(a), aval_of(b)
    if a_aval.ndim != 2 or b_aval.ndim not in (1, 2):
        raise TypeError(
            "numpy.linalg.lstsq: a must be a matrix, and b a vector or a matrix, got "
            f"{a_aval.short()} and {b_aval.short()}; use vmap for several"
        )
    if a_aval.shape[0] != b_aval.shape[0]:
        raise ValueError(
            "numpy.linalg.lstsq: Leading dimensions of input arrays must match, got "
            f"{a_aval.short()} and {b_aval.short()}"
        )
    try:
        bound = None if rcond is None else float(rcond)
    except (TypeError, ValueError):
        raise TypeError(
            f"numpy.linalg.lstsq: rcond must be a number or None, got {rcond!r}; "
            "convert it with float"
        ) from None
    x, squares, rank, s = _lstsq(a, b, rcond=bound)
    rows, columns = a_aval.shape
    if numpy_resid and (rows <= columns or int(rank) < columns):
        squares = creation.zeros((0,), squares.dtype)
    return x, squares, rank, s


@promotion.program(2, name="lstsq")
def _lstsq(a: Any, b: Any, *, rcond: float | None) -> Any:
    a, b = promotion.promote_inexact(a, b)
    is_vector = aval_of(b).ndim == 1
    b = b[:, None] if is_vector else b
    u, s, v_h = decompositions.svd(a, full_matrices=False)
    if rcond is None or rcond < 0:
        rcond = decompositions.negligible(a)
    counts = (s > 0) & (s >= decompositions.cutoff(s, rcond))
    rank = reductions.sum(counts)
    safe = selection.where(counts, s, 1)
    inverse = selection.where(counts, 1 / safe, 0)[:, None].astype(aval_of(u).dtype)
    dot = matrices.matmul
    x = dot(matrices.adjoint(v_h), inverse * dot(matrices.adjoint(u), b))
    misfit = lax.abs_(b - dot(a, x))
    squares = reductions.sum(lax.square(misfit), axis=0)
    return (x[:, 0] if is_vector else x), squares, rank, s


# -- tensors as matrices ---------------------------------------------------------------


def tensorinv(a: ArrayLike, ind: int = 2) -> Array:
    """The inverse of `tensordot` with an array.

    Args:
      a: array whose first `ind` axes hold together as many elements as the others.
      ind: how many axes are those of the result of the product.

    Returns:
      The array x whose first axes are the last of `a`, so that
      `tensordot(x, tensordot(a, y, a.ndim - ind), ind)` is y.

    Raises:
      ValueError: numbers of elements differ, or `ind` is not positive.

    Source: NumPy, `numpy.linalg.tensorinv`.

    Example:
      >>> from olympus import numpy as jnp
      >>> jnp.linalg.tensorinv(jnp.eye(4).reshape(2, 2, 4)).shape
      (4, 2, 2)
    """
    check_arraylike("linalg.tensorinv", a)
    count, shape = operator.index(ind), aval_of(a).shape
    if count <= 0:
        raise ValueError(
            f"numpy.linalg.tensorinv: ind must be a positive integer; got ind={ind}"
        )
    first, last = shape[:count], shape[count:]
    if math.prod(first) != math.prod(last):
        raise ValueError(
            f"numpy.linalg.tensorinv: the first {count} axes must have as many "
            f"elements in total as the others, got {aval_of(a).short()}; choose "
            "another ind"
        )
    return _tensorinv(a, ind=count)


@promotion.program(1, name="tensorinv")
def _tensorinv(a: Any, *, ind: int) -> Any:
    shape = aval_of(a).shape
    size = math.prod(shape[:ind])
    flat = manipulation.reshape(a, (size, size))
    return manipulation.reshape(_inv(flat), shape[ind:] + shape[:ind])


def tensorsolve(a: ArrayLike, b: ArrayLike, axes: Sequence[int] | None = None) -> Array:
    """The x with `tensordot(a, x, x.ndim) = b`.

    Differs from NumPy: singular arrays give inf or NaN and no error.

    Args:
      a: array whose first axes are those of `b`, and whose others have together as many
        elements.
      b: array.
      axes: axes of `a` that are moved to its end first.

    Raises:
      ValueError: sizes do not agree.

    Source: NumPy, `numpy.linalg.tensorsolve`.

    Example:
      >>> from olympus import numpy as jnp
      >>> print(jnp.linalg.tensorsolve(jnp.eye(4).reshape(2, 2, 4), jnp.ones((2, 2))))
      [1. 1. 1. 1.]
    """
    check_arraylike("linalg.tensorsolve", a, b)
    if axes is not None:
        named = [axes] if isinstance(axes, int) else list(axes)
        a = manipulation.moveaxis(a, named, list(range(-len(named), 0)))
    a_aval, b_aval = aval_of(a), aval_of(b)
    first, last = a_aval.shape[: b_aval.ndim], a_aval.shape[b_aval.ndim :]
    if first != b_aval.shape or math.prod(first) != math.prod(last):
        raise ValueError(
            "numpy.linalg.tensorsolve: a must begin with the axes of b, and its "
            f"other axes must have as many elements in total, got {a_aval.short()} "
            f"and {b_aval.short()}; name other axes"
        )
    return _tensorsolve(a, b)


@promotion.program(2, name="tensorsolve")
def _tensorsolve(a: Any, b: Any) -> Any:
    shape = aval_of(a).shape[aval_of(b).ndim :]
    size = math.prod(shape)
    flat = _solve(manipulation.reshape(a, (size, size)), manipulation.ravel(b))
    return manipulation.reshape(flat, shape)
