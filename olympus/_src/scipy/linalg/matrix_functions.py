"""Functions of matrices: exponential, square root, others; Sylvester's equation.

All but the exponential work on a triangular (Schur) form and find one column of the
result after another, each by a triangular system.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any, Literal, overload

import numpy as np

from olympus._src.api import forward_mode
from olympus._src.api.custom_jvp import custom_jvp
from olympus._src.control_flow import loops
from olympus._src.control_flow.cond import cond
from olympus._src.core import dtypes
from olympus._src.core.array_type import Array, ArrayLike
from olympus._src.interpreters.direct_calls import direct
from olympus._src.lax import barriers, slicing
from olympus._src.lax import elementwise as lax
from olympus._src.lax.linalg import (
    eigenvectors,
    linear_systems,
    matrices,
    schur_hessenberg,
    triangular,
)
from olympus._src.numpy import (
    arithmetic,
    creation,
    elementary,
    logic,
    promotion,
    reductions,
    selection,
    ufunc,
)
from olympus._src.scipy.linalg import checks

aval_of = checks.aval_of
matmul = matrices.matmul
where = selection.where

# -- exponential -----------------------------------------------------------------------

# Numerator of the diagonal Pade approximant of exp, and the 1-norm up to which it is
# exact to the dtype's last place: Higham, The scaling and squaring method for the
# matrix exponential revisited, 2005, table 2.3.
_DOUBLE = 5.371920351148152
_SINGLE = 3.925724783138660


def _pade_numerator(order: int) -> list[float]:
    """Coefficients of x^k, k = 0 .. order, scaled to be integers."""
    coefficients = [1]
    for k in range(order, 0, -1):
        coefficients.append(
            coefficients[-1] * k * (2 * order - k + 1) // (order - k + 1)
        )
    return [float(x) for x in reversed(coefficients)]


@direct("expm")
def expm(
    A: ArrayLike, *, upper_triangular: bool = False, max_squarings: int = 16
) -> Array:
    """The exponential of matrices.

    Differs from SciPy: `upper_triangular` is a promise that is not checked; matrices
    that would need more than `max_squarings` squarings give NaN.

    Args:
      A: square matrices [..., n, n].
      upper_triangular: promises that they are, which costs less.
      max_squarings: how often at most the exponential of a fraction of `A` is squared;
        if it must be more, the result is NaN.

    Returns:
      Floating or complex matrices [..., n, n].

    Raises:
      ValueError: the matrices are not square.

    Source: Higham, The scaling and squaring method for the matrix exponential
    revisited, 2005.

    Example:
      >>> import numpy as np
      >>> from olympus.scipy import linalg
      >>> print(linalg.expm(np.array([[0.0, 1.0], [0.0, 0.0]], "float32")))
      [[1. 1.]
       [0. 1.]]
    """
    (A,) = checks.as_arrays("expm", A)
    checks.check_square("expm", "A", A)
    most = operator.index(max_squarings)
    return _expm(A, upper=bool(upper_triangular), most=most)


@promotion.program(1, name="expm")
def _expm(a: Any, *, upper: bool, most: int) -> Any:
    (a,) = promotion.promote_inexact(a)
    if not aval_of(a).size:
        return a
    dtype = aval_of(a).dtype
    is_double = dtypes.itemsize_bits(matrices.real_dtype(dtype)) == 64
    order, bound = (13, _DOUBLE) if is_double else (7, _SINGLE)
    norm = reductions.max(reductions.sum(abs(a), axis=-2), axis=-1)[..., None, None]
    norm = barriers.stop_gradient(norm)
    halvings = ufunc.maximum(arithmetic.ceil(elementary.log2(norm / bound)), 0)
    used = arithmetic.clip(halvings, 0, most)
    out = _pade(a * elementary.exp2(-used).astype(dtype), order, upper)

    last = reductions.max(used)

    def square(i: Any, x: Any) -> Any:
        return where(i < used, matmul(x, x), x)

    def square_if_needed(i: Any, x: Any) -> Any:
        return cond(i < last, square, lambda _, x: x, i, x)

    out = loops.fori_loop(0, most, square_if_needed, out)
    # As a factor, so that the tangent is NaN where the value is.
    return out * where(halvings <= most, 1, np.nan).astype(dtype)


def _pade(a: Any, order: int, upper: bool) -> Any:
    """Odd and even parts u, v of the numerator; the result is (v - u)^-1 (v + u)."""
    b = _pade_numerator(order)
    one = matrices.identity_like(a)
    square = matmul(a, a)
    powers = [one, square, matmul(square, square)]
    powers.append(matmul(powers[2], square))

    def total(coefficients: list[float]) -> Any:
        return sum(c * p for c, p in zip(coefficients, powers, strict=False))

    odd, even = b[1::2], b[0::2]
    u, v = total(odd[:4]), total(even[:4])
    if order == 13:
        u = u + matmul(powers[3], total([0.0, *odd[4:]]))
        v = v + matmul(powers[3], total([0.0, *even[4:]]))
    u = matmul(a, u)
    if upper:
        return triangular.triangular_solve(v - u, v + u, left_side=True, lower=False)
    return linear_systems.solve(v - u, v + u)


@overload
def expm_frechet(
    A: ArrayLike,
    E: ArrayLike,
    *,
    method: str | None = ...,
    compute_expm: Literal[True] = ...,
) -> tuple[Array, Array]: ...
@overload
def expm_frechet(
    A: ArrayLike,
    E: ArrayLike,
    *,
    method: str | None = ...,
    compute_expm: Literal[False],
) -> Array: ...
@overload
def expm_frechet(
    A: ArrayLike, E: ArrayLike, *, method: str | None = ..., compute_expm: bool = ...
) -> Array | tuple[Array, Array]: ...
def expm_frechet(
    A: ArrayLike, E: ArrayLike, *, method: str | None = None, compute_expm: bool = True
) -> Array | tuple[Array, Array]:
    """The derivative of the exponential of matrices in a direction.

    Differs from SciPy: there is one method and no `check_finite`.

    Args:
      A: square matrices [..., n, n].
      E: the direction, of the same shape.
      method: not used; it is SciPy's.
      compute_expm: return the exponential too, first.

    Returns:
      The exponential and its derivative, [..., n, n]; or the derivative alone.

    Raises:
      ValueError: the matrices are not square, or shapes differ.

    Source: SciPy, `scipy.linalg.expm_frechet`.

    Example:
      >>> import numpy as np
      >>> from olympus.scipy import linalg
      >>> zero, e = np.zeros((2, 2), "float32"), np.eye(2, dtype="float32")
      >>> print(linalg.expm_frechet(zero, e, compute_expm=False))
      [[1. 0.]
       [0. 1.]]
    """
    del method
    A, E = checks.as_arrays("expm_frechet", A, E)
    checks.check_square("expm_frechet", "A", A)
    checks.check_square("expm_frechet", "E", E)
    if aval_of(A).shape != aval_of(E).shape:
        raise ValueError(
            "scipy.linalg.expm_frechet: expected A and E to be the same shape, got "
            f"{aval_of(A).short()} and {aval_of(E).short()}"
        )
    both = _expm_frechet(A, E)
    return tuple(both) if compute_expm else both[1]


@promotion.program(2, name="expm_frechet")
def _expm_frechet(a: Any, e: Any) -> Any:
    a, e = promotion.promote_inexact(a, e)
    a, e = (promotion.cast(x, aval_of(x).dtype, False) for x in (a, e))
    return forward_mode.jvp(lambda x: _expm(x, upper=False, most=16), (a,), (e,))


# -- columns of triangular matrices ----------------------------------------------------


def _column(x: Any, j: Any) -> Any:
    return slicing.dynamic_slice_in_dim(x, j, 1, aval_of(x).ndim - 1)


def _fill_columns(start: Any, find: Callable[[Any, Any], Any]) -> Any:
    """Sets column j of `start` to `find(j, result so far)`, the first column first."""
    axis = aval_of(start).ndim - 1

    def step(j: Any, x: Any) -> Any:
        return slicing.dynamic_update_slice_in_dim(x, find(j, x), j, axis)

    return loops.fori_loop(0, aval_of(start).shape[-1], step, start)


def _solve_shifted(t: Any, shift: Any, b: Any) -> Any:
    """The x with `(T + shift) x = b` for triangular T; 0 / 0 on the diagonal is 0."""
    rows = np.eye(aval_of(t).shape[-1], dtype=bool)
    pivots = matrices.diagonal(t)[..., None] + shift
    lost = pivots == 0
    whole = where(rows, where(lost, 1, pivots), t)
    x = triangular.triangular_solve(whole, b, left_side=True, lower=False)
    return where(lost & (x != 0), np.nan, x)


def _schur_complex(x: Any) -> Any:
    dtype = eigenvectors.complex_dtype(aval_of(x).dtype)
    return schur_hessenberg.schur(promotion.cast(x, dtype, False))


# -- Sylvester's equation --------------------------------------------------------------


def solve_sylvester(
    A: ArrayLike,
    B: ArrayLike,
    C: ArrayLike,
    *,
    method: str = "schur",
    tol: float = 1e-8,
) -> Array:
    """The X with `A X + X B = C`.

    Differs from SciPy: the arguments are called A, B and C; equations without a unique
    solution give NaN, where SciPy gives large numbers; there are two methods to choose
    from.

    Args:
      A: square matrices [..., m, m].
      B: square matrices [..., n, n].
      C: matrices [..., m, n].
      method: "schur", or "eigen", for matrices that can be diagonalized.
      tol: where an eigenvalue of A and one of B have a sum of this size or less the
        equation has no unique solution, and the result is NaN.

    Returns:
      Matrices [..., m, n], real where all arguments are.

    Raises:
      ValueError: shapes do not agree, or there is no such method.

    Source: Bartels and Stewart, Solution of the matrix equation AX + XB = C, 1972.

    Example:
      >>> import numpy as np
      >>> from olympus.scipy import linalg
      >>> a, b = np.diag(np.float32([1, 2])), np.diag(np.float32([3, 4]))
      >>> print(linalg.solve_sylvester(a, b, np.float32([[4, 5], [5, 6]])))
      [[1. 1.]
       [1. 1.]]
    """
    A, B, C = checks.as_arrays("solve_sylvester", A, B, C)
    for name, x in (("A", A), ("B", B)):
        if aval_of(x).ndim < 2 or aval_of(x).shape[-1] != aval_of(x).shape[-2]:
            raise _sylvester_error(A, B, C, f"{name} must be square")
    rows, columns = aval_of(A).shape[-1], aval_of(B).shape[-1]
    if aval_of(C).shape[-2:] != (rows, columns):
        raise _sylvester_error(A, B, C, "C must be [m, n] for A [m, m] and B [n, n]")
    if method not in ("schur", "eigen"):
        raise ValueError(
            f"scipy.linalg.solve_sylvester: Unrecognized method {method}; the two "
            "valid methods are 'schur' and 'eigen'"
        )
    return _solve_sylvester(A, B, C, method=method, tol=float(tol))


def _sylvester_error(a: Any, b: Any, c: Any, what: str) -> ValueError:
    shapes = ", ".join(
        f"{n}: {aval_of(x).short()}" for n, x in zip("ABC", (a, b, c), strict=True)
    )
    return ValueError(
        "scipy.linalg.solve_sylvester: Incompatible shapes for Sylvester equation: "
        f"{what}, got {shapes}"
    )


@promotion.program(3, name="solve_sylvester")
def _solve_sylvester(a: Any, b: Any, c: Any, *, method: str, tol: float) -> Any:
    a, b, c = promotion.promote_inexact(a, b, c)
    a, b, c = checks.spread("solve_sylvester", a, b, c)
    return _sylvester(a, b, c, method, tol)


def _sylvester_factors(a: Any, b: Any, method: str) -> Any:
    """Bases z, w and forms t, s with `a = z t z^-1` and `b = w s w^-1`; z^-1, w^-1."""
    if method == "schur":
        (t, z), (s, w) = _schur_complex(a), _schur_complex(b)
        return t, s, (z, matrices.adjoint(z)), (w, matrices.adjoint(w))
    forms, bases = [], []
    for x in (a, b):
        values, vectors = eigenvectors.eig(x, compute_left_eigenvectors=False)
        forms.append(matrices.identity_like(vectors) * values[..., None, :])
        inverse = linear_systems.solve(vectors, matrices.identity_like(vectors))
        bases.append((vectors, inverse))
    return (*forms, *bases)


def _sylvester_by(factors: Any, c: Any, tol: float) -> Any:
    """The solution, which is linear in `c`."""
    t, s, (z, z_inverse), (w, w_inverse) = factors
    is_real = dtypes.kind(aval_of(c).dtype) != "c"
    c = promotion.cast(c, aval_of(t).dtype, False)
    inner = matmul(matmul(z_inverse, c), w)

    def column(j: Any, y: Any) -> Any:
        # Columns after j are zero so far, so the product takes those before it.
        known = matmul(y, _column(s, j))
        shift = _column(_column(matrices.transpose_matrices(s), j).mT, j)
        return _solve_shifted(t, shift, _column(inner, j) - known)

    y = _fill_columns(creation.zeros_like(inner), column)
    x = matmul(matmul(z, y), w_inverse)
    sums = matrices.diagonal(t)[..., :, None] + matrices.diagonal(s)[..., None, :]
    singular = reductions.any(abs(sums) <= tol, axis=(-2, -1), keepdims=True)
    x = where(singular, np.nan, x)
    return lax.real(x) if is_real else x


def _sylvester_now(a: Any, b: Any, c: Any, method: str, tol: float) -> Any:
    return _sylvester_by(_sylvester_factors(a, b, method), c, tol)


_sylvester = custom_jvp(_sylvester_now, nondiff_argnums=(3, 4))


@_sylvester.defjvp
def _sylvester_jvp(method: str, tol: float, primals: Any, tangents: Any) -> Any:
    (a, b, c), (a_dot, b_dot, c_dot) = primals, tangents
    factors = _sylvester_factors(a, b, method)
    x = _sylvester_by(factors, c, tol)
    change = c_dot - matmul(a_dot, x) - matmul(x, b_dot)
    return x, _sylvester_by(factors, change, tol)


# -- square root, other functions ------------------------------------------------------


def sqrtm(A: ArrayLike, blocksize: int = 1) -> Array:
    """The principal square root of matrices.

    Differs from SciPy: the result is always complex, and NaN throughout where there is
    no square root; there is no `disp`.

    Args:
      A: square matrices [..., n, n].
      blocksize: 1.

    Returns:
      Complex matrices [..., n, n]; NaN where there is no square root.

    Raises:
      ValueError: the matrices are not square.
      NotImplementedError: the size of blocks is not 1.

    Source: Bjorck and Hammarling, A Schur method for the square root of a matrix, 1983.

    Example:
      >>> import numpy as np
      >>> from olympus.scipy import linalg
      >>> print(linalg.sqrtm(np.diag(np.array([4.0, 9.0], "float32"))).real)
      [[2. 0.]
       [0. 3.]]
    """
    (A,) = checks.as_arrays("sqrtm", A)
    checks.check_square("sqrtm", "A", A)
    if blocksize != 1:
        raise NotImplementedError(
            f"scipy.linalg.sqrtm: blocksize must be 1, got {blocksize}; leave it out"
        )
    return _sqrtm(A)


@promotion.program(1, name="sqrtm")
def _sqrtm(a: Any) -> Any:
    (a,) = promotion.promote_inexact(a)
    return _root(promotion.cast(a, eigenvectors.complex_dtype(aval_of(a).dtype), False))


def _triangular_root(t: Any) -> Any:
    rows = np.arange(aval_of(t).shape[-1])[:, None]
    roots = elementary.sqrt(matrices.diagonal(t))[..., None]

    def column(j: Any, u: Any) -> Any:
        mine = slicing.dynamic_slice_in_dim(roots, j, 1, aval_of(roots).ndim - 2)
        # Columns before j, and roots on the diagonal; what is right of j is no part.
        above = where(rows < j, _column(t, j), 0)
        x = _solve_shifted(u + _place_on_diagonal(roots, rows >= j), mine, above)
        return where(rows < j, x, where(rows == j, mine, 0))

    return _fill_columns(creation.zeros_like(t), column)


def _place_on_diagonal(values: Any, mask: Any) -> Any:
    """Diagonal matrices of `values` [..., n, 1] where the mask is set."""
    n = aval_of(values).shape[-2]
    return where(np.eye(n, dtype=bool) & mask, values, 0)


@custom_jvp
def _root(a: Any) -> Any:
    t, z = _schur_complex(a)
    return matmul(matmul(z, _triangular_root(t)), matrices.adjoint(z))


@_root.defjvp
def _root_jvp(primals: Any, tangents: Any) -> Any:
    """D(s s) = a_dot is Sylvester's equation in the derivative of the root s."""
    (a,), (a_dot,) = primals, tangents
    t, z = _schur_complex(a)
    u, back = _triangular_root(t), matrices.adjoint(z)
    out = matmul(matmul(z, u), back)
    return out, _sylvester_by((u, u, (z, back), (z, back)), a_dot, 0.0)


