"""The normal distribution of vectors: `scipy.stats.multivariate_normal`."""

import olympus as _olympus  # noqa: F401
from olympus._src.foundation.lazy_names import claim as _claim
from olympus._src.scipy.stats.multivariate_normal import logpdf, pdf

__all__ = ["logpdf", "pdf"]

_claim(__name__)
