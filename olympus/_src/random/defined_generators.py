"""Generators that programs define, for one key at a time."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from olympus._src.api.vmap import vmap
from olympus._src.core import avals
from olympus._src.core.array_type import Array, ArrayLike, Shape
from olympus._src.numpy import creation
from olympus._src.random import implementations, keys
from olympus._src.random.implementations import KeyImplementation, PRNGSpec

_NAME = "extend.random.define_prng_impl"


def define_prng_impl(
    *,
    key_shape: Shape,
    seed: Callable[[Array], Array],
    split: Callable[[Array, Shape], Array],
    random_bits: Callable[[Array, int, Shape], Array],
    fold_in: Callable[[Array, Array], Array],
    name: str = "<unnamed>",
    tag: str = "?",
) -> PRNGSpec:
    """Defines a generator of random bits.

    Its functions are of the words of one key, uint32 of `key_shape`; `vmap` makes them
    functions of many.

    Args:
      key_shape: shape of the words of a key.
      seed: `(integer) -> words`.
      split: `(words, shape) -> words` of new keys [*shape, *key_shape].
      random_bits: `(words, bit_width, shape) -> bits`, unsigned integers [*shape] of
        8, 16, 32 or 64 bits.
      fold_in: `(words, integer) -> words`, the integer uint32.
      name: how the generator is shown.
      tag: how it is shown in the dtype of its keys, `key<tag>`.

    Returns:
      What `random.key(seed, impl=...)` takes.

    Raises:
      TypeError: a rule is not a function; when it is called, that its result is not of
        the shape and dtype that it must be.

    Example:
      >>> from olympus import random
      >>> from olympus.extend.random import define_prng_impl
      >>> spec = define_prng_impl(
      ...     key_shape=(1,),
      ...     seed=lambda n: n.astype("uint32").reshape(1),
      ...     split=lambda k, shape: k + jnp.indices((*shape, 1), "uint32").sum(0),
      ...     random_bits=lambda k, width, shape: jnp.full(shape, k[0], f"uint{width}"),
      ...     fold_in=lambda k, n: k ^ n,
      ...     name="constant",
      ...     tag="const",
      ... )
      >>> random.key(3, impl=spec)
      Array((), dtype=key<const>) overlaying:
      [3]
    """
    shape = tuple(int(d) for d in key_shape)
    functions = {
        "seed": seed,
        "split": split,
        "random_bits": random_bits,
        "fold_in": fold_in,
    }
    for rule, function in functions.items():
        if not callable(function):
            raise TypeError(
                f"{_NAME}: {rule} must be a function, got {function!r}; write it for "
                "the words of one key"
            )
    rank = len(shape)

    def seed_keys(seeds: Any) -> Any:
        one = _checked("seed", seed, lambda: (shape, np.uint32))
        return _map_keys(one, (seeds,), avals.aval_of(seeds).ndim)

    def split_keys(words: Any, new: tuple[int, ...]) -> Any:
        one = _checked("split", split, lambda: ((*new, *shape), np.uint32))
        return _map_keys(lambda w: one(w, new), (words,), _rank_before(words, rank))

    def draw_bits(words: Any, width: int, new: tuple[int, ...]) -> Any:
        one = _checked("random_bits", random_bits, lambda: (new, f"uint{width}"))
        rank_before = _rank_before(words, rank)
        return _map_keys(lambda w: one(w, width, new), (words,), rank_before)

    def fold_in_keys(words: Any, data: Any) -> Any:
        one = _checked("fold_in", fold_in, lambda: (shape, np.uint32))
        ranks = (_rank_before(words, rank), avals.aval_of(data).ndim)
        axes = tuple([0 if n else None for n in ranks])
        return _map_keys(one, (words, data), max(ranks), axes)

    return PRNGSpec(
        KeyImplementation(
            name=name,
            tag=tag,
            key_shape=shape,
            seed=seed_keys,
            split=split_keys,
            random_bits=draw_bits,
            fold_in=fold_in_keys,
        )
    )


def _rank_before(words: Any, rank: int) -> int:
    return avals.aval_of(words).ndim - rank


def _map_keys(function: Any, args: Any, times: int, axes: Any = 0) -> Any:
    """A function of one key, for keys side by side along so many axes."""
    for _ in range(times):
        function = vmap(function, in_axes=axes)
    return function(*args)


def _checked(rule: str, function: Any, expected: Any) -> Any:
    """The function, with a check of its result's shape and dtype."""

    def call(*args: Any) -> Any:
        out = function(*args)
        shape, dtype = expected()
        aval = avals.aval_of(out) if avals.is_array_like(out) else None
        if aval is None or aval.shape != shape or aval.dtype != np.dtype(dtype):
            got = repr(out) if aval is None else aval.short()
            raise TypeError(
                f"{_NAME}: {rule} must return an array of {np.dtype(dtype)} and shape "
                f"{shape}, got {got}; each function is called with the words of one key"
            )
        return out

    return call


def random_seed(seeds: ArrayLike, impl: Any) -> Array:
    """Keys of a generator, from integers.

    Args:
      seeds: integers of any shape.
      impl: a generator, its name, or what `define_prng_impl` returns.

    Returns:
      An array of keys of the shape of `seeds`.

    Example:
      >>> from olympus.extend import random
      >>> random.random_seed(jnp.arange(2), random.threefry_prng_impl)
      Array((2,), dtype=key<fry>) overlaying:
      [[0 0]
       [0 1]]
    """
    implementation: Any = implementations.find(impl)
    if isinstance(seeds, int):
        return keys.key(seeds, impl=implementation)
    return keys.random_seed_p.bind(creation.asarray(seeds), impl=implementation)


def seed_with_impl(impl: Any, seed: int | ArrayLike) -> Array:
    """A key of a generator, from an integer.

    Args:
      impl: a generator, its name, or what `define_prng_impl` returns.
      seed: integer.

    Returns:
      A key.

    Example:
      >>> from olympus.extend import random
      >>> random.seed_with_impl(random.rbg_prng_impl, 7)
      Array((), dtype=key<rbg>) overlaying:
      [0 7 0 7]
    """
    return random_seed(seed, impl)
