"""Clustering with SciPy's names: `vq`."""

from olympus._src.foundation.lazy_names import claim as _claim
from olympus.scipy.cluster import vq

__all__ = ["vq"]

_claim(__name__)
