"""High types: types of a user's own, which programs hold until they are compiled.

A high type says which arrays stand for a value of it. Values are whatever objects the
user likes; in programs they are variables like others. Before a program is lowered,
each such variable becomes the arrays (see `interpreters.hi_lowering`).

Types are interned, as all types are: `canonical` gives the one object of all equal
ones, so that programs compare them by identity.
"""

from __future__ import annotations

import functools
import threading
import weakref
from collections.abc import Callable
from typing import Any, NamedTuple, NoReturn

from olympus._src.core import avals, high_values, trace
from olympus._src.core.high_values import MappingSpec


class HiPspec:
    """How `shard_map` divides values of a high type: what a `P` is for arrays."""

    def to_lo(self) -> tuple[Any, ...]:
        """A spec for each array that stands for a value."""
        raise _unwritten(self, "shard_map", "to_lo")

    def to_tangent_spec(self) -> HiPspec:
        """The spec of tangents."""
        raise _unwritten(self, "autodiff through shard_map", "to_tangent_spec")

    def to_ct_spec(self) -> HiPspec:
        """The spec of cotangents."""
        raise _unwritten(self, "autodiff through shard_map", "to_ct_spec")


class aval_property(NamedTuple):
    """A property that tracers of a high type have; an attribute of the type's class.

    Args:
      fget: takes the tracer.
    """

    fget: Callable[[Any], Any]


class aval_method(NamedTuple):
    """A method that tracers of a high type have; an attribute of the type's class.

    Args:
      fun: takes the tracer and the arguments.
    """

    fun: Callable[..., Any]


