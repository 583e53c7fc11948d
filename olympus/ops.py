"""Reductions over segments of an array."""

import olympus as _olympus  # noqa: F401
from olympus._src.foundation.lazy_names import claim as _claim
from olympus._src.numpy.segment_reductions import (
    segment_max,
    segment_min,
    segment_prod,
    segment_sum,
)

__all__ = ["segment_max", "segment_min", "segment_prod", "segment_sum"]

_claim(__name__)
