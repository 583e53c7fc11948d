"""Attributes of operations that the compiler and its tools read."""

import olympus as _olympus  # noqa: F401
from olympus._src.api.xla_metadata import (
    fuse_limit,
    must_fuse_call,
    set_xla_metadata,
    xla_metadata_call,
    xla_metadata_call2,
)
from olympus._src.foundation.lazy_names import claim as _claim

__all__ = [
    "fuse_limit",
    "must_fuse_call",
    "set_xla_metadata",
    "xla_metadata_call",
    "xla_metadata_call2",
]

_claim(__name__)
