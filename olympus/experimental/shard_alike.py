"""Values that the compiler divides over a mesh in one way."""

import olympus as _olympus  # noqa: F401
from olympus._src.foundation.lazy_names import claim as _claim
from olympus._src.lax.sharding_groups import shard_alike

__all__ = ["shard_alike"]

_claim(__name__)
