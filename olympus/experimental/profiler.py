"""Profiles as XLA reads them to optimise by them."""

import olympus as _olympus  # noqa: F401
from olympus._src.api.profiler import get_profiled_instructions_proto
from olympus._src.foundation.lazy_names import claim as _claim

__all__ = ["get_profiled_instructions_proto"]

_claim(__name__)
