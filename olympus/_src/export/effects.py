"""Effects as data of JSON: the names of their classes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from olympus._src.core import effects
from olympus._src.foundation.container import Unreadable


def write_effect(effect: Any) -> str:
    """The name of an effect's class.

    Raises:
      ValueError: the class alone does not identify the effect.
    """
    kind = type(effect)
    try:
        same = kind() == effect
    except TypeError:
        same = False
    if not same:
        raise ValueError(
            "Exported.serialize: effects must be identified by their class alone, "
            f"got {effect!r}; give {kind.__name__} no arguments"
        )
    return f"{kind.__module__}.{kind.__qualname__}"


def read_effect(name: Any, where: str) -> Any:
    """The effect of a class that is defined here already; nothing is imported.

    Raises:
      Unreadable: there is no such class.
    """
    for kind in _subclasses(effects.Effect):
        if f"{kind.__module__}.{kind.__qualname__}" == name:
            return kind()
    raise Unreadable(
        f"{where}: the effect {name!r} must be defined before the program is read; "
        "import the module that defines it"
    )


def _subclasses(kind: type[Any]) -> Iterator[type[Any]]:
    for sub in kind.__subclasses__():
        yield sub
        yield from _subclasses(sub)
