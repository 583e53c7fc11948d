"""The types of `x.at` and `x.at[index]`."""

from olympus._src.numpy.at import IndexUpdateHelper as _IndexUpdateHelper
from olympus._src.numpy.at import IndexUpdateRef as _IndexUpdateRef

__all__ = ["_IndexUpdateHelper", "_IndexUpdateRef"]
