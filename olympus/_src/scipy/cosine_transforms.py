"""Discrete cosine transforms of the second type, and their inverses."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from olympus._src.core import dtypes
from olympus._src.core.array_type import Array, ArrayLike, Axes
from olympus._src.lax import complex_numbers as lax
from olympus._src.lax import concatenation, sizes
from olympus._src.numpy import arithmetic, fourier, manipulation, padding, promotion
from olympus._src.scipy import checks

aval_of = checks.aval_of

# -- one axis --------------------------------------------------------------------------


def _turns(n: int, dtype: Any) -> np.ndarray:
    """exp(-i pi k / 2n) for each k, computed in double precision."""
    kind = np.complex128 if np.dtype(dtype) == np.float64 else np.complex64
    return np.exp(-0.5j * np.pi * np.arange(n) / n).astype(kind)


def _lengths(n: int, dtype: Any) -> np.ndarray:
    """What makes the transform of n points orthogonal."""
    lengths = np.full(n, np.sqrt(1 / (2 * n)))
    lengths[0] = np.sqrt(1 / (4 * n))
    return lengths.astype(dtype)


def _forth(x: Any, ortho: bool) -> Any:
    """Of real `x` [..., n], by one Fourier transform of the elements in another order.

    Even places come first, odd ones after them backwards: Makhoul, A fast cosine
    transform in one and two dimensions, 1980.
    """
    n, dtype = aval_of(x).shape[-1], aval_of(x).dtype
    odd = manipulation.flip(x[..., 1::2], -1)
    line = concatenation.concatenate([x[..., ::2], odd], aval_of(x).ndim - 1)
    spectrum = arithmetic.multiply(
        *promotion.align_ranks(fourier.fft(line), _turns(n, dtype))
    )
    out = 2 * spectrum.real
    if not ortho:
        return out
    return arithmetic.multiply(*promotion.align_ranks(out, _lengths(n, dtype)))


def _back(y: Any, ortho: bool) -> Any:
    n, dtype = aval_of(y).shape[-1], aval_of(y).dtype
    if ortho:
        y = arithmetic.true_divide(*promotion.align_ranks(y, _lengths(n, dtype)))
    last = manipulation.flip(y[..., 1:], -1)
    zero = promotion.full_shape(np.zeros((), dtype), (*aval_of(y).shape[:-1], 1))
    mirrored = concatenation.concatenate([zero, last], aval_of(y).ndim - 1)
    turns = _turns(n, dtype).conj() / 2
    factors = promotion.align_ranks(lax.complex_(y, -mirrored), turns)
    line = fourier.ifft(arithmetic.multiply(*factors)).real
    half = (n + 1) // 2
    order = np.empty(n, np.int32)
    order[::2] = np.arange(half)
    order[1::2] = np.arange(n - 1, half - 1, -1)
    return line[..., order]


def _transform_axis(x: Any, axis: int, n: int | None, ortho: bool, method: Any) -> Any:
    x = manipulation.moveaxis(x, axis, -1)
    own = aval_of(x).shape[-1]
    if n is not None and n < own:
        x = x[..., :n]
    elif n is not None and n > own:
        x = padding.pad(x, [(0, 0)] * (aval_of(x).ndim - 1) + [(0, n - own)])
    if dtypes.kind(aval_of(x).dtype) == "c":
        out = lax.complex_(method(x.real, ortho), method(x.imag, ortho))
    else:
        out = method(x, ortho)
    return manipulation.moveaxis(out, -1, axis)


@promotion.program(1, name="dct")
def _transform(x: Any, *, axes: Any, lengths: Any, ortho: bool, inverse: bool) -> Any:
    (x,) = promotion.promote_inexact(x)
    wide = dtypes.at_least_single(aval_of(x).dtype)  # no complex numbers are shorter
    if wide != aval_of(x).dtype:
        x = promotion.cast(x, wide, False)
    for axis, n in zip(axes, lengths, strict=True):
        x = _transform_axis(x, axis, n, ortho, _back if inverse else _forth)
    return x


# -- what is requested -----------------------------------------------------------------


def _call(
    name: str, x: Any, type: int, axes: Any, lengths: Any, norm: str | None
) -> Any:
    checks.check_arrays(f"fft.{name}", x)
    if type != 2:
        raise NotImplementedError(
            f"scipy.fft.{name}: Only DCT type 2 is implemented, got {type!r}"
        )
    checks.one_of(f"fft.{name}", "norm", norm, (None, "backward", "ortho"))
    aval = aval_of(x)
    places = tuple(
        [
            sizes.canonicalize_axis(operator.index(a), aval.ndim, f"scipy.fft.{name}")
            for a in axes
        ]
    )
    if len(set(places)) != len(places):
        raise ValueError(f"scipy.fft.{name}: repeated axis: {tuple(axes)}")
    counts = tuple([None if n is None else operator.index(n) for n in lengths])
    if len(counts) != len(places):
        raise ValueError(
            f"scipy.fft.{name}: s must have one size for each of the axes, got "
            f"{counts} for {places}"
        )
    for axis, n in zip(places, counts, strict=True):
        if (aval.shape[axis] if n is None else n) < 1:
            raise ValueError(
                f"scipy.fft.{name}: a transform needs at least one point, got "
                f"{aval.short()} and size {n} for axis {axis}"
            )
    return _transform(
        x,
        axes=places,
        lengths=counts,
        ortho=norm == "ortho",
        inverse=name.startswith("i"),
    )


if TYPE_CHECKING:

    class _AlongAxis(Protocol):
        """A transform along one axis."""

        def __call__(
            self,
            x: ArrayLike,
            type: int = 2,
            n: int | None = None,
            axis: int = -1,
            norm: str | None = None,
        ) -> Array: ...

    class _AlongAxes(Protocol):
        """A transform along several axes."""

        def __call__(
            self,
            x: ArrayLike,
            type: int = 2,
            s: Sequence[int] | None = None,
            axes: Axes = None,
            norm: str | None = None,
        ) -> Array: ...


def _one(name: str, what: str, see: str) -> _AlongAxis:
    def call(
        x: ArrayLike,
        type: int = 2,
        n: int | None = None,
        axis: int = -1,
        norm: str | None = None,
    ) -> Array:
        return _call(name, x, type, (axis,), (n,), norm)

    call.__name__ = call.__qualname__ = name
    call.__doc__ = f"""The {what} along an axis.

    Differs from SciPy: `type` is 2, and there is no norm "forward"; there are no
    `overwrite_x`, `workers` and `orthogonalize`.

    Args:
      x: array.
      type: 2.
      n: how many elements are transformed: others are cut off, missing ones are 0.
      axis: the axis.
      norm: None or "backward"; or "ortho", which makes it orthogonal.

    Returns:
      An array, complex if `x` is, else floating.

    Raises:
      NotImplementedError: the type is another one.
      ValueError: there is no such axis or norm, or no point.

    Source: SciPy, `scipy.fft.{name}`.

    Example:
      >>> import numpy as np
      >>> from olympus.scipy import fft
      >>> x = np.array([1.0, 2.0, 4.0], "float32")
      >>> print(fft.{see}(fft.{name}(x)).round(3))
      [1. 2. 4.]
    """
    return call


def _several(name: str, what: str, see: str) -> _AlongAxes:
    def call(
        x: ArrayLike,
        type: int = 2,
        s: Sequence[int] | None = None,
        axes: Axes = None,
        norm: str | None = None,
    ) -> Array:
        checks.check_arrays(f"fft.{name}", x)
        counts = None if s is None else list(np.atleast_1d(s).tolist())
        rank = aval_of(x).ndim
        if axes is not None:
            named = [axes] if isinstance(axes, int) else list(axes)
        else:
            named = list(range(rank if counts is None else -len(counts), 0))
            named = list(range(rank)) if counts is None else named
        lengths = [None] * len(named) if counts is None else counts
        return _call(name, x, type, named, lengths, norm)

    call.__name__ = call.__qualname__ = name
    call.__doc__ = f"""The {what} along several axes.

    Differs from SciPy: `type` is 2, and there is no norm "forward"; there are no
    `overwrite_x`, `workers` and `orthogonalize`.

    Args:
      x: array.
      type: 2.
      s: how many elements are transformed along each axis.
      axes: the axes; default the last ones, as many as `s` has, or all.
      norm: None or "backward"; or "ortho", which makes it orthogonal.

    Returns:
      An array, complex if `x` is, else floating.

    Raises:
      NotImplementedError: the type is another one.
      ValueError: an axis does not exist or is named twice, or sizes do not fit.

    Source: SciPy, `scipy.fft.{name}`.

    Example:
      >>> import numpy as np
      >>> from olympus.scipy import fft
      >>> x = np.array([[1.0, 2.0], [4.0, 0.0]], "float32")
      >>> bool(abs(fft.{see}(fft.{name}(x)) - x).max() < 1e-5)
      True
    """
    return call


dct = _one("dct", "discrete cosine transform", "idct")
idct = _one("idct", "inverse of the discrete cosine transform", "dct")
dctn = _several("dctn", "discrete cosine transform", "idctn")
idctn = _several("idctn", "inverse of the discrete cosine transform", "dctn")
