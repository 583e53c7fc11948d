"""Linear operators without a dense matrix, with SciPy's names: `linalg`."""

import olympus as _olympus  # noqa: F401
from olympus._src.foundation.lazy_names import claim as _claim
from olympus.scipy.sparse import linalg

__all__ = ["linalg"]

_claim(__name__)
