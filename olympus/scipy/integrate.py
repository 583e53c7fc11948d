"""Integrals of samples by SciPy's names."""

from olympus._src.numpy.scans import trapezoid

__all__ = ["trapezoid"]
