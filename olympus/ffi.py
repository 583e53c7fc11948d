"""Functions of other languages, called from compiled programs."""

import olympus as _olympus  # noqa: F401
from olympus._src.api.foreign_functions import (
    build_ffi_lowering_function,
    ffi_lowering,
    include_dir,
    pycapsule,
    register_ffi_target,
    register_ffi_target_as_batch_partitionable,
    register_ffi_type,
    register_ffi_type_id,
)
from olympus._src.callbacks.foreign_calls import ffi_call
from olympus._src.foundation.lazy_names import claim as _claim

__all__ = [
    "build_ffi_lowering_function",
    "ffi_call",
    "ffi_lowering",
    "include_dir",
    "pycapsule",
    "register_ffi_target",
    "register_ffi_target_as_batch_partitionable",
    "register_ffi_type",
    "register_ffi_type_id",
]

_claim(__name__)
