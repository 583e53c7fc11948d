"""Differentiation rules of primitives, and derivatives of flat functions."""

from __future__ import annotations

from typing import TYPE_CHECKING as _TYPE_CHECKING

import olympus as _olympus  # noqa: F401
from olympus._src.api.extension import add_jaxvals as add_jaxvals
from olympus._src.api.extension import defbilinear as defbilinear
from olympus._src.api.extension import defjvp as defjvp
from olympus._src.api.extension import defjvp2 as defjvp2
from olympus._src.api.extension import deflinear as deflinear
from olympus._src.api.extension import deflinear2 as deflinear2
from olympus._src.api.extension import (
    get_primitive_transpose as get_primitive_transpose,
)
from olympus._src.api.extension import instantiate_zeros as instantiate_zeros
from olympus._src.api.extension import is_undefined_primal as is_undefined_primal
from olympus._src.api.extension import primitive_jvps as primitive_jvps
from olympus._src.api.extension import primitive_transposes as primitive_transposes
from olympus._src.api.extension import zeros_like_aval as zeros_like_aval
from olympus._src.core.symbolic_values import Linear as UndefinedPrimal
from olympus._src.core.symbolic_values import Zero as Zero
from olympus._src.foundation.lazy_names import Late as _Late
from olympus._src.foundation.lazy_names import claim as _claim
from olympus._src.interpreters.ad import JVPTrace as JVPTrace
from olympus._src.interpreters.ad import JVPTracer as JVPTracer
from olympus._src.lax.families import add_any_p as add_jaxvals_p
from olympus._src.lax.families import add_tangents as add_tangents

if _TYPE_CHECKING:
    from olympus._src.api.program_derivatives import backward_pass as backward_pass
    from olympus._src.api.program_derivatives import jvp as jvp
    from olympus._src.api.program_derivatives import jvp_olympuspr as jvp_olympuspr
    from olympus._src.api.program_derivatives import linearize as linearize

_LATE = {
    "api.program_derivatives": ("backward_pass jvp jvp_olympuspr linearize"),
}

_late = _Late(__name__, (), _LATE)

__all__ = [
    "JVPTrace",
    "JVPTracer",
    "UndefinedPrimal",
    "Zero",
    "add_jaxvals",
    "add_jaxvals_p",
    "add_tangents",
    "backward_pass",
    "defbilinear",
    "defjvp",
    "defjvp2",
    "deflinear",
    "deflinear2",
    "get_primitive_transpose",
    "instantiate_zeros",
    "is_undefined_primal",
    "jvp",
    "jvp_olympuspr",
    "linearize",
    "primitive_jvps",
    "primitive_transposes",
    "zeros_like_aval",
]

_claim(__name__)
