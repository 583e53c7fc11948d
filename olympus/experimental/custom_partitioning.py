"""Functions that the user divides over the devices of a mesh."""

import olympus as _olympus  # noqa: F401
from olympus._src.api.custom_partitioning import custom_partitioning
from olympus._src.calls.custom_partitioning import custom_partitioning_p
from olympus._src.foundation.lazy_names import claim as _claim
from olympus._src.sharding.factor_rules import (
    BATCHING,
    ArrayMapping,
    CompoundFactor,
    SdyShardingRule,
)

__all__ = [
    "BATCHING",
    "ArrayMapping",
    "CompoundFactor",
    "SdyShardingRule",
    "custom_partitioning",
    "custom_partitioning_p",
]

_claim(__name__)
