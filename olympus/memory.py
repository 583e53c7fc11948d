"""Memory spaces of devices."""

import olympus as _olympus  # noqa: F401
from olympus._src.foundation.lazy_names import claim as _claim
from olympus._src.sharding.memory_spaces import Space

__all__ = ["Space"]

_claim(__name__)