class HiType(avals.AbstractValue):
    """The type of a user's own values; derive a frozen dataclass from it.

    Methods that are not written raise an error that names them, once they are needed:
    `lo_ty`, `lower_val` and `raise_val` for values to be arguments of compiled
    programs, `to_tangent_aval` for derivatives, `vspace_zero` and `vspace_add` where
    the type is that of tangents, `dec_rank` and `inc_rank` for `vmap`, and
    `leading_axis_spec` for `scan`.

    Types are compared with `==`, and are keys: both come with a frozen dataclass.

    Example:
      >>> from dataclasses import dataclass
      >>> import olympus, olympus.numpy as onp
      >>> from olympus.experimental import hijax
      >>> @dataclass(frozen=True)
      ... class Pair:
      ...     x: olympus.Array
      ...     y: olympus.Array
      >>> @dataclass(frozen=True)
      ... class PairType(hijax.HiType):
      ...     of: hijax.ShapedArray
      ...     def lo_ty(self):
      ...         return [self.of, self.of]
      ...     def lower_val(self, pair):
      ...         return [pair.x, pair.y]
      ...     def raise_val(self, x, y):
      ...         return Pair(x, y)
      >>> hijax.register_hitype(Pair, lambda pair: PairType(olympus.typeof(pair.x)))
      >>> olympus.jit(lambda pair: pair)(Pair(onp.ones(2), onp.zeros(2)))
      Pair(x=Array([1., 1.], dtype=float32), y=Array([0., 0.], dtype=float32))
    """

    is_high = True
    # What the rules of operations ask of any type.
    weak_type = False
    explicit = None
    vma: frozenset[Any] = frozenset()

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        _start()

    def __hash__(self) -> int:
        raise _unwritten(self, "type equality", "__hash__")

    def __eq__(self, other: object) -> bool:
        if other is self:
            return True
        raise _unwritten(self, "type equality", "__eq__")

    def __getattr__(self, name: str) -> NoReturn:
        advice = ""
        if name in _ARRAY_FACTS:
            advice = (
                "; it is no type of arrays: apply operations that are defined for it, "
                "which give arrays"
            )
        raise AttributeError(
            f"{type(self).__name__!r} object has no attribute {name!r}{advice}",
            name=name,
            obj=self,
        )

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"

    def short(self) -> str:
        return self.str_short(short_dtypes=True)

    def str_short(self, short_dtypes: bool = False, **_: Any) -> str:
        """The printed type."""
        return str(self)

    # -- arrays that stand for a value -------------------------------------------------

    def lo_ty(self) -> list[Any]:
        """The types of the arrays that stand for a value."""
        raise _unwritten(self, "lowering (e.g. under jit)", "lo_ty")

    def lower_val(self, hi_val: Any, /) -> list[Any]:
        """The arrays that stand for a value."""
        raise _unwritten(self, "lowering values (e.g. under jit)", "lower_val")

    def raise_val(self, *lo_vals: Any) -> Any:
        """The value that arrays stand for."""
        raise _unwritten(self, "raising lowered values (e.g. under jit)", "raise_val")

    # -- derivatives -------------------------------------------------------------------

    def to_tangent_aval(self) -> Any:
        """The type of tangents: a high type, or a type of arrays."""
        raise _unwritten(self, "autodiff", "to_tangent_aval")

    def to_ct_aval(self) -> Any:
        """The type of cotangents; that of tangents, if not written."""
        return self.to_tangent_aval()

    def to_tangent(self) -> Any:
        """The type of tangents, as one object."""
        return canonical(self.to_tangent_aval())

    def to_cotangent(self) -> Any:
        """The type of cotangents, as one object."""
        return canonical(self.to_ct_aval())

    def at_least_vspace(self) -> Any:
        """The type of sums of tangents: that of the tangents."""
        return self.to_tangent()

    def vspace_zero(self) -> Any:
        """The zero of a type of tangents."""
        raise _unwritten(self, "use as a tangent/cotangent type", "vspace_zero")

    def vspace_add(self, x: Any, y: Any) -> Any:
        """The sum of two tangents."""
        raise _unwritten(self, "use as a tangent/cotangent type", "vspace_add")

    # -- mapped axes -------------------------------------------------------------------

    def dec_rank(self, size: int | None, spec: Any) -> Any:
        """The type of an element, where a spec divides a value in `size` elements."""
        raise _unwritten(self, "vmap", "dec_rank")

    def inc_rank(self, size: int | None, spec: Any) -> Any:
        """The type of `size` values of this type together, which a spec divides."""
        raise _unwritten(self, "vmap", "inc_rank")

    def leading_axis_spec(self) -> Any:
        """The spec that divides rows of values of this type, as `scan` does."""
        raise _unwritten(self, "scan", "leading_axis_spec")

    def with_axis(self, position: Any, size: Any, entry: Any = None) -> Any:
        """`inc_rank`, as one object."""
        del entry
        if position == 0 and not isinstance(position, MappingSpec):
            position = self.leading_axis_spec()
        return canonical(self.inc_rank(size, position))

    def with_leading_axis(self, size: Any) -> Any:
        """The type of rows of such values."""
        return self.with_axis(self.leading_axis_spec(), size)

    def without_axis(self, position: Any, size: Any = None) -> Any:
        """`dec_rank`, as one object."""
        if position == 0 and not isinstance(position, MappingSpec):
            position = self.leading_axis_spec()
        return canonical(self.dec_rank(size, position))

    # -- several devices ---------------------------------------------------------------

    def shard(
        self, mesh: Any, manual_axes: Any, check_vma: bool, spec: Any, /
    ) -> HiType:
        """The type of a device's part, where `shard_map` divides a value by a spec."""
        raise _unwritten(self, "shard_map", "shard")

    def unshard(self, mesh: Any, check_vma: bool, spec: Any, /) -> HiType:
        """The type of a value whose parts, by a spec, are of this type."""
        raise _unwritten(self, "shard_map", "unshard")

    def nospec(self, mesh: Any, check_vma: bool, all_names: Any, /) -> HiPspec:
        """The spec of values that `shard_map` keeps for the derivative."""
        raise _unwritten(self, "autodiff through shard_map", "nospec")

    def reshard(self, sharding: Any, /) -> HiType:
        """The type of values that are divided in another way."""
        raise _unwritten(self, "reshard", "reshard")

    # -- what all types have, which means nothing here ---------------------------------

    def update(self, **changes: Any) -> HiType:
        """This type: of what may change, it has no axes of meshes."""
        if set(changes) <= {"vma", "weak_type", "sharding"}:
            return self
        raise NotImplementedError(
            f"{type(self).__name__}: a high type has no {', '.join(sorted(changes))} "
            "to replace; make a new one"
        )

    def normalize(self) -> HiType:
        """This type."""
        return self

    def update_weak_type(self, weak_type: bool) -> HiType:
        """This type: weakness is of dtypes."""
        del weak_type
        return self

    def update_manual_axis_type(self, mat: Any) -> HiType:
        """This type."""
        del mat
        return self


