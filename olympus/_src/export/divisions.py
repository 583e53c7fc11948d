"""How exported programs are divided over devices: descriptions, checks and JSON."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, cast

from olympus._src.core import avals as avals_
from olympus._src.export.json_fields import Fields
from olympus._src.foundation.container import Unreadable
from olympus._src.lowering import partitioning
from olympus._src.sharding import contexts
from olympus._src.sharding.division import Division
from olympus._src.sharding.meshes import AbstractMesh, AxisType, Mesh
from olympus._src.sharding.named import NamedSharding
from olympus._src.sharding.specs import UNCONSTRAINED, PartitionSpec, names_of

_MAX_AXES = 64
MAX_DEVICES = 1 << 24


# -- describing ------------------------------------------------------------------------


def without_devices(sharding: NamedSharding | None) -> NamedSharding | None:
    """A sharding over the axes of its mesh, whichever devices they are of."""
    if sharding is None:
        return None
    mesh, kind = sharding.mesh.abstract_mesh, sharding.other_memory_kind
    return sharding.update(mesh=mesh, memory_kind=kind)


def abstract(division: Division | None, in_avals: Sequence[Any]) -> Division | None:
    """A division over a mesh without devices, and of what types say of the inputs.

    Args:
      division: of a program; None for one device.
      in_avals: the types of its inputs.
    """
    if division is None:
        return None
    rows = zip(division.in_shardings, in_avals, strict=True)
    ins = [s if s is not None else getattr(a, "explicit", None) for s, a in rows]
    return Division(
        cast("Mesh", division.mesh.abstract_mesh),
        tuple(map(without_devices, ins)),
        tuple(map(without_devices, division.out_shardings)),
    )


def of_derivative(division: Division | None) -> Division | None:
    """How the reverse derivative of a program is divided.

    Args:
      division: of the program, with a sharding or None for each result.
    """
    if division is None:
        return None
    ins, outs = division.in_shardings, division.out_shardings
    return division._replace(in_shardings=ins + outs, out_shardings=ins)


def to_hlo(sharding: NamedSharding | None, aval: Any) -> Any:
    """XLA's form of a sharding; None where there is none, or XLA may choose."""
    if sharding is None or UNCONSTRAINED in sharding.spec.partitions:
        return None
    return sharding._to_xla_hlo_sharding(aval.storage.ndim)  # noqa: SLF001 - a protocol


def on_mesh(sharding: NamedSharding | None, mesh: Any, what: str) -> Any:
    """A sharding over a mesh that has the axes it was described with.

    Raises:
      TypeError: `mesh` is not a mesh.
      ValueError: it has other axes.
    """
    if not isinstance(mesh, (Mesh, AbstractMesh)):
        raise TypeError(f"{what}: mesh must be a Mesh, got {mesh!r}")
    if sharding is None:
        return None
    if sharding.mesh.shape_tuple != mesh.shape_tuple:
        raise ValueError(
            f"{what}: the mesh must have the axes that the program was exported for, "
            f"{dict(sharding.mesh.shape_tuple)}, got {mesh}"
        )
    return sharding.update(mesh=mesh)


def shardings_of(exported: Any) -> tuple[Sequence[Any], Sequence[Any]]:
    """The shardings of a program's arguments and results, over a mesh of no devices."""
    # JAX's names, so not public.
    return exported._in_named_shardings, exported._out_named_shardings  # noqa: SLF001


def mesh_of(exported: Any) -> Any:
    """The mesh, without devices, of an exported program of several devices."""
    ins, outs = shardings_of(exported)
    for sharding in (*ins, *outs):
        if sharding is not None and sharding.mesh.size == exported.nr_devices:
            return sharding.mesh
    return AbstractMesh((exported.nr_devices,), ("devices",), AxisType.Auto)


# -- calling ---------------------------------------------------------------------------


def mesh_of_context(exported: Any) -> Mesh | None:
    """The mesh that is set, where it has as many devices as a program needs."""
    mesh = contexts.get_mesh()
    is_needed = exported.nr_devices > 1 and mesh.size == exported.nr_devices
    return mesh if is_needed else None


def check_devices(exported: Any, module: Any) -> None:
    """Refuses a number of devices that a program was not exported for.

    A program of one device runs on any number of them.

    Args:
      exported: the program.
      module: what it is called in.

    Raises:
      ValueError: it is another number, or the call is in a `shard_map`.
    """
    n = exported.nr_devices
    if n == 1:
        return
    mesh = module.divided_over
    size = 1 if mesh is None else mesh.size
    if size != n:
        raise ValueError(
            f"Exported.call: {exported.fun_name!r} was exported for {n} devices, and "
            f"is called on {size}; divide its arguments over a mesh of {n} devices "
            "with olympus.device_put, or write `with olympus.set_mesh(mesh):`"
        )
    if module.manual is not None:
        raise ValueError(
            f"Exported.call: {exported.fun_name!r} was exported for {n} devices, and "
            "is called in a shard_map, which runs the program of one; call it outside"
        )


def check_meshes(exported: Any, functions: Any) -> None:
    """Refuses a module whose meshes have another number of devices than its record.

    Raises:
      ValueError: one has.
    """
    for _, axes in functions.meshes:
        if partitioning.is_of_one_device(axes) and exported.nr_devices > 1:
            continue
        if partitioning.mesh_size(axes) != exported.nr_devices or "device_ids" in axes:
            raise ValueError(
                f"Exported.call: the meshes of {exported.fun_name!r} must have "
                f"{exported.nr_devices} devices, got one of axes {axes}; export the "
                "function again"
            )


