"""For lowering rules that build MLIR operations: what they are given and may use."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from olympus._src.api.source_information import NameStack
from olympus._src.callbacks.foreign_rules import ForeignRule
from olympus._src.core import dtypes, scopes
from olympus._src.core.array_type import DTypeLike
from olympus._src.core.avals import AbstractToken, AbstractValue, ShapedArray
from olympus._src.lowering import attributes, builder, types
from olympus._src.runtime import mlir_rules

ir = mlir_rules.IR
hlo = mlir_rules.HLO
Value = ir.Value


class LoweringParameters(NamedTuple):
    """Options of lowering; those of olympus are settings, so these are the defaults."""

    override_lowering_rules: tuple[Any, ...] | None = None
    global_constant_computation: bool = False
    for_export: bool = False
    export_ignore_forward_compatibility: bool = False
    hoist_constants_as_args: bool = False


class ShardingContext(NamedTuple):
    """For how many devices a module is.

    Attributes:
      num_devices: how many.
      device_assignment: the devices, or None.
      abstract_mesh: the mesh around, or None.
    """

    num_devices: int
    device_assignment: tuple[Any, ...] | None = None
    abstract_mesh: Any = None


class SPMDAxisContext(NamedTuple):
    """Over which mesh a module is divided.

    Attributes:
      mesh: the mesh.
      manual_axes: axes along which the program is that of one device.
    """

    mesh: Any
    manual_axes: frozenset[Any] = frozenset()


AxisContext = SPMDAxisContext | ShardingContext


class TokenSet:
    """The tokens of effects, by effect; it does not change.

    Args:
      tokens: a token for each effect.
    """

    __slots__ = ("_tokens",)

    def __init__(self, tokens: dict[Any, Any] | None = None) -> None:
        self._tokens = dict(tokens or {})

    @classmethod
    def create(cls, effects: Sequence[Any]) -> TokenSet:
        """New tokens for effects, in the function that is being built."""
        return cls({e: hlo.CreateTokenOp().result for e in effects})

    def __len__(self) -> int:
        return len(self._tokens)

    def get(self, effect: Any) -> Any:
        """The token of an effect."""
        return self._tokens[effect]

    def items(self) -> Any:
        """Pairs of an effect and its token."""
        return self._tokens.items()

    def effects(self) -> set[Any]:
        """The effects."""
        return set(self._tokens)

    def subset(self, effects: Sequence[Any]) -> TokenSet:
        """The tokens of some of the effects."""
        return TokenSet({e: self._tokens[e] for e in effects})

    def update_tokens(self, tokens: TokenSet) -> TokenSet:
        """The same effects, with the tokens of others in place of their own."""
        return TokenSet({e: tokens._tokens.get(e, t) for e, t in self._tokens.items()})


class ModuleContext(NamedTuple):
    """The module that a rule writes in.

    Attributes:
      module: an `ir.Module`, which holds what the rule builds.
      platforms: for which it is built.
      axis_context: over which devices.
      lowering_parameters: options.
      outer: where olympus lowers the operation, and what adds an argument.
    """

    module: Any
    platforms: tuple[str, ...]
    axis_context: Any = ShardingContext(1)
    lowering_parameters: LoweringParameters = LoweringParameters()
    outer: Any = None

    @property
    def context(self) -> Any:
        """The MLIR context."""
        return self.module.context

    @property
    def ip(self) -> Any:
        """Where operations are inserted."""
        return ir.InsertionPoint.current

    def replace(self, **changes: Any) -> ModuleContext:
        """The same with some fields replaced."""
        return self._replace(**changes)


class LoweringRuleContext(NamedTuple):
    """What a rule is told.

    Attributes:
      module_context: the module that it writes in.
      name_stack: the scopes around the operation.
      traceback: where it was applied.
      primitive: the operation.
      avals_in, avals_out: types of its operands and results.
      tokens_in, tokens_out: tokens of ordered effects: such operations have no rule
        that builds MLIR, so none.
      const_lowering, axis_size_env, dim_var_values, jaxpr_eqn_ctx: empty.
      platforms: for which it is built.
    """

    module_context: ModuleContext
    name_stack: Any
    traceback: Any
    primitive: Any
    avals_in: Sequence[Any]
    avals_out: Sequence[Any]
    tokens_in: TokenSet
    tokens_out: TokenSet | None
    const_lowering: dict[Any, Any]
    axis_size_env: Any = None
    dim_var_values: Sequence[Any] = ()
    jaxpr_eqn_ctx: Any = None
    platforms: Sequence[str] | None = None

    def replace(self, **changes: Any) -> LoweringRuleContext:
        """The same with some fields replaced."""
        return self._replace(**changes)

    def call_foreign(
        self, rule: ForeignRule, operands: Sequence[Any], params: dict[str, Any]
    ) -> Any:
        """The operation that calls a function of another language.

        Args:
          rule: which function.
          operands: MLIR values, of the types `avals_in`.
          params: attributes by name: MLIR's, or values that they can be made of.
        """

        def read(value: Any) -> Any:
            is_written = isinstance(value, ir.Attribute)
            return attributes.Written(str(value)) if is_written else value

        text = rule.write(self.avals_in, self.avals_out, params, read)
        kinds = list(map(types.tensor_type, self.avals_out))
        return mlir_rules.build("stablehlo.custom_call", operands, kinds, text)


def lower_with_sharding_in_types(
    ctx: LoweringRuleContext, op: Any, aval: AbstractValue
) -> Any:
    """An MLIR value as it is: olympus writes how its type is divided itself.

    Args:
      ctx: the context of a rule.
      op: the value.
      aval: its type.
    """
    del ctx, aval
    return op


def text_rule(rule: Callable[..., Any]) -> Callable[..., Any]:
    """The rule `lower` of a primitive for a rule that builds MLIR operations."""

    def lower(ctx: Any, *operands: str, **params: Any) -> Any:
        p = ctx.eqn.primitive
        in_types = list(map(types.tensor_type, ctx.avals_in))
        out_types = list(map(types.tensor_type, ctx.avals_out))

        def make_context(module: Any, add_argument: Any) -> LoweringRuleContext:
            inner = ModuleContext(
                module, (ctx.platform,), outer=Outer(ctx, add_argument)
            )
            return LoweringRuleContext(
                inner,
                NameStack(scopes.names(ctx.eqn.scope)),
                ctx.eqn.source,
                p,
                ctx.avals_in,
                ctx.avals_out,
                tokens_in=TokenSet(),
                tokens_out=None,
                const_lowering={},
            )

        text, added = mlir_rules.function_text(
            rule, make_context, params, _PLACE, in_types, out_types, p.name
        )
        # Equal texts are one function of the module.
        place = f"{_PLACE}_{hashlib.sha256(text.encode()).hexdigest()}"
        symbol = ctx.module.splice([(place, text.replace(_PLACE, place))], p.name)
        operands = (*operands, *[ctx.block.callbacks() for _ in added])
        outs = ctx.block.emit_many(
            f"func.call @{symbol}({', '.join(operands)}) : "
            f"({', '.join([*in_types, *added])}) -> ({', '.join(out_types)})",
            len(out_types),
        )
        return outs if p.multiple_results else outs[0]

    return lower


class Outer:
    """Where olympus lowers an operation whose rule builds MLIR.

    Args:
      ctx: the context of olympus's own rules.
      add_argument: adds an argument of a type to what the rule builds.
    """

    __slots__ = ("_add_argument", "_callbacks", "ctx")

    def __init__(self, ctx: Any, add_argument: Callable[[str], Any]) -> None:
        self.ctx = ctx
        self._add_argument = add_argument
        self._callbacks: Any = None

    def callbacks(self) -> Any:
        """The number of the program's callbacks, which the function then takes."""
        if self._callbacks is None:
            self._callbacks = self._add_argument(builder.CALLBACKS_TYPE)
        return self._callbacks


