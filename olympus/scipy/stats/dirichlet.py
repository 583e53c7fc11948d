"""The Dirichlet distribution: `scipy.stats.dirichlet`.

Differs from SciPy: vectors that do not add up to 1, and parameters that are not
positive, give a density of 0 and no error.
"""

import olympus as _olympus  # noqa: F401
from olympus._src.foundation.lazy_names import claim as _claim
from olympus._src.scipy.stats.dirichlet import logpdf, pdf

__all__ = ["logpdf", "pdf"]

_claim(__name__)
