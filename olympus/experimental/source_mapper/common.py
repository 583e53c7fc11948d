"""Passes that source maps can be made for."""

import olympus as _olympus  # noqa: F401
from olympus._src.api.source_mapper import (
    CompileFn,
    GenerateDumpFn,
    Pass,
    SourceMapDump,
    all_passes,
    compile_with_env,
    filter_passes,
    register_pass,
)
from olympus._src.foundation.lazy_names import claim as _claim

__all__ = [
    "CompileFn",
    "GenerateDumpFn",
    "Pass",
    "SourceMapDump",
    "all_passes",
    "compile_with_env",
    "filter_passes",
    "register_pass",
]

_claim(__name__)
