"""How types say that explicit axes of a mesh divide an array.

A type holds a `NamedSharding` over an abstract mesh, with an entry for each axis of the
array, or None where no explicit axis divides it. Automatic and manual axes of a mesh
are never in it: of these the compiler decides, and a program of one device.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

from olympus._src.foundation import errors
from olympus._src.sharding import contexts
from olympus._src.sharding.meshes import AxisType, Mesh
from olympus._src.sharding.named import NamedSharding
from olympus._src.sharding.specs import PartitionSpec, axes_of, names_of

Entries = tuple[Any, ...]


def canonicalize(sharding: Any, ndim: int) -> NamedSharding | None:
    """The part of a sharding that types show; None where they show nothing."""
    if not isinstance(sharding, NamedSharding) or not sharding.mesh.explicit_axes:
        return None
    key = "type", ndim
    cached = sharding._cached  # noqa: SLF001 - what depends on it alone is kept there
    if key not in cached:
        cached[key] = _canonicalize(sharding, ndim)
    return cached[key]


# The meshes of devices that types with these axes came from. Interned, so few.
_meshes: dict[Any, list[Mesh]] = {}


def mesh_with_devices(mesh: Any) -> Mesh | None:
    """The mesh that is set, or else the only one known, that has a mesh's axes."""
    if isinstance(mesh, Mesh):
        return mesh
    current = contexts.get_mesh()
    if current.shape_tuple == mesh.shape_tuple:
        return current.update(axis_types=mesh.axis_types)
    known = _meshes.get(mesh.shape_tuple, [])
    return known[0].update(axis_types=mesh.axis_types) if len(known) == 1 else None


def _canonicalize(sharding: NamedSharding, ndim: int) -> NamedSharding | None:
    mesh, spec = sharding.mesh.abstract_mesh, sharding.spec
    if isinstance(sharding.mesh, Mesh):
        known = _meshes.setdefault(mesh.shape_tuple, [])
        if all(m.flat_devices != sharding.mesh.flat_devices for m in known):
            known.append(sharding.mesh)
    sharding.check_rank(ndim, "sharding")
    entries = [_keep(entry, mesh.explicit_axes) for entry in spec.partitions]
    entries += [None] * (ndim - len(entries))
    roles = [
        frozenset(n for n in names if n in mesh.explicit_axes)
        for names in (spec.unreduced, spec.reduced)
    ]
    return of_entries(mesh, entries, *roles)


def _keep(entry: Any, names: Sequence[Any]) -> Any:
    return tuple([name for name in names_of(entry) if name in names])


def of_entries(
    mesh: Any,
    entries: Iterable[Any],
    unreduced: frozenset[Any] = frozenset(),
    reduced: frozenset[Any] = frozenset(),
) -> NamedSharding | None:
    """What the type of an array says that these entries divide, one for each axis."""
    spec = PartitionSpec(*entries, unreduced=unreduced, reduced=reduced)
    if not unreduced and not reduced and all(e is None for e in spec.partitions):
        return None
    return NamedSharding(mesh, spec)


def entries_of(aval: Any) -> Entries:
    """For each axis of an array the mesh axes that divide it, as its type says."""
    explicit = aval.explicit
    return (None,) * aval.ndim if explicit is None else explicit.spec.partitions


def mesh_axes_of(aval: Any) -> list[Any]:
    """The explicit mesh axes that divide an array."""
    return axes_of(entries_of(aval))


def check_sizes(explicit: NamedSharding, shape: tuple[Any, ...]) -> None:
    """Raises ShardingTypeError where sizes are not multiples of their parts."""
    sizes = explicit.mesh.shape
    for axis, entry in enumerate(explicit.spec.partitions):
        count = math.prod([sizes[name] for name in names_of(entry)])
        if count > 1 and not (type(shape[axis]) is int and shape[axis] % count == 0):
            raise errors.ShardingTypeError(
                f"a divided axis must have a size that is a multiple of the number of "
                f"its parts, got size {shape[axis]} of axis {axis} of shape {shape} in "
                f"{count} parts along {entry!r} of {explicit.mesh}; reshard operands "
                "first, as in olympus.reshard(x, P()), or pad it"
            )


def insert_entry(
    explicit: NamedSharding | None, position: int, entry: Any = None
) -> NamedSharding | None:
    """What the type with one more axis says."""
    if explicit is None:
        return None
    entries = list(explicit.spec.partitions)
    entries.insert(position, entry)
    return explicit.update(spec=explicit.spec.update(partitions=entries))


