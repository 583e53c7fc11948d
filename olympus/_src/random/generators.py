"""The generators: Threefry counters, and keys for XLA's own generator.

Threefry is a bijection of 64-bit counters keyed by 64 bits; it gives the same numbers
on every device. `rbg` draws bits from XLA's generator, and makes keys by Threefry;
`unsafe_rbg` makes its keys from that generator too.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from olympus._src.core import avals, dtypes
from olympus._src.core.sizes import is_symbolic
from olympus._src.foundation import config
from olympus._src.lax import (
    barriers,
    concatenation,
    elementwise,
    families,
    random_bits,
    shaping,
    stacking,
)
from olympus._src.random.implementations import KeyImplementation, register

_U32 = np.dtype(np.uint32)
_U64 = np.dtype(np.uint64)
UINTS = {bits: np.dtype(f"uint{bits}") for bits in (8, 16, 32, 64)}

# -- words -----------------------------------------------------------------------------


def read_word(words: Any, i: int) -> Any:
    # Words that are themselves a hash must not be fused into this one: from jaxlib
    # 0.11.2 on it would be written again for each word that is read, without end.
    words = barriers.optimization_barrier(words)
    return concatenation.index_in_dim(words, i, axis=-1, keepdims=False)


def spread_key(x: Any, before: tuple[int, ...], after: tuple[int, ...]) -> Any:
    """A value for each key repeated along the axes that each key gets.

    One key's value stays a scalar, which operations combine with arrays.
    """
    if not before:
        return x
    return shaping.broadcast_in_dim(x, before + after, tuple(range(len(before))))


def repeat_counts(x: Any, before: tuple[int, ...]) -> Any:
    """A count of each element repeated for each key."""
    return shaping.broadcast(x, before) if before else x


def count_positions(shape: tuple[int, ...]) -> tuple[Any, Any]:
    """High and low words of each element's position in row-major order."""
    size = math.prod(shape)
    # Arrays of symbolic sizes are of fewer elements: sizes are computed in 32 bits.
    if is_symbolic(size) or size < 2**32:
        low = shaping.reshape(_iota(_U32, size), shape)
        return np.uint32(0), low
    if not config.x64_enabled():
        raise ValueError(
            "random: at most 2**32 - 1 numbers at once while 64-bit values are off, "
            f"got shape {shape}; set olympus_enable_x64, or draw parts from split keys"
        )
    wide = shaping.reshape(_iota(_U64, size), shape)
    return high_word(wide), elementwise.convert(wide, _U32)


def _iota(dtype: np.dtype, size: int) -> Any:
    return shaping.iota_p.bind(dtype=dtype, shape=(size,), dimension=0, sharding=None)


def high_word(x: Any) -> Any:
    high = elementwise.shift_right_logical(
        x, families.number_of(32, avals.aval_of(x).dtype)
    )
    return elementwise.convert(high, _U32)


# -- Threefry --------------------------------------------------------------------------


def seed_words(seeds: Any) -> tuple[Any, Any]:
    """High and low words of integers; those of 32 bits have no high word."""
    aval = avals.aval_of(seeds)
    low = elementwise.convert(seeds, _U32)
    high = high_word(seeds) if aval.dtype.itemsize == 8 else families.full_like(low, 0)
    return high, low


def threefry_seed(seeds: Any) -> Any:
    """Integers as keys: their high and low words."""
    return stacking.stack(list(seed_words(seeds)), -1)


def threefry_split(words: Any, shape: tuple[int, ...]) -> Any:
    """New keys: the encrypted positions in an array of `shape`."""
    if not config.threefry_partitionable.value:
        before = avals.aval_of(words).shape[:-1]
        flat = _encrypt_halves(words, math.prod(shape) * 2)
        return shaping.reshape(flat, (*before, *shape, 2))
    return stacking.stack(_encrypt_positions(words, shape), -1)


