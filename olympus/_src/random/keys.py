"""Random keys: the primitives on them, and what users call to make them.

A key is an array whose dtype is a `KeyType`. An array of its raw words, as `PRNGKey`
makes, is taken for a key of the default implementation.
"""

from __future__ import annotations

import operator
from typing import Any, NewType

import numpy as np

from olympus._src.core import array_type, avals, dtypes, trace
from olympus._src.core.array_type import Array, ArrayLike, DTypeLike, KeyArray
from olympus._src.core.primitive import Exact, Primitive, takes_primitive
from olympus._src.core.sizes import as_size
from olympus._src.foundation import config, user_warnings
from olympus._src.interpreters import concrete_arrays, evaluate
from olympus._src.lax import elementwise, families, shaping, sharding_rules, sizes
from olympus._src.lax.families import ShapedArray
from olympus._src.random import (
    counter_generators,  # noqa: F401 - registers its generators
    generators,
    implementations,
)
from olympus._src.random.implementations import KeyType, PRNGSpec

_U32 = np.dtype(np.uint32)
_REMEDY = "make one with random.key(seed)"


def _key_cure(value: Any) -> str:
    if isinstance(value, (tuple, list)):
        return "the key is the first argument, before the shape"
    if isinstance(value, int):
        return f"make one with random.key({value})"
    return _REMEDY


# For annotations: an array of keys. Called, it gives back its argument.
Key = NewType("Key", array_type.Array)

# -- primitives ------------------------------------------------------------------------


def _define_primitive(name: str, **rules: Any) -> Primitive:
    """A primitive on keys; nothing on keys has a tangent."""
    rules.setdefault("batch", _batch_keys)
    return Primitive(name, jvp=families.no_tangent, may_make_nan=False, **rules)


@takes_primitive
def _batch_keys(p: Primitive, axis: Any, args: Any, dims: Any, **params: Any) -> Any:
    return p.bind(args[0], **params), dims[0]


def _consume_key(uses: Any, eqn: Any, operands: Any) -> None:
    """The rule `key_reuse` of what draws from keys, or makes others of them."""
    uses.consume(operands[0])


def _make_keys(uses: Any, eqn: Any, operands: Any) -> None:
    """The rule `key_reuse` of what makes new keys, and consumes none."""


def _check_keys(name: str, keys: Any) -> Any:
    if not isinstance(keys.dtype, KeyType):
        raise TypeError(
            f"{name}: operands must be random keys, got {keys.short()}; {_REMEDY}"
        )
    return keys.dtype.implementation


def _words(keys: Any) -> Any:
    return random_unwrap_p.bind(keys)


def _seed_abstract(seeds: Any, *, impl: Any) -> Any:
    return ShapedArray(seeds.shape, impl.dtype)


random_seed_p = _define_primitive(
    "random_seed",
    shard=sharding_rules.keep,
    abstract=_seed_abstract,
    key_reuse=_make_keys,
    decompose=lambda seeds, *, impl: random_wrap_p.bind(impl.seed(seeds), impl=impl),
)


def _split_abstract(keys: Any, *, shape: Any) -> Any:
    _check_keys("random_split", keys)
    return ShapedArray(keys.shape + shape, keys.dtype)


def _split_decompose(keys: Any, *, shape: Any) -> Any:
    impl = avals.aval_of(keys).dtype.implementation
    return random_wrap_p.bind(impl.split(_words(keys), shape), impl=impl)


random_split_p = _define_primitive(
    "random_split",
    shard=sharding_rules.with_words,
    abstract=_split_abstract,
    key_reuse=_consume_key,
    decompose=_split_decompose,
)


def _fold_in_abstract(keys: Any, msgs: Any) -> Any:
    _check_keys("random_fold_in", keys)
    return ShapedArray(
        families.common_shape("random_fold_in", (keys, msgs)), keys.dtype
    )


def _fold_in_decompose(keys: Any, msgs: Any) -> Any:
    impl = avals.aval_of(keys).dtype.implementation
    return random_wrap_p.bind(impl.fold_in(_words(keys), msgs), impl=impl)


