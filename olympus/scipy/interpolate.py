"""Interpolation by SciPy's names."""

from olympus._src.foundation.late import claim as _claim
from olympus._src.scipy.between import RegularGridInterpolator

__all__ = ["RegularGridInterpolator"]

_claim(__name__)
