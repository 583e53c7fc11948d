"""What is kept of the values that a trace depends on: enough to say what changed.

A snapshot holds small values themselves, arrays by their type, and objects by their
class, their fields and a weak reference. It keeps nothing alive.
"""

from __future__ import annotations

import functools
import types
import weakref
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from olympus._src.foundation import caching, source_info

_MAX_ITEMS = 16  # of a container, fields of an object, names of a function
_MAX_TEXT = 200
_DEPTH = 3
_PLAIN = frozenset((bool, int, float, complex, type(None), type(Ellipsis), range))


# What makes the plain value of one of a subclass, whose own methods may do anything.
_COPIES: dict[type, Callable[[Any], Any]] = {
    int: int.__int__,
    float: float.__float__,
    str: str.__str__,
    bytes: bytes.__bytes__ if hasattr(bytes, "__bytes__") else bytes,
}
_SHOWN_IN_SETS = _PLAIN | {str, bytes}
# Packages of values that say all by their text, and of objects that hold no values.
_VALUES = frozenset(("datetime", "decimal", "fractions", "pathlib", "uuid"))
_HANDLES = frozenset(("_io", "_thread", "logging", "threading"))


class Snapshot:
    """A value at one time.

    Attributes:
      kind: 'plain', 'array', 'items', 'keys', 'function', 'object' or 'opaque'.
      type: its class.
      value: of plain ones what `caching.exact` gives; of arrays the type; of functions
        the code; of containers the length.
      text: as it is shown, where that is known at once.
      parts: what it is made of, by key, index or field.
      ref: the object, if it can be referred to weakly; else its id.
    """

    # No named tuples here: making such a class costs a program's start 0.5 ms.
    __slots__ = ("kind", "parts", "ref", "text", "type", "value")

    def __init__(
        self,
        kind: str,
        type: Any,
        value: Any = None,
        text: str = "",
        parts: Mapping[Any, Snapshot] | None = None,
        ref: Any = None,
    ) -> None:
        self.kind = kind
        self.type = type
        self.value = value
        self.text = text
        self.parts = parts
        self.ref = ref

    def is_same_object(self, other: Snapshot) -> bool:
        """Whether two snapshots are of one object, as far as can be told."""
        return is_same(self.ref, other.ref)


def take(x: Any, depth: int = _DEPTH) -> Snapshot:
    """A snapshot of a value."""
    kind = type(x)
    if kind in _PLAIN:
        return Snapshot("plain", kind, caching.exact(x), repr(x))
    if kind is str or kind is bytes:
        return Snapshot("plain", kind, x if len(x) <= _MAX_TEXT else hash(x), _clip(x))
    if issubclass(kind, np.generic):
        return Snapshot("plain", kind, caching.exact(x), str(x))
    if isinstance(x, np.dtype):
        return Snapshot("plain", np.dtype, x, str(x))
    if kind is frozenset or kind is set:
        return _of_set(x, kind)
    if kind is types.FunctionType:
        return Snapshot("function", kind, x.__code__, x.__name__, ref=_reference(x))
    if hasattr(kind, "dtype") and hasattr(kind, "shape"):
        return _of_array(x, kind)
    if kind is tuple or kind is list:
        return _of_items(x, kind, depth)
    if kind is dict:
        return _of_keys(x, kind, depth)
    if isinstance(getattr(kind, "__members__", None), Mapping):  # an enumeration
        name = getattr(x, "_name_", None)
        return Snapshot("plain", kind, name, f"{kind.__name__}.{name}")
    if issubclass(kind, (type, types.ModuleType, types.BuiltinFunctionType)):
        name = str(getattr(x, "__name__", kind.__name__))
        return Snapshot("opaque", kind, None, name, ref=_reference(x))
    for base, copy in _COPIES.items():
        if issubclass(kind, base):  # a user's class of numbers or texts
            own = take(copy(x))
            return Snapshot("plain", kind, own.value, own.text)
    package = kind.__module__.partition(".")[0]
    if package in _VALUES and kind.__eq__ is not object.__eq__:
        return Snapshot("plain", kind, repr(x), _clip_text(repr(x)))
    if package in _HANDLES:  # which one it is makes no difference
        return Snapshot("opaque", kind, text=kind.__name__, ref=kind)
    if package == "olympus" and hasattr(x, "__wrapped__"):
        return Snapshot(
            "function", kind, source_info.function_code(x), source_info.function_name(x)
        )
    try:
        return _of_object(x, kind, depth)
    except Exception:  # attributes of users' classes may raise anything
        return Snapshot("opaque", kind, ref=_reference(x))


def _clip(x: Any) -> str:
    return repr(x) if len(x) <= _MAX_TEXT else repr(x[:_MAX_TEXT]) + "..."


