"""Entry points for libraries that define primitives.

The rules of a primitive are fields of its record. The tables that users of JAX know
are views of those fields: reading and writing one reads and writes the record, with
the signature documented for the table.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterable, Iterator, MutableMapping
from typing import Any

import numpy as np

from olympus._src.calls import call
from olympus._src.core import effects as effects_
from olympus._src.core import primitive as primitive_
from olympus._src.core.array_type import Array, ArrayLike
from olympus._src.core.avals import AbstractValue
from olympus._src.core.symbolic_values import Linear, Zero
from olympus._src.foundation import source_info
from olympus._src.interpreters import concrete_arrays, evaluate
from olympus._src.lax import families


class _PrimitiveType(type):
    """`isinstance(p, Primitive)` holds for olympus's own primitives too."""

    def __instancecheck__(cls, instance: Any) -> bool:
        if cls is Primitive:
            return isinstance(instance, primitive_.Primitive)
        return super().__instancecheck__(instance)

    def __subclasscheck__(cls, subclass: type) -> bool:
        if cls is Primitive:
            return issubclass(subclass, primitive_.Primitive)
        return super().__subclasscheck__(subclass)


class Primitive(primitive_.Primitive, metaclass=_PrimitiveType):
    """A primitive to be filled in by its owner.

    Args:
      name: the printed name.
      multiple_results: rules return sequences and `bind` a list.

    Example:
      >>> from olympus.extend import core
      >>> twice_p = core.Primitive('twice')
      >>> _ = twice_p.def_abstract_eval(lambda x: x)
      >>> _ = twice_p.def_impl(lambda x: x + x)
      >>> twice_p.bind(3.0)
      6.0
    """

    __slots__ = ()
    rules_are_fixed = False  # they are its owner's, who may replace them

    def __init__(self, name: str, multiple_results: bool = False) -> None:
        super().__init__(
            name,
            multiple_results=multiple_results,
            file="the library that defines it, or through the tables of "
            "olympus.interpreters",
        )


class Window(MutableMapping[Any, Any]):
    """A mapping from primitives to one field of their records.

    Args:
      field: the field's name.
      enter: makes the field's rule from a rule in the table's signature.
    """

    def __init__(self, field: str, enter: Callable[[Any, Any], Any]) -> None:
        self._field = field
        self._enter = enter

    def __getitem__(self, p: Any) -> Any:
        rule = getattr(p, self._field)
        if rule is None:
            raise KeyError(p)
        return getattr(rule, "as_written", rule)

    def __setitem__(self, p: Any, rule: Any) -> None:
        own = rule if self._holds(rule) else self._enter_rule(p, rule)
        p.set_rule(self._field, own)

    def _holds(self, rule: Any) -> bool:
        """Whether it is a record's rule as it was read here, and no user's function."""
        return any(getattr(p, self._field) == rule for p in primitive_.records())

    def _enter_rule(self, p: Any, rule: Any) -> Any:
        entered = self._enter(p, rule)
        if entered is not rule:
            entered.as_written = rule
        return entered

    def __delitem__(self, p: Any) -> None:
        self[p]
        p.set_rule(self._field, None)

    def __iter__(self) -> Iterator[Any]:
        return (p for p in primitive_.records() if getattr(p, self._field))

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def __contains__(self, p: object) -> bool:
        return getattr(p, self._field, None) is not None


class EffectTypes:
    """The classes of effects that set an attribute, and their subclasses.

    Args:
      attribute: of `core.effects.Effect`, true or false.
    """

    __slots__ = ("_attribute",)

    def __init__(self, attribute: str) -> None:
        self._attribute = attribute

    def add_type(self, effect_type: type[effects_.Effect]) -> None:
        """Sets the attribute in a class of effects.

        Raises:
          TypeError: it is not such a class.
        """
        if not (
            isinstance(effect_type, type) and issubclass(effect_type, effects_.Effect)
        ):
            raise TypeError(
                f"add_type: a subclass of extend.core.Effect is needed, got "
                f"{effect_type!r}; pass the effect's class, derived from that"
            )
        setattr(effect_type, self._attribute, True)

    def contains(self, eff: Any) -> bool:
        """Whether an effect, or a class of effects, has the attribute."""
        return bool(getattr(eff, self._attribute, False))

    def filter_in(self, effects: Iterable[Any]) -> list[Any]:
        """The effects among `effects` that have the attribute."""
        return [e for e in effects if self.contains(e)]

    def filter_not_in(self, effects: Iterable[Any]) -> list[Any]:
        """The effects among `effects` that do not have the attribute."""
        return [e for e in effects if not self.contains(e)]


