"""What a function is: a key that re-made functions share.

Two functions are the same program when they have the same code object and read the same
values: defaults, closure cells, and the globals (and attributes of modules) their code
names, recursively through the functions among those. Only values that cannot change
under us take part: numbers, strings, dtypes, tuples and other frozen containers by
equality, arrays by identity, lists and dictionaries by their present contents. A
function that reads anything else has no key, and is known by identity alone. A class of
this library may name, in `parts_for_keys`, the fields that make its instances equal.
"""

from __future__ import annotations

import functools
import opcode
import sys
import types
import weakref
from typing import Any

import numpy as np

from olympus._src.core import trace
from olympus._src.foundation import source

_SCALARS = (int, bool, str, bytes, type(None), type(Ellipsis))
_MAX_ITEMS = 64
_MAX_DEPTH = 12

# Code that can reach names we do not see in it.
_OPAQUE = frozenset(
    (
        "globals",
        "locals",
        "vars",
        "eval",
        "exec",
        "getattr",
        "__import__",
        "open",
        "input",
    )
)
_IMPORT = opcode.opmap["IMPORT_NAME"]


class _NoKey(Exception):
    """The function reads something whose change we could not see."""


class _Identity:
    """A key that equals itself while its object lives, and nothing after."""

    __slots__ = ("hash", "ref")

    def __init__(self, x: Any) -> None:
        self.ref = weakref.ref(x)
        self.hash = id(x)

    def __hash__(self) -> int:
        return self.hash

    def __eq__(self, other: object) -> bool:
        if type(other) is not _Identity:
            return False
        mine = self.ref()
        return mine is not None and mine is other.ref()


def function_key(f: Any, *, same_containers: bool = False) -> Any:
    """A hashable key of what `f` computes, or None where there is none.

    Args:
      f: a function.
      same_containers: lists, sets and dictionaries that functions read must also be the
        same objects, as where a callback that `f` makes may write to them.
    """
    try:
        return _Reader(same_containers).value(f, 0)
    except (_NoKey, TypeError, RecursionError):
        return None


