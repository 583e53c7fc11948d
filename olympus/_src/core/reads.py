"""What a function reads while it is traced, as far as can be determined.

A function object is followed to its code, its closure, its defaults, the attributes set
on it and the values of the names in its code; from there to what those are made of:
functions, wrappers, methods, containers, instances and their classes. Two equal lists
say that tracing again would read the same. What cannot be followed (arrays that change
in place, objects of C extensions, names that are looked up by strings, what is outside
of Python's objects: files, clocks) makes the function one that is not known, which is
always traced.

The library's own functions are followed only to their closures and defaults: what else
they read is settings, which are part of the key of whatever is remembered. So `vmap(f)`
is as much as its options and what `f` reads. Names that its modules load late are
loaded here, or they would be read only the second time.
"""

from __future__ import annotations

import functools
import opcode
import sys
import types
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np

from olympus._src import native
from olympus._src.core import array_type, library_code, trace
from olympus._src.foundation import caching, lazy_names, public_settings
from olympus._src.tree import registry

MAX_VALUES = 1024  # following more costs as much as tracing


class Unknown(Exception):
    """Raised where a value cannot be followed."""


# -- constants -------------------------------------------------------------------------

# By identity: code objects that are spelled alike are equal, wherever they stand.
_constant_code: dict[int, types.CodeType] = {}


def declare_constant(fun: Any) -> None:
    """Says that what this code's functions name changes nothing in their results.

    For wrappers of the library's own functions, which name its caches and its state.
    """
    _constant_code[id(fun.__code__)] = fun.__code__


_LEAVES = frozenset(
    (
        bool,
        int,
        float,
        complex,
        str,
        bytes,
        type(None),
        type(Ellipsis),
        type(NotImplemented),
        object,
        range,
        types.CodeType,
        types.GetSetDescriptorType,
        types.MemberDescriptorType,
        types.MethodDescriptorType,
        types.ClassMethodDescriptorType,
        type(np.sum),  # a function of NumPy that asks its arguments first
    )
)
# What a class statement adds, which only code that is written for it reads.
_NOT_FOLLOWED_IN_CLASSES = frozenset(
    (
        "__annotate__",
        "__annotate_func__",
        "__annotations__",
        "__annotations_cache__",
        "__dataclass_fields__",
        "__dataclass_params__",
        "__dict__",
        "__doc__",
        "__firstlineno__",
        "__module__",
        "__orig_bases__",
        "__parameters__",
        "__qualname__",
        "__static_attributes__",
        "__type_params__",
        "__weakref__",
        "_abc_impl",
    )
)
_OPTIMIZED = 1  # the flag of code that is no body of a class
_IMPORT_NAME = opcode.opmap["IMPORT_NAME"]


class Unbound:
    """A placeholder for a name without a value."""


class _Again:
    """Says that a number follows: which of the objects was met again."""


def values_read_by(fun: Any) -> list[Any]:
    """What a function reads, in an order that depends on nothing else.

    Args:
      fun: a callable.

    Returns:
      Objects to be compared by identity, or numbers and strings by value.

    Raises:
      Unknown: something cannot be followed, or it is more than `MAX_VALUES`.
    """
    reading = _Reading()
    try:
        reading.follow(fun)
    except (RuntimeError, ValueError) as error:  # another thread changes a container
        raise Unknown from error
    return reading.values


