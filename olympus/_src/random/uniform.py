"""Bits, and the distributions where all outcomes are equally likely."""

from __future__ import annotations

from typing import Any

import numpy as np

from olympus._src.core import avals, dtypes
from olympus._src.core.array_type import (
    Array,
    ArrayLike,
    DTypeLike,
    KeyArray,
    Placement,
    Shape,
)
from olympus._src.foundation import config
from olympus._src.lax import concatenation, shaping
from olympus._src.lax import elementwise as ew
from olympus._src.numpy import promotion
from olympus._src.random import arguments, keys
from olympus._src.random.arguments import as_dtype, number, one_program, spread

# -- bits ------------------------------------------------------------------------------


@promotion.divides_result("random.bits")
def bits(
    key: KeyArray,
    shape: int | Shape = (),
    dtype: DTypeLike | None = None,
    *,
    out_sharding: Placement = None,
) -> Array:
    """Random bits, as unsigned integers.

    Args:
      key: one key.
      shape: shape of the result.
      dtype: unsigned integer dtype; default the default one.
      out_sharding: how the result is divided over a mesh.

    Returns:
      Unsigned integers [*shape], each equally likely.

    Raises:
      ValueError: several keys are given, or `dtype` is of the wrong kind.

    Example:
      >>> from olympus import random
      >>> random.bits(random.key(1), (4,), 'uint8')
      Array([183,  62, 122, 241], dtype=uint8)
    """
    key = keys.single_key("bits", key)
    if dtype is None:
        dtype = dtypes.canonicalize_dtype("uint64")  # the default width
    dtype = dtypes.check_user_dtype(dtype, "bits")
    if dtypes.kind(dtype) != "u":
        raise ValueError(
            f"random.bits: dtype must be an unsigned int dtype, got {dtype}; for "
            "example dtype='uint32'"
        )
    return draw_bits(
        key, dtypes.itemsize_bits(dtype), arguments.shape_of("bits", shape)
    )


def draw_bits(key: Any, bit_width: int, shape: tuple[int, ...]) -> Any:
    """Unsigned integers of `bit_width` bits."""
    return keys.random_bits_p.bind(key, bit_width=bit_width, shape=shape)


# -- floats ----------------------------------------------------------------------------


@promotion.divides_result("random.uniform")
def uniform(
    key: KeyArray,
    shape: int | Shape = (),
    dtype: DTypeLike | None = None,
    minval: ArrayLike = 0.0,
    maxval: ArrayLike = 1.0,
    *,
    out_sharding: Placement = None,
) -> Array:
    """Floats between two bounds, all equally likely.

    Args:
      key: one key.
      shape: shape of the result.
      dtype: float dtype; default the default one.
      minval: lower bound, included; broadcasts to `shape`.
      maxval: upper bound, excluded; broadcasts to `shape`.
      out_sharding: how the result is divided over a mesh.

    Returns:
      Floats [*shape].

    Raises:
      ValueError: several keys are given, the dtype is of the wrong kind, or the bounds
        do not broadcast to `shape`.

    Example:
      >>> from olympus import random
      >>> random.uniform(random.PRNGKey(0), (2,), minval=-1, maxval=1).shape
      (2,)
    """
    key = keys.single_key("uniform", key)
    dtype = arguments.float_dtype("uniform", dtype)
    shape = arguments.shape_of("uniform", shape)
    bounds = [avals.aval_of(bound).shape for bound in (minval, maxval)]
    if not shape and all(set(axes) <= {1} for axes in bounds):
        shape = max(bounds, key=len)  # JAX gives one number the bounds' axes of one
    for axes in bounds:
        arguments.check_broadcast("uniform", shape, axes)
    return _uniform(key, minval, maxval, shape=shape, dtype=dtype)


@one_program
def _uniform(key: Any, minval: Any, maxval: Any, *, shape: Any, dtype: Any) -> Any:
    low, high = as_dtype(minval, dtype), as_dtype(maxval, dtype)
    return draw_uniform(key, shape, dtype, low, high)


