"""The geometric distribution: `scipy.stats.geom`."""

from olympus._src.scipy.stats.geom import logpmf, pmf

__all__ = ["logpmf", "pmf"]
