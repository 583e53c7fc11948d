"""What becomes of the cotangents of a pullback with refs."""

import olympus as _olympus  # noqa: F401
from olympus._src.api.accumulation import DidntWant, DontWant, GradRef, GradValue
from olympus._src.foundation.lazy_names import claim as _claim

__all__ = ["DidntWant", "DontWant", "GradRef", "GradValue"]

_claim(__name__)
