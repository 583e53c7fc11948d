"""The von Mises distribution on the circle: `scipy.stats.vonmises`."""

from olympus._src.scipy.stats.vonmises import logpdf, pdf

__all__ = ["logpdf", "pdf"]
