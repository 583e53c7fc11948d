"""Random numbers from explicit keys.

A key is a value. The same key gives the same numbers, in or out of `jit` and `vmap`;
`split` and `fold_in` make new independent keys from one.
"""

from typing import TYPE_CHECKING as _TYPE_CHECKING

import olympus as _olympus  # noqa: F401
from olympus._src.foundation.lazy_names import Late as _Late
from olympus._src.foundation.lazy_names import claim as _claim
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
from olympus._src.random.uniform import (
    bernoulli,
    bits,
    rademacher,
    randint,
    uniform,
)

if _TYPE_CHECKING:
    from olympus._src.random.choice import categorical as categorical
    from olympus._src.random.choice import choice as choice
    from olympus._src.random.choice import permutation as permutation
    from olympus._src.random.discrete import binomial as binomial
    from olympus._src.random.discrete import geometric as geometric
    from olympus._src.random.discrete import multinomial as multinomial
    from olympus._src.random.discrete import poisson as poisson
    from olympus._src.random.gamma import beta as beta
    from olympus._src.random.gamma import chisquare as chisquare
    from olympus._src.random.gamma import dirichlet as dirichlet
    from olympus._src.random.gamma import f as f
    from olympus._src.random.gamma import gamma as gamma
    from olympus._src.random.gamma import generalized_normal as generalized_normal
    from olympus._src.random.gamma import loggamma as loggamma
    from olympus._src.random.gamma import random_gamma_p as random_gamma_p
    from olympus._src.random.gamma import t as t
    from olympus._src.random.multivariate import ball as ball
    from olympus._src.random.multivariate import (
        multivariate_normal as multivariate_normal,
    )
    from olympus._src.random.multivariate import orthogonal as orthogonal

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

# Names that few programs use, by the file they come from.
_LATE = {
    "random.choice": "categorical choice permutation",
    "random.discrete": "binomial geometric multinomial poisson",
    "random.gamma": (
        "beta chisquare dirichlet f gamma generalized_normal loggamma random_gamma_p t"
    ),
    "random.multivariate": "ball multivariate_normal orthogonal",
}

_late = _Late(__name__, (), _LATE)

_claim(__name__)
