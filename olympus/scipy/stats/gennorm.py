"""The generalized normal distribution: `scipy.stats.gennorm`."""

from olympus._src.scipy.stats.gennorm import cdf, logpdf, pdf

__all__ = ["cdf", "logpdf", "pdf"]
