"""Meshes: devices, or sizes alone, along named axes."""

from __future__ import annotations

import enum
import math
import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from olympus._src.foundation.interning import Interned
from olympus._src.runtime import client
from olympus._src.runtime.versions import Device, DeviceList, is_described, is_device


class AxisType(enum.Enum):
    """How programs use an axis of a mesh.

    Auto: the compiler divides values. Explicit: types say how values are divided.
    Manual: the program is written for one device's part, as in `shard_map`.
    """

    Auto = enum.auto()
    Explicit = enum.auto()
    Manual = enum.auto()

    def __repr__(self) -> str:
        return self.name


class _Axes(Interned):
    """The common base of meshes with and without devices: their axes."""

    __slots__ = ("axis_names", "axis_sizes", "axis_types")

    axis_names: tuple[Any, ...]
    axis_sizes: tuple[int, ...]
    axis_types: tuple[AxisType, ...]

    @property
    def shape(self) -> OrderedDict[Any, int]:
        """The size of each axis, by name."""
        return OrderedDict(self.shape_tuple)

    @property
    def shape_tuple(self) -> tuple[tuple[Any, int], ...]:
        """Pairs of the name and size of each axis."""
        return tuple(zip(self.axis_names, self.axis_sizes, strict=True))

    @property
    def size(self) -> int:
        """The number of devices; 0 if the mesh has no axes."""
        return 0 if self.empty else math.prod(self.axis_sizes)

    @property
    def empty(self) -> bool:
        """Whether it is the empty mesh, which stands for no mesh."""
        return self is self.no_mesh()

    @classmethod
    def no_mesh(cls) -> Any:
        """The empty mesh, which stands for no mesh."""
        return cls._intern("no mesh", axis_names=(), axis_sizes=(), axis_types=())

    @property
    def auto_axes(self) -> tuple[Any, ...]:
        """The names of axes that the compiler divides values along."""
        return self._axes_of_type(AxisType.Auto)

    @property
    def explicit_axes(self) -> tuple[Any, ...]:
        """The names of axes along which types say how values are divided."""
        return self._axes_of_type(AxisType.Explicit)

    @property
    def manual_axes(self) -> tuple[Any, ...]:
        """The names of axes along which the program is written for one device."""
        return self._axes_of_type(AxisType.Manual)

    @property
    def are_all_axes_auto(self) -> bool:
        """Whether there are axes, all of them automatic."""
        return self._are_all(AxisType.Auto)

    @property
    def are_all_axes_explicit(self) -> bool:
        """Whether there are axes, all of them explicit."""
        return self._are_all(AxisType.Explicit)

    @property
    def are_all_axes_manual(self) -> bool:
        """Whether there are axes, all of them manual."""
        return self._are_all(AxisType.Manual)

    def _axes_of_type(self, kind: AxisType) -> tuple[Any, ...]:
        pairs = zip(self.axis_names, self.axis_types, strict=True)
        return tuple([name for name, type_ in pairs if type_ is kind])

    def _are_all(self, kind: AxisType) -> bool:
        return bool(self.axis_types) and all(t is kind for t in self.axis_types)

    def _axes_text(self) -> str:
        sizes = ", ".join([f"{n!r}: {s}" for n, s in self.shape_tuple])
        return f"{sizes or '()'}, axis_types={_types_text(self.axis_types)}"


def _types_text(types: tuple[AxisType, ...]) -> str:
    end = "," if len(types) == 1 else ""
    return f"({', '.join(map(repr, types))}{end})"


