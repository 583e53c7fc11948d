"""Reports of how the compiler divides values inside of a program."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from olympus._src.interpreters.lowered_programs import LoweredProgram
from olympus._src.lowering.inspections import Inspection
from olympus._src.runtime import versions
from olympus._src.runtime.shardings import placement_of
from olympus._src.sharding.division import chosen_part_sharding, chosen_sharding
from olympus._src.sharding.meshes import Mesh
from olympus._src.sharding.named import NamedSharding


def install(inspections: Sequence[Inspection], text: str) -> str:
    """The text with the functions that XLA calls, in place of their placeholders."""
    for inspection in inspections:
        inspection.chosen.clear()
        # It must not raise: XLA would end the process.
        data = versions.inspection_bytes(inspection.note)
        code = "".join([f"\\{byte:02X}" for byte in data])
        text = text.replace(inspection.placeholder, code)
    return text


def report(lowered: LoweredProgram) -> None:
    """Calls the users' functions of a program that has been compiled."""
    division = lowered.division
    for inspection in lowered.inspections:
        if division is None:
            inspection.callback(placement_of(lowered.device).sharding)
            continue
        chosen = inspection.chosen
        if division.mesh.size == 1:  # where the compiler chooses none
            chosen = [versions.HloSharding.replicate()]
        for hlo in chosen:
            inspection.callback(_named_sharding(division.mesh, inspection, hlo))


def _named_sharding(mesh: Mesh, inspection: Inspection, hlo: Any) -> NamedSharding:
    if inspection.manual is None:
        return chosen_sharding(mesh, hlo.to_proto(), inspection.ndim)
    axes = inspection.manual.axes
    return chosen_part_sharding(mesh, axes, hlo, inspection.ndim)
