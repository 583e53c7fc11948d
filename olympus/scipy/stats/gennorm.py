"""The generalized normal distribution: `scipy.stats.gennorm`.

Differs from SciPy: there are no `loc` and `scale`.
"""

import olympus as _olympus  # noqa: F401
from olympus._src.foundation.lazy_names import claim as _claim
from olympus._src.scipy.stats.gennorm import cdf, logpdf, pdf

__all__ = ["cdf", "logpdf", "pdf"]

_claim(__name__)
