"""Philox and the wide Threefry: ciphers of counters as generators.

Each maps a key and a counter to as many words as the counter has; the position of a
number in its array is the counter.

Source: Salmon, Moraes, Dror and Shaw, Parallel random numbers: as easy as 1, 2, 3,
2011, sections 3.3 and 3.4 and table 2.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from olympus._src.core import avals
from olympus._src.lax import (
    concatenation,
    elementwise,
    families,
    random_bits,
    shaping,
    stacking,
)
from olympus._src.random.generators import (
    UINTS,
    count_positions,
    join_words,
    read_word,
    repeat_counts,
    seed_words,
    spread_key,
)
from olympus._src.random.implementations import KeyImplementation, register

Words = Sequence[Any]
add, mul, xor = elementwise.add, elementwise.mul, elementwise.bitwise_xor


def _word(value: int) -> np.uint32:
    return np.uint32(value)


# -- ciphers ---------------------------------------------------------------------------

_PHILOX_ROUNDS = 10
# Multipliers, and the Weyl sequence's steps that each round adds to the key: the golden
# ratio, and the square root of 3 less 1.
_PHILOX_2 = 0xD256D193
_PHILOX_4 = (0xD2511F53, 0xCD9E8D57)
_WEYL = (0x9E3779B9, 0xBB67AE85)


def philox2x32(key: Any, counter: Words) -> list[Any]:
    """Two words for two, with a key of one word."""
    high, low = counter
    for _ in range(_PHILOX_ROUNDS):
        factor = families.full_like(high, _PHILOX_2)
        top, bottom = elementwise.mulhi(high, factor), mul(high, factor)
        high, low = xor(xor(top, key), low), bottom
        key = add(key, _word(_WEYL[0]))
    return [high, low]


def philox4x32(key: Words, counter: Words) -> list[Any]:
    """Four words for four, with a key of two words."""
    a, b, c, d = counter
    k0, k1 = key
    for _ in range(_PHILOX_ROUNDS):
        m0, m1 = (families.full_like(a, m) for m in _PHILOX_4)
        from_a, from_c = elementwise.mulhi(a, m0), elementwise.mulhi(c, m1)
        a, b, c, d = (
            xor(xor(from_c, b), k0),
            mul(c, m1),
            xor(xor(from_a, d), k1),
            mul(a, m0),
        )
        k0, k1 = add(k0, _word(_WEYL[0])), add(k1, _word(_WEYL[1]))
    return [a, b, c, d]


# Distances of the rotations in eight rounds, of both mixed pairs; the parity word.
_ROTATIONS = (
    (10, 26),
    (11, 21),
    (13, 27),
    (23, 5),
    (6, 20),
    (17, 11),
    (25, 10),
    (18, 20),
)
_PARITY = 0x1BD11BDA
_THREEFRY_ROUNDS = 20


def _rotate(x: Any, distance: int) -> Any:
    left = elementwise.shift_left(x, _word(distance))
    return elementwise.bitwise_or(
        left, elementwise.shift_right_logical(x, _word(32 - distance))
    )


def threefry4x32(key: Words, counter: Words) -> list[Any]:
    """Four words for four, with a key of four words."""
    parity = functools.reduce(xor, key)
    schedule = [*key, xor(parity, _word(_PARITY))]
    x = [add(c, k) for c, k in zip(counter, key, strict=True)]
    for n in range(_THREEFRY_ROUNDS):
        # Words are mixed with their neighbours, in turns on one side and the other.
        pairs = ((0, 1), (2, 3)) if n % 2 == 0 else ((0, 3), (2, 1))
        for (i, j), distance in zip(pairs, _ROTATIONS[n % 8], strict=True):
            x[i] = add(x[i], x[j])
            x[j] = xor(_rotate(x[j], distance), x[i])
        if n % 4 == 3:
            turn = n // 4 + 1
            x = [add(w, schedule[(turn + i) % 5]) for i, w in enumerate(x)]
            x[3] = add(x[3], _word(turn))
    return x


# -- generators ------------------------------------------------------------------------


def _define_generator(
    *,
    name: str,
    tag: str,
    n_words: int,
    seed: Callable[[Any, Any], list[Any]],
    encrypt: Callable[[Words, Words], list[Any]],
    size: int,
    halves: Callable[[Words], tuple[Any, Any]],
) -> KeyImplementation:
    """A generator of a cipher.

    Args:
      name, tag: as those of a `KeyImplementation`.
      n_words: words of a key; new keys are as many of the encrypted words.
      seed: the words of a key, from the high and the low word of an integer.
      encrypt: the words for a key and a counter.
      size: words of a counter. The position of a number is its first two words, that of
        a new key the last two, so that numbers and keys do not agree.
      halves: the high and low word of 64 bits, from encrypted words.
    """

    def encrypt_positions(
        words: Any, shape: tuple[int, ...], for_keys: bool
    ) -> list[Any]:
        before = avals.aval_of(words).shape[:-1]
        high, low = count_positions(shape)
        low = repeat_counts(low, before)
        if np.ndim(high):
            high = repeat_counts(high, before)
        else:
            high = families.full_like(low, 0)
        key = _spread_words(words, before, shape)
        return encrypt(key, _place(high, low, size, for_keys))

    def split(words: Any, shape: tuple[int, ...]) -> Any:
        return stacking.stack(
            encrypt_positions(words, shape, for_keys=True)[:n_words], -1
        )

    def fold_in(words: Any, data: Any) -> Any:
        before, shape = avals.aval_of(words).shape[:-1], avals.aval_of(data).shape
        if before and not shape:
            data = shaping.broadcast(data, before)
        key = _spread_words(words, before, () if before else shape)
        counter = _place(families.full_like(data, 0), data, size, for_keys=True)
        out = encrypt(key, counter)
        return stacking.stack(out[:n_words], -1)

    def draw_bits(words: Any, bit_width: int, shape: tuple[int, ...]) -> Any:
        outs = encrypt_positions(words, shape, for_keys=False)
        if bit_width == 64:
            return join_words(*halves(outs))
        return elementwise.convert(functools.reduce(xor, outs), UINTS[bit_width])

    return register(
        KeyImplementation(
            name=name,
            tag=tag,
            key_shape=(n_words,),
            seed=lambda seeds: stacking.stack(seed(*seed_words(seeds)), -1),
            split=split,
            random_bits=draw_bits,
            fold_in=fold_in,
        )
    )


def _spread_words(words: Any, before: tuple[int, ...], shape: tuple[int, ...]) -> Words:
    """Each word of the keys in the shape of the results."""
    count = avals.aval_of(words).shape[-1]
    each = [read_word(words, i) for i in range(count)]
    if before:
        return [spread_key(w, before, shape) for w in each]
    return [shaping.broadcast(w, shape) if shape else w for w in each]


def _place(high: Any, low: Any, size: int, for_keys: bool) -> Words:
    """A counter: two words among zeros."""
    zeros = _zeros(low, size - 2)
    return [*zeros, high, low] if for_keys else [high, low, *zeros]


def _zeros(like: Any, count: int) -> list[Any]:
    return [families.full_like(like, 0) for _ in range(count)]


philox2x32_implementation = _define_generator(
    name="philox2x32",
    tag="phx2",
    n_words=1,
    seed=lambda high, low: philox2x32(families.full_like(low, 0), (high, low))[:1],
    encrypt=lambda key, counter: philox2x32(key[0], counter),
    size=2,
    halves=lambda outs: (outs[0], outs[1]),
)
philox4x32_implementation = _define_generator(
    name="philox4x32",
    tag="phx4",
    n_words=2,
    seed=lambda high, low: philox4x32(_zeros(low, 2), (high, low, *_zeros(low, 2)))[:2],
    encrypt=philox4x32,
    size=4,
    halves=lambda outs: (outs[0], outs[1]),
)
threefry4x32_implementation = _define_generator(
    name="threefry4x32",
    tag="fry4",
    n_words=4,
    seed=lambda high, low: threefry4x32((high, low, *_zeros(low, 2)), _zeros(low, 4)),
    encrypt=threefry4x32,
    size=4,
    halves=lambda outs: (xor(outs[0], outs[2]), xor(outs[1], outs[3])),
)


def threefry_2x32(keypair: Any, count: Any) -> Any:
    """Encrypts counters, in two halves against each other, by Threefry-2x32.

    Args:
      keypair: the key: an array of two uint32 words, or a pair of them.
      count: counters of any shape, uint32; the flat array is cut in the middle.

    Returns:
      uint32 of the shape of `count`.

    Raises:
      ValueError: the key has not two words.
      TypeError: an argument is not of uint32.

    Example:
      >>> from olympus.extend import random
      >>> key, counters = jnp.array([1, 2], "uint32"), jnp.arange(3, dtype="uint32")
      >>> random.threefry_2x32(key, counters).shape
      (3,)
    """
    is_pair = isinstance(keypair, (tuple, list))
    shape = (len(keypair),) if is_pair else avals.aval_of(keypair).shape
    if shape != (2,):
        raise ValueError(
            "extend.random.threefry_2x32: the key must be two words, got shape "
            f"{shape}; pass an array of shape (2,)"
        )
    if is_pair:
        k1, k2 = keypair
    else:
        k1, k2 = (
            concatenation.index_in_dim(keypair, i, keepdims=False) for i in (0, 1)
        )
    kinds = [avals.aval_of(x).dtype for x in (k1, k2, count)]
    if any(kind != np.uint32 for kind in kinds):
        listed = ", ".join(map(str, kinds))
        raise TypeError(
            "extend.random.threefry_2x32: words and counts must be uint32, got "
            f"{listed}; convert them"
        )
    return _encrypt_halves(k1, k2, count)


def _encrypt_halves(k1: Any, k2: Any, count: Any) -> Any:
    aval = avals.aval_of(count)
    flat = shaping.reshape(count, (aval.size,))
    if aval.size % 2:
        flat = concatenation.concatenate([flat, np.zeros(1, np.uint32)], 0)
    half = avals.aval_of(flat).shape[0] // 2
    parts = (
        concatenation.slice_in_dim(flat, 0, half),
        concatenation.slice_in_dim(flat, half, 2 * half),
    )
    outs = random_bits.threefry2x32(k1, k2, *parts)
    out = concatenation.concatenate(outs, 0)
    return shaping.reshape(concatenation.slice_in_dim(out, 0, aval.size), aval.shape)
