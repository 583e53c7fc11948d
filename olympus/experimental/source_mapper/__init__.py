"""Source maps: which line of a function each line of its programs comes from."""

import olympus as _olympus  # noqa: F401
from olympus._src.api.source_mapper import (
    Pass,
    SourceMapDump,
    all_passes,
    canonicalize_filename,
    compile_with_env,
    filter_passes,
    generate_sourcemaps,
    register_pass,
)
from olympus._src.foundation.lazy_names import claim as _claim
from olympus._src.lowering.source_maps import (
    MappingsGenerator,
    SourceMap,
    create_mlir_sourcemap,
)
from olympus.experimental.source_mapper import (
    common,
    generate_map,
    hlo,
    mlir,
    olympuspr,
)

__all__ = [
    "MappingsGenerator",
    "Pass",
    "SourceMap",
    "SourceMapDump",
    "all_passes",
    "canonicalize_filename",
    "common",
    "compile_with_env",
    "create_mlir_sourcemap",
    "filter_passes",
    "generate_map",
    "generate_sourcemaps",
    "hlo",
    "mlir",
    "olympuspr",
    "register_pass",
]

_claim(__name__)
