"""Python functions that work on the memory of arrays."""

import olympus as _olympus  # noqa: F401
from olympus._src.api.foreign_functions import (
    Buffer,
    ExecutionContext,
    ExecutionStage,
)
from olympus._src.callbacks.buffer_callbacks import buffer_callback
from olympus._src.foundation.lazy_names import claim as _claim

__all__ = ["Buffer", "ExecutionContext", "ExecutionStage", "buffer_callback"]

_claim(__name__)
