"""The negative binomial distribution: `scipy.stats.nbinom`."""

from olympus._src.foundation.lazy_names import claim as _claim
from olympus._src.scipy.stats.nbinom import logpmf, pmf

__all__ = ["logpmf", "pmf"]

_claim(__name__)
