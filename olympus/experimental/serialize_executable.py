"""Compiled functions as bytes, for other processes on the same kind of machine."""

import olympus as _olympus  # noqa: F401
from olympus._src.export.executables import deserialize_and_load, serialize
from olympus._src.foundation.lazy_names import claim as _claim

__all__ = ["deserialize_and_load", "serialize"]

_claim(__name__)
