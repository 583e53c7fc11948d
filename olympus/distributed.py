"""Programs over several processes: start and end."""

import olympus as _olympus  # noqa: F401
from olympus._src.api.distributed import initialize, is_initialized, shutdown
from olympus._src.foundation.lazy_names import claim as _claim

__all__ = ["initialize", "is_initialized", "shutdown"]

_claim(__name__)
