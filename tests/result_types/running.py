"""Plays recorded calls on a library: what types come out, or what kind of error.

The library is given: whoever records plays them on one, and the tests on another.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from itertools import product
from typing import Any, NamedTuple

import ml_dtypes
import numpy as np

from tests.result_types.calls import SHAPES, variables

DTYPES = {
    "b": np.dtype(np.bool_),
    "i1": np.dtype(np.int8),
    "i2": np.dtype(np.int16),
    "i4": np.dtype(np.int32),
    "i8": np.dtype(np.int64),
    "u1": np.dtype(np.uint8),
    "u2": np.dtype(np.uint16),
    "u4": np.dtype(np.uint32),
    "u8": np.dtype(np.uint64),
    "e4": np.dtype(ml_dtypes.float8_e4m3fn),
    "bf": np.dtype(ml_dtypes.bfloat16),
    "f2": np.dtype(np.float16),
    "f4": np.dtype(np.float32),
    "f8": np.dtype(np.float64),
    "c8": np.dtype(np.complex64),
    "c16": np.dtype(np.complex128),
}
SHORT = {dtype: name for name, dtype in DTYPES.items()}
PYTHON = {
    "Pb": (bool, True),
    "Pi": (int, 2),
    "Pf": (float, 1.5),
    "Pc": (complex, 1j),
}

# Kinds of arguments: a dtype; with a star weak; P a Python number; N a NumPy array; L a
# list of numbers. With 64-bit values off and on, alone, in pairs,
# in threes, and as dtypes.
_DTYPE_KINDS = "b i1 i4 i8 u1 u4 e4 bf f2 f4 f8 c8 c16 Pb Pi Pf Pc"
KINDS = {
    False: {
        1: "b i1 i2 i4 u1 u2 u4 e4 bf f2 f4 c8 i4* f4* c8* Pb Pi Pf Pc Ni8 Nf8 L None",
        2: "b i1 i4 u1 u4 e4 bf f2 f4 c8 i4* f4* Pi Pf Pc Nf8",
        3: "b i4 u1 bf f4 c8 Pi Pf",
        "D": _DTYPE_KINDS,
    },
    True: {
        1: "b i1 i4 i8 u4 u8 bf f4 f8 c8 c16 i8* f8* c16* Pb Pi Pf Pc Ni8 Nf4",
        2: "b i4 i8 u8 f4 f8 c8 f8* Pi Pf Pc",
        3: "i4 i8 f4 f8 c16 Pf",
        "D": _DTYPE_KINDS,
    },
}

# Built-in classes of errors that say what was wrong, and how they are written; any
# other error is an accident, and whatever error there is will do for it.
ERRORS = {
    NotImplementedError: "!N",
    OverflowError: "!O",
    TypeError: "!T",
    ValueError: "!V",
    IndexError: "!I",
    AttributeError: "!A",
}
ACCIDENT = "!"


class Library(NamedTuple):
    """What running calls needs of a library."""

    names: dict[str, Any]  # what calls name: jnp, lax, nn, special, np, key
    eval_shape: Callable[..., Any]
    struct: Callable[..., Any]  # (shape, dtype, weak_type=) -> stands for an array


def spreads(text: str, wide: bool) -> Iterator[tuple[str, ...]]:
    """The kinds of arguments that a call is played with."""
    names = variables(text)
    arrays = sum(name != "D" for name in names)
    kinds = KINDS[wide]
    lists = [kinds["D"] if n == "D" else kinds[min(arrays, 3)] for n in names]
    if "D" in names and arrays:
        lists = [kinds[2] if n != "D" else kinds["D"] for n in names]
    return product(*[k.split() for k in lists])


def argument(kind: str, shape: tuple[int, ...], library: Library) -> Any:
    """What stands for the argument, and whether it is traced."""
    if kind in PYTHON:
        return PYTHON[kind][1]
    if kind == "None":
        return None
    if kind == "L":
        return np.ones(shape).tolist()
    if kind[0] == "N":
        return np.ones(shape, DTYPES[kind[1:]])
    return library.struct(shape, DTYPES[kind.rstrip("*")], weak_type=kind[-1] == "*")


def dtype_of(kind: str) -> Any:
    return PYTHON[kind][0] if kind in PYTHON else DTYPES[kind]


def described(out: Any) -> str:
    """The types of a result, a comma between those of several."""
    if isinstance(out, (tuple, list)):
        return ",".join(map(described, out)) or "-"
    if isinstance(out, np.dtype):
        return SHORT.get(out, str(out))
    if isinstance(out, type) and issubclass(out, np.generic):
        return SHORT.get(np.dtype(out), str(out))
    if isinstance(out, bool):
        return "Pb"
    if isinstance(out, (int, float, complex)) and not isinstance(out, np.generic):
        return f"P{type(out).__name__[0]}"
    if hasattr(out, "dtype"):
        weak = getattr(getattr(out, "aval", None), "weak_type", False)
        return SHORT.get(out.dtype, str(out.dtype)) + "*" * weak
    return type(out).__name__


def error_kind(error: Exception) -> str:
    for kind, text in ERRORS.items():
        if isinstance(error, kind):
            return text
    return ACCIDENT


def run_calls(text: str, kinds: tuple[str, ...], library: Library) -> tuple[str, str]:
    """The types of the result of a call, or the kind of its error and its message."""
    given, traced = {}, {}
    for name, kind in zip(variables(text), kinds, strict=True):
        if name == "D":
            given[name] = dtype_of(kind)
            continue
        x = argument(kind, SHAPES[name], library)
        (traced if kind.rstrip("*") in DTYPES else given)[name] = x
    found: list[str] = []

    def run(*arrays: Any) -> None:
        values = dict(zip(traced, arrays, strict=True))
        out = eval(text, {**library.names, **given, **values})
        found.append(described(out))

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            library.eval_shape(run, *traced.values())
        except Exception as error:
            return error_kind(error), f"{type(error).__name__}: {error}"
    return found[-1], ""
