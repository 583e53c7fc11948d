"""Images of any number of axes by SciPy's names."""

from olympus._src.foundation.lazy_names import claim as _claim
from olympus._src.scipy.interpolate import map_coordinates

__all__ = ["map_coordinates"]

_claim(__name__)
