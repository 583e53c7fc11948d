"""Source maps of lowered and compiled programs."""

import olympus as _olympus  # noqa: F401
from olympus._src.api.source_mapper import (
    optimized_generate_dump,
    original_hlo_generate_dump,
    stable_hlo_generate_dump,
    trace_and_lower,
)
from olympus._src.foundation.lazy_names import claim as _claim
from olympus._src.lowering.source_maps import parse_hlo_dump

__all__ = [
    "optimized_generate_dump",
    "original_hlo_generate_dump",
    "parse_hlo_dump",
    "stable_hlo_generate_dump",
    "trace_and_lower",
]

_claim(__name__)
