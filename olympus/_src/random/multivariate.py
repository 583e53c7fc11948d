"""Distributions of vectors and matrices."""

from __future__ import annotations

import operator
from typing import Any

from olympus._src.core import avals
from olympus._src.core.array_type import (
    Array,
    ArrayLike,
    DTypeLike,
    KeyArray,
    Placement,
    Shape,
)
from olympus._src.lax import elementwise as ew
from olympus._src.lax import shaping, sizes
from olympus._src.lax.linalg import (
    cholesky_decomposition,
    hermitian_eigenvectors,
    matrices,
    qr_decomposition,
    singular_values,
)
from olympus._src.numpy import contractions, promotion
from olympus._src.random import arguments, keys
from olympus._src.random.arguments import (
    as_dtype,
    broadcast_parameter,
    number,
    one_program,
)
from olympus._src.random.continuous import (
    draw_exponential,
    draw_normal,
    sum_of_last,
)
from olympus._src.random.gamma import draw_generalized_normal
from olympus._src.random.uniform import split_in


@promotion.divides_result("random.ball")
def ball(
    key: KeyArray,
    d: int,
    p: float = 2,
    shape: int | Shape = (),
    dtype: DTypeLike | None = None,
    *,
    out_sharding: Placement = None,
) -> Array:
    """Points of the unit ball, all equally likely.

    Args:
      key: one key.
      d: number of dimensions.
      p: which norm the ball is of.
      shape: shape of the result without its last axis.
      dtype: float dtype; default the default one.
      out_sharding: how the result is divided over a mesh.

    Returns:
      Floats [*shape, d].

    Raises:
      ValueError: several keys are given, or the dtype is of the wrong kind.

    Source: Barthe, Guedon, Mendelson and Naor, "A probabilistic approach to the
      geometry of the l_p^n ball" (2005).

    Example:
      >>> from olympus import random
      >>> random.ball(random.key(0), 3, shape=(5,)).shape
      (5, 3)
    """
    key = keys.single_key("ball", key)
    dtype = arguments.float_dtype("ball", dtype)
    shape = arguments.shape_of("ball", shape)
    return _ball(key, p, d=operator.index(d), shape=shape, dtype=dtype)


@one_program
def _ball(key: Any, p: Any, *, d: int, shape: Any, dtype: Any) -> Any:
    direction_key, length_key = split_in(key, 2)
    points = draw_generalized_normal(direction_key, p, (*shape, d), dtype)
    exponential = draw_exponential(length_key, shape, dtype)
    p = as_dtype(p, dtype)
    powers = sum_of_last(ew.pow_(ew.abs_(points), p))
    norm = ew.pow_(ew.add(powers, exponential), ew.div(number(1, dtype), p))
    norm = shaping.broadcast_in_dim(
        norm, avals.aval_of(points).shape, tuple(range(len(shape)))
    )
    return ew.div(points, norm)


@promotion.divides_result("random.orthogonal")
def orthogonal(
    key: KeyArray,
    n: int,
    shape: int | Shape = (),
    dtype: DTypeLike | None = None,
    m: int | None = None,
    *,
    out_sharding: Placement = None,
) -> Array:
    """Matrices with orthonormal rows or columns, all equally likely.

    Args:
      key: one key.
      n: number of rows.
      shape: shape of the result without the matrices' axes.
      dtype: float or complex dtype; default the default float.
      m: number of columns; default n.
      out_sharding: how the result is divided over a mesh.

    Returns:
      An array [*shape, n, m].

    Raises:
      ValueError: several keys are given, or the dtype is of the wrong kind.

    Source: Mezzadri, "How to generate random matrices from the classical compact
      groups" (2007): Q of normal matrices, with R's diagonal made positive.

    Example:
      >>> from olympus import random
      >>> random.orthogonal(random.key(0), 3, shape=(2,)).shape
      (2, 3, 3)
    """
    key = keys.single_key("orthogonal", key)
    dtype = arguments.inexact_dtype("orthogonal", dtype)
    rows = operator.index(n)
    columns = rows if m is None else operator.index(m)
    shape = arguments.shape_of("orthogonal", shape)
    return _orthogonal(key, sides=(rows, columns), shape=shape, dtype=dtype)


@one_program
def _orthogonal(key: Any, *, sides: Any, shape: Any, dtype: Any) -> Any:
    return draw_orthogonal(key, sides, shape, dtype)


