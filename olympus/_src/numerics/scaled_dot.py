"""`scaled_dot`: a contraction of operands whose blocks have scales.

Numbers in few bits are kept with a scale for each block along the contracted axes: see
B. D. Rouhani and others, Microscaling Data Formats for Deep Learning, 2023.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from olympus._src.calls.composite import composite
from olympus._src.core import avals, dtypes
from olympus._src.core.array_type import Array, ArrayLike, DTypeLike, OptionalArray
from olympus._src.lax import contraction, elementwise, families, shaping
from olympus._src.lax.precision import DotDimensionNumbers

_SCALE = dtypes.as_dtype("float8_e8m0fnu")


def scaled_dot(
    lhs: ArrayLike,
    rhs: ArrayLike,
    *,
    lhs_scale: OptionalArray = None,
    rhs_scale: OptionalArray = None,
    dimension_numbers: DotDimensionNumbers | None = None,
    preferred_element_type: DTypeLike | None = None,
) -> Array:
    """The contraction of `lhs * lhs_scale` and `rhs * rhs_scale`.

    Args:
      lhs, rhs: arrays of two axes or more.
      lhs_scale, rhs_scale: arrays of the operand's number of axes and sizes, but that a
        contracted axis may be shorter by an integer factor: each scale holds for that
        many elements. None is a scale of one.
      dimension_numbers: see `dot_general`; by default the product of matrices, over
        leading batch axes.
      preferred_element_type: dtype of the computation and the result; bfloat16 by
        default.

    Returns:
      An array whose axes are: batch, then lhs's remaining, then rhs's remaining.

    Raises:
      TypeError: numbers of axes or sizes do not agree.

    Source: `xla.scaled_dot`, a `stablehlo.composite`.

    Example:
      >>> import numpy as np
      >>> from olympus import lax
      >>> x, scale = np.ones((2, 4), 'float32'), np.full((2, 2), 3, 'float32')
      >>> lax.scaled_dot(x, x.T, lhs_scale=scale, preferred_element_type=np.float32)
      Array([[12., 12.],
             [12., 12.]], dtype=float32)
    """
    x, y = avals.aval_of(lhs), avals.aval_of(rhs)
    if min(x.ndim, y.ndim) < 2 or x.ndim != y.ndim:
        raise TypeError(
            "lax.scaled_dot: operands must have as many axes, two or more, got "
            f"{x.short()} and {y.short()}"
        )
    if dimension_numbers is None:
        batch = tuple(range(x.ndim - 2))
        dimension_numbers = (((x.ndim - 1,), (x.ndim - 2,)), (batch, batch))
    (cx, cy), (bx, by) = dimension_numbers
    numbers = (tuple(cx), tuple(cy)), (tuple(bx), tuple(by))
    contraction.check_dimensions("lax.scaled_dot", x, y, numbers)
    scales = [
        _scale_of(name, aval, scale, axes)
        for name, aval, scale, axes in (
            ("lhs_scale", x, lhs_scale, numbers[0][0]),
            ("rhs_scale", y, rhs_scale, numbers[0][1]),
        )
    ]
    dtype = dtypes.as_dtype("bfloat16")
    if preferred_element_type is not None:
        dtype = dtypes.canonicalize_dtype(dtypes.as_dtype(preferred_element_type))

    def decomposition(a: Any, b: Any, a_scale: Any, b_scale: Any, **_: Any) -> Any:
        a, b = scale_blocks(a, a_scale, dtype), scale_blocks(b, b_scale, dtype)
        return contraction.dot_general(a, b, numbers, preferred_element_type=dtype)

    return composite(decomposition, "xla.scaled_dot")(
        lhs,
        rhs,
        *scales,
        dimension_numbers=numbers,
        preferred_element_type=np.dtype(dtype),
    )


def _scale_of(name: str, aval: Any, scale: Any, contracted: Any) -> Any:
    if scale is None:
        shape = [1 if d in contracted else s for d, s in enumerate(aval.shape)]
        return np.ones(shape, _SCALE)
    scale_aval = avals.aval_of(scale)
    fits = scale_aval.ndim == aval.ndim and all(
        s == r or (d in contracted and r and s % r == 0)
        for d, (s, r) in enumerate(zip(aval.shape, scale_aval.shape, strict=False))
    )
    if not fits:
        raise TypeError(
            f"lax.scaled_dot: {name} must have the sizes of its operand, or divisors "
            f"of them along contracted axes {tuple(contracted)}, got "
            f"{scale_aval.short()} for {aval.short()}"
        )
    return scale


def scale_blocks(x: Any, scale: Any, dtype: Any) -> Any:
    """`x` times the scales of its blocks, in a dtype."""
    shape, blocks = avals.aval_of(x).shape, avals.aval_of(scale).shape
    x, scale = elementwise.convert(x, dtype), elementwise.convert(scale, dtype)
    split = [n for s, r in zip(shape, blocks, strict=True) for n in (r, s // max(r, 1))]
    wide = families.broadcast_in_dim_p.bind(
        scale,
        shape=tuple(split),
        broadcast_dimensions=tuple(range(0, 2 * len(shape), 2)),
        sharding=None,
    )
    return elementwise.mul(x, shaping.reshape(wide, shape))
