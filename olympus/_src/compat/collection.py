"""Garbage collection in the process of a program, which imports much and then ends.

What modules make when they are imported stays, but the collector would walk over it
again and again, for a tenth of the time of a short process. So it is frozen, until the
collector walks over everything for the first time.

As Python ends, it collects four times. Once is enough to release what the program made.
Nobody misses what libraries made, except for objects that have finalizers: where one of
these is left, everything is released as always.
"""

from __future__ import annotations

import gc
import os
import sys
import weakref
from collections.abc import Iterable, Iterator, Sequence
from types import AsyncGeneratorType, CoroutineType, GeneratorType, ModuleType
from typing import Any

from olympus._src import native
from olympus._src.compat import modules


class Spared:
    """A block that runs a program, in a process that ends with it.

    What there is when it begins is frozen.
    """

    __slots__ = ("_after", "_end", "_freezes", "_harmless")

    def __init__(self) -> None:
        self._freezes = True
        self._harmless: set[type] = set()  # classes of what is frozen
        self._after: list[None] = []
        self._end: _End | None = None

    def __enter__(self) -> None:
        self._freeze()
        modules.before_import.append(self._freeze_imported)
        gc.callbacks.append(self._hear)

    def __exit__(self, kind: type[BaseException] | None, *error: object) -> None:
        modules.before_import.remove(self._freeze_imported)
        # Not if it failed: its objects live on in the error, which Python drops later.
        has_failed = kind is not None and not issubclass(kind, SystemExit)
        if has_failed or not gc.isenabled():
            return
        self._end = _End()
        if _has_finalizer(gc.get_objects()):
            # Finalizers run in the order of the collector's lists. In these, what has
            # survived a collection comes after what holds it, as it must: a text file
            # before its buffer.
            self._thaw()
            gc.collect()

    def _freeze_imported(self) -> None:
        """Freezes what imports made, before the collector would walk over it.

        It does until the program has made something that has to be released.
        """
        if not self._freezes or gc.get_count()[0] * 2 < gc.get_threshold()[0]:
            return
        objects = gc.get_objects()
        kinds = set(map(type, objects)) - self._harmless
        is_mixed = any(map(_is_class_of_program, kinds))
        if is_mixed or (kinds and _has_finalizer(objects, kinds)):
            self._freezes = False
            return
        self._harmless |= {kind for kind in kinds if not _is_finalized(kind)}
        self._freeze()

    def _freeze(self) -> None:
        gc.freeze()
        self._after = []  # which is frozen if somebody else freezes something

    def _thaw(self) -> None:
        self._freezes = False
        if any(value is self._after for value in gc.get_objects()):
            gc.unfreeze()

    def _hear(self, phase: str, info: dict[str, int]) -> None:
        """Is called by the collector before and after each collection."""
        if not sys.is_finalizing():
            if info["generation"] == 2 and phase == "start":
                self._thaw()
        elif phase == "start":
            self._start_end()
        else:
            gc.callbacks.remove(self._hear)
            if self._end is not None:
                self._end.finish()

    def _start_end(self) -> None:
        is_alone = gc.callbacks == [self._hear]  # others may be of the program
        young = [*gc.get_objects(generation=0), *gc.get_objects(generation=1)]
        if not is_alone or _has_finalizer(young):
            self._end = None
        if self._end is None:
            self._thaw()
        else:
            self._end.start(keeps_names=_has_finalizer(gc.get_objects()))


class _Names:
    """Is there as long as the names of a module are, and leads to them."""

    __slots__ = ("__weakref__", "values")

    def __init__(self, values: dict[str, Any]) -> None:
        self.values = values


