"""Softmax, its logarithm, and logarithms of sums of exponentials."""

from __future__ import annotations

import math
from typing import Any, Literal, overload

from olympus._src.core import avals, dtypes, trace
from olympus._src.core.array_type import Array, ArrayLike, Axes, OptionalArray
from olympus._src.interpreters import evaluate
from olympus._src.interpreters.direct_calls import direct
from olympus._src.lax import barriers, shaping, sizes
from olympus._src.lax import elementwise as lax
from olympus._src.lax import reductions as lax_reductions
from olympus._src.numpy import arithmetic, elementary, logic, promotion, reductions
from olympus._src.numpy.selection import where as choose

multiply, subtract = arithmetic.multiply, arithmetic.subtract


def check_arrays(name: str, *args: Any) -> None:
    """Raises TypeError unless all are arrays or numbers, or None; lists are not."""
    promotion.check_arrays("nn", name, *[0 if x is None else x for x in args])


def axes_of(axis: Any) -> Any:
    """An axis, a tuple of them or None, hashable."""
    return reductions.static_axis(axis)


def check_axes(name: str, x: Any, axis: Any) -> None:
    """Raises AxisError, in the function's own name, unless x has the axes."""
    if axis is not None and not isinstance(axis, trace.Tracer):
        for one in sizes.as_axes(axis):
            sizes.canonicalize_axis(one, avals.aval_of(x).ndim, name)


def pack_optional(*arrays: Any) -> tuple[tuple[Any, ...], tuple[bool, ...]]:
    """The arrays that are not None, and a flag for each argument."""
    return (
        tuple([x for x in arrays if x is not None]),
        tuple([x is not None for x in arrays]),
    )


def spread_arrays(operands: Any, flags: Any) -> list[Any]:
    """Undoes `pack_optional`."""
    remaining = iter(operands)
    return [next(remaining) if there else None for there in flags]


# -- softmax ---------------------------------------------------------------------------


@direct("_softmax")
def softmax(x: ArrayLike, axis: Axes = -1, where: OptionalArray = None) -> Array:
    """Exponentials divided by their sum: positive numbers that add up to 1.

    Args:
      x: array or number.
      axis: the axis or axes summed over; None for all.
      where: mask of the elements that take part; the others get 0.

    Returns:
      A floating array of x's shape.

    Example:
      >>> import numpy as np
      >>> from olympus import nn
      >>> nn.softmax(np.float32([0, 0]))
      Array([0.5, 0.5], dtype=float32)
    """
    check_arrays("softmax", x, where)
    check_axes("nn.softmax", x, axis)
    operands, flags = pack_optional(x, where)
    return _softmax(*operands, axis=axes_of(axis), flags=flags)


@evaluate.fuse
def _softmax(*operands: Any, axis: Any, flags: Any) -> Any:
    x, where = spread_arrays(operands, flags)
    shifted = _subtract_largest(x, axis, where)
    powers = elementary.exp(shifted)
    out = lax.div(
        *_alike(powers, reductions.sum(powers, axis, None, None, True, where=where))
    )
    return out if where is None else choose(where, out, 0)


def _alike(x: Any, y: Any) -> list[Any]:
    return list(promotion.promote_args("nn.softmax", x, y))


def _subtract_largest(x: Any, axis: Any, where: Any) -> Any:
    """`x` less its largest element, which keeps exponentials from overflowing.

    The largest element is a constant for derivatives: it cancels out.
    """
    safe = x if where is None else choose(where, x, -math.inf)
    x, safe = [promotion.promote_inexact(v)[0] for v in (x, safe)]
    if not avals.aval_of(x).size:
        return safe
    constant = barriers.stop_gradient(x)
    # A NaN makes the sum of exponentials NaN, and with it all results of its row.
    largest = _largest_number(constant, axis, where)
    kind = avals.aval_of(safe)  # that of the mask's -inf, where integers are masked
    return subtract(safe, lax.convert(largest, kind.dtype, kind.weak_type))


def _largest_number(x: Any, axis: Any, where: Any) -> Any:
    """The largest element, from -inf, its axes kept, for what is NaN where x is NaN.

    There this may be a number.
    """
    if dtypes.kind(avals.aval_of(x).dtype) == "c":
        return reductions.max(x, axis, None, True, initial=-math.inf, where=where)
    reductions.check_mask("max", where)
    return reductions.fold(
        "max",
        x,
        lax_reductions.reduce_number_max,
        axis=axis,
        keepdims=True,
        initial=-math.inf,
        where=where,
        combine=lax.max_,
    )


