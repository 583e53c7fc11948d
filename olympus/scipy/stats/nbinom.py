"""The negative binomial distribution: `scipy.stats.nbinom`."""

from olympus._src.scipy.stats.nbinom import logpmf, pmf

__all__ = ["logpmf", "pmf"]
