"""What the names in a function's code are bound to, to see whether it was bound anew.

Control flow traces a function object at its first call only. A new value that a closure
or a module binds to a name in between would then be missed; so a traced function is
remembered with what its names were bound to, and only where all of that cannot change
in place. With other bindings it is traced again. This decides nothing but when to trace
more often: two function objects are never taken for one.
"""

from __future__ import annotations

import types
import weakref
from typing import Any

import numpy as np

from olympus._src.core import array_type
from olympus._src.foundation import caching

_FIXED = (
    bool,
    int,
    float,
    complex,
    str,
    bytes,
    type(None),
    type(Ellipsis),
    type,
    np.dtype,
    np.generic,
    types.FunctionType,
    types.BuiltinFunctionType,
    types.ModuleType,
)


class Remembered:
    """Programs by function object, for as long as its names are bound to the same.

    Args:
      maxsize: functions to remember at most.
      name: what is kept, in words.
    """

    __slots__ = ("_by_function",)

    def __init__(self, maxsize: int, name: str) -> None:
        self._by_function = caching.ByIdentity(maxsize, name)

    def programs_of(self, fun: Any) -> dict[Any, Any]:
        """A mapping to look programs up in and to put them into.

        It is a new one for a function that cannot be remembered: one that is no plain
        function, or that names a value which can change in place.
        """
        if type(fun) is not types.FunctionType:
            return {}
        entry = self._by_function.get(fun)
        values = _values(fun)
        if entry is not None and _are_same(entry.values, values):
            programs: dict[Any, Any] = entry.programs
            if len(programs) >= _MAX_SIGNATURES:
                programs.clear()
            return programs
        if not all(map(_is_fixed, values)):
            return {}
        entry = self._by_function[fun] = _Entry(list(map(_hold, values)))
        return entry.programs

    def __len__(self) -> int:
        return len(self._by_function)


_MAX_SIGNATURES = 64


class _Entry:
    __slots__ = ("programs", "values")

    def __init__(self, values: list[Any]) -> None:
        self.values = values
        self.programs: dict[Any, Any] = {}


def _are_same(held: list[Any], values: list[Any]) -> bool:
    return len(held) == len(values) and all(
        get() is value for get, value in zip(held, values, strict=True)
    )


# By identity: code objects that are spelled alike are equal, wherever they stand.
_constant_code: dict[int, types.CodeType] = {}


def declare_constant(fun: Any) -> None:
    """Says that what this code's functions name changes nothing in their results.

    For wrappers of the library's own functions, which name its caches and its state.
    """
    _constant_code[id(fun.__code__)] = fun.__code__


def _values(fun: types.FunctionType) -> list[Any]:
    if id(fun.__code__) in _constant_code:
        return []
    values = []
    for cell in fun.__closure__ or ():
        try:
            values.append(cell.cell_contents)
        except ValueError:  # not filled yet
            values.append(_UNBOUND)
    names = fun.__globals__
    values += [names.get(name, _UNBOUND) for name in _global_names(fun.__code__)]
    values += fun.__defaults__ or ()
    values += (fun.__kwdefaults__ or {}).values()
    return values


class _Unbound:
    """Stands for a name without a value, such as one of a built-in function."""


_UNBOUND = _Unbound


def _is_fixed(x: Any) -> bool:
    if type(x) is tuple:
        return all(map(_is_fixed, x))
    return isinstance(x, _FIXED) or type(x) in array_type.concrete_types()


def _hold(x: Any) -> Any:
    """A function that gives the object back, without keeping it where that can be."""
    try:
        return weakref.ref(x)
    except TypeError:
        return lambda: x


@caching.bounded_cache(4096, "names in code")
def _global_names(code: types.CodeType) -> tuple[str, ...]:
    """The names that code and the code inside it may look up in its module."""
    names = dict.fromkeys(code.co_names)
    for const in code.co_consts:
        if isinstance(const, types.CodeType):
            names.update(dict.fromkeys(_global_names(const)))
    return tuple(names)
