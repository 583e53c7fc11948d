"""Portable modules: written, read, completed, and taken apart into functions."""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np

from olympus._src.core import avals as avals_
from olympus._src.foundation import caching
from olympus._src.foundation import compiler_settings as compiler
from olympus._src.interpreters import evaluate
from olympus._src.lowering import types
from olympus._src.runtime import mlir


def to_portable(text: str) -> bytes:
    """A module as a StableHLO artifact.

    Consumers that are up to twelve weeks older read it, unless the setting
    `olympus_export_ignore_forward_compatibility` is on.
    """
    newest = compiler.export_ignore_forward_compatibility.value
    version = mlir.stablehlo_version() if newest else None
    return mlir.stablehlo_portable(text, version)


def text_of(portable: bytes) -> str:
    """The text of a portable module."""
    return mlir.from_portable(portable)


def custom_calls(text: str) -> list[tuple[str, str]]:
    """Each custom call of a module: its target, and the operation."""
    return mlir.custom_calls(text) if "custom_call" in text else []


class Functions:
    """The functions of a portable module, to be written in another module.

    Attributes:
      texts: each function's placeholder, which stands for its symbol in the texts, and
        its text; `main` is first.
      in_types, out_types: the types that `main` takes and returns.
    """

    __slots__ = ("in_types", "out_types", "texts")

    def __init__(self, portable: bytes) -> None:
        # No string of the module can hold its own digest.
        marker = f"placeholder_{hashlib.sha256(portable).hexdigest()[:24]}_"
        self.texts, self.in_types, self.out_types = mlir.functions(portable, marker)


_functions = caching.Bounded(64, "functions of exported programs")


def functions(portable: bytes) -> Functions:
    """The functions of a portable module; those of recent ones are kept."""
    found = _functions.get(portable)
    if found is None:
        found = _functions[portable] = Functions(portable)
    return found


def with_constants(exported: Any) -> bytes:
    """The module of a program with its constants written in it.

    Args:
      exported: an `Exported` with constants.
    """
    found = functions(exported.program_serialized)
    consts = [evaluate.stored(evaluate.as_array(c)) for c in exported.constants]
    start = len(found.in_types) - len(exported.module_kept_var_idx) - len(consts)
    texts = [text for _, text in found.texts]
    main = found.texts[0][0]
    names = [f"%arg{i}" for i in range(len(found.in_types))]
    lines = []
    for name, c in zip(names[start:], consts, strict=False):
        lines.append(f"{name} = stablehlo.constant {_dense(c)}")
    outs = found.out_types
    bound = ", ".join(
        [
            f"{n}: {t}"
            for i, (n, t) in enumerate(zip(names, found.in_types, strict=True))
            if not start <= i < start + len(consts)
        ]
    )
    call = (
        f"func.call @{main}({', '.join(names)}) : ({', '.join(found.in_types)}) -> "
        f"({', '.join(outs)})"
    )
    results = [f"%out#{i}" for i in range(len(outs))] if len(outs) > 1 else ["%out"]
    results = results[: len(outs)]
    lines.append(f"%out:{len(outs)} = {call}" if outs else call)
    ends = f" {', '.join(results)} : {', '.join(outs)}" if outs else ""
    body = "\n".join(lines)
    text = (
        f"module @{_name(exported.fun_name)} {{\nfunc.func public @main({bound}) -> "
        f"({', '.join(outs)}) {{\n{body}\nfunc.return{ends}\n}}\n"
        + "\n".join(texts)
        + "\n}\n"
    )
    return to_portable(text)


def _dense(array: Any) -> str:
    value = np.asarray(array)
    return types.dense(value, avals_.ShapedArray(value.shape, value.dtype))


def _name(name: str) -> str:
    return "".join(c if c.isascii() and c.isalnum() else "_" for c in f"jit_{name}")


def versions() -> dict[str, str]:
    """What wrote a program: the versions of jaxlib and StableHLO."""
    return {"jaxlib": mlir.jaxlib_version(), "stablehlo": mlir.stablehlo_version()}
