"""Continuous distributions made from uniform numbers."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Protocol

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
from olympus._src.lax import concatenation, reductions, sizes, special
from olympus._src.lax import elementwise as ew
from olympus._src.numpy import promotion
from olympus._src.random import arguments, keys, normal_tails
from olympus._src.random.arguments import (
    as_dtype,
    broadcast_parameter,
    number,
    one_program,
    spread,
)
from olympus._src.random.uniform import draw_sign, draw_uniform, split_in

# -- the normal distribution -----------------------------------------------------------


@promotion.divides_result("random.normal")
def normal(
    key: KeyArray,
    shape: int | Shape = (),
    dtype: DTypeLike | None = None,
    *,
    out_sharding: Placement = None,
) -> Array:
    """Samples of the standard normal distribution.

    Args:
      key: one key.
      shape: shape of the result.
      dtype: float or complex dtype; default the default float. Complex numbers have
        variance 1 in all, half of it in each part.
      out_sharding: how the result is divided over a mesh.

    Returns:
      Numbers [*shape].

    Raises:
      ValueError: several keys are given, or the dtype is of the wrong kind.

    Example:
      >>> from olympus import random
      >>> random.normal(random.key(0), (2, 3)).shape
      (2, 3)
    """
    key = keys.single_key("normal", key)
    dtype = arguments.inexact_dtype("normal", dtype)
    return _normal(key, shape=arguments.shape_of("normal", shape), dtype=dtype)


@one_program
def _normal(key: Any, *, shape: Any, dtype: Any) -> Any:
    return draw_normal(key, shape, dtype)


def draw_normal(key: Any, shape: Any, dtype: Any) -> Any:
    """Standard normal numbers, by the inverse of their distribution function."""
    if dtypes.kind(dtype) == "c":
        real = dtypes.real_dtype(dtype)
        parts = [draw_normal(k, shape, real) for k in split_in(key, 2)]
        # Both parts have variance 1; together they should.
        root = number(np.sqrt(np.asarray(2, real)), dtype)
        return ew.div(ew.complex_(*parts), root)
    u = draw_uniform(key, shape, dtype, _step_above(-1, dtype), 1.0)
    return ew.mul(number(math.sqrt(2), dtype), special.erf_inv(u))


def _step_above(x: float, dtype: Any) -> float:
    """The number that follows `x`, which is negative, in a dtype."""
    return float(np.nextafter(np.asarray(x, dtype), np.asarray(0, dtype)))


@promotion.divides_result("random.truncated_normal")
def truncated_normal(
    key: KeyArray,
    lower: ArrayLike,
    upper: ArrayLike,
    shape: int | Shape | None = None,
    dtype: DTypeLike | None = None,
    *,
    out_sharding: Placement = None,
) -> Array:
    """Samples of the standard normal distribution that lie between two bounds.

    Args:
      key: one key.
      lower: the lower bound, floating.
      upper: the upper bound, floating.
      shape: shape of the result, to which the bounds broadcast; default theirs.
      dtype: float dtype; default the default one.
      out_sharding: how the result is divided over a mesh.

    Returns:
      Floats [*shape].

    Raises:
      ValueError: several keys are given, the dtype is of the wrong kind, or the bounds
        do not broadcast to `shape`.

    Example:
      >>> from olympus import random
      >>> jnp.abs(random.truncated_normal(random.key(0), -1.0, 1.0, (9,))).max() <= 1
      Array(True, dtype=bool)
    """
    key = keys.single_key("truncated_normal", key)
    dtype = arguments.float_dtype("truncated_normal", dtype)
    shape = arguments.result_shape("truncated_normal", shape, lower, upper)
    may_be_far = normal_tails.may_be_far(lower, upper)
    return _truncated_normal(
        key, lower, upper, shape=shape, dtype=dtype, may_be_far=may_be_far
    )


@one_program
def _truncated_normal(
    key: Any, lower: Any, upper: Any, *, shape: Any, dtype: Any, may_be_far: bool
) -> Any:
    return draw_truncated_normal(key, lower, upper, shape, dtype, may_be_far)


def draw_truncated_normal(
    key: Any, lower: Any, upper: Any, shape: Any, dtype: Any, may_be_far: bool = False
) -> Any:
    """Normal numbers between two bounds, exact far out where those `may_be_far`."""
    lower, upper = (spread(as_dtype(x, dtype), shape) for x in (lower, upper))
    root = number(math.sqrt(2), dtype)
    low, high = (special.erf(ew.div(x, root)) for x in (lower, upper))
    out = ew.mul(root, special.erf_inv(draw_uniform(key, shape, dtype, low, high)))
    if may_be_far:
        u = draw_uniform(key, shape, dtype, 0.0, 1.0)
        tail = normal_tails.far_normal(u, lower, upper)
        out = ew.select(normal_tails.is_far(lower, upper), tail, out)
    # Rounding must not carry a number to a bound or beyond.
    inside = ew.nextafter(lower, _like(lower, np.inf))
    below = ew.nextafter(upper, _like(upper, -np.inf))
    return ew.min_(below, ew.max_(inside, out))


def _like(x: Any, value: float) -> Any:
    aval = avals.aval_of(x)
    return broadcast_parameter(number(value, aval.dtype), aval.shape)


@promotion.divides_result("random.lognormal")
def lognormal(
    key: KeyArray,
    sigma: ArrayLike = 1.0,
    shape: int | Shape | None = None,
    dtype: DTypeLike | None = None,
    *,
    out_sharding: Placement = None,
) -> Array:
    """Numbers whose logarithm is normal with mean 0.

    Args:
      key: one key.
      sigma: standard deviation of the logarithm.
      shape: shape of the result, to which `sigma` broadcasts; default that of `sigma`.
      dtype: float dtype; default the default one.
      out_sharding: how the result is divided over a mesh.

    Returns:
      Positive floats [*shape].

    Example:
      >>> from olympus import random
      >>> random.lognormal(random.key(0), 0.5, shape=(4,)).min() > 0
      Array(True, dtype=bool)
    """
    args = parameters("lognormal", key, shape, dtype, sigma)
    return _lognormal(args.key, sigma, shape=args.shape, dtype=args.dtype)


@one_program
def _lognormal(key: Any, sigma: Any, *, shape: Any, dtype: Any) -> Any:
    sigma = spread(as_dtype(sigma, dtype), shape)
    return ew.exp(ew.mul(draw_normal(key, shape, dtype), sigma))


class Parameters:
    """What every sampler is given, in one form."""

    __slots__ = ("dtype", "key", "shape")
    dtype: Any
    key: Any
    shape: tuple[int, ...]


def parameters(
    name: str, key: Any, shape: Any, dtype: Any, *parameters: Any
) -> Parameters:
    out = Parameters()
    out.key = keys.single_key(name, key)
    out.dtype = arguments.float_dtype(name, dtype)
    if parameters:
        out.shape = arguments.result_shape(name, shape, *parameters)
    else:
        out.shape = arguments.shape_of(name, shape)
    return out


# -- without parameters ----------------------------------------------------------------


if TYPE_CHECKING:

    class _Sampler(Protocol):
        """A sampler of floats."""

        def __call__(
            self,
            key: KeyArray,
            shape: int | Shape = ...,
            dtype: DTypeLike | None = None,
            *,
            out_sharding: Placement = None,
        ) -> Array: ...


def _sampler(
    name: str, draw: Callable[..., Any], first_line: str, mean: str
) -> _Sampler:
    """A public sampler of floats that takes a key, a shape and a dtype."""

    def run(key: Any, *, shape: Any, dtype: Any) -> Any:
        return draw(key, shape, dtype)

    run.__name__ = f"_{name}"
    fused = one_program(run)

    @promotion.divides_result(f"random.{name}")
    def sample(
        key: KeyArray,
        shape: int | Shape = (),
        dtype: DTypeLike | None = None,
        *,
        out_sharding: Placement = None,
    ) -> Array:
        args = parameters(name, key, shape, dtype)
        return fused(args.key, shape=args.shape, dtype=args.dtype)

    sample.__name__ = sample.__qualname__ = name
    sample.__doc__ = f"""{first_line}

    {mean}

    Args:
      key: one key.
      shape: shape of the result.
      dtype: float dtype; default the default one.
      out_sharding: how the result is divided over a mesh.

    Returns:
      Floats [*shape].

    Raises:
      ValueError: several keys are given, or the dtype is of the wrong kind.

    Example:
      >>> from olympus import random
      >>> random.{name}(random.key(0), (3,)).shape
      (3,)
    """
    return sample


def draw_exponential(key: Any, shape: Any, dtype: Any) -> Any:
    """Exponential numbers of rate 1."""
    u = draw_uniform(key, shape, dtype)
    return ew.neg(ew.log1p(ew.neg(u)))


def draw_gumbel(key: Any, shape: Any, dtype: Any, high: bool = False) -> Any:
    """Gumbel numbers; `high` draws twice the bits."""
    if not high:
        tiny = float(dtypes.finfo(dtype).tiny)
        u = draw_uniform(key, shape, dtype, tiny, 1.0)
        return ew.neg(ew.log(ew.neg(ew.log(u))))
    u = _two_draws(key, shape, dtype)
    return ew.neg(ew.log(ew.neg(ew.log1p(ew.neg(u)))))


def _two_draws(key: Any, shape: Any, dtype: Any) -> Any:
    """Uniform numbers whose tail at 1 is sharper than one draw allows."""
    info = dtypes.finfo(dtype)
    both = draw_uniform(key, (2, *shape), dtype)
    coarse, fine = (concatenation.index_in_dim(both, i, keepdims=False) for i in (0, 1))
    # Where both draws are 0, half of the smallest step.
    least = max(float(info.tiny), float(info.eps) ** 2 / 2)
    step = number(info.eps, dtype)
    refined = ew.add(ew.add(coarse, ew.mul(step, fine)), number(least, dtype))
    return ew.select(ew.ge(coarse, number(0.5, dtype)), coarse, refined)


def draw_laplace(key: Any, shape: Any, dtype: Any) -> Any:
    """Laplace numbers of scale 1."""
    u = draw_uniform(key, shape, dtype, _step_above(-1, dtype), 1.0)
    return ew.mul(ew.sign(u), ew.log1p(ew.neg(ew.abs_(u))))


def draw_logistic(key: Any, shape: Any, dtype: Any) -> Any:
    """Logistic numbers of scale 1."""
    u = draw_uniform(key, shape, dtype, float(dtypes.finfo(dtype).tiny), 1.0)
    return ew.sub(ew.log(u), ew.log1p(ew.neg(u)))


def draw_cauchy(key: Any, shape: Any, dtype: Any) -> Any:
    """Cauchy numbers of scale 1."""
    u = draw_uniform(key, shape, dtype, float(dtypes.finfo(dtype).eps), 1.0)
    angle = ew.mul(number(math.pi, dtype), ew.sub(u, number(0.5, dtype)))
    return ew.tan(angle)


exponential = _sampler(
    "exponential",
    draw_exponential,
    "Samples of the exponential distribution of rate 1.",
    "The density is `exp(-x)` for x >= 0.",
)
laplace = _sampler(
    "laplace",
    draw_laplace,
    "Samples of the Laplace distribution of scale 1.",
    "The density is `exp(-|x|) / 2`.",
)
logistic = _sampler(
    "logistic",
    draw_logistic,
    "Samples of the logistic distribution of scale 1.",
    "The density is `exp(-x) / (1 + exp(-x))^2`.",
)
cauchy = _sampler(
    "cauchy",
    draw_cauchy,
    "Samples of the Cauchy distribution of scale 1.",
    "The density is `1 / (pi (1 + x^2))`.",
)


@promotion.divides_result("random.gumbel")
def gumbel(
    key: KeyArray,
    shape: int | Shape = (),
    dtype: DTypeLike | None = None,
    mode: str | None = None,
    *,
    out_sharding: Placement = None,
) -> Array:
    """Samples of the Gumbel distribution.

    The density is `exp(-x - exp(-x))`.

    Args:
      key: one key.
      shape: shape of the result.
      dtype: float dtype; default the default one.
      mode: 'high' or 'highest' draws twice the bits, for a more accurate tail; 'low'
        does not; default by `olympus_high_dynamic_range_gumbel`.
      out_sharding: how the result is divided over a mesh.

    Returns:
      Floats [*shape].

    Raises:
      ValueError: several keys are given, or the dtype or mode is of the wrong kind.

    Example:
      >>> from olympus import random
      >>> random.gumbel(random.key(0), (2, 3)).shape
      (2, 3)
    """
    args = parameters("gumbel", key, shape, dtype)
    high = high_gumbel("gumbel", mode)
    return _gumbel(args.key, shape=args.shape, dtype=args.dtype, high=high)


@one_program
def _gumbel(key: Any, *, shape: Any, dtype: Any, high: bool) -> Any:
    return draw_gumbel(key, shape, dtype, high)


def high_gumbel(name: str, mode: str | None) -> bool:
    """Whether Gumbel numbers draw twice the bits."""
    if mode is None:
        return config.high_dynamic_range_gumbel.value
    if mode not in ("high", "highest", "low"):
        raise ValueError(
            f"random.{name}: mode must be 'highest', 'high', 'low' or None, got "
            f"{mode!r}; choose one of them"
        )
    return mode != "low"


# -- with parameters -------------------------------------------------------------------


@promotion.divides_result("random.pareto")
def pareto(
    key: KeyArray,
    b: ArrayLike,
    shape: int | Shape | None = None,
    dtype: DTypeLike | None = None,
    *,
    out_sharding: Placement = None,
) -> Array:
    """Samples of the Pareto distribution, with density `b / x^(b+1)` for x >= 1.

    Args:
      key: one key.
      b: the exponent, positive.
      shape: shape of the result, to which `b` broadcasts; default that of `b`.
      dtype: float dtype; default the default one.
      out_sharding: how the result is divided over a mesh.

    Returns:
      Floats [*shape].

    Example:
      >>> from olympus import random
      >>> random.pareto(random.key(0), 2.0, shape=(4,)).min() >= 1
      Array(True, dtype=bool)
    """
    args = parameters("pareto", key, shape, dtype, b)
    return _pareto(args.key, b, shape=args.shape, dtype=args.dtype)


@one_program
def _pareto(key: Any, b: Any, *, shape: Any, dtype: Any) -> Any:
    b = spread(as_dtype(b, dtype), shape)
    return ew.exp(ew.div(draw_exponential(key, shape, dtype), b))


@promotion.divides_result("random.rayleigh")
def rayleigh(
    key: KeyArray,
    scale: ArrayLike,
    shape: int | Shape | None = None,
    dtype: DTypeLike | None = None,
    *,
    out_sharding: Placement = None,
) -> Array:
    """Lengths of plane vectors with normal entries.

    Args:
      key: one key.
      scale: standard deviation of the entries.
      shape: shape of the result, to which `scale` broadcasts; default its shape.
      dtype: float dtype; default the default one.
      out_sharding: how the result is divided over a mesh.

    Returns:
      Floats [*shape].

    Example:
      >>> from olympus import random
      >>> random.rayleigh(random.key(0), 1.0, shape=(2,)).shape
      (2,)
    """
    args = parameters("rayleigh", key, shape, dtype, scale)
    return _rayleigh(args.key, scale, shape=args.shape, dtype=args.dtype)


@one_program
def _rayleigh(key: Any, scale: Any, *, shape: Any, dtype: Any) -> Any:
    u = draw_uniform(key, shape, dtype)
    least = number(dtypes.finfo(dtype).eps / 2, dtype)  # half of the smallest step
    log_u = ew.log(ew.select(ew.eq(u, number(0, dtype)), spread(least, shape), u))
    scale = spread(as_dtype(scale, dtype), shape)
    return ew.mul(scale, ew.sqrt(ew.mul(log_u, number(-2, dtype))))


def weibull_min(
    key: KeyArray,
    scale: ArrayLike,
    concentration: ArrayLike,
    shape: int | Shape = (),
    dtype: DTypeLike | None = None,
) -> Array:
    """Samples of the Weibull distribution of minima.

    The density is `c/s (x/s)^(c-1) exp(-(x/s)^c)` with scale s and concentration c.

    Args:
      key: one key.
      scale: floating.
      concentration: floating.
      shape: how many numbers are drawn; parameters of more axes repeat these.
      dtype: float dtype; default the default one.

    Returns:
      Floats of the shape that `shape` and the parameters broadcast to.

    Example:
      >>> from olympus import random
      >>> random.weibull_min(random.key(0), 1.0, 2.0, shape=(2,)).shape
      (2,)
    """
    args = parameters("weibull_min", key, shape, dtype)
    parameter_shapes = [avals.aval_of(x).shape for x in (scale, concentration)]
    out_shape = sizes.broadcast_shapes(args.shape, *parameter_shapes)
    return _weibull_min(
        args.key,
        scale,
        concentration,
        shape=args.shape,
        out_shape=out_shape,
        dtype=args.dtype,
    )


@one_program
def _weibull_min(
    key: Any, scale: Any, concentration: Any, *, shape: Any, out_shape: Any, dtype: Any
) -> Any:
    u = spread(draw_uniform(key, shape, dtype), out_shape)
    scale, concentration = (as_dtype(x, dtype) for x in (scale, concentration))
    power = spread(ew.div(number(1, dtype), concentration), out_shape)
    drawn = ew.pow_(ew.neg(ew.log1p(ew.neg(u))), power)
    return broadcast_parameter(ew.mul(drawn, spread(scale, out_shape)), out_shape)


@promotion.divides_result("random.triangular")
def triangular(
    key: KeyArray,
    left: ArrayLike,
    mode: ArrayLike,
    right: ArrayLike,
    shape: int | Shape | None = None,
    dtype: DTypeLike | None = None,
    *,
    out_sharding: Placement = None,
) -> Array:
    """Numbers whose density rises from `left` to `mode` and falls to `right`.

    Args:
      key: one key.
      left: where the density starts, floating.
      mode: where it is highest, floating.
      right: where it ends, floating.
      shape: shape of the result, to which they broadcast; default their shape.
      dtype: float dtype; default the default one.
      out_sharding: how the result is divided over a mesh.

    Returns:
      Floats [*shape].

    Example:
      >>> from olympus import random
      >>> random.triangular(random.key(0), 0.0, 0.5, 1.0, shape=(2,)).shape
      (2,)
    """
    args = parameters("triangular", key, shape, dtype, left, mode, right)
    return _triangular(args.key, left, mode, right, shape=args.shape, dtype=args.dtype)


@one_program
def _triangular(
    key: Any, left: Any, mode: Any, right: Any, *, shape: Any, dtype: Any
) -> Any:
    left, mode, right = (
        broadcast_parameter(as_dtype(x, dtype), shape) for x in (left, mode, right)
    )
    width, rise = ew.sub(right, left), ew.sub(mode, left)
    peak = ew.div(rise, width)
    u = draw_uniform(key, shape, dtype)
    rising = ew.add(left, ew.sqrt(ew.mul(ew.mul(u, width), rise)))
    upper_area = ew.mul(ew.sub(number(1, dtype), u), width)
    falling = ew.sub(right, ew.sqrt(ew.mul(upper_area, ew.sub(right, mode))))
    return ew.select(ew.lt(u, peak), rising, falling)


@promotion.divides_result("random.wald")
def wald(
    key: KeyArray,
    mean: ArrayLike,
    shape: int | Shape | None = None,
    dtype: DTypeLike | None = None,
    *,
    out_sharding: Placement = None,
) -> Array:
    """Samples of the inverse normal (Wald) distribution with shape parameter 1.

    Args:
      key: one key.
      mean: positive.
      shape: shape of the result, to which `mean` broadcasts; default its shape.
      dtype: float dtype; default the default one.
      out_sharding: how the result is divided over a mesh.

    Returns:
      Positive floats [*shape].

    Source: Michael, Schucany and Haas, "Generating random variates using
      transformations with multiple roots" (1976).

    Example:
      >>> from olympus import random
      >>> random.wald(random.key(0), 1.0, shape=(2,)).shape
      (2,)
    """
    args = parameters("wald", key, shape, dtype, mean)
    return _wald(args.key, mean, shape=args.shape, dtype=args.dtype)


@one_program
def _wald(key: Any, mean: Any, *, shape: Any, dtype: Any) -> Any:
    first, second = split_in(key, 2)
    mean = broadcast_parameter(as_dtype(mean, dtype), shape)
    y = ew.square(draw_normal(first, shape, dtype))
    u = draw_uniform(second, shape, dtype)
    square = ew.square(mean)
    two = number(2, dtype)
    root = ew.sqrt(
        ew.add(ew.mul(ew.mul(number(4, dtype), mean), y), ew.mul(square, ew.square(y)))
    )
    small = ew.sub(
        ew.add(mean, ew.div(ew.mul(square, y), two)),
        ew.mul(ew.div(mean, two), root),
    )
    large = ew.div(square, small)
    # The small root cancels where the other is far larger: there it is its quotient.
    t = ew.mul(mean, y)
    four_more = ew.add(t, number(4, dtype))
    twice = ew.add(ew.add(t, two), ew.mul(ew.sqrt(t), ew.sqrt(four_more)))
    ratio = ew.div(twice, two)
    is_far = ew.gt(t, number(30, dtype))
    small = ew.select(is_far, ew.div(mean, ratio), small)
    large = ew.select(is_far, ew.mul(mean, ratio), large)
    chosen = ew.le(u, ew.div(mean, ew.add(mean, small)))
    return ew.select(chosen, small, large)


@promotion.divides_result("random.maxwell")
def maxwell(
    key: KeyArray,
    shape: int | Shape = (),
    dtype: DTypeLike | None = None,
    *,
    out_sharding: Placement = None,
) -> Array:
    """Lengths of vectors in space with standard normal entries.

    Args:
      key: one key.
      shape: shape of the result.
      dtype: float dtype; default the default one.
      out_sharding: how the result is divided over a mesh.

    Returns:
      Floats [*shape].

    Example:
      >>> from olympus import random
      >>> random.maxwell(random.key(0), (2,)).shape
      (2,)
    """
    args = parameters("maxwell", key, shape, dtype)
    return _maxwell(args.key, shape=args.shape, dtype=args.dtype)


@one_program
def _maxwell(key: Any, *, shape: Any, dtype: Any) -> Any:
    return draw_maxwell(key, shape, dtype)


def draw_maxwell(key: Any, shape: Any, dtype: Any) -> Any:
    """Lengths of normal vectors in space."""
    entries = draw_normal(key, (*shape, 3), dtype)
    return ew.sqrt(sum_of_last(ew.mul(entries, entries)))


def sum_of_last(x: Any) -> Any:
    """The sum along the last axis; narrow floats are added in 32 bits."""
    aval = avals.aval_of(x)
    wide = as_dtype(
        x, dtypes.standard_result((aval.dtype, False), (np.dtype(np.float32), False))[0]
    )
    return as_dtype(reductions.reduce_sum(wide, (aval.ndim - 1,)), aval.dtype)


def double_sided_maxwell(
    key: KeyArray,
    loc: ArrayLike,
    scale: ArrayLike,
    shape: int | Shape = (),
    dtype: DTypeLike | None = None,
) -> Array:
    """Maxwell numbers of random sign, scaled and moved.

    Args:
      key: one key.
      loc: the middle, broadcasts to `shape`.
      scale: broadcasts to `shape`.
      shape: shape of the result, before the parameters' own; () stands for theirs.
      dtype: float dtype; default the default one.

    Returns:
      Floats [*shape, *shape of the parameters].

    Example:
      >>> from olympus import random
      >>> random.double_sided_maxwell(random.key(0), 0.0, 1.0, shape=(2,)).shape
      (2,)
    """
    key = keys.single_key("double_sided_maxwell", key)
    dtype = arguments.float_dtype("double_sided_maxwell", dtype)
    batch_shape = arguments.result_shape("double_sided_maxwell", None, loc, scale)
    shape = (
        arguments.shape_of("double_sided_maxwell", shape) or batch_shape
    ) + batch_shape
    return _double_sided_maxwell(key, loc, scale, shape=shape, dtype=dtype)


@one_program
def _double_sided_maxwell(
    key: Any, loc: Any, scale: Any, *, shape: Any, dtype: Any
) -> Any:
    length_key, sign_key = split_in(key, 2)
    loc, scale = (spread(as_dtype(x, dtype), shape) for x in (loc, scale))
    length = draw_maxwell(length_key, shape, dtype)
    sign = draw_sign(sign_key, shape, dtype)
    return ew.add(ew.mul(scale, ew.mul(sign, length)), loc)
