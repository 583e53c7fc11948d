"""Kernels over blocks of arrays, as in JAX's Pallas, run as loops over refs."""
