"""What lowering rules are given, for libraries that build MLIR operations."""

from __future__ import annotations

from typing import TYPE_CHECKING as _TYPE_CHECKING

import olympus as _olympus  # noqa: F401
from olympus._src.foundation.lazy_names import Late as _Late
from olympus._src.foundation.lazy_names import claim as _claim

if _TYPE_CHECKING:
    from olympus._src.api.mlir_rules import LoweringRuleContext as LoweringRuleContext

_LATE = {"api.mlir_rules": "LoweringRuleContext"}

_late = _Late(__name__, (), _LATE)

__all__ = ["LoweringRuleContext"]

_claim(__name__)
