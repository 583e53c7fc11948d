"""The von Mises distribution on the circle: `scipy.stats.vonmises`.

Differs from SciPy: there are no `loc` and `scale`.
"""

import olympus as _olympus  # noqa: F401
from olympus._src.foundation.lazy_names import claim as _claim
from olympus._src.scipy.stats.vonmises import logpdf, pdf

__all__ = ["logpdf", "pdf"]

_claim(__name__)
