"""Polynomials: least-squares fits to points, and roots."""

from __future__ import annotations

import operator
from typing import Any, Literal, overload

import numpy as np

from olympus._src.core import dtypes
from olympus._src.core.array_type import Array, ArrayLike, OptionalArray
from olympus._src.interpreters.direct_calls import direct
from olympus._src.numpy import (
    arg_extremes,
    creation,
    decompositions,
    elementary,
    insertion,
    linear_systems,
    manipulation,
    polynomials,
    promotion,
    reductions,
    searching,
    selection,
    sorting,
)
from olympus._src.numpy.promotion import aval_of, check_arraylike

# -- fits ------------------------------------------------------------------------------


@overload
def polyfit(
    x: ArrayLike,
    y: ArrayLike,
    deg: int,
    rcond: float | None = ...,
    full: Literal[False] = ...,
    w: OptionalArray = ...,
    cov: Literal[False] = ...,
) -> Array: ...
@overload
def polyfit(
    x: ArrayLike,
    y: ArrayLike,
    deg: int,
    rcond: float | None = ...,
    full: bool = ...,
    w: OptionalArray = ...,
    cov: bool | str = ...,
) -> Array | tuple[Any, ...]: ...
@direct("_polyfit", 2)
def polyfit(
    x: ArrayLike,
    y: ArrayLike,
    deg: int,
    rcond: float | None = None,
    full: bool = False,
    w: OptionalArray = None,
    cov: bool | str = False,
) -> Array | tuple[Any, ...]:
    """The least-squares fit of a polynomial to points.

    Args:
      x: coordinates of the points [n].
      y: their values [n], or of several sets [n, k].
      deg: the polynomial's degree.
      rcond: which singular values count as zero, in proportion to the largest; default
        n times the dtype's spacing at 1.
      full: also return the diagnostics of the fit.
      w: weight of each point's residual, before it is squared [n].
      cov: return the covariance of the coefficients, too: scaled by the residuals, or,
        if "unscaled", as if the weights were inverse standard deviations.

    Returns:
      The coefficients [deg + 1] or [deg + 1, k], highest power first. With `full` a
      tuple of these, the sums of squared residuals [k], the rank, the singular values
      of the scaled matrix of powers, and `rcond`; with `cov` the pair of the
      coefficients and their covariances [deg + 1, deg + 1] or [deg + 1, deg + 1, k].

    Raises:
      TypeError: the arrays do not have these shapes.
      ValueError: `deg` is negative, or there are too few points to scale covariances.

    Source: NumPy, `numpy.polyfit`.

    Example:
      >>> import olympus.numpy as onp
      >>> x = onp.array([0.0, 1.0, 2.0, 3.0])
      >>> print(onp.round(onp.polyfit(x, 2 * x + 1, 1), 3))
      [2. 1.]
    """
    arrays = (x, y) if w is None else (x, y, w)
    check_arraylike("polyfit", *arrays)
    degree = operator.index(int(deg))
    if degree < 0:
        raise ValueError(f"numpy.polyfit: expected deg >= 0, got {degree}")
    _check_points(*[aval_of(a) for a in arrays])
    n = aval_of(x).shape[0]
    if rcond is None:
        dtype = dtypes.to_inexact_dtype(aval_of(x).dtype)
        rcond = n * float(dtypes.finfo(dtype).eps)
    cov = False if full else "unscaled" if cov == "unscaled" else bool(cov)
    if cov is True and n <= degree + 1:
        raise ValueError(
            "numpy.polyfit: the number of points must exceed the number of "
            f"coefficients to scale their covariance, got {n} points and "
            f"{degree + 1} coefficients; pass cov='unscaled'"
        )
    options = {"rcond": float(rcond), "cov": cov, "full": bool(full)}
    out = _polyfit(*arrays, degree=degree, **options)
    return (*out, creation.asarray(rcond)) if full else out


