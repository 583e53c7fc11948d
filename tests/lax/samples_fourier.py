"""Samples of Fourier transforms."""

from __future__ import annotations

from olympus._src.lax import fourier
from tests.lax.sampling import Sample, array, c64, f16, i32

S = Sample
FFT, IFFT, RFFT, IRFFT = fourier.FftType

SAMPLES = [
    S(
        fourier.fft_p,
        x,
        linear=(0,),
        slow=x.ndim != 1,
        fft_type=kind,
        fft_lengths=lengths,
    )
    for kind, x, lengths in [
        (RFFT, array((5,)), (5,)),
        (FFT, array((5,), c64), (5,)),
        (IFFT, array((2, 4), c64), (4,)),
        (RFFT, array((2, 4)), (4,)),
        (RFFT, array((2, 3, 4)), (3, 4)),
        (IRFFT, array((3,), c64), (4,)),
        (IRFFT, array((3,), c64), (5,)),
        (IRFFT, array((2, 3, 3), c64), (3, 4)),
        (IRFFT, array((1,), c64), (1,)),
        (IFFT, array((2, 2, 3), c64), (2, 2, 3)),
        (FFT, array((0, 3), c64), (3,)),
    ]
]

ERRORS = [
    ("fft", lambda: fourier.fft(array((4,), c64), "fft", (3,))),
    ("fft", lambda: fourier.fft(array((4,), c64), "dct", (4,))),
    ("fft", lambda: fourier.fft(array((4,), c64), 7, (4,))),
    ("fft", lambda: fourier.fft(array((4,), c64), "rfft", (4,))),
    ("fft", lambda: fourier.fft(array((4,), f16), "rfft", (4,))),
    ("fft", lambda: fourier.fft(array((4,), c64), "irfft", (4,))),
    ("fft", lambda: fourier.fft(array((2, 2, 2, 2), c64), "fft", (2, 2, 2, 2))),
    ("fft", lambda: fourier.fft(array((4,), i32), "fft", (2, 4))),
]
