"""Vector quantization by SciPy's names."""

from olympus._src.foundation.late import claim as _claim
from olympus._src.scipy.between import vq

__all__ = ["vq"]

_claim(__name__)