_ARRAY_FACTS = frozenset(("dtype", "shape", "ndim", "size"))


def _unwritten(owner: Any, what: str, method: str) -> NotImplementedError:
    name = type(owner).__name__
    return NotImplementedError(
        f"{what} requires {name} to implement the `{method}` method"
    )


# -- one object for equal types --------------------------------------------------------


_interned: weakref.WeakKeyDictionary[Any, weakref.ref[Any]] = (
    weakref.WeakKeyDictionary()
)
_lock = threading.Lock()


def canonical(aval: Any) -> Any:
    """The one object that stands for all types that are equal to this one.

    Raises:
      NotImplementedError: the type has no `__eq__` or no `__hash__`.
    """
    if not isinstance(aval, HiType):
        return aval
    with _lock:
        known = _interned.get(aval)
        first = None if known is None else known()
        if first is None:
            first = aval
            _interned[aval] = weakref.ref(aval)
    return first


def register_hitype(val_cls: type, typeof_fn: Callable[[Any], Any]) -> None:
    """Makes objects of a class values of programs.

    Args:
      val_cls: the class, which must be no container in pytrees.
      typeof_fn: gives the type of a value, a `HiType`.

    Raises:
      TypeError: the first is no class, or the second no function; or, when a value is
        used, what it gives is no `HiType`.
    """
    if not isinstance(val_cls, type):
        raise TypeError(
            f"register_hitype: val_cls must be a class, got {val_cls!r} of type "
            f"{type(val_cls).__name__}"
        )
    if not callable(typeof_fn):
        raise TypeError(
            f"register_hitype: typeof_fn must be a function of a {val_cls.__name__} "
            f"that returns its HiType, got {typeof_fn!r}"
        )

    def rule(x: Any) -> Any:
        aval = typeof_fn(x)
        if not isinstance(aval, HiType):
            raise TypeError(
                f"register_hitype: typeof_fn of {val_cls.__name__} must return a "
                f"HiType, got {aval!r} of type {type(aval).__name__}"
            )
        return canonical(aval)

    high_values.value_classes.add(val_cls)
    avals.register_aval(val_cls, rule)
    _start()


# -- attributes of tracers -------------------------------------------------------------


def _start() -> None:
    """Notes that there are high types, and gives tracers what their types say.

    The class of tracers is changed late, so that nothing costs more without.
    """
    high_values.note_use()
    if "__getattr__" in vars(trace.Tracer):
        return
    for name, member in list(vars(trace.Tracer).items()):
        own = _OPERATORS.get(name)
        if own is None and (name.startswith("_") or name in _KEPT):
            continue
        if isinstance(member, property):
            setattr(trace.Tracer, name, _property_of_type(name, member))
        elif callable(member):
            setattr(trace.Tracer, name, _method_of_type(own or name, member))
    trace.Tracer.__getattr__ = _get_attribute  # type: ignore[attr-defined]


