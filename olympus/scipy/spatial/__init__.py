"""Geometry with SciPy's names: `transform`."""

import olympus as _olympus  # noqa: F401
from olympus._src.foundation.lazy_names import claim as _claim
from olympus.scipy.spatial import transform

__all__ = ["transform"]

_claim(__name__)
