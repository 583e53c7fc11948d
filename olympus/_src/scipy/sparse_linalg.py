"""Systems of linear equations solved by iteration, for pytrees of arrays.

A matrix is given, or a function that multiplies by it. Derivatives follow from the
equation, not from the iteration: see `lax.custom_linear_solve`.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from olympus._src import tree
from olympus._src.control_flow import loops, while_loop
from olympus._src.core import avals, dtypes
from olympus._src.core.array_type import ArrayLike, PyTree
from olympus._src.custom_rules import linear_solve
from olympus._src.lax.linalg import matrices, qr_decomposition, triangular
from olympus._src.numpy import (
    contractions,
    creation,
    linalg,
    reductions,
    selection,
    tree_raveling,
    ufunc,
)

aval_of, where = avals.aval_of, selection.where

# -- what is requested -----------------------------------------------------------------


def _operator(name: str, what: str, operand: Any) -> Callable[[Any], Any]:
    """The product with a matrix, or a function as it is."""
    if callable(operand):
        return operand
    is_array = avals.is_array_like(operand)
    if not hasattr(operand, "shape" if is_array else "__matmul__"):
        raise TypeError(
            f"scipy.sparse.linalg.{name}: linear operator must be either a function or "
            f"ndarray, got {what}={operand!r}"
        )
    shape = tuple(getattr(operand, "shape", ()))
    if len(shape) != 2 or shape[0] != shape[1]:
        raise ValueError(
            f"scipy.sparse.linalg.{name}: linear operator must be a square matrix, but "
            f"{what} has shape: {shape}"
        )
    return lambda x: contractions.matmul(operand, x) if is_array else operand @ x


class _Problem(NamedTuple):
    """A system of equations in one array, and the way back to the user's tree."""

    matvec: Callable[[Any], Any]
    b: Any
    x0: Any
    precondition: Callable[[Any], Any]
    unravel: Callable[[Any], Any]
    maxiter: int


def _problem(
    name: str,
    A: Any,
    b: Any,
    x0: Any,
    M: Any,
    maxiter: Any,
    any_shape: bool = True,
) -> _Problem:
    """The system that a call is about: in a vector, or in one array of any shape."""
    where_ = f"scipy.sparse.linalg.{name}"
    leaves, structure = tree.tree_flatten(b)
    for x in leaves:
        if not avals.is_array_like(x):
            raise TypeError(
                f"{where_}: b must be an array or a pytree of arrays, got {type(x)}; "
                "convert it with numpy.asarray"
            )
    if x0 is not None:
        _check_like(where_, "x0", x0, leaves, structure)
    product = _operator(name, "A", A)
    improve = None if M is None else _operator(name, "M", M)
    dtype = _common_dtype(leaves, A)
    b = structure.unflatten(
        [creation.asarray(x).astype(_own(x, dtype)) for x in leaves]
    )
    is_one = any_shape and len(leaves) == 1
    ravel = _leaf_of if is_one else _ravel
    unravel = (lambda x: structure.unflatten([x])) if is_one else _unraveling(b)
    vector = ravel(b)

    def flat(function: Any, what: str) -> Callable[[Any], Any]:
        def apply(x: Any) -> Any:
            out = function(unravel(x))
            _check_like(where_, f"{what}()", out, leaves, structure)
            return ravel(out).astype(aval_of(vector).dtype)

        return apply

    start = creation.zeros_like(vector)
    if x0 is not None:
        start = ravel(x0).astype(aval_of(vector).dtype)
    size = aval_of(vector).size
    most = 10 * size if maxiter is None else operator.index(maxiter)
    precondition = _as_is if improve is None else flat(improve, "M")
    return _Problem(flat(product, "matvec"), vector, start, precondition, unravel, most)


def _as_is(x: Any) -> Any:
    return x


def _leaf_of(x: Any) -> Any:
    """The one array of a tree, as it is: XLA fuses less across changes of its shape."""
    return creation.asarray(tree.tree_leaves(x)[0])


def _ravel(x: Any) -> Any:
    return tree_raveling.ravel_pytree(x)[0]


def _unraveling(x: Any) -> Callable[[Any], Any]:
    return tree_raveling.ravel_pytree(x)[1]


def _common_dtype(leaves: list[Any], A: Any) -> Any:
    """That of the right side, and of the matrix where there is one; inexact."""
    typed = [dtypes.dtype_and_weak(x) for x in leaves]
    if not callable(A):
        typed.append(dtypes.dtype_and_weak(A))
    return dtypes.to_inexact_dtype(dtypes.lattice_result(*typed)[0])


