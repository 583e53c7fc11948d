"""Warnings of functions that close over much memory."""

from __future__ import annotations

from olympus._src.core import ir
from olympus._src.foundation import config, user_warnings


def warn(program: ir.Olympuspr, name: str, count: int) -> None:
    """Warns where the constants of a program take more than a setting says.

    Args:
      program: its first inputs are the constants.
      name: the function's name.
      count: how many there are.
    """
    most = config.captured_constants_warn_bytes.value
    consts = program.invars[:count]
    sizes = {v: v.aval.size * v.aval.dtype.itemsize for v in consts}
    if most < 0 or sum(sizes.values()) <= most:
        return
    lines = [
        f"{name}: {sum(sizes.values())} bytes of arrays are read from outside of the "
        "function; pass them as arguments, or set "
        "olympus_captured_constants_warn_bytes to -1 if this is meant"
    ]
    places = config.captured_constants_report_frames.value
    largest = sorted(consts, key=sizes.__getitem__, reverse=True)
    for var in largest if places < 0 else largest[:places]:
        reader = next((e for e in program.eqns if var in e.invars), None)
        place = f", read at {reader.source}" if reader and reader.source else ""
        lines.append(f"  {var.aval.short()}{place}")
    user_warnings.warn("\n".join(lines))