@overload
def funm(
    A: ArrayLike, func: Callable[[Array], Array], disp: Literal[True] = ...
) -> Array: ...
@overload
def funm(
    A: ArrayLike, func: Callable[[Array], Array], *, disp: Literal[False]
) -> tuple[Array, Array]: ...
@overload
def funm(
    A: ArrayLike, func: Callable[[Array], Array], disp: bool = ...
) -> tuple[Array, Array] | Array: ...
def funm(
    A: ArrayLike, func: Callable[[Array], Array], disp: bool = True
) -> Array | tuple[Array, Array]:
    """A function of matrices, from the function of numbers.

    Differs from SciPy: the result is always complex; integers are refused; there is no
    check and no printed warning of large errors.

    Args:
      A: a square matrix [n, n], floating or complex.
      func: maps a vector of complex eigenvalues to the function's values.
      disp: leave out the estimate of the error.

    Returns:
      A complex matrix [n, n]; without `disp`, and the estimated relative error.

    Raises:
      ValueError: `A` is not a square matrix.
      TypeError: `A` is of integers.

    Source: Parlett, A recurrence among the elements of functions of triangular
    matrices, 1976. Equal eigenvalues make it inexact, as in SciPy.

    Example:
      >>> import numpy as np
      >>> import olympus.numpy as jnp
      >>> from olympus.scipy import linalg
      >>> a = np.array([[1.0, 1.0], [0.0, 2.0]], "float32")
      >>> print(linalg.funm(a, jnp.square).real)
      [[1. 3.]
       [0. 4.]]
    """
    (A,) = checks.as_arrays("funm", A)
    aval = aval_of(A)
    if aval.ndim != 2 or aval.shape[0] != aval.shape[1]:
        raise ValueError(
            f"scipy.linalg.funm: expected square array_like input, got {aval.short()}; "
            "use vmap for several"
        )
    if dtypes.kind(aval.dtype) not in "fc":
        raise TypeError(
            f"scipy.linalg.funm: does not accept dtype {aval.dtype}; convert A with "
            "astype"
        )
    t, z = _schur_complex(A)
    values = creation.asarray(func(matrices.diagonal(t)))
    out, error = _funm(t, z, values.astype(aval_of(t).dtype))
    return out if disp else (out, error)


