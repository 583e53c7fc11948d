"""Source maps of the text of MLIR modules."""

import olympus as _olympus  # noqa: F401
from olympus._src.foundation.lazy_names import claim as _claim
from olympus._src.lowering.source_maps import create_mlir_sourcemap

__all__ = ["create_mlir_sourcemap"]

_claim(__name__)
