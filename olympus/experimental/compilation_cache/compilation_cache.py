"""The folder of the cache of compiled programs; see also the settings."""

import olympus as _olympus  # noqa: F401
from olympus._src.api.compilation_cache import reset_cache, set_cache_dir
from olympus._src.foundation.lazy_names import claim as _claim

__all__ = ["reset_cache", "set_cache_dir"]

_claim(__name__)
