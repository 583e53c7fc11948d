"""Kernels: what `olympus.experimental.pallas` has, and modules that are names alone."""
