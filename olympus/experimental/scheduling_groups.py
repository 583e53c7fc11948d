"""Groups of operations that the compiler runs one after another."""

import olympus as _olympus  # noqa: F401
from olympus._src.api.xla_metadata import scheduling_group, xla_metadata_call
from olympus._src.foundation.lazy_names import claim as _claim

__all__ = ["scheduling_group", "xla_metadata_call"]

_claim(__name__)