def _fold_in_batch(axis: Any, args: Any, dims: Any) -> Any:
    keys, msgs = args
    ranks = [
        avals.aval_of(x).ndim - (d is not None) for x, d in zip(args, dims, strict=True)
    ]
    if ranks[0] == ranks[1]:
        return families.elementwise_batch(random_fold_in_p, axis, args, dims)
    # One of them is a scalar for each element of the mapped axis.
    keys, msgs = (
        families.at_front(axis, x, d) for x, d in zip(args, dims, strict=True)
    )
    shape = max(avals.aval_of(keys).shape, avals.aval_of(msgs).shape, key=len)
    out = [
        shaping.broadcast_in_dim(x, shape, tuple(range(avals.aval_of(x).ndim)))
        for x in (keys, msgs)
    ]
    return random_fold_in_p.bind(*out), 0


random_fold_in_p = _define_primitive(
    "random_fold_in",
    shard=sharding_rules.elementwise,
    abstract=_fold_in_abstract,
    key_reuse=_make_keys,
    decompose=_fold_in_decompose,
    batch=_fold_in_batch,
)

BIT_WIDTHS = (8, 16, 32, 64)


def _bits_abstract(keys: Any, *, bit_width: int, shape: Any) -> Any:
    _check_keys("random_bits", keys)
    if bit_width not in BIT_WIDTHS:
        raise TypeError(
            f"random_bits: bit_width must be one of {BIT_WIDTHS}, got {bit_width}; "
            "convert wider bits to the dtype wanted"
        )
    return ShapedArray(keys.shape + shape, np.dtype(f"uint{bit_width}"))


def _bits_decompose(keys: Any, *, bit_width: int, shape: Any) -> Any:
    impl = avals.aval_of(keys).dtype.implementation
    return impl.random_bits(_words(keys), bit_width, shape)


random_bits_p = _define_primitive(
    "random_bits",
    shard=sharding_rules.with_words,
    abstract=_bits_abstract,
    key_reuse=_consume_key,
    decompose=_bits_decompose,
)


def _wrap_abstract(words: Any, *, impl: Any) -> Any:
    _check_words(words, impl)
    n = len(impl.key_shape)
    return ShapedArray(words.shape[: words.ndim - n], impl.dtype)


def _check_words(words: Any, impl: Any) -> None:
    n = len(impl.key_shape)
    if words.dtype != _U32:
        raise TypeError(
            f"random: words of keys must be uint32, got {words.short()}; {_REMEDY}"
        )
    if words.ndim < n or words.shape[words.ndim - n :] != impl.key_shape:
        raise TypeError(
            f"random: the shape of words of {impl.name} keys must end with "
            f"{impl.key_shape}, got {words.short()}; {_REMEDY}"
        )


def _wrap_eagerly(words: Any, *, impl: Any) -> Any:
    words = concrete_arrays.as_array(words)
    return concrete_arrays.with_aval(words, _wrap_abstract(words.aval, impl=impl))


def _wrap_batch(axis: Any, args: Any, dims: Any, *, impl: Any) -> Any:
    return random_wrap_p.bind(families.at_front(axis, args[0], dims[0]), impl=impl), 0


random_wrap_p: Any = _define_primitive(
    "random_wrap",
    shard=sharding_rules.without_words,
    abstract=_wrap_abstract,
    key_reuse=_make_keys,
    lower=lambda ctx, x, *, impl: x,
    reference=lambda words, *, impl: words,
    exact=Exact.MOVES,
    impl=_wrap_eagerly,
    batch=_wrap_batch,
)


def _unwrap_abstract(keys: Any) -> Any:
    _check_keys("random_unwrap", keys)
    return keys.storage


def _unwrap_eagerly(keys: Any) -> Any:
    return concrete_arrays.with_aval(keys, _unwrap_abstract(keys.aval))


random_unwrap_p = _define_primitive(
    "random_unwrap",
    shard=sharding_rules.with_words,
    abstract=_unwrap_abstract,
    lower=lambda ctx, x: x,
    reference=lambda words: words,
    exact=Exact.MOVES,
    impl=_unwrap_eagerly,
)


