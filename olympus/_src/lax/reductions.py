"""Reductions of axes by an operation: maximum, product, conjunction, position, ..."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from olympus._src.core import avals, dtypes
from olympus._src.core.array_type import Array, ArrayLike, DTypeLike, Placement, Shape
from olympus._src.core.primitive import (
    Cost,
    Exact,
    Primitive,
    takes_primitive,
    takes_symbolic_sizes,
)
from olympus._src.core.symbolic_values import Zero
from olympus._src.lax import (
    argmax_lowering,
    concatenation,
    cumulative,
    elementwise,
    families,
    nan_extremes,
    packed_argmax,
    shaping,
    sharding_constraints,
    sharding_rules,
    sizes,
)
from olympus._src.lax.families import ShapedArray, reduction
from olympus._src.lowering import types

# -- extremes --------------------------------------------------------------------------


def _keep_axes(reduced: Any, shape: Any, axes: Any) -> Any:
    """A reduced array repeated to the operand's shape."""
    kept_axes = tuple([i for i in range(len(shape)) if i not in axes])
    return families.broadcast_in_dim_p.bind(
        reduced, shape=shape, broadcast_dimensions=kept_axes, sharding=None
    )


@takes_primitive
def _extreme_jvp(
    p: Primitive, primals: Any, tangents: Any, *, axes: Any, **params: Any
) -> Any:
    """The tangent is the mean of the tangents of the elements that are extreme."""
    (x,), (t,) = primals, tangents
    out = p.bind(x, axes=axes, **params)
    if type(t) is Zero:
        return out, Zero(avals.aval_of(out).to_tangent())
    shape, dtype = avals.aval_of(x).shape, avals.aval_of(t).dtype
    mask = elementwise.eq(x, _keep_axes(out, shape, axes))
    mask = elementwise.convert(mask, dtype)
    count = families.reduce_sum_p.bind(mask, axes=axes)
    total = families.reduce_sum_p.bind(elementwise.mul(t, mask), axes=axes)
    return out, elementwise.div(total, count)


def _extreme_lower(hlo: str, identity: Any) -> Any:
    def lower(ctx: Any, x: str, *, axes: Any, keeps_nan: bool = True) -> Any:
        (aval,) = ctx.avals_in
        may_lose = not keeps_nan and nan_extremes.suits_plain_fold(aval, axes)
        if not may_lose and nan_extremes.loses_nan(ctx.platform, aval.dtype):
            return nan_extremes.emit_reduce(ctx, hlo, identity, x, axes)
        return families.emit_reduction(ctx, x, hlo, identity, axes)

    return lower


def _max_reference(x: Any, *, axes: Any, keeps_nan: bool = True) -> Any:
    if x.dtype.kind == "c":
        return _complex_reference(np.max, -np.inf, x, axes)
    return np.max(x, axis=axes, initial=families.lowest(x.dtype))


def _min_reference(x: Any, *, axes: Any) -> Any:
    if x.dtype.kind == "c":
        return _complex_reference(np.min, np.inf, x, axes)
    return np.min(x, axis=axes, initial=families.highest(x.dtype))


def _complex_reference(fold: Any, worst: float, x: Any, axes: Any) -> Any:
    first = fold(x.real, axis=axes, initial=worst, keepdims=True)
    is_first = (x.real == first) | np.isnan(x.real)
    second = fold(np.where(is_first, x.imag, worst), axis=axes, initial=worst)
    out = np.empty(second.shape, x.dtype)
    out.real, out.imag = fold(x.real, axis=axes, initial=worst), second
    return out


@takes_symbolic_sizes
@takes_primitive
def _by_parts(p: Primitive, platform: str, x: Any, *, axes: Any, **_: Any) -> Any:
    """What to lower in place of an extreme of complex numbers: those of its parts.

    They are ordered by the real part, then by the imaginary one; NaN wins.
    """
    if dtypes.kind(x.dtype) != "c":
        return None
    worst = -np.inf if p is reduce_max_p else np.inf

    def by_parts(x: Any) -> Any:
        re, im = elementwise.real(x), elementwise.imag(x)
        first = p.bind(re, axes=axes)
        wide = _keep_axes(first, avals.aval_of(re).shape, axes)
        is_first = elementwise.bitwise_or(
            elementwise.eq(re, wide), elementwise.ne(re, re)
        )
        others = families.full_like(im, worst)
        second = p.bind(elementwise.select(is_first, im, others), axes=axes)
        return elementwise.complex_(first, second)

    return by_parts