class AbstractMesh(_Axes):
    """The names, sizes and types of a mesh's axes, without devices.

    Programs are traced for abstract meshes, and lowered for any mesh of these axes.

    Args:
      axis_sizes: the size of each axis.
      axis_names: the name of each axis.
      axis_types: an `AxisType` for each axis, or one for all; default Explicit.

    Raises:
      ValueError: the lengths differ, a name is repeated, or a size is below 1.

    Example:
      >>> from olympus.sharding import AbstractMesh
      >>> AbstractMesh((4, 2), ('x', 'y'))
      AbstractMesh('x': 4, 'y': 2, axis_types=(Explicit, Explicit))
    """

    __slots__ = ()

    def __new__(
        cls, axis_sizes: Sequence[int], axis_names: Any, axis_types: Any = None
    ) -> AbstractMesh:
        names = _check_names("AbstractMesh", axis_names)
        sizes = tuple([_check_size(s) for s in _as_sequence(axis_sizes)])
        if len(sizes) != len(names):
            raise ValueError(
                f"AbstractMesh: axis_sizes and axis_names must be of one length, got "
                f"{sizes} and {names}"
            )
        types = _check_types("AbstractMesh", axis_types, names, AxisType.Explicit)
        return cls._intern(
            (sizes, names, types),
            axis_names=names,
            axis_sizes=sizes,
            axis_types=types,
        )

    @property
    def abstract_mesh(self) -> AbstractMesh:
        """Itself."""
        return self

    @property
    def devices(self) -> Any:
        """Refused: an abstract mesh has no devices."""
        raise ValueError(
            f"AbstractMesh: devices are defined for a Mesh, got {self}; make one by "
            "olympus.make_mesh"
        )

    def update(
        self, axis_sizes: Any = None, axis_names: Any = None, axis_types: Any = None
    ) -> AbstractMesh:
        """The mesh with other sizes, names or types."""
        return AbstractMesh(
            self.axis_sizes if axis_sizes is None else axis_sizes,
            self.axis_names if axis_names is None else axis_names,
            self.axis_types if axis_types is None else axis_types,
        )

    def update_axis_types(self, types: dict[Any, AxisType]) -> AbstractMesh:
        """The mesh with other types of the named axes."""
        for name in types:
            if name not in self.axis_names:
                raise ValueError(unknown_axis("update_axis_types", name, self))
        pairs = zip(self.axis_names, self.axis_types, strict=True)
        return self.update(axis_types=tuple([types.get(n, t) for n, t in pairs]))

    def __reduce__(self) -> Any:
        return AbstractMesh, (self.axis_sizes, self.axis_names, self.axis_types)

    def __repr__(self) -> str:
        return f"AbstractMesh({self._axes_text()})"


class _Entered(threading.local):
    """The `with` blocks of meshes that a thread is in; the innermost is last."""

    # A function from a mesh to a block in which it is set.
    open_block: Callable[[Any], Any]

    def __init__(self) -> None:
        self.blocks: list[Any] = []


_entered = _Entered()


def install_blocks(open_block: Callable[[Any], Any]) -> None:
    """Says how a mesh is set for a block."""
    _Entered.open_block = staticmethod(open_block)


