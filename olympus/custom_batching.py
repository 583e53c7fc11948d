"""Functions with custom batching rules."""

import olympus as _olympus  # noqa: F401
from olympus._src.api.custom_vmap import custom_vmap as custom_vmap
from olympus._src.api.custom_vmap import sequential_vmap as sequential_vmap
from olympus._src.foundation.lazy_names import claim as _claim

__all__ = ["custom_vmap", "sequential_vmap"]

_claim(__name__)