def _own(x: Any, dtype: Any) -> Any:
    """Floating leaves of a tree keep their kind unless the matrix is wider."""
    return dtypes.lattice_result(dtypes.dtype_and_weak(x), (dtype, False))[0]


def _check_like(
    where_: str, what: str, candidate: Any, leaves: list[Any], structure: Any
) -> None:
    others, form = tree.tree_flatten(candidate)
    if form != structure:
        raise (TypeError if what.endswith(")") else ValueError)(
            f"{where_}: {what} must have the structure of b, {structure}, got {form}"
        )
    shapes = [aval_of(x).shape for x in others], [aval_of(x).shape for x in leaves]
    if shapes[0] != shapes[1]:
        raise ValueError(
            f"{where_}: arrays in {what} and b must have matching shapes: {shapes[0]} "
            f"vs {shapes[1]}"
        )


def _dot(x: Any, y: Any) -> Any:
    return contractions.vdot(x, y)


def _square(x: Any) -> Any:
    return contractions.vdot(x, x).real


def _solve_system(p: _Problem, iterate: Callable[..., Any], symmetric: bool) -> Any:
    """The solution as a tree; the iteration from `x0` serves for transposes too."""

    def solve(matvec: Any, b: Any) -> Any:
        return iterate(matvec, b, p.x0, p.precondition)

    def solve_transposed(vecmat: Any, b: Any) -> Any:
        # The preconditioner is that of the matrix itself, so none is used.
        return iterate(vecmat, b, creation.zeros_like(b), _as_is)

    x = linear_solve.custom_linear_solve(
        p.matvec,
        p.b,
        solve,
        solve if symmetric else solve_transposed,
        symmetric=symmetric,
    )
    return p.unravel(x)


def _squared_tolerance(b: Any, tol: Any, atol: Any) -> Any:
    """The square of the size of a residual that is small enough."""
    size = linalg.norm(b)
    return ufunc.maximum(tol * size, atol).astype(aval_of(size).dtype) ** 2


# -- conjugate gradients ---------------------------------------------------------------


def cg(
    A: ArrayLike | Callable[[Any], Any],
    b: PyTree,
    x0: PyTree = None,
    *,
    tol: float = 1e-5,
    atol: float = 0.0,
    maxiter: int | None = None,
    M: ArrayLike | Callable[[Any], Any] | None = None,
) -> tuple[PyTree, None]:
    """Solves `A x = b` by conjugate gradients, for A Hermitian and positive definite.

    Differs from SciPy: `A` may be a function, and `b` a pytree of arrays, but not a
    sparse matrix; the relative tolerance is called `tol`; the second result is None,
    and says nothing about convergence; there is no `callback`.

    Args:
      A: a matrix, or a function that multiplies by it.
      b: the right side, an array or a pytree of arrays.
      x0: where to start; default zero.
      tol, atol: stop where the residual is no larger than `max(tol * norm(b), atol)`.
      maxiter: steps at most; default ten times the number of unknowns.
      M: an approximate inverse of `A`, as a matrix or a function.

    Returns:
      x, of the structure of `b`, and None. It can be differentiated by `b`, and by what
      `A` depends on.

    Raises:
      TypeError: `A` is neither a function nor an array, or returns another structure.
      ValueError: shapes or structures do not agree.

    Source: Hestenes and Stiefel, Methods of conjugate gradients for solving linear
    systems, 1952.

    Example:
      >>> import numpy as np
      >>> from olympus.scipy.sparse import linalg
      >>> a = np.array([[2.0, 0.0], [0.0, 4.0]], "float32")
      >>> print(linalg.cg(a, np.array([2.0, 4.0], "float32"))[0].round(4))
      [1. 1.]
    """
    p = _problem("cg", A, b, x0, M, maxiter)

    def iterate(matvec: Any, b: Any, x0: Any, precondition: Any) -> Any:
        bound = _squared_tolerance(b, tol, atol)

        def is_running(state: Any) -> Any:
            _, r, _, gamma, k = state
            # Without a preconditioner it is the square already.
            size = gamma.real if precondition is _as_is else _square(r)
            return (size > bound) & (k < p.maxiter)

        def step(state: Any) -> Any:
            x, r, direction, gamma, k = state
            image = matvec(direction)
            length = gamma / _dot(direction, image).astype(aval_of(b).dtype)
            x, r = x + length * direction, r - length * image
            better = precondition(r)
            new = _dot(r, better).astype(aval_of(b).dtype)
            return x, r, better + new / gamma * direction, new, k + 1

        r = b - matvec(x0)
        better = precondition(r)
        gamma = _dot(r, better).astype(aval_of(b).dtype)
        start = (x0, r, better, gamma, np.int32(0))
        return while_loop.while_loop(is_running, step, start)[0]

    return _solve_system(
        p, iterate, symmetric=dtypes.kind(aval_of(p.b).dtype) != "c"
    ), None