def threefry_fold_in(words: Any, data: Any) -> Any:
    """New keys: the encrypted integers."""
    before = avals.aval_of(words).shape[:-1]
    shape = avals.aval_of(data).shape
    k1, k2 = read_word(words, 0), read_word(words, 1)
    if shape and not before:
        k1, k2 = shaping.broadcast(k1, shape), shaping.broadcast(k2, shape)
    return stacking.stack(random_bits.threefry2x32(k1, k2, np.uint32(0), data), -1)


def threefry_random_bits(words: Any, bit_width: int, shape: tuple[int, ...]) -> Any:
    """Bits of each position: both halves where 64 are requested, else their xor."""
    if not config.threefry_partitionable.value:
        return _bits_from_halves(words, bit_width, shape)
    high, low = _encrypt_positions(words, shape)
    if bit_width == 64:
        return join_words(high, low)
    return elementwise.convert(elementwise.bitwise_xor(high, low), UINTS[bit_width])


def _encrypt_positions(words: Any, shape: tuple[int, ...]) -> list[Any]:
    before = avals.aval_of(words).shape[:-1]
    high, low = count_positions(shape)
    return random_bits.threefry2x32(
        spread_key(read_word(words, 0), before, shape),
        spread_key(read_word(words, 1), before, shape),
        high if not np.ndim(high) else repeat_counts(high, before),
        repeat_counts(low, before),
    )


def join_words(high: Any, low: Any) -> Any:
    high, low = elementwise.convert(high, _U64), elementwise.convert(low, _U64)
    return elementwise.bitwise_or(elementwise.shift_left(high, np.uint64(32)), low)


# The older scheme: counts 0, 1, ... are cut in two halves that are encrypted against
# each other, so a number depends on how many are drawn.