@direct("_log_softmax")
def log_softmax(x: ArrayLike, axis: Axes = -1, where: OptionalArray = None) -> Array:
    """Logarithm of `softmax`, exact where that is close to 0.

    Args:
      x: array or number.
      axis: the axis or axes summed over; None for all.
      where: mask of the elements that take part; the others get -inf.

    Returns:
      A floating array of x's shape.

    Example:
      >>> from olympus import nn
      >>> nn.log_softmax(jnp.array([0.0, -jnp.inf]))
      Array([  0., -inf], dtype=float32)
    """
    check_arrays("log_softmax", x, where)
    check_axes("nn.log_softmax", x, axis)
    operands, flags = pack_optional(x, where)
    return _log_softmax(*operands, axis=axes_of(axis), flags=flags)


@evaluate.fuse
def _log_softmax(*operands: Any, axis: Any, flags: Any) -> Any:
    x, where = spread_arrays(operands, flags)
    shifted = _subtract_largest(x, axis, where)
    total = reductions.sum(elementary.exp(shifted), axis, None, None, True, where=where)
    out = subtract(shifted, elementary.log(total))
    return out if where is None else choose(where, out, -math.inf)


# -- sums of exponentials --------------------------------------------------------------


@overload
def logsumexp(
    a: ArrayLike,
    axis: Axes = ...,
    b: OptionalArray = ...,
    keepdims: bool = ...,
    return_sign: Literal[False] = ...,
    where: OptionalArray = ...,
) -> Array: ...
@overload
def logsumexp(
    a: ArrayLike,
    axis: Axes = ...,
    b: OptionalArray = ...,
    keepdims: bool = ...,
    *,
    return_sign: Literal[True],
    where: OptionalArray = ...,
) -> tuple[Array, Array]: ...
@overload
def logsumexp(
    a: ArrayLike,
    axis: Axes = ...,
    b: OptionalArray = ...,
    keepdims: bool = ...,
    return_sign: bool = ...,
    where: OptionalArray = ...,
) -> Array | tuple[Array, Array]: ...
def logsumexp(
    a: ArrayLike,
    axis: Axes = None,
    b: OptionalArray = None,
    keepdims: bool = False,
    return_sign: bool = False,
    where: OptionalArray = None,
) -> Array | tuple[Array, Array]:
    """Logarithm of a sum of exponentials, `log(sum(b exp(a)))`, without overflow.

    Args:
      a: array or number.
      axis: the axis or axes summed over; None for all.
      b: factors of the exponentials; may be negative.
      keepdims: keep the axes, with size 1.
      return_sign: return the logarithm of the magnitude of the sum, and its sign.
      where: mask of the elements that take part.

    Returns:
      A floating array, or two of them. Without `return_sign` negative sums are NaN.

    Source: SciPy, `scipy.special.logsumexp`.

    Example:
      >>> from olympus import nn
      >>> nn.logsumexp(jnp.array([-jnp.inf, 1.0]))
      Array(1., dtype=float32)
    """
    check_arrays("logsumexp", a, b, where)
    check_axes("nn.logsumexp", a, axis)
    operands, flags = pack_optional(a, b, where)
    return _logsumexp(
        *operands,
        axis=axes_of(axis),
        keepdims=bool(keepdims),
        return_sign=bool(return_sign),
        flags=flags,
    )


@evaluate.fuse
def _logsumexp(
    *operands: Any, axis: Any, keepdims: bool, return_sign: bool, flags: Any
) -> Any:
    a, b, where = spread_arrays(operands, flags)
    if b is None:
        (a,) = promotion.promote_inexact(a)
    else:
        a, b = promotion.promote_args_inexact("nn.logsumexp", a, b)
        a = choose(logic.not_equal(b, 0), a, -math.inf)
    if where is not None:  # a mask may have more axes than what it chooses from
        shape = sizes.broadcast_shapes(
            avals.aval_of(a).shape, avals.aval_of(where).shape
        )
        # Infinities and NaN outside the mask would reach derivatives.
        a = choose(where, promotion.broadcast_to_shape(a, shape), -math.inf)
        b = b if b is None else choose(where, b, 0)
    top = _finite_top(a, axis, where)
    powers = elementary.exp(subtract(a, lax.convert(top, avals.aval_of(a).dtype)))
    if b is not None:
        powers = multiply(powers, b)
    total = reductions.sum(powers, axis, None, None, keepdims, where=where)
    sign = arithmetic.sign(total)
    is_complex = dtypes.kind(avals.aval_of(total).dtype) == "c"
    if return_sign or not is_complex:
        total = arithmetic.absolute(total)
    top = top if keepdims else shaping.reshape(top, avals.aval_of(total).shape)
    out = elementary.log(total)
    out = arithmetic.add(out, lax.convert(top, avals.aval_of(out).dtype))
    if return_sign:
        return out, sign
    if b is not None and not is_complex:
        out = choose(logic.less(sign, 0), math.nan, out)
    return out


def _finite_top(a: Any, axis: Any, where: Any) -> Any:
    """The largest element as a constant, or 0 where that is infinite."""
    real = arithmetic.real(a)
    top = _largest_number(real, axis, where)
    return barriers.stop_gradient(choose(logic.isfinite(top), top, 0))