def _clone_abstract(keys: Any) -> Any:
    _check_keys("random_clone", keys)
    return keys


def _clone(keys: Any) -> Any:
    """The same keys, where a program of them would give them."""
    whole = concrete_arrays.default_sharding()
    if whole is not None and not keys.committed:
        keys = concrete_arrays.on_sharding(keys, whole)
    return concrete_arrays.with_aval(keys, _clone_abstract(keys.aval))


random_clone_p = _define_primitive(
    "random_clone",
    shard=sharding_rules.keep,
    abstract=_clone_abstract,
    key_reuse=_make_keys,
    lower=lambda ctx, x: x,
    impl=_clone,
)

# -- arguments -------------------------------------------------------------------------


def as_keys(name: str, key: Any) -> tuple[Any, bool]:
    """A user's key or keys as typed keys, and whether they came as raw words.

    Raises:
      TypeError: it is neither.
    """
    dtype = getattr(key, "dtype", None)
    if isinstance(dtype, KeyType):
        return key, False
    if dtype is None or not hasattr(key, "shape"):
        raise TypeError(
            f"random.{name}: key must be a random key or its words, an array of "
            f"uint32, got {key!r}; {_key_cure(key)}"
        )
    impl = implementations.find(None)
    try:
        keys = random_wrap_p.bind(key, impl=impl)
    except TypeError as error:
        detail = str(error).removeprefix("random: ")
        raise TypeError(f"random.{name}: {detail}") from None
    _note_raw_key(name)
    return keys, True


def _note_raw_key(name: str) -> None:
    reaction = config.legacy_prng_key.value
    if reaction == "allow":
        return
    message = (
        f"random.{name}: keys must be typed while olympus_legacy_prng_key is "
        f"{reaction!r}, got an array of raw words; {_REMEDY}, or wrap the words with "
        "random.wrap_key_data"
    )
    if reaction == "error":
        raise ValueError(message)
    user_warnings.warn(message)


def single_key(name: str, key: Any) -> Any:
    """A user's one key as a typed key.

    Raises:
      TypeError: it is not a key.
      ValueError: it is an array of several.
    """
    keys, _ = as_keys(name, key)
    if keys.ndim:
        raise ValueError(_several(name, keys, "key"))
    return keys


def _several(name: str, keys: Any, what: str) -> str:
    return (
        f"random.{name} accepts a single {what}, but was given an array of shape "
        f"{keys.shape}; use olympus.vmap for one result each"
    )


# -- making keys -----------------------------------------------------------------------


def _find_implementation(impl: Any, dtype: Any = None) -> Any:
    if dtype is None:
        return implementations.find(impl)
    if impl is not None:
        raise ValueError(
            "random.key: at most one of impl and dtype must be given, got "
            f"impl={impl!r} and dtype={dtype!r}; leave out one"
        )
    if isinstance(dtype, (KeyType, str)):
        return implementations.find(dtype)
    raise TypeError(
        "random.key: dtype must be a dtype of keys or the name of a generator, got "
        f"{dtype!r}; for example dtype=random.key_dtype()"
    )


def _seed_key(name: str, seed: Any, impl: Any) -> Any:
    """A typed key for an integer."""
    if isinstance(seed, trace.Tracer):
        return _seed_traced(name, seed, impl)
    value = _host_integer(name, seed)
    value = value + config.random_seed_offset.value
    if _is_narrow(seed):  # its sign fills no more bits than it has, as when traced
        value &= 0xFFFFFFFF
    if impl.seed is not generators.threefry_seed or not evaluate.is_evaluating():
        return random_seed_p.bind(_as_seed(name, value), impl=impl)
    # Made by the host: a program for two numbers would take longer to compile.
    high = (value >> 32) & 0xFFFFFFFF if config.x64_enabled() else 0
    words = concrete_arrays.as_array(np.array([high, value & 0xFFFFFFFF], np.uint32))
    return concrete_arrays.with_aval(words, ShapedArray((), impl.dtype))


