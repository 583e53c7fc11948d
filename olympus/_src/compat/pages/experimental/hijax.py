"""Types of a user's own in programs: names to derive classes from, and no more.

Libraries that offer such types beside others can be imported; a value of such a type is
refused where it is used.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn

from olympus._src.core.avals import AbstractValue as AbstractValue
from olympus._src.core.avals import ShapedArray as ShapedArray
from olympus._src.core.symbolic_values import Zero as Zero
from olympus._src.lax.families import instantiate as instantiate_zeros


def _refuse(name: str) -> NoReturn:
    raise NotImplementedError(
        f"jax.experimental.hijax.{name}: olympus runs this program in place of JAX and "
        "has no types of a user's own in programs; pass arrays, or pytrees of them"
    )


class HiType(AbstractValue):
    """A type that is replaced by arrays before a program is compiled."""

    is_high = True

    def short(self) -> str:
        return type(self).__name__


class HiPrim:
    """An operation on values of such types."""

    def __call__(self, *args: Any) -> NoReturn:
        _refuse(type(self).__name__)


VJPHiPrimitive = HiPrim
HiPrimitive = HiPrim


class aval_property(property):
    """A property of traced values of a type."""


class aval_method:
    """A method of traced values of a type.

    Args:
      fun: the function.
    """

    def __init__(self, fun: Callable[..., Any]) -> None:
        self.fun = fun


def register_hitype(value_class: type, type_of: Callable[[Any], Any]) -> None:
    """Says what the type of values of a class is: of which none is accepted."""
    del type_of
    value_class.__olympus_array__ = lambda x: _refuse(  # type: ignore[attr-defined]
        type(x).__name__
    )


_NOTE = "classes can be derived from it; using one is refused"
APPROXIMATED = dict.fromkeys(("HiType", "HiPrim", "register_hitype"), _NOTE)

__all__ = [
    "AbstractValue",
    "HiPrim",
    "HiPrimitive",
    "HiType",
    "ShapedArray",
    "VJPHiPrimitive",
    "Zero",
    "aval_method",
    "aval_property",
    "instantiate_zeros",
    "register_hitype",
]
