"""Geometry by SciPy's names: `transform`."""

from olympus.scipy.spatial import transform

__all__ = ["transform"]
