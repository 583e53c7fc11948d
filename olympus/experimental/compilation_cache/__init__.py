"""The cache of compiled programs on disk; see its module `compilation_cache`."""

import olympus as _olympus  # noqa: F401
from olympus._src.foundation.lazy_names import claim as _claim
from olympus.experimental.compilation_cache import compilation_cache

__all__ = ["compilation_cache"]

_claim(__name__)
