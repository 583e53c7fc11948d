"""Portable modules: written, read, completed, and split into functions."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from olympus._src.foundation import caching
from olympus._src.foundation import compiler_settings as compiler
from olympus._src.interpreters import concrete_arrays
from olympus._src.lowering import types
from olympus._src.runtime import mlir, screening
from olympus._src.runtime import portable as portable_


def to_portable(text: str | bytes) -> bytes:
    """A module as a StableHLO artifact.

    Consumers that are up to twelve weeks older read it, unless the setting
    `olympus_export_ignore_forward_compatibility` is on.
    """
    newest = compiler.export_ignore_forward_compatibility.value
    version = mlir.stablehlo_version() if newest else None
    module = mlir.stablehlo_portable(text, version)
    screening.note_written(module)
    return module


def screen(modules: Sequence[bytes], again: bool = False) -> None:
    """Makes sure that portable modules can be read by this process.

    Args:
      modules: what `to_portable` wrote, or others forged.
      again: try also those in another process that are known by their digest.

    Raises:
      ValueError: one cannot be read, or would end the process.
    """
    screening.screen(modules, again=again)


def store_written(modules: Sequence[bytes]) -> None:
    """Records the modules that this process wrote, for later processes of this user."""
    screening.store_written(modules)


def text_of(portable: bytes) -> str:
    """The text of a portable module."""
    return mlir.from_portable(portable)


def custom_calls(text: str) -> list[tuple[str, str]]:
    """Each custom call of a module: its target, and the operation."""
    return mlir.custom_calls(text) if "custom_call" in text else []


# In MLIR's pretty form names that are not identifiers stand in quotes.
_CUSTOM_CALL = re.compile(
    r'^.*stablehlo\.custom_call @(?:"((?:[^"\\]|\\.)*)"|([\w.$-]+)).*$', re.MULTILINE
)


class Functions:
    """The functions of a portable module, to be written in another module.

    Attributes:
      texts: each function's placeholder, which stands for its symbol in the texts, and
        its text; `main` is first.
      in_types, out_types: the types that `main` takes and returns.
      meshes: a placeholder for each mesh that they name, and its axes.
      targets: of custom calls, each with the line of a call.
    """

    __slots__ = ("in_types", "meshes", "out_types", "targets", "texts")

    def __init__(self, portable: bytes) -> None:
        # No string of the module can hold its own digest.
        marker = f"placeholder_{hashlib.sha256(portable).hexdigest()[:24]}_"
        parts = portable_.functions(portable, marker)
        self.texts, self.meshes = parts.texts, parts.meshes
        self.in_types, self.out_types = parts.in_types, parts.out_types
        self.targets = {
            match[1] or match[2]: match[0]
            for _, text in self.texts
            for match in _CUSTOM_CALL.finditer(text)
        }


_functions = caching.Bounded(64, "functions of exported programs")


def functions(portable: bytes) -> Functions:
    """The functions of a portable module; those of recent ones are kept."""
    entry = _functions.get(portable)
    if entry is None:
        entry = _functions[portable] = Functions(portable)
    return entry


def with_constants(exported: Any) -> bytes:
    """The module of a program with its constants written in it.

    Args:
      exported: an `Exported` with constants.
    """
    consts = [
        concrete_arrays.storage_of(concrete_arrays.as_array(c))
        for c in exported.constants
    ]
    n_inputs = len(functions(exported.program_serialized).in_types)
    start = n_inputs - len(exported.module_kept_var_idx) - len(consts)
    values = [types.dense(np.asarray(c), c.aval) for c in consts]
    return to_portable(mlir.bind_arguments(exported.program_serialized, start, values))


def versions() -> dict[str, str]:
    """What wrote a program: the versions of jaxlib and StableHLO."""
    return {"jaxlib": mlir.jaxlib_version(), "stablehlo": mlir.stablehlo_version()}