def bicgstab(
    A: ArrayLike | Callable[[Any], Any],
    b: PyTree,
    x0: PyTree = None,
    *,
    tol: float = 1e-5,
    atol: float = 0.0,
    maxiter: int | None = None,
    M: ArrayLike | Callable[[Any], Any] | None = None,
) -> tuple[PyTree, None]:
    """Solves `A x = b` by stabilized biconjugate gradients, for any nonsingular A.

    Differs from SciPy: `A` may be a function, and `b` a pytree of arrays, but not a
    sparse matrix; the relative tolerance is called `tol`; the second result is None,
    and says nothing about convergence; there is no `callback`.

    Args:
      A: a matrix, or a function that multiplies by it.
      b: the right side, an array or a pytree of arrays.
      x0, tol, atol, maxiter, M: as in `cg`.

    Returns:
      x, of the structure of `b`, and None. It can be differentiated by `b`, and by what
      `A` depends on.

    Raises:
      TypeError: `A` is neither a function nor an array, or returns another structure.
      ValueError: shapes or structures do not agree.

    Source: van der Vorst, Bi-CGSTAB: a fast and smoothly converging variant of Bi-CG
    for the solution of nonsymmetric linear systems, 1992.

    Example:
      >>> import numpy as np
      >>> from olympus.scipy.sparse import linalg
      >>> a = np.array([[2.0, 1.0], [0.0, 4.0]], "float32")
      >>> print(linalg.bicgstab(a, np.array([3.0, 4.0], "float32"))[0].round(4))
      [1. 1.]
    """
    p = _problem("bicgstab", A, b, x0, M, maxiter)

    def iterate(matvec: Any, b: Any, x0: Any, precondition: Any) -> Any:
        bound = _squared_tolerance(b, tol, atol)

        def is_running(state: Any) -> Any:
            _, r, *_, k, broken = state
            return (_square(r) > bound) & (k < p.maxiter) & ~broken

        def step(state: Any) -> Any:
            x, r, shadow, alpha, omega, rho, direction, image, k, _ = state
            new = _dot(shadow, r)
            beta = new / rho * alpha / omega
            direction = r + beta * (direction - omega * image)
            better = precondition(direction)
            image = matvec(better)
            alpha = new / _dot(shadow, image)
            s = r - alpha * image
            s_better = precondition(s)
            t = matvec(s_better)
            # Half a step may be all that is needed; then t is zero too.
            early = _square(s) <= bound
            omega = where(early, 0, _dot(t, s) / where(early, 1, _dot(t, t)))
            x = x + alpha * better + omega * s_better
            r = s - omega * t
            broken = ((omega == 0) | (alpha == 0)) & ~early
            k = k + 1
            return x, r, shadow, alpha, omega, new, direction, image, k, broken

        r = b - matvec(x0)
        one = np.ones((), aval_of(b).dtype)[()]
        zero = creation.zeros_like(b)
        start = (x0, r, r, one, one, one, zero, zero, np.int32(0), np.bool_(False))
        return while_loop.while_loop(is_running, step, start)[0]

    return _solve_system(p, iterate, symmetric=False), None


# -- generalized minimal residuals -----------------------------------------------------


