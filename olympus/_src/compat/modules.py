"""Modules named `jax...`: found on import, filled name by name as names are read."""

from __future__ import annotations

import functools
import importlib
import importlib.machinery
import os
import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from types import ModuleType
from typing import Any

from olympus._src.compat import distributions, missing, names, renaming, sources
from olympus._src.core import reads

# Called with (module, name, whether it is there) for each name read the first time.
Reader = Callable[[str, str, bool], None]
readers: list[Reader] = []

# Called before each import of a module that is not loaded yet.
before_import: list[Callable[[], None]] = []


class Finder:
    """Finds and loads the modules of JAX's names; first in `sys.meta_path`.

    It has what `importlib.abc` asks of finders and loaders; importing that takes 3 ms.
    """

    def find_spec(
        self, fullname: str, path: Any = None, target: Any = None
    ) -> importlib.machinery.ModuleSpec | None:
        for call in before_import:
            call()
        if not names.is_jax(fullname):
            return None
        if not sources.exists(fullname):
            if _is_asked_only():
                return None
            _tell_readers(*fullname.rpartition(".")[::2], False)
            raise missing.module(fullname)
        is_package = fullname == names.ROOT or sources.is_package(fullname)
        origin = _origin(fullname)
        loader: Any = self  # not a subclass of the loaders of `importlib.abc`
        spec = importlib.machinery.ModuleSpec(
            fullname, loader, origin=origin, is_package=is_package
        )
        spec.has_location = True
        if is_package:
            spec.submodule_search_locations = [os.path.dirname(origin)]
        return spec

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> None:
        """Leaves it to Python."""

    def exec_module(self, module: ModuleType) -> None:
        _fill(module)

    def find_distributions(
        self, context: Any = None
    ) -> Iterator[distributions.Distribution]:
        """For `importlib.metadata`."""
        return distributions.find(context)

    # `importlib.resources` and `inspect` ask for these.
    def get_source(self, fullname: str) -> str:
        return ""

    def is_package(self, fullname: str) -> bool:
        return sources.is_package(fullname)


def _is_asked_only() -> bool:
    """Whether the finder's caller, as `importlib.util.find_spec`, imports nothing."""
    asker = sys._getframe(2).f_back
    return asker is not None and asker.f_code.co_name != "_find_and_load_unlocked"


def _origin(fullname: str) -> str:
    """The file that a module says it is from: of olympus, so that errors skip it."""
    return sources.file(fullname) or __file__


class _Module(ModuleType):
    """A module of JAX's name, whose dictionary holds all names when someone reads it.

    Libraries that copy JAX's functions to a namespace of their own read them there.
    """

    @property
    def __dict__(self) -> dict[str, Any]:  # type: ignore[override]
        values = _values_of(self)
        name = self.__name__
        for attribute in sources.list_names(name):
            if attribute not in values and sources.deprecation(name, attribute) is None:
                getattr(self, attribute, None)  # which enters it
        return values

    def __reduce__(self) -> tuple[Any, ...]:
        # Libraries that pickle modules by name know those of Python's own type.
        return importlib.import_module, (self.__name__,)


def _offers(module: ModuleType, name: str) -> bool:
    """Whether a module has a name that nobody has read yet, if nobody is told of it."""
    fullname = module.__name__
    if readers or sources.deprecation(fullname, name) is not None:
        return False
    return name in _names_of(fullname) or sources.exists(f"{fullname}.{name}")


@functools.cache
def _names_of(fullname: str) -> frozenset[str]:
    return frozenset(sources.list_names(fullname))


reads.declare_modules(_Module, _offers)


def _values_of(module: ModuleType) -> dict[str, Any]:
    """A module's dictionary as it is."""
    values: dict[str, Any] = _plain_values.__get__(module)
    return values


_plain_values: Any = vars(ModuleType)["__dict__"]


def _fill(module: ModuleType) -> None:
    fullname = module.__name__
    own = sources.own_modules(fullname)
    if own:
        module.__doc__ = importlib.import_module(own[0]).__doc__
    values = _values_of(module)
    module.__class__ = _Module

    def get(name: str) -> Any:
        if name == "__all__":
            return sources.list_names(fullname)
        is_dunder = name.startswith("__") and name.endswith("__")
        if is_dunder and not sources.lists(fullname, name):
            value = _dunder(fullname, name)
        else:
            value = _read(fullname, name)
        values[name] = value
        return value

    values["__getattr__"] = get
    values["__dir__"] = lambda: sorted({*values, *sources.list_names(fullname)})


def _dunder(fullname: str, name: str) -> Any:
    page = sources.page(fullname)
    if page is not None and name in _FACTS and name in vars(page):
        return vars(page)[name]
    raise AttributeError(f"module {fullname!r} has no attribute {name!r}")


_FACTS = ("__version__", "__version_info__")


def _tell_readers(module: str, name: str, is_there: bool) -> None:
    for reader in readers:
        reader(module, name, is_there)


def _read(fullname: str, name: str) -> Any:
    try:
        value = _find(fullname, name)
    except AttributeError:
        _tell_readers(fullname, name, False)
        raise
    _tell_readers(fullname, name, True)
    return value


def _find(fullname: str, name: str) -> Any:
    try:
        advice = sources.deprecation(fullname, name)
        if advice is not None:
            text = f"{fullname}.{name} is deprecated in JAX; {advice}"
            warnings.warn(text, DeprecationWarning, stacklevel=3)
        value = sources.find(fullname, name)
    except sources.Missing:
        below = f"{fullname}.{name}"
        if sources.exists(below):
            return importlib.import_module(below)
        raise missing.attribute(fullname, name) from None
    if isinstance(value, ModuleType) and value.__name__.startswith("olympus"):
        return _as_jax(value, f"{fullname}.{name}")
    public = None if "._src" in fullname else fullname
    return renaming.accept_keywords(renaming.rename(value, public))


def _as_jax(module: ModuleType, name: str) -> Any:
    """The module of JAX's name in the place of one of olympus."""
    own = names.jax_module(module.__name__)
    for candidate in (name, own):
        if names.is_jax(candidate) and sources.exists(candidate):
            return importlib.import_module(candidate)
    return module


def loaded() -> Sequence[str]:
    """The names of the modules of JAX that are loaded."""
    return [name for name in list(sys.modules) if names.is_jax(name)]
