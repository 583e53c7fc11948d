"""Values that all processes of a program exchange or compare."""

import olympus as _olympus  # noqa: F401
from olympus._src.api.multihost_utils import (
    assert_equal,
    broadcast_one_to_all,
    global_array_to_host_local_array,
    host_local_array_to_global_array,
    live_devices,
    process_allgather,
    reached_preemption_sync_point,
    sync_global_devices,
)
from olympus._src.foundation.errors import ProcessFailureError
from olympus._src.foundation.lazy_names import claim as _claim

__all__ = [
    "ProcessFailureError",
    "assert_equal",
    "broadcast_one_to_all",
    "global_array_to_host_local_array",
    "host_local_array_to_global_array",
    "live_devices",
    "process_allgather",
    "reached_preemption_sync_point",
    "sync_global_devices",
]

_claim(__name__)
