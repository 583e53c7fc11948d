"""The Poisson distribution: `scipy.stats.poisson`."""

from olympus._src.scipy.stats.poisson import cdf, entropy, logpmf, pmf

__all__ = ["cdf", "entropy", "logpmf", "pmf"]