def _check_points(x: Any, y: Any, w: Any = None) -> None:
    if x.ndim != 1 or not x.size:
        raise TypeError(
            f"numpy.polyfit: expected a non-empty 1D vector for x, got {x.short()}"
        )
    if y.ndim not in (1, 2) or y.shape[0] != x.shape[0]:
        raise TypeError(
            "numpy.polyfit: expected x and y to have the same length, and y one or two "
            f"axes, got {x.short()} and {y.short()}"
        )
    if w is not None and w.shape != x.shape:
        raise TypeError(
            "numpy.polyfit: expected a 1D vector w of x's length, got "
            f"{w.short()} for {x.short()}"
        )


@promotion.evaluate.fuse
def _polyfit(*arrays: Any, degree: int, rcond: float, cov: Any, full: bool) -> Any:
    x, y, *weights = promotion.promote_inexact(*arrays)
    rows = polynomials.vander(x, degree + 1)
    for w in weights:
        rows = rows * w[:, None]
        y = y * (w[:, None] if aval_of(y).ndim == 2 else w)
    # Columns of one length keep the powers comparable.
    scale = elementary.sqrt(reductions.sum(rows * rows, axis=0))
    rows = rows / scale[None, :]
    solution, squares, rank, s = linear_systems.lstsq(rows, y, rcond)
    fit = solution / (scale if aval_of(solution).ndim == 1 else scale[:, None])
    if not cov:
        return (fit, squares, rank, s) if full else fit
    covariance = linear_systems.inv(rows.T @ rows) / (scale[:, None] * scale[None, :])
    if aval_of(y).ndim == 2:
        covariance = covariance[:, :, None]
    if cov is True:
        covariance = covariance * squares / (aval_of(x).shape[0] - (degree + 1))
    return fit, covariance


# -- roots -----------------------------------------------------------------------------


def roots(p: ArrayLike, *, strip_zeros: bool = True) -> Array:
    """Where a polynomial is zero.

    Differs from NumPy: the result is complex, even where all roots are real; they may
    come in another order.

    Args:
      p: vector of coefficients [n], highest power first.
      strip_zeros: leave out leading zeros first, which needs known values. If not, each
        leading zero gives a NaN at the end of the result.

    Returns:
      Complex numbers [n - 1], or fewer where zeros were left out.

    Raises:
      ValueError: `p` has more than one axis.
      ConcretizationTypeError: `p` is traced and `strip_zeros` is set.

    Source: NumPy, `numpy.roots`; the eigenvalues of the companion matrix.

    Example:
      >>> import olympus.numpy as onp
      >>> print(onp.roots(onp.array([1.0, -3.0, 2.0])))
      [2.+0.j 1.+0.j]
    """
    check_arraylike("roots", p)
    if aval_of(p).ndim > 1:
        raise ValueError(
            f"numpy.roots: p must be a vector of coefficients, got {aval_of(p).short()}"
        )
    p = manipulation.atleast_1d(p)
    if strip_zeros and aval_of(p).shape[0]:
        searching.concrete("roots", p, "pass strip_zeros=False")
        p = insertion.trim_zeros(p, "f")
    return _roots(p)


@promotion.program(1, name="roots")
def _roots(p: Any) -> Any:
    (p,) = promotion.promote_inexact(p)
    n, dtype = aval_of(p).shape[0], aval_of(p).dtype
    if n < 2:
        return creation.zeros((0,), dtypes.complex_dtype(dtype))
    # Leading zeros are turned to the end, where each adds an eigenvalue of zero.
    leading = arg_extremes.argmax(p != 0).astype(np.int32)
    leading = selection.where((p == 0).all(), n - 1, leading)
    places = (np.arange(n, dtype=np.int32) + leading) % n
    p = p[places]
    companion = creation.eye(n - 1, k=-1, dtype=dtype).at[0].set(-p[1:] / p[0])
    eigenvalues = decompositions.eigvals(companion)
    last = sorting.argsort((eigenvalues == 0) & (leading > 0), stable=True)
    is_root = np.arange(n - 1, dtype=np.int32) < n - 1 - leading
    return selection.where(is_root, eigenvalues[last], np.nan * (1 + 1j))
