"""Samples of factorizations of matrices."""

from __future__ import annotations

import numpy as np

from olympus._src.lax import linalg
from tests.lax.sampling import Sample, array, c64, f32, i32

S = Sample


def definite(shape, dtype=f32):
    """Hermitian, positive definite matrices."""
    x = array(shape, dtype)
    return x @ np.conj(x.swapaxes(-1, -2)) + 2 * np.eye(shape[-1], dtype=dtype)


SAMPLES = [
    *(
        S(linalg.cholesky_p, definite(shape), smooth=False)
        for shape in [(3, 3), (2, 4, 4)]
    ),
    S(linalg.cholesky_p, definite((3, 3), c64), smooth=False),
    S(linalg.cholesky_p, array((0, 0)), smooth=False),
    *(
        S(linalg.qr_p, array(shape, kind), full_matrices=full, smooth=False)
        for shape in [(4, 3), (3, 5), (2, 3, 3)]
        for kind in (f32, c64)
        for full in (False, True)
    ),
]

ERRORS = [
    ("cholesky", lambda: linalg.cholesky(array((2, 3)))),
    ("cholesky", lambda: linalg.cholesky(array((3,)))),
    ("cholesky", lambda: linalg.cholesky(array((2, 2), i32))),
    ("qr", lambda: linalg.qr(array((3,)))),
    ("qr", lambda: linalg.qr(array((3, 3), i32))),
]
