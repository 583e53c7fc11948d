"""What programs compute, read and exchange on a device, by counting operations."""

import olympus as _olympus  # noqa: F401
from olympus._src.api.roofline import roofline, roofline_and_grad
from olympus._src.api.roofline_counts import (
    RooflineResult,
    RooflineRuleContext,
    RooflineShape,
    register_roofline,
    register_standard_roofline,
)
from olympus._src.foundation.lazy_names import claim as _claim

__all__ = [
    "RooflineResult",
    "RooflineRuleContext",
    "RooflineShape",
    "register_roofline",
    "register_standard_roofline",
    "roofline",
    "roofline_and_grad",
]

_claim(__name__)
