"""Signals with SciPy's names: convolution, trends, spectra.

Differs from SciPy: integers and Python numbers give float32 unless 64-bit dtypes are
switched on; arguments are arrays or numbers, not lists.
"""

import olympus as _olympus  # noqa: F401
from olympus._src.foundation.lazy_names import claim as _claim
from olympus._src.scipy.signal.convolution import (
    convolve,
    convolve2d,
    correlate,
    correlate2d,
    fftconvolve,
)
from olympus._src.scipy.signal.detrending import detrend
from olympus._src.scipy.signal.spectral import csd, istft, stft, welch

__all__ = [
    "convolve",
    "convolve2d",
    "correlate",
    "correlate2d",
    "csd",
    "detrend",
    "fftconvolve",
    "istft",
    "stft",
    "welch",
]

_claim(__name__)
