"""Discrete cosine transforms with SciPy's names.

Differs from SciPy: the cosine transforms are here, of type 2 alone; the Fourier
transforms are `olympus.numpy.fft`; there are no `overwrite_x`, `workers` and
`orthogonalize`.
"""

import olympus as _olympus  # noqa: F401
from olympus._src.foundation.lazy_names import claim as _claim
from olympus._src.scipy.cosine_transforms import dct, dctn, idct, idctn

__all__ = ["dct", "dctn", "idct", "idctn"]

_claim(__name__)
