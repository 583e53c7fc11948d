"""The binomial distribution: `scipy.stats.binom`.

Differs from SciPy: numbers of trials that are not whole are taken.
"""

from olympus._src.foundation.lazy_names import claim as _claim
from olympus._src.scipy.stats.binom import logpmf, pmf

__all__ = ["logpmf", "pmf"]

_claim(__name__)
