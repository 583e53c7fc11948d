"""Vector quantization by SciPy's names."""

from olympus._src.scipy.between import vq

__all__ = ["vq"]
