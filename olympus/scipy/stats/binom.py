"""The binomial distribution: `scipy.stats.binom`.

Differs from SciPy: the number of trials need not be an integer.
"""

import olympus as _olympus  # noqa: F401
from olympus._src.foundation.lazy_names import claim as _claim
from olympus._src.scipy.stats.binom import logpmf, pmf

__all__ = ["logpmf", "pmf"]

_claim(__name__)
