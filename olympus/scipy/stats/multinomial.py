"""The multinomial distribution: `scipy.stats.multinomial`.

Differs from SciPy: counts must be of an integer dtype; probabilities that do not add up
to 1 are taken as they are.
"""

import olympus as _olympus  # noqa: F401
from olympus._src.foundation.lazy_names import claim as _claim
from olympus._src.scipy.stats.multinomial import logpmf, pmf

__all__ = ["logpmf", "pmf"]

_claim(__name__)
