"""Integrals of samples by SciPy's names.

Differs from SciPy: the trapezoidal rule is here; arguments are arrays, not lists.
"""

from olympus._src.foundation.late import claim as _claim
from olympus._src.numpy.scans import trapezoid

__all__ = ["trapezoid"]

_claim(__name__)
