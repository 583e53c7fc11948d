"""Samples of special functions and of random bits."""

from __future__ import annotations

import numpy as np

from olympus._src.lax import bessel, random_bits, special
from tests.lax.sampling import Sample, array, b1, bf16, f16, f32, i32, u8, u32

S = Sample

SAMPLES = [
    *(
        S(getattr(special, f"{name}_p"), array((3, 4), kind, low=low, high=high),
          tolerance=tolerance)
        for name, low, high in [
            ("erf", -2, 2), ("erfc", -2, 2), ("erf_inv", -0.9, 0.9),
            ("lgamma", 0.2, 5), ("digamma", 0.2, 5),
        ]
        for kind, tolerance in [(f32, 1e-4), (bf16, None), (f16, None)]
    ),
    S(special.lgamma_p, np.array([-1.5, -1, 0, np.inf], f32), smooth=False,
      tolerance=1e-4),
    *(
        S(p, array((3, 4), kind, low=-12, high=12))
        for p in (bessel.bessel_i0e_p, bessel.bessel_i1e_p)
        for kind in (f32, bf16)
    ),
    *(
        S(p, array((3, 4), kind, low=-6, high=6))
        for p in (bessel.bessel_i0_p, bessel.bessel_i1_p)
        for kind in (f32, bf16)
    ),
    S(special.logaddexp_p, array((2, 3)), array((2, 3), seed=1)),
    S(special.logaddexp_p, np.array([1, np.inf, -np.inf, np.inf, np.nan], f32),
      np.array([1, 2, -np.inf, -np.inf, 0], f32), smooth=False),
    S(special.logaddexp2_p, array((2, 3)), array((2, 3), seed=1)),
    S(special.zeta_p, np.full((3,), 2.5, f32), array((3,), low=1, high=3),
      smooth=False),
    S(special.polygamma_p, np.full((3,), 2, f32), array((3,), low=1, high=3),
      smooth=False),
    S(random_bits.threefry2x32_p, *[array((5,), u32, high=9, seed=i) for i in range(4)],
      loop=False),
    S(random_bits.rng_bit_generator_p, np.arange(4, dtype=u32), shape=(3, 2),
      dtype=u32, algorithm=random_bits.RandomAlgorithm.RNG_DEFAULT, out_sharding=None,
      loop=False),
    S(random_bits.rng_bit_generator_p, np.arange(4, dtype=u32), shape=(3,),
      dtype=u8, algorithm=random_bits.RandomAlgorithm.RNG_PHILOX, out_sharding=None,
      loop=False),
]  # fmt: skip

x = array((3,))

ERRORS = [
    *(
        (name, lambda name=name: getattr(special, name)(x > 0))
        for name in ("erf", "erfc", "erf_inv", "lgamma", "digamma")
    ),
    ("bessel_i0e", lambda: bessel.bessel_i0e(x > 0)),
    ("bessel_i1e", lambda: bessel.bessel_i1e(x > 0)),
    ("zeta", lambda: special.zeta(x, array((2,)))),
    ("polygamma", lambda: special.polygamma(x, array((2,)))),
    ("rng_bit_generator", lambda: random_bits.rng_bit_generator(x, (2,))),
    ("rng_uniform", lambda: random_bits.rng_uniform(0.0, 1, (2,))),
    ("rng_uniform", lambda: random_bits.rng_uniform(x, x, (2,))),
    ("rng_uniform", lambda: random_bits.rng_uniform(0.0, 1.0, (-2,))),
    ("rng_uniform", lambda: random_bits.rng_uniform(True, False, (2,))),
    ("rng_bit_generator",
     lambda: random_bits.rng_bit_generator(np.arange(4, dtype=u32), (2,), i32)),
    ("threefry2x32", lambda: random_bits.threefry2x32_p.bind(x, x, x, x)),
    ("erf", lambda: special.erf(np.array([True], b1))),
]  # fmt: skip
