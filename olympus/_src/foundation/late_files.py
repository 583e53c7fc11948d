"""Files of a package that are loaded when something in them is first used.

Loading takes a fifth of a millisecond a file, and most programs use few of the rarer
ones. A package lists these by `load_late`. `from olympus._src.lax import sorting` then
gives an object that stands for the file; a use of one of its names loads the file, and
puts it in the place of the object where it was used.

A file may be listed if loading it does nothing but define what is in it, and if those
that import it use it inside of functions alone. It may be loaded while a program is
traced or by any thread, as every import may.
"""

from __future__ import annotations

import importlib
import sys
from typing import Any


class LateFile:
    """Stands for a file until something in it is used."""

    __slots__ = ("_late_name",)

    def __init__(self, name: str) -> None:
        _name.__set__(self, name)

    def __getattribute__(self, name: str) -> Any:
        return getattr(_load(self, sys._getframe(1).f_globals), name)

    def __setattr__(self, name: str, value: Any) -> None:
        setattr(_load(self, {}), name, value)

    def __delattr__(self, name: str) -> None:
        delattr(_load(self, {}), name)

    def __dir__(self) -> list[str]:
        return dir(_load(self, {}))


# How to reach the slot, past what the class does with all names.
_name: Any = LateFile.__dict__["_late_name"]


def _load(file: LateFile, names: dict[str, Any]) -> Any:
    """The file, which takes the object's place among the names of who uses it."""
    module = importlib.import_module(_name.__get__(file))
    for name, value in list(names.items()):
        if value is file:
            names[name] = module
    return module


def load_late(package: str, files: str) -> None:
    """Has files of a package be loaded when they are first used.

    Args:
      package: its name.
      files: their names, with spaces between.
    """
    late = {file: LateFile(f"{package}.{file}") for file in files.split()}

    def get(name: str) -> Any:
        # Once a file is loaded, it is an attribute of the package.
        if name in late:
            return late[name]
        raise AttributeError(f"module {package!r} has no attribute {name!r}")

    sys.modules[package].__getattr__ = get  # type: ignore[method-assign]
