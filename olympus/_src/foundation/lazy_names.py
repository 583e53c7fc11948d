"""Names of a public module that are loaded at their first use.

Importing every function would make `import olympus` a third slower, and a program uses
few of the rarely needed ones. A module lists them by the file they come from;
type checkers and editors read the same imports under `if TYPE_CHECKING`.
"""

from __future__ import annotations

import contextlib
import importlib
import sys
from collections.abc import Iterable, Mapping
from types import FunctionType, ModuleType
from typing import Any, ForwardRef

from olympus._src import native
from olympus._src.foundation import source_info, tracebacks


class Late:
    """What a public module loads late, once something asks for it by name.

    Args:
      page: the module's name.
      pages: public modules below it.
      names: for each file of `olympus._src`, which of its names are the module's, with
        spaces between. `map=map_` is a name that is another one in the file.
    """

    __slots__ = ("_home", "_page", "_pages")

    def __init__(
        self, page: str, pages: Iterable[str], names: Mapping[str, str]
    ) -> None:
        self._page = page
        self._pages = frozenset(pages)
        self._home = {
            name: (file, own or name)
            for file, listed in names.items()
            for name, _, own in (entry.partition("=") for entry in listed.split())
        }
        module: Any = sys.modules[page]
        module.__getattr__, module.__dir__ = self.load, self.names

    @tracebacks.api_boundary
    def load(self, name: str) -> Any:
        """The module's attribute; it is the module's `__getattr__`.

        Raises:
          AttributeError: the module has no such name.
        """
        if name in self._pages:
            return importlib.import_module(f"{self._page}.{name}")
        if name in self._home:
            file, own = self._home[name]
            if own != name and own in self._home:
                self.load(own)  # by which name it is known
            home = importlib.import_module(f"olympus._src.{file}")
            # From here on it is an ordinary attribute, which a test may replace.
            page = vars(sys.modules[self._page])
            page.setdefault(name, getattr(home, own))
            _claim(self._page, page, name)
            page[name] = guarded(page[name])
            return page[name]
        hint = self._hint(name)
        text = f"module {self._page!r} has no attribute {name!r}{hint}"
        # Python adds a suggestion of its own where the object is known.
        raise (
            AttributeError(text, name=name, obj=None) if hint else AttributeError(text)
        )

    def offers(self, name: str) -> bool:
        """Whether the module has the name, loaded or not."""
        return name in self._home or name in self._pages

    def _hint(self, name: str) -> str:
        """Names that the user may have meant, here or in another public module."""
        if name.startswith("_"):
            return ""
        for page in _OTHER_PAGES:
            module = sys.modules.get(page)
            if module is not None and page != self._page and name in dir(module):
                return f"; did you mean {page}.{name}?"
        difflib = importlib.import_module("difflib")
        near = difflib.get_close_matches(name, self.names(), 1, 0.75)
        return f"; did you mean {near[0]!r}?" if near else ""

    def names(self) -> list[str]:
        """The module's names, loaded or not; it is the module's `__dir__`."""
        return sorted({*vars(sys.modules[self._page]), *self._pages, *self._home})


def offers(module: ModuleType, name: str) -> bool:
    """Whether a public module has a name that it loads late."""
    late = vars(module).get("_late")
    return isinstance(late, Late) and late.offers(name)


# Where names are looked for that a module has not.
_OTHER_PAGES = (
    "olympus",
    "olympus.numpy",
    "olympus.lax",
    "olympus.nn",
    "olympus.random",
    "olympus.tree",
    "olympus.numpy.linalg",
    "olympus.scipy.special",
)


def claim(page: str) -> None:
    """Makes the functions and classes of a public module those that users see.

    Their `__module__` is set to it: help, pickles and prints then show what users
    import. If several modules share a name, the first that is loaded is set. And errors
    that leave a function show the user's frames alone.
    """
    names = vars(sys.modules[page])
    public = names.get("__all__") or [n for n in names if not n.startswith("_")]
    for name in public:
        if name in names:
            _claim(page, names, name)
            names[name] = guarded(names[name])


# By function of `olympus._src`: what stands for it in all public modules.
_guards: dict[Any, Any] = {}


def guarded(value: Any) -> Any:
    """The value; a function stands behind one that takes our frames out of errors.

    In Python that would cost each call a tenth of a microsecond, so it is done in C
    alone.
    """
    if type(value) is not FunctionType or native.calls is None:
        return value
    if not source_info.is_internal(value.__code__.co_filename):
        return value
    if hasattr(value, "shortens_errors"):  # see `tracebacks.api_boundary`
        return value
    guard = _guards.get(value)
    if guard is None:
        guard = _guards[value] = native.calls.Direct(value, None, 0)
        for name in ("__module__", "__name__", "__qualname__", "__doc__"):
            setattr(guard, name, getattr(value, name))
        guard.__wrapped__ = value
    return guard


def guard_methods(cls: type) -> type:
    """A decorator of classes whose public methods users call."""
    for name, value in list(vars(cls).items()):
        if not name.startswith("_") and isinstance(value, FunctionType):
            setattr(cls, name, guarded(value))
    return cls


def _claim(page: str, names: Mapping[str, Any], name: str) -> None:
    value = names[name]
    home = getattr(value, "__module__", None)
    if not isinstance(home, str) or not home.startswith("olympus._src."):
        return
    if getattr(value, "__qualname__", "") == f"{name}_":
        # In its file it has an underscore, so as not to hide one of Python's own.
        value.__name__ = value.__qualname__ = name
    # Under another name the module does not lead to it, and a pickle would not either.
    if names.get(getattr(value, "__qualname__", "")) is value:
        with contextlib.suppress(AttributeError, TypeError):  # it may have no place
            value.__module__ = page
            _keep_annotations(value, home)
            if page.startswith(_STAGED) and isinstance(value, FunctionType):
                _add_stages(value)


# Modules whose functions can be traced and lowered as jitted ones.
_STAGED = ("olympus.numpy", "olympus.nn", "olympus.scipy", "olympus.image")


def _add_stages(function: Any) -> None:
    for name in ("trace", "lower", "eval_shape"):
        setattr(function, name, _Stage(function, name))


def is_stage_of(stage: Any, function: Any) -> bool:
    """False for a stage of a library function on another one that copied it."""
    return not isinstance(stage, _Stage) or stage.function is function


class _Stage:
    """`function.lower` and its like, which need `jit` when they are called."""

    __slots__ = ("_name", "function")

    def __init__(self, function: Any, name: str) -> None:
        self.function = function
        self._name = name

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        stages = importlib.import_module("olympus._src.api.function_stages")
        return stages.apply(self.function, self._name, args, kwargs)

    def __repr__(self) -> str:
        return f"<{self._name} of {self.function.__name__}>"


def _keep_annotations(value: Any, home: str) -> None:
    """Has the annotations of a class, which are text, be read in the file it is from.

    `typing.get_type_hints` looks for their names in `__module__`. Functions have the
    names of their file with them.
    """
    if not isinstance(value, type):
        return
    annotations = vars(value).get("__annotations__", {})
    for name, text in annotations.items():
        if isinstance(text, ForwardRef):  # of a NamedTuple
            text = text.__forward_arg__
        if isinstance(text, str):
            annotations[name] = ForwardRef(
                text, module=home, is_argument=False, is_class=True
            )
