"""Parts of programs, for libraries that define primitives or read programs."""

from olympus._src.api.extension import Primitive as Primitive
from olympus._src.api.extension import (
    control_flow_allowed_effects as control_flow_allowed_effects,
)
from olympus._src.api.extension import (
    custom_derivatives_allowed_effects as custom_derivatives_allowed_effects,
)
from olympus._src.api.extension import lowerable_effects as lowerable_effects
from olympus._src.api.extension import ordered_effects as ordered_effects
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
from olympus._src.foundation.errors import (
    InconclusiveDimensionOperation as InconclusiveDimensionOperation,
)
from olympus._src.foundation.errors import OlympusprTypeError as OlympusprTypeError
from olympus.extend.core import primitives as primitives

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
    "Var",
    "check_olympuspr",
    "control_flow_allowed_effects",
    "custom_derivatives_allowed_effects",
    "lowerable_effects",
    "mapped_aval",
    "no_effects",
    "nonempty_axis_env_DO_NOT_USE",
    "olympuspr_as_fun",
    "olympusprs_in_params",
    "ordered_effects",
    "primitives",
    "remat_allowed_effects",
    "set_current_trace",
    "unmapped_aval",
    "unsafe_am_i_under_a_vmap_DO_NOT_USE",
    "unsafe_get_axis_names_DO_NOT_USE",
]
