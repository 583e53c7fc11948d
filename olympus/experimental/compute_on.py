"""Functions that a part of the machine computes."""

import olympus as _olympus  # noqa: F401
from olympus._src.api.compute_on import compute_on
from olympus._src.foundation.lazy_names import claim as _claim

__all__ = ["compute_on"]

_claim(__name__)
