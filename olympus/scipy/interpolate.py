"""Interpolation by SciPy's names."""

from olympus._src.scipy.between import RegularGridInterpolator

__all__ = ["RegularGridInterpolator"]
