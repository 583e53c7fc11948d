"""A random generator that remembers how many keys it has given."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any

import numpy as np

from olympus._src import tree
from olympus._src.core import avals as avals_
from olympus._src.core.array_type import Array, ArrayLike, DTypeLike, KeyArray
from olympus._src.core.refs import Ref
from olympus._src.interpreters import evaluate
from olympus._src.numpy import creation
from olympus._src.random import continuous, keys, uniform
from olympus._src.refs import functions as refs

Size = int | Sequence[int] | None


def stateful_rng(
    seed: ArrayLike | None = None, *, impl: str | DTypeLike | None = None
) -> StatefulPRNG:
    """A generator of random numbers that needs no keys, as `numpy.random.default_rng`.

    Its state is a ref, which programs that draw from it change.

    Args:
      seed: scalar integer; None for one of the operating system's, outside of programs.
      impl: name of a bit generator; default that of `olympus_default_prng_impl`.

    Raises:
      TypeError: inside a traced function no seed is given, or it is no integer.

    Example:
      >>> import olympus
      >>> from olympus.experimental import random
      >>> rng = random.stateful_rng(0)
      >>> rng.uniform(), rng.integers(10, size=3)
      (Array(0.8423141, dtype=float32), Array([2, 2, 6], dtype=int32))
      >>> olympus.jit(lambda rng: rng.normal())(rng)
      Array(1.2956359, dtype=float32)
    """
    if seed is None:
        if not evaluate.is_evaluating():
            raise TypeError(
                "stateful_rng: seed must be given in a traced function, got None; "
                "every run of the program would draw the same numbers"
            )
        seed = int(np.random.SeedSequence().generate_state(1)[0] & 0x7FFFFFFF)
    return StatefulPRNG(keys.key(seed, impl=impl), refs.new_ref(np.int32(0)))


@tree.register_pytree_with_keys_class
class StatefulPRNG:
    """A generator with a state; `stateful_rng` makes it.

    A tree of its key and of the ref that counts what was drawn, so that it may be an
    argument of jitted and mapped functions, but not a result.
    """

    def __init__(self, _base_key: KeyArray, _counter: Ref) -> None:
        self._base_key = _base_key
        self._counter = _counter

    def __repr__(self) -> str:
        return f"StatefulPRNG(_base_key={self._base_key!r}, _counter={self._counter!r})"

    def tree_flatten_with_keys(self) -> Any:
        """Its parts, as children of a tree."""
        return (
            (tree.GetAttrKey("_base_key"), self._base_key),
            (tree.GetAttrKey("_counter"), self._counter),
        ), None

    @classmethod
    def tree_unflatten(cls, _: None, children: Any) -> StatefulPRNG:
        """The generator of these parts."""
        return cls(*children)

    def key(self, shape: int | Sequence[int] = ()) -> Array:
        """The next key; of a shape, that many keys.

        Raises:
          ValueError: the generator was split, and is not mapped over.
        """
        if avals_.aval_of(self._base_key).ndim:
            raise ValueError(
                "StatefulPRNG: a generator that was split must be mapped over, got one "
                f"of shape {self._base_key.shape}; pass it to a function under vmap"
            )
        count = self._counter[...]
        self._counter[...] = count + 1
        key = keys.fold_in(self._base_key, count)
        return keys.split(key, _shape(shape)) if shape != () else key

    def split(self, num: int | Sequence[int]) -> StatefulPRNG:
        """Generators that are independent, for functions under `vmap`.

        Args:
          num: how many, or the shape of their array.

        Example:
          >>> import olympus
          >>> from olympus.experimental import random
          >>> rngs = random.stateful_rng(0).split(2)
          >>> olympus.vmap(lambda rng: rng.uniform())(rngs).shape
          (2,)
        """
        own = self.key(_shape(num))
        return StatefulPRNG(own, refs.new_ref(creation.zeros(own.shape, "int32")))

    def spawn(self, n_children: int) -> list[StatefulPRNG]:
        """A list of independent generators."""
        children = self.key((operator.index(n_children),))
        return [
            StatefulPRNG(children[i], refs.new_ref(np.int32(0)))
            for i in range(operator.index(n_children))
        ]

    def random(self, size: Size = None, dtype: DTypeLike = float) -> Array:
        """Numbers in [0, 1)."""
        return uniform.uniform(self.key(), _result_shape(size), dtype)

    def uniform(
        self,
        low: ArrayLike = 0,
        high: ArrayLike = 1,
        size: Size = None,
        *,
        dtype: DTypeLike = float,
    ) -> Array:
        """Numbers in [low, high).

        Args:
          low, high: bounds, which broadcast.
          size: shape of the result; default that of the bounds.
          dtype: float dtype.
        """
        shape = _result_shape(size, low, high)
        return uniform.uniform(self.key(), shape, dtype, minval=low, maxval=high)

    def normal(
        self,
        loc: ArrayLike = 0,
        scale: ArrayLike = 1,
        size: Size = None,
        *,
        dtype: DTypeLike = float,
    ) -> Array:
        """Normally distributed numbers.

        Args:
          loc, scale: mean and standard deviation, which broadcast.
          size: shape of the result; default that of the parameters.
          dtype: float dtype.
        """
        shape = _result_shape(size, loc, scale)
        numbers = continuous.normal(self.key(), shape, dtype)
        loc, scale = (creation.asarray(x, dtype=numbers.dtype) for x in (loc, scale))
        return loc + scale * numbers

    def integers(
        self,
        low: ArrayLike,
        high: ArrayLike | None = None,
        size: Size = None,
        *,
        dtype: DTypeLike = int,
    ) -> Array:
        """Integers from low to below high; from 0 to below low if high is None."""
        if high is None:
            low, high = 0, low
        shape = _result_shape(size, low, high)
        return uniform.randint(self.key(), shape, low, high, dtype)


def _shape(num: int | Sequence[int]) -> tuple[int, ...]:
    if hasattr(num, "__index__"):
        return (operator.index(num),)
    return tuple(map(operator.index, num))


def _result_shape(size: Size, *parameters: Any) -> tuple[int, ...]:
    if size is not None:
        return _shape(size)
    shapes = [avals_.aval_of(x).shape for x in parameters]
    return np.broadcast_shapes(*shapes)
