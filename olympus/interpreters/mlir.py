"""Lowering rules of primitives."""

from __future__ import annotations

from typing import TYPE_CHECKING as _TYPE_CHECKING
from typing import Any as MeshAxisName

import olympus as _olympus  # noqa: F401
from olympus._src.api.extension import lower_fun as lower_fun
from olympus._src.api.extension import lowerable_effects as lowerable_effects
from olympus._src.api.extension import register_lowering as register_lowering
from olympus._src.foundation.lazy_names import Late as _Late
from olympus._src.foundation.lazy_names import claim as _claim

if _TYPE_CHECKING:
    from olympus._src.api.mlir_programs import (
        DEVICE_TO_DEVICE_TYPE as DEVICE_TO_DEVICE_TYPE,
    )
    from olympus._src.api.mlir_programs import (
        RECV_FROM_HOST_TYPE as RECV_FROM_HOST_TYPE,
    )
    from olympus._src.api.mlir_programs import SEND_TO_HOST_TYPE as SEND_TO_HOST_TYPE
    from olympus._src.api.mlir_programs import LoweringResult as LoweringResult
    from olympus._src.api.mlir_programs import LoweringRule as LoweringRule
    from olympus._src.api.mlir_programs import (
        ShapePolyLoweringState as ShapePolyLoweringState,
    )
    from olympus._src.api.mlir_programs import Token as Token
    from olympus._src.api.mlir_programs import core_call_lowering as core_call_lowering
    from olympus._src.api.mlir_programs import (
        emit_python_callback as emit_python_callback,
    )
    from olympus._src.api.mlir_programs import (
        lower_olympuspr_to_fun as lower_olympuspr_to_fun,
    )
    from olympus._src.api.mlir_programs import (
        lower_olympuspr_to_module as lower_olympuspr_to_module,
    )
    from olympus._src.api.mlir_programs import make_ir_context as make_ir_context
    from olympus._src.api.mlir_programs import merge_mlir_modules as merge_mlir_modules
    from olympus._src.api.mlir_programs import module_to_bytecode as module_to_bytecode
    from olympus._src.api.mlir_programs import olympuspr_subcomp as olympuspr_subcomp
    from olympus._src.api.mlir_programs import shape_tensor as shape_tensor
    from olympus._src.api.mlir_programs import (
        unflatten_ir_values_like_types as unflatten_ir_values_like_types,
    )
    from olympus._src.api.mlir_rules import AxisContext as AxisContext
    from olympus._src.api.mlir_rules import ConstantHandler as ConstantHandler
    from olympus._src.api.mlir_rules import LoweringParameters as LoweringParameters
    from olympus._src.api.mlir_rules import LoweringRuleContext as LoweringRuleContext
    from olympus._src.api.mlir_rules import ModuleContext as ModuleContext
    from olympus._src.api.mlir_rules import ShardingContext as ShardingContext
    from olympus._src.api.mlir_rules import SPMDAxisContext as SPMDAxisContext
    from olympus._src.api.mlir_rules import TokenSet as TokenSet
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
    from olympus._src.api.mlir_rules import ir_type_handlers as ir_type_handlers
    from olympus._src.api.mlir_rules import module_to_string as module_to_string
    from olympus._src.api.mlir_rules import (
        register_constant_handler as register_constant_handler,
    )
    from olympus._src.api.mlir_rules import token_type as token_type
    from olympus._src.sharding.meshes import Mesh as Mesh

_LATE = {
    "api.mlir_programs": (
        "DEVICE_TO_DEVICE_TYPE LoweringResult LoweringRule "
        "RECV_FROM_HOST_TYPE SEND_TO_HOST_TYPE ShapePolyLoweringState "
        "Token core_call_lowering emit_python_callback "
        "lower_olympuspr_to_fun lower_olympuspr_to_module "
        "make_ir_context merge_mlir_modules module_to_bytecode "
        "olympuspr_subcomp shape_tensor "
        "unflatten_ir_values_like_types"
    ),
    "api.mlir_rules": (
        "AxisContext ConstantHandler LoweringParameters "
        "LoweringRuleContext ModuleContext SPMDAxisContext "
        "ShardingContext TokenSet Value aval_to_ir_type "
        "aval_to_ir_types dense_int_array dense_int_elements "
        "dtype_to_ir_type flatten_ir_types flatten_ir_values hlo "
        "i32_attr i64_attr ir ir_attribute ir_constant ir_constants "
        "ir_type_handlers module_to_string register_constant_handler "
        "token_type"
    ),
    "sharding.meshes": ("Mesh"),
}

_late = _Late(__name__, (), _LATE)

__all__ = [
    "DEVICE_TO_DEVICE_TYPE",
    "RECV_FROM_HOST_TYPE",
    "SEND_TO_HOST_TYPE",
    "AxisContext",
    "ConstantHandler",
    "LoweringParameters",
    "LoweringResult",
    "LoweringRule",
    "LoweringRuleContext",
    "Mesh",
    "MeshAxisName",
    "ModuleContext",
    "SPMDAxisContext",
    "ShapePolyLoweringState",
    "ShardingContext",
    "Token",
    "TokenSet",
    "Value",
    "aval_to_ir_type",
    "aval_to_ir_types",
    "core_call_lowering",
    "dense_int_array",
    "dense_int_elements",
    "dtype_to_ir_type",
    "emit_python_callback",
    "flatten_ir_types",
    "flatten_ir_values",
    "hlo",
    "i32_attr",
    "i64_attr",
    "ir",
    "ir_attribute",
    "ir_constant",
    "ir_constants",
    "ir_type_handlers",
    "lower_fun",
    "lower_olympuspr_to_fun",
    "lower_olympuspr_to_module",
    "lowerable_effects",
    "make_ir_context",
    "merge_mlir_modules",
    "module_to_bytecode",
    "module_to_string",
    "olympuspr_subcomp",
    "register_constant_handler",
    "register_lowering",
    "shape_tensor",
    "token_type",
    "unflatten_ir_values_like_types",
]

_claim(__name__)
