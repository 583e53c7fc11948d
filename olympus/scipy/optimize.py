"""Minimization by SciPy's names."""

from olympus._src.foundation.late import claim as _claim
from olympus._src.scipy.minimizing import OptimizeResults, minimize

__all__ = ["OptimizeResults", "minimize"]

_claim(__name__)
