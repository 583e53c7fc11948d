"""Interpolation with SciPy's names."""

import olympus as _olympus  # noqa: F401
from olympus._src.foundation.lazy_names import claim as _claim
from olympus._src.scipy.interpolate import RegularGridInterpolator

__all__ = ["RegularGridInterpolator"]

_claim(__name__)