_PLACE = "the_rule_of_a_primitive"


# -- types and constants ---------------------------------------------------------------


def dtype_to_ir_type(dtype: DTypeLike) -> Any:
    """The MLIR type of elements."""
    return mlir_rules.parse_type(types.element_type(dtypes.as_dtype(dtype)))


def aval_to_ir_type(ctx: ModuleContext, aval: AbstractValue) -> Any:
    """The MLIR type of values of a type.

    Args:
      ctx: the module context; types are the same in all of them.
      aval: the type.
    """
    del ctx
    handler = ir_type_handlers.get(type(aval))
    if handler is None:
        raise TypeError(
            f"aval_to_ir_type: there is no MLIR type for {aval!r}; write what returns "
            "it to mlir.ir_type_handlers, by the class of types"
        )
    return handler(aval)


def _tensor_type(aval: Any) -> Any:
    return mlir_rules.parse_type(types.tensor_type(aval))


# By class of types what gives the MLIR type of one.
ir_type_handlers: dict[type, Callable[[Any], Any]] = {
    ShapedArray: _tensor_type,
    AbstractToken: lambda aval: token_type(),
}


def token_type(context: Any = None) -> Any:
    """The MLIR type of tokens, in an MLIR context; None for the current one."""
    return hlo.TokenType.get(context)


