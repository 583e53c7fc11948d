"""The multinomial distribution: `scipy.stats.multinomial`."""

from olympus._src.scipy.stats.multinomial import logpmf, pmf

__all__ = ["logpmf", "pmf"]