class Mesh(_Axes):
    """Devices along named axes.

    Args:
      devices: an array of devices, with an axis for each name.
      axis_names: the names of the axes; a string for one axis.
      axis_types: an `AxisType` for each axis, or one for all; default Auto.

    Raises:
      TypeError: an element of `devices` is not a device.
      ValueError: the number of axes differs from that of the names, a name or a device
        is repeated, or devices belong to several platforms.

    Example:
      >>> import olympus
      >>> from olympus.sharding import Mesh
      >>> Mesh(olympus.devices()[:1], 'x')
      Mesh(axis_sizes=(1,), axis_names=('x',), axis_types=(Auto,))
    """

    __slots__ = ("_cached", "devices")
    devices: np.ndarray
    _cached: dict[str, Any]

    def __new__(cls, devices: Any, axis_names: Any, axis_types: Any = None) -> Mesh:
        grid = _device_grid(devices)
        names = _check_names("Mesh", axis_names)
        if grid.ndim != len(names):
            raise ValueError(
                f"Mesh: devices must have an axis for each name, got {grid.ndim} axes "
                f"of shape {grid.shape} and the names {names}; reshape the devices, or "
                "use olympus.make_mesh(sizes, names)"
            )
        if not grid.size:
            raise ValueError(f"Mesh: at least one device is required, got {devices!r}")
        flat = tuple(grid.flat)
        types = _check_types("Mesh", axis_types, names)
        known = cls._known.get((flat, grid.shape, names, types))
        if known is not None:
            return known
        _check_devices(flat)
        grid.flags.writeable = False
        return cls._intern(
            (flat, grid.shape, names, types),
            axis_names=names,
            axis_sizes=grid.shape,
            axis_types=types,
            devices=grid,
            _cached={},
        )

    @classmethod
    def no_mesh(cls) -> Any:
        """The empty mesh, which stands for no mesh."""
        none = np.empty(0, object)
        fields: dict[str, Any] = {"devices": none, "_cached": {}}
        return cls._intern(
            "no mesh", axis_names=(), axis_sizes=(), axis_types=(), **fields
        )

    # -- as the mesh of a block ------------------------------------------------------

    def __enter__(self) -> Mesh:
        """Sets the mesh for specs in a `with` block; `set_mesh` places values too."""
        block = _Entered.open_block(self)
        block.__enter__()
        _entered.blocks.append(block)
        return self

    def __exit__(self, *error: object) -> None:
        _entered.blocks.pop().__exit__(*error)

    # -- its devices -----------------------------------------------------------------

    @property
    def flat_devices(self) -> tuple[Device, ...]:
        """Its devices, the last axis first."""
        flat = self._cached.get("flat_devices")
        if flat is None:
            flat = self._cached["flat_devices"] = tuple(self.devices.flat)
        return flat

    @property
    def device_list(self) -> DeviceList:
        """Its devices, as jaxlib takes them."""
        devices = self._cached.get("device_list")
        if devices is None:
            devices = self._cached["device_list"] = DeviceList(self.flat_devices)
        return devices

    @property
    def device_ids(self) -> np.ndarray:
        """The id of each device."""
        ids = [d.id for d in self.devices.flat]
        return np.array(ids, np.int64).reshape(self.devices.shape)

    @property
    def local_devices(self) -> list[Device]:
        """Its devices of this process."""
        if self.empty or is_described(self.flat_devices[0]):
            return []
        mine = client.process_index(client.platform_of(self.flat_devices[0]))
        return [d for d in self.flat_devices if d.process_index == mine]

    @property
    def a_local_device(self) -> Device | None:
        """One of this process, or one that is only described; None without any."""
        if self.empty:
            return None
        first = self.flat_devices[0]
        if is_described(first):
            return first
        return next(iter(self.local_devices), None)

    @property
    def holds_values(self) -> bool:
        """Whether this process can put values on it: it has a device, which is here."""
        known = self._cached.get("holds_values")
        if known is None:
            first = self.a_local_device
            known = first is not None and not is_described(first)
            self._cached["holds_values"] = known
        return known

    @property
    def is_scalar(self) -> bool:
        """Whether it is one device, without axes."""
        return self.devices.ndim == 0

    @property
    def is_multi_process(self) -> bool:
        """Whether its devices belong to several processes."""
        return len({d.process_index for d in self.flat_devices}) > 1

    @property
    def local_mesh(self) -> Mesh:
        """The sub-mesh of this process's devices.

        Raises:
          ValueError: these devices do not form a block of the mesh.
        """
        if not self.is_multi_process:
            return self
        mine = self.local_devices
        chosen = np.isin(self.device_ids, [d.id for d in mine])
        positions = np.argwhere(chosen)
        block = tuple(
            slice(low, high + 1)
            for low, high in zip(positions.min(0), positions.max(0), strict=True)
        )
        part = self.devices[block]
        if part.size != len(mine):
            raise ValueError(
                "Mesh.local_mesh: the devices of this process must form a block of the "
                f"mesh, got {mine} in {self}"
            )
        return Mesh(part, self.axis_names, self.axis_types)

    @property
    def abstract_mesh(self) -> AbstractMesh:
        """The mesh without its devices."""
        if self.empty:
            return NO_ABSTRACT_MESH
        return AbstractMesh(self.axis_sizes, self.axis_names, self.axis_types)

    def update(
        self, devices: Any = None, axis_names: Any = None, axis_types: Any = None
    ) -> Mesh:
        """The mesh with other devices, names or types."""
        return Mesh(
            self.devices if devices is None else devices,
            self.axis_names if axis_names is None else axis_names,
            self.axis_types if axis_types is None else axis_types,
        )

    def __reduce__(self) -> Any:
        platforms = {d.platform for d in self.flat_devices}
        ids = [d.id for d in self.flat_devices]
        return _unpickle_mesh, (
            platforms.pop() if platforms else None,
            ids,
            self.axis_sizes,
            self.axis_names,
            self.axis_types,
        )

    def __repr__(self) -> str:
        if self.empty:
            return "Mesh(axis_sizes=(), axis_names=())"
        return (
            f"Mesh(axis_sizes={self.axis_sizes}, axis_names={self.axis_names}, "
            f"axis_types={_types_text(self.axis_types)})"
        )

    def __str__(self) -> str:
        return f"Mesh({self._axes_text()})"


def _unpickle_mesh(
    platform: str | None, ids: list[int], sizes: Any, names: Any, types: Any
) -> Mesh:
    if platform is None:
        return NO_MESH
    by_id = {d.id: d for d in client.devices(platform)}
    absent = [i for i in ids if i not in by_id]
    if absent:
        raise ValueError(
            f"Mesh: devices {absent} of platform {platform!r} were pickled, but are "
            "absent in this process"
        )
    grid = np.empty(len(ids), object)
    grid[:] = [by_id[i] for i in ids]
    return Mesh(grid.reshape(sizes), names, types)


# The values that stand for no mesh at all.
NO_MESH: Mesh = Mesh.no_mesh()
NO_ABSTRACT_MESH: AbstractMesh = AbstractMesh.no_mesh()


# -- checks ----------------------------------------------------------------------------


