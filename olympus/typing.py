"""Types for annotations."""

from olympus._src.api.typing import ArrayLike as ArrayLike
from olympus._src.api.typing import DTypeLike as DTypeLike

__all__ = ["ArrayLike", "DTypeLike"]
