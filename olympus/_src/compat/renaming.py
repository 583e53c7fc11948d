"""Classes and functions under JAX's names, from when a program reads them."""

from __future__ import annotations

import contextlib
import functools
import inspect
from types import FunctionType
from typing import Any

from olympus._src.api import jit_function
from olympus._src.compat import names
from olympus._src.core import array_type, ir, provenance, refs
from olympus._src.foundation import errors
from olympus._src.interpreters import ad, batching, partial_eval
from olympus._src.runtime import array, library_names, versions

# Each renamed object with what it was called, for `restore`.
_renamed: list[tuple[Any, str, Any]] = []


def rename(value: Any, module: str | None = None) -> Any:
    """The value, which says of itself where JAX has it.

    Args:
      value: any value; classes and functions change.
      module: the public module of JAX in which it was read; None where that is unknown.
    """
    if not isinstance(value, (type, FunctionType)):
        return value
    home = getattr(value, "__module__", None)
    if not isinstance(home, str) or not home.startswith("olympus"):
        return value
    if ".compat.pages." in home:
        return value
    if "._src." not in home:
        _set(value, "__module__", names.jax_module(home))
    elif module is not None and isinstance(value, type):
        _set(value, "__module__", module)
    for attribute in ("__name__", "__qualname__"):
        name = getattr(value, attribute)
        if names.to_jax(name) != name:
            _set(value, attribute, names.to_jax(name))
    return value


def _set(value: Any, attribute: str, content: Any) -> None:
    before = getattr(value, attribute)
    with contextlib.suppress(AttributeError, TypeError):
        setattr(value, attribute, content)
        _renamed.append((value, attribute, before))


def accept_keywords(value: Any) -> Any:
    """The value; a function of programs also takes them by JAX's keywords."""
    if not isinstance(value, FunctionType):
        return value
    code = inspect.unwrap(value).__code__
    parameters = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    ours = {names.to_jax(p): p for p in parameters if names.to_jax(p) != p}
    if not ours:
        return value

    @functools.wraps(value)
    def call(*args: Any, **kwargs: Any) -> Any:
        return value(*args, **{ours.get(name, name): x for name, x in kwargs.items()})

    return call


def rename_shown() -> None:
    """Renames classes that prints and errors show before a program reads them."""
    for kind in vars(errors).values():
        rename(kind)
    for kind in _SHOWN:
        rename(kind)
    # JAX raises Python's own classes, which programs print by their names.
    for kind in (errors.BadNumberError, errors.LeakError):
        _set(kind, "__module__", "builtins")
    _set(versions.XlaRuntimeError, "__module__", "jax.errors")
    _set(errors.TypePromotionError, "__module__", "jax.dtypes")
    for kind, name in _CLASSES:
        _set(kind, "__name__", name)
        _set(kind, "__qualname__", name)
    jaxlib = library_names.module("_jax")
    for kind in (array.ArrayImpl, jit_function.JitFunction):
        _set(kind, "__module__", jaxlib.__name__)
        # Libraries ask there for the class of jitted functions, to tell them apart.
        _set(jaxlib, kind.__name__, kind)
    for kind in _OF_VALUES:
        _set(kind, "__module__", names.jax_module(kind.__module__))


_SHOWN = (
    array_type.Array,
    ir.Olympuspr,
    ir.ClosedOlympuspr,
    partial_eval.DynamicOlympusprTrace,
    partial_eval.DynamicOlympusprTracer,
)


# Classes of what programs compute with. Libraries for several kinds of arrays (autoray,
# opt_einsum) tell them by the first word of the module.
_OF_VALUES = (
    partial_eval.DynamicOlympusprTracer,
    ad.JVPTracer,
    batching.BatchTracer,
    refs.Ref,
)


# Classes that JAX names otherwise; libraries recognise some of them by name.
_CLASSES = (
    (jit_function.JitFunction, "PjitFunction"),
    (ir.Eqn, "JaxprEqn"),
    (provenance.EquationContext, "JaxprEqnContext"),
    (errors.BadNumberError, "FloatingPointError"),
    (errors.LeakError, "Exception"),
)


def restore() -> None:
    """Gives all renamed objects their own names again."""
    while _renamed:
        value, attribute, before = _renamed.pop()
        setattr(value, attribute, before)
