"""Kernels in Pallas, a language that olympus does not have: names alone."""