def delete_entry(explicit: NamedSharding | None, position: int) -> NamedSharding | None:
    """What the type without an axis says."""
    if explicit is None:
        return None
    entries = list(explicit.spec.partitions)
    del entries[position]
    return of_entries(
        explicit.mesh, entries, explicit.spec.unreduced, explicit.spec.reduced
    )


def swap_roles(explicit: NamedSharding) -> NamedSharding:
    """Its dual, for cotangents: reduced axes are unreduced, and the reverse."""
    spec = explicit.spec
    if not spec.unreduced and not spec.reduced:
        return explicit
    dual = spec.update(unreduced=spec.reduced, reduced=spec.unreduced)
    return explicit.update(spec=dual)


def manual(explicit: NamedSharding | None, axes: Sequence[Any]) -> NamedSharding | None:
    """What the type says inside of a program that is manual along some axes."""
    if explicit is None:
        return None
    types = dict.fromkeys(axes, AxisType.Manual)
    return with_axis_types(explicit, types)


def with_axis_types(
    explicit: NamedSharding, types: dict[Any, AxisType]
) -> NamedSharding | None:
    """What the type says where axes of the mesh have other types."""
    mesh = explicit.mesh.abstract_mesh.update_axis_types(types)
    spec = explicit.spec
    entries = [_keep(entry, mesh.explicit_axes) for entry in spec.partitions]
    kept = frozenset(mesh.explicit_axes)
    return of_entries(mesh, entries, spec.unreduced & kept, spec.reduced & kept)


def with_axis(sharding: NamedSharding, axis: int, entry: Any) -> NamedSharding:
    """The sharding of arrays with one more axis.

    Args:
      sharding: without it.
      axis: the position of the new axis.
      entry: which mesh axes divide it.
    """
    entries = list(sharding.spec.partitions)
    if axis < len(entries) or entry is not None:
        entries += [None] * (axis - len(entries))
        entries.insert(axis, entry)
    return sharding.update(spec=sharding.spec.update(partitions=entries))


def with_mapped_axis(
    sharding: NamedSharding, position: int, entry: Any
) -> NamedSharding:
    """The sharding of arrays with one more axis, which explicit axes divide."""
    if any(name in sharding.mesh.auto_axes for name in names_of(entry)):
        mesh = sharding.mesh
        pairs = zip(mesh.axis_names, mesh.axis_types, strict=True)
        types = [AxisType.Explicit if n in names_of(entry) else t for n, t in pairs]
        sharding = sharding.update(mesh=mesh.update(axis_types=tuple(types)))
    return with_axis(sharding, position, entry)


# -- results ---------------------------------------------------------------------------


def divide_results(
    rule: Any, outs: Any, avals: Any, params: Any, multiple_results: bool
) -> Any:
    """The types of results with what the rule `shard` of their operation says.

    Raises:
      ShardingTypeError: the operands do not tell, or are on different meshes.
    """
    mesh = _common_mesh(avals)
    divided = rule(outs if multiple_results else outs[0], *avals, **params)
    if not multiple_results:
        divided = [divided]
    if all(isinstance(d, NamedSharding) for d in divided):
        return tuple([o.update(sharding=d) for o, d in zip(outs, divided, strict=True)])
    roles = join_roles(rule, avals)
    return tuple(
        [_divide(out, mesh, d, roles) for out, d in zip(outs, divided, strict=True)]
    )


Roles = tuple[frozenset[Any], frozenset[Any]]  # unreduced and reduced mesh axes
_NO_ROLES: Roles = (frozenset(), frozenset())


def roles_of(aval: Any) -> Roles:
    """Along which mesh axes values are still to be summed, and which cotangents are."""
    explicit = getattr(aval, "explicit", None)
    if explicit is None:
        return _NO_ROLES
    return explicit.spec.unreduced, explicit.spec.reduced


def linear_in(rule: Any, *positions: int) -> Any:
    """The rule `shard` of an operation that is linear in some operands together.

    Of sums that are still to be taken it gives sums that are still to be taken.

    Args:
      rule: how the result is divided.
      *positions: those operands; all if none is given.
    """

    def linear(*args: Any, **params: Any) -> Any:
        return rule(*args, **params)

    linear.linear_in = positions  # type: ignore[attr-defined]
    return linear


def bilinear(rule: Any) -> Any:
    """The rule `shard` of a product of elements."""

    def product(*args: Any, **params: Any) -> Any:
        return rule(*args, **params)

    product.is_bilinear = True  # type: ignore[attr-defined]
    return product


