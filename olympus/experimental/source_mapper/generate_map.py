"""Source maps of functions."""

import olympus as _olympus  # noqa: F401
from olympus._src.api.source_mapper import generate_sourcemaps
from olympus._src.foundation.lazy_names import claim as _claim

__all__ = ["generate_sourcemaps"]

_claim(__name__)
