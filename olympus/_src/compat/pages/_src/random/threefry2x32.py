"""The threefry generator, on keys as words."""

from olympus._src.lax.random_bits import threefry2x32_p as threefry2x32_p
from olympus._src.random.counter_generators import threefry_2x32 as threefry_2x32
from olympus._src.random.generators import threefry2x32 as threefry_prng_impl
from olympus._src.random.generators import threefry_fold_in as threefry_fold_in
from olympus._src.random.generators import threefry_random_bits as threefry_random_bits
from olympus._src.random.generators import threefry_seed as threefry_seed
from olympus._src.random.generators import threefry_split as threefry_split

__all__ = [
    "threefry2x32_p",
    "threefry_2x32",
    "threefry_fold_in",
    "threefry_prng_impl",
    "threefry_random_bits",
    "threefry_seed",
    "threefry_split",
]
