"""Discrete Fourier transforms, their frequencies, and shifts of these."""

from typing import TYPE_CHECKING as _TYPE_CHECKING

import olympus as _olympus  # noqa: F401
from olympus._src.foundation.lazy_names import Late as _Late
from olympus._src.foundation.lazy_names import claim as _claim

if _TYPE_CHECKING:
    from olympus._src.numpy.fourier import (
        fft,
        fft2,
        fftfreq,
        fftn,
        fftshift,
        hfft,
        ifft,
        ifft2,
        ifftn,
        ifftshift,
        ihfft,
        irfft,
        irfft2,
        irfftn,
        rfft,
        rfft2,
        rfftfreq,
        rfftn,
    )

__all__ = [
    "fft",
    "fft2",
    "fftfreq",
    "fftn",
    "fftshift",
    "hfft",
    "ifft",
    "ifft2",
    "ifftn",
    "ifftshift",
    "ihfft",
    "irfft",
    "irfft2",
    "irfftn",
    "rfft",
    "rfft2",
    "rfftfreq",
    "rfftn",
]

# Loaded at their first use, by the file they come from.
_LATE = {
    "numpy.fourier": (
        "fft fft2 fftfreq fftn fftshift hfft ifft ifft2 ifftn ifftshift ihfft "
        "irfft irfft2 irfftn rfft rfft2 rfftfreq rfftn"
    ),
}

_late = _Late(__name__, (), _LATE)

_claim(__name__)
