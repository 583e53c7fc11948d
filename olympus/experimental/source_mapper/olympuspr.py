"""Source maps of traced programs."""

import olympus as _olympus  # noqa: F401
from olympus._src.api.source_mapper import (
    canonicalize_filename,
    compile_olympuspr,
    make_olympuspr_dump,
)
from olympus._src.foundation.lazy_names import claim as _claim

__all__ = ["canonicalize_filename", "compile_olympuspr", "make_olympuspr_dump"]

_claim(__name__)
