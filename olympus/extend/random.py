"""Generators of random bits, for libraries that define their own."""

import olympus as _olympus  # noqa: F401
from olympus._src.foundation.lazy_names import claim as _claim
from olympus._src.lax.random_bits import threefry2x32_p
from olympus._src.random.counter_generators import threefry_2x32
from olympus._src.random.defined_generators import (
    define_prng_impl,
    random_seed,
    seed_with_impl,
)
from olympus._src.random.generators import rbg as rbg_prng_impl
from olympus._src.random.generators import threefry2x32 as threefry_prng_impl
from olympus._src.random.generators import unsafe_rbg as unsafe_rbg_prng_impl

__all__ = [
    "define_prng_impl",
    "random_seed",
    "rbg_prng_impl",
    "seed_with_impl",
    "threefry2x32_p",
    "threefry_2x32",
    "threefry_prng_impl",
    "unsafe_rbg_prng_impl",
]

_claim(__name__)
