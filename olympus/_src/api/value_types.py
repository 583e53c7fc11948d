"""Values of a library's own types as operands."""

from __future__ import annotations

from collections.abc import Callable, Iterator, MutableMapping
from typing import Any

import numpy as np

from olympus._src.core import avals, trace
from olympus._src.foundation import array_protocol
from olympus._src.interpreters import evaluate

_PROTOCOL = array_protocol.OWN


class ValueHandlers(MutableMapping[type, Callable[[Any], Any]]):
    """For types of values what makes an array of one.

    An entry is the method `__olympus_array__` of the type: one that has it needs none.
    """

    __slots__ = ("_handlers",)

    def __init__(self) -> None:
        self._handlers: dict[type, Callable[[Any], Any]] = {}

    def __getitem__(self, kind: type) -> Callable[[Any], Any]:
        return self._handlers[kind]

    def __setitem__(self, kind: type, handler: Callable[[Any], Any]) -> None:
        try:
            setattr(kind, _PROTOCOL, lambda x: handler(x))
        except TypeError:
            raise TypeError(
                "canonicalize_dtype_handlers: the type must be a class of Python, got "
                f"{kind.__name__}, which takes no attributes; derive a class from it"
            ) from None
        self._handlers[kind] = handler

    def note(self, kind: type, handler: Callable[[Any], Any]) -> None:
        """Adds an entry for a type that needs none."""
        self._handlers[kind] = handler

    def __delitem__(self, kind: type) -> None:
        del self._handlers[kind]
        delattr(kind, _PROTOCOL)

    def __iter__(self) -> Iterator[type]:
        return iter(self._handlers)

    def __len__(self) -> int:
        return len(self._handlers)


canonicalize_dtype_handlers = ValueHandlers()
# What JAX and NumPy give is taken as it is; libraries read these entries for types of
# their own that derive from one.
canonicalize_dtype_handlers.note(np.ndarray, np.asarray)


class AvalRules(MutableMapping[type, Callable[[Any], Any]]):
    """For types of values what gives their type in programs.

    It adds to what arrays are: the value itself must be known to
    `canonicalize_dtype_handlers`, or have the method `__olympus_array__`.
    """

    __slots__ = ()

    def __getitem__(self, kind: type) -> Callable[[Any], Any]:
        return avals.aval_rules()[kind]

    def __setitem__(self, kind: type, rule: Callable[[Any], Any]) -> None:
        avals.register_aval(kind, rule)

    def __delitem__(self, kind: type) -> None:
        avals.forget_aval(kind)

    def __iter__(self) -> Iterator[type]:
        return iter(avals.aval_rules())

    def __len__(self) -> int:
        return len(avals.aval_rules())


pytype_aval_mappings = AvalRules()


def apply_primitive(prim: Any, *args: Any, **params: Any) -> Any:
    """Compiles and runs one operation on concrete values, whatever its `impl` is.

    Example:
      >>> from olympus import lax
      >>> from olympus.interpreters import xla
      >>> xla.apply_primitive(lax.add_p, 1.0, 2.0)
      Array(3., dtype=float32, weak_type=True)
    """
    with trace.set_current(trace.base()):
        return evaluate.apply_primitive(prim, args, params)