class _End:
    """What is done around the last collection, after all that runs at exit.

    Before it, the program's modules are dropped, so that it releases what they hold;
    without their names, unless finalizers may read these. After it, names that are
    still there go, since libraries may hold functions of the program, and what is left
    is frozen.
    """

    __slots__ = ("_modules", "_names")

    def __init__(self) -> None:
        self._modules: list[tuple[str, weakref.ref[ModuleType]]] = []
        self._names: list[weakref.ref[_Names]] = []

    def start(self, *, keeps_names: bool) -> None:
        garbage: list[Any] = []
        garbage.append(garbage)  # which the collection finds, and all that it holds
        for name, module, values in _modules_of_program():
            del sys.modules[name]
            if not keeps_names:
                garbage.append(list(values.values()))
                values.clear()
                continue
            names = values[_MARK] = _Names(values)
            self._names.append(weakref.ref(names))
            self._modules.append((name, weakref.ref(module)))

    def finish(self) -> None:
        if self._names and _has_finalizer(gc.get_objects()):
            self._bring_back()
            return
        for reference in self._names:
            names = reference()
            if names is not None:
                names.values.clear()
        gc.freeze()

    def _bring_back(self) -> None:
        for name, reference in self._modules:
            module = reference()
            if module is not None:
                sys.modules[name] = module


_MARK = "__olympus_names__"

# -- what is the program's -------------------------------------------------------------


def _modules_of_program() -> Iterator[tuple[str, ModuleType, dict[str, Any]]]:
    for name, module in list(sys.modules.items()):
        if issubclass(type(module), ModuleType):
            values = _plain_values.__get__(module)  # which loads no module
            if _is_of_program(name, values.get("__file__")):
                yield name, module, values


_plain_values: Any = vars(ModuleType)["__dict__"]


def _is_of_program(name: str, file: object) -> bool:
    """Whether a module is the program's own, not Python's or of a package."""
    if name == "__main__":
        return True
    is_ours = name.partition(".")[0] in _OURS
    return type(file) is str and not is_ours and not _is_installed(file)


_OURS = ("olympus", "jax", "jaxlib")


def _is_installed(file: str) -> bool:
    is_package = "site-packages" in file or "dist-packages" in file
    return is_package or file.startswith((_PYTHON, _OLYMPUS, "<frozen"))


_PYTHON = os.path.dirname(os.__file__) + os.sep
_OLYMPUS = os.path.dirname(native.__path__[0]) + os.sep


def _is_class_of_program(kind: type) -> bool:
    name = _module_of(kind)
    module = sys.modules.get(name)
    if not issubclass(type(module), ModuleType):
        return False
    return _is_of_program(name, _plain_values.__get__(module).get("__file__"))


def _module_of(kind: type) -> str:
    """The name of a class's module, of which no code of its own class is called."""
    name = type.__getattribute__(kind, "__module__")
    return name if type(name) is str else ""


# -- what has to be released -----------------------------------------------------------


def _has_finalizer(objects: Sequence[object], kinds: Iterable[type] = ()) -> bool:
    """Whether somebody's code is called when one of the objects goes.

    Args:
      objects: that the collector knows of.
      kinds: their classes, as far as these may have finalizers; all of them if empty.
    """
    kinds = kinds or set(map(type, objects))
    finalized = {kind for kind in kinds if _is_finalized(kind)}
    if not finalized:
        return False
    streams = set(map(id, _standard_streams()))
    return any(
        type(value) in finalized and id(value) not in streams and not _is_idle(value)
        for value in objects
    )


def _is_finalized(kind: type) -> bool:
    if _module_of(kind).partition(".")[0] in _OURS:
        return False
    bases = type.__getattribute__(kind, "__mro__")
    return any("__del__" in type.__getattribute__(base, "__dict__") for base in bases)


def _is_idle(value: Any) -> bool:
    """Whether an object is a suspended function of a library, which hold nothing."""
    name = _SUSPENDED.get(type(value))
    return name is not None and _is_installed(getattr(value, name).co_filename)


_SUSPENDED = {
    GeneratorType: "gi_code",
    CoroutineType: "cr_code",
    AsyncGeneratorType: "ag_code",
}


def _standard_streams() -> Iterator[object]:
    """Python's own streams, which it leaves open."""
    for stream in (sys.__stdin__, sys.__stdout__, sys.__stderr__):
        buffer = getattr(stream, "buffer", None)
        yield from (stream, buffer, getattr(buffer, "raw", None))