def _as_sequence(x: Any) -> Sequence[Any]:
    return (x,) if isinstance(x, (int, np.integer)) else x


def _check_size(size: Any) -> int:
    n = int(size)
    if n != size or n < 1:
        raise ValueError(f"mesh: the size of an axis must be at least 1, got {size!r}")
    return n


def _check_names(what: str, names: Any) -> tuple[Any, ...]:
    names = (names,) if isinstance(names, str) else tuple(names)
    if None in names:
        raise ValueError(f"{what}: names of axes must not be None, got {names}")
    twice = [n for n in dict.fromkeys(names) if names.count(n) > 1]
    if twice:
        raise ValueError(
            f"{what}: names of axes must differ, got {twice[0]!r} more than once in "
            f"{names}"
        )
    return names


def _check_types(
    what: str, types: Any, names: Any, default: AxisType = AxisType.Auto
) -> tuple[AxisType, ...]:
    if types is None:
        types = default
    if isinstance(types, AxisType):
        return (types,) * len(names)
    types = tuple(types)
    if len(types) != len(names) or not all(isinstance(t, AxisType) for t in types):
        raise ValueError(
            f"{what}: axis_types must be an AxisType for each of {names}, got {types}"
        )
    return types


def _device_grid(devices: Any) -> np.ndarray:
    if isinstance(devices, np.ndarray) and devices.dtype == object:
        return devices.copy()
    if is_device(devices):
        devices = [devices]
    return np.array(devices, dtype=object)


def _check_devices(devices: tuple[Any, ...]) -> None:
    for device in devices:
        if not is_device(device):
            raise TypeError(
                f"Mesh: devices must be an array of devices, got {device!r} in it; "
                "take them from olympus.devices()"
            )
    if len(set(devices)) != len(devices):
        twice = next(d for d in devices if devices.count(d) > 1)
        raise ValueError(f"Mesh: devices must differ, got {twice!r} more than once")
    if len({d.client for d in devices}) > 1:
        kinds = sorted({d.platform for d in devices})
        raise ValueError(
            f"Mesh: devices must be of one platform, got some of {', '.join(kinds)}"
        )


def unknown_axis(what: str, name: Any, mesh: Any) -> str:
    """The message for an axis that a mesh does not have."""
    return (
        f"{what}: a mesh axis must be one of {mesh.axis_names}, got {name!r} for {mesh}"
    )


# -- making one ------------------------------------------------------------------------


def make_mesh(
    axis_sizes: Sequence[int] | None = None,
    axis_names: Any = None,
    axis_types: Any = None,
    *,
    devices: Sequence[Device] | None = None,
    axis_shapes: Sequence[int] | None = None,
) -> Mesh:
    """A mesh of the first devices, in the order of their ids.

    Args:
      axis_sizes: the size of each axis.
      axis_names: the name of each axis.
      axis_types: an `AxisType` for each axis, or one for all; default Explicit.
      devices: the devices to take from; default all of the default platform.
      axis_shapes: the older name of `axis_sizes`.

    Raises:
      TypeError: there are no sizes, or two of them, or no names.
      ValueError: there are too few devices.

    Example:
      >>> import olympus
      >>> olympus.make_mesh((1,), ('x',))
      Mesh(axis_sizes=(1,), axis_names=('x',), axis_types=(Explicit,))
    """
    if (axis_sizes is None) == (axis_shapes is None) or axis_names is None:
        raise TypeError(
            "make_mesh: axis_sizes and axis_names must be given, got axis_sizes="
            f"{axis_sizes}, axis_names={axis_names} and axis_shapes={axis_shapes}, the "
            "older name of axis_sizes; write make_mesh((4, 2), ('x', 'y'))"
        )
    axis_sizes = axis_shapes if axis_sizes is None else axis_sizes
    sizes = tuple([_check_size(s) for s in _as_sequence(axis_sizes)])
    names = _check_names("make_mesh", axis_names)
    if len(sizes) != len(names):
        raise ValueError(
            f"make_mesh: axis_sizes and axis_names must be of one length, got {sizes} "
            f"and {names}"
        )
    known = list(client.devices() if devices is None else devices)
    n = math.prod(sizes)
    if len(known) < n:
        raise ValueError(
            f"make_mesh: a mesh of shape {sizes} requires {n} devices, got "
            f"{len(known)}; on the CPU, set OLYMPUS_NUM_CPU_DEVICES={n} before the "
            "program starts"
        )
    grid = np.empty(n, object)
    grid[:] = known[:n]
    types = AxisType.Explicit if axis_types is None else axis_types
    return Mesh(grid.reshape(sizes), names, types)
