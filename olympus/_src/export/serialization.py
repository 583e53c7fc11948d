"""Exported programs as bytes; the format is described in docs/export_format.md."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any

from olympus._src.core import sizes
from olympus._src.export import arrays, divisions, effects, portable_modules, trees
from olympus._src.foundation import container
from olympus._src.interpreters import concrete_arrays

KIND = "exported program"
VERSION = 1
MODULE = "module"
VJP = "vjp"
CONSTANT = "constant"


def pack(exported: Any, vjp_order: int) -> bytes:
    """The bytes of an `Exported` and of its derivatives up to an order.

    Raises:
      ValueError: something in it cannot be written.
    """
    if type(vjp_order) is not int or vjp_order < 0:
        raise ValueError(
            "Exported.serialize: vjp_order must be a natural number, got "
            f"{vjp_order!r}; 0 writes no derivative"
        )
    written: list[bytes] = []
    data = _pack(exported, vjp_order, {}, written)
    portable_modules.store_written(written)
    return data


def _pack(
    exported: Any, vjp_order: int, known: dict[Any, int], written: list[bytes]
) -> bytes:
    """Writes what is not among `known`: constants of the program this is part of.

    Its module, and its derivatives', are appended to `written`.
    """
    sections = {MODULE: bytes(exported.program_serialized)}
    written.append(sections[MODULE])
    constants: list[Any] = []
    for x in exported.constants:
        constant = concrete_arrays.as_array(x)
        data = arrays.write_array(constant)
        key = (constant.aval, hashlib.sha256(data).digest())
        if key in known:
            constants.append(known[key])
            continue
        sections[f"{CONSTANT} {len(constants)}"] = data
        constants.append(arrays.write_aval(constant.aval))
        known[key] = len(known)
    if vjp_order:
        sections[VJP] = _pack(exported.vjp(), vjp_order - 1, known, written)
    fields = {
        "fun_name": exported.fun_name,
        "in_tree": trees.to_json(exported.in_tree),
        "in_avals": [arrays.write_aval(a) for a in exported.in_avals],
        "out_tree": trees.to_json(exported.out_tree),
        "out_avals": [arrays.write_aval(a) for a in exported.out_avals],
        "constraints": _constraints([*exported.in_avals, *exported.out_avals]),
        "nr_devices": exported.nr_devices,
        "platforms": list(exported.platforms),
        "ordered_effects": [effects.write_effect(e) for e in exported.ordered_effects],
        "unordered_effects": [
            effects.write_effect(e) for e in exported.unordered_effects
        ],
        "disabled_safety_checks": [repr(c) for c in exported.disabled_safety_checks],
        "calling_convention_version": exported.calling_convention_version,
        "module_kept_var_idx": list(exported.module_kept_var_idx),
        "uses_global_constants": exported.uses_global_constants,
        "constants": constants,
        "written_by": portable_modules.versions(),
    }
    if exported.nr_devices > 1:
        for name in ("in", "out"):
            named = getattr(exported, f"_{name}_named_shardings")
            fields[f"{name}_shardings"] = list(map(divisions.write_sharding, named))
    return container.pack(container.Container(KIND, VERSION, fields, sections))


def _constraints(avals: Sequence[Any]) -> list[str] | None:
    """What is known of symbolic sizes; None where there are none."""
    for aval in avals:
        for d in aval.shape:
            if sizes.is_symbolic(d):
                return list(d.scope.constraints_str)
    return None
