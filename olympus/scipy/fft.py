"""Discrete cosine transforms by SciPy's names."""

from olympus._src.scipy.cosines import dct, dctn, idct, idctn

__all__ = ["dct", "dctn", "idct", "idctn"]
