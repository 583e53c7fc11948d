"""Random numbers from explicit keys.

A key is a value. The same key gives the same numbers, in or out of `jit` and `vmap`;
`split` and `fold_in` make new independent keys from one.
"""

from olympus._src.foundation.lazy_names import claim as _claim
from olympus._src.random.choice import categorical, choice, permutation
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
from olympus._src.random.discrete import (
    binomial,
    geometric,
    multinomial,
    poisson,
)
from olympus._src.random.gamma import (
    beta,
    chisquare,
    dirichlet,
    f,
    gamma,
    generalized_normal,
    loggamma,
    random_gamma_p,
    t,
)
from olympus._src.random.keys import (
    Key,
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
from olympus._src.random.multivariate import (
    ball,
    multivariate_normal,
    orthogonal,
)
from olympus._src.random.uniform import (
    bernoulli,
    bits,
    rademacher,
    randint,
    uniform,
)

__all__ = [
    "Key",
    "PRNGKey",
    "ball",
    "bernoulli",
    "beta",
    "binomial",
    "bits",
    "categorical",
    "cauchy",
    "chisquare",
    "choice",
    "clone",
    "dirichlet",
    "double_sided_maxwell",
    "exponential",
    "f",
    "fold_in",
    "gamma",
    "generalized_normal",
    "geometric",
    "gumbel",
    "key",
    "key_data",
    "key_dtype",
    "key_impl",
    "laplace",
    "loggamma",
    "logistic",
    "lognormal",
    "maxwell",
    "multinomial",
    "multivariate_normal",
    "normal",
    "orthogonal",
    "pareto",
    "permutation",
    "poisson",
    "rademacher",
    "randint",
    "random_gamma_p",
    "rayleigh",
    "split",
    "t",
    "triangular",
    "truncated_normal",
    "uniform",
    "wald",
    "weibull_min",
    "wrap_key_data",
]

_claim(__name__)
