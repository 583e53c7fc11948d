"""Geometry by SciPy's names: `transform`."""

from olympus._src.foundation.late import claim as _claim
from olympus.scipy.spatial import transform

__all__ = ["transform"]

_claim(__name__)
