"""Minimization by SciPy's names."""

from olympus._src.scipy.minimizing import OptimizeResults, minimize

__all__ = ["OptimizeResults", "minimize"]