reduce_max_p = reduction(
    "reduce_max",
    hlo="stablehlo.maximum",
    identity=families.lowest,
    accepts=families.ANY,
    reference=_max_reference,
    rewrite=_by_parts,
    print=lambda eqn: [("axes", eqn.params["axes"])],
    may_make_nan=False,
    jvp=_extreme_jvp,
    lower=_extreme_lower("stablehlo.maximum", families.lowest),
    exact=Exact.ORDERED,
)

reduce_min_p = reduction(
    "reduce_min",
    hlo="stablehlo.minimum",
    identity=families.highest,
    accepts=families.ANY,
    reference=_min_reference,
    rewrite=_by_parts,
    may_make_nan=False,
    jvp=_extreme_jvp,
    lower=_extreme_lower("stablehlo.minimum", families.highest),
    exact=Exact.ORDERED,
)


# -- product ---------------------------------------------------------------------------


def _others(x: Any) -> Any:
    """For each element of the last axis, the product of all others on it."""
    rank = avals.aval_of(x).ndim
    one = np.ones((), avals.aval_of(x).dtype)[()]
    if avals.aval_of(x).shape[-1] == 0:
        return x
    no_padding = [(0, 0, 0)] * (rank - 1)

    def before(reverse: bool) -> Any:
        products = cumulative.cumprod(x, rank - 1, reverse)
        step = (-1, 1, 0) if reverse else (1, -1, 0)
        return concatenation.pad_p.bind(
            products, one, padding_config=(*no_padding, step)
        )

    return elementwise.mul(before(False), before(True))


def _prod_jvp(primals: Any, tangents: Any, *, axes: Any) -> Any:
    (x,), (t,) = primals, tangents
    out = reduce_prod_p.bind(x, axes=axes)
    if type(t) is Zero:
        return out, Zero(avals.aval_of(out).to_tangent())
    shape = avals.aval_of(x).shape
    kept_axes = [i for i in range(len(shape)) if i not in axes]
    flat = [shape[i] for i in kept_axes] + [-1]
    flat[-1] = math.prod([shape[i] for i in axes])

    def lined(v: Any) -> Any:
        return shaping.reshape(shaping.transpose(v, (*kept_axes, *axes)), flat)

    terms = elementwise.mul(lined(t), _others(lined(x)))
    return out, families.reduce_sum_p.bind(terms, axes=(len(kept_axes),))


reduce_prod_p = reduction(
    "reduce_prod",
    hlo="stablehlo.multiply",
    identity=lambda dtype: 1,
    accepts=families.NUMERIC,
    reference=lambda x, *, axes: np.prod(x, axis=axes, dtype=x.dtype),
    jvp=_prod_jvp,
)


# -- logic -----------------------------------------------------------------------------


def _logic(name: str, hlo: str, identity: Any, fold: Any) -> Primitive:
    return reduction(
        name,
        hlo=hlo,
        identity=identity,
        accepts=families.BOOL_INT,
        reference=lambda x, *, axes: fold.reduce(x, axis=axes, dtype=x.dtype),
        jvp=families.no_tangent,
        may_make_nan=False,
        exact=Exact.INTEGERS,
    )


reduce_and_p = _logic("reduce_and", "stablehlo.and", families.all_bits, np.bitwise_and)
reduce_or_p = _logic("reduce_or", "stablehlo.or", lambda dtype: 0, np.bitwise_or)
reduce_xor_p = _logic("reduce_xor", "stablehlo.xor", lambda dtype: 0, np.bitwise_xor)


# -- positions of extremes -------------------------------------------------------------