def aval_to_ir_types(ctx: ModuleContext, aval: AbstractValue) -> tuple[Any, ...]:
    """The MLIR types of a value of a type: one; see `aval_to_ir_type`."""
    return (aval_to_ir_type(ctx, aval),)


def ir_constant(
    val: Any,
    *,
    const_lowering: dict[Any, Any] | None = None,
    aval: ShapedArray | None = None,
) -> Any:
    """A constant: a number, a NumPy array, or of a type with a handler.

    Args:
      val: the value.
      const_lowering: MLIR values of constants that the module has already, by the
        `id` of a value and its type.
      aval: the type, which decides the dtype of a Python number; by default that is
        the one that an array of it has.
    """
    known = (const_lowering or {}).get((id(val), aval))
    if known is not None:
        return known
    handler = _constant_handlers.get(type(val))
    if handler is not None:
        return handler(val, aval)
    array = np.asarray(val)
    dtype = dtypes.canonicalize_dtype(array.dtype) if aval is None else aval.dtype
    array = array.astype(dtype, copy=False)
    text = types.dense(array, ShapedArray(array.shape, array.dtype))
    return hlo.ConstantOp(mlir_rules.parse_attribute(text)).result


ConstantHandler = Callable[[Any, Any], Any]
_constant_handlers: dict[type, ConstantHandler] = {}


def register_constant_handler(type_: type, handler_fun: ConstantHandler) -> None:
    """Says how `ir_constant` makes a constant of a value of a type.

    Args:
      type_: the type.
      handler_fun: `handler_fun(value, aval)` returns an MLIR value; the type is None
        where `ir_constant` was not told it.
    """
    _constant_handlers[type_] = handler_fun


def ir_constants(
    val: Any,
    *,
    const_lowering: dict[Any, Any] | None = None,
    aval: ShapedArray | None = None,
) -> tuple[Any, ...]:
    """The values of a constant: one; see `ir_constant`."""
    return (ir_constant(val, const_lowering=const_lowering, aval=aval),)


def dense_int_elements(xs: Sequence[int]) -> Any:
    """An attribute of a tensor of 64-bit integers."""
    return ir.DenseIntElementsAttr.get(np.asarray(xs, np.int64))


def dense_int_array(values: Sequence[int], context: Any = None) -> Any:
    """An attribute of a list of 64-bit integers.

    Args:
      values: the integers.
      context: an MLIR context; None for the current one.
    """
    return ir.DenseI64ArrayAttr.get(list(map(int, values)), context)


def i32_attr(i: int) -> Any:
    """An attribute of a 32-bit integer."""
    return ir.IntegerAttr.get(ir.IntegerType.get_signless(32), i)


def i64_attr(i: int) -> Any:
    """An attribute of a 64-bit integer."""
    return ir.IntegerAttr.get(ir.IntegerType.get_signless(64), i)


def ir_attribute(val: Any) -> Any:
    """The attribute of a number, text, a NumPy array, a dtype, or several of them."""
    return mlir_rules.parse_attribute(attributes.attribute("ir_attribute", val))


def flatten_ir_values(xs: Sequence[Any]) -> list[Any]:
    """Values, of which some may be in sequences, in one list."""
    return mlir_rules.flat_values("flatten_ir_values", list(xs))


def flatten_ir_types(xs: Sequence[Any]) -> list[Any]:
    """Types, of which some may be in sequences, in one list."""
    flat: list[Any] = []
    for kind in xs:
        flat += kind if isinstance(kind, (list, tuple)) else [kind]
    return flat


def module_to_string(module: Any, enable_debug_info: bool = False) -> str:
    """A module as text."""
    return str(module.operation.get_asm(enable_debug_info=enable_debug_info))
