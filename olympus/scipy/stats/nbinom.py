"""The negative binomial distribution: `scipy.stats.nbinom`."""

import olympus as _olympus  # noqa: F401
from olympus._src.foundation.lazy_names import claim as _claim
from olympus._src.scipy.stats.nbinom import logpmf, pmf

__all__ = ["logpmf", "pmf"]

_claim(__name__)
