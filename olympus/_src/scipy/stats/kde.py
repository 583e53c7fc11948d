"""Densities estimated from samples, by a normal kernel around each point."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

from olympus._src.core import avals, dtypes
from olympus._src.core.array_type import Array, ArrayLike, KeyArray, Shape
from olympus._src.interpreters import evaluate
from olympus._src.lax import elementwise as lax
from olympus._src.lax import shaping
from olympus._src.lax.linalg import cholesky_decomposition, triangular
from olympus._src.numpy import (
    index_routines,
    linear_systems,
    reductions,
    selection,
    softmax_functions,
    statistics,
)
from olympus._src.random import choice as drawing
from olympus._src.random import keys, multivariate
from olympus._src.scipy.special import erf_ndtr
from olympus._src.scipy.stats.arguments import check, same_dtype
from olympus._src.tree import registry

_NAME = "scipy.stats.gaussian_kde"


@registry.register_pytree_node_class
class gaussian_kde:
    """The density of a sample, as a mixture of normal distributions around its points.

    Differs from SciPy: an estimate is never changed, so `set_bandwidth` raises;
    `resample` takes a key first; boxes have one dimension; there is no `marginal`; a
    sample without spread in some direction is not an error.

    Args:
      dataset: points [d, n], a column each, or n numbers; real.
      bw_method: the width of the kernels, as a factor of the sample's own: 'scott' (the
        default), 'silverman', a number, or a function of the estimate.
      weights: of the points, a vector of n positive numbers; default all equal.

    Raises:
      ValueError: there is only one point, or weights or bw_method do not fit.
      NotImplementedError: the points are complex.
      TypeError: the points are not an array.

    Source: SciPy, `scipy.stats.gaussian_kde`.

    Example:
      >>> import numpy as np
      >>> from olympus.scipy import stats
      >>> density = stats.gaussian_kde(np.float32([1, 2, 4]))
      >>> print(density.integrate_box_1d(-100, 100))
      1.0
    """

    __slots__ = ("covariance", "dataset", "inv_cov", "neff", "weights")

    def __init__(
        self,
        dataset: ArrayLike,
        bw_method: str | ArrayLike | Callable[[gaussian_kde], ArrayLike] | None = None,
        weights: ArrayLike | None = None,
    ) -> None:
        if (
            avals.is_array_like(dataset)
            and dtypes.kind(avals.aval_of(dataset).dtype) == "c"
        ):
            raise NotImplementedError(
                f"{_NAME}: dataset must be real, got complex numbers; give real and "
                "imaginary parts as two rows"
            )
        check(_NAME, ("dataset",), (dataset,))
        (points,) = same_dtype(dataset)
        self.dataset = _as_rows(points)
        if self.n < 2:
            raise ValueError(
                f"{_NAME}: dataset must hold several points, got shape "
                f"{avals.aval_of(dataset).shape}; points are columns"
            )
        dtype = avals.aval_of(self.dataset).dtype
        if weights is None:
            self.weights = shaping.full((self.n,), 1 / self.n, dtype)
        else:
            check(_NAME, ("weights",), (weights,))
            if avals.aval_of(weights).shape != (self.n,):
                raise ValueError(
                    f"{_NAME}: weights must be a vector of length {self.n}, got shape "
                    f"{avals.aval_of(weights).shape}"
                )
            _, shares = same_dtype(self.dataset, weights)
            self.weights = shares / reductions.sum(shares)
        self.neff = 1 / reductions.sum(self.weights * self.weights)
        factor = self._factor("scott" if bw_method is None else bw_method)
        spread = statistics.cov(self.dataset, bias=False, aweights=self.weights)
        spread = shaping.reshape(spread, (self.d, self.d))
        self.covariance = spread * factor**2
        self.inv_cov = linear_systems.inv(spread) / factor**2

    def _factor(self, method: Any) -> Any:
        if callable(method):
            return method(self)
        if method == "scott":
            return self.neff ** (-1 / (self.d + 4))
        if method == "silverman":
            return (self.neff * (self.d + 2) / 4) ** (-1 / (self.d + 4))
        if isinstance(method, str) or not avals.is_array_like(method):
            raise ValueError(
                f"{_NAME}: bw_method must be 'scott', 'silverman', a number or a "
                f"function, got {method!r}"
            )
        return method

    @property
    def d(self) -> int:
        """How many numbers a point has."""
        return int(avals.aval_of(self.dataset).shape[0])

    @property
    def n(self) -> int:
        """How many points there are."""
        return int(avals.aval_of(self.dataset).shape[1])

    def tree_flatten(self) -> tuple[tuple[Array, ...], None]:
        """The arrays, for trees."""
        return tuple(getattr(self, key) for key in self.__slots__), None

    @classmethod
    def tree_unflatten(cls, static: None, children: Sequence[Any]) -> gaussian_kde:
        """An estimate of arrays that are known."""
        self = object.__new__(cls)
        for key, child in zip(cls.__slots__, children, strict=True):
            setattr(self, key, child)
        return self

    def logpdf(self, x: ArrayLike) -> Array:
        """Logarithm of the density at points [d, m], or at m numbers.

        Returns:
          A vector of m numbers.

        Raises:
          ValueError: points have another number of rows.
        """
        check(f"{_NAME}.logpdf", ("x",), (x,))
        (points,) = same_dtype(x)
        points = self._points(points)
        return _log_density(self.dataset, self.weights, self.covariance, points)

    def evaluate(self, points: ArrayLike) -> Array:
        """Density at points [d, m], or at m numbers; see `logpdf`."""
        return lax.exp(self.logpdf(points))

    def pdf(self, x: ArrayLike) -> Array:
        """Density at points [d, m], or at m numbers; see `logpdf`."""
        return self.evaluate(x)

    __call__ = evaluate

    def _points(self, points: Any) -> Any:
        rows = _as_rows(points)
        shape = avals.aval_of(rows).shape
        if shape == (1, self.d):
            rows = shaping.reshape(rows, (self.d, 1))
        elif shape[0] != self.d:
            raise ValueError(
                f"{_NAME}: points must have {self.d} rows, got shape {shape}; points "
                "are columns"
            )
        return rows

    def integrate_gaussian(self, mean: ArrayLike, cov: ArrayLike) -> Array:
        """Integral of the density times that of a normal distribution.

        Args:
          mean: vector of d numbers, or a number where d is 1.
          cov: matrix [d, d], or a number where d is 1.

        Raises:
          ValueError: they have other shapes.
        """
        _, mean, cov = same_dtype(self.dataset, mean, cov)
        for name, x, shape in (("mean", mean, (self.d,)), ("cov", cov, (self.d,) * 2)):
            own = avals.aval_of(x).shape
            if own != shape and not (self.d == 1 and math.prod(own) == 1):
                raise ValueError(f"{_NAME}: {name} must have shape {shape}, got {own}")
        mean = shaping.reshape(mean, (self.d, 1))
        total = self.covariance + shaping.reshape(cov, (self.d, self.d))
        return lax.exp(_log_density(self.dataset, self.weights, total, mean))[0]

    def integrate_box_1d(self, low: ArrayLike, high: ArrayLike) -> Array:
        """Weight between two numbers, where points are numbers.

        Raises:
          ValueError: d is not 1, or an end is not a number.
        """
        _, low, high = same_dtype(self.dataset, low, high)
        if self.d != 1 or avals.aval_of(low).shape or avals.aval_of(high).shape:
            raise ValueError(
                f"{_NAME}.integrate_box_1d: points and both ends must be numbers, got "
                f"points of {self.d} and ends of shapes {avals.aval_of(low).shape} and "
                f"{avals.aval_of(high).shape}"
            )
        width = lax.sqrt(self.covariance[0, 0])
        below, above = ((end - self.dataset[0]) / width for end in (low, high))
        return reductions.sum(
            self.weights * (erf_ndtr.ndtr(above) - erf_ndtr.ndtr(below))
        )

    def integrate_kde(self, other: gaussian_kde) -> Array:
        """Integral of the product of two densities.

        Raises:
          ValueError: their points have different numbers of entries.
        """
        if other.d != self.d:
            raise ValueError(
                f"{_NAME}.integrate_kde: points must be of one size, got {self.d} and "
                f"{other.d}"
            )
        total = self.covariance + other.covariance
        logs = _log_density(self.dataset, self.weights, total, other.dataset)
        return reductions.sum(lax.exp(logs) * other.weights)

    def resample(self, key: KeyArray, shape: Shape = ()) -> Array:
        """Points drawn from the density.

        Args:
          key: a key of random numbers.
          shape: of the draws.

        Returns:
          An array [d, *shape].
        """
        ours = keys.split(key)
        places = drawing.choice(ours[0], self.n, shape, p=self.weights)
        dtype = avals.aval_of(self.dataset).dtype
        origin = shaping.full((self.d,), 0, dtype)
        noise = multivariate.multivariate_normal(
            ours[1], origin, self.covariance, shape, dtype
        )
        last = avals.aval_of(noise).ndim - 1
        noise = shaping.transpose(noise, (last, *range(last)))
        return index_routines.take(self.dataset, places, 1) + noise

    def integrate_box(
        self,
        low_bounds: ArrayLike,
        high_bounds: ArrayLike,
        maxpts: int | None = None,
    ) -> NoReturn:
        """Not offered: only `integrate_box_1d` is."""
        raise NotImplementedError(
            f"{_NAME}.integrate_box: boxes must be intervals; use integrate_box_1d"
        )

    def set_bandwidth(self, bw_method: object = None) -> NoReturn:
        """Not offered: an estimate does not change."""
        raise NotImplementedError(
            f"{_NAME}.set_bandwidth: estimates are never changed; make a new one with "
            "the bw_method"
        )


def _as_rows(x: Any) -> Any:
    shape = avals.aval_of(x).shape
    if len(shape) > 2:
        raise ValueError(
            f"{_NAME}: points must be an array [d, m] or [m], got shape {shape}"
        )
    return x if len(shape) == 2 else shaping.reshape(x, (1, math.prod(shape)))


@evaluate.fuse
def _log_density(dataset: Any, weights: Any, cov: Any, points: Any) -> Any:
    """Logarithm of the mixture at points; kernels of one covariance."""
    dataset, weights, cov, points = same_dtype(dataset, weights, cov, points)
    factor = cholesky_decomposition.cholesky(cov)
    centers, at = (
        triangular.triangular_solve(factor, x, left_side=True, lower=True)
        for x in (dataset, points)
    )
    d, n = avals.aval_of(centers).shape
    m = avals.aval_of(at).shape[1]
    apart = shaping.reshape(centers, (d, n, 1)) - shaping.reshape(at, (d, 1, m))
    squares = reductions.sum(apart * apart, 0)
    volume = d * math.log(2 * math.pi) / 2
    volume = volume + reductions.sum(lax.log(selection.diagonal(factor)))
    weights = shaping.reshape(weights, (n, 1))
    return softmax_functions.logsumexp(-squares / 2, 0, weights) - volume
