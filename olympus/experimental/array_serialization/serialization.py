"""Saves arrays one by one in the background."""

import olympus as _olympus  # noqa: F401
from olympus._src.array_serialization.checkpoint_managers import (
    GlobalAsyncCheckpointManager,
    GlobalAsyncCheckpointManagerBase,
    get_tensorstore_spec,
    run_deserialization,
    run_serialization,
)
from olympus._src.foundation.lazy_names import claim as _claim

__all__ = [
    "GlobalAsyncCheckpointManager",
    "GlobalAsyncCheckpointManagerBase",
    "get_tensorstore_spec",
    "run_deserialization",
    "run_serialization",
]

_claim(__name__)
