"""Student's t distribution: `scipy.stats.t`."""

import olympus as _olympus  # noqa: F401
from olympus._src.foundation.lazy_names import claim as _claim
from olympus._src.scipy.stats.t import logpdf, pdf

__all__ = ["logpdf", "pdf"]

_claim(__name__)