control_flow_allowed_effects = EffectTypes("in_control_flow")
custom_derivatives_allowed_effects = EffectTypes("in_custom_rules")
lowerable_effects = EffectTypes("lowerable")
ordered_effects = EffectTypes("ordered")
remat_allowed_effects = EffectTypes("in_remat")


# Rules of users get tuples, which some of them join.


def _jvp_rule(p: Any, rule: Any) -> Any:
    """A rule that is given arrays for numbers of Python, of whose dtype it may ask."""
    return lambda primals, tangents, **params: rule(
        tuple(map(_as_array, primals)), tuple(map(_as_array, tangents)), **params
    )


def _as_array(x: Any) -> Any:
    if type(x) in (bool, int, float, complex):
        return concrete_arrays.as_array(x)
    return x


def _transpose_rule(p: Any, rule: Any) -> Any:
    """A rule of one cotangent for primitives with one result."""
    if p.multiple_results:
        return lambda cts, *args, **params: rule(cts, *args, **params)
    return lambda cts, *args, **params: rule(cts[0], *args, **params)


def _batch_rule(p: Any, rule: Any) -> Any:
    return lambda axis, args, dims, **params: rule(tuple(args), tuple(dims), **params)


def _fancy_batch_rule(p: Any, rule: Any) -> Any:
    return lambda axis, args, dims, **params: rule(
        axis, tuple(args), tuple(dims), **params
    )


def _axis_batch_rule(p: Any, rule: Any) -> Any:
    """A rule of the axis's size and name, and of a third value, which is not used."""

    def batch(axis: Any, args: Any, dims: Any, **params: Any) -> Any:
        return rule(axis.size, axis.name, None, tuple(args), tuple(dims), **params)

    return batch


def _dce_rule(p: Any, rule: Any) -> Any:
    """A rule of two arguments, where one may also ask which operands are read later."""
    code = source_info.function_code(rule)
    optional = len(getattr(rule, "__defaults__", None) or ())
    if code is None or code.co_argcount - optional < 3:
        return rule
    return lambda used, eqn: rule(used, [True] * len(eqn.invars), eqn)


primitive_jvps = Window("jvp", _jvp_rule)
primitive_transposes = Window("transpose", _transpose_rule)
primitive_batchers = Window("batch", _batch_rule)
fancy_primitive_batchers = Window("batch", _fancy_batch_rule)
axis_primitive_batchers = Window("batch", _axis_batch_rule)
# `rule(trace, *tracers, **params)`, as in the record.
custom_partial_eval_rules = Window("partial_eval", lambda p, rule: rule)
# `rule(used, eqn)`, as in the record, or `rule(used, live, eqn)`.
dce_rules = Window("dce", _dce_rule)


def defjvp(primitive: Primitive, *jvprules: Callable[..., Any] | None) -> None:
    """Sets the JVP rule from one per operand: `rule(tangent, *primals, **params)`."""
    derivatives = tuple(
        None
        if rule is None
        else lambda t, out, *args, rule=rule, **params: rule(t, *args, **params)
        for rule in jvprules
    )
    primitive.set_rule("jvp", families.derivatives_rule(derivatives))


def defjvp2(primitive: Primitive, *jvprules: Callable[..., Any] | None) -> None:
    """As `defjvp`, for rules `(tangent, result, *primals, **params)`."""
    primitive.set_rule("jvp", families.derivatives_rule(jvprules))


def deflinear2(primitive: Primitive, transpose_rule: Callable[..., Any]) -> None:
    """Sets the rules of an operation that is linear in all operands."""

    def jvp(primals: Any, tangents: Any, **params: Any) -> Any:
        out = primitive.bind(*primals, **params)
        slopes = [families.instantiate(t) for t in tangents]
        return out, primitive.bind(*slopes, **params)

    primitive.set_rule("jvp", jvp)
    primitive_transposes[primitive] = transpose_rule


