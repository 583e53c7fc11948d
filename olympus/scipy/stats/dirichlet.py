"""The Dirichlet distribution: `scipy.stats.dirichlet`."""

from olympus._src.scipy.stats.dirichlet import logpdf, pdf

__all__ = ["logpdf", "pdf"]