def draw_uniform(
    key: Any, shape: Any, dtype: Any, minval: Any = 0.0, maxval: Any = 1.0
) -> Any:
    """Floats in [minval, maxval): random mantissas of a number between 1 and 2, less 1.

    Bounds are numbers of Python or arrays of `dtype`.
    """
    info = dtypes.finfo(dtype)
    width = 8 if info.nmant < 8 else info.bits
    uint = np.dtype(f"uint{info.bits}")
    raw = as_dtype(draw_bits(key, width, shape), uint)
    one = number(np.asarray(1.0, dtype).view(uint), uint)
    mantissa = ew.shift_right_logical(raw, number(width - info.nmant, uint))
    floats = shaping.bitcast_convert_type(ew.bitwise_or(mantissa, one), dtype)
    floats = ew.sub(floats, number(1.0, dtype))
    low, high = _typed_bound(minval, shape, dtype), _typed_bound(maxval, shape, dtype)
    scaled = ew.add(ew.mul(floats, _difference(high, low)), low)
    return ew.max_(low, scaled)


def _typed_bound(x: Any, shape: Any, dtype: Any) -> Any:
    return number(x, dtype) if isinstance(x, (int, float)) else spread(x, shape)


def _difference(high: Any, low: Any) -> Any:
    """`high - low`, of numbers by the host."""
    on_host = isinstance(high, np.generic) and isinstance(low, np.generic)
    if on_host:
        return high - low
    return ew.sub(high, low)


# -- integers --------------------------------------------------------------------------


@promotion.divides_result("random.randint")
def randint(
    key: KeyArray,
    shape: int | Shape,
    minval: ArrayLike,
    maxval: ArrayLike,
    dtype: DTypeLike | None = None,
    *,
    out_sharding: Placement = None,
) -> Array:
    """Integers between two bounds, all equally likely.

    Args:
      key: one key.
      shape: shape of the result.
      minval: integers, the lower bound, included; broadcasts to `shape`.
      maxval: integers, the upper bound, excluded; broadcasts to `shape`. Where it is
        not above `minval`, that is the result.
      dtype: integer dtype; default the default one. Bounds are clipped to its range.
      out_sharding: how the result is divided over a mesh.

    Returns:
      Integers [*shape].

    Raises:
      ValueError: several keys are given, or the bounds do not broadcast to `shape`.
      TypeError: the dtype or the bounds are of the wrong kind (floats are truncated).

    Example:
      >>> from olympus import random
      >>> random.randint(random.PRNGKey(1), (5,), 0, 100)
      Array([96, 27, 40, 53, 68], dtype=int32)
    """
    key = keys.single_key("randint", key)
    dtype = arguments.integer_dtype("randint", dtype)
    shape = arguments.shape_of("randint", shape)
    minval, maxval = (_integers(x, shape) for x in (minval, maxval))
    return _randint(key, minval, maxval, shape=shape, dtype=dtype)


def _integers(x: Any, shape: Any) -> Any:
    """A bound as integers; Python's may be of any size and are cut to what fits."""
    widest = np.iinfo(np.int64 if config.x64_enabled() else np.int32)
    if isinstance(x, int) and not isinstance(x, bool) and x > widest.max:
        unsigned = np.uint64 if config.x64_enabled() else np.uint32
        return unsigned(min(x, np.iinfo(unsigned).max))
    if isinstance(x, int) and x < widest.min:
        return int(widest.min)
    dtype, _ = dtypes.dtype_and_weak(x, "random.randint")
    arguments.check_broadcast("randint", shape, avals.aval_of(x).shape)
    if dtypes.kind(dtype) in "ui":
        return x
    if dtypes.kind(dtype) not in "bf":
        raise TypeError(
            f"random.randint: minval and maxval must be integers, got {x!r} of dtype "
            f"{dtype}; round them, or use random.uniform"
        )
    return as_dtype(x, dtypes.canonicalize_dtype(int))


