"""Layers with parameters, and layers of no parameters, as pairs of functions.

A layer is `(init_fun, apply_fun)`: `init_fun(key, input_shape)` returns the result's
shape and the parameters, `apply_fun(params, inputs, **kwargs)` the result.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from typing import Any

from olympus._src.api import staging
from olympus._src.api.shapes import ShapeDtypeStruct
from olympus._src.control_flow.reduce import reduce_window
from olympus._src.core import avals, dtypes
from olympus._src.core.array_type import ArrayLike, Padding
from olympus._src.lax import convolution
from olympus._src.lax import elementwise as lax
from olympus._src.nn.initializers import (
    Initializer,
    glorot_normal,
    normal,
    ones,
    zeros,
)
from olympus._src.nn.normalization import standardize
from olympus._src.numpy import (
    contractions,
    creation,
    dtype_functions,
    manipulation,
    selection,
)
from olympus._src.random import keys
from olympus._src.random.uniform import bernoulli

InitFun = Callable[..., Any]
ApplyFun = Callable[..., Any]
Layer = tuple[InitFun, ApplyFun]

_SMALL = normal(1e-6)


def without_parameters(shape_of: Callable[[Any], Any], apply: ApplyFun) -> Layer:
    """A layer that only maps its inputs.

    Args:
      shape_of: the shape of the result for that of the inputs.
      apply: the result for the inputs and the keyword arguments of the call.
    """

    def init_fun(rng: Any, input_shape: Any) -> Any:
        return shape_of(input_shape), ()

    def apply_fun(params: Any, inputs: Any, **kwargs: Any) -> Any:
        return apply(inputs, **kwargs)

    return init_fun, apply_fun


def elementwise(fun: Callable[..., Any], **fun_kwargs: Any) -> Layer:
    """A layer that applies a function to each element.

    Args:
      fun: function of an array.
      **fun_kwargs: its other arguments.

    Returns:
      A layer, a pair `(init_fun, apply_fun)`.

    Example:
      >>> import olympus.numpy as onp
      >>> from olympus.example_libraries import stax
      >>> init, apply = stax.elementwise(onp.clip, min=0.0, max=1.0)
      >>> print(apply((), onp.array([-1.0, 0.5, 2.0])))
      [0.  0.5 1. ]
    """
    return without_parameters(lambda shape: shape, lambda x, **_: fun(x, **fun_kwargs))


def Dense(
    out_dim: int,
    W_init: Initializer = glorot_normal(),  # noqa: B008 - a function, which is immutable
    b_init: Initializer = normal(),  # noqa: B008
) -> Layer:
    """A layer of all linear combinations of the last axis, `x @ W + b`.

    Args:
      out_dim: size of the result's last axis.
      W_init, b_init: initializers of the matrix and of the vector that is added.

    Returns:
      A layer, a pair `(init_fun, apply_fun)`.

    Example:
      >>> from olympus import random
      >>> from olympus.example_libraries import stax
      >>> init, apply = stax.Dense(4)
      >>> shape, (W, b) = init(random.key(0), (-1, 3))
      >>> shape, W.shape, b.shape
      ((-1, 4), (3, 4), (4,))
    """

    def init_fun(rng: Any, input_shape: Any) -> Any:
        if not input_shape:
            raise ValueError(
                "stax.Dense: inputs must have an axis or more, got the shape (); give "
                "the shape of a batch, as (-1, features)"
            )
        W_key, b_key = keys.split(rng)
        W = W_init(W_key, (input_shape[-1], out_dim))
        return (*input_shape[:-1], out_dim), (W, b_init(b_key, (out_dim,)))

    def apply_fun(params: Any, inputs: Any, **kwargs: Any) -> Any:
        W, b = params
        return contractions.dot(inputs, W) + b

    return init_fun, apply_fun


# -- convolutions ----------------------------------------------------------------------


def _define_convolution(
    name: str,
    convolve: Callable[..., Any],
    dimension_numbers: Sequence[str],
    out_chan: int,
    filter_shape: Sequence[int],
    strides: Sequence[int] | None,
    padding: Padding,
    inits: tuple[Initializer | None, Initializer],
) -> Layer:
    lhs_spec, rhs_spec, out_spec = dimension_numbers
    if len(filter_shape) != len(rhs_spec) - 2:
        raise ValueError(
            f"stax.{name}: filter_shape must have {len(rhs_spec) - 2} sizes for the "
            f"layout {rhs_spec!r}, got {tuple(filter_shape)}; for another number of "
            "axes give dimension_numbers to GeneralConv or GeneralConvTranspose"
        )
    steps = tuple(strides or (1,) * len(filter_shape))
    W_init, b_init = inits
    if W_init is None:
        W_init = glorot_normal(rhs_spec.index("I"), rhs_spec.index("O"))

    def apply(W: Any, inputs: Any) -> Any:
        return convolve(
            inputs, W, steps, padding, dimension_numbers=tuple(dimension_numbers)
        )

    def init_fun(rng: Any, input_shape: Any) -> Any:
        if len(input_shape) != len(lhs_spec):
            raise ValueError(
                f"stax.{name}: inputs of the layout {lhs_spec!r} must have "
                f"{len(lhs_spec)} axes, got the shape {tuple(input_shape)}; give "
                "dimension_numbers that fit"
            )
        sizes = iter(filter_shape)
        channels = {"O": out_chan, "I": input_shape[lhs_spec.index("C")]}
        W_shape = [channels[c] if c in channels else next(sizes) for c in rhs_spec]
        b_shape = [out_chan if c == "C" else 1 for c in out_spec]
        W_key, b_key = keys.split(rng)
        W, b = W_init(W_key, W_shape), b_init(b_key, b_shape)
        batch = (lhs_spec.index("N"), out_spec.index("N"))
        return _infer_shape(functools.partial(apply, W), input_shape, batch), (W, b)

    def apply_fun(params: Any, inputs: Any, **kwargs: Any) -> Any:
        W, b = params
        return apply(W, inputs) + b

    return init_fun, apply_fun


def _infer_shape(
    apply: Callable[[Any], Any], input_shape: Any, batch: tuple[int, int]
) -> tuple[int, ...]:
    """The shape of a result; -1 stands for an unknown number of examples.

    Args:
      apply: function of an array.
      input_shape: its shape.
      batch: the axes of the examples, of the input and of the result.
    """
    shape = list(input_shape)
    size = shape[batch[0]]
    shape[batch[0]] = 1 if size == -1 else size
    dtype = dtype_functions.result_type(float)
    out = list(staging.eval_shape(apply, ShapeDtypeStruct(tuple(shape), dtype)).shape)
    if size == -1:
        out[batch[1]] = size
    return tuple(out)


def GeneralConv(
    dimension_numbers: Sequence[str],
    out_chan: int,
    filter_shape: Sequence[int],
    strides: Sequence[int] | None = None,
    padding: Padding = "VALID",
    W_init: Initializer | None = None,
    b_init: Initializer = _SMALL,
) -> Layer:
    """A layer of convolutions, in any layout.

    Args:
      dimension_numbers: the layouts of input, filter and result: N for examples, C for
        channels, I and O for those of the filter, any other letters for space.
      out_chan: number of channels of the result.
      filter_shape: size of the filter along each spatial axis.
      strides: step along each spatial axis; default 1.
      padding: 'SAME', 'VALID', or (before, after) for each spatial axis.
      W_init: initializer of the filter; default `glorot_normal` of its channels.
      b_init: initializer of what is added to each channel.

    Returns:
      A layer, a pair `(init_fun, apply_fun)`.

    Example:
      >>> from olympus import random
      >>> from olympus.example_libraries import stax
      >>> init, apply = stax.GeneralConv(("NCH", "OIH", "NCH"), 4, (3,))
      >>> shape, (W, b) = init(random.key(0), (-1, 2, 8))
      >>> shape, W.shape
      ((-1, 4, 6), (4, 2, 3))
    """
    return _define_convolution(
        "GeneralConv",
        convolution.conv_general_dilated,
        dimension_numbers,
        out_chan,
        filter_shape,
        strides,
        padding,
        (W_init, b_init),
    )


def GeneralConvTranspose(
    dimension_numbers: Sequence[str],
    out_chan: int,
    filter_shape: Sequence[int],
    strides: Sequence[int] | None = None,
    padding: Padding = "VALID",
    W_init: Initializer | None = None,
    b_init: Initializer = _SMALL,
) -> Layer:
    """A layer of transposed convolutions, in any layout; see `lax.conv_transpose`.

    Args:
      dimension_numbers: the layouts of input, filter and result: N for examples, C for
        channels, I and O for those of the filter, any other letters for space.
      out_chan: number of channels of the result.
      filter_shape: size of the filter along each spatial axis.
      strides: distance of the input's elements in the result; default 1.
      padding: 'SAME', 'VALID', or (before, after) for each spatial axis.
      W_init: initializer of the filter; default `glorot_normal` of its channels.
      b_init: initializer of what is added to each channel.

    Returns:
      A layer, a pair `(init_fun, apply_fun)`.

    Example:
      >>> from olympus import random
      >>> from olympus.example_libraries import stax
      >>> layout = ("NHC", "HIO", "NHC")
      >>> init, apply = stax.GeneralConvTranspose(layout, 4, (3,), (2,), "SAME")
      >>> init(random.key(0), (-1, 8, 2))[0]
      (-1, 16, 4)
    """
    return _define_convolution(
        "GeneralConvTranspose",
        convolution.conv_transpose,
        dimension_numbers,
        out_chan,
        filter_shape,
        strides,
        padding,
        (W_init, b_init),
    )


Conv = functools.partial(GeneralConv, ("NHWC", "HWIO", "NHWC"))
Conv1DTranspose = functools.partial(GeneralConvTranspose, ("NHC", "HIO", "NHC"))
ConvTranspose = functools.partial(GeneralConvTranspose, ("NHWC", "HWIO", "NHWC"))

# -- normalization ---------------------------------------------------------------------


def BatchNorm(
    axis: int | Sequence[int] = (0, 1, 2),
    epsilon: float = 1e-5,
    center: bool = True,
    scale: bool = True,
    beta_init: Initializer = zeros,
    gamma_init: Initializer = ones,
) -> Layer:
    """A layer that normalizes over the examples of a batch.

    Mean and variance are those of the batch that it is applied to.

    Args:
      axis: the axes that mean and variance are taken over.
      epsilon: is added to the variance.
      center: add a parameter, `beta`.
      scale: multiply by a parameter, `gamma`.
      beta_init, gamma_init: initializers of the parameters.

    Returns:
      A layer, a pair `(init_fun, apply_fun)`.

    Source: Ioffe and Szegedy, Batch normalization, 2015.

    Example:
      >>> import olympus.numpy as onp
      >>> from olympus import random
      >>> from olympus.example_libraries import stax
      >>> init, apply = stax.BatchNorm(axis=0)
      >>> shape, params = init(random.key(0), (2, 1))
      >>> print(onp.round(apply(params, onp.array([[1.0], [3.0]])), 3))
      [[-1.]
       [ 1.]]
    """
    axes = (axis,) if isinstance(axis, int) else tuple(axis)

    def init_fun(rng: Any, input_shape: Any) -> Any:
        shape = tuple([n for k, n in enumerate(input_shape) if k not in axes])
        beta_key, gamma_key = keys.split(rng)
        beta = beta_init(beta_key, shape) if center else ()
        gamma = gamma_init(gamma_key, shape) if scale else ()
        return input_shape, (beta, gamma)

    def apply_fun(params: Any, x: Any, **kwargs: Any) -> Any:
        beta, gamma = params
        z = standardize(x, axes, epsilon=epsilon)
        if scale:
            z = z * manipulation.expand_dims(gamma, axes)
        return z + manipulation.expand_dims(beta, axes) if center else z

    return init_fun, apply_fun


# -- pooling ---------------------------------------------------------------------------


def _reduce_max(x: Any, **window: Any) -> Any:
    is_integer = dtypes.kind(x.dtype) in "iu"
    low = dtypes.iinfo(x.dtype).min if is_integer else -math.inf
    return reduce_window(x, creation.asarray(low, x.dtype), lax.max_, **window)


def _reduce_sum(x: Any, **window: Any) -> Any:
    return reduce_window(x, creation.zeros((), x.dtype), lax.add, **window)


def _reduce_mean(x: Any, **window: Any) -> Any:
    """Of the elements of a window that are none of the padding."""
    return _reduce_sum(x, **window) / _reduce_sum(creation.ones_like(x), **window)


def _define_pooling(
    name: str,
    reduce: Callable[..., Any],
    window_shape: Sequence[int],
    strides: Sequence[int] | None,
    padding: Padding,
    spec: str | None,
) -> Layer:
    steps = tuple(strides or (1,) * len(window_shape))
    if len(steps) != len(window_shape):
        raise ValueError(
            f"stax.{name}: strides must have one number for each size of window_shape "
            f"{tuple(window_shape)}, got {steps}; leave them out for steps of 1"
        )
    order = spec or "N" + "S" * len(window_shape) + "C"

    def spread(sizes: Sequence[int]) -> tuple[int, ...]:
        values = iter(sizes)
        return tuple([1 if c in "NC" else next(values) for c in order])

    batch = order.index("N")

    def apply(inputs: Any) -> Any:
        window, strides = spread(window_shape), spread(steps)
        return reduce(
            creation.asarray(inputs),
            window_dimensions=window,
            window_strides=strides,
            padding=padding,
        )

    def init_fun(rng: Any, input_shape: Any) -> Any:
        return _infer_shape(apply, input_shape, (batch, batch)), ()

    def apply_fun(params: Any, inputs: Any, **kwargs: Any) -> Any:
        return apply(inputs)

    return init_fun, apply_fun


def MaxPool(
    window_shape: Sequence[int],
    strides: Sequence[int] | None = None,
    padding: Padding = "VALID",
    spec: str | None = None,
) -> Layer:
    """A layer of the largest elements of windows.

    Args:
      window_shape: size of the window along each spatial axis.
      strides: step of the window along each; default 1.
      padding: 'SAME', 'VALID', or (before, after) for each axis of the inputs.
      spec: layout of the inputs, as 'NCHW'; default examples first and channels last.

    Returns:
      A layer, a pair `(init_fun, apply_fun)`.

    Example:
      >>> import olympus.numpy as onp
      >>> from olympus.example_libraries import stax
      >>> init, apply = stax.MaxPool((2,), strides=(2,))
      >>> print(apply((), onp.array([1.0, 4.0, 3.0, 2.0]).reshape(1, 4, 1)).ravel())
      [4. 3.]
    """
    return _define_pooling("MaxPool", _reduce_max, window_shape, strides, padding, spec)


def SumPool(
    window_shape: Sequence[int],
    strides: Sequence[int] | None = None,
    padding: Padding = "VALID",
    spec: str | None = None,
) -> Layer:
    """A layer of the sums of windows.

    Args:
      window_shape: size of the window along each spatial axis.
      strides: step of the window along each; default 1.
      padding: 'SAME', 'VALID', or (before, after) for each axis of the inputs.
      spec: layout of the inputs, as 'NCHW'; default examples first and channels last.

    Returns:
      A layer, a pair `(init_fun, apply_fun)`.

    Example:
      >>> import olympus.numpy as onp
      >>> from olympus.example_libraries import stax
      >>> init, apply = stax.SumPool((2,), strides=(2,))
      >>> print(apply((), onp.array([1.0, 4.0, 3.0, 2.0]).reshape(1, 4, 1)).ravel())
      [5. 5.]
    """
    return _define_pooling("SumPool", _reduce_sum, window_shape, strides, padding, spec)


def AvgPool(
    window_shape: Sequence[int],
    strides: Sequence[int] | None = None,
    padding: Padding = "VALID",
    spec: str | None = None,
) -> Layer:
    """A layer of the means of windows; elements of the padding do not count.

    Args:
      window_shape: size of the window along each spatial axis.
      strides: step of the window along each; default 1.
      padding: 'SAME', 'VALID', or (before, after) for each axis of the inputs.
      spec: layout of the inputs, as 'NCHW'; default examples first and channels last.

    Returns:
      A layer, a pair `(init_fun, apply_fun)`.

    Example:
      >>> import olympus.numpy as onp
      >>> from olympus.example_libraries import stax
      >>> init, apply = stax.AvgPool((2,), padding="SAME")
      >>> print(apply((), onp.array([1.0, 4.0, 3.0, 2.0]).reshape(1, 4, 1)).ravel())
      [2.5 3.5 2.5 2. ]
    """
    return _define_pooling(
        "AvgPool", _reduce_mean, window_shape, strides, padding, spec
    )


# -- without parameters ----------------------------------------------------------------


def _flat_shape(input_shape: Any) -> tuple[int, int]:
    return input_shape[0], math.prod(input_shape[1:])


def _flatten_examples(x: Any, **_: Any) -> Any:
    shape = avals.aval_of(x).shape
    return manipulation.reshape(x, (shape[0], math.prod(shape[1:])))


Flatten = without_parameters(_flat_shape, _flatten_examples)
Identity = without_parameters(lambda shape: shape, lambda x, **_: x)


def Dropout(rate: ArrayLike, mode: str = "train") -> Layer:
    """A layer that sets elements to zero at random and scales up those it keeps.

    Args:
      rate: the probability that an element is kept.
      mode: 'train'; in all other modes inputs are returned as they are.

    Returns:
      A layer, a pair `(init_fun, apply_fun)`. Its `apply_fun` must be called with a
      random key, `apply_fun(params, inputs, rng=key)`.

    Example:
      >>> import olympus.numpy as onp
      >>> from olympus import random
      >>> from olympus.example_libraries import stax
      >>> init, apply = stax.Dropout(0.5)
      >>> print(apply((), onp.ones(6), rng=random.key(1)))
      [2. 0. 2. 2. 0. 0.]
    """

    def apply(inputs: Any, rng: Any = None, **_: Any) -> Any:
        if rng is None:
            raise ValueError(
                "stax.Dropout: apply_fun must be called with a random key, got none; "
                "write apply_fun(params, inputs, rng=key) with a new key for each call"
            )
        if mode != "train":
            return inputs
        keep = bernoulli(rng, rate, avals.aval_of(inputs).shape)
        return selection.where(keep, inputs / rate, 0)

    return without_parameters(lambda shape: shape, apply)
