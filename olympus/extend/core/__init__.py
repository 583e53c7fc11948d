"""Parts of programs, for libraries that define primitives or read programs."""

from __future__ import annotations

from typing import TYPE_CHECKING as _TYPE_CHECKING

import olympus as _olympus  # noqa: F401
from olympus._src.api.extension import Primitive as Primitive
from olympus._src.api.extension import (
    control_flow_allowed_effects as control_flow_allowed_effects,
)
from olympus._src.api.extension import (
    custom_derivatives_allowed_effects as custom_derivatives_allowed_effects,
)
from olympus._src.api.extension import lowerable_effects as lowerable_effects
from olympus._src.api.extension import ordered_effects as ordered_effects
from olympus._src.api.extension import (
    register_call_primitive_rules as register_call_primitive_rules,
)
from olympus._src.api.extension import remat_allowed_effects as remat_allowed_effects
from olympus._src.api.mapped_axes import mapped_aval as mapped_aval
from olympus._src.api.mapped_axes import (
    nonempty_axis_env_DO_NOT_USE as nonempty_axis_env_DO_NOT_USE,
)
from olympus._src.api.mapped_axes import unmapped_aval as unmapped_aval
from olympus._src.api.mapped_axes import (
    unsafe_am_i_under_a_vmap_DO_NOT_USE as unsafe_am_i_under_a_vmap_DO_NOT_USE,
)
from olympus._src.api.mapped_axes import (
    unsafe_get_axis_names_DO_NOT_USE as unsafe_get_axis_names_DO_NOT_USE,
)
from olympus._src.core.avals import AbstractToken as AbstractToken
from olympus._src.core.checker import check_olympuspr as check_olympuspr
from olympus._src.core.effects import Effect as Effect
from olympus._src.core.effects import Effects as Effects
from olympus._src.core.effects import no_effects as no_effects
from olympus._src.core.ir import ClosedOlympuspr as ClosedOlympuspr
from olympus._src.core.ir import DebugInfo as DebugInfo
from olympus._src.core.ir import DropVar as DropVar
from olympus._src.core.ir import Eqn as OlympusprEqn
from olympus._src.core.ir import Literal as Literal
from olympus._src.core.ir import Olympuspr as Olympuspr
from olympus._src.core.ir import Var as Var
from olympus._src.core.ir import program_as_function as olympuspr_as_fun
from olympus._src.core.ir import subprograms as olympusprs_in_params
from olympus._src.core.trace import set_current as set_current_trace
from olympus._src.core.trace import take_current as take_current_trace
from olympus._src.foundation.errors import (
    InconclusiveDimensionOperation as InconclusiveDimensionOperation,
)
from olympus._src.foundation.errors import OlympusprTypeError as OlympusprTypeError
from olympus._src.foundation.lazy_names import Late as _Late
from olympus._src.foundation.lazy_names import claim as _claim

if _TYPE_CHECKING:
    from olympus._src.api.trace_states import Token as Token
    from olympus._src.api.trace_states import TraceTag as TraceTag
    from olympus._src.api.trace_states import array_types as array_types
    from olympus._src.api.trace_states import concrete_or_error as concrete_or_error
    from olympus._src.api.trace_states import find_top_trace as find_top_trace
    from olympus._src.api.trace_states import gensym as gensym
    from olympus._src.api.trace_states import (
        get_opaque_trace_state as get_opaque_trace_state,
    )
    from olympus._src.api.trace_states import new_olympuspr_eqn as new_olympuspr_eqn
    from olympus._src.api.trace_states import (
        primal_dtype_to_tangent_dtype as primal_dtype_to_tangent_dtype,
    )
    from olympus._src.api.trace_states import subolympusprs as subolympusprs
    from olympus._src.api.trace_states import (
        unsafe_am_i_under_a_jit_DO_NOT_USE as unsafe_am_i_under_a_jit_DO_NOT_USE,
    )
    from olympus._src.api.trace_states import valid_jaxtype as valid_jaxtype
    from olympus._src.calls.call import create_call_primitive as create_call_primitive
    from olympus._src.calls.call import (
        eval_olympuspr_transpose as eval_olympuspr_transpose,
    )
    from olympus.extend.core import primitives as primitives

_PAGES = frozenset(["primitives"])

_LATE = {
    "api.trace_states": (
        "Token TraceTag array_types concrete_or_error find_top_trace "
        "gensym get_opaque_trace_state new_olympuspr_eqn "
        "primal_dtype_to_tangent_dtype subolympusprs "
        "unsafe_am_i_under_a_jit_DO_NOT_USE valid_jaxtype"
    ),
    "calls.call": ("create_call_primitive eval_olympuspr_transpose"),
}

_late = _Late(__name__, _PAGES, _LATE)

__all__ = [
    "AbstractToken",
    "ClosedOlympuspr",
    "DebugInfo",
    "DropVar",
    "Effect",
    "Effects",
    "InconclusiveDimensionOperation",
    "Literal",
    "Olympuspr",
    "OlympusprEqn",
    "OlympusprTypeError",
    "Primitive",
    "Token",
    "TraceTag",
    "Var",
    "array_types",
    "check_olympuspr",
    "concrete_or_error",
    "control_flow_allowed_effects",
    "create_call_primitive",
    "custom_derivatives_allowed_effects",
    "eval_olympuspr_transpose",
    "find_top_trace",
    "gensym",
    "get_opaque_trace_state",
    "lowerable_effects",
    "mapped_aval",
    "new_olympuspr_eqn",
    "no_effects",
    "nonempty_axis_env_DO_NOT_USE",
    "olympuspr_as_fun",
    "olympusprs_in_params",
    "ordered_effects",
    "primal_dtype_to_tangent_dtype",
    "primitives",
    "register_call_primitive_rules",
    "remat_allowed_effects",
    "set_current_trace",
    "subolympusprs",
    "take_current_trace",
    "unmapped_aval",
    "unsafe_am_i_under_a_jit_DO_NOT_USE",
    "unsafe_am_i_under_a_vmap_DO_NOT_USE",
    "unsafe_get_axis_names_DO_NOT_USE",
    "valid_jaxtype",
]

_claim(__name__)
