"""Types for annotations."""

import olympus as _olympus  # noqa: F401
from olympus._src.core.array_type import ArrayLike as ArrayLike
from olympus._src.core.array_type import DTypeLike as DTypeLike
from olympus._src.core.array_type import PyTree as PyTree
from olympus._src.core.array_type import Shape as Shape

__all__ = ["ArrayLike", "DTypeLike", "PyTree", "Shape"]