def gmres(
    A: ArrayLike | Callable[[Any], Any],
    b: PyTree,
    x0: PyTree = None,
    *,
    tol: float = 1e-5,
    atol: float = 0.0,
    restart: int = 20,
    maxiter: int | None = None,
    M: ArrayLike | Callable[[Any], Any] | None = None,
    solve_method: str = "batched",
) -> tuple[PyTree, Any]:
    """Solves `A x = b` by least residuals in Krylov spaces, for any nonsingular A.

    Differs from SciPy: `A` may be a function, and `b` a pytree of arrays, but not a
    sparse matrix; the relative tolerance is called `tol`; the second result is always
    0, and says nothing about convergence; there is no `callback`.

    Args:
      A: a matrix, or a function that multiplies by it.
      b: the right side, an array or a pytree of arrays.
      x0, tol, atol, M: as in `cg`.
      restart: dimension of the spaces; that many vectors are kept in memory.
      maxiter: spaces at most; default ten times the number of unknowns.
      solve_method: "batched" or "incremental"; both compute the same here.

    Returns:
      x, of the structure of `b`, and 0. It can be differentiated by `b`, and by what
      `A` depends on.

    Raises:
      TypeError: `A` is neither a function nor an array, or returns another structure.
      ValueError: shapes or structures do not agree, or there is no such method.

    Source: Saad and Schultz, GMRES: a generalized minimal residual algorithm for
    solving nonsymmetric linear systems, 1986.

    Example:
      >>> import numpy as np
      >>> from olympus.scipy.sparse import linalg
      >>> a = np.array([[2.0, 1.0], [0.0, 4.0]], "float32")
      >>> print(linalg.gmres(a, np.array([3.0, 4.0], "float32"))[0].round(4))
      [1. 1.]
    """
    if solve_method not in ("batched", "incremental"):
        raise ValueError(
            f"scipy.sparse.linalg.gmres: invalid solve_method {solve_method}, must be "
            "either 'incremental' or 'batched'"
        )
    p = _problem("gmres", A, b, x0, M, maxiter, any_shape=False)
    size = min(operator.index(restart), max(aval_of(p.b).size, 1))
    if size < 1:
        raise ValueError(
            f"scipy.sparse.linalg.gmres: restart must be positive, got {restart}"
        )

    def iterate(matvec: Any, b: Any, x0: Any, precondition: Any) -> Any:
        bound = _squared_tolerance(b, tol, atol)

        def is_running(state: Any) -> Any:
            _, r, k = state
            return (_square(r) > bound) & (k < p.maxiter)

        def step(state: Any) -> Any:
            x, r, k = state
            x = x + _least_residual(matvec, precondition, r, size)
            return x, b - matvec(x), k + 1

        start = (x0, b - matvec(x0), np.int32(0))
        return while_loop.while_loop(is_running, step, start)[0]

    return _solve_system(p, iterate, symmetric=False), creation.zeros((), np.int32)


def _least_residual(matvec: Any, precondition: Any, r: Any, size: int) -> Any:
    """The change of x in one Krylov space that leaves the least of the residual `r`."""
    dtype = aval_of(r).dtype
    length = linalg.norm(r).astype(dtype)
    first = r / where(length == 0, 1, length)
    basis = creation.zeros((size + 1, aval_of(r).shape[0]), dtype).at[0].set(first)
    images = creation.zeros((size + 1, size), dtype)
    tiny = float(dtypes.finfo(dtype).eps)

    def step(j: Any, state: Any) -> Any:
        basis, images = state
        v = matvec(precondition(basis[j]))
        before = linalg.norm(v)
        # Twice, for the sake of rounding errors: Giraud and Langou, 2005.
        column = contractions.matmul(basis.conj(), v)
        v = v - contractions.matmul(column, basis)
        again = contractions.matmul(basis.conj(), v)
        v = v - contractions.matmul(again, basis)
        after = linalg.norm(v)
        # A space that the matrix maps into itself holds the solution: no new vector.
        lost = after <= tiny * before
        v = where(lost, 0, v / where(lost, 1, after).astype(dtype))
        column = (column + again).at[j + 1].set(where(lost, 0, after).astype(dtype))
        return basis.at[j + 1].set(v), images.at[:, j].set(column)

    basis, images = loops.fori_loop(0, size, step, (basis, images))
    # Columns of missing vectors are zero; a unit pivot leaves them out.
    q, upper = qr_decomposition.qr(images, full_matrices=False)
    pivots = abs(matrices.diagonal(upper))
    absent = pivots <= tiny * reductions.max(pivots, initial=0)
    eye = np.eye(size, dtype=bool)
    upper = where(eye & absent[:, None], 1, where(absent[:, None], 0, upper))
    right = where(absent, 0, q[0].conj() * length)
    y = triangular.triangular_solve(upper, right[:, None], left_side=True, lower=False)
    return precondition(contractions.matmul(y[:, 0], basis[:size]))
