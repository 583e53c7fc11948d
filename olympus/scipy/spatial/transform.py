"""Rotations and interpolation between them, with SciPy's names."""

import olympus as _olympus  # noqa: F401
from olympus._src.foundation.lazy_names import claim as _claim
from olympus._src.scipy.rotation import Rotation, Slerp

__all__ = ["Rotation", "Slerp"]

_claim(__name__)
