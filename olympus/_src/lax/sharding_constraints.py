"""Constraints on where values live, and moves between types that say it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from olympus._src.core import avals, explicit_shardings, trace
from olympus._src.core.primitive import Primitive
from olympus._src.core.symbolic_values import Zero
from olympus._src.lax import families, memory_kinds, sharding_rules
from olympus._src.lowering import partitioning
from olympus._src.sharding import contexts
from olympus._src.sharding.meshes import AxisType, Mesh
from olympus._src.sharding.named import NamedSharding
from olympus._src.sharding.specs import UNCONSTRAINED, PartitionSpec, axes_of


def _lower(ctx: Any, x: str, *, sharding: Any) -> str:
    """On one device the whole value is there anyway."""
    if not isinstance(sharding, NamedSharding):
        return x
    _check_parts(sharding, ctx.module.manual, "with_sharding_constraint")
    symbol = ctx.module.mesh(sharding.mesh)
    aval = ctx.avals_out[0]
    x = ctx.block.emit(partitioning.constraint(symbol, sharding.spec, x, aval))
    kind = sharding.other_memory_kind
    if kind is None and ctx.module.has_other_memories:
        kind = sharding.memory_kind  # the value may have been in another one
    return x if kind is None else memory_kinds.lower_move(ctx, x, memory_kind=kind)


def _batch(axis: Any, args: Any, dims: Any, *, sharding: Any) -> Any:
    """Leaves the mapped axis to the compiler, unless it is one of the mesh."""
    if isinstance(sharding, NamedSharding):
        entry = UNCONSTRAINED if axis.spmd_name is None else axis.spmd_name
        sharding = explicit_shardings.with_axis(sharding, dims[0], entry)
    (x,) = args
    return constrain(x, sharding), dims[0]


def _transpose(cts: Any, x: Any, **params: Any) -> Any:
    (ct,) = cts
    return [ct if type(ct) is Zero else sharding_constraint_p.bind(ct, **params)]


sharding_constraint_p = Primitive(
    "sharding_constraint",
    shard=sharding_rules.keep,
    abstract=lambda operand, **params: operand,
    lower=_lower,
    batch=_batch,
    transpose=_transpose,
    reference=lambda x, **params: np.array(x),
    **families.LINEAR,
)


def constrain(x: Any, sharding: Any, what: str = "with_sharding_constraint") -> Any:
    """The same values, which are where a sharding says.

    Args:
      x: an array.
      sharding: the sharding.
      what: the function that the user called, for messages.

    Raises:
      ValueError: in a function of `shard_map`, the sharding is of another mesh, or
        names an axis that the function is written for.
    """
    _check_parts(sharding, trace.current.manual, what)
    return sharding_constraint_p.bind(x, sharding=sharding)


def _check_parts(sharding: Any, manual: Any, what: str) -> None:
    """Raises ValueError where values are parts, which a sharding cannot divide so.

    XLA would refuse it in its own words, or end the process.
    """
    if manual is None or not isinstance(sharding, NamedSharding):
        return
    mesh = sharding.mesh
    misfit = find_misfit(mesh, [sharding.spec], manual)
    if misfit is mesh:
        raise ValueError(
            f"{what}: in a function of shard_map the mesh must be that of shard_map, "
            f"with its devices, got {mesh} in one over {manual.mesh}; leave it out "
            "there"
        )
    if misfit is not None:
        raise ValueError(
            f"{what}: in a function of shard_map a spec must not name the manual axes "
            f"that the function is written for, got {misfit}; the value is a "
            "part along them already, so leave them out"
        )


def find_misfit(mesh: Any, specs: Iterable[Any], manual: Any) -> Any:
    """What does not fit in a function of `shard_map`, whose values are parts.

    Args:
      mesh: what a sharding, or a function, in it is over.
      specs: how that divides values along the mesh; other things are passed over.
      manual: what the function is manual along.

    Returns:
      The mesh where it is another one; else the first spec that names an axis which
      the function is manual along; None where all fit.
    """
    if not _is_same_mesh(mesh, manual.mesh):
        return mesh
    own = set(manual.all_axes())
    for spec in specs:
        is_spec = isinstance(spec, PartitionSpec)
        if is_spec and not own.isdisjoint(axes_of(spec.partitions)):
            return spec
    return None


def _is_same_mesh(mesh: Any, other: Any) -> bool:
    """Whether two meshes have the same axes, and the same devices where both have any.

    Args:
      mesh: a mesh, or one without devices.
      other: another.
    """
    if mesh is other:
        return True
    if mesh.shape_tuple != other.shape_tuple:
        return False
    if not isinstance(mesh, Mesh) or not isinstance(other, Mesh):
        return True
    return list(mesh.devices.flat) == list(other.devices.flat)


# -- moves between types ---------------------------------------------------------------


def resolve(place: Any, what: str, *operands: Any) -> Any:
    """The sharding that an argument such as `out_sharding` describes.

    Args:
      place: a sharding; a spec for the mesh that is set, or that divides an operand;
        or None.
      what: the function and its argument, for messages.
      *operands: arrays.

    Raises:
      TypeError: it is neither.
      ValueError: there is no mesh for a spec.
    """
    if place is None or isinstance(place, NamedSharding):
        return place
    if not isinstance(place, PartitionSpec):
        raise TypeError(
            f"{what}: must be a PartitionSpec or a NamedSharding, got {place!r}"
        )
    mesh = current_mesh()
    if mesh.empty:
        own = [getattr(avals.aval_of(x), "explicit", None) for x in operands]
        meshes = [explicit.mesh for explicit in own if explicit is not None]
        if not meshes:
            raise ValueError(no_mesh_text(what, place))
        mesh = meshes[0]
    return NamedSharding(mesh, place)


def no_mesh_text(what: str, spec: PartitionSpec) -> str:
    """The message of an error for a spec that no mesh gives a meaning.

    Args:
      what: the function and its argument.
      spec: the spec.
    """
    return (
        f"{what}: a PartitionSpec requires a mesh to be set, got {spec} and none; "
        f"write `with olympus.set_mesh(mesh):`, or NamedSharding(mesh, {spec})"
    )


def current_mesh() -> Any:
    """The mesh that is set, with the types that its axes have here."""
    mesh: Any = contexts.get_mesh()
    abstract = contexts.get_abstract_mesh()
    if mesh.shape_tuple != abstract.shape_tuple:
        mesh = abstract
    types = dict(zip(abstract.axis_names, abstract.axis_types, strict=True))
    manual = trace.current.manual
    if manual is not None:
        types.update(dict.fromkeys(manual.all_axes(), AxisType.Manual))
    return mesh if mesh.empty else _with_types(mesh, types)


def _with_types(mesh: Any, types: dict[Any, AxisType]) -> Any:
    pairs = zip(mesh.axis_names, mesh.axis_types, strict=True)
    return mesh.update(axis_types=tuple([types.get(n, t) for n, t in pairs]))


def of_types(sharding: NamedSharding | None) -> NamedSharding | None:
    """The sharding, if types tell of some axis of its mesh; else None."""
    if sharding is None or not sharding.mesh.explicit_axes:
        return None
    return sharding


def finish(x: Any, sharding: NamedSharding | None) -> Any:
    """A result, divided as was asked where its type does not say it."""
    if sharding is None or not sharding.mesh.auto_axes:
        return x
    return constrain(x, sharding, "out_sharding")


def divide_result(
    f: Callable[..., Any], out_sharding: Any, what: str, *operands: Any
) -> Any:
    """A function of arrays, of which the compiler divides all but the result.

    Args:
      f: takes the operands.
      out_sharding: how the result is divided, as `resolve` takes it.
      what: the function, for messages.
      *operands: arrays or other values.
    """
    arrays = [x for x in operands if avals.is_array_like(x)]
    sharding = resolve(out_sharding, f"{what} out_sharding", *arrays)
    out = f(*[leave_to_compiler(x) if avals.is_array_like(x) else x for x in operands])
    return divide(out, sharding, what)


def divide(x: Any, sharding: NamedSharding | None, what: str) -> Any:
    """A result, divided as was asked.

    Raises:
      ValueError: the mesh cannot divide its shape so.
    """
    if sharding is None:
        return x
    sharding.check_shape(avals.aval_of(x).shape, f"{what} out_sharding")
    if sharding.mesh.explicit_axes:
        return reshard_p.bind(x, sharding=sharding)
    return constrain(x, sharding, f"{what} out_sharding")


def is_over_mesh(place: Any) -> bool:
    """Whether an argument describes how a value is divided over a mesh."""
    return isinstance(place, (NamedSharding, PartitionSpec))


def is_sum(place: Any) -> bool:
    """Whether an argument asks for a sum that is still to be taken (unreduced)."""
    spec = place.spec if isinstance(place, NamedSharding) else place
    return isinstance(spec, PartitionSpec) and bool(spec.unreduced)


def reshard(x: Any, sharding: NamedSharding) -> Any:
    """The same values, divided along explicit axes as a sharding says."""
    return reshard_p.bind(x, sharding=sharding)


def give_type(x: Any, explicit: NamedSharding | None) -> Any:
    """The same values, of a type that says how they are divided, or that does not."""
    if avals.aval_of(x).explicit is explicit:
        return x
    if explicit is None:
        return mesh_cast_p.bind(x, target=None)
    return reshard_p.bind(x, sharding=explicit)


def leave_to_compiler(x: Any, names: Any = None) -> Any:
    """The same values, of a type that does not tell of some axes; default of none."""
    explicit = getattr(avals.aval_of(x), "explicit", None)
    if explicit is None:
        return x
    if explicit.spec.unreduced:  # the compiler is to see values, not sums to be taken
        spec = explicit.spec.update(unreduced=frozenset())
        x = reshard_p.bind(x, sharding=explicit.update(spec=spec))
        return leave_to_compiler(x, names)
    chosen = explicit.mesh.explicit_axes if names is None else names
    auto = dict.fromkeys(chosen, AxisType.Auto)
    target = explicit_shardings.with_axis_types(explicit, auto)
    return x if target is explicit else mesh_cast_p.bind(x, target=target)


def _reshard_batch(axis: Any, args: Any, dims: Any, *, sharding: Any) -> Any:
    (x,), (dim,) = args, dims
    if sharding is not None:
        entry = explicit_shardings.entries_of(avals.aval_of(x))[dim]
        sharding = explicit_shardings.with_mapped_axis(sharding, dim, entry)
    return reshard_p.bind(x, sharding=sharding), dim


def _move_transpose(cts: Any, x: Any, **params: Any) -> Any:
    (ct,) = cts
    if type(ct) is Zero:
        return [Zero(x.aval)]
    return [give_type(ct, x.aval.to_cotangent().explicit)]


reshard_p = Primitive(
    "reshard",
    abstract=lambda operand, *, sharding: operand,
    shard=lambda out, operand, *, sharding: sharding,
    lower=_lower,
    batch=_reshard_batch,
    transpose=_move_transpose,
    print=lambda eqn: [],
    reference=lambda x, **params: np.array(x),
    **families.LINEAR,
)


def _cast_batch(axis: Any, args: Any, dims: Any, *, target: Any) -> Any:
    """The mapped axis remains divided as it is."""
    (x,), (dim,) = args, dims
    explicit = avals.aval_of(x).explicit
    if explicit is None:
        return x, dim
    entries = explicit_shardings.entries_of(avals.aval_of(x))
    if target is None and entries[dim] is None:
        return mesh_cast_p.bind(x, target=None), dim
    if target is None:
        auto = dict.fromkeys(explicit.mesh.explicit_axes, AxisType.Auto)
        mesh = explicit.mesh.update_axis_types(auto)
        spec = explicit.spec.update(partitions=[None] * (len(entries) - 1))
        target = NamedSharding(mesh, spec)
    target = explicit_shardings.with_mapped_axis(target, dim, entries[dim])
    target = explicit_shardings.canonicalize(target, len(entries))
    return mesh_cast_p.bind(x, target=target), dim


mesh_cast_p = Primitive(
    "mesh_cast",
    abstract=lambda operand, *, target: operand,
    shard=lambda out, operand, *, target: target,
    lower=lambda ctx, x, *, target: x,
    batch=_cast_batch,
    transpose=_move_transpose,
    reference=lambda x, **params: np.array(x),
    **families.LINEAR,
)
