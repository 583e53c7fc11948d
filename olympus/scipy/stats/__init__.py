"""Probability distributions, one module for each, and statistics of samples.

Differs from SciPy: a distribution is a module of functions: there are no frozen
distributions, moments or fits, and samples come from `olympus.random`; integers and
Python numbers give float32 unless 64-bit dtypes are switched on; arguments are arrays
or numbers, not lists; complex numbers are refused.
"""

from typing import TYPE_CHECKING as _TYPE_CHECKING

import olympus as _olympus  # noqa: F401
from olympus._src.foundation.lazy_names import Late as _Late

if _TYPE_CHECKING:
    from olympus._src.scipy.stats.kde import gaussian_kde as gaussian_kde
    from olympus._src.scipy.stats.summaries import mode as mode
    from olympus._src.scipy.stats.summaries import rankdata as rankdata
    from olympus._src.scipy.stats.summaries import sem as sem
    from olympus.scipy.stats import bernoulli as bernoulli
    from olympus.scipy.stats import beta as beta
    from olympus.scipy.stats import betabinom as betabinom
    from olympus.scipy.stats import binom as binom
    from olympus.scipy.stats import cauchy as cauchy
    from olympus.scipy.stats import chi2 as chi2
    from olympus.scipy.stats import dirichlet as dirichlet
    from olympus.scipy.stats import expon as expon
    from olympus.scipy.stats import gamma as gamma
    from olympus.scipy.stats import gennorm as gennorm
    from olympus.scipy.stats import geom as geom
    from olympus.scipy.stats import gumbel_l as gumbel_l
    from olympus.scipy.stats import gumbel_r as gumbel_r
    from olympus.scipy.stats import laplace as laplace
    from olympus.scipy.stats import logistic as logistic
    from olympus.scipy.stats import multinomial as multinomial
    from olympus.scipy.stats import multivariate_normal as multivariate_normal
    from olympus.scipy.stats import nbinom as nbinom
    from olympus.scipy.stats import norm as norm
    from olympus.scipy.stats import pareto as pareto
    from olympus.scipy.stats import poisson as poisson
    from olympus.scipy.stats import t as t
    from olympus.scipy.stats import truncnorm as truncnorm
    from olympus.scipy.stats import uniform as uniform
    from olympus.scipy.stats import vonmises as vonmises
    from olympus.scipy.stats import wrapcauchy as wrapcauchy

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

_LATE = {
    "scipy.stats.kde": "gaussian_kde",
    "scipy.stats.summaries": "mode rankdata sem",
}

# Each distribution is a module of its own; the other names are functions.
_PAGES = frozenset(__all__).difference(*map(str.split, _LATE.values()))

_late = _Late(__name__, _PAGES, _LATE)
