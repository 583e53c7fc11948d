"""Saves trees of arrays in folders, and loads them onto any devices."""

import olympus as _olympus  # noqa: F401
from olympus._src.array_serialization.pytree_serialization import (
    load,
    load_pytreedef,
    nonblocking_load,
    nonblocking_save,
    save,
)
from olympus._src.foundation.lazy_names import claim as _claim

__all__ = ["load", "load_pytreedef", "nonblocking_load", "nonblocking_save", "save"]

_claim(__name__)
