"""Whether programs hold values of users' own types: what all code may ask at no cost.

The types themselves are in `core.hi_types`, which few programs load.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any


class _State:
    in_use = False  # whether there are classes of high types, or of operations on them


def are_in_use() -> bool:
    """Whether there may be high types, or operations of users, at all."""
    return _State.in_use


def note_use() -> None:
    """Says that there are some."""
    _State.in_use = True


value_classes: set[type] = set()


def is_high_value(x: Any) -> bool:
    """Whether an object, which is no tracer, is a value of a high type."""
    return type(x) in value_classes or any(
        base in value_classes for base in type(x).__mro__[1:]
    )


class MappingSpec:
    """How `vmap` and `scan` divide values of a high type: what an int is for arrays.

    Derive a class from it; specs are compared with `==`.

    Example:
      >>> from olympus.experimental import hijax
      >>> class Leading(hijax.MappingSpec):
      ...     def __repr__(self):
      ...         return 'Leading()'
      >>> Leading()
      Leading()
    """


def not_an_array(name: str, types: Sequence[Any]) -> TypeError:
    """The error for an operation on arrays that gets a value of a high type."""
    aval = next(a for a in types if a.is_high)
    return TypeError(
        f"{name}: an array is required, got a value of the high type {aval.short()}; "
        "apply an operation that is defined for it (a HiPrim), which gives arrays"
    )


def front_of(aval: Any) -> Any:
    """A mapped axis that is in front: 0, or a spec of a high type."""
    return aval.leading_axis_spec() if aval.is_high else 0


def check_axes(aval: Any, what: str) -> None:
    """Raises ValueError for a high type, whose axes only its user knows."""
    if aval.is_high:
        raise ValueError(
            f"vmap: a value of the high type {aval.short()} cannot be {what}; make one "
            "that is mapped so by an operation of your own (a HiPrim)"
        )
