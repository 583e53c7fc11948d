"""Probability distributions, one module for each, and statistics of samples.

Differs from SciPy: a distribution is a module of functions: there are no frozen
distributions, moments or fits, and samples come from `olympus.random`; integers and
Python numbers give float32 unless 64-bit dtypes are switched on; arguments are arrays
or numbers, not lists; complex numbers are refused.
"""

from olympus._src.foundation.lazy_names import claim as _claim
from olympus._src.scipy.stats.kde import gaussian_kde
from olympus._src.scipy.stats.summaries import mode, rankdata, sem
from olympus.scipy.stats import (
    bernoulli,
    beta,
    betabinom,
    binom,
    cauchy,
    chi2,
    dirichlet,
    expon,
    gamma,
    gennorm,
    geom,
    gumbel_l,
    gumbel_r,
    laplace,
    logistic,
    multinomial,
    multivariate_normal,
    nbinom,
    norm,
    pareto,
    poisson,
    t,
    truncnorm,
    uniform,
    vonmises,
    wrapcauchy,
)

__all__ = [
    "bernoulli",
    "beta",
    "betabinom",
    "binom",
    "cauchy",
    "chi2",
    "dirichlet",
    "expon",
    "gamma",
    "gaussian_kde",
    "gennorm",
    "geom",
    "gumbel_l",
    "gumbel_r",
    "laplace",
    "logistic",
    "mode",
    "multinomial",
    "multivariate_normal",
    "nbinom",
    "norm",
    "pareto",
    "poisson",
    "rankdata",
    "sem",
    "t",
    "truncnorm",
    "uniform",
    "vonmises",
    "wrapcauchy",
]

_claim(__name__)
