"""Meshes that programs name themselves, by constraints on their values."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from olympus._src.core import explicit_shardings, ir
from olympus._src.interpreters import type_constraints
from olympus._src.interpreters.concrete_arrays import committed_place
from olympus._src.lax.sharding_constraints import sharding_constraint_p
from olympus._src.lowering import memory_kinds
from olympus._src.sharding import contexts, single_devices
from olympus._src.sharding.division import (
    Division,
    devices_text,
    incompatible_devices,
)
from olympus._src.sharding.meshes import Mesh
from olympus._src.sharding.named import NamedSharding
from olympus._src.sharding.specs import UNCONSTRAINED, PartitionSpec


def mesh_of(program: ir.Olympuspr) -> Mesh | None:
    """The first mesh of devices among the parameters of a program's equations.

    A device that values are constrained to is a mesh of its own.
    """
    return program.derived("mesh", _find_mesh)


def _find_mesh(program: ir.Olympuspr) -> Mesh | None:
    for eqn in program.eqns:
        for mesh in _meshes_named_by(eqn):
            return mesh
        for inner in ir.subprograms(eqn.params):
            inner_mesh = mesh_of(inner)
            if inner_mesh is not None:
                return inner_mesh
    return None


def _meshes_named_by(eqn: ir.Eqn) -> Iterator[Mesh]:
    for value in eqn.params.values():
        mesh = value.mesh if isinstance(value, NamedSharding) else value
        if isinstance(mesh, Mesh):
            yield mesh
    device = _device_named_by(eqn)
    if device is not None:
        yield single_devices.mesh_of(device)


def _device_named_by(eqn: ir.Eqn) -> Any:
    """The one device that a value is constrained to; of callbacks it says who calls."""
    if eqn.primitive is not sharding_constraint_p:
        return None
    sharding = eqn.params["sharding"]
    if not single_devices.is_of_device(sharding):
        return None
    (device,) = sharding.device_set
    return device


def place_of(
    program: ir.Olympuspr, consts: Sequence[Any], place: Any, name: str
) -> Any:
    """Where a program runs: as its arguments say, or over the mesh that it names.

    Args:
      program: the program.
      consts: values of its constants.
      place: a device, a `Division` or None, as the arguments say.
      name: the function's name, for messages.

    Raises:
      ValueError: the mesh has other devices than those that the arguments are on.
    """
    mesh = mesh_of(program)
    if mesh is not None:
        mesh = _with_types_of_results(mesh, program)
    if mesh is None and not isinstance(place, Division):
        mesh = _mesh_of_types(program, consts)
    if mesh is None:
        return place
    _check_devices(program, name)
    return divide(place, mesh, len(program.invars), f"{name} constrains values to")


def _with_types_of_results(mesh: Mesh, program: ir.Olympuspr) -> Mesh:
    """The mesh, or the set one of the same devices if explicit axes stay inside."""
    outer = contexts.get_mesh()
    is_same = (
        outer.shape_tuple == mesh.shape_tuple
        and outer.flat_devices == mesh.flat_devices
    )
    if not is_same or any(_is_explicit(aval) for aval in program.out_avals):
        return mesh
    return outer


def _is_explicit(aval: Any) -> bool:
    return getattr(aval, "explicit", None) is not None


def _check_devices(program: ir.Olympuspr, name: str) -> None:
    """Raises ValueError where values are constrained to several lists of devices."""
    places = program.derived("named devices", _find_devices)
    if len(places) > 1:
        here, there = sorted(places, key=lambda devices: (len(devices), str(devices)))[
            :2
        ]
        raise incompatible_devices(
            f"{name} constrains values to {devices_text(here)} and to "
            f"{devices_text(there)}; a program runs on one device, or on all devices "
            "of one mesh"
        )


def _find_devices(program: ir.Olympuspr) -> frozenset[Any]:
    """The devices, in order, of each constraint."""
    places: set[Any] = set()
    for eqn in program.eqns:
        places.update(mesh.flat_devices for mesh in _meshes_named_by(eqn))
        for inner in ir.subprograms(eqn.params):
            places |= inner.derived("named devices", _find_devices)
    return frozenset(places)


def _mesh_text(mesh: Mesh) -> str:
    (device, *others) = mesh.flat_devices
    return str(mesh if others else device)


def _mesh_of_types(program: ir.Olympuspr, consts: Sequence[Any]) -> Mesh | None:
    """The mesh that is set, or of constants, where types in a program name its axes."""
    types = type_constraints.mesh_of(program)
    if types is None:
        return None
    if contexts.get_mesh().shape_tuple != types.shape_tuple:
        for place in map(committed_place, consts):
            if isinstance(place, NamedSharding):
                own = place.device_mesh
                if own.shape_tuple == types.shape_tuple:
                    return own.update(axis_types=types.axis_types)
    mesh = explicit_shardings.mesh_with_devices(types)
    if mesh is not None:
        return mesh
    raise ValueError(
        f"a program whose types name the axes of {types} requires a mesh of devices "
        "with these axes, got none; write `with olympus.set_mesh(mesh):`"
    )


def divide_results(division: Division, program: ir.Olympuspr) -> Division:
    """The division, with what the types of results say where nothing else does."""
    own = division.out_shardings or (None,) * len(program.outvars)
    rows = zip(own, program.out_avals, strict=True)
    chosen = [_result_sharding(s, aval, division.mesh) for s, aval in rows]
    return division._replace(out_shardings=tuple(chosen))


def _result_sharding(own: NamedSharding | None, aval: Any, mesh: Mesh) -> Any:
    if own is not None or mesh.auto_axes:  # the compiler chooses along these
        return own
    if aval.explicit is not None:
        types = aval.explicit.mesh
        if types.shape_tuple != mesh.shape_tuple:
            raise ValueError(
                f"a program must run on one mesh, got {mesh} and a result of type "
                f"{aval.short()} on {types}; move its arguments with olympus.device_put"
            )
        return NamedSharding(
            mesh.update(axis_types=types.axis_types), aval.explicit.spec
        )
    # What no explicit axis divides is whole on each device.
    return NamedSharding(mesh, PartitionSpec()) if mesh.are_all_axes_explicit else None


def keep_in_memories(program: ir.Olympuspr, place: Any, device: Any) -> Any:
    """Where a program runs whose results live in other memories of its devices.

    Args:
      program: the program.
      place: a device, a `Division` or None.
      device: the device, or the first of them.

    Returns:
      A `Division` that names the memories; `place` where all results are in the
      default one.
    """
    moves = program.derived("moves of results", _moves_of_results)
    if not any(moves):
        return place
    if not isinstance(place, Division):
        mesh = single_devices.mesh_of(device)
        place = Division(mesh, (None,) * len(program.invars))
    own = place.out_shardings or (None,) * len(program.outvars)
    chosen = [
        _place_of_moved(move, place) if sharding is None else sharding
        for sharding, move in zip(own, moves, strict=True)
    ]
    return place._replace(out_shardings=tuple(chosen))


def _place_of_moved(move: str | NamedSharding | None, place: Division) -> Any:
    """The sharding of a result that was moved; None where the compiler chooses it."""
    if move is None:
        return None
    kind = move if isinstance(move, str) else move.memory_kind
    if len(place.devices) == 1:
        return NamedSharding(place.mesh, PartitionSpec(), memory_kind=kind)
    if isinstance(move, str) or not isinstance(move.mesh, Mesh):
        return None  # how it is divided is not known
    if move.mesh.flat_devices != place.devices:
        return None
    return None if UNCONSTRAINED in move.spec.partitions else move


def _moves_of_results(program: ir.Olympuspr) -> list[str | NamedSharding | None]:
    """The memory that each result was moved to last, or the sharding that names it.

    None for the default memory.
    """
    makers = {v: (eqn, i) for eqn in program.eqns for i, v in enumerate(eqn.outvars)}
    moves: list[str | NamedSharding | None] = []
    for v in program.outvars:
        eqn, i = makers.get(v, (None, 0)) if type(v) is ir.Var else (None, 0)
        moves.append(None if eqn is None else _move_of_result(eqn, i))
    return moves


def _move_of_result(eqn: ir.Eqn, i: int) -> str | NamedSharding | None:
    kind = eqn.params.get("memory_kind")
    if kind is not None:
        return None if kind == memory_kinds.DEFAULT else str(kind)
    sharding = eqn.params.get("sharding")
    if isinstance(sharding, NamedSharding):
        return None if sharding.other_memory_kind is None else sharding
    inner = list(ir.subprograms(eqn.params))
    if len(inner) != 1 or len(inner[0].outvars) != len(eqn.outvars):
        return None
    moves: list[str | NamedSharding | None] = inner[0].derived(
        "moves of results", _moves_of_results
    )
    return moves[i]


def divide(place: Any, mesh: Mesh, n_inputs: int, reason: str) -> Division:
    """Where a program runs that must run over a mesh.

    Args:
      place: a device, a `Division` or None, as the arguments say.
      mesh: the mesh.
      n_inputs: how many inputs the program has.
      reason: why, for messages: it is followed by the mesh.

    Raises:
      ValueError: the arguments are on other devices.
    """
    if place is None:
        return Division(mesh, (None,) * n_inputs)
    devices = place.devices if isinstance(place, Division) else (place,)
    if devices != mesh.flat_devices:
        raise incompatible_devices(
            f"{reason} {_mesh_text(mesh)}, and arguments are committed to "
            f"{devices_text(devices)}; "
            "move them with olympus.device_put, or use one mesh"
        )
    if isinstance(place, Division) and any(place.in_shardings):
        return place
    return Division(mesh, (None,) * n_inputs)  # which may not be the one that is set
