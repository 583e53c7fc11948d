"""What random keys are: the generators there are, and the dtype of their keys."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from olympus._src.core import dtypes
from olympus._src.foundation import config

_WORD = np.dtype(np.uint32)


class KeyImplementation:
    """A generator of random bits that is controlled by keys.

    The functions work on arrays of words, whose last axes are those of a key. Axes
    before them are any number of keys side by side.

    Args:
      name: how users ask for it, as in `threefry2x32`.
      tag: the short name printed in dtypes, as in `key<fry>`.
      key_shape: shape of one key's words, which are uint32.
      seed: `(integers) -> words`; the words of one key for each integer.
      split: `(words, shape) -> words`; new axes of `shape` behind those of the keys.
      random_bits: `(words, bit_width, shape) -> unsigned integers`; axes as `split`.
      fold_in: `(words, uint32) -> words`; one integer for each key, or one for all.
      couples_keys: whether several keys draw bits together, from the first of them.
    """

    __slots__ = (
        "couples_keys",
        "dtype",
        "fold_in",
        "key_shape",
        "name",
        "random_bits",
        "seed",
        "split",
        "tag",
    )

    def __init__(
        self,
        *,
        name: str,
        tag: str,
        key_shape: tuple[int, ...],
        seed: Callable[..., Any],
        split: Callable[..., Any],
        random_bits: Callable[..., Any],
        fold_in: Callable[..., Any],
        couples_keys: bool = False,
    ) -> None:
        self.name = name
        self.tag = tag
        self.key_shape = tuple(key_shape)
        self.seed = seed
        self.split = split
        self.random_bits = random_bits
        self.fold_in = fold_in
        self.couples_keys = couples_keys
        self.dtype = KeyType(self)

    def __repr__(self) -> str:
        return self.tag

    def __reduce__(self) -> Any:
        if registry.get(self.name) is not self:
            raise TypeError(
                f"random: keys of the generator {self.name!r} cannot be pickled, since "
                "a program defined it; save random.key_data(keys), and wrap the words "
                "again with random.wrap_key_data(words, impl=...)"
            )
        return find, (self.name,)


class PRNGSpec:
    """A generator that a program has defined; `random.key(seed, impl=spec)`.

    Args:
      implementation: the generator.
    """

    __slots__ = ("implementation",)

    def __init__(self, implementation: KeyImplementation) -> None:
        self.implementation = implementation

    def __repr__(self) -> str:
        return f"PRNGSpec({self.implementation.name!r})"

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, PRNGSpec) and other.implementation is self.implementation
        )

    def __hash__(self) -> int:
        return hash(self.implementation)


class KeyType(dtypes.ExtendedDType):
    """The dtype of keys of one implementation, printed as in `key<fry>`."""

    __slots__ = ("couples_rows", "implementation", "itemsize", "name", "physical")

    type = dtypes.prng_key

    def __init__(self, implementation: KeyImplementation) -> None:
        self.implementation = implementation
        self.name = f"key<{implementation.tag}>"
        self.physical = (implementation.key_shape, _WORD)
        self.itemsize = int(np.prod(implementation.key_shape)) * _WORD.itemsize
        self.couples_rows = implementation.couples_keys

    def __eq__(self, other: object) -> bool:
        return type(other) is KeyType and other.implementation is self.implementation

    def __hash__(self) -> int:
        return hash((KeyType, self.implementation.name))

    def __reduce__(self) -> Any:
        return _dtype_of, (self.implementation,)


def _dtype_of(implementation: KeyImplementation) -> KeyType:
    return implementation.dtype


registry: dict[str, KeyImplementation] = {}


def register(implementation: KeyImplementation) -> KeyImplementation:
    """Makes an implementation known by its name.

    Raises:
      ValueError: the name is taken.
    """
    if implementation.name in registry:
        raise ValueError(
            f"random: the name of a key implementation must be new, got "
            f"{implementation.name!r}, which is registered; choose another"
        )
    registry[implementation.name] = implementation
    config.generator_names.add(implementation.name)
    dtypes.note_extended(implementation.dtype)
    return implementation


def name_of(implementation: KeyImplementation) -> str | PRNGSpec:
    """What `find` takes for it: its name, if it has one of its own."""
    is_known = registry.get(implementation.name) is implementation
    return implementation.name if is_known else PRNGSpec(implementation)


def find(spec: Any) -> KeyImplementation:
    """The implementation that a user names; None is the default one.

    Args:
      spec: a name, an implementation or a `PRNGSpec`, a dtype of keys, or None.

    Raises:
      ValueError: there is none of that name.
      TypeError: `spec` is none of these.
    """
    if spec is None:
        spec = config.default_prng_impl.value
    if isinstance(spec, KeyImplementation):
        return spec
    if isinstance(spec, (KeyType, PRNGSpec)):
        return spec.implementation
    if not isinstance(spec, str):
        raise TypeError(
            "random: impl must be the name of a key implementation or a dtype of keys, "
            f"got {spec!r}; for example impl='threefry2x32'"
        )
    implementation = registry.get(spec)
    if implementation is None:
        known = ", ".join(repr(name) for name in registry)
        raise ValueError(
            f'unrecognized PRNG implementation "{spec}": random: impl must be one of '
            f"{known}"
        )
    return implementation
