"""Clustering with SciPy's names: `vq`."""

import olympus as _olympus  # noqa: F401
from olympus._src.foundation.lazy_names import claim as _claim
from olympus.scipy.cluster import vq

__all__ = ["vq"]

_claim(__name__)