def deflinear(primitive: Primitive, transpose_rule: Callable[..., Any]) -> None:
    """Sets the rules of an operation that is linear in all operands.

    Args:
      primitive: the operation.
      transpose_rule: `rule(cotangent, **params)`, the operands' cotangents.
    """

    def rule(ct: Any, *operands: Any, **params: Any) -> Any:
        if type(ct) is Zero:
            return [Zero(x.aval) if type(x) is Linear else None for x in operands]
        return transpose_rule(ct, **params)

    deflinear2(primitive, rule)


def defbilinear(
    prim: Primitive, lhs_rule: Callable[..., Any], rhs_rule: Callable[..., Any]
) -> None:
    """Sets the rules of an operation that is linear in each of two operands.

    Args:
      prim: the primitive.
      lhs_rule: `rule(cotangent, x, y, **params)`, the cotangent of `x`, which is not
        known.
      rhs_rule: the same for `y`.
    """
    rules = (
        lambda t, out, x, y, **params: prim.bind(t, y, **params),
        lambda t, out, x, y, **params: prim.bind(x, t, **params),
    )
    prim.set_rule("jvp", families.derivatives_rule(rules))

    def transpose(ct: Any, x: Any, y: Any, **params: Any) -> Any:
        unknown, rule = (x, lhs_rule) if type(x) is Linear else (y, rhs_rule)
        if type(x) is Linear and type(y) is Linear:
            raise ValueError(
                f"{prim}: a product can be transposed by one operand, got two that are "
                "not known; differentiate it, or hold one fixed"
            )
        operand_ct = (
            Zero(unknown.aval) if type(ct) is Zero else rule(ct, x, y, **params)
        )
        return [operand_ct, None] if unknown is x else [None, operand_ct]

    primitive_transposes[prim] = transpose


def get_primitive_transpose(p: Primitive) -> Callable[..., Any]:
    """The transposition rule of a primitive.

    Raises:
      NotImplementedError: there is none.
    """
    if p not in primitive_transposes:
        raise primitive_.missing_rule(p, "transpose")
    return primitive_transposes[p]


def add_jaxvals(x: ArrayLike, y: ArrayLike) -> Array:
    """The sum of two tangents or cotangents of one type."""
    return families.add_any_p.bind(x, y)


def defvectorized(prim: Primitive) -> None:
    """Sets the batching rule of an elementwise operation."""
    prim.set_rule("batch", families.elementwise_batch)


def instantiate_zeros(tangent: Any) -> Any:
    """A tangent as a value: zeros where it is a Zero.

    Example:
      >>> import olympus, olympus.numpy as onp
      >>> from olympus.experimental import hijax
      >>> hijax.instantiate_zeros(hijax.Zero(olympus.typeof(onp.ones(2))))
      Array([0., 0.], dtype=float32)
    """
    value = families.instantiate(tangent)
    if isinstance(value, np.generic) and evaluate.is_evaluating():
        return concrete_arrays.as_array(value)
    return value


def is_undefined_primal(x: object) -> bool:
    """Whether `x` marks an operand with respect to which an operation is transposed."""
    return type(x) is Linear


def zeros_like_aval(aval: AbstractValue) -> Array:
    """Zeros of a type."""
    return families.instantiate(Zero(aval))


def lower_fun(
    fun: Callable[..., Any], multiple_results: bool = True
) -> Callable[..., Any]:
    """A lowering rule from a function over other operations."""

    def decompose(*args: Any, **params: Any) -> Any:
        return fun(*args, **params)

    decompose.multiple_results = multiple_results  # type: ignore[attr-defined]
    return decompose


def _first_result(rule: Any) -> Any:
    return lambda *args, **params: rule(*args, **params)[0]


# Rules for single platforms, and those for all others.
_lowerings: weakref.WeakKeyDictionary[Primitive, dict[str | None, Any]] = (
    weakref.WeakKeyDictionary()
)


