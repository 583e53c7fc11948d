"""Reductions over segments of an array."""

from olympus._src.foundation.late import claim as _claim
from olympus._src.numpy.segments import (
    segment_max,
    segment_min,
    segment_prod,
    segment_sum,
)

__all__ = ["segment_max", "segment_min", "segment_prod", "segment_sum"]

_claim(__name__)
