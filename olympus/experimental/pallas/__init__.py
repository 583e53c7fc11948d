"""Kernels over blocks of arrays, as in JAX's Pallas.

A kernel reads refs of blocks and writes refs of blocks; `pallas_call` runs it over a
grid. On all platforms that is a loop of XLA's.
"""

import olympus as _olympus  # noqa: F401
from olympus._src.foundation.lazy_names import claim as _claim
from olympus._src.numpy.index_parsing import DynamicSlice as Slice
from olympus._src.pallas.accelerators import (
    semaphore_read,
    semaphore_signal,
    semaphore_wait,
)
from olympus._src.pallas.calls import pallas_call
from olympus._src.pallas.costs import estimate_cost
from olympus._src.pallas.grid import num_programs, program_id
from olympus._src.pallas.kernel_functions import (
    align_to,
    broadcast_to,
    cdiv,
    debug_print,
    delay,
    empty,
    empty_like,
    empty_ref_like,
    loop,
    multiple_of,
    next_power_of_2,
    run_scoped,
    run_state,
    strides_from_shape,
    when,
    with_scoped,
)
from olympus._src.pallas.specs import (
    BlockDim,
    Blocked,
    BlockSpec,
    Buffered,
    CostEstimate,
    Element,
    GridSpec,
    MemoryRef,
    MemorySpace,
    RevisitMode,
    Squeezed,
    no_block_spec,
    squeezed,
)
from olympus._src.refs.positions import ds
from olympus._src.sharding.memory_spaces import Space as _Space

ANY = MemorySpace.ANY
HOST = _Space.Host
dslice = ds

__all__ = [
    "ANY",
    "HOST",
    "BlockDim",
    "BlockSpec",
    "Blocked",
    "Buffered",
    "CostEstimate",
    "Element",
    "GridSpec",
    "MemoryRef",
    "MemorySpace",
    "RevisitMode",
    "Slice",
    "Squeezed",
    "align_to",
    "broadcast_to",
    "cdiv",
    "debug_print",
    "delay",
    "ds",
    "dslice",
    "empty",
    "empty_like",
    "empty_ref_like",
    "estimate_cost",
    "loop",
    "multiple_of",
    "next_power_of_2",
    "no_block_spec",
    "num_programs",
    "pallas_call",
    "program_id",
    "run_scoped",
    "run_state",
    "semaphore_read",
    "semaphore_signal",
    "semaphore_wait",
    "squeezed",
    "strides_from_shape",
    "when",
    "with_scoped",
]

_claim(__name__)
