"""Rotations and interpolation between them, with SciPy's names."""

from olympus._src.foundation.lazy_names import claim as _claim
from olympus._src.scipy.rotation import Rotation, Slerp

__all__ = ["Rotation", "Slerp"]

_claim(__name__)