def _position_abstract(name: str) -> Any:
    def abstract(operand: Any, *, axes: Any, index_dtype: Any) -> Any:
        families.check_dtype(name, operand, families.ORDERED)
        families.check_axes(name, operand, axes)
        if len(axes) != 1:
            raise ValueError(f"lax.{name}: expects one axis, got {tuple(axes)}")
        if not dtypes.issubdtype(index_dtype, np.integer):
            raise TypeError(
                f"lax.{name}: index_dtype must be an integer dtype, got {index_dtype}"
            )
        if operand.shape[axes[0]] == 0:
            raise ValueError(
                f"lax.{name}: the axis must not be empty, got axis {axes[0]} of "
                f"{operand.short()}"
            )
        shape = tuple([s for i, s in enumerate(operand.shape) if i not in axes])
        return ShapedArray(shape, index_dtype)

    return abstract


def _position_decompose(reduce_p: Primitive) -> Any:
    """The least position of an element equal to the extreme; of a NaN, if any."""

    def decompose(x: Any, *, axes: Any, index_dtype: Any) -> Any:
        aval = avals.aval_of(x)
        if packed_argmax.can_pack(aval, axes[0]):
            is_largest = reduce_p is reduce_max_p
            least = packed_argmax.find_first(x, axes[0], reduce_p, is_largest)
            return elementwise.convert(least, index_dtype)
        extreme = _keep_axes(reduce_p.bind(x, axes=axes), aval.shape, axes)
        is_extreme = elementwise.eq(x, extreme)
        if dtypes.issubdtype(aval.dtype, np.floating):
            is_extreme = elementwise.bitwise_or(is_extreme, elementwise.ne(x, x))
        counter = sizes.position_dtype(aval.shape[axes[0]])
        at = shaping.broadcasted_iota(counter, aval.shape, axes[0])
        never = elementwise.size_value(aval.shape[axes[0]] - 1, counter)
        least = reduce_min_p.bind(elementwise.select(is_extreme, at, never), axes=axes)
        return elementwise.convert(least, index_dtype)

    return decompose


def _position_reference(find: Any) -> Any:
    def reference(x: Any, *, axes: Any, index_dtype: Any) -> Any:
        return find(x, axes[0]).astype(index_dtype)

    return reference


def _position(name: str, reduce_p: Primitive, find: Any) -> Primitive:
    return Primitive(
        name,
        shard=sharding_rules.argmax,
        abstract=_position_abstract(name),
        decompose=_position_decompose(reduce_p),
        rewrite=argmax_lowering.emit_instead(reduce_p is reduce_max_p),
        reference=_position_reference(find),
        batch=families.reduction_batch,
        jvp=families.no_tangent,
        may_make_nan=False,
        exact=Exact.NUMBERS,
    )


argmax_p = _position("argmax", reduce_max_p, np.argmax)
argmin_p = _position("argmin", reduce_min_p, np.argmin)


# -- precision -------------------------------------------------------------------------


def _reduce_precision_reference(
    x: Any, *, exponent_bits: int, mantissa_bits: int
) -> Any:
    known = {(5, 10): "float16", (8, 7): "bfloat16", (8, 23): "float32"}
    narrow = dtypes.as_dtype(known[(exponent_bits, mantissa_bits)])
    return x.astype(narrow).astype(x.dtype)


_MAX_BITS = (1 << 31) - 1


def _reduce_precision_lower(
    ctx: Any, x: str, *, exponent_bits: int, mantissa_bits: int
) -> str:
    if not (1 <= exponent_bits <= _MAX_BITS and 0 <= mantissa_bits <= _MAX_BITS):
        raise ValueError(
            "lax.reduce_precision: exponent_bits must be from 1 and mantissa_bits "
            f"from 0 to {_MAX_BITS}, got {exponent_bits} and {mantissa_bits}; float64 "
            "has 11 and 52"
        )
    return ctx.block.emit(
        f"stablehlo.reduce_precision {x}, format = e{exponent_bits}m{mantissa_bits} : "
        f"{types.tensor_type(ctx.avals_out[0])}"
    )