class _Reading:
    """One walk over what a function reads."""

    __slots__ = ("_modules", "_names", "_seen", "_stack", "values")

    def __init__(self) -> None:
        self.values: list[Any] = []
        self._stack: list[Any] = []
        # By id: the order of objects, and the objects, or their ids may go.
        self._seen: dict[Any, tuple[int, Any]] = {}
        self._names: dict[str, None] = {}  # in all code
        self._modules: dict[str, types.ModuleType] = {}  # of users

    def follow(self, x: Any) -> None:
        """Adds what a value is made of."""
        stack, values = self._stack, self.values
        stack.append(x)
        while True:
            while stack:
                x = stack.pop()
                kind = type(x)
                if kind in _LEAVES:
                    values.append(x)
                    continue
                rule = _RULES.get(kind)
                if rule is None:
                    self._follow_other(x, kind)
                else:
                    rule(self, x)
                if len(values) > MAX_VALUES or len(stack) > MAX_VALUES:
                    raise Unknown
            if not self._follow_modules():
                return

    # -- functions -----------------------------------------------------------------

    def follow_function(self, fun: types.FunctionType) -> None:
        if self._is_again(fun):
            return
        code, names = fun.__code__, fun.__globals__
        is_plain = (
            library_code.package_of(names.get("__name__"))
            in library_code.PLAIN_LIBRARIES
        )
        if is_plain and (fun.__closure__ is None or id(code) in _constant_code):
            self.values.append(fun)
            return
        self.values += (code,) if is_plain else (fun, code)
        if type(names) is not dict:  # a mapping that may find names in its own way
            raise Unknown
        if fun.__name__ != code.co_name or fun.__qualname__ != code.co_qualname:
            self.values += (fun.__name__, fun.__qualname__)
        modules: list[types.ModuleType] = []
        for cell in fun.__closure__ or ():
            try:
                value = cell.cell_contents
            except ValueError:  # not filled yet
                value = Unbound
            self._take(value, modules)
        for value in fun.__defaults__ or ():
            self._take(value, modules)
        if fun.__kwdefaults__:
            self._stack.append(fun.__kwdefaults__)
        if fun.__dict__:
            self._stack.append(fun.__dict__)
        if not is_plain:
            self._follow_names(fun, modules)

    def _follow_names(
        self, fun: types.FunctionType, modules: list[types.ModuleType]
    ) -> None:
        code_names = _names_in_code(fun.__code__)
        if not library_code.BY_STRING.isdisjoint(code_names):
            raise Unknown
        self._names.update(dict.fromkeys(code_names))
        names: dict[str, Any] = fun.__globals__
        function: Any = fun  # typeshed's type lacks `__builtins__`
        builtin: dict[str, Any] = function.__builtins__
        for name in code_names:
            value = names.get(name, Unbound)
            if value is Unbound:
                value = builtin.get(name, Unbound)
            self._take(value, modules)
        if _imports(fun.__code__):
            for package in _packages_around(names):
                for name in code_names:
                    value = sys.modules.get(package + name, Unbound)
                    if value is not Unbound:
                        self._take(value, modules)
        # Attributes of modules are read by names in the code.
        for module in modules:
            own = _attributes_of(module)
            offers = _own_modules.get(type(module), lazy_names.offers)
            for name in code_names:
                value = own.get(name, Unbound)
                if value is Unbound and offers(module, name):
                    value = getattr(module, name, Unbound)
                if value is not Unbound:
                    self.values.append(name)
                    self._take(value, modules)

    def _take(self, value: Any, modules: list[types.ModuleType]) -> None:
        """Follows a value; libraries' modules are added to `modules`."""
        kind = type(value)
        if kind is types.ModuleType and not library_code.is_library(value.__name__):
            self.follow_module(value)
        elif kind is types.ModuleType or kind in _own_modules:
            self.values.append(value)
            if value not in modules:
                modules.append(value)
        else:
            self._stack.append(value)

    def follow_module(self, module: types.ModuleType) -> None:
        self.values.append(module)
        name = module.__name__
        if not library_code.is_library(name) and self._modules.get(name) is not module:
            self._modules[name] = module
            self._stack.append(module.__dict__.get("__getattr__"))

    def _follow_modules(self) -> bool:
        """Adds the attributes of users' modules that any code names; whether some were.

        A module may be passed to the code that reads an attribute of it.
        """
        size = len(self.values)
        for module in list(self._modules.values()):
            for name in self._names:
                key = (id(module), name)
                value = module.__dict__.get(name, Unbound)
                if value is not Unbound and key not in self._seen:
                    self._seen[key] = (len(self._seen), module)
                    self.values.append(name)
                    self._stack.append(value)
        return len(self.values) > size

    def follow_builtin(self, fun: Any) -> None:
        owner = fun.__self__
        if owner is None or isinstance(owner, (types.ModuleType, type)):
            if fun.__name__ in library_code.BY_STRING or not library_code.is_pure(
                fun, owner
            ):
                raise Unknown
            self.values.append(fun)
        else:
            self.values += (type(fun), fun.__name__)
            self._stack.append(owner)

    def follow_slot(self, fun: types.WrapperDescriptorType) -> None:
        if fun.__name__ in library_code.BY_STRING:
            raise Unknown
        self.values.append(fun)

    def follow_ufunc(self, fun: np.ufunc) -> None:
        if np.__dict__.get(fun.__name__) is not fun:  # a Python function in it
            raise Unknown
        self.values.append(fun)

    def follow_cached_function(self, fun: Any) -> None:
        self.values.append(fun)
        self._stack.append(fun.__dict__)

    def follow_method(self, fun: types.MethodType) -> None:
        self.values.append(type(fun))
        self._stack += (fun.__func__, fun.__self__)

    def follow_partial(self, fun: functools.partial[Any]) -> None:
        self.values.append(type(fun))
        self._stack += (fun.func, fun.args, fun.keywords, fun.__dict__)

    def follow_alias(self, x: Any) -> None:
        self.values.append(type(x))
        self._stack += (getattr(x, "__origin__", None), x.__args__)

    def follow_settings(self, x: Any) -> None:
        """All but those that tell programs apart anyway."""
        self.values.append(x)
        states = public_settings.registry.values()
        self._stack += [state.value for state in states if not state.traces]

    def follow_inner_function(self, fun: Any) -> None:
        self.values.append(type(fun))
        self._stack.append(fun.__func__)

    def follow_property(self, x: property) -> None:
        self.values.append(type(x))
        self._stack += (x.fget, x.fset, x.fdel)

    # -- containers ----------------------------------------------------------------

    def follow_items(self, x: Any) -> None:
        self.values += (type(x), len(x))
        self._stack += x

    def follow_dict(self, x: dict[Any, Any]) -> None:
        self.values += (type(x), len(x))
        for key, value in x.items():
            self._stack += (value, key)

    def follow_namespace(self, x: types.SimpleNamespace) -> None:
        self.values.append(type(x))
        self.follow_dict(x.__dict__)

    # -- instances and classes -----------------------------------------------------

    def _follow_other(self, x: Any, kind: type) -> None:
        if issubclass(kind, type):
            self.follow_class(x)
        elif kind in array_type.concrete_types() or library_code.is_constant_kind(kind):
            self.values.append(x)
        elif issubclass(kind, tuple) and library_code.are_plain(kind, tuple):
            self.values.append(len(x))
            self._stack += tuple.__iter__(x)
            self._follow_instance(x, kind)
        elif not issubclass(kind, trace.Tracer) and library_code.are_plain(
            kind, object
        ):
            self._follow_instance(x, kind)
        else:
            raise Unknown

    def _follow_instance(self, x: Any, kind: type) -> None:
        if self._is_again(x):
            return
        if kind.__weakrefoffset__ and not library_code.is_own(kind.__module__):
            self.values.append(x)
        self.follow_class(kind)
        derived = ()
        if library_code.is_own(kind.__module__):
            derived = kind.__dict__.get("derived_fields", ())
        for name, member in library_code.members_of(kind):
            if name not in derived:
                try:
                    self._stack.append(member.__get__(x))
                except AttributeError:
                    self._stack.append(Unbound)
        try:
            fields = object.__getattribute__(x, "__dict__")
        except AttributeError:
            return
        if type(fields) is not dict:
            raise Unknown
        for name, value in fields.items():
            if name not in derived:
                self.values.append(name)
                self._stack.append(value)

    def follow_class(self, x: type) -> None:
        self.values.append(x)
        if library_code.is_class_of_library(x):
            if (
                x.__name__ in library_code.BY_STRING
                or library_code.package_of(x.__module__) in library_code.IMPURE_PACKAGES
            ):
                raise Unknown
            return
        if id(x) in self._seen:
            return
        self._seen[id(x)] = (len(self._seen), x)
        self.values.append(f"{x.__qualname__} {x.__name__}")
        self._stack += registry.rules_of(x)
        self._stack.append(type(x))
        self._stack += x.__mro__[1:]
        for name, value in x.__dict__.items():
            if name not in _NOT_FOLLOWED_IN_CLASSES:
                self.values.append(name)
                self._stack.append(value)

    def _is_again(self, x: Any) -> bool:
        """Whether an object was met before; which one is what there is to say then."""
        known = self._seen.get(id(x))
        if known is None:
            self._seen[id(x)] = (len(self._seen), x)
            return False
        self.values += (_Again, known[0])
        return True