def _host_integer(name: str, seed: Any) -> int:
    """The seed as a Python integer that 64 bits hold."""
    if type(seed) is not int:
        if not avals.is_array_like(seed):
            raise _no_integer(name, seed)
        value = np.asarray(seed)
        if value.ndim:
            raise TypeError(_several(name, value, "seed"))
        if dtypes.kind(value.dtype) not in "bui":
            raise _no_integer(name, seed)
        seed = int(value)
    if not -(2**63) <= seed < 2**64:
        raise OverflowError(
            f"random.{name}: seed must fit in 64 bits, got {seed}; take it modulo 2**64"
        )
    return seed


def _is_narrow(seed: Any) -> bool:
    return type(seed) is not int and avals.aval_of(seed).dtype.itemsize <= 4


def _no_integer(name: str, seed: Any) -> TypeError:
    return TypeError(
        f"random.{name}: seed must be an integer, got {seed!r}; use int(seed), or "
        "random.fold_in for several numbers"
    )


def _as_seed(name: str, value: int) -> np.ndarray:
    """The integer as an array of the default width; what does not fit is cut off."""
    value &= 2**64 - 1
    wide = np.array(value, np.uint64).view(np.int64)
    return wide if config.x64_enabled() else wide.astype(np.int32)


def _seed_traced(name: str, seed: Any, impl: Any) -> Any:
    if seed.ndim:
        raise TypeError(_several(name, seed, "seed"))
    if dtypes.kind(seed.dtype) not in "bui":
        raise _no_integer(name, seed)
    if seed.dtype == np.bool_:
        seed = elementwise.convert(seed, _U32)
    offset = config.random_seed_offset.value
    if offset:
        seed = elementwise.add(seed, families.number_of(offset, seed.dtype))
    return random_seed_p.bind(seed, impl=impl)


def key(
    seed: ArrayLike,
    *,
    impl: str | DTypeLike | None = None,
    dtype: DTypeLike | None = None,
) -> Array:
    """A random key from an integer.

    Args:
      seed: scalar integer; keys of different seeds are independent.
      impl: name of a generator; default that of `olympus_default_prng_impl`.
      dtype: a dtype of keys, or a generator's name, instead of `impl`.

    Returns:
      A scalar array whose dtype is a dtype of keys.

    Raises:
      TypeError: the seed is not a scalar integer.
      ValueError: there is no such generator.
      OverflowError: the seed needs more than 64 bits.

    Example:
      >>> from olympus import random
      >>> random.key(0)
      Array((), dtype=key<fry>) overlaying:
      [0 0]
    """
    return _seed_key("key", seed, _find_implementation(impl, dtype))


def PRNGKey(seed: ArrayLike, *, impl: str | DTypeLike | None = None) -> Array:
    """A random key from an integer, as an array of its words.

    Such an array says nothing of its generator; `key` makes keys that do.

    Args:
      seed: scalar integer.
      impl: name of a generator; default that of `olympus_default_prng_impl`.

    Returns:
      The words of the key, uint32 [2] for the default generator; a typed key where
      `olympus_enable_custom_prng` is set.

    Raises:
      TypeError: the seed is not a scalar integer.
      ValueError: there is no such generator.
      OverflowError: the seed needs more than 64 bits.

    Example:
      >>> from olympus import random
      >>> random.PRNGKey(42)
      Array([ 0, 42], dtype=uint32)
    """
    key = _seed_key("PRNGKey", seed, implementations.find(impl))
    return key if config.enable_custom_prng.value else random_unwrap_p.bind(key)


def key_dtype(impl_spec: str | DTypeLike | None = None) -> KeyType:
    """The dtype of keys of a generator.

    Args:
      impl_spec: its name; default that of `olympus_default_prng_impl`.

    Example:
      >>> from olympus import random
      >>> random.key_dtype()
      key<fry>
    """
    return implementations.find(impl_spec).dtype


def key_impl(keys: KeyArray) -> str | PRNGSpec:
    """The name of the generator that keys belong to.

    Args:
      keys: keys, or words of keys of the default generator.

    Example:
      >>> from olympus import random
      >>> random.key_impl(random.key(0))
      'threefry2x32'
    """
    typed, _ = as_keys("key_impl", keys)
    return implementations.name_of(typed.dtype.implementation)


