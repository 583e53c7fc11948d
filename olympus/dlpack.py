"""Exchange of arrays with other libraries, without a copy."""

import olympus as _olympus  # noqa: F401
from olympus._src.foundation.lazy_names import claim as _claim
from olympus._src.numpy.dlpack import import_array as from_dlpack
from olympus._src.numpy.dlpack import is_supported_dtype

__all__ = ["from_dlpack", "is_supported_dtype"]

_claim(__name__)
