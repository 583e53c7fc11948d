"""The binomial distribution: `scipy.stats.binom`."""

from olympus._src.scipy.stats.binom import logpmf, pmf

__all__ = ["logpmf", "pmf"]
