"""What kernels for TPUs call: memory of their own, copies and pipelines.

Nothing is compiled for TPUs: kernels run as loops of XLA's, and all memory is the
device's.
"""

import olympus as _olympus  # noqa: F401
from olympus._src.foundation.lazy_names import claim as _claim
from olympus._src.pallas.accelerators import (
    GridDimensionSemantics,
    InterpretParams,
    async_copy,
    emit_pipeline,
    make_async_copy,
    reciprocal,
    roll,
    sync_copy,
    touch,
    with_memory_space_constraint,
)
from olympus._src.pallas.accelerators import TpuMemorySpace as MemorySpace
from olympus._src.pallas.accelerators import TpuParams as CompilerParams
from olympus._src.pallas.accelerators import is_no_device as is_tpu_device
from olympus._src.pallas.specs import PrefetchScalarGridSpec, SemaphoreType

VMEM = MemorySpace.VMEM
VMEM_SHARED = MemorySpace.VMEM_SHARED
SMEM = MemorySpace.SMEM
CMEM = MemorySpace.CMEM
SEMAPHORE = MemorySpace.SEMAPHORE
HBM = MemorySpace.HBM
PARALLEL = GridDimensionSemantics.PARALLEL
CORE_PARALLEL = GridDimensionSemantics.CORE_PARALLEL
SUBCORE_PARALLEL = GridDimensionSemantics.SUBCORE_PARALLEL
ARBITRARY = GridDimensionSemantics.ARBITRARY

__all__ = [
    "ARBITRARY",
    "CMEM",
    "CORE_PARALLEL",
    "HBM",
    "PARALLEL",
    "SEMAPHORE",
    "SMEM",
    "SUBCORE_PARALLEL",
    "VMEM",
    "VMEM_SHARED",
    "CompilerParams",
    "GridDimensionSemantics",
    "InterpretParams",
    "MemorySpace",
    "PrefetchScalarGridSpec",
    "SemaphoreType",
    "async_copy",
    "emit_pipeline",
    "is_tpu_device",
    "make_async_copy",
    "reciprocal",
    "roll",
    "sync_copy",
    "touch",
    "with_memory_space_constraint",
]

_claim(__name__)