_RULES: dict[type, Any] = {
    types.FunctionType: _Reading.follow_function,
    types.BuiltinFunctionType: _Reading.follow_builtin,
    types.WrapperDescriptorType: _Reading.follow_slot,
    np.ufunc: _Reading.follow_ufunc,
    type(functools.lru_cache(len)): _Reading.follow_cached_function,
    types.MethodType: _Reading.follow_method,
    functools.partial: _Reading.follow_partial,
    staticmethod: _Reading.follow_inner_function,
    classmethod: _Reading.follow_inner_function,
    property: _Reading.follow_property,
    types.GenericAlias: _Reading.follow_alias,
    types.UnionType: _Reading.follow_alias,
    public_settings.Config: _Reading.follow_settings,
    types.ModuleType: _Reading.follow_module,
    tuple: _Reading.follow_items,
    list: _Reading.follow_items,
    set: _Reading.follow_items,
    frozenset: _Reading.follow_items,
    dict: _Reading.follow_dict,
    types.SimpleNamespace: _Reading.follow_namespace,
    type: _Reading.follow_class,
}

if native.calls is not None:
    # It stands for a function of the library, which is the same for all programs.
    _RULES[native.calls.Direct] = lambda reading, x: reading.values.append(x)


# -- modules ---------------------------------------------------------------------------