def _clip_text(text: str) -> str:
    return text if len(text) <= _MAX_TEXT else text[:_MAX_TEXT] + "..."


def _of_set(x: Any, kind: type) -> Snapshot:
    if not _SHOWN_IN_SETS.issuperset(map(type, x)):
        return Snapshot("opaque", kind, ref=_reference(x))
    text = "{" + ", ".join(sorted(map(repr, x))) + "}"
    text = f"frozenset({text if x else ''})" if kind is frozenset else text
    return Snapshot("plain", kind, frozenset(map(caching.exact, x)), _clip_text(text))


def _of_array(x: Any, kind: type) -> Snapshot:
    """An array by its type, which is written when it is shown."""
    try:
        typed = x.aval if hasattr(kind, "aval") else (x.dtype, tuple(x.shape))
    except Exception:  # a user's class
        return Snapshot("opaque", kind, ref=_reference(x))
    return Snapshot("array", kind, typed, ref=_reference(x))


def _of_items(x: Sequence[Any], kind: type, depth: int) -> Snapshot:
    if depth <= 0:
        return Snapshot("opaque", kind, ref=_reference(x))
    parts = {i: take(v, depth - 1) for i, v in enumerate(x[:_MAX_ITEMS])}
    return Snapshot("items", kind, len(x), parts=parts)


def _of_keys(x: Mapping[Any, Any], kind: type, depth: int) -> Snapshot:
    if depth <= 0:
        return Snapshot("opaque", kind, ref=_reference(x))
    pairs = list(x.items())[:_MAX_ITEMS]
    parts = {k: take(v, depth - 1) for k, v in pairs if type(k) in (str, int, bool)}
    return Snapshot("keys", kind, len(x), parts=parts)


def _of_object(x: Any, kind: type, depth: int) -> Snapshot:
    """An instance by its fields, which are read without running a user's code."""
    reference = _reference(x)
    if depth <= 0:
        return Snapshot("opaque", kind, ref=reference)
    if kind is functools.partial:
        named: Any = {"func": x.func, "args": x.args, "keywords": x.keywords}
    elif kind is types.MethodType:
        named = {"func": x.__func__, "self": x.__self__}
    else:
        named = _fields_of(x, kind)
    if not named:
        return Snapshot("opaque", kind, ref=reference)
    parts = {k: take(v, depth - 1) for k, v in list(named.items())[:_MAX_ITEMS]}
    return Snapshot("object", kind, None, parts=parts, ref=reference)


def _fields_of(x: Any, kind: type) -> dict[str, Any]:
    fields = getattr(kind, "_fields", None)
    if issubclass(kind, tuple) and isinstance(fields, tuple):
        return dict(zip(fields, x, strict=False))
    own = getattr(x, "__dict__", None)
    named = dict(own) if type(own) is dict else {}
    for owner in kind.__mro__:
        slots = owner.__dict__.get("__slots__", ())
        for name in (slots,) if isinstance(slots, str) else slots:
            member = owner.__dict__.get(name)
            if isinstance(member, types.MemberDescriptorType):
                try:
                    named.setdefault(name, member.__get__(x, kind))
                except AttributeError:
                    continue
    return named


def is_same(first: Any, second: Any) -> bool:
    """Whether two references are to one object, which may be gone by now."""
    if type(first) is int or type(second) is int:
        return bool(first == second)
    return first is not None and first is second


def _reference(x: Any) -> Any:
    """A weak reference, of which Python has one for each object, or else an id."""
    try:
        return weakref.ref(x)
    except TypeError:
        return id(x)


# -- functions -------------------------------------------------------------------------


class Function:
    """A function at one time.

    Attributes:
      name: its name.
      chain: the code of wrappers and of what they wrap; equal for what one line makes.
      code: the innermost code, that of the user; None where there is none.
      parts: what it reads, by (name, 'cell', 'default', 'global', 'partial', ...).
      inner: the innermost function, weakly.
      form: 'function', 'partial', 'method' or 'instance', of what was given.
      where: its place, if that is not its code's.
    """

    __slots__ = ("chain", "code", "form", "inner", "name", "parts", "where")

    def __init__(
        self,
        name: str,
        chain: tuple[Any, ...],
        code: Any,
        parts: Mapping[tuple[str, str], Snapshot],
        inner: Any,
        form: str,
        where: str = "",
    ) -> None:
        self.name = name
        self.chain = chain
        self.code = code
        self.parts = parts
        self.inner = inner
        self.form = form
        self.where = where

    @property
    def place(self) -> str:
        """File and line, or what it is instead of Python code."""
        code = self.code
        if code is None:
            return self.where
        return f"{source_info.shown_file(code.co_filename)}:{code.co_firstlineno}"

    @property
    def is_plain(self) -> bool:
        """Whether the function itself was given, without wrappers."""
        return self.form == "function" and len(self.chain) == 1