reduce_precision_p: Primitive = families.elementwise(
    "reduce_precision",
    accepts=families.FLOAT,
    lower=_reduce_precision_lower,
    derivatives=(lambda t, out, x, **params: reduce_precision_p.bind(t, **params),),
    transpose=lambda cts, x, **params: [
        Zero(x.aval)
        if type(cts[0]) is Zero
        else reduce_precision_p.bind(cts[0], **params)
    ],
    reference=_reduce_precision_reference,
    cost=Cost.CHEAP,
    may_make_nan=False,
)


# -- functions -------------------------------------------------------------------------


def _reduce(p: Primitive, operand: Any, axes: Any) -> Any:
    rank = avals.aval_of(operand).ndim
    return p.bind(operand, axes=sizes.canonicalize_axes(axes, rank, f"lax.{p.name}"))


def _divide(f: Any, operand: Any, axes: Any, out_sharding: Any) -> Any:
    return sharding_constraints.divide_result(
        lambda x: f(x, axes), out_sharding, f"lax.{f.__name__}", operand
    )


def reduce_sum(
    operand: ArrayLike, axes: int | Shape, *, out_sharding: Placement = None
) -> Array:
    """The sum of elements along axes.

    Args:
      operand: array of numbers.
      axes: the axes summed over; the result is without them.
      out_sharding: where the result lives.

    Raises:
      ValueError: an axis does not exist or repeats.

    Source: `stablehlo.reduce` of `add`.

    Example:
      >>> lax.reduce_sum(jnp.array([[1, 5], [7, 2]]), (0, 1))
      Array(15, dtype=int32)
    """
    if out_sharding is not None:
        return _divide(reduce_sum, operand, axes, out_sharding)
    return _reduce(families.reduce_sum_p, operand, axes)


def reduce_prod(operand: ArrayLike, axes: int | Shape) -> Array:
    """The product of elements along axes.

    Args:
      operand: array of numbers.
      axes: the axes multiplied over; the result is without them.

    Source: `stablehlo.reduce` of `multiply`.

    Example:
      >>> lax.reduce_prod(jnp.array([[1, 5], [7, 2]]), (0,))
      Array([ 7, 10], dtype=int32)
    """
    return _reduce(reduce_prod_p, operand, axes)


def reduce_max(
    operand: ArrayLike, axes: int | Shape, *, out_sharding: Placement = None
) -> Array:
    """The largest element along axes; NaN where there is one.

    Args:
      operand: array; complex numbers are ordered by real, then imaginary parts.
      axes: the axes searched; the result is without them.
      out_sharding: where the result lives.

    Source: `stablehlo.reduce` of `maximum`.

    Example:
      >>> lax.reduce_max(jnp.array([[1, 5], [7, 2]]), (0,))
      Array([7, 5], dtype=int32)
    """
    if out_sharding is not None:
        return _divide(reduce_max, operand, axes, out_sharding)
    return _reduce(reduce_max_p, operand, axes)


def reduce_number_max(operand: ArrayLike, axes: Shape) -> Array:
    """`reduce_max`, but a number or NaN where an element is NaN.

    For what is NaN then anyway, by what else it is made of: the library that XLA has
    for large arrays keeps no NaN, and needs no compilation.
    """
    return reduce_max_p.bind(operand, axes=axes, keeps_nan=False)


def reduce_min(
    operand: ArrayLike, axes: int | Shape, *, out_sharding: Placement = None
) -> Array:
    """The smallest element along axes; NaN where there is one.

    Args:
      operand: array; complex numbers are ordered by real, then imaginary parts.
      axes: the axes searched; the result is without them.
      out_sharding: where the result lives.

    Source: `stablehlo.reduce` of `minimum`.

    Example:
      >>> lax.reduce_min(jnp.array([[1, 5], [7, 2]]), (0,))
      Array([1, 2], dtype=int32)
    """
    if out_sharding is not None:
        return _divide(reduce_min, operand, axes, out_sharding)
    return _reduce(reduce_min_p, operand, axes)


