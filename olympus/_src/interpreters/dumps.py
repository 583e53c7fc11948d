"""Writing the programs that are compiled to a folder, as a setting asks for."""

from __future__ import annotations

import itertools
import os
from typing import Any

from olympus._src.foundation import compiler_settings as compiler

_MODES = ("stablehlo", "olympuspr")
_numbers = itertools.count()


def write(lowered: Any) -> None:
    """Writes a program that is about to be compiled, where `dump_ir_to` names a folder.

    Args:
      lowered: a `LoweredProgram`.

    Raises:
      ValueError: `dump_ir_modes` names something else than the known forms.
      OSError: the folder cannot be written.
    """
    folder = compiler.dump_ir_to.value
    if not folder:
        return
    modes = [m.strip() for m in compiler.dump_ir_modes.value.split(",") if m.strip()]
    wrong = [m for m in modes if m not in _MODES]
    if wrong:
        raise ValueError(
            f"olympus_dump_ir_modes: must be names out of {', '.join(_MODES)}, "
            f"separated by commas, got {wrong[0]!r}"
        )
    os.makedirs(folder, exist_ok=True)
    base = f"olympus_ir{next(_numbers):04d}_{lowered.module_name}_compile"
    start = os.path.join(folder, "".join(map(_escape_character, base)))
    if "stablehlo" in modes:
        _write(f"{start}.mlir", lowered.text)
    if "olympuspr" in modes and lowered.program is not None:
        _write(f"{start}.olympuspr.txt", f"{lowered.program}\n")


def _escape_character(c: str) -> str:
    return c if c.isalnum() or c in "_-." else "_"


def _write(path: str, text: str) -> None:
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
