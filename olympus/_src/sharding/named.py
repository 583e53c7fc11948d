"""`NamedSharding`: an array divided over a mesh as a spec says."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from olympus._src.foundation import tracebacks
from olympus._src.foundation.interning import Interned
from olympus._src.runtime import client, shardings
from olympus._src.runtime.versions import DeviceList, HloSharding
from olympus._src.sharding import tiling
from olympus._src.sharding.meshes import AbstractMesh, Mesh, unknown_axis
from olympus._src.sharding.specs import PartitionSpec, axes_of, names_of

Index = tuple[slice, ...]


class NamedSharding(Interned, shardings.Sharding):
    """An array divided over the devices of a mesh.

    Args:
      mesh: a `Mesh`; an `AbstractMesh` where devices do not matter yet.
      spec: for each axis of the array the mesh axes that divide it.
      memory_kind: the kind of the devices' memory; None for their default.

    Raises:
      TypeError: an argument has a wrong type.
      ValueError: the spec names an axis that the mesh does not have, or one twice; or
        the devices have no memory of that kind.

    Example:
      >>> import olympus
      >>> from olympus.sharding import NamedSharding, PartitionSpec as P
      >>> mesh = olympus.make_mesh((1,), ('x',))
      >>> NamedSharding(mesh, P('x')).shard_shape((8, 3))
      (8, 3)
    """

    __slots__ = ("_cached", "_memory_kind", "mesh", "spec")

    mesh: Mesh | AbstractMesh
    spec: PartitionSpec
    _memory_kind: str | None
    _cached: dict[Any, Any]

    def __new__(
        cls, mesh: Any, spec: Any, memory_kind: str | None = None
    ) -> NamedSharding:
        known = cls._known.get((mesh, spec, memory_kind))
        if known is not None:
            return known
        if not isinstance(mesh, (Mesh, AbstractMesh)):
            raise TypeError(f"NamedSharding: mesh must be a Mesh, got {mesh!r}")
        if not isinstance(spec, PartitionSpec):
            raise TypeError(
                f"NamedSharding: spec must be a PartitionSpec, got {spec!r}; write "
                f"P({spec!r})"
            )
        _check_axes(mesh, spec)
        kind = memory_kind
        if isinstance(mesh, Mesh) and not mesh.empty:
            client.note_mesh()
            first = mesh.a_local_device
            if first is not None:
                kind = shardings.checked_memory_kind(first, memory_kind)
        sharding = cls._intern(
            (mesh, spec, kind), mesh=mesh, spec=spec, _memory_kind=kind, _cached={}
        )
        # The default kind's own name gives the same object.
        cls._known[mesh, spec, memory_kind] = sharding
        return sharding

    # -- where -----------------------------------------------------------------------

    @property
    def _internal_device_list(self) -> DeviceList:
        return self.device_mesh.device_list

    @property
    def device_mesh(self) -> Mesh:
        """The mesh, which has devices.

        Raises:
          ValueError: it has none.
        """
        if isinstance(self.mesh, AbstractMesh):
            raise ValueError(
                f"NamedSharding: devices are defined for a sharding with a Mesh, got "
                f"one of {self.mesh}"
            )
        return self.mesh

    @property
    def is_fully_replicated(self) -> bool:
        """Whether each device holds the whole array."""
        sizes = self.mesh.shape
        names = (*axes_of(self.spec.partitions), *self.spec.unreduced)
        return all(sizes[name] == 1 for name in names)

    @property
    def replicated_axes(self) -> frozenset[Any]:
        """The mesh axes along which the devices hold the same values."""
        used = {*axes_of(self.spec.partitions), *self.spec.unreduced}
        return frozenset(n for n in self.mesh.axis_names if n not in used)

    @property
    def other_memory_kind(self) -> str | None:
        """The kind of memory; None for the default of the devices."""
        kind, mesh = self._memory_kind, self.mesh
        if kind is None or isinstance(mesh, AbstractMesh) or mesh.empty:
            return kind
        known = self._cached.get("default memory kind")
        if known is None:
            first = mesh.a_local_device
            known = kind if first is None else shardings.default_memory_kind(first)
            self._cached["default memory kind"] = known
        return None if kind == known else kind

    def _to_xla_hlo_sharding(self, ndim: int) -> HloSharding:
        hlo = self._cached.get(ndim)
        if hlo is None:
            self.check_rank(ndim)
            sizes = self.mesh.shape
            hlo = tiling.to_hlo(sizes, self.spec.partitions, ndim)
            self._cached[ndim] = hlo
        return hlo

    def is_equivalent_to(self, other: Any, ndim: int) -> bool:
        """Whether another sharding places arrays of `ndim` axes in the same way."""
        unreduced = getattr(getattr(other, "spec", None), "unreduced", None) or set()
        return unreduced == self.spec.unreduced and super().is_equivalent_to(
            other, ndim
        )

    # -- parts -----------------------------------------------------------------------

    def devices_indices_map(self, global_shape: Any) -> dict[Any, Index]:
        """For each device, the slices of the array that it holds.

        Raises:
          ValueError: the array cannot be divided so.
        """
        shape = tuple(global_shape)
        self.check_shape(shape)
        entries = self.spec.partitions
        slices = tiling.device_slices(self.mesh.shape, entries, shape)
        return dict(zip(self._device_assignment, slices, strict=True))

    def parts(self, global_shape: Any) -> list[shardings.Part]:
        """The part of an array that each device holds, in the devices' order."""
        return self._for_shape("parts", global_shape, super().parts)

    def local_parts(self, global_shape: Any) -> list[shardings.Part]:
        """The parts on the devices of this process."""
        return self._for_shape("local parts", global_shape, super().local_parts)

    def _for_shape(self, name: str, shape: Any, compute: Callable[[Any], Any]) -> Any:
        """The properties that depend on a shape, computed once for each shape."""
        key = name, tuple(shape)
        value = self._cached.get(key)
        if value is None:
            value = compute(key[1])
            if len(self._cached) > _MAX_SHAPES:
                self._cached.clear()
            self._cached[key] = value
        return value

    def shard_shape(self, global_shape: Any) -> tuple[int, ...]:
        """The shape of the part that one device holds.

        Raises:
          ValueError: the array cannot be divided so.
        """
        return self._for_shape("shard shape", global_shape, self._shard_shape)

    def _shard_shape(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        self.check_shape(shape)
        counts = tiling.part_counts(self.mesh.shape, self.spec.partitions, len(shape))
        return tuple([n // count for n, count in zip(shape, counts, strict=True)])

    def tile_numbers(self, ndim: int) -> np.ndarray:
        """For each device, the index of its part along each axis of an array.

        Returns:
          An integer array of shape (devices, ndim).
        """
        entries = list(self.spec.partitions) + [None] * (ndim - len(self.spec))
        return tiling.part_numbers(self.mesh.shape, entries)

    # -- checks ----------------------------------------------------------------------

    def check_rank(self, ndim: int, what: str = "NamedSharding") -> None:
        """Raises ValueError where the spec has more entries than the array axes."""
        if len(self.spec) > ndim:
            raise ValueError(
                f"{what}: the spec must have at most one entry for each axis, got "
                f"{self.spec} of {len(self.spec)} entries for an array of {ndim} "
                f"{'axis' if ndim == 1 else 'axes'}"
            )

    def check_shape(self, shape: tuple[int, ...], what: str = "NamedSharding") -> None:
        """Raises ValueError where an array of a shape cannot be divided evenly."""
        self.check_rank(len(shape), what)
        sizes = self.mesh.shape
        for axis, entry in enumerate(self.spec.partitions):
            count = math.prod([sizes[n] for n in names_of(entry)])
            if shape[axis] % count:
                missing = -shape[axis] % count
                along = " and ".join(map(repr, names_of(entry)))
                raise ValueError(
                    f"{what}: the size of a divided axis must be a multiple of the "
                    f"number of its parts, got size {shape[axis]} of axis {axis} of "
                    f"shape {shape} for {count} parts along {along} of {self.mesh}; "
                    f"pad it by {missing}, as in numpy.pad(x, "
                    f"{_padding(len(shape), axis, missing)})"
                )

    def check_compatible_aval(self, aval_shape: Any) -> None:
        """Raises ValueError where the spec has more entries than the shape axes."""
        self.check_rank(len(aval_shape))

    # -- others ----------------------------------------------------------------------

    def update(self, **fields: Any) -> NamedSharding:
        """The sharding with another `mesh`, `spec` or `memory_kind`."""
        spec = fields.get("spec", self.spec)
        if not isinstance(spec, PartitionSpec):
            spec = PartitionSpec(*spec)
        kind = fields.get("memory_kind", self._memory_kind)
        return NamedSharding(fields.get("mesh", self.mesh), spec, memory_kind=kind)

    def with_memory_kind(self, kind: str) -> NamedSharding:
        """The same division, in another kind of memory."""
        return self.update(memory_kind=kind)

    def __reduce__(self) -> Any:
        return _unpickle, (self.mesh, self.spec, self._memory_kind)

    def __repr__(self) -> str:
        kind = f", memory_kind={self._memory_kind}" if self._memory_kind else ""
        return f"NamedSharding(mesh={self.mesh!s}, spec={self.spec}{kind})"


_MAX_SHAPES = 256  # for which a sharding keeps what it worked out


def _unpickle(mesh: Any, spec: PartitionSpec, kind: str | None) -> NamedSharding:
    return NamedSharding(mesh, spec, memory_kind=kind)


@tracebacks.api_boundary
def _check_axes(mesh: Any, spec: PartitionSpec) -> None:
    names = axes_of(spec.partitions)
    for name in (*names, *spec.unreduced, *spec.reduced):
        if name not in mesh.axis_names:
            raise ValueError(unknown_axis(f"NamedSharding of {spec}", name, mesh))
    twice = [n for n in names if names.count(n) > 1]
    if twice:
        raise ValueError(
            f"NamedSharding: a mesh axis must divide at most one axis of an array, got "
            f"{twice[0]!r} more than once in {spec}"
        )


def _padding(ndim: int, axis: int, n: int) -> str:
    widths = ["(0, 0)"] * ndim
    widths[axis] = f"(0, {n})"
    return f"({', '.join(widths)}{',' if ndim == 1 else ''})"