# What users write for tracers of a type, by the operator, as libraries for JAX do.
_OPERATORS = {
    f"__{name}__": f"_{name}"
    for name in (
        *(
            [
                "add",
                "radd",
                "sub",
                "rsub",
                "mul",
                "rmul",
                "truediv",
                "rtruediv",
                "floordiv",
                "rfloordiv",
            ]
        ),
        *(
            [
                "mod",
                "rmod",
                "pow",
                "rpow",
                "matmul",
                "rmatmul",
                "divmod",
                "rdivmod",
                "and",
                "rand",
                "or",
                "ror",
            ]
        ),
        *(
            [
                "xor",
                "rxor",
                "lshift",
                "rlshift",
                "rshift",
                "rrshift",
                "neg",
                "pos",
                "abs",
                "invert",
            ]
        ),
        *(
            [
                "eq",
                "ne",
                "lt",
                "le",
                "gt",
                "ge",
                "getitem",
                "setitem",
                "len",
                "iter",
                "contains",
            ]
        ),
        *(["round", "bool", "int", "float", "complex", "index"]),
    )
}
_KEPT = frozenset(
    (
        *("aval", "block_until_ready", "copy_to_host_async", "dtype", "explanation"),
        *("full_lower", "has_computed_aval", "ndim", "refusal", "shape", "size"),
        "weak_type",
    )
)
_WITH_TRACER = frozenset(("_len", "_bool", "_int", "_float", "_complex", "_index"))


def _method_of_type(name: str, otherwise: Callable[..., Any]) -> Callable[..., Any]:
    """A method of tracers that a high type may define, as `name`."""

    @functools.wraps(otherwise)
    def method(self: Any, *args: Any, **kwargs: Any) -> Any:
        aval = self.aval
        if not aval.is_high:
            return otherwise(self, *args, **kwargs)
        own = getattr(type(aval), name, None)
        if own is None:
            raise _no_attribute_of_type(self, name)
        if isinstance(own, (aval_method, aval_property)) or not name.startswith("_"):
            return _get_attribute(self, name)(*args, **kwargs)
        own = getattr(aval, name)
        if name in _WITH_TRACER:  # they take the tracer twice
            return own(self, self)
        return own(self, *args, **kwargs)

    return method


def _property_of_type(name: str, otherwise: property) -> property:
    """A property of tracers that a high type may define."""

    def get(self: Any) -> Any:
        if not self.aval.is_high:
            return otherwise.fget(self)  # type: ignore[misc]
        return _get_attribute(self, name)

    return property(get, doc=otherwise.__doc__)


def _get_attribute(tracer: Any, name: str) -> Any:
    """An attribute that the class of the tracer does not have, but that of its type."""
    if name.startswith("__"):
        raise _no_attribute(tracer, name)
    try:
        aval = object.__getattribute__(tracer, "aval")
    except AttributeError:
        aval = None
    if not isinstance(aval, HiType):
        raise _no_attribute(tracer, name)
    try:
        attribute = getattr(aval, name)
    except AttributeError as error:
        raise _no_attribute_of_type(tracer, name) from error
    if isinstance(attribute, aval_property):
        return attribute.fget(tracer)
    if isinstance(attribute, aval_method):
        return functools.partial(attribute.fun, tracer)
    return attribute


def _no_attribute_of_type(tracer: Any, name: str) -> AttributeError:
    aval = tracer.aval
    return AttributeError(
        f"{type(tracer).__name__} has no attribute {name}: a traced value of the high "
        f"type {aval.short()} has those of its type, not of the user's object; apply "
        "an operation that is defined for it (a HiPrim), or write "
        f"`{name} = aval_method(...)` in {type(aval).__name__}",
        name=name,
        obj=tracer,
    )


def _no_attribute(tracer: Any, name: str) -> AttributeError:
    return AttributeError(
        f"{type(tracer).__name__!r} object has no attribute {name!r}",
        name=name,
        obj=tracer,
    )