def draw_orthogonal(key: Any, sides: tuple[int, int], shape: Any, dtype: Any) -> Any:
    """Matrices [*shape, *sides]; wide ones are made tall and turned."""
    rows, columns = sides
    tall = (*shape, max(sides), min(sides))
    q, r = qr_decomposition.qr(draw_normal(key, tall, dtype), full_matrices=False)
    signs = ew.sign(matrices.diagonal(r))
    rank = len(tall)
    axes = (*range(rank - 2), rank - 1)
    q = ew.mul(q, shaping.broadcast_in_dim(signs, tall, axes))
    if rows >= columns:
        return q
    return shaping.transpose(q, (*range(rank - 2), rank - 1, rank - 2))


@promotion.divides_result("random.multivariate_normal")
def multivariate_normal(
    key: KeyArray,
    mean: ArrayLike,
    cov: ArrayLike,
    shape: int | Shape | None = None,
    dtype: DTypeLike | None = None,
    method: str = "cholesky",
    *,
    out_sharding: Placement = None,
) -> Array:
    """Vectors of a normal distribution with given mean and covariance.

    Args:
      key: one key.
      mean: vectors [..., n].
      cov: positive definite matrices [..., n, n].
      shape: shape of the result without its last axis; default what the other axes of
        `mean` and `cov` broadcast to.
      dtype: float dtype of the normal numbers that are drawn, which are then multiplied
        and added in what it and those of `mean` and `cov` promote to; default that of
        `mean` and `cov`.
      method: how the covariance is factored: 'cholesky', or 'eigh' or 'svd', which take
        singular ones too.
      out_sharding: how the result is divided over a mesh.

    Returns:
      Floats [*shape, n]; NaN where a covariance is not positive definite, or, with
        'eigh', has an eigenvalue below zero.

    Raises:
      ValueError: the shapes do not fit, several keys are given, or the method is
        unknown.

    Example:
      >>> from olympus import random
      >>> random.multivariate_normal(
      ...     random.key(0), jnp.zeros(2), jnp.eye(2), shape=(5,)
      ... ).shape
      (5, 2)
    """
    key = keys.single_key("multivariate_normal", key)
    if method not in ("cholesky", "eigh", "svd"):
        raise ValueError(
            "random.multivariate_normal: method must be one of 'cholesky', 'eigh' and "
            f"'svd', got {method!r}; choose one"
        )
    mean, cov = arguments.floats("multivariate_normal", mean, cov)
    n = _check_moments(avals.aval_of(mean), avals.aval_of(cov))
    if dtype is None:
        dtype = avals.aval_of(mean).dtype
    dtype = arguments.float_dtype("multivariate_normal", dtype)
    batch_shape = sizes.broadcast_shapes(
        avals.aval_of(mean).shape[:-1], avals.aval_of(cov).shape[:-2]
    )
    if shape is None:
        shape = batch_shape
    shape = arguments.shape_of("multivariate_normal", shape)
    arguments.check_broadcast("multivariate_normal", shape, batch_shape)
    whole = (*shape, n)
    return _multivariate_normal(key, mean, cov, shape=whole, dtype=dtype, method=method)


def _check_moments(mean: Any, cov: Any) -> int:
    """The number of dimensions."""
    if mean.ndim < 1:
        raise ValueError(
            "random.multivariate_normal requires mean.ndim >= 1, got mean.ndim == "
            f"{mean.ndim}; give a vector"
        )
    n = mean.shape[-1]
    if cov.ndim < 2 or cov.shape[-2:] != (n, n):
        raise ValueError(
            "random.multivariate_normal requires cov.shape == (..., n, n) for "
            f"n={n}, but got cov.shape == {cov.shape}; give one variance or "
            "covariance for each pair of dimensions"
        )
    return n


@one_program
def _multivariate_normal(
    key: Any, mean: Any, cov: Any, *, shape: Any, dtype: Any, method: str
) -> Any:
    drawn = draw_normal(key, shape, dtype)
    moved = contractions.einsum("...ij,...j->...i", _root_of(cov, method), drawn)
    return ew.add(
        *arguments.floats(
            "multivariate_normal", broadcast_parameter(mean, shape), moved
        )
    )


def _root_of(cov: Any, method: str) -> Any:
    """A matrix F with F F^T = cov."""
    if method == "cholesky":
        return cholesky_decomposition.cholesky(cov)
    if method == "eigh":
        vectors, variances = hermitian_eigenvectors.eigh(cov)
    else:
        vectors, variances, _ = singular_values.svd(cov)
    root = ew.sqrt(variances)
    return ew.mul(vectors, matrices.in_columns(root, avals.aval_of(root).shape[-1]))
