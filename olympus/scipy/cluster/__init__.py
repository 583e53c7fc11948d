"""Clustering by SciPy's names: `vq`."""

from olympus.scipy.cluster import vq

__all__ = ["vq"]
