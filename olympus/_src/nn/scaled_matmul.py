"""Products of matrices in few bits, with scales for blocks of numbers.

B. D. Rouhani and others, Microscaling Data Formats for Deep Learning, 2023; NVFP4 has
smaller blocks, finer scales and one scale more for the whole array.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from olympus._src.api.custom_vjp import custom_vjp
from olympus._src.core import avals, dtypes
from olympus._src.core.array_type import Array, ArrayLike, DTypeLike, OptionalArray
from olympus._src.lax import (
    concatenation,
    contraction,
    elementwise,
    families,
    reductions,
    shaping,
)
from olympus._src.lax.precision import DotDimensionNumbers
from olympus._src.numerics.block_scaled_dot import SCALED_IN, scaled_matmul_p
from olympus._src.numpy import creation

_F32 = np.dtype(np.float32)


def scaled_matmul(
    lhs: ArrayLike,
    rhs: ArrayLike,
    lhs_scales: ArrayLike,
    rhs_scales: ArrayLike,
    preferred_element_type: DTypeLike = np.float32,
) -> Array:
    """Products of rows whose blocks have scales, added up in float32.

    NVIDIA's GPUs that have units for blocks of few bits use them, where the formats are
    those of `get_scaled_dot_general_config`.

    Args:
      lhs: array [b, m, k].
      rhs: array [b, n, k].
      lhs_scales: array [b, m, k_a] where k_a divides k: each holds for a block.
      rhs_scales: array [b, n, k_b], likewise.
      preferred_element_type: dtype of the result.

    Returns:
      Array [b, m, n].

    Raises:
      ValueError: numbers of axes or sizes do not agree.
      TypeError: numbers are complex.

    Source: microscaling formats, as above.

    Example:
      >>> import numpy as np
      >>> from olympus import nn
      >>> x, half = np.ones((1, 1, 4), 'float32'), np.full((1, 1, 2), 0.5, 'float32')
      >>> nn.scaled_matmul(x, x, half, half)
      Array([[[1.]]], dtype=float32)
    """
    a, b, sa, sb = (avals.aval_of(v) for v in (lhs, rhs, lhs_scales, rhs_scales))
    listed = ", ".join([v.short() for v in (a, b, sa, sb)])
    if any(v.ndim != 3 for v in (a, b, sa, sb)):
        raise ValueError(
            f"nn.scaled_matmul: operands and scales must have three axes, got {listed}"
        )
    if (a.shape[0], a.shape[2]) != (b.shape[0], b.shape[2]):
        raise ValueError(
            "nn.scaled_matmul: lhs and rhs must agree in their first and last axes, "
            f"got {a.short()} and {b.short()}"
        )
    for x, s in ((a, sa), (b, sb)):
        if x.shape[:2] != s.shape[:2] or not s.shape[2] or x.shape[2] % s.shape[2]:
            raise ValueError(
                "nn.scaled_matmul: scales must have the sizes of their operand, or a "
                f"divisor of the last, got {s.short()} for {x.short()}"
            )
    if any(dtypes.kind(v.dtype) not in "fiu" for v in (a, b, sa, sb)):
        raise TypeError(
            "nn.scaled_matmul: operands and scales must be real numbers, got "
            f"{listed}; multiply the real and imaginary parts by themselves"
        )
    dtype = dtypes.canonicalize_dtype(dtypes.as_dtype(preferred_element_type))
    out = scaled_matmul_p.bind(
        lhs,
        rhs,
        lhs_scales,
        rhs_scales,
        preferred_element_type=dtype if dtype in SCALED_IN else _F32,
    )
    return elementwise.convert(out, dtype)


class BlockScaleConfig(NamedTuple):
    """How an operand of `scaled_dot_general` is quantized.

    Attributes:
      mode: 'mxfp8', 'mxfp4' or 'nvfp4'.
      block_size: how many numbers share a scale.
      data_type: dtype of the numbers.
      scale_type: dtype of the scales.
      global_scale: array [1], one scale for the whole operand; or None.
      infer_only: whether derivatives are not wanted.
    """

    mode: str
    block_size: int
    data_type: Any
    scale_type: Any
    global_scale: Any = None
    infer_only: bool = False


def get_scaled_dot_general_config(
    mode: str, global_scale: OptionalArray = None
) -> BlockScaleConfig:
    """How `scaled_dot_general` quantizes an operand.

    Args:
      mode: 'mxfp8': blocks of 32 numbers float8_e4m3fn, scales that are powers of two;
        'mxfp4': likewise, of numbers float4_e2m1fn;
        'nvfp4': blocks of 16 numbers float4_e2m1fn, scales float8_e4m3fn.
      global_scale: for 'nvfp4', array [1] that numbers are divided by first.

    Raises:
      ValueError: another mode.

    Example:
      >>> from olympus import nn
      >>> nn.get_scaled_dot_general_config('mxfp8').block_size
      32
    """
    names = {
        "mxfp8": (32, "float8_e4m3fn", "float8_e8m0fnu"),
        "mxfp4": (32, "float4_e2m1fn", "float8_e8m0fnu"),
        "nvfp4": (16, "float4_e2m1fn", "float8_e4m3fn"),
    }
    if mode not in names:
        raise ValueError(
            "nn.get_scaled_dot_general_config: mode must be 'mxfp8', 'mxfp4' or "
            f"'nvfp4', got {mode!r}"
        )
    size, data, scale = names[mode]
    if mode != "nvfp4":
        global_scale = None
    elif global_scale is None:
        global_scale = creation.ones((1,), np.float32)
    kinds = dtypes.as_dtype(data), dtypes.as_dtype(scale)
    return BlockScaleConfig(mode, size, *kinds, global_scale)


def _quantize_rows(x: Any, config: BlockScaleConfig) -> tuple[Any, Any]:
    """Rows [b, m, k] in few bits, and the scales of their blocks."""
    shape = avals.aval_of(x).shape
    count = -(-shape[2] // config.block_size)
    x = elementwise.convert(x, _F32)
    if shape[2] % config.block_size:  # zeros fill up the last block
        more = count * config.block_size - shape[2]
        x = concatenation.pad(x, np.float32(0), ((0, 0, 0), (0, 0, 0), (0, more, 0)))
    if config.global_scale is not None:
        whole = elementwise.convert(config.global_scale, _F32)
        x = elementwise.div(x, shaping.reshape(whole, ()))
    blocks = shaping.reshape(x, (*shape[:2], count, config.block_size))
    largest = reductions.reduce_max(elementwise.abs_(blocks), (3,))
    top = np.float32(dtypes.finfo(config.data_type).max)
    scale = elementwise.div(largest, top)
    if config.mode != "nvfp4":
        scale = _power_above(scale)
    else:
        most = np.float32(dtypes.finfo(config.scale_type).max)
        scale = elementwise.clamp(np.float32(0), scale, most)
    stored_scale = elementwise.convert(scale, config.scale_type)
    used = elementwise.convert(stored_scale, _F32)
    is_zero = elementwise.eq(used, np.float32(0))
    used = elementwise.select_n(is_zero, used, families.full_like(used, 1))
    wide = shaping.broadcast_in_dim(
        used, (*shape[:2], count, config.block_size), (0, 1, 2)
    )
    numbers = elementwise.clamp(-top, elementwise.div(blocks, wide), top)
    numbers = elementwise.convert(numbers, config.data_type)
    return shaping.reshape(
        numbers, (*shape[:2], count * config.block_size)
    ), stored_scale


def _power_above(x: Any) -> Any:
    """The least power of two that is not below `x`, of those that scales can be."""
    lowest, highest = np.float32(2.0**-126), np.float32(2.0**127)
    x = elementwise.clamp(lowest, x, highest)
    # Only the exponent is kept, of x or of the next power where x is between two.
    bits = shaping.bitcast_convert_type(x, np.uint32)
    mantissa = elementwise.and_(bits, np.uint32(0x7FFFFF))
    above = elementwise.shift_left(
        elementwise.add(
            elementwise.shift_right_logical(bits, np.uint32(23)),
            elementwise.convert(elementwise.ne(mantissa, np.uint32(0)), np.uint32),
        ),
        np.uint32(23),
    )
    return elementwise.min_(shaping.bitcast_convert_type(above, _F32), highest)


def _product(
    x: Any, y: Any, first: BlockScaleConfig, second: BlockScaleConfig, dtype: Any
) -> Any:
    """Rows times rows, both in few bits; in a dtype, or float32 with whole scales."""
    wholes = [c.global_scale for c in (first, second) if c.global_scale is not None]
    a, a_scales = _quantize_rows(x, first)
    b, b_scales = _quantize_rows(y, second)
    out = scaled_matmul(a, b, a_scales, b_scales, _F32 if wholes else dtype)
    for whole in wholes:
        out = elementwise.mul(out, _number(whole))
    return out


def _number(whole: Any) -> Any:
    return shaping.reshape(elementwise.convert(whole, _F32), ())


def _transpose_blocks(x: Any) -> Any:
    return families.transpose_p.bind(x, permutation=(0, 2, 1))


def _rows_by_rows(x: Any, y: Any, configs: Any, dtype: Any) -> Any:
    """The product; its derivatives are products in few bits, too, but for nvfp4."""

    @custom_vjp
    def product(x: Any, y: Any) -> Any:
        return _product(x, y, configs[0], configs[1], dtype)

    def forward(x: Any, y: Any) -> Any:
        return product(x, y), (x, y)

    def back(saved: Any, ct: Any) -> Any:
        x, y = saved
        sides = (ct, _transpose_blocks(y)), tuple(map(_transpose_blocks, (ct, x)))
        if configs[2].mode == "nvfp4":
            slopes = [
                _keep_in_range(_exact_product(left, right), operand, config)
                for (left, right), operand, config in zip(
                    sides, saved, configs[:2], strict=True
                )
            ]
        else:
            slopes = [
                _product(left, right, configs[2], config, dtype)
                for (left, right), config in zip(sides, configs[1::-1], strict=True)
            ]
        return tuple(
            [
                elementwise.convert(slope, avals.aval_of(operand).dtype)
                for slope, operand in zip(slopes, saved, strict=True)
            ]
        )

    product.defvjp(forward, back)
    return product(x, y)


def _exact_product(x: Any, y: Any) -> Any:
    """Rows times rows in float32; four bits are too few for cotangents."""
    x, y = elementwise.convert(x, _F32), elementwise.convert(y, _F32)
    return contraction.dot_general(x, y, (((2,), (2,)), ((0,), (0,))))


def _keep_in_range(slope: Any, operand: Any, config: BlockScaleConfig) -> Any:
    """Zero where a number is beyond what its format holds: there it is constant."""
    if config.global_scale is None:
        return slope
    top = float(dtypes.finfo(config.data_type).max)
    top *= float(dtypes.finfo(config.scale_type).max)
    bound = elementwise.mul(_number(config.global_scale), np.float32(top))
    size = elementwise.abs_(elementwise.convert(operand, _F32))
    bound = shaping.broadcast_in_dim(bound, avals.aval_of(size).shape, ())
    zero = families.full_like(slope, 0)
    return elementwise.select_n(elementwise.le(size, bound), zero, slope)


def scaled_dot_general(
    lhs: ArrayLike,
    rhs: ArrayLike,
    dimension_numbers: DotDimensionNumbers,
    preferred_element_type: DTypeLike = np.float32,
    configs: Sequence[BlockScaleConfig] | None = None,
    implementation: str | None = None,
) -> Array:
    """A contraction of operands that are quantized first.

    Derivatives are contractions of that kind, too; rounding itself has slope one. Where
    cotangents are to be 'nvfp4', derivatives are plain contractions, and zero for
    numbers beyond the format's largest.

    Args:
      lhs, rhs: floating arrays.
      dimension_numbers: see `lax.dot_general`.
      preferred_element_type: dtype of the result.
      configs: how lhs, rhs and cotangents are put in few bits, from
        `get_scaled_dot_general_config`; None leaves them as they are.
      implementation: not used.

    Returns:
      An array whose axes are: batch, then lhs's remaining, then rhs's remaining.

    Raises:
      TypeError: axes do not agree.
      ValueError: there are not three configs.

    Source: microscaling formats, as above.

    Example:
      >>> import numpy as np
      >>> from olympus import nn
      >>> x = np.ones((2, 32), 'float32')
      >>> configs = [nn.get_scaled_dot_general_config('mxfp8')] * 3
      >>> nn.scaled_dot_general(x, x, (((1,), (1,)), ((), ())), configs=configs)
      Array([[32., 32.],
             [32., 32.]], dtype=float32)
    """
    if configs is None:
        return contraction.dot_general(
            lhs, rhs, dimension_numbers, preferred_element_type=preferred_element_type
        )
    configs = tuple(configs)
    if len(configs) != 3:
        raise ValueError(
            "nn.scaled_dot_general: configs must be three, of lhs, rhs and cotangents, "
            f"got {len(configs)}"
        )
    x, y = avals.aval_of(lhs), avals.aval_of(rhs)
    contraction.check_dimensions("nn.scaled_dot_general", x, y, dimension_numbers)
    (cx, cy), (bx, by) = dimension_numbers
    first, x_free = _as_rows(lhs, x, cx, bx)
    second, y_free = _as_rows(rhs, y, cy, by)
    dtype = dtypes.canonicalize_dtype(dtypes.as_dtype(preferred_element_type))
    out = _rows_by_rows(first, second, configs, dtype)
    shape = (*[x.shape[d] for d in bx], *x_free, *y_free)
    return elementwise.convert(shaping.reshape(out, shape), dtype)


def _as_rows(x: Any, aval: Any, contracted: Any, batch: Any) -> tuple[Any, list[int]]:
    """An operand as [b, m, k], and the sizes of its free axes."""
    free = [d for d in range(aval.ndim) if d not in (*contracted, *batch)]
    order = (*batch, *free, *contracted)
    parts = [[aval.shape[d] for d in dims] for dims in (batch, free, contracted)]
    if list(order) != sorted(order):
        x = families.transpose_p.bind(x, permutation=order)
    return shaping.reshape(x, tuple(map(math.prod, parts))), parts[1]