@one_program
def _randint(key: Any, minval: Any, maxval: Any, *, shape: Any, dtype: Any) -> Any:
    return draw_integers(key, shape, minval, maxval, dtype)


def draw_integers(key: Any, shape: Any, minval: Any, maxval: Any, dtype: Any) -> Any:
    """Integers in [minval, maxval); two draws are joined, so remainders even out."""
    if dtypes.itemsize_bits(dtype) < 32:
        # Small integers are drawn wide: few bits would make the remainders uneven.
        small = dtypes.iinfo(dtype)
        low = _clamp_to_dtype(minval, int(small.min), int(small.max), np.int32)
        high = _clamp_to_dtype(maxval, int(small.min), int(small.max) + 1, np.int32)
        wide = draw_integers(key, shape, low, high, np.dtype(np.int32))
        return as_dtype(wide, dtype)
    info = np.iinfo(dtype)
    uint = np.dtype(f"uint{info.bits}")
    low = spread(_clamp_to_dtype(minval, info.min, info.max, dtype), shape)
    high = spread(_clamp_to_dtype(maxval, info.min, info.max, dtype), shape)
    above = ew.gt(high, low)
    span = as_dtype(ew.sub(high, low), uint)
    span = ew.select(above, span, _like(span, 1))
    bound_dtype = avals.aval_of(maxval).dtype
    whole = None
    if int(dtypes.iinfo(bound_dtype).max) > info.max:
        # An upper bound beyond the dtype's range was cut by one too many.
        beyond = spread(
            ew.gt(maxval, number(info.max, bound_dtype)), avals.aval_of(high).shape
        )
        taller = ew.add(span, number(1, uint))
        span = ew.select(ew.bitwise_and(beyond, above), taller, span)
        # All numbers of the dtype are one more than it counts to: the bits as they
        # are. XLA's compiler ends the process where it divides constants by zero.
        whole = ew.eq(span, _like(span, 0))
        span = ew.select(whole, _like(span, 1), span)
    return ew.add(low, as_dtype(_remainder(key, shape, span, uint, whole), dtype))


