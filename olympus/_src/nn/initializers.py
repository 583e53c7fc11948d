"""Initializers: functions that return the initial weights of a layer.

Each maker here returns a function of a key, a shape and a dtype.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from olympus._src.core import avals, dtypes, trace
from olympus._src.core.array_type import (
    Array,
    ArrayLike,
    DTypeLike,
    KeyArray,
    Placement,
    Shape,
)
from olympus._src.core.sizes import is_symbolic
from olympus._src.lax import concatenation, shaping, sizes
from olympus._src.lax import elementwise as lax
from olympus._src.numpy import creation, promotion
from olympus._src.random import keys, multivariate
from olympus._src.random.arguments import number, one_program
from olympus._src.random.continuous import draw_normal, draw_truncated_normal
from olympus._src.random.uniform import draw_uniform, split_in


@runtime_checkable
class Initializer(Protocol):
    """A function that makes weights of a shape."""

    def __call__(
        self,
        key: KeyArray,
        shape: int | Shape,
        dtype: DTypeLike | None = None,
        out_sharding: Placement = None,
    ) -> Array:
        """Weights [*shape] of a dtype, drawn with a key."""
        raise NotImplementedError


def _initializer(name: str, dtype: Any, draw: Callable[..., Any]) -> Initializer:
    """The function that a maker returns.

    `draw(key, shape, dtype)` is given a typed key and checked arguments.
    """

    @promotion.divides_result(f"initializers.{name}")
    def init(
        key: KeyArray,
        shape: int | Shape,
        dtype: DTypeLike | None = dtype,
        out_sharding: Placement = None,
    ) -> Array:
        full_name = f"initializers.{name}"
        key = keys.single_key(full_name, key)
        shape = sizes.canonicalize_shape(shape, f"nn.{full_name}")
        return draw(key, shape, _weights_dtype(name, dtype))

    init.__qualname__ = f"{name}.<locals>.init"
    return init


def _weights_dtype(name: str, dtype: Any, kinds: str = "fc") -> Any:
    canonical = dtypes.check_user_dtype(float if dtype is None else dtype, name)
    if dtypes.kind(canonical) not in kinds:
        what = "floating or complex" if "c" in kinds else "floating"
        raise ValueError(
            f"nn.initializers.{name}: dtype must be {what}, got {canonical}; convert "
            "the weights afterwards"
        )
    return canonical


# -- constants -------------------------------------------------------------------------


@promotion.divides_result("initializers.zeros")
def zeros(
    key: KeyArray,
    shape: int | Shape,
    dtype: DTypeLike | None = None,
    out_sharding: Placement = None,
) -> Array:
    """Weights that are all 0.

    Args:
      key: not used.
      shape: shape of the weights.
      dtype: default the default float.
      out_sharding: how the result is divided over a mesh.

    Returns:
      An array [*shape].

    Example:
      >>> from olympus import nn, random
      >>> nn.initializers.zeros(random.key(0), (2,))
      Array([0., 0.], dtype=float32)
    """
    return creation.zeros(shape, float if dtype is None else dtype)


@promotion.divides_result("initializers.ones")
def ones(
    key: KeyArray,
    shape: int | Shape,
    dtype: DTypeLike | None = None,
    out_sharding: Placement = None,
) -> Array:
    """Weights that are all 1.

    Args:
      key: not used.
      shape: shape of the weights.
      dtype: default the default float.
      out_sharding: how the result is divided over a mesh.

    Returns:
      An array [*shape].

    Example:
      >>> from olympus import random
      >>> from olympus.nn import initializers
      >>> initializers.ones(random.key(0), (2,))
      Array([1., 1.], dtype=float32)
    """
    return creation.ones(shape, float if dtype is None else dtype)


def constant(value: ArrayLike, dtype: DTypeLike | None = None) -> Initializer:
    """Weights that all have one value.

    Args:
      value: number, or array that broadcasts to the shape.
      dtype: default dtype of the weights.

    Returns:
      An initializer.

    Example:
      >>> from olympus import random
      >>> from olympus.nn import initializers
      >>> initializers.constant(2.0)(random.key(0), (2,))
      Array([2., 2.], dtype=float32)
    """

    @promotion.divides_result("initializers.constant")
    def init(
        key: KeyArray,
        shape: int | Shape,
        dtype: DTypeLike | None = dtype,
        out_sharding: Placement = None,
    ) -> Array:
        weights_dtype = dtypes.check_user_dtype(
            float if dtype is None else dtype, "constant"
        )
        return creation.full(shape, value, weights_dtype)

    return init


# -- draws -----------------------------------------------------------------------------


def uniform(scale: ArrayLike = 1e-2, dtype: DTypeLike | None = None) -> Initializer:
    """Weights that are uniform from 0 up to `scale`.

    Args:
      scale: upper bound.
      dtype: default dtype of the weights.

    Returns:
      An initializer of floating weights.

    Example:
      >>> from olympus import random
      >>> from olympus.nn import initializers
      >>> initializers.uniform(0.1)(random.key(0), (9,)).max() <= 0.1
      Array(True, dtype=bool)
    """

    def draw(key: Any, shape: Any, dtype: Any) -> Any:
        _weights_dtype("uniform", dtype, "f")
        return _scaled_uniform(key, scale, shape=shape, dtype=dtype)

    return _initializer("uniform", dtype, draw)


def normal(stddev: ArrayLike = 1e-2, dtype: DTypeLike | None = None) -> Initializer:
    """Weights that are normal with mean 0.

    Args:
      stddev: standard deviation.
      dtype: default dtype of the weights.

    Returns:
      An initializer.

    Example:
      >>> from olympus import nn, random
      >>> nn.initializers.normal(0.1)(random.key(0), (2, 3)).shape
      (2, 3)
    """

    def draw(key: Any, shape: Any, dtype: Any) -> Any:
        return _scaled_normal(key, stddev, shape=shape, dtype=dtype)

    return _initializer("normal", dtype, draw)


def truncated_normal(
    stddev: ArrayLike = 1e-2,
    dtype: DTypeLike | None = None,
    lower: ArrayLike = -2.0,
    upper: ArrayLike = 2.0,
) -> Initializer:
    """Weights that are normal with mean 0, without the tails.

    Args:
      stddev: standard deviation of the whole distribution.
      dtype: default dtype of the weights.
      lower: lower bound, in standard deviations.
      upper: upper bound, in standard deviations.

    Returns:
      An initializer of floating weights.

    Example:
      >>> from olympus import random
      >>> from olympus.nn import initializers
      >>> initializers.truncated_normal(0.1)(random.key(0), (2, 3)).shape
      (2, 3)
    """

    def draw(key: Any, shape: Any, dtype: Any) -> Any:
        _weights_dtype("truncated_normal", dtype, "f")
        return _scaled_cut_normal(key, stddev, lower, upper, shape=shape, dtype=dtype)

    return _initializer("truncated_normal", dtype, draw)


# -- draws as one program --------------------------------------------------------------


def _times(x: Any, factor: Any) -> Any:
    return lax.mul(x, lax.convert(factor, avals.aval_of(x).dtype))


@one_program
def _scaled_normal(key: Any, factor: Any, *, shape: Any, dtype: Any) -> Any:
    return _times(draw_normal(key, shape, dtype), factor)


@one_program
def _scaled_uniform(key: Any, factor: Any, *, shape: Any, dtype: Any) -> Any:
    return _times(draw_uniform(key, shape, dtype), factor)


@one_program
def _scaled_cut_normal(
    key: Any, factor: Any, lower: Any, upper: Any, *, shape: Any, dtype: Any
) -> Any:
    drawn = draw_truncated_normal(key, lower, upper, shape, dtype)
    return _times(drawn, factor)


def _complex_uniform(key: Any, shape: Any, dtype: Any) -> Any:
    """Uniform in the disc of radius sqrt(2), where the variance is 1."""
    square_key, angle_key = split_in(key, 2)
    real = dtypes.real_dtype(dtype)
    square = lax.mul(number(2, real), draw_uniform(square_key, shape, real))
    return _polar(lax.sqrt(square), angle_key)


def _complex_cut_normal(key: Any, shape: Any, dtype: Any) -> Any:
    """Normal in the plane, of modulus up to 2."""
    square_key, angle_key = split_in(key, 2)
    real = dtypes.real_dtype(dtype)
    covered = number(1 - math.exp(-4), real)
    u = lax.mul(covered, draw_uniform(square_key, shape, real))
    square = lax.neg(lax.log(lax.sub(number(1, real), u)))
    return _polar(lax.sqrt(square), angle_key)


def _polar(radius: Any, angle_key: Any) -> Any:
    """Complex numbers of the given moduli and random angles."""
    aval = avals.aval_of(radius)
    turn = draw_uniform(angle_key, aval.shape, aval.dtype)
    angle = lax.mul(number(2 * math.pi, aval.dtype), turn)
    parts = lax.mul(radius, lax.cos(angle)), lax.mul(radius, lax.sin(angle))
    return lax.complex_(*parts)


# -- by the size of the layer ----------------------------------------------------------


def _fans(
    shape: Sequence[int], in_axis: Any, out_axis: Any, batch_axis: Any
) -> tuple[float, float]:
    """How many weights one output sums over, and how many one input feeds."""
    rank = len(shape)
    if rank <= 1:
        raise ValueError(
            "Can't compute input and output sizes of a "
            f"{rank}-dimensional weights tensor. Must be at least 2D; got shape "
            f"{tuple(shape)}, for vectors use initializers.normal"
        )
    axes = [_tuple(a, rank) for a in (in_axis, out_axis, batch_axis)]
    n_in, n_out, n_batch = (math.prod([shape[i] for i in group]) for group in axes)
    total, inner = math.prod(shape), max(n_in * n_out * n_batch, 1)
    window = total // inner if is_symbolic(total) else total / inner
    return n_in * window, n_out * window


def _tuple(axes: Any, rank: int) -> tuple[int, ...]:
    listed = axes if isinstance(axes, (tuple, list)) else (axes,)
    return sizes.canonicalize_axes(tuple(listed), rank, "nn.initializers")


_MODES = ("fan_in", "fan_out", "fan_avg", "fan_geo_avg")
_DISTRIBUTIONS = ("truncated_normal", "normal", "uniform")


def _divisor(mode: str, fan_in: float, fan_out: float) -> float:
    if mode == "fan_in":
        return fan_in
    if mode == "fan_out":
        return fan_out
    if mode == "fan_avg":
        return (fan_in + fan_out) / 2
    return math.sqrt(fan_in * fan_out)


def variance_scaling(
    scale: float,
    mode: str,
    distribution: str,
    in_axis: int | Shape = -2,
    out_axis: int | Shape = -1,
    batch_axis: int | Shape = (),
    dtype: DTypeLike | None = None,
) -> Initializer:
    """Weights whose variance is `scale` over the size of the layer.

    Args:
      scale: positive number.
      mode: which size: 'fan_in' what an output sums over, 'fan_out' what an input
        feeds, 'fan_avg' their mean, 'fan_geo_avg' their geometric mean.
      distribution: 'truncated_normal' (within two standard deviations), 'normal' or
        'uniform'.
      in_axis: axis or axes of the inputs.
      out_axis: axis or axes of the outputs.
      batch_axis: axis or axes of independent layers side by side.
      dtype: default dtype of the weights.

    Returns:
      An initializer.

    Raises:
      ValueError: the mode or distribution is unknown; when called, the shape has fewer
        than two axes.

    Example:
      >>> from olympus import random
      >>> from olympus.nn import initializers
      >>> initializers.variance_scaling(2.0, "fan_in", "normal")(
      ...     random.key(0), (4, 5)
      ... ).shape
      (4, 5)
    """
    for what, value, known in (
        ("mode", mode, _MODES),
        ("distribution", distribution, _DISTRIBUTIONS),
    ):
        if value not in known:
            raise ValueError(
                f"nn.initializers.variance_scaling: invalid {what} {value!r}; choose "
                f"one of {', '.join(map(repr, known))}"
            )

    def draw(key: Any, shape: Any, dtype: Any) -> Any:
        fan_in, fan_out = _fans(shape, in_axis, out_axis, batch_axis)
        size = _divisor(mode, fan_in, fan_out)
        nothing = not isinstance(size, trace.Tracer) and size == 0
        variance = 0.0 if nothing else scale / size
        if distribution == "truncated_normal":
            deviation = _cut_deviation(dtype)
            return _cut_of_variance(key, variance, deviation, shape=shape, dtype=dtype)
        return _of_variance(
            key, variance, shape=shape, dtype=dtype, distribution=distribution
        )

    return _initializer("variance_scaling", dtype, draw)


# What cutting at two standard deviations leaves of the standard deviation: of a real
# normal number, sqrt(1 - 4 phi(2) / (2 Phi(2) - 1)), and of a complex one's modulus.
_CUT_DEVIATION = 0.87962566103423978
_COMPLEX_CUT_DEVIATION = 0.95311164380491208


@one_program
def _of_variance(
    key: Any, variance: Any, *, shape: Any, dtype: Any, distribution: str
) -> Any:
    variance = lax.convert(variance, dtype)
    is_complex = dtypes.kind(dtype) == "c"
    if distribution == "normal":
        return lax.mul(draw_normal(key, shape, dtype), lax.sqrt(variance))
    if is_complex:
        return lax.mul(_complex_uniform(key, shape, dtype), lax.sqrt(variance))
    bound = lax.sqrt(lax.mul(number(3, dtype), variance))
    return lax.mul(draw_uniform(key, shape, dtype, -1.0, 1.0), bound)


def _cut_deviation(dtype: Any) -> Any:
    is_complex = dtypes.kind(dtype) == "c"
    return _COMPLEX_CUT_DEVIATION if is_complex else _CUT_DEVIATION


@one_program
def _cut_of_variance(
    key: Any, variance: Any, deviation: Any, *, shape: Any, dtype: Any
) -> Any:
    """Weights within two standard deviations.

    `deviation` is what cutting leaves of the standard deviation. It is an operand:
    XLA would multiply by the reciprocal of a constant, which rounds otherwise.
    """
    factor = lax.div(
        lax.sqrt(lax.convert(variance, dtype)), lax.convert(deviation, dtype)
    )
    if dtypes.kind(dtype) == "c":
        return lax.mul(_complex_cut_normal(key, shape, dtype), factor)
    low, high = number(-2, dtype), number(2, dtype)
    return lax.mul(draw_truncated_normal(key, low, high, shape, dtype), factor)


if TYPE_CHECKING:

    class _ScalingMaker(Protocol):
        """A maker of initializers whose variance follows the sizes of axes."""

        def __call__(
            self,
            in_axis: int | Shape = ...,
            out_axis: int | Shape = ...,
            batch_axis: int | Shape = ...,
            dtype: DTypeLike | None = None,
        ) -> Initializer: ...


def _define_scaling(
    name: str, scale: float, mode: str, distribution: str, source: str
) -> _ScalingMaker:
    """A maker of `variance_scaling` with some arguments given."""

    def make(
        in_axis: int | Shape = -2,
        out_axis: int | Shape = -1,
        batch_axis: int | Shape = (),
        dtype: DTypeLike | None = None,
    ) -> Initializer:
        return variance_scaling(
            scale, mode, distribution, in_axis, out_axis, batch_axis, dtype
        )

    make.__name__ = make.__qualname__ = name
    make.__doc__ = f"""Weights of variance {scale:g} over {mode}, {distribution}.

    Args:
      in_axis: axis or axes of the inputs.
      out_axis: axis or axes of the outputs.
      batch_axis: axis or axes of independent layers side by side.
      dtype: default dtype of the weights.

    Returns:
      An initializer; see `variance_scaling`.

    Source: {source}.

    Example:
      >>> from olympus import nn, random
      >>> nn.initializers.{name}()(random.key(0), (4, 3)).shape
      (4, 3)
    """
    return make


_GLOROT = (
    'Glorot and Bengio, "Understanding the difficulty of training deep feedforward '
    'neural networks" (2010)'
)
_LECUN = 'LeCun, Bottou, Orr and Müller, "Efficient BackProp" (1998)'
_HE = 'He, Zhang, Ren and Sun, "Delving deep into rectifiers" (2015)'

glorot_uniform = _define_scaling("glorot_uniform", 1.0, "fan_avg", "uniform", _GLOROT)
glorot_normal = _define_scaling(
    "glorot_normal", 1.0, "fan_avg", "truncated_normal", _GLOROT
)
lecun_uniform = _define_scaling("lecun_uniform", 1.0, "fan_in", "uniform", _LECUN)
lecun_normal = _define_scaling(
    "lecun_normal", 1.0, "fan_in", "truncated_normal", _LECUN
)
he_uniform = _define_scaling("he_uniform", 2.0, "fan_in", "uniform", _HE)
he_normal = _define_scaling("he_normal", 2.0, "fan_in", "truncated_normal", _HE)


# -- orthogonal ------------------------------------------------------------------------


def orthogonal(
    scale: ArrayLike = 1.0, column_axis: int = -1, dtype: DTypeLike | None = None
) -> Initializer:
    """Weights that form a matrix with orthonormal rows or columns.

    Args:
      scale: factor of the matrix.
      column_axis: the axis of the columns; all others together are the rows.
      dtype: default dtype of the weights.

    Returns:
      An initializer of shapes of at least two axes.

    Source: Saxe, McClelland and Ganguli, "Exact solutions to the nonlinear dynamics of
      learning in deep linear neural networks" (2013).

    Example:
      >>> from olympus import random
      >>> from olympus.nn import initializers
      >>> initializers.orthogonal()(random.key(0), (3, 3)).shape
      (3, 3)
    """

    def draw(key: Any, shape: Any, dtype: Any) -> Any:
        if len(shape) < 2:
            raise ValueError(
                "nn.initializers.orthogonal: orthogonal initializer requires at least "
                f"a 2D shape, got {shape}; for vectors use initializers.normal"
            )
        axis = sizes.canonicalize_axis(column_axis, len(shape), "nn.initializers")
        return _scaled_orthogonal(key, scale, shape=shape, axis=axis, dtype=dtype)

    return _initializer("orthogonal", dtype, draw)


@one_program
def _scaled_orthogonal(
    key: Any, scale: Any, *, shape: Any, axis: int, dtype: Any
) -> Any:
    other_sizes = shape[:axis] + shape[axis + 1 :]
    matrix = multivariate.draw_orthogonal(
        key, (math.prod(other_sizes), shape[axis]), (), dtype
    )
    weights = shaping.reshape(matrix, (*other_sizes, shape[axis]))
    last = len(other_sizes)
    order = (*range(axis), last, *range(axis, last))
    return _times(shaping.transpose(weights, order), scale)


def delta_orthogonal(
    scale: ArrayLike = 1.0, column_axis: int = -1, dtype: DTypeLike | None = None
) -> Initializer:
    """Weights of a convolution that is an orthogonal matrix at its middle, 0 elsewhere.

    Args:
      scale: factor of the matrix.
      column_axis: -1, the axis of the matrix's columns.
      dtype: default dtype of the weights.

    Returns:
      An initializer of shapes [*window, inputs, outputs] with one to three axes of the
      window, and no more inputs than outputs.

    Source: Xiao and others, "Dynamical isometry and a mean field theory of CNNs", 2018.

    Example:
      >>> from olympus import random
      >>> from olympus.nn import initializers
      >>> initializers.delta_orthogonal()(random.key(0), (3, 3, 4, 4)).shape
      (3, 3, 4, 4)
    """

    def draw(key: Any, shape: Any, dtype: Any) -> Any:
        _check_delta(shape)
        axis = sizes.canonicalize_axis(column_axis, 2, "nn.initializers")
        return _scaled_delta(key, scale, shape=shape, axis=axis, dtype=dtype)

    return _initializer("delta_orthogonal", dtype, draw)


def _check_delta(shape: tuple[int, ...]) -> None:
    if len(shape) not in (3, 4, 5):
        raise ValueError(
            "nn.initializers.delta_orthogonal: Delta orthogonal initializer requires a "
            f"3D, 4D or 5D shape, got {shape}; use initializers.orthogonal for matrices"
        )
    if shape[-1] < shape[-2]:
        raise ValueError(
            "nn.initializers.delta_orthogonal: `fan_in` must be less or equal than "
            f"`fan_out`, got {shape[-2]} and {shape[-1]}; use initializers.orthogonal"
        )


@one_program
def _scaled_delta(key: Any, scale: Any, *, shape: Any, axis: int, dtype: Any) -> Any:
    matrix = multivariate.draw_orthogonal(key, (shape[-2], shape[-1]), (), dtype)
    if axis == 0:
        matrix = multivariate.draw_orthogonal(key, (shape[-1], shape[-2]), (), dtype)
        matrix = shaping.transpose(matrix, (1, 0))
    before = [((d - 1) // 2, d - 1 - (d - 1) // 2, 0) for d in shape[:-2]]
    padding = (*before, (0, 0, 0), (0, 0, 0))
    weights = shaping.expand_dims(_times(matrix, scale), tuple(range(len(shape) - 2)))
    return concatenation.pad(weights, number(0, dtype), padding)
