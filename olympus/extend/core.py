"""Programs as data, and the record of an operation."""

from olympus._src.core.checker import check_olympuspr
from olympus._src.core.effects import Effect, Effects, no_effects
from olympus._src.core.ir import (
    ClosedOlympuspr,
    DebugInfo,
    DropVar,
    Literal,
    Olympuspr,
    Var,
)
from olympus._src.core.ir import Eqn as OlympusprEqn
from olympus._src.core.ir import program_as_function as olympuspr_as_fun
from olympus._src.core.primitive import Primitive
from olympus._src.foundation.errors import OlympusprTypeError

__all__ = [
    "ClosedOlympuspr",
    "DebugInfo",
    "DropVar",
    "Effect",
    "Effects",
    "Literal",
    "Olympuspr",
    "OlympusprEqn",
    "OlympusprTypeError",
    "Primitive",
    "Var",
    "check_olympuspr",
    "no_effects",
    "olympuspr_as_fun",
]
