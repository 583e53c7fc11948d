"""Probability distributions, kernel density estimates, statistics of samples."""
