"""The Cauchy distribution wrapped around the circle: `scipy.stats.wrapcauchy`."""

from olympus._src.scipy.stats.wrapcauchy import logpdf, pdf

__all__ = ["logpdf", "pdf"]