def _remainder(key: Any, shape: Any, span: Any, uint: Any, whole: Any) -> Any:
    """Integers in [0, span); twice the bits, modulo the span; any bits if `whole`."""
    n_bits = uint.itemsize * 8
    first, second = split_in(key, 2)
    high = draw_bits(first, n_bits, shape)
    low = draw_bits(second, n_bits, shape)
    root = ew.rem(_like(span, 2 ** (n_bits // 2)), span)
    factor = ew.rem(ew.mul(root, root), span)
    offset = ew.add(ew.mul(ew.rem(high, span), factor), ew.rem(low, span))
    drawn = ew.rem(offset, span)
    return drawn if whole is None else ew.select(whole, low, drawn)


def _like(x: Any, value: int) -> Any:
    """A number in the shape and dtype of `x`."""
    aval = avals.aval_of(x)
    return shaping.broadcast(number(value, aval.dtype), aval.shape)


def _clamp_to_dtype(x: Any, low: int, high: int, dtype: Any) -> Any:
    """Integers limited to the range of a dtype and converted to it."""
    own_dtype = avals.aval_of(x).dtype
    info = dtypes.iinfo(own_dtype)
    if int(info.min) < low:
        x = ew.max_(x, number(low, own_dtype))
    if int(info.max) > high:
        x = ew.min_(x, number(high, own_dtype))
    return as_dtype(x, np.dtype(dtype))


def split_in(key: Any, count: int) -> list[Any]:
    """A key split in `count` keys."""
    several = keys.random_split_p.bind(key, shape=(count,))
    return [
        concatenation.index_in_dim(several, i, keepdims=False) for i in range(count)
    ]


# -- truth values and signs ------------------------------------------------------------


@promotion.divides_result("random.bernoulli")
def bernoulli(
    key: KeyArray,
    p: ArrayLike = 0.5,
    shape: int | Shape | None = None,
    mode: str = "low",
    *,
    out_sharding: Placement = None,
) -> Array:
    """True with a given probability.

    Args:
      key: one key.
      p: probabilities, floating.
      shape: shape of the result, to which `p` broadcasts; default that of `p`.
      mode: 'high' draws twice the bits, for probabilities below the resolution of the
        dtype; 'low' does not.
      out_sharding: how the result is divided over a mesh.

    Returns:
      Booleans [*shape].

    Raises:
      TypeError: `p` is not floating.
      ValueError: several keys are given, `p` does not broadcast to `shape`, or the mode
        is unknown.

    Example:
      >>> from olympus import random
      >>> random.bernoulli(random.PRNGKey(1), 0.3, (3,))
      Array([False, False, False], dtype=bool)
    """
    key = keys.single_key("bernoulli", key)
    if mode not in ("high", "low"):
        raise ValueError(
            f"random.bernoulli: mode must be 'high' or 'low', got {mode!r}; choose one"
        )
    dtype, _ = dtypes.dtype_and_weak(p, "random.bernoulli")
    if dtypes.kind(dtype) != "f":
        raise TypeError(
            "random.bernoulli probability `p` must have a floating dtype, got "
            f"{dtype}; write 1.0 for 1"
        )
    shape = arguments.result_shape("bernoulli", shape, p)
    return _bernoulli(key, p, shape=shape, dtype=dtype, high=mode == "high")


@one_program
def _bernoulli(key: Any, p: Any, *, shape: Any, dtype: Any, high: bool) -> Any:
    p = spread(as_dtype(p, dtype), shape)
    if not high:
        return ew.lt(draw_uniform(key, shape, dtype), p)
    # The second draw is what the first one leaves of its last place.
    both = draw_uniform(key, (2, *shape), dtype)
    coarse, fine = (concatenation.index_in_dim(both, i, keepdims=False) for i in (0, 1))
    step = number(dtypes.finfo(dtype).eps, dtype)
    return ew.lt(ew.mul(fine, step), ew.sub(p, coarse))


@promotion.divides_result("random.rademacher")
def rademacher(
    key: KeyArray,
    shape: int | Shape = (),
    dtype: DTypeLike | None = None,
    *,
    out_sharding: Placement = None,
) -> Array:
    """Signs: 1 or -1, equally likely.

    Args:
      key: one key.
      shape: shape of the result.
      dtype: numeric dtype; default the default integer.
      out_sharding: how the result is divided over a mesh.

    Returns:
      Numbers [*shape].

    Raises:
      ValueError: several keys are given.

    Example:
      >>> from olympus import random
      >>> random.rademacher(random.PRNGKey(1), (4,))
      Array([ 1, -1,  1,  1], dtype=int32)
    """
    key = keys.single_key("rademacher", key)
    dtype = dtypes.check_user_dtype(int if dtype is None else dtype, "rademacher")
    shape = arguments.shape_of("rademacher", shape)
    return _rademacher(key, shape=shape, dtype=dtype)


@one_program
def _rademacher(key: Any, *, shape: Any, dtype: Any) -> Any:
    return draw_sign(key, shape, dtype)


def draw_sign(key: Any, shape: Any, dtype: Any) -> Any:
    """1 or -1 in a dtype, by a coin of the default float."""
    real = dtypes.canonicalize_dtype(float)
    heads = ew.lt(draw_uniform(key, shape, real), number(0.5, real))
    if dtypes.kind(dtype) == "b":  # neither sign is zero
        return shaping.full(shape, True, dtype)
    return ew.sub(ew.mul(number(2, dtype), as_dtype(heads, dtype)), number(1, dtype))
