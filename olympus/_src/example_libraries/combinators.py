"""Layers made of layers, and layers that split and join their inputs."""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable
from typing import Any

from olympus._src.core.array_type import Shape
from olympus._src.example_libraries.layers import Layer, without_parameters
from olympus._src.numpy import join_split
from olympus._src.random import keys


def _check_layers(name: str, layers: tuple[Any, ...]) -> tuple[list[Any], list[Any]]:
    """The init and apply functions of layers."""
    for i, layer in enumerate(layers):
        is_pair = isinstance(layer, (tuple, list)) and len(layer) == 2
        if not is_pair or not all(callable(f) for f in layer):
            raise TypeError(
                f"stax.{name}: layers must be pairs (init_fun, apply_fun), got "
                f"{layer!r} at position {i}; call a layer's maker, as Dense(10), and "
                f"give layers one by one, {name}(*layers)"
            )
    return [init for init, _ in layers], [apply for _, apply in layers]


def _split_rng(rng: Any, count: int) -> Any:
    """A key for each layer, or None for each."""
    return [None] * count if rng is None else keys.split(rng, count)


def serial(*layers: Layer) -> Layer:
    """Layers one after another.

    Args:
      *layers: layers, each of which takes what the one before returns.

    Returns:
      A layer, whose parameters are a list of those of the layers.

    Raises:
      TypeError: a layer is not a pair of functions.

    Example:
      >>> from olympus import random
      >>> from olympus.example_libraries import stax
      >>> init, apply = stax.serial(stax.Dense(8), stax.Relu, stax.Dense(2))
      >>> shape, params = init(random.key(0), (-1, 3))
      >>> shape, apply(params, jnp.ones((5, 3))).shape
      ((-1, 2), (5, 2))
    """
    inits, applies = _check_layers("serial", layers)

    def init_fun(rng: Any, input_shape: Any) -> Any:
        params = []
        for init in inits:
            rng, layer_rng = keys.split(rng)
            input_shape, layer_params = init(layer_rng, input_shape)
            params.append(layer_params)
        return input_shape, params

    def apply_fun(params: Any, inputs: Any, **kwargs: Any) -> Any:
        rngs = _split_rng(kwargs.pop("rng", None), len(applies))
        for apply, param, rng in zip(applies, params, rngs, strict=True):
            inputs = apply(param, inputs, rng=rng, **kwargs)
        return inputs

    return init_fun, apply_fun


def parallel(*layers: Layer) -> Layer:
    """Layers side by side, each of an input of its own.

    Args:
      *layers: layers, as many as there are inputs; see `FanOut`.

    Returns:
      A layer of a sequence of inputs, which returns a list of results.

    Raises:
      TypeError: a layer is not a pair of functions.

    Example:
      >>> from olympus import random
      >>> from olympus.example_libraries import stax
      >>> both = stax.parallel(stax.Dense(2), stax.Identity)
      >>> init, apply = stax.serial(stax.FanOut(2), both, stax.FanInConcat())
      >>> init(random.key(0), (-1, 3))[0]
      (-1, 5)
    """
    inits, applies = _check_layers("parallel", layers)

    def init_fun(rng: Any, input_shape: Any) -> Any:
        rngs = keys.split(rng, len(inits))
        pairs = [
            init(layer_rng, shape)
            for init, layer_rng, shape in zip(inits, rngs, input_shape, strict=True)
        ]
        return tuple([shape for shape, _ in pairs]), tuple([p for _, p in pairs])

    def apply_fun(params: Any, inputs: Any, **kwargs: Any) -> Any:
        rngs = _split_rng(kwargs.pop("rng", None), len(applies))
        return [
            apply(param, x, rng=rng, **kwargs)
            for apply, param, x, rng in zip(applies, params, inputs, rngs, strict=True)
        ]

    return init_fun, apply_fun


def shape_dependent(make_layer: Callable[[Shape], Layer]) -> Layer:
    """A layer that is made when the shape of its inputs is known.

    Args:
      make_layer: function of the inputs' shape that returns a layer.

    Returns:
      A layer, a pair `(init_fun, apply_fun)`.

    Example:
      >>> from olympus import random
      >>> from olympus.example_libraries import stax
      >>> half = stax.shape_dependent(lambda shape: stax.Dense(shape[-1] // 2))
      >>> half[0](random.key(0), (-1, 6))[0]
      (-1, 3)
    """

    def init_fun(rng: Any, input_shape: Any) -> Any:
        return make_layer(input_shape)[0](rng, input_shape)

    def apply_fun(params: Any, inputs: Any, **kwargs: Any) -> Any:
        return make_layer(inputs.shape)[1](params, inputs, **kwargs)

    return init_fun, apply_fun


def FanOut(num: int) -> Layer:
    """A layer that repeats its input, for layers side by side.

    Args:
      num: how many times.

    Returns:
      A layer that returns a list.

    Example:
      >>> from olympus.example_libraries import stax
      >>> stax.FanOut(2)[1]((), 3.0)
      [3.0, 3.0]
    """
    return without_parameters(lambda shape: [shape] * num, lambda x, **_: [x] * num)


def FanInConcat(axis: int = -1) -> Layer:
    """A layer that joins its inputs along an axis.

    Args:
      axis: the axis.

    Returns:
      A layer of a sequence of arrays.

    Example:
      >>> from olympus import random
      >>> from olympus.example_libraries import stax
      >>> stax.FanInConcat()[0](random.key(0), [(5, 2), (5, 3)])[0]
      (5, 5)
    """

    def shape_of(shapes: Any) -> tuple[int, ...]:
        if not shapes:
            raise ValueError(
                "stax.FanInConcat: there must be one input or more, got none; put "
                "FanOut or parallel before it"
            )
        out = list(shapes[0])
        out[axis] = sum(shape[axis] for shape in shapes)
        return tuple(out)

    return without_parameters(
        shape_of, lambda xs, **_: join_split.concatenate(xs, axis=axis)
    )


FanInSum = without_parameters(
    lambda shapes: shapes[0], lambda xs, **_: functools.reduce(operator.add, xs)
)
