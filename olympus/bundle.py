"""A function in one file: portable program, machine code, names, and a self-test."""

import olympus as _olympus  # noqa: F401
from olympus._src.export.bundle_files import Slot
from olympus._src.export.bundles import Bundle, ExecutableInfo, add_executable, load
from olympus._src.export.bundling import make
from olympus._src.foundation.lazy_names import claim as _claim

__all__ = ["Bundle", "ExecutableInfo", "Slot", "add_executable", "load", "make"]

_claim(__name__)