_MAX_LAYERS = 32


def take_function(fun: Callable[..., Any]) -> Function:
    """A snapshot of a function, of what it wraps, and of what it reads."""
    parts: dict[tuple[str, str], Snapshot] = {}
    if type(fun) is types.FunctionType and not fun.__dict__:  # by far most are plain
        own = fun.__code__
        _note_function(fun, parts, None)
        name = fun.__name__
        return Function(name, (id(own),), own, parts, weakref.ref(fun), "function")
    chain: list[Any] = []
    inner, form = fun, ""
    for _ in range(_MAX_LAYERS):
        kind, code, wrapped = _step(inner, parts)
        chain.append(kind if code is None else id(code))
        form = form or kind
        if wrapped is None:
            break
        inner = wrapped
    code = getattr(inner, "__code__", None)
    if not isinstance(code, types.CodeType):
        code = None
    where = source_info.function_location(fun) if code is None else ""
    name = source_info.function_name(fun)
    return Function(name, tuple(chain), code, parts, _reference(inner), form, where)


def _step(fun: Any, parts: dict[tuple[str, str], Snapshot]) -> tuple[str, Any, Any]:
    """Notes one layer: its form, its code, and what it wraps or None."""
    if type(fun) is functools.partial:
        _note_partial(fun, parts)
        return "partial", None, fun.func
    if type(fun) is types.MethodType:
        parts["self", "instance"] = take(fun.__self__)
        return "method", None, fun.__func__
    if type(fun) is types.FunctionType:
        wrapped = getattr(fun, "__wrapped__", None)
        _note_function(fun, parts, wrapped)
        return "function", fun.__code__, wrapped if callable(wrapped) else None
    wrapped = getattr(fun, "__wrapped__", None)
    if callable(wrapped):
        return "wrapper", None, wrapped
    for owner in () if isinstance(fun, type) else type(fun).__mro__:
        call = owner.__dict__.get("__call__")
        if isinstance(call, types.FunctionType):
            parts["self", "instance"] = take(fun)
            return "instance", None, call
    return "opaque", None, None


def _note_partial(fun: Any, parts: dict[tuple[str, str], Snapshot]) -> None:
    code = source_info.function_code(fun.func)
    names = () if code is None else code.co_varnames[: code.co_argcount]
    for i, value in enumerate(fun.args[:_MAX_ITEMS]):
        name = names[i] if i < len(names) else f"argument {i}"
        parts[name, "partial"] = take(value)
    for name in list(fun.keywords)[:_MAX_ITEMS]:
        parts[name, "partial"] = take(fun.keywords[name])


def _note_own(
    name: str, value: Any, parts: dict[tuple[str, str], Snapshot], depth: int = 2
) -> None:
    """Notes an option of one of the library's transformations, such as `argnums`."""
    kind = type(value)
    if name == "positions" and kind in (list, tuple):  # as users write them
        name, value = "argnums", value[0] if len(value) == 1 else tuple(value)
        kind = type(value)
    if kind in _OPTIONS:
        parts[name, "transformation"] = take(value, 2)
    elif depth and kind.__module__.startswith("olympus."):
        for field in getattr(kind, "__slots__", ()):
            if field in _HOLDING:
                _note_own(field, getattr(value, field, None), parts, depth - 1)


_OPTIONS = _PLAIN | {str, tuple}
# The fields of the library's transformations that hold what users chose.
_HOLDING = frozenset(
    (
        "axis_name",
        "axis_size",
        "has_aux",
        "holomorphic",
        "in_axes",
        "out_axes",
        "plan",
        "positions",
    )
)


def _note_function(
    fun: types.FunctionType, parts: dict[tuple[str, str], Snapshot], wrapped: Any
) -> None:
    code = fun.__code__
    is_users = not source_info.is_internal(code.co_filename)
    for name, cell in zip(code.co_freevars, fun.__closure__ or (), strict=True):
        try:
            value = cell.cell_contents
        except ValueError:  # not bound yet
            continue
        if value is wrapped or value is fun:
            continue
        if is_users:
            parts[name, "cell"] = take(value)
        else:
            _note_own(name, value, parts)
    if not is_users:
        return
    defaults = fun.__defaults__ or ()
    names = code.co_varnames[: code.co_argcount]
    for name, value in zip(names[len(names) - len(defaults) :], defaults, strict=True):
        parts[name, "default"] = take(value)
    for name, value in (fun.__kwdefaults__ or {}).items():
        parts[name, "default"] = take(value)
    for name in code.co_names[: 4 * _MAX_ITEMS]:
        value = fun.__globals__.get(name, types)
        if not isinstance(value, (types.ModuleType, type)):
            parts[name, "global"] = take(value, 2)