# Classes of the library's own modules, with what says which names one has that are
# not among its attributes yet: reading a name makes it one.
_own_modules: dict[type, Callable[[types.ModuleType, str], bool]] = {}


def declare_modules(
    kind: type[types.ModuleType], offers: Callable[[types.ModuleType, str], bool]
) -> None:
    """Says that modules of a class are the library's own.

    Args:
      kind: the class.
      offers: whether a module of it has a name, which `getattr` would find.
    """
    _own_modules[kind] = offers
    _RULES[kind] = lambda reading, x: reading.values.append(x)


# The attributes of a module as they are, which a class of modules may show otherwise.
_attributes_of: Any = vars(types.ModuleType)["__dict__"].__get__


def is_wrapper(fun: Any) -> bool:
    """Whether a function is one that the library made around another."""
    return (
        type(fun) is types.FunctionType
        and fun.__closure__ is not None
        and library_code.is_own(fun.__globals__.get("__name__"))
        and hasattr(fun, "__wrapped__")
    )


# -- names --------------------------------------------------------------------------


@caching.bounded_cache(4096, "names in code")
def _names_in_code(code: types.CodeType) -> tuple[str, ...]:
    """The names that code and the code inside it may look up in its module."""
    names = dict.fromkeys(code.co_names)
    if not code.co_flags & _OPTIMIZED:
        names.pop("__module__", None)  # which a class statement sets
    for const in code.co_consts:
        if isinstance(const, types.CodeType):
            names.update(dict.fromkeys(_names_in_code(const)))
    return tuple(names)


@caching.bounded_cache(4096, "code that imports")
def _imports(code: types.CodeType) -> bool:
    """Whether code, or the code inside it, may import modules."""
    return _IMPORT_NAME in code.co_code[::2] or any(
        _imports(const) for const in code.co_consts if isinstance(const, types.CodeType)
    )


def _packages_around(names: dict[str, Any]) -> list[str]:
    """What may stand before the names that a module's code imports."""
    prefixes = [""]
    package = names.get("__package__") or names.get("__name__")
    while type(package) is str and package:
        prefixes.append(f"{package}.")
        package = package.rpartition(".")[0]
    return prefixes


# -- comparing -------------------------------------------------------------------------

_BY_VALUE = frozenset((bool, int, float, str, bytes))


def hold(values: list[Any]) -> list[Any]:
    """Values to compare with later, kept alive only where nothing else can be done."""
    return [x if type(x) in _LEAVES else _refer_to(x) for x in values]


def _refer_to(x: Any) -> Any:
    try:
        return weakref.ref(x)
    except TypeError:
        return x


def is_gone(held: list[Any]) -> bool:
    """Whether a referenced object was deleted, so that nothing can be the same."""
    return any(type(x) is weakref.ref and x() is None for x in held)


def are_same(held: list[Any], values: list[Any]) -> bool:
    """Whether what is held is what is read now."""
    return len(held) == len(values) and all(
        old is new or _is_same(old, new) for old, new in zip(held, values, strict=True)
    )


def _is_same(old: Any, new: Any) -> bool:
    kind = type(old)
    if kind is weakref.ref:  # of None, where the object is gone
        return new is not None and old() is new
    if kind is not type(new) or kind not in _BY_VALUE:
        return False
    return bool(old == new and (old or kind is not float))  # 0.0 equals -0.0