class _Reader:
    """Walks the values a function reads; functions met twice are read once."""

    def __init__(self, same_containers: bool) -> None:
        self.seen: dict[int, int] = {}
        self.same_containers = same_containers

    def value(self, x: Any, depth: int) -> Any:
        kind = type(x)
        if kind is float:
            return (kind, x.hex())  # tells 0.0 from -0.0 and makes nan equal itself
        if kind is complex:
            return (kind, x.real.hex(), x.imag.hex())
        if kind in _SCALARS:
            return (kind, x)
        if depth > _MAX_DEPTH:
            raise _NoKey
        if kind is types.FunctionType:
            return self.function(x, depth + 1)
        if isinstance(x, functools.partial):
            return self.partial(x, depth + 1)
        if kind in (tuple, list, frozenset, set, dict):
            return self.container(kind, x, depth + 1)
        return self.opaque(x, kind, depth + 1)

    def opaque(self, x: Any, kind: type, depth: int) -> Any:
        if isinstance(x, trace.Tracer):
            raise _NoKey
        if type(x) in trace.concrete_types() or _is_library_object(x):
            return (kind, _identity(x))
        if isinstance(x, np.dtype):
            return (kind, x)
        if isinstance(x, np.generic):
            return (kind, x.dtype, x.tobytes())
        parts = getattr(kind, "parts_for_keys", None)
        if parts is None:
            raise _NoKey
        return (kind, tuple([self.value(getattr(x, name), depth) for name in parts]))

    def container(self, kind: type, x: Any, depth: int) -> Any:
        if len(x) > _MAX_ITEMS:
            raise _NoKey
        if self.same_containers and kind not in (tuple, frozenset):
            # What a program made of the function refers to keeps its identity; to what
            # it does not refer, only the contents matter.
            return (id(x), self.contents(kind, x, depth))
        return self.contents(kind, x, depth)

    def contents(self, kind: type, x: Any, depth: int) -> Any:
        if kind is dict:
            items = [(self.value(k, depth), self.value(v, depth)) for k, v in x.items()]
            return (kind, tuple(items))
        if kind in (set, frozenset):
            return (kind, frozenset(self.value(v, depth) for v in x))
        return (kind, tuple([self.value(v, depth) for v in x]))

    def partial(self, x: Any, depth: int) -> Any:
        if x.__dict__:
            raise _NoKey
        keywords = tuple([(k, self.value(v, depth)) for k, v in x.keywords.items()])
        args = tuple([self.value(v, depth) for v in x.args])
        return (type(x), self.value(x.func, depth), args, keywords)

    def function(self, f: Any, depth: int) -> Any:
        code = f.__code__
        library = _is_library_function(f)
        if library and not _is_made(f):
            return (types.FunctionType, _identity(f))
        order = self.seen.get(id(f))
        if order is not None:
            return ("seen", order)  # recursion
        self.seen[id(f)] = len(self.seen)
        if f.__dict__ and not set(f.__dict__) <= {"__wrapped__"}:
            raise _NoKey
        defaults = self.value(f.__defaults__, depth)
        keyword_defaults = self.value(f.__kwdefaults__, depth)
        cells = tuple([self.cell(c, code, depth) for c in f.__closure__ or ()])
        if library:  # a transformation made it of the user's function in its cells
            return (code, defaults, keyword_defaults, cells)
        return (code, defaults, keyword_defaults, cells, self.globals(f, depth))

    def cell(self, cell: Any, code: Any, depth: int) -> Any:
        try:
            contents = cell.cell_contents
        except ValueError:
            raise _NoKey from None  # not filled yet
        return self.named(contents, code, depth)

    def globals(self, f: Any, depth: int) -> Any:
        found = []
        for name in names_read(f.__code__):
            if name in f.__globals__:
                x = f.__globals__[name]
                found.append((name, self.named(x, f.__code__, depth)))
        return tuple(found)

    def named(self, x: Any, code: Any, depth: int) -> Any:
        if isinstance(x, types.ModuleType):
            return self.module(x, names_read(code), depth + 1)
        return self.value(x, depth)

    def module(self, m: Any, names: Any, depth: int) -> Any:
        """A module as the code sees it: the attributes it may name."""
        if depth > _MAX_DEPTH:
            raise _NoKey
        attributes = []
        for name in names:
            if name in m.__dict__:
                x = m.__dict__[name]
                if isinstance(x, types.ModuleType):
                    key = self.module(x, names, depth + 1) if x is not m else None
                else:
                    key = self.value(x, depth)
                attributes.append((name, key))
        return (id(m), tuple(attributes))


def _identity(x: Any) -> Any:
    try:
        return _Identity(x)
    except TypeError:
        return id(x)  # a built-in without weak references lives as long as its module


@functools.lru_cache(maxsize=4096)
def names_read(code: Any) -> tuple[str, ...]:
    """Global and attribute names in code and the code inside it.

    Raises:
      _NoKey: the code imports, or calls what reaches names by other ways.
    """
    names = dict.fromkeys(code.co_names)
    if not _OPAQUE.isdisjoint(names) or _IMPORT in code.co_code[::2]:
        raise _NoKey
    for const in code.co_consts:
        if isinstance(const, types.CodeType):
            names.update(dict.fromkeys(names_read(const)))
    return tuple(names)


# Modules whose functions and types give the same answer for the same arguments: they
# read no state of the user's.
_LIBRARIES = frozenset(
    ("olympus", "numpy", "math", "builtins", "functools", "operator", "ml_dtypes")
)


def _is_library_function(f: Any) -> bool:
    """Whether it reads no state of the user's, but through its cells."""
    if source.is_internal(f.__code__.co_filename):
        return True
    return _root(f.__module__) in _LIBRARIES


def _is_made(f: Any) -> bool:
    """Whether a call made this function of others, as transformations do."""
    if f.__closure__ is None:
        return False
    home = sys.modules.get(f.__module__)
    return getattr(home, f.__name__, None) is not f


def _is_library_object(x: Any) -> bool:
    if isinstance(x, types.BuiltinFunctionType):
        # Bound ones (np.random.rand, some_list.append) depend on what they belong to.
        owner = x.__self__
        return (
            isinstance(owner, types.ModuleType) and _root(owner.__name__) in _LIBRARIES
        )
    if isinstance(x, type):
        return _root(x.__module__) in _LIBRARIES
    return isinstance(x, np.ufunc) or getattr(type(x), "frozen_for_keys", False)


def _root(module: Any) -> str:
    return module.split(".")[0] if isinstance(module, str) else ""