def constraining(
    ctx: Any, exported: Any, functions: Any
) -> Callable[[str, Any, NamedSharding | None], str]:
    """What constrains an argument or a result of a call as its program requires.

    A program of one device was lowered without the constraints that operations need
    which XLA divides wrongly: with one of them it is kept whole.

    Args:
      ctx: of the lowering rule.
      exported: the program.
      functions: its functions.

    Returns:
      A function of the name and type of a value and its sharding, or None.
    """

    def to_sharding(operand: str, aval: Any, sharding: NamedSharding | None) -> str:
        if sharding is None:
            return operand
        symbol = ctx.module.mesh(sharding.mesh)
        line = partitioning.constraint(symbol, sharding.spec, operand, aval)
        return ctx.block.emit(line)

    def whole(operand: str, aval: Any, sharding: NamedSharding | None) -> str:
        return partitioning.keep_whole(
            ctx, operand, aval.storage, range(aval.storage.ndim)
        )

    if exported.nr_devices == 1 and ctx.module.divided_over is not None:
        texts = [text for _, text in functions.texts]
        if any(map(partitioning.has_wrongly_divided, texts)):
            return whole
    return to_sharding


def spec_of_result(sharding: Any, mesh: Any) -> tuple[Any, ...]:
    """What explicit axes of a mesh divide, of a result of an exported program."""
    if sharding is None or sharding.mesh.shape_tuple != mesh.shape_tuple:
        return ()
    return tuple(
        [
            tuple([n for n in names_of(entry) if n in mesh.explicit_axes])
            for entry in sharding.spec.partitions
        ]
    )


# -- JSON ------------------------------------------------------------------------------


def write_sharding(sharding: NamedSharding | None) -> Any:
    """A sharding as JSON; null where there is none.

    Raises:
      ValueError: a name of a mesh axis is not a string.
    """
    if sharding is None:
        return None
    spec = sharding.spec
    return {
        "mesh": write_mesh(sharding.mesh),
        "spec": [
            "?" if entry is UNCONSTRAINED else list(names_of(entry))
            for entry in spec.partitions
        ],
        "unreduced": sorted(spec.unreduced),
        "reduced": sorted(spec.reduced),
        "memory_kind": sharding.other_memory_kind,
    }


def write_mesh(mesh: Any) -> list[Any]:
    """The name, size and type of each axis of a mesh.

    Raises:
      ValueError: a name is not a string.
    """
    for name in mesh.axis_names:
        if type(name) is not str:
            raise ValueError(
                "serialize: the names of mesh axes must be strings, got "
                f"{name!r} of {mesh}; name the axis by a string"
            )
    rows = zip(mesh.axis_names, mesh.axis_sizes, mesh.axis_types, strict=True)
    return [[name, int(size), kind.name] for name, size, kind in rows]


def read_sharding(value: Any, where: str) -> NamedSharding | None:
    """The sharding that `write_sharding` wrote, over a mesh without devices.

    Raises:
      Unreadable: it is not a sharding.
    """
    if value is None:
        return None
    fields = Fields(value, where)
    mesh = read_mesh(fields)
    entries = fields.items("spec")
    if len(entries) > _MAX_AXES or any(
        e != "?" and (type(e) is not list or any(type(n) is not str for n in e))
        for e in entries
    ):
        raise fields.wrong("spec", "a list of names for each axis", entries)
    kind = fields.text("memory_kind") if fields.has("memory_kind") else None
    try:
        spec = PartitionSpec(
            *[UNCONSTRAINED if e == "?" else tuple(e) for e in entries],
            unreduced=frozenset(fields.texts("unreduced")),
            reduced=frozenset(fields.texts("reduced")),
        )
        return NamedSharding(mesh, spec, memory_kind=kind)
    except (ValueError, TypeError) as error:
        raise Unreadable(f"{where}: {error}") from error


def read_mesh(fields: Fields, name: str = "mesh") -> AbstractMesh:
    """The axes that `write_mesh` wrote.

    Raises:
      Unreadable: they are none.
    """
    rows = fields.items(name)
    if not 0 < len(rows) <= _MAX_AXES or not all(map(_is_axis, rows)):
        raise fields.wrong(name, "a name, a size and a type for each axis", rows)
    names = [row[0] for row in rows]
    size = 1
    for row in rows:
        size *= row[1]
    if len(set(names)) < len(names) or size > MAX_DEVICES:
        raise fields.wrong(name, "different axes of few devices", rows)
    kinds = tuple([AxisType[row[2]] for row in rows])
    return AbstractMesh(tuple([row[1] for row in rows]), tuple(names), kinds)


def _is_axis(row: Any) -> bool:
    if type(row) is not list or [type(x) for x in row] != [str, int, str]:
        return False
    return 0 < row[1] <= MAX_DEVICES and row[2] in AxisType.__members__


def check_shardings(
    shardings: Sequence[Any], avals: Sequence[avals_.ShapedArray], n: int
) -> None:
    """Refuses shardings that do not fit types or the number of devices.

    Raises:
      Unreadable: one does not.
    """
    for sharding, aval in zip(shardings, avals, strict=True):
        if sharding is None:
            continue
        if len(sharding.spec) > aval.ndim or sharding.mesh.size != n:
            raise Unreadable(
                f"a sharding of {aval.short()} must be over {n} devices and of at most "
                f"{aval.ndim} axes, got {sharding}"
            )
