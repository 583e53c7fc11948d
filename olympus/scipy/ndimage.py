"""Images of any number of axes by SciPy's names."""

from olympus._src.scipy.between import map_coordinates

__all__ = ["map_coordinates"]