def _encrypt_halves(words: Any, count: int) -> Any:
    """For each key, `count` words."""
    is_dynamic = is_symbolic(count)
    if not is_dynamic and count >= 2**32:
        raise ValueError(
            f"random: at most 2**32 words of one key, got {count}; set "
            "olympus_threefry_partitionable, which has no such limit"
        )
    before = avals.aval_of(words).shape[:-1]
    half = -(-count // 2)
    counts = _iota(_U32, 2 * half)
    if is_dynamic or count % 2:  # what fills the second half counts as zero
        inside = elementwise.lt(counts, elementwise.size_value(count, _U32))
        counts = elementwise.select(inside, counts, families.full_like(counts, 0))
    outs = random_bits.threefry2x32(
        spread_key(read_word(words, 0), before, (half,)),
        spread_key(read_word(words, 1), before, (half,)),
        repeat_counts(concatenation.slice_in_dim(counts, 0, half), before),
        repeat_counts(concatenation.slice_in_dim(counts, half, 2 * half), before),
    )
    flat = concatenation.concatenate(outs, len(before))
    return concatenation.slice_in_dim(flat, 0, count, axis=len(before))


def _bits_from_halves(words: Any, bit_width: int, shape: tuple[int, ...]) -> Any:
    before = avals.aval_of(words).shape[:-1]
    size = math.prod(shape)
    n_words = -(-bit_width * size // 32)
    flat = _encrypt_halves(words, n_words)
    axis = len(before)
    if bit_width == 64:
        high = concatenation.slice_in_dim(flat, 0, size, axis=axis)
        flat = join_words(
            high, concatenation.slice_in_dim(flat, size, 2 * size, axis=axis)
        )
    elif bit_width < 32:
        flat = _cut_words(flat, bit_width, (*before, n_words))
        flat = concatenation.slice_in_dim(flat, 0, size, axis=axis)
    return shaping.reshape(flat, before + shape)


def _cut_words(words: Any, bit_width: int, shape: tuple[int, ...]) -> Any:
    """Words cut in pieces of `bit_width` bits, low ones first."""
    pieces = 32 // bit_width
    shifts = elementwise.mul(_iota(_U32, pieces), np.uint32(bit_width))
    wide = shaping.broadcast_in_dim(words, (*shape, pieces), tuple(range(len(shape))))
    shifts = shaping.broadcast(shifts, shape)
    cut = elementwise.convert(
        elementwise.shift_right_logical(wide, shifts), UINTS[bit_width]
    )
    return shaping.reshape(cut, (*shape[:-1], shape[-1] * pieces))


threefry2x32 = register(
    KeyImplementation(
        tag="fry",
        key_shape=(2,),
        name="threefry2x32",
        seed=threefry_seed,
        split=threefry_split,
        random_bits=threefry_random_bits,
        fold_in=threefry_fold_in,
    )
)

# -- XLA's generator -------------------------------------------------------------------


def _rbg_seed(seeds: Any) -> Any:
    """A Threefry key, twice."""
    words = threefry_seed(seeds)
    return concatenation.concatenate([words, words], avals.aval_of(words).ndim - 1)


def _as_pair(words: Any) -> Any:
    """The two Threefry keys of each key."""
    before = avals.aval_of(words).shape[:-1]
    return shaping.reshape(words, (*before, 2, 2))


def _rbg_split(words: Any, shape: tuple[int, ...]) -> Any:
    """Both Threefry keys are split alike."""
    before = avals.aval_of(words).shape[:-1]
    split = threefry_split(_as_pair(words), shape)
    n = len(before)
    axes = (*range(n), *range(n + 1, n + 1 + len(shape)), n, n + 1 + len(shape))
    return shaping.reshape(shaping.transpose(split, axes), (*before, *shape, 4))


def _rbg_fold_in(words: Any, data: Any) -> Any:
    pair = _as_pair(words)
    before = avals.aval_of(pair).shape[:-1]
    shape = avals.aval_of(data).shape
    if shape and len(before) == 1:  # one key, many integers
        pair = shaping.broadcast(pair, shape)
        before = (*shape, 2)
    data = shaping.broadcast_in_dim(data, before, tuple(range(len(shape))))
    return shaping.reshape(threefry_fold_in(pair, data), (*before[:-1], 4))


def _rbg_random_bits(words: Any, bit_width: int, shape: tuple[int, ...]) -> Any:
    """Many keys draw together, from the first."""
    before = avals.aval_of(words).shape[:-1]
    first = _first(words)
    _, bits = random_bits.rng_bit_generator(
        first, before + shape, dtypes.as_dtype(UINTS[bit_width])
    )
    return bits


def _first(words: Any) -> Any:
    for _ in range(avals.aval_of(words).ndim - 1):
        words = concatenation.index_in_dim(words, 0, keepdims=False)
    return words


rbg = register(
    KeyImplementation(
        tag="rbg",
        key_shape=(4,),
        name="rbg",
        seed=_rbg_seed,
        split=_rbg_split,
        random_bits=_rbg_random_bits,
        fold_in=_rbg_fold_in,
        couples_keys=True,
    )
)

# Each new key is this far from the next in the generator's stream.
_STRIDE = 10


def _unsafe_split(words: Any, shape: tuple[int, ...]) -> Any:
    before = avals.aval_of(words).shape[:-1]
    count = math.prod(shape)
    _, stream = random_bits.rng_bit_generator(
        _first(words), (*before, _STRIDE * count, 4), _U32
    )
    keys = concatenation.slice_in_dim(stream, 0, None, _STRIDE, axis=len(before))
    return shaping.reshape(keys, (*before, *shape, 4))


def _unsafe_fold_in(words: Any, data: Any) -> Any:
    before = avals.aval_of(words).shape[:-1]
    shape = avals.aval_of(data).shape
    seeds = _rbg_seed(data)
    _, stream = random_bits.rng_bit_generator(_first(seeds), (*shape, _STRIDE, 4), _U32)
    mask = concatenation.index_in_dim(
        stream, _STRIDE - 1, axis=len(shape), keepdims=False
    )
    if shape and not before:
        words = shaping.broadcast(words, shape)
    elif before and not shape:
        mask = shaping.broadcast(mask, before)
    return elementwise.bitwise_xor(words, mask)


unsafe_rbg = register(
    KeyImplementation(
        name="unsafe_rbg",
        tag="urbg",
        key_shape=(4,),
        seed=_rbg_seed,
        split=_unsafe_split,
        random_bits=_rbg_random_bits,
        fold_in=_unsafe_fold_in,
        couples_keys=True,
    )
)