def join_roles(rule: Any, avals: Any) -> Roles:
    """The roles of results.

    Raises:
      ShardingTypeError: the operation would need what is still to be summed.
    """
    rows = [roles_of(a) for a in avals]
    reduced = frozenset().union(*[row[1] for row in rows])
    unreduced = frozenset().union(*[row[0] for row in rows])
    if reduced:
        _check_reduced(reduced, avals)
    if not unreduced:
        return unreduced, reduced
    if getattr(rule, "is_bilinear", False):
        summed = [row for row in rows if row[0]]
        others = [
            row[1]
            for row, aval in zip(rows, avals, strict=True)
            if not row[0] and aval.shape
        ]
        if len(summed) == 1 and all(unreduced <= names for names in others):
            return unreduced, reduced - unreduced
        raise errors.ShardingTypeError(
            f"a product of a value that is still to be summed along "
            f"{_names_list(unreduced)} needs a factor that is reduced along them; "
            "sum it first with olympus.reshard(x, P(...)), or move the factor with "
            "olympus.reshard(y, P(..., reduced={...}))"
        )
    positions = getattr(rule, "linear_in", None)
    if positions is None:
        raise errors.ShardingTypeError(
            f"it is not linear, and an operand is still to be summed (unreduced) along "
            f"{_names_list(unreduced)}; sum it with olympus.reshard(x, P(...))"
        )
    chosen = [row for i, row in enumerate(rows) if not positions or i in positions]
    if any(row[0] != unreduced for row in chosen):
        raise errors.ShardingTypeError(
            f"all operands must be still to be summed (unreduced) along "
            f"{_names_list(unreduced)}, or none; sum them with "
            "olympus.reshard(x, P(...))"
        )
    return unreduced, reduced


def _check_reduced(reduced: frozenset[Any], avals: Any) -> None:
    """Other operands must not take part in the sums that cotangents are."""
    for aval in avals:
        if not getattr(aval, "shape", ()):
            continue
        own = roles_of(aval)
        if own[1] != reduced and not own[0]:
            raise errors.ShardingTypeError(
                f"operands must be reduced along the same mesh axes, got "
                f"{aval.short()} beside one that is along {_names_list(reduced)}; move "
                "one with olympus.reshard(x, P(...))"
            )


def _names_list(names: frozenset[Any]) -> str:
    return " and ".join(sorted(map(repr, names)))


def _divide(out: Any, mesh: Any, divided: Any, roles: Roles) -> Any:
    if isinstance(divided, NamedSharding):
        return out.update(sharding=divided)
    if divided is None:
        divided = ()
    used = axes_of(divided)
    twice = [n for n in used if used.count(n) > 1]
    if twice:
        raise errors.ShardingTypeError(
            f"a mesh axis must divide at most one axis of the result, got {twice[0]!r} "
            f"more than once in P({', '.join(map(repr, divided))}); reshard one, "
            "or give the result's sharding by out_sharding= where the function has it"
        )
    both = (roles[0] | roles[1]) & set(used)
    if both:
        raise errors.ShardingTypeError(
            f"mesh axes along which an operand is reduced or unreduced must not divide "
            f"the result, got {_names_list(frozenset(both))}; reshard an operand"
        )
    entries = [*divided, *[None] * (out.ndim - len(divided))]
    return out.update(sharding=of_entries(mesh, entries, *roles))


def _common_mesh(avals: Any) -> Any:
    """The mesh of the operands that are divided; None where none is."""
    mesh = None
    for aval in avals:
        explicit = getattr(aval, "explicit", None)
        if explicit is None:
            continue
        if mesh is not None and explicit.mesh is not mesh:
            raise errors.ShardingTypeError(
                f"operands must be on one mesh, got {mesh} and {explicit.mesh}; move "
                "one with olympus.device_put"
            )
        mesh = explicit.mesh
    return mesh


# -- text ------------------------------------------------------------------------------


def sizes_text(
    shape: Sequence[Any], explicit: NamedSharding | None, vma: frozenset[Any]
) -> str:
    """Sizes with what divides them and how values differ, as in `[8@x,4]{U:y}`."""
    spec = PartitionSpec() if explicit is None else explicit.spec
    entries = [*spec.partitions, *[None] * (len(shape) - len(spec.partitions))]
    sizes = [
        str(size) if entry is None else f"{size}@{_names_text(names_of(entry))}"
        for size, entry in zip(shape, entries, strict=True)
    ]
    roles = [
        f"{letter}:{_names_text(sorted(map(str, names)))}"
        for letter, names in (("V", vma), ("U", spec.unreduced), ("R", spec.reduced))
        if names
    ]
    suffix = f"{{{', '.join(roles)}}}" if roles else ""
    return f"[{','.join(sizes)}]{suffix}"


def _names_text(names: Sequence[Any]) -> str:
    listed = ",".join(map(str, names))
    return listed if len(names) == 1 else f"({listed})"