def reduce_and(operand: ArrayLike, axes: int | Shape) -> Array:
    """The bitwise conjunction of elements along axes.

    Args:
      operand: array of bools or integers.
      axes: the axes reduced; the result is without them.

    Source: `stablehlo.reduce` of `and`.

    Example:
      >>> lax.reduce_and(jnp.array([[True, False], [True, True]]), (1,))
      Array([False,  True], dtype=bool)
    """
    return _reduce(reduce_and_p, operand, axes)


def reduce_or(operand: ArrayLike, axes: int | Shape) -> Array:
    """The bitwise disjunction of elements along axes.

    Args:
      operand: array of bools or integers.
      axes: the axes reduced; the result is without them.

    Source: `stablehlo.reduce` of `or`.

    Example:
      >>> lax.reduce_or(jnp.array([[True, False], [False, False]]), (1,))
      Array([ True, False], dtype=bool)
    """
    return _reduce(reduce_or_p, operand, axes)


def reduce_xor(operand: ArrayLike, axes: int | Shape) -> Array:
    """The bitwise exclusive disjunction of elements along axes.

    Args:
      operand: array of bools or integers.
      axes: the axes reduced; the result is without them.

    Source: `stablehlo.reduce` of `xor`.

    Example:
      >>> lax.reduce_xor(jnp.array([6, 3]), (0,))
      Array(5, dtype=int32)
    """
    return _reduce(reduce_xor_p, operand, axes)


def argmax(operand: ArrayLike, axis: int, index_dtype: DTypeLike) -> Array:
    """The position of the largest element along an axis; the first of equals.

    Args:
      operand: array of bools, integers or floats; NaN counts as largest.
      axis: the axis; may be negative.
      index_dtype: integer dtype of the result.

    Raises:
      ValueError: the axis is empty or does not exist.

    Example:
      >>> lax.argmax(jnp.array([[1, 5], [7, 2]]), 1, jnp.int32)
      Array([1, 0], dtype=int32)
    """
    return _position_of(argmax_p, operand, axis, index_dtype)


def argmin(operand: ArrayLike, axis: int, index_dtype: DTypeLike) -> Array:
    """The position of the smallest element along an axis; the first of equals.

    Args:
      operand: array of bools, integers or floats; NaN counts as smallest.
      axis: the axis; may be negative.
      index_dtype: integer dtype of the result.

    Raises:
      ValueError: the axis is empty or does not exist.

    Example:
      >>> lax.argmin(jnp.array([[1, 5], [7, 2]]), 1, jnp.int32)
      Array([0, 1], dtype=int32)
    """
    return _position_of(argmin_p, operand, axis, index_dtype)


def _position_of(p: Primitive, operand: Any, axis: int, index_dtype: Any) -> Any:
    rank = avals.aval_of(operand).ndim
    axis = sizes.canonicalize_axis(axis, rank, f"lax.{p.name}")
    kind = dtypes.canonicalize_dtype(dtypes.as_dtype(index_dtype))
    return p.bind(operand, axes=(axis,), index_dtype=kind)


def reduce_precision(
    operand: ArrayLike, exponent_bits: int, mantissa_bits: int
) -> Array:
    """Floats rounded to fewer bits, in their own dtype.

    Args:
      operand: floating array.
      exponent_bits: bits of the exponent of the format rounded to.
      mantissa_bits: bits of its mantissa.

    Source: `stablehlo.reduce_precision`.

    Example:
      >>> lax.reduce_precision(jnp.array([1.2345]), exponent_bits=5, mantissa_bits=2)
      Array([1.25], dtype=float32)
    """
    if exponent_bits < 1 or mantissa_bits < 0:
        raise ValueError(
            "lax.reduce_precision: exponent_bits must be 1 or more and mantissa_bits 0 "
            f"or more, got {exponent_bits} and {mantissa_bits}"
        )
    return reduce_precision_p.bind(
        operand, exponent_bits=int(exponent_bits), mantissa_bits=int(mantissa_bits)
    )
