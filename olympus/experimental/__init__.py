"""Functions that may still change: callbacks with side effects."""

import olympus as _olympus  # noqa: F401
from olympus._src.callbacks.host_calls import io_callback
from olympus._src.foundation.lazy_names import claim as _claim
from olympus.experimental import compilation_cache

__all__ = ["compilation_cache", "io_callback"]

_claim(__name__)
