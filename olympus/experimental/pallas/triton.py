"""What kernels for GPUs call: masked and atomic access to refs.

Nothing is compiled by Triton: kernels run as loops of XLA's.
"""

import olympus as _olympus  # noqa: F401
from olympus._src.foundation.lazy_names import claim as _claim
from olympus._src.pallas.accelerators import TritonParams as CompilerParams
from olympus._src.pallas.accelerators import (
    approx_tanh,
    debug_barrier,
    dot,
)
from olympus._src.pallas.accelerators import is_no_device as is_gpu_device
from olympus._src.pallas.kernel_functions import multiple_of as max_contiguous
from olympus._src.pallas.masked_access import (
    atomic_add,
    atomic_and,
    atomic_cas,
    atomic_max,
    atomic_min,
    atomic_or,
    atomic_xchg,
    atomic_xor,
    load,
    store,
)

__all__ = [
    "CompilerParams",
    "approx_tanh",
    "atomic_add",
    "atomic_and",
    "atomic_cas",
    "atomic_max",
    "atomic_min",
    "atomic_or",
    "atomic_xchg",
    "atomic_xor",
    "debug_barrier",
    "dot",
    "is_gpu_device",
    "load",
    "max_contiguous",
    "store",
]

_claim(__name__)
