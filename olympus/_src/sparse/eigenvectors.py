"""Some eigenvectors of a symmetric operator, by LOBPCG."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from olympus._src.control_flow import while_loop
from olympus._src.core import avals
from olympus._src.core.array_type import Array, ArrayLike
from olympus._src.lax import elementwise, shaping
from olympus._src.numpy import (
    contractions,
    creation,
    decompositions,
    join_split,
    reductions,
)

aval_of = avals.aval_of


def lobpcg_standard(
    A: ArrayLike | Callable[[Array], Array],
    X: ArrayLike,
    m: int = 100,
    tol: float | ArrayLike | None = None,
) -> tuple[Array, Array, Array]:
    """The largest eigenvalues of a symmetric matrix and their eigenvectors.

    Each step looks for better vectors among the last ones, their residuals and the last
    change, of which QR decomposition makes a basis.

    Args:
      A: a symmetric positive semidefinite matrix [n, n], or a function that multiplies
        by it: it maps arrays [n, j] to arrays [n, j].
      X: initial vectors [n, k], floating; `5 * k` must be less than n.
      m: the greatest number of steps.
      tol: stop when residuals are below `10 * n * (norm + eigenvalue)` times this;
        default the precision of the dtype.

    Returns:
      The eigenvalues [k] in descending order, the eigenvectors as columns [n, k], and
      the number of steps.

    Raises:
      ValueError: shapes do not fit, or there are too many vectors.
      TypeError: `X` is not floating.

    Source: Knyazev, Toward the optimal preconditioned eigensolver (2001).

    Example:
      >>> import olympus.numpy as jnp
      >>> from olympus.experimental import sparse
      >>> matrix = jnp.diag(jnp.arange(1.0, 21.0))
      >>> theta, _, _ = sparse.linalg.lobpcg_standard(matrix, jnp.ones((20, 1)))
      >>> print(abs(theta - 20) < 1e-3)
      [ True]
    """
    X = creation.asarray(X)
    multiply = _as_function(A, X)
    n, k = X.shape
    limit: Any = float(np.finfo(X.dtype).eps) if tol is None else tol

    def project(basis: Any, image: Any) -> Any:
        gram = contractions.matmul(shaping.transpose(basis, (1, 0)), image)
        values, vectors = decompositions.eigh(
            (gram + shaping.transpose(gram, (1, 0))) / 2
        )
        return values[::-1][:k], vectors[:, ::-1][:, :k]

    def residual(theta: Any, x: Any, image: Any) -> Any:
        return image - x * theta

    def is_done(theta: Any, r: Any, norm: Any) -> Any:
        sizes = elementwise.sqrt(reductions.sum(r * r, axis=0))
        return reductions.all(sizes <= 10 * n * limit * (norm + abs(theta)))

    first, _ = decompositions.qr(X)
    image = multiply(first)
    theta, coefficients = project(first, image)
    x = contractions.matmul(first, coefficients)
    image = contractions.matmul(image, coefficients)

    def step(state: Any) -> Any:
        i, x, image, change, theta, _ = state
        r = residual(theta, x, image)
        parts = [x, _normalize(r), _normalize(change)]
        basis, _ = decompositions.qr(join_split.concatenate(parts, 1))
        theta, c = project(basis, multiply(basis))
        new = contractions.matmul(basis, c)
        image = multiply(new)
        overlap = contractions.matmul(shaping.transpose(x, (1, 0)), new)
        change = new - contractions.matmul(x, overlap)
        norm = reductions.max(abs(theta))
        done = is_done(theta, residual(theta, new, image), norm)
        return i + 1, new, image, change, theta, done

    done = is_done(theta, residual(theta, x, image), reductions.max(abs(theta)))
    state = (np.int32(0), x, image, shaping.full_like(x, 0), theta, done)
    i, x, _, _, theta, _ = while_loop.while_loop(
        lambda s: (s[0] < m) & ~s[5], step, state
    )
    return theta, x, i


def _normalize(x: Any) -> Any:
    """Columns of length 1; zeros stay."""
    sizes = elementwise.sqrt(reductions.sum(x * x, axis=0))
    one = aval_of(x).dtype.type(1)
    return x / (sizes + (sizes == 0) * one)


def _as_function(A: Any, X: Any) -> Callable[[Any], Any]:
    name = "lobpcg_standard"
    if aval_of(X).ndim != 2 or aval_of(X).dtype.kind not in "fV":
        kind = TypeError if aval_of(X).ndim == 2 else ValueError
        raise kind(
            f"{name}: X must be a matrix of floats, got {aval_of(X).short()}; convert "
            "it with astype(float)"
        )
    n, k = X.shape
    if not 0 < 5 * k < n:
        raise ValueError(
            f"{name}: must have search dim * 5 < matrix dim, got {k} * 5 and {n}; use "
            "numpy.linalg.eigh for small matrices"
        )
    if not callable(A):
        shape = tuple(A.shape)
        if shape != (n, n):
            raise ValueError(
                f"{name}: A must have shape ({n}, {n}) for X of {aval_of(X).short()}, "
                f"got {shape}"
            )
        matrix = A
        return lambda x: matrix @ x
    return A
