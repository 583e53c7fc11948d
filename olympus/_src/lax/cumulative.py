"""Cumulative operations: each element becomes the fold of those up to it.

Short axes are one window reduction. On the CPU long ones of common types call a kernel
of our own (`prefix_kernels`). Others are folded in blocks: fold each block of 16,
accumulate the blocks' totals in the same way, and add each block's elements to the
total before it. For a million floats that takes 0.9 ms, against the 3.3 of the window
reduction. Each level of blocks adds 0.1 s to the compiler's 0.1, so what is small
enough for the windows is left to them.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from olympus._src.core import avals, dtypes
from olympus._src.core.array_type import Array, ArrayLike
from olympus._src.core.primitive import Primitive, takes_primitive
from olympus._src.core.sizes import maximum
from olympus._src.core.symbolic_values import Zero
from olympus._src.lax import (
    complex_extremes,
    concatenation,
    elementwise,
    families,
    nan_extremes,
    prefix_kernels,
    prefixes,
    sharding_rules,
    sizes,
    small_integers,
    window_lowering,
)
from olympus._src.lax.families import ShapedArray
from olympus._src.lowering import types

_BLOCK = 16
_SHORT_AXIS = 64
_SMALL_ARRAY = 1 << 16
_SMALL_FOR_EXPONENTIALS = 1 << 12

# -- lowering --------------------------------------------------------------------------


class _Fold:
    """An associative operation as text: `combine(block, x, y, aval) -> name`.

    Attributes:
      small: arrays of at most so many elements are left to windows.
    """

    __slots__ = ("combine", "ctx", "scalar", "small", "start")

    def __init__(
        self, ctx: Any, combine: Any, identity: Any, dtype: Any, small: int
    ) -> None:
        self.ctx = ctx
        self.combine = combine
        self.small = small
        self.scalar = ShapedArray((), dtype)
        self.start = ctx.block.constant(identity, self.scalar)

    def region(self) -> str:
        """The operation of two scalars, as a region."""
        inner = self.ctx.block.inner()
        pair = [self.scalar, self.scalar]
        names = inner.arguments(pair)
        return inner.region(names, pair, self._write(inner, names), [self.scalar])

    def _write(self, block: Any, names: list[str]) -> list[str]:
        block.folds = True
        return [self.combine(block, *names, self.scalar)]

    def windows(self, x: str, aval: Any, axis: int, reverse: bool) -> str:
        """One reduction over windows that reach back to the axis's beginning."""
        size = maximum(aval.shape[axis], 1)  # a symbolic axis may have no elements
        window = [1] * aval.ndim
        window[axis] = size
        padding = [[0, 0] for _ in range(aval.ndim)]
        padding[axis] = [0, size - 1] if reverse else [size - 1, 0]
        params = {
            "window_dimensions": window,
            "window_strides": [1] * aval.ndim,
            "padding": padding,
        }
        return window_lowering.emit_fold(
            self.ctx,
            [x, self.start],
            [aval, self.scalar],
            [aval],
            params,
            [self.scalar],
            self._write,
        )[0]

    def blocks(self, x: str, aval: Any, axis: int, reverse: bool) -> str:
        """Accumulates by blocks of the axis, and the blocks' totals likewise."""
        size = aval.shape[axis]
        if size <= _SHORT_AXIS or aval.size <= self.small:
            return self.windows(x, aval, axis, reverse)
        count = -(-size // _BLOCK)
        whole = resize_axis(aval, axis, count * _BLOCK)
        x = self._pad(x, aval, whole, axis, 0)
        blocks_shape = (*aval.shape[:axis], count, _BLOCK, *aval.shape[axis + 1 :])
        blocks_aval = ShapedArray(blocks_shape, aval.dtype)
        x = self.ctx.block.reshape(x, whole, blocks_aval)
        totals_aval = resize_axis(aval, axis, count)
        totals = self.ctx.block.op1(
            "stablehlo.reduce",
            [x, self.start],
            [blocks_aval, self.scalar],
            totals_aval,
            f"dimensions = {types.i64_array([axis + 1])}",
            [self.region()],
        )
        carry = self.blocks(totals, totals_aval, axis, reverse)
        carry = self._pad(carry, totals_aval, totals_aval, axis, -1 if reverse else 1)
        out = self._accumulate_blocks(x, blocks_aval, carry, totals_aval, axis, reverse)
        out = self.ctx.block.reshape(out, blocks_aval, whole)
        if whole is aval:
            return out
        starts, limits = [0] * aval.ndim, list(aval.shape)
        return concatenation.emit_slice(self.ctx, out, whole, aval, starts, limits)

    def _pad(self, x: str, aval: Any, out: Any, axis: int, shift: int) -> str:
        """Grows the axis at its end, or moves its elements along."""
        if aval is out and not shift:
            return x
        low, high = [0] * aval.ndim, [0] * aval.ndim
        low[axis] = shift
        high[axis] = out.shape[axis] - aval.shape[axis] - shift
        return self.ctx.block.pad(
            [x, self.start], [aval, self.scalar], out, low, high, [0] * aval.ndim
        )

    def _accumulate_blocks(
        self,
        x: str,
        blocks_aval: Any,
        carry: str,
        carry_aval: Any,
        axis: int,
        reverse: bool,
    ) -> str:
        """Accumulates inside each block, from the total before it."""
        line = resize_axis(blocks_aval, axis + 1, 1)
        carry = self.ctx.block.reshape(carry, carry_aval, line)
        columns: list[str] = [""] * _BLOCK
        starts, limits = [0] * blocks_aval.ndim, list(blocks_aval.shape)
        for i in reversed(range(_BLOCK)) if reverse else range(_BLOCK):
            starts[axis + 1], limits[axis + 1] = i, i + 1
            column = concatenation.emit_slice(
                self.ctx, x, blocks_aval, line, starts, limits
            )
            carry = self.combine(self.ctx.block, carry, column, line)
            columns[i] = carry
        return self.ctx.block.op1(
            "stablehlo.concatenate",
            columns,
            [line] * _BLOCK,
            blocks_aval,
            f"dimension = {axis + 1} : i64",
        )


def _widen_narrow(aval: Any) -> Any:
    """In which type narrow elements are accumulated.

    Of floats of 8 bits each operation becomes a dozen, and a long axis has so many that
    compiling them took more than a minute.
    """
    dtype = aval.dtype
    if dtypes.issubdtype(dtype, np.floating) and dtypes.itemsize_bits(dtype) <= 8:
        return ShapedArray(aval.shape, np.dtype(np.float32))
    return small_integers.whole_bytes(aval)


def resize_axis(aval: Any, axis: int, size: int) -> Any:
    """The aval with another size on one axis."""
    shape = (*aval.shape[:axis], size, *aval.shape[axis + 1 :])
    return ShapedArray(shape, aval.dtype)


def _combine_with(hlo: str) -> Callable[..., str]:
    return lambda block, x, y, aval: block.elementwise(hlo, (x, y), aval)


def _combine_extremes(hlo: str) -> Callable[..., str]:
    def combine(block: Any, x: str, y: str, aval: Any) -> str:
        if block.folds and dtypes.issubdtype(aval.dtype, np.floating):
            return nan_extremes.emit_first(block, hlo, x, y, aval)
        if dtypes.issubdtype(aval.dtype, np.complexfloating):
            return complex_extremes.emit(block, hlo, x, y, aval)
        return str(block.elementwise(hlo, (x, y), aval))

    return combine


def _combine_log_sums(block: Any, x: str, y: str, aval: Any) -> str:
    """log(exp x + exp y), with equal infinities kept."""
    larger = block.elementwise("stablehlo.maximum", (x, y), aval)
    gap = block.elementwise("stablehlo.subtract", (x, y), aval)
    width = block.elementwise("stablehlo.abs", (gap,), aval)
    down = block.elementwise("stablehlo.negate", (width,), aval)
    small = block.elementwise("stablehlo.exponential", (down,), aval)
    tail = block.elementwise("stablehlo.log_plus_one", (small,), aval)
    out = block.elementwise("stablehlo.add", (larger, tail), aval)
    flag = ShapedArray(aval.shape, np.bool_)
    same = block.compare("NE", gap, gap, aval, "FLOAT", flag)
    plain = block.elementwise("stablehlo.add", (x, y), aval)
    t = types.tensor_type
    return block.emit(f"stablehlo.select {same}, {plain}, {out} : {t(flag)}, {t(aval)}")


# -- derivatives -----------------------------------------------------------------------


def _jvp(combine: Primitive) -> Any:
    """Accumulates (value, tangent) pairs; what combines two is `combine`'s own rule."""
    rule: Any = combine.jvp

    def pairs(before: list[Any], after: list[Any]) -> list[Any]:
        return list(rule(*zip(before, after, strict=True)))

    @takes_primitive
    def jvp(
        p: Primitive, primals: Any, tangents: Any, *, axis: int, reverse: bool
    ) -> Any:
        (x,), (t,) = primals, tangents
        out = p.bind(x, axis=axis, reverse=reverse)
        if type(t) is Zero:
            return out, Zero(avals.aval_of(out).to_tangent())
        return out, prefixes.accumulate(pairs, [x, t], (axis, axis), reverse)[1]

    return jvp


def _log_sums_jvp(primals: Any, tangents: Any, *, axis: int, reverse: bool) -> Any:
    """The tangent of each sum from the one before: `a * before + b * t`.

    Here a and b are the shares of the sum before and of the element. Their products
    over many steps telescope, so that rounding does not add up; and the steps combine
    without further exponentials.
    """
    (x,), (t,) = primals, tangents
    if type(t) is Zero:
        out = cumlogsumexp_p.bind(x, axis=axis, reverse=reverse)
        return out, Zero(avals.aval_of(out).to_tangent())
    axes = (axis, axis)
    if reverse:
        x, t = prefixes.reversed_along([x, t], axes)
    out = cumlogsumexp_p.bind(x, axis=axis, reverse=False)
    out_tangent = _log_sums_tangent(x, t, out, axis)
    if reverse:
        out, out_tangent = prefixes.reversed_along([out, out_tangent], axes)
    return out, out_tangent


def _log_sums_tangent(x: Any, t: Any, out: Any, axis: int) -> Any:
    n = prefixes.size_along(x, axis)
    if n < 2:
        return t
    part = concatenation.slice_in_dim
    first, after = part(t, 0, 1, axis=axis), part(out, 1, n, axis=axis)
    sum_shares = _share(after, part(out, 0, n - 1, axis=axis))
    element_shares = _share(after, part(x, 1, n, axis=axis))
    steps = concatenation.concatenate([families.full_like(first, 1), sum_shares], axis)
    added = elementwise.mul(element_shares, part(t, 1, n, axis=axis))
    added = concatenation.concatenate([first, added], axis)
    return prefixes.prefixes(_two_steps, [steps, added], (axis, axis))[1]


def _share(out: Any, x: Any) -> Any:
    """How much of the sum with the logarithm `out` is the exponential of x."""
    infinite = families.scalar_like(x, math.inf)
    # The sum beside an infinity may be NaN.
    equal = elementwise.bitwise_and(elementwise.eq(x, infinite), elementwise.eq(x, out))
    gap = elementwise.select(equal, families.full_like(x, 0), elementwise.sub(x, out))
    return elementwise.exp(gap)


def _two_steps(before: list[Any], after: list[Any]) -> list[Any]:
    """Two maps `a * v + b` as one."""
    (a, b), (c, d) = before, after
    return [elementwise.mul(a, c), elementwise.add(elementwise.mul(c, b), d)]


# -- the records -----------------------------------------------------------------------


def _cumulative(
    name: str,
    combine: Any,
    identity: Callable[[Any], Any],
    accepts: Any,
    fold: Any,
    written_last: tuple[str, str],
    small: int = _SMALL_ARRAY,
    fewest: int = prefix_kernels.FEWEST,
    **rules: Any,
) -> Primitive:
    def abstract(operand: Any, *, axis: int, reverse: bool) -> Any:
        families.check_dtype(name, operand, accepts)
        families.check_axes(name, operand, (axis,))
        return ShapedArray(operand.shape, operand.dtype, operand.weak_type)

    def lower(ctx: Any, x: str, *, axis: int, reverse: bool) -> str:
        (aval,) = ctx.avals_in
        if aval.size == 0:
            return x
        in_aval, wide = aval, _widen_narrow(aval)
        x, aval = ctx.block.convert(x, in_aval, wide), wide
        folding = _Fold(ctx, combine, identity(aval.dtype), aval.dtype, small)
        if ctx.platform != "cpu" or types.has_symbolic_size(aval):
            out = folding.windows(x, aval, axis, reverse)
        else:
            out = folding.blocks(x, aval, axis, reverse)
        return ctx.block.convert(out, wide, in_aval)

    @takes_primitive
    def batch(
        p: Primitive, mapped: Any, args: Any, dims: Any, *, axis: int, reverse: bool
    ) -> Any:
        (dim,) = dims
        return p.bind(args[0], axis=axis + (axis >= dim), reverse=reverse), dim

    def reference(x: Any, *, axis: int, reverse: bool) -> Any:
        if not reverse:
            return fold(x, axis).astype(x.dtype)
        return np.flip(fold(np.flip(x, axis), axis), axis).astype(x.dtype)

    # The kernel, and the same in operations of XLA.
    kernel_name, plain_name = written_last
    plain = Primitive(plain_name, abstract=abstract, lower=lower)
    kernel = prefix_kernels.kernel_for(kernel_name, name, plain)

    def rewrite(platform: str, operand: Any, *, axis: int, reverse: bool) -> Any:
        if not prefix_kernels.suits(platform, operand, axis, fewest):
            return None
        return lambda x: kernel.bind(x, axis=axis, reverse=reverse)

    return Primitive(
        name,
        abstract=abstract,
        shard=sharding_rules.along("axis"),
        lower=lower,
        rewrite=rewrite,
        batch=batch,
        reference=reference,
        **rules,
    )


def _wide(fold: Any) -> Any:
    """Folds of small floats in NumPy go through float32."""

    def run(x: Any, axis: int) -> Any:
        small = x.dtype.itemsize < 4 and x.dtype.kind not in "biu"
        return fold(
            x.astype(np.float32) if small else x,
            axis=axis,
            dtype=None if small else x.dtype,
        )

    return run


@takes_primitive
def _sums_transpose(p: Primitive, cts: Any, x: Any, *, axis: int, reverse: bool) -> Any:
    if type(cts[0]) is Zero:
        return [Zero(x.aval)]
    return [p.bind(cts[0], axis=axis, reverse=not reverse)]


cumsum_p = _cumulative(
    "cumsum",
    _combine_with("stablehlo.add"),
    lambda dtype: 0,
    families.NUMERIC,
    _wide(np.cumsum),
    written_last=("cumsum_kernel", "cumsum_in_xla"),
    transpose=_sums_transpose,
    needs_full_build=True,
    **families.LINEAR,
)
cumprod_p = _cumulative(
    "cumprod",
    _combine_with("stablehlo.multiply"),
    lambda dtype: 1,
    families.NUMERIC,
    _wide(np.cumprod),
    written_last=("cumprod_kernel", "cumprod_in_xla"),
    jvp=_jvp(elementwise.mul_p),
    needs_full_build=True,
)
cummax_p = _cumulative(
    "cummax",
    _combine_extremes("stablehlo.maximum"),
    families.lowest,
    families.ANY,
    lambda x, axis: np.maximum.accumulate(x, axis),
    written_last=("cummax_kernel", "cummax_in_xla"),
    jvp=_jvp(elementwise.max_p),
    needs_full_build=True,
    may_make_nan=False,
)
cummin_p = _cumulative(
    "cummin",
    _combine_extremes("stablehlo.minimum"),
    families.highest,
    families.ANY,
    lambda x, axis: np.minimum.accumulate(x, axis),
    written_last=("cummin_kernel", "cummin_in_xla"),
    jvp=_jvp(elementwise.min_p),
    needs_full_build=True,
    may_make_nan=False,
)
cumlogsumexp_p = _cumulative(
    "cumlogsumexp",
    _combine_log_sums,
    families.lowest,
    families.FLOAT,
    lambda x, axis: np.logaddexp.accumulate(x, axis),
    written_last=("cumlogsumexp_kernel", "cumlogsumexp_in_xla"),
    small=_SMALL_FOR_EXPONENTIALS,
    fewest=prefix_kernels.FEWEST_EXPONENTIALS,
    jvp=_log_sums_jvp,
)


# -- functions -------------------------------------------------------------------------


def _apply(p: Primitive, operand: Any, axis: int, reverse: bool) -> Any:
    rank = avals.aval_of(operand).ndim
    axis = sizes.canonicalize_axis(axis, rank, f"lax.{p.name}")
    return p.bind(operand, axis=axis, reverse=bool(reverse))


def cumsum(operand: ArrayLike, axis: int = 0, reverse: bool = False) -> Array:
    """Sums of the elements up to each one along an axis.

    Args:
      operand: array of numbers.
      axis: the axis; may be negative.
      reverse: sum from the end instead.

    Example:
      >>> lax.cumsum(np.array([1, 2, 3]))
      Array([1, 3, 6], dtype=int32)
    """
    return _apply(cumsum_p, operand, axis, reverse)


def cumprod(operand: ArrayLike, axis: int = 0, reverse: bool = False) -> Array:
    """Products of the elements up to each one along an axis.

    Args:
      operand: array of numbers.
      axis: the axis; may be negative.
      reverse: multiply from the end instead.

    Example:
      >>> lax.cumprod(jnp.array([1, 2, 3]), reverse=True)
      Array([6, 6, 3], dtype=int32)
    """
    return _apply(cumprod_p, operand, axis, reverse)


def cummax(operand: ArrayLike, axis: int = 0, reverse: bool = False) -> Array:
    """The largest of the elements up to each one along an axis.

    Args:
      operand: array; complex numbers are ordered by real, then imaginary parts.
      axis: the axis; may be negative.
      reverse: go from the end instead.

    Example:
      >>> lax.cummax(jnp.array([1, 3, 2]))
      Array([1, 3, 3], dtype=int32)
    """
    return _apply(cummax_p, operand, axis, reverse)


def cummin(operand: ArrayLike, axis: int = 0, reverse: bool = False) -> Array:
    """The smallest of the elements up to each one along an axis.

    Args:
      operand: array; complex numbers are ordered by real, then imaginary parts.
      axis: the axis; may be negative.
      reverse: go from the end instead.

    Example:
      >>> lax.cummin(jnp.array([3, 1, 2]))
      Array([3, 1, 1], dtype=int32)
    """
    return _apply(cummin_p, operand, axis, reverse)


def cumlogsumexp(operand: ArrayLike, axis: int = 0, reverse: bool = False) -> Array:
    """The logarithm of the sum of exponentials of the elements up to each one.

    Args:
      operand: floating or complex array.
      axis: the axis; may be negative.
      reverse: go from the end instead.

    Returns:
      An array like `operand`; imaginary parts are in (-pi, pi].

    Example:
      >>> lax.cumlogsumexp(jnp.array([0.0, -jnp.inf]))
      Array([0., 0.], dtype=float32)
    """
    aval = avals.aval_of(operand)
    if dtypes.kind(aval.dtype) != "c":
        return _apply(cumlogsumexp_p, operand, axis, reverse)
    axis = sizes.canonicalize_axis(axis, aval.ndim, "lax.cumlogsumexp")
    return _complex_log_sums(operand, axis, reverse)


def _complex_log_sums(x: Any, axis: int, reverse: bool) -> Array:
    """The same of complex numbers.

    Sums of exponentials are held as the largest real part so far, and the sum divided
    by the exponential of that.
    """
    top, angle = elementwise.real(x), elementwise.imag(x)
    turn = elementwise.complex_(elementwise.cos(angle), elementwise.sin(angle))
    top, total = prefixes.accumulate(
        _join_scaled_sums, [top, turn], (axis, axis), reverse
    )
    return elementwise.add(_like(total, top), elementwise.log(total))


def _join_scaled_sums(before: list[Any], after: list[Any]) -> list[Any]:
    top = elementwise.max_(before[0], after[0])
    sums = [_scale_sum(own, total, top) for own, total in (before, after)]
    return [top, elementwise.add(*sums)]


def _scale_sum(own_top: Any, total: Any, top: Any) -> Any:
    gap = elementwise.sub(own_top, top)
    zero = families.scalar_like(gap, 0)
    gap = elementwise.select(elementwise.ne(gap, gap), zero, gap)  # of two infinities
    return elementwise.mul(total, _like(total, elementwise.exp(gap)))


def _like(total: Any, x: Any) -> Any:
    """Real numbers in the complex dtype of `total`."""
    aval = avals.aval_of(total)
    return elementwise.convert(x, aval.dtype, aval.weak_type)
