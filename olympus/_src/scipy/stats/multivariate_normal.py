"""The normal distribution of vectors."""

from __future__ import annotations

import math
from typing import Any

from olympus._src.core import avals
from olympus._src.core.array_type import Array, ArrayLike
from olympus._src.interpreters import evaluate
from olympus._src.lax import elementwise as lax
from olympus._src.lax import shaping, sizes
from olympus._src.lax.linalg import cholesky_decomposition, triangular
from olympus._src.numpy import manipulation, reductions, selection
from olympus._src.scipy.stats.arguments import check, same_dtype

_NAME = "scipy.stats.multivariate_normal.logpdf"


@evaluate.fuse
def _logpdf(x: Any, mean: Any, cov: Any) -> Any:
    check(_NAME, ("x", "mean", "cov"), (x, mean, cov))
    x, mean, cov = same_dtype(x, mean, cov)
    shapes = [avals.aval_of(v).shape for v in (x, mean, cov)]
    if not shapes[1] and not shapes[2]:
        y = x - mean
        return -(y * y / cov + lax.log(2 * math.pi * cov)) / 2
    n = _size(*shapes)
    y = x - mean
    if not avals.aval_of(y).ndim:
        y = shaping.broadcast(y, (n,))
    if not shapes[2]:
        squares = reductions.sum(y * y, -1) / cov
        return -(squares + n * lax.log(2 * math.pi * cov)) / 2
    factor = cholesky_decomposition.cholesky(cov)
    diagonal = lax.log(selection.diagonal(factor, axis1=-2, axis2=-1))
    scale = n * math.log(2 * math.pi) + 2 * reductions.sum(diagonal, -1)
    return -(_squares(factor, y) + scale) / 2


def _size(x: Any, mean: Any, cov: Any) -> int:
    """The size of the vectors, which the shapes must agree on."""
    ends = [s[-1:] for s in (x, mean, cov) if s]
    square = not cov or (len(cov) > 1 and cov[-1] == cov[-2])
    if not square or len(set(ends)) != 1:
        raise ValueError(
            f"{_NAME}: x and mean must be vectors [..., n] and cov matrices "
            f"[..., n, n], got shapes {x}, {mean} and {cov}; vectors lie along the "
            "last axis"
        )
    return int(ends[0][0])


def _squares(factor: Any, y: Any) -> Any:
    """`y^T (L L^T)^-1 y` for a lower triangular matrix L and vectors y [..., n]."""
    matrices, vectors = avals.aval_of(factor).shape, avals.aval_of(y).shape
    n = vectors[-1]
    if len(matrices) == 2:
        # One matrix for all: the vectors are columns of one right-hand side.
        columns = shaping.transpose(
            shaping.reshape(y, (math.prod(vectors[:-1]), n)), (1, 0)
        )
        solved = triangular.triangular_solve(
            factor, columns, left_side=True, lower=True
        )
        return shaping.reshape(reductions.sum(solved * solved, 0), vectors[:-1])
    try:
        lead = sizes.broadcast_shapes(matrices[:-2], vectors[:-1])
    except ValueError:
        raise ValueError(
            f"{_NAME}: the leading axes must broadcast, got {vectors[:-1]} of x - mean "
            f"and {matrices[:-2]} of cov; sizes must be equal or 1"
        ) from None
    factor = manipulation.broadcast_to(factor, (*lead, n, n))
    columns = manipulation.broadcast_to(y, (*lead, n))
    columns = shaping.reshape(columns, (*lead, n, 1))
    solved = triangular.triangular_solve(factor, columns, left_side=True, lower=True)
    return reductions.sum(solved * solved, (-2, -1))


def logpdf(
    x: ArrayLike, mean: ArrayLike, cov: ArrayLike, allow_singular: None = None
) -> Array:
    """Logarithm of the density of the normal distribution of vectors.

    Differs from SciPy: `mean` and `cov` have to be given; a vector is not read as a
    diagonal matrix; covariances that are not positive definite give NaN and no error,
    and `allow_singular` must be None.

    Args:
      x: vectors [..., n] at which to evaluate.
      mean: vectors [..., n], or a number for all entries.
      cov: covariance matrices [..., n, n], positive definite; only a number for
        uncorrelated entries of one variance. The result is NaN for others. Where mean
        and cov are numbers both, x is an array of separate places.
      allow_singular: None.

    Returns:
      A floating array of the broadcast leading axes.

    Raises:
      ValueError: the shapes do not fit.
      NotImplementedError: `allow_singular` is given.

    Source: SciPy, `scipy.stats.multivariate_normal`.

    Example:
      >>> import olympus.numpy as onp
      >>> from olympus.scipy import stats
      >>> print(stats.multivariate_normal.logpdf(onp.zeros(2), 0.0, onp.eye(2)))
      -1.837877
    """
    if allow_singular is not None:
        raise NotImplementedError(
            f"{_NAME}: allow_singular must be None, got {allow_singular!r}; leave it "
            "out, and add a small multiple of the unit matrix to cov where it is "
            "singular"
        )
    return _logpdf(x, mean, cov)


@evaluate.fuse
def _pdf(x: Any, mean: Any, cov: Any) -> Any:
    return lax.exp(logpdf(x, mean, cov))


def pdf(x: ArrayLike, mean: ArrayLike, cov: ArrayLike) -> Array:
    """Density of the normal distribution of vectors; see `logpdf`.

    Args:
      x: vectors [..., n] at which to evaluate.
      mean: vectors [..., n], or a number.
      cov: covariance matrices [..., n, n], or a number.

    Returns:
      A floating array of the broadcast leading axes.
    """
    return _pdf(x, mean, cov)
