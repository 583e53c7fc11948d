"""Floats as integers that sort alike, in text: what sorts by integers starts from."""

from __future__ import annotations

from typing import Any

import numpy as np

from olympus._src.core import dtypes
from olympus._src.lax.families import ShapedArray
from olympus._src.lowering import types


def bits_dtype(dtype: Any) -> Any:
    """The signed integers of a float's width."""
    return np.dtype(f"int{dtypes.itemsize_bits(dtype)}")


def emit_ordered_bits(ctx: Any, x: str, aval: Any, merge_zeros: bool) -> Any:
    """A float's bits as a signed integer that sorts alike; NaN becomes the largest.

    Negative floats have descending bits: all but the sign are flipped.
    """
    block = ctx.block
    flag = ShapedArray(aval.shape, np.bool_)
    is_nan = block.compare("NE", x, x, aval, "FLOAT", flag)
    x = _emit_select(block, is_nan, block.splat(np.nan, aval), x, flag, aval)
    if merge_zeros:
        zero = block.splat(0, aval)
        is_zero = block.compare("EQ", x, zero, aval, "FLOAT", flag)
        x = _emit_select(block, is_zero, zero, x, flag, aval)
    return emit_total_order(ctx, x, aval)


def emit_total_order(ctx: Any, x: str, aval: Any) -> Any:
    """A float's bits as a signed integer in IEEE 754's total order."""
    bits = ShapedArray(aval.shape, bits_dtype(aval.dtype))
    word = ctx.block.op1("stablehlo.bitcast_convert", [x], [aval], bits)
    return emit_flip(ctx.block, word, bits), bits


def emit_flip(block: Any, word: str, bits: Any) -> str:
    """Flips all bits but the sign where the sign is set; its own inverse."""
    width = dtypes.itemsize_bits(bits.dtype)
    top = block.splat(width - 1, bits)
    low_bits = block.splat(np.iinfo(bits.dtype).max, bits)
    negative = block.elementwise("stablehlo.shift_right_arithmetic", (word, top), bits)
    mask = block.elementwise("stablehlo.and", (negative, low_bits), bits)
    return block.elementwise("stablehlo.xor", (word, mask), bits)


def _emit_select(
    block: Any, which: str, yes: str, no: str, flag: Any, aval: Any
) -> str:
    t = types.tensor_type
    return block.emit(f"stablehlo.select {which}, {yes}, {no} : {t(flag)}, {t(aval)}")


def comparison_kind(dtype: Any) -> str:
    """How integers of a dtype are compared."""
    return "SIGNED" if dtypes.issubdtype(dtype, np.signedinteger) else "UNSIGNED"


def has_words(dtype: Any) -> bool:
    """Whether a float's bits are a signed integer of 16 bits or more."""
    return dtypes.issubdtype(dtype, np.floating) and dtypes.itemsize_bits(dtype) >= 16


def packs(dtype: Any) -> bool:
    """Whether a key of this dtype and a position fit in 64 bits."""
    number = dtypes.issubdtype(dtype, np.integer) or has_words(dtype)
    return dtype == np.bool_ or (number and dtypes.itemsize_bits(dtype) <= 32)


def emit_low_half(ctx: Any, key: str, aval: Any) -> tuple[str, Any]:
    """Integers of 64 bits, from 0 to 2**32 - 1, that sort as a key; and their type."""
    wide = ShapedArray(aval.shape, np.dtype(np.int64))
    key = ctx.block.convert(key, aval, wide)
    if dtypes.issubdtype(aval.dtype, np.signedinteger):
        half = ctx.block.splat(2**31, wide)
        key = ctx.block.elementwise("stablehlo.add", (key, half), wide)
    return key, wide


def emit_packed(ctx: Any, key: str, aval: Any, positions: str) -> str:
    """Integers over positions (of 64 bits, below 2**31): they sort by both."""
    block, wide = ctx.block, ShapedArray(aval.shape, np.dtype(np.int64))
    key = block.convert(key, aval, wide)
    if aval.dtype == np.uint32:
        half = block.splat(2**31, wide)
        key = block.elementwise("stablehlo.subtract", (key, half), wide)
    key = block.elementwise("stablehlo.shift_left", (key, block.splat(32, wide)), wide)
    return block.elementwise("stablehlo.or", (key, positions), wide)