def register_lowering(
    prim: Primitive,
    rule: Callable[..., Any] | None = None,
    platform: str | None = None,
    inline: bool = True,
    cacheable: bool = True,
) -> Any:
    """Sets how a primitive is lowered.

    Args:
      prim: the primitive.
      rule: made by `lower_fun` or `ffi.ffi_lowering`; or a function that builds MLIR
        operations, of a `LoweringRuleContext`, a value for each operand, and the
        parameters, which returns values.
      platform: 'cpu', 'cuda', ...; None for all that have no rule of their own.
      inline, cacheable: have no effect.

    Returns:
      The rule; without one, a decorator.

    Example:
      >>> import olympus
      >>> from olympus.extend import core
      >>> from olympus.interpreters import mlir
      >>> square_p = core.Primitive('square')
      >>> _ = square_p.def_abstract_eval(lambda x: x)
      >>> @mlir.register_lowering(square_p)
      ... def lower(ctx, x):
      ...     return mlir.hlo.MulOp(x, x).results
      >>> olympus.jit(square_p.bind)(3.0)
      Array(9., dtype=float32, weak_type=True)
    """
    del inline, cacheable
    if rule is None:
        return lambda rule: register_lowering(prim, rule, platform)
    several = getattr(rule, "multiple_results", None)
    if several is not None:
        _decompose_by(prim, rule, several, platform)
        return rule
    by_platform = _lowerings.setdefault(prim, {None: prim.lower})
    if not getattr(rule, "writes_text", False):
        by_platform[platform] = _builds_operations(rule)
    else:
        by_platform[platform] = rule

    def lower(ctx: Any, *operands: str, **params: Any) -> Any:
        own = by_platform.get(ctx.platform) or by_platform[None]
        if own is None:
            raise NotImplementedError(
                f"{prim}: there is no lowering for platform {ctx.platform}; write one "
                f"with register_lowering(..., platform={ctx.platform!r})"
            )
        return own(ctx, *operands, **params)

    prim.set_rule("lower", lower)
    prim.set_rule("rewrite", None)
    return rule


def _builds_operations(rule: Callable[..., Any]) -> Callable[..., Any]:
    """The rule `lower` for one that builds MLIR; the bindings load late."""
    late = primitive_.LateRule("api.mlir_rules", "text_rule")

    def lower(ctx: Any, *operands: str, **params: Any) -> Any:
        return late(rule)(ctx, *operands, **params)

    return lower


def _decompose_by(p: Primitive, rule: Any, several: bool, platform: Any) -> None:
    rule = _first_result(rule) if several and not p.multiple_results else rule
    if platform is not None:
        _rewrite_on(p, rule, platform)
        return
    p.set_rule("lower", None)
    p.set_rule("rewrite", None)
    p.set_rule("decompose", rule)


# Functions that stand for a primitive on single platforms.
_functions: weakref.WeakKeyDictionary[Primitive, dict[str, Any]] = (
    weakref.WeakKeyDictionary()
)


def _rewrite_on(p: Primitive, function: Any, platform: str) -> None:
    by_platform = _functions.setdefault(p, {})
    by_platform[platform] = function

    def rewrite(platform: str, *avals: Any, **params: Any) -> Any:
        own = by_platform.get(platform)
        return own and (lambda *args: own(*args, **params))

    p.set_rule("rewrite", rewrite)


def register_call_primitive_rules(
    prim: primitive_.Primitive,
    name: str | None = None,
    transpose_rule: Any = None,
    inline_jax_late: bool = False,
) -> None:
    """Gives an operation with several results the rules of a call.

    Args:
      prim: it has the parameter `call_jaxpr`.
      name: has no effect.
      transpose_rule: `rule(cotangents, *args, **params)`, in place of the program's.
      inline_jax_late: has no effect: calls are always inlined by the compiler.

    Raises:
      ValueError: it has one result.
    """
    del name, inline_jax_late
    if not prim.multiple_results:
        raise ValueError(
            f"register_call_primitive_rules: {prim} must have several results; make it "
            "with multiple_results=True"
        )
    for field, rule in call.RULES.items():
        prim.set_rule(field, rule)
    if transpose_rule is not None:
        prim.set_rule("transpose", transpose_rule)
