"""Random numbers from explicit keys.

A key is a value. The same key gives the same numbers, in or out of `jit` and `vmap`;
`split` and `fold_in` make new independent keys from one.
"""

from olympus._src.random.continuous import (
    cauchy,
    double_sided_maxwell,
    exponential,
    gumbel,
    laplace,
    logistic,
    lognormal,
    maxwell,
    normal,
    pareto,
    rayleigh,
    triangular,
    truncated_normal,
    wald,
    weibull_min,
)
from olympus._src.random.keys import (
    PRNGKey,
    clone,
    fold_in,
    key,
    key_data,
    key_dtype,
    key_impl,
    split,
    wrap_key_data,
)
from olympus._src.random.uniform import (
    bernoulli,
    bits,
    rademacher,
    randint,
    uniform,
)

__all__ = [
    "PRNGKey",
    "bernoulli",
    "bits",
    "cauchy",
    "clone",
    "double_sided_maxwell",
    "exponential",
    "fold_in",
    "gumbel",
    "key",
    "key_data",
    "key_dtype",
    "key_impl",
    "laplace",
    "logistic",
    "lognormal",
    "maxwell",
    "normal",
    "pareto",
    "rademacher",
    "randint",
    "rayleigh",
    "split",
    "triangular",
    "truncated_normal",
    "uniform",
    "wald",
    "weibull_min",
    "wrap_key_data",
]
