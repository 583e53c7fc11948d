"""Arguments that say where values are placed, in canonical form."""

from __future__ import annotations

from typing import Any

from olympus._src import tree
from olympus._src.core import avals as avals_
from olympus._src.lax import sharding_constraints
from olympus._src.runtime import shardings, versions
from olympus._src.sharding import contexts, single_devices
from olympus._src.sharding.layouts import Format, Layout, check_default
from olympus._src.sharding.memory_spaces import Space
from olympus._src.sharding.meshes import AbstractMesh
from olympus._src.sharding.named import NamedSharding
from olympus._src.sharding.specs import PartitionSpec

Sharding = shardings.Sharding


def resolve(place: Any, what: str) -> Any:
    """The sharding that a user's argument describes.

    Args:
      place: a sharding, a format, a device, or a spec for the mesh that is set; or
        None.
      what: the function and its argument, for messages.

    Returns:
      A sharding, or None for None.

    Raises:
      TypeError: it does not describe one.
      ValueError: no mesh is set for a spec, or the sharding's mesh has no devices.
    """
    if isinstance(place, Format):
        place = place.sharding
    if isinstance(place, NamedSharding):
        if isinstance(place.mesh, AbstractMesh):
            return _with_devices(place, what)
        return place
    if isinstance(place, shardings.SingleDeviceSharding):
        return single_devices.with_its_memory(place)
    if place is None or isinstance(place, Sharding):
        return place
    if isinstance(place, PartitionSpec):
        if contexts.get_mesh().empty:
            raise ValueError(sharding_constraints.no_mesh_text(what, place))
        return sharding_constraints.resolve(place, what)
    if versions.is_device(place):
        return shardings.placement_of(place).sharding
    raise TypeError(
        f"{what}: must be a sharding, a device or a PartitionSpec, got {place!r}; see "
        "olympus.devices() and olympus.sharding"
    )


def _with_devices(sharding: NamedSharding, what: str) -> NamedSharding:
    mesh = contexts.get_mesh()
    if mesh.abstract_mesh is sharding.mesh:
        return sharding.update(mesh=mesh)
    raise ValueError(
        f"{what}: the sharding's mesh must have devices, got {sharding.mesh}; set a "
        "mesh of these axes by olympus.set_mesh(mesh)"
    )


def is_leaf(x: Any) -> bool:
    """Whether a value in a tree of places is one of them."""
    kinds = (Sharding, PartitionSpec, Format, Space)
    return x is None or isinstance(x, kinds) or versions.is_device(x)


def of_leaves(
    places: Any,
    x: Any,
    what: str,
    full_name: str,
    spaces: bool = False,
    layouts: bool = False,
) -> list[Any]:
    """The sharding of each leaf of a tree, from a tree that is a prefix of it.

    Args:
      places: a tree of what `resolve` takes.
      x: the tree.
      what: the function and its argument, for messages.
      full_name: what `x` is called in them.
      spaces: whether a place may be a memory space, which is returned.
      layouts: whether a format may have any layout; `layouts_of_leaves` gives it.

    Raises:
      ValueError: `places` is not a prefix of `x`.
      NotImplementedError: a format has another layout than the default.
    """
    leaves = tree.broadcast_prefix(places, x, is_leaf, what=what, full_name=full_name)
    if not layouts and any(isinstance(place, Format) for place in leaves):
        for place, value in zip(leaves, tree.tree_leaves(x), strict=True):
            if isinstance(place, Format):
                check_default(place.layout, len(_shape_of(value)), what)
    return [
        place if spaces and isinstance(place, Space) else resolve(place, what)
        for place in leaves
    ]


def layouts_of_leaves(places: Any, x: Any) -> list[Layout | None]:
    """The layout that a format names for each leaf of a tree, else None."""
    leaves = tree.broadcast_prefix(places, x, is_leaf, what="layouts", full_name="x")
    layouts = [x.layout if isinstance(x, Format) else None for x in leaves]
    return [layout if isinstance(layout, Layout) else None for layout in layouts]


def _shape_of(x: Any) -> tuple[int, ...]:
    return x.shape if hasattr(x, "shape") else avals_.aval_of(x).shape


def check_value(sharding: Any, shape: Any, what: str) -> None:
    """Raises ValueError where a value of a shape cannot be divided so."""
    if isinstance(sharding, NamedSharding):
        sharding.check_shape(tuple(shape), what)
