"""Whose code and classes are, and what can be known of those of libraries.

Functions and classes of libraries are not followed as those of users are: which of them
read nothing but their arguments, and whose instances hide no state, is listed here.
"""

from __future__ import annotations

import functools
import sys
import types
from collections.abc import Iterator
from typing import Any

import numpy as np

from olympus._src.foundation import caching

# Code that uses one of these may read what its names do not tell.
BY_STRING = frozenset(
    (
        "__annotations__",
        "__dataclass_fields__",
        "__dict__",
        "__dir__",
        "__doc__",
        "__getattribute__",
        "__globals__",
        "__import__",
        "__module__",
        "__subclasses__",
        "_getframe",
        "attrgetter",
        "delattr",
        "dir",
        "eval",
        "exec",
        "f_builtins",
        "f_globals",
        "f_locals",
        "fromfile",
        "getattr",
        "globals",
        "hasattr",
        "import_module",
        "input",
        "locals",
        "memmap",
        "methodcaller",
        "modules",
        "open",
        "setattr",
        "vars",
    )
)
# Modules in C whose functions read nothing but their arguments. (Warnings are text.)
_PURE_MODULES = frozenset(
    (
        "_abc",
        "_bisect",
        "_codecs",
        "_collections",
        "_functools",
        "_heapq",
        "_json",
        "_operator",
        "_sre",
        "_statistics",
        "_string",
        "_struct",
        "_typing",
        "_warnings",
        "binascii",
        "builtins",
        "cmath",
        "itertools",
        "math",
        "unicodedata",
        "zlib",
    )
)
# Packages of classes whose methods read files, clocks, settings or random numbers.
IMPURE_PACKAGES = frozenset(
    (
        "_io",
        "asyncio",
        "concurrent",
        "datetime",
        "decimal",
        "io",
        "multiprocessing",
        "pathlib",
        "queue",
        "random",
        "shelve",
        "socket",
        "sqlite3",
        "subprocess",
        "tempfile",
        "urllib",
        "uuid",
        "zipfile",
    )
)
_LIBRARIES = frozenset(("jax", "jaxlib", "ml_dtypes", "numpy", "olympus", "scipy"))
# Of these functions read nothing that changes but what they are made with, and
# instances hide no state.
PLAIN_LIBRARIES = frozenset(
    (
        "abc",
        "collections",
        "contextlib",
        "dataclasses",
        "enum",
        "functools",
        "olympus",
        "types",
        "typing",
    )
)
# A field of a named tuple, whose module has another name in newer Python.
_TUPLE_GETTERS = frozenset(
    (("_collections", "_tuplegetter"), ("collections", "_tuplegetter"))
)
_FOLDER_OF_PYTHON = types.__file__.rpartition("types.py")[0]
_POINTER_BYTES = 8
_HEAP_TYPE = 1 << 9  # the flag of classes that Python code can change


def package_of(module: Any) -> str:
    """The package that a module's name begins with."""
    return module.partition(".")[0] if type(module) is str else ""


def is_own(module: Any) -> bool:
    """Whether a module's name is one of olympus."""
    return package_of(module) == "olympus"


def is_library(module: Any) -> bool:
    """Whether a module's name is one of a library whose code is not followed."""
    package = package_of(module)
    return package in _LIBRARIES or _is_of_python(package)


# Packages that come with Python, with whether the module of that name is Python's: a
# user's file may have the name of one.
_of_python: dict[str, tuple[Any, bool]] = {}


def _is_of_python(package: str) -> bool:
    if package not in sys.stdlib_module_names:
        return False
    module = sys.modules.get(package)
    known = _of_python.get(package)
    if known is None or known[0] is not module:
        file = getattr(module, "__file__", None)
        is_python = type(file) is not str or file.startswith(_FOLDER_OF_PYTHON)
        known = _of_python[package] = module, is_python
    return known[1]


def is_class_of_library(kind: type) -> bool:
    """Whether Python code does not change a class."""
    if not kind.__flags__ & _HEAP_TYPE:
        return True
    module = kind.__dict__.get("__module__")
    # Code that is run without a module's name makes classes of `builtins`.
    return is_library(module) and module != "builtins"


def is_pure(fun: types.BuiltinFunctionType, owner: Any) -> bool:
    """Whether a function of C code reads nothing but its arguments."""
    if isinstance(owner, type):  # a method of a class
        return package_of(owner.__module__) not in IMPURE_PACKAGES
    module = fun.__module__ if owner is None else owner.__name__
    return module in _PURE_MODULES or package_of(module) in _LIBRARIES


def is_constant_kind(kind: type) -> bool:
    """Whether instances of a class of C code do not change."""
    if issubclass(kind, (np.generic, np.dtype)):  # records change in place
        return is_class_of_library(kind) and kind is not np.void
    if kind.__module__ == "typing":  # variables, of C code in newer Python
        return _has_hidden_fields(kind)
    return (kind.__module__, kind.__name__) in _TUPLE_GETTERS


def are_plain(kind: type, base: type) -> bool:
    """Whether instances hold only attributes, besides the contents of `base`."""
    return all(
        x is object or x is base or _is_plain_library(x) or _is_written_in_python(x)
        for x in kind.__mro__
    )


def _is_plain_library(kind: type) -> bool:
    package = package_of(kind.__dict__.get("__module__"))
    return package == "olympus" or (
        package in PLAIN_LIBRARIES and not _has_hidden_fields(kind)
    )


def _has_hidden_fields(kind: type) -> bool:
    """Whether C code keeps in instances what no attribute shows."""
    if kind is functools.partial:
        return False
    own = kind.__dict__
    shown = sum(type(value) is types.MemberDescriptorType for value in own.values())
    shown += ("__dict__" in own) + ("__weakref__" in own)
    base: Any = kind.__base__
    return kind.__basicsize__ - base.__basicsize__ > shown * _POINTER_BYTES


def _is_written_in_python(kind: type) -> bool:
    if is_class_of_library(kind):
        return False
    own = kind.__dict__
    if "__dict__" in own or "__slots__" in own:
        return True
    return any("__dict__" in base.__dict__ for base in kind.__mro__[1:])


# A class keeps its slots for as long as it lives.
_members = caching.ByIdentity(4096, "slots of classes")


def members_of(kind: type) -> list[tuple[str, Any]]:
    """The slots of a class and its bases, by name."""
    members: list[tuple[str, Any]] | None = _members.get(kind)
    if members is None:
        members = _members[kind] = list(_find_members(kind))
    return members


def _find_members(kind: type) -> Iterator[tuple[str, Any]]:
    for x in kind.__mro__:
        for name, value in x.__dict__.items():
            if type(value) is types.MemberDescriptorType:
                yield name, value