@promotion.program(3, name="funm")
def _funm(t: Any, z: Any, values: Any) -> Any:
    n = aval_of(t).shape[-1]
    rows = np.arange(n)[:, None]
    poles = matrices.diagonal(t)

    def column(j: Any, f: Any) -> Any:
        # T F = F T, read in column j.
        own = slicing.dynamic_slice_in_dim(values, j, 1, 0)
        above = where(rows < j, _column(t, j), 0)
        right = matmul(f, above) - above * own[None]
        inside = np.arange(n)[None, :] < j
        shift = -slicing.dynamic_slice_in_dim(poles, j, 1, 0)
        system = where((rows < j) & inside, t, 0)
        system = system + _place_on_diagonal(creation.ones_like(above), rows >= j)
        x = _solve_parlett(system, shift[None], where(rows < j, right, 0), rows < j)
        return where(rows < j, x, where(rows == j, own[None], 0))

    form = _fill_columns(creation.zeros_like(t), column)
    out = matmul(matmul(z, form), matrices.adjoint(z))
    return out, _parlett_error(t, poles, out)


def _solve_parlett(system: Any, shift: Any, b: Any, part: Any) -> Any:
    """As `_solve_shifted` in some rows; where poles are equal nothing is divided."""
    eye = np.eye(aval_of(system).shape[-1], dtype=bool)
    pivots = where(part, matrices.diagonal(system)[:, None] + shift, 1)
    whole = where(eye, where(pivots == 0, 1, pivots), system)
    return triangular.triangular_solve(whole, b, left_side=True, lower=False)


def _parlett_error(t: Any, poles: Any, out: Any) -> Any:
    """The dtype's spacing over the least distance of poles, times T's upper norm."""
    tiny = float(dtypes.finfo(aval_of(t).dtype).eps)
    upper = matrices.upper_triangle(t, 1)
    gaps = abs(poles[:, None] - poles[None, :])
    far = where(matrices.on_diagonal(aval_of(t).shape), np.inf, gaps)
    least = reductions.min(far, initial=np.inf)
    least = where(least == 0, tiny, least)
    norm = reductions.max(reductions.sum(abs(upper), axis=0), initial=0)
    error = arithmetic.clip(tiny / least * norm, tiny, 1)
    return where(reductions.all(logic.isfinite(out)), error, np.inf)
