"""The Dirichlet distribution, of vectors that add up to 1."""

from __future__ import annotations

from typing import Any

from olympus._src.core import avals, dtypes
from olympus._src.core.array_type import Array, ArrayLike
from olympus._src.interpreters import evaluate
from olympus._src.lax import elementwise as lax
from olympus._src.lax import shaping, special
from olympus._src.numpy import join_split, reductions
from olympus._src.scipy.stats.arguments import (
    INFINITY,
    check,
    same_dtype,
    where,
)
from olympus._src.scipy.stats.formulas import xlogy

_SLACK = 1e-10  # by how much a vector's sum may differ from 1, and the rounding of it


@evaluate.fuse
def _logpdf(x: Any, alpha: Any) -> Any:
    check("scipy.stats.dirichlet.logpdf", ("x", "alpha"), (x, alpha))
    x, alpha = same_dtype(x, alpha)
    shape, sizes = avals.aval_of(x).shape, avals.aval_of(alpha).shape
    if len(sizes) != 1:
        raise ValueError(
            f"scipy.stats.dirichlet.logpdf: alpha must be a vector, got shape {sizes}; "
            "map over further axes with vmap"
        )
    if not shape or shape[0] not in (sizes[0], sizes[0] - 1):
        raise ValueError(
            "scipy.stats.dirichlet.logpdf: the first axis of x must be as long as "
            f"alpha, or one shorter, got {shape} and {sizes}; transpose x"
        )
    if shape[0] == sizes[0] - 1:
        last = 1 - reductions.sum(x, 0, keepdims=True)
        x = join_split.concatenate([x, last], axis=0)
    eps = float(dtypes.finfo(avals.aval_of(x).dtype).eps)
    off = lax.abs_(reductions.sum(x, 0) - 1) > max(_SLACK, 4 * sizes[0] * eps)
    outside = reductions.any((x < 0) | (x > 1), 0) | off
    weights = shaping.broadcast_in_dim(alpha, avals.aval_of(x).shape, (0,))
    inside = (x >= 0) & (x <= 1)
    terms = xlogy(weights - 1, where(inside, x, 1))
    scale = reductions.sum(special.lgamma(alpha)) - special.lgamma(
        reductions.sum(alpha)
    )
    return where(outside, -INFINITY, reductions.sum(terms, 0) - scale)


def logpdf(x: ArrayLike, alpha: ArrayLike) -> Array:
    """Logarithm of the density of the Dirichlet distribution.

    Args:
      x: array with the entries of vectors along its first axis; the last entry may be
        left out. Vectors that do not add up to 1 have no density.
      alpha: vector of the concentrations, positive.

    Returns:
      A floating array of the shape of x without its first axis.

    Raises:
      ValueError: alpha is not a vector, or x does not fit it.

    Source: SciPy, `scipy.stats.dirichlet`.
    """
    return _logpdf(x, alpha)


@evaluate.fuse
def _pdf(x: Any, alpha: Any) -> Any:
    return lax.exp(logpdf(x, alpha))


def pdf(x: ArrayLike, alpha: ArrayLike) -> Array:
    """Density of the Dirichlet distribution; see `logpdf`.

    Args:
      x: array with the entries of vectors along its first axis.
      alpha: vector of the concentrations, positive.

    Returns:
      A floating array of the shape of x without its first axis.
    """
    return _pdf(x, alpha)
