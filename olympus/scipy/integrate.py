"""Integrals of samples with SciPy's names.

Differs from SciPy: the trapezoidal rule is here; arguments are arrays, not lists.
"""

import olympus as _olympus  # noqa: F401
from olympus._src.foundation.lazy_names import claim as _claim
from olympus._src.numpy.cumulative_sums import trapezoid

__all__ = ["trapezoid"]

_claim(__name__)
