"""The normal distribution: `scipy.stats.norm`.

Differs from SciPy: a negative scale is not an error: `logpdf` and `pdf` use its
magnitude.
"""

import olympus as _olympus  # noqa: F401
from olympus._src.foundation.lazy_names import claim as _claim
from olympus._src.scipy.stats.norm import cdf, isf, logcdf, logpdf, logsf, pdf, ppf, sf

__all__ = ["cdf", "isf", "logcdf", "logpdf", "logsf", "pdf", "ppf", "sf"]

_claim(__name__)
