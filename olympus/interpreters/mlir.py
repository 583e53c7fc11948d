"""Lowering rules of primitives."""

from __future__ import annotations

from typing import TYPE_CHECKING as _TYPE_CHECKING
from typing import Any as _Any

from olympus._src.api.extension import lower_fun as lower_fun
from olympus._src.api.extension import lowerable_effects as lowerable_effects
from olympus._src.api.extension import register_lowering as register_lowering
from olympus._src.foundation.lazy_names import Late as _Late
from olympus._src.foundation.lazy_names import claim as _claim

if _TYPE_CHECKING:
    from olympus._src.api.mlir_rules import LoweringRuleContext as LoweringRuleContext
    from olympus._src.api.mlir_rules import ModuleContext as ModuleContext
    from olympus._src.api.mlir_rules import Value as Value
    from olympus._src.api.mlir_rules import aval_to_ir_type as aval_to_ir_type
    from olympus._src.api.mlir_rules import aval_to_ir_types as aval_to_ir_types
    from olympus._src.api.mlir_rules import dense_int_array as dense_int_array
    from olympus._src.api.mlir_rules import dense_int_elements as dense_int_elements
    from olympus._src.api.mlir_rules import dtype_to_ir_type as dtype_to_ir_type
    from olympus._src.api.mlir_rules import flatten_ir_types as flatten_ir_types
    from olympus._src.api.mlir_rules import flatten_ir_values as flatten_ir_values
    from olympus._src.api.mlir_rules import hlo as hlo
    from olympus._src.api.mlir_rules import i32_attr as i32_attr
    from olympus._src.api.mlir_rules import i64_attr as i64_attr
    from olympus._src.api.mlir_rules import ir as ir
    from olympus._src.api.mlir_rules import ir_attribute as ir_attribute
    from olympus._src.api.mlir_rules import ir_constant as ir_constant
    from olympus._src.api.mlir_rules import ir_constants as ir_constants
    from olympus._src.api.mlir_rules import module_to_string as module_to_string

# These load the bindings of MLIR.
_LATE = {
    "api.mlir_rules": (
        "LoweringRuleContext ModuleContext Value aval_to_ir_type "
        "aval_to_ir_types dense_int_array dense_int_elements "
        "dtype_to_ir_type flatten_ir_types flatten_ir_values hlo i32_attr "
        "i64_attr ir ir_attribute ir_constant ir_constants module_to_string"
    ),
}

_late = _Late(__name__, (), _LATE)


def __getattr__(name: str) -> _Any:
    return _late.load(name)


def __dir__() -> list[str]:
    return _late.names()


__all__ = [
    "LoweringRuleContext",
    "ModuleContext",
    "Value",
    "aval_to_ir_type",
    "aval_to_ir_types",
    "dense_int_array",
    "dense_int_elements",
    "dtype_to_ir_type",
    "flatten_ir_types",
    "flatten_ir_values",
    "hlo",
    "i32_attr",
    "i64_attr",
    "ir",
    "ir_attribute",
    "ir_constant",
    "ir_constants",
    "lower_fun",
    "lowerable_effects",
    "module_to_string",
    "register_lowering",
]

_claim(__name__)
