"""Types and operations of a user's own, which programs hold until they are compiled."""

import olympus as _olympus  # noqa: F401
from olympus._src.api.extension import (
    control_flow_allowed_effects,
    instantiate_zeros,
    is_undefined_primal,
)
from olympus._src.core.avals import AbstractValue, ShapedArray
from olympus._src.core.hi_types import (
    HiPspec,
    HiType,
    aval_method,
    aval_property,
    register_hitype,
)
from olympus._src.core.high_values import MappingSpec
from olympus._src.core.refs import RefAval as AbstractRef
from olympus._src.core.symbolic_values import Zero
from olympus._src.custom_rules.hi_accumulators import (
    GradAccum,
    NullAccum,
    RefAccum,
    ValAccum,
)
from olympus._src.custom_rules.hi_batching import (
    bdims_at_front,
    unmap_avals,
    vmap_rule,
)
from olympus._src.custom_rules.hi_derivatives import (
    jvp_from_lin,
    linearize_from_jvp,
    vjp_from_jvp,
    vjp_from_lin,
)
from olympus._src.custom_rules.hi_primitives import HiPrim
from olympus._src.foundation.lazy_names import claim as _claim
from olympus._src.refs.functions import RefView as TransformedRef

__all__ = [
    "AbstractRef",
    "AbstractValue",
    "GradAccum",
    "HiPrim",
    "HiPspec",
    "HiType",
    "MappingSpec",
    "NullAccum",
    "RefAccum",
    "ShapedArray",
    "TransformedRef",
    "ValAccum",
    "Zero",
    "aval_method",
    "aval_property",
    "bdims_at_front",
    "control_flow_allowed_effects",
    "instantiate_zeros",
    "is_undefined_primal",
    "jvp_from_lin",
    "linearize_from_jvp",
    "register_hitype",
    "unmap_avals",
    "vjp_from_jvp",
    "vjp_from_lin",
    "vmap_rule",
]

_claim(__name__)
