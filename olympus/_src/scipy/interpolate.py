"""Interpolation: of arrays at coordinates, and on grids of points in order."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from olympus._src.core import avals, dtypes
from olympus._src.core.array_type import Array, ArrayLike, Arrays
from olympus._src.lax import elementwise as lax
from olympus._src.numpy import (
    arg_extremes,
    arithmetic,
    creation,
    manipulation,
    promotion,
    reductions,
    searching,
    selection,
)
from olympus._src.scipy import checks

aval_of, where = checks.aval_of, selection.where

# -- arrays at places ------------------------------------------------------------------


def _mirror(i: Any, n: int) -> Any:
    period = max(2 * (n - 1), 1)
    folded = i % period
    return where(folded < n, folded, period - folded) if n > 1 else i * 0


def _reflect(i: Any, n: int) -> Any:
    folded = i % (2 * n)
    return where(folded < n, folded, 2 * n - 1 - folded)


# Which sample stands for one beyond the array.
_FOLDS: dict[str, Callable[[Any, int], Any]] = {
    "constant": lambda i, n: arithmetic.clip(i, 0, n - 1),
    "mirror": _mirror,
    "nearest": lambda i, n: arithmetic.clip(i, 0, n - 1),
    "reflect": _reflect,
    "wrap": lambda i, n: i % n,
}


def map_coordinates(
    input: ArrayLike,
    coordinates: Arrays,
    order: int,
    mode: str = "constant",
    cval: ArrayLike = 0.0,
) -> Array:
    """Values of an array at coordinates that need not be integers.

    Differs from SciPy: `order` has to be given, and is 0 or 1; "wrap" repeats after as
    many samples as there are, one more than in SciPy; "constant" interpolates
    linearly between the last sample and `cval`; there are no `output`, `prefilter` and
    modes "grid-...".

    Args:
      input: array.
      coordinates: for each axis an array; their shapes broadcast.
      order: 0 for the nearest sample, 1 for straight lines between samples.
      mode: what is beyond the array: "constant", the number `cval`; "nearest", its
        edge; "wrap", the array again; "mirror" or "reflect", its mirror image, about
        the middle or the border of its last sample.
      cval: the number.

    Returns:
      An array of the coordinates' shape and the dtype of `input`; where that is of
      integers, halves are rounded away from zero.

    Raises:
      NotImplementedError: there is no such order or mode here.
      ValueError: there is not one array of coordinates for each axis.

    Source: SciPy, `scipy.ndimage.map_coordinates`.

    Example:
      >>> import numpy as np
      >>> from olympus.scipy import ndimage
      >>> line = np.array([0.0, 10.0, 20.0], "float32")
      >>> print(ndimage.map_coordinates(line, [np.float32([0.5, 1.25])], order=1))
      [ 5.  12.5]
    """
    name = "scipy.ndimage.map_coordinates"
    input, cval = checks.as_arrays("ndimage.map_coordinates", input, cval)
    if order not in (0, 1):
        raise NotImplementedError(f"{name} currently requires order<=1, got {order}")
    if mode not in _FOLDS:
        raise NotImplementedError(
            f"{name} does not support mode {mode!r}; take one of {', '.join(_FOLDS)}"
        )
    places = [creation.asarray(c) for c in coordinates]
    aval = aval_of(input)
    if len(places) != aval.ndim:
        raise ValueError(
            f"{name}: coordinates must be a sequence of length input.ndim, but "
            f"{len(places)} != {aval.ndim}"
        )
    if mode != "constant" and not aval.size:
        raise ValueError(f"{name}: an empty array has no values, got {aval.short()}")
    places = list(manipulation.broadcast_arrays(*places)) if places else places
    return _map_coordinates(input, cval, *places, order=int(order), mode=mode)


@promotion.evaluate.fuse
def _map_coordinates(x: Any, cval: Any, *places: Any, order: int, mode: str) -> Any:
    aval = aval_of(x)
    x = manipulation.as_is(x)
    samples = lax.real(x) if dtypes.kind(aval.dtype) == "c" else x
    per_axis = [
        _neighbours(p, samples, n, order, mode)
        for p, n in zip(places, aval.shape, strict=True)
    ]
    total: Any = 0
    for corner in itertools.product(*per_axis):
        corner_value = x[tuple([index for index, _, _ in corner])]
        inside = math.prod([valid for _, valid, _ in corner], start=np.bool_(True))
        if mode == "constant":
            corner_value = where(inside, corner_value, cval)
        shares = [share for _, _, share in corner if share is not None]
        total = total + math.prod(shares, start=corner_value)
    if dtypes.kind(aval.dtype) in "iu" and dtypes.kind(aval_of(total).dtype) == "f":
        total = lax.round(total)
    return total.astype(aval.dtype)


def _neighbours(place: Any, samples: Any, n: int, order: int, mode: str) -> list[Any]:
    """Of each sample that counts: position, whether it is in the array, and share.

    They are computed in the wider of the dtypes of samples and places.
    """
    _, place = promotion.promote_inexact(samples, place)
    # Halves are rounded away from zero.
    first = lax.round(place) if order == 0 else lax.floor(place)
    share = place - first
    neighbours = []
    for step in range(order + 1):
        index = first.astype(np.int32) + step
        valid = (index >= 0) & (index < n)
        weight = None if order == 0 else (share if step else 1 - share)
        neighbours.append((_FOLDS[mode](index, n), valid, weight))
    return neighbours


# -- grids -----------------------------------------------------------------------------


class RegularGridInterpolator:
    """Values between samples on a grid of any number of axes.

    Differs from SciPy: `bounds_error` must be False, which is the default: points
    beyond the grid give `fill_value`; methods are "linear" and "nearest"; it is
    not checked whether the vectors increase or decrease all the way.

    Args:
      points: for each axis an increasing or decreasing vector of coordinates.
      values: samples [n, m, ..., *], with an axis for each of these vectors, and more.
      method: "linear" or "nearest".
      bounds_error: must be False, since a traced function cannot raise errors for
        points beyond the grid.
      fill_value: the value beyond the grid; None to extrapolate from the outermost
        cell.

    Raises:
      ValueError: sizes do not agree, `points` are not vectors, or there is no such
        method.
      TypeError: an argument is not an array.
      NotImplementedError: `bounds_error` is on.

    Source: SciPy, `scipy.interpolate.RegularGridInterpolator`.

    Example:
      >>> import numpy as np
      >>> from olympus.scipy import interpolate
      >>> x, y = np.float32([0, 1, 2]), np.float32([0, 10])
      >>> f = interpolate.RegularGridInterpolator((x, y), x[:, None] + y)
      >>> print(f(np.float32([[0.5, 5.0], [2.0, 1.0]])))
      [5.5 3. ]
    """

    def __init__(
        self,
        points: Sequence[ArrayLike],
        values: ArrayLike,
        method: str = "linear",
        bounds_error: bool = False,
        fill_value: ArrayLike | None = math.nan,
    ) -> None:
        _check_method(method)
        if bounds_error:
            raise NotImplementedError(
                "scipy.interpolate.RegularGridInterpolator: bounds_error must be "
                "False, since traced code raises no errors; look for NaN instead"
            )
        checks.check_arrays("interpolate.RegularGridInterpolator", *points, values)
        grid = tuple([creation.asarray(p) for p in points])
        (values,) = promotion.promote_inexact(creation.asarray(values))
        _check_grid(grid, values)
        if fill_value is not None:
            _check_fill(fill_value, values)
        self.method = method
        self.bounds_error = bounds_error
        self.fill_value = fill_value
        self.grid = grid
        self.values = values

    def __call__(
        self, xi: ArrayLike | Sequence[ArrayLike], method: str | None = None
    ) -> Array:
        """The values at points.

        Args:
          xi: points [..., d], or a tuple of an array for each axis.
          method: "linear" or "nearest"; default that of the interpolator.

        Returns:
          An array [..., *].

        Raises:
          ValueError: points have another number of coordinates, or there is no such
            method.
        """
        chosen = self.method if method is None else _check_method(method)
        by_axis = isinstance(xi, (tuple, list))
        places: Any = xi
        if by_axis:
            stacked = creation.asarray(manipulation.broadcast_arrays(*places))
            places = manipulation.moveaxis(stacked, 0, -1)
        checks.check_arrays("interpolate.RegularGridInterpolator", places)
        if aval_of(places).ndim == 1 and len(self.grid) == 1:
            places = creation.asarray(places)[:, None]
        if not aval_of(places).ndim or aval_of(places).shape[-1] != len(self.grid):
            raise ValueError(
                "scipy.interpolate.RegularGridInterpolator: the requested sample "
                f"points xi must be [..., {len(self.grid)}], one for each axis of the "
                f"grid, got {aval_of(places).short()}"
            )
        rows = places[None] if aval_of(places).ndim == 1 else places
        fill = () if self.fill_value is None else (self.fill_value,)
        out = _interpolate_on_grid(self.values, rows, *self.grid, *fill, method=chosen)
        return out[0] if by_axis and aval_of(places).ndim == 1 else out


def _check_method(method: str) -> str:
    if method not in ("linear", "nearest"):
        raise ValueError(
            "scipy.interpolate.RegularGridInterpolator: "
            f"method {method!r} is not defined; take 'linear' or 'nearest'"
        )
    return method


def _check_grid(grid: Sequence[Any], values: Any) -> None:
    where_ = "scipy.interpolate.RegularGridInterpolator"
    shape = aval_of(values).shape
    if len(grid) > len(shape):
        raise ValueError(
            f"{where_}: there are {len(grid)} point arrays, but values has "
            f"{len(shape)} dimensions"
        )
    for i, p in enumerate(grid):
        if aval_of(p).ndim != 1:
            raise ValueError(
                f"{where_}: points should be 1-dimensional, got {aval_of(p).short()} "
                f"for axis {i}"
            )
        if aval_of(p).shape[0] != shape[i] or shape[i] < 2:
            raise ValueError(
                f"{where_}: there must be as many points as values along each axis, at "
                f"least 2, got {aval_of(p).shape[0]} and {shape[i]} for axis {i}"
            )


def _check_fill(fill_value: Any, values: Any) -> None:
    checks.check_arrays("interpolate.RegularGridInterpolator", fill_value)
    kinds = dtypes.kind(avals.aval_of(fill_value).dtype), dtypes.kind(values.dtype)
    if kinds == ("c", "f"):
        raise ValueError(
            "scipy.interpolate.RegularGridInterpolator: fill_value must be either "
            f"'None' or of a type compatible with values, got {fill_value!r}"
        )


@promotion.evaluate.fuse
def _interpolate_on_grid(values: Any, xi: Any, *operands: Any, method: str) -> Any:
    count = aval_of(xi).shape[-1]
    grid, fill = operands[:count], operands[count:]
    per_axis: list[Any] = []
    outside: Any = False
    unknown: Any = False
    for i, line in enumerate(grid):
        line, x = promotion.promote_inexact(line, xi[..., i])
        # A decreasing line increases if all is turned around.
        turn = where(line[0] > line[-1], -1, 1).astype(aval_of(line).dtype)
        line, x = line * turn, x * turn
        n = aval_of(line).shape[0]
        low = arithmetic.clip(searching.searchsorted(line, x) - 1, 0, n - 2)
        share = (x - line[low]) / (line[low + 1] - line[low])
        outside = outside | (x < line[0]) | (x > line[-1])
        unknown = unknown | (x != x)
        if method == "nearest":
            per_axis.append([(where(share <= 0.5, low, low + 1), None)])
        else:
            per_axis.append([(low, 1 - share), (low + 1, share)])
    trailing = (None,) * (aval_of(values).ndim - count)
    total: Any = 0
    for corner in itertools.product(*per_axis):
        corner_value = values[tuple([index for index, _ in corner])]
        for _, share in corner:
            if share is not None:
                corner_value = corner_value * share[(..., *trailing)]
        total = total + corner_value
    total = where(unknown[(..., *trailing)], math.nan, total)
    return where(outside[(..., *trailing)], fill[0], total) if fill else total


# -- nearest codes ---------------------------------------------------------------------


def vq(
    obs: ArrayLike, code_book: ArrayLike, check_finite: bool = True
) -> tuple[Array, Array]:
    """The nearest code of each observation.

    Differs from SciPy: NaN gives distances of NaN and no error: `check_finite` has no
    effect.

    Args:
      obs: observations [m, d], or [m] numbers.
      code_book: codes [n, d], or [n].
      check_finite: not used; it is SciPy's.

    Returns:
      Positions of codes [m], integers, and the distances to them [m].

    Raises:
      ValueError: numbers of axes differ, or are not 1 or 2.
      TypeError: observations and codes have different sizes.

    Source: SciPy, `scipy.cluster.vq.vq`.

    Example:
      >>> import numpy as np
      >>> from olympus.scipy.cluster import vq
      >>> codes, distances = vq.vq(np.float32([1, 5, 9]), np.float32([0, 8]))
      >>> print(codes, distances)
      [0 1 1] [1. 3. 1.]
    """
    del check_finite
    checks.check_arrays("cluster.vq.vq", obs, code_book)
    first, second = aval_of(obs), aval_of(code_book)
    if first.ndim != second.ndim:
        raise ValueError(
            "scipy.cluster.vq.vq: Observation and code_book should have the same rank, "
            f"got {first.short()} and {second.short()}"
        )
    if first.ndim not in (1, 2):
        raise ValueError(
            "scipy.cluster.vq.vq: ndim different than 1 or 2 are not supported, got "
            f"{first.short()}; use vmap"
        )
    if first.shape[1:] != second.shape[1:]:
        raise TypeError(
            "scipy.cluster.vq.vq: observations and codes must be of one size, got "
            f"incompatible shapes {first.short()} and {second.short()}"
        )
    if not second.shape[0]:
        raise ValueError(
            f"scipy.cluster.vq.vq: code_book must not be empty, got {second.short()}"
        )
    return tuple(_vq(obs, code_book))


@promotion.program(2, name="vq")
def _vq(obs: Any, codes: Any) -> Any:
    obs, codes = promotion.promote_inexact(obs, codes)
    if aval_of(obs).ndim == 1:
        obs, codes = obs[:, None], codes[:, None]
    apart = abs(obs[:, None, :] - codes[None, :, :])
    squares = reductions.sum(apart * apart, axis=-1)
    nearest = arg_extremes.argmin(squares, axis=-1)
    return nearest, reductions.min(squares, axis=-1) ** 0.5
