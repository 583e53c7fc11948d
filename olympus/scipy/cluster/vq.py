"""Vector quantization with SciPy's names."""

import olympus as _olympus  # noqa: F401
from olympus._src.foundation.lazy_names import claim as _claim
from olympus._src.scipy.interpolate import vq

__all__ = ["vq"]

_claim(__name__)