def key_data(keys: KeyArray) -> Array:
    """The words of keys.

    Args:
      keys: keys of any shape.

    Returns:
      uint32 [..., *key shape].

    Example:
      >>> from olympus import random
      >>> random.key_data(random.key(7))
      Array([0, 7], dtype=uint32)
    """
    typed, _ = as_keys("key_data", keys)
    return random_unwrap_p.bind(typed)


def wrap_key_data(
    key_bits_array: ArrayLike,
    *,
    impl: str | DTypeLike | None = None,
    dtype: DTypeLike | None = None,
) -> Array:
    """Keys with the given words.

    Args:
      key_bits_array: uint32 [..., *key shape].
      impl: name of the generator; default that of `olympus_default_prng_impl`.
      dtype: a dtype of keys, or a generator's name, instead of `impl`.

    Raises:
      TypeError: the words have another dtype or shape.

    Example:
      >>> from olympus import random
      >>> random.wrap_key_data(jnp.array([0, 7], jnp.uint32)) == random.key(7)
      Array(True, dtype=bool)
    """
    implementation = _find_implementation(impl, dtype)
    return random_wrap_p.bind(key_bits_array, impl=implementation)


def clone(key: KeyArray) -> Array:
    """The same key, which checks of key reuse treat as a new one.

    Args:
      key: keys.

    Example:
      >>> from olympus import random
      >>> random.clone(random.key(0)) == random.key(0)
      Array(True, dtype=bool)
    """
    typed, raw = as_keys("clone", key)
    copy = random_clone_p.bind(typed)
    return random_unwrap_p.bind(copy) if raw else copy


# -- deriving keys ---------------------------------------------------------------------


def split(key: KeyArray, num: int | tuple[int, ...] = 2) -> Array:
    """New independent keys from one, which should not be used again.

    Args:
      key: one key.
      num: how many, or the shape of an array of them.

    Returns:
      Keys [*num]; words uint32 [*num, 2] where the key came as words.

    Raises:
      ValueError: several keys are given.

    Example:
      >>> from olympus import random
      >>> random.split(random.PRNGKey(0))
      Array([[1797259609, 2579123966],
             [ 928981903, 3453687069]], dtype=uint32)
    """
    typed, raw = as_keys("split", key)
    if typed.ndim:
        raise ValueError(_several("split", typed, "key"))
    shape = _count(num)
    out = random_split_p.bind(typed, shape=shape)
    return random_unwrap_p.bind(out) if raw else out


def _count(num: Any) -> tuple[int, ...]:
    if avals.is_array_like(num) and not np.ndim(num):
        num = as_size(num)
    shape = sizes.canonicalize_shape(num, "random.split")
    if any(d < 0 for d in shape):
        raise ValueError(
            f"random.split: num must not be negative, got {num}; 0 gives no keys"
        )
    return shape


def fold_in(key: KeyArray, data: ArrayLike) -> Array:
    """A new key from a key and a number.

    Args:
      key: one key.
      data: scalar integer of at most 32 bits; different ones give independent keys.

    Returns:
      One key, in the form of `key`.

    Raises:
      ValueError: several keys are given.
      TypeError: `data` is not a scalar integer.
      OverflowError: a Python integer is negative or needs more than 32 bits.

    Example:
      >>> from olympus import random
      >>> random.fold_in(random.PRNGKey(0), 7)
      Array([2716826189,  292468403], dtype=uint32)
    """
    typed, raw = as_keys("fold_in", key)
    if typed.ndim:
        raise ValueError(_several("fold_in", typed, "key"))
    out = random_fold_in_p.bind(typed, _message(data))
    return random_unwrap_p.bind(out) if raw else out


def _message(data: Any) -> Any:
    """The number to fold in, uint32."""
    if isinstance(data, int):
        if not 0 <= operator.index(data) < 2**32:
            raise OverflowError(
                f"random.fold_in: Python integer {data} out of bounds for uint32; take "
                "it modulo 2**32, or fold in its halves one after the other"
            )
        return np.uint32(data)
    aval = avals.aval_of(data)
    if aval.shape:
        raise TypeError(_several("fold_in", data, "number"))
    return elementwise.convert(data, _U32)
