"""Signals by SciPy's names: convolution, trends, spectra."""
