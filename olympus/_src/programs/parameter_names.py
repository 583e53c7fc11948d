"""Names of the parameters of users' functions, as far as their code tells."""

from __future__ import annotations

from collections.abc import Sequence
from types import CodeType
from typing import Any

from olympus._src import tree


def parameter_names(fun: Any, count: int) -> list[str]:
    """Names of a function's first parameters, as far as its code tells."""
    return names_in_code(*code_of(fun), count)


def code_of(fun: Any) -> tuple[CodeType | None, int]:
    """The code that a callable runs, and how many of its parameters are filled."""
    filled = 0  # by a method or a partial
    while True:
        if hasattr(fun, "__func__"):
            fun, filled = fun.__func__, filled + 1
        elif hasattr(fun, "__wrapped__"):
            fun = fun.__wrapped__
        elif hasattr(fun, "func") and hasattr(fun, "args"):
            fun, filled = fun.func, filled + len(fun.args)
        elif hasattr(fun, "__code__"):
            return fun.__code__, filled
        elif not isinstance(fun, type) and hasattr(type(fun).__call__, "__code__"):
            fun, filled = type(fun).__call__, filled + 1
        else:
            return None, filled


def names_in_code(code: CodeType | None, filled: int, count: int) -> list[str]:
    """The names of `count` parameters after those that are filled."""
    if code is None:
        return [f"args[{i}]" for i in range(count)]
    names = list(code.co_varnames[filled : code.co_argcount])[:count]
    more = range(len(names), count)
    if code.co_flags & _TAKES_MORE:
        varargs = code.co_varnames[code.co_argcount + code.co_kwonlyargcount]
        return names + [f"{varargs}[{i - len(names)}]" for i in more]
    return names + [f"args[{i}]" for i in more]


_TAKES_MORE = 0x04  # the flag of code that takes *args


def structure_paths(names: Sequence[str], structures: Sequence[Any]) -> list[str]:
    """A path for each leaf of named structures, as in `x` or `params['w']`."""
    return [
        f"{name}{tree.keystr(path)}"
        for name, structure in zip(names, structures, strict=True)
        for path in tree.leaf_key_paths(structure)
    ]


def leaf_paths(names: Sequence[str], values: Sequence[Any]) -> list[str]:
    """A path for each leaf of named values, as in `x` or `params['w']`."""
    return [
        f"{name}{tree.keystr(path)}"
        for name, value in zip(names, values, strict=True)
        for path, _ in tree.tree_flatten_with_path(value)[0]
    ]
