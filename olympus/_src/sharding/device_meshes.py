"""Orders of devices in meshes, so that neighbours there are neighbours by links."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from olympus._src.runtime import client

Handler = Callable[..., "np.ndarray | None"]
Sizes = Sequence[int]
ChosenDevices = Sequence[Any] | None


def create_device_mesh(
    mesh_shape: Sizes,
    devices: ChosenDevices = None,
    *,
    contiguous_submeshes: bool = False,
    allow_split_physical_axes: bool = False,
) -> np.ndarray:
    """Devices as an array of a shape, in an order that suits the links between them.

    Devices that know their coordinates in a torus (TPUs) are arranged so that each axis
    of the array follows whole axes of the torus, beginning with the last. Others keep
    their order: those of a host stay neighbours along the last axis.

    Args:
      mesh_shape: sizes; the axis along which most is exchanged comes last.
      devices: default all of the default platform.
      contiguous_submeshes: require that the devices of each process are a block.
      allow_split_physical_axes: let axes follow parts of the axes of a torus.

    Returns:
      An array of devices, for `Mesh`.

    Raises:
      ValueError: the sizes do not multiply to the number of devices, or the devices of
        a process are not a block and must be.
      NotImplementedError: an axis follows no axes of the torus.

    Example:
      >>> import olympus
      >>> from olympus.experimental import mesh_utils
      >>> mesh_utils.create_device_mesh((1, 1), olympus.devices()[:1]).shape
      (1, 1)
    """
    listed = list(client.devices() if devices is None else devices)
    shape = tuple(int(n) for n in mesh_shape)
    if math.prod(shape) != len(listed):
        raise ValueError(
            f"create_device_mesh: the sizes of mesh_shape must multiply to the number "
            f"of devices, got {shape} for {len(listed)}; pass devices=devices[:n] for "
            "some of them"
        )
    handler = device_kind_handler_dict.get(listed[0].device_kind)
    grid = None
    if handler is not None:
        split = allow_split_physical_axes
        grid = handler(shape, listed, allow_split_physical_axes=split)
    if grid is None:
        grid = _array_of(listed).reshape(shape)
    if contiguous_submeshes:
        _check_blocks(grid)
    return grid


def create_hybrid_device_mesh(
    mesh_shape: Sizes,
    dcn_mesh_shape: Sizes,
    devices: ChosenDevices = None,
    *,
    process_is_granule: bool = False,
    should_sort_granules_by_key: bool = True,
    allow_split_physical_axes: bool = False,
) -> np.ndarray:
    """Devices of several groups, which are joined by slower links, as an array.

    Along each axis the groups follow one another, and within a group its devices.

    Args:
      mesh_shape: sizes within a group; the axis along which most is exchanged last.
      dcn_mesh_shape: how many groups there are along each of these axes.
      devices: default all of the default platform.
      process_is_granule: a group is the devices of a process; else those of one
        `slice_index`.
      should_sort_granules_by_key: order groups by that number; else as they come.
      allow_split_physical_axes: see `create_device_mesh`.

    Returns:
      An array of devices whose sizes are the products of both shapes.

    Raises:
      ValueError: devices have no `slice_index`; there are more or fewer groups than
        `dcn_mesh_shape` has places; or as `create_device_mesh` for a group.

    Example:
      >>> import olympus
      >>> from olympus.experimental import mesh_utils
      >>> one = olympus.devices()[:1]
      >>> mesh_utils.create_hybrid_device_mesh(
      ...     (1, 1), (1, 1), one, process_is_granule=True).shape
      (1, 1)
    """
    listed = list(client.devices() if devices is None else devices)
    inner, outer = _same_length(tuple(mesh_shape), tuple(dcn_mesh_shape))
    groups = _groups_of(listed, process_is_granule)
    keys = sorted(groups) if should_sort_granules_by_key else list(groups)
    if len(keys) != math.prod(outer):
        kind = "processes" if process_is_granule else "slices"
        raise ValueError(
            f"create_hybrid_device_mesh: the sizes of dcn_mesh_shape must multiply to "
            f"the number of {kind}, got {outer} for {len(keys)}"
        )
    split = allow_split_physical_axes
    grids = [
        create_device_mesh(inner, groups[key], allow_split_physical_axes=split)
        for key in keys
    ]
    out = np.empty([a * b for a, b in zip(inner, outer, strict=True)], object)
    for grid, place in zip(grids, np.ndindex(*outer), strict=True):
        block = [slice(i * n, i * n + n) for i, n in zip(place, inner, strict=True)]
        out[tuple(block)] = grid
    return out


def _same_length(
    inner: tuple[int, ...], outer: tuple[int, ...]
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Both shapes with as many sizes, by ones in front."""
    n = max(len(inner), len(outer))
    return (1,) * (n - len(inner)) + inner, (1,) * (n - len(outer)) + outer


def _groups_of(devices: Sequence[Any], by_process: bool) -> dict[int, list[Any]]:
    name = "process_index" if by_process else "slice_index"
    groups: dict[int, list[Any]] = {}
    for device in devices:
        key = getattr(device, name, None)
        if key is None:
            raise ValueError(
                f"create_hybrid_device_mesh: devices must have a slice_index, got "
                f"{device}, which has none; pass process_is_granule=True for groups by "
                "process"
            )
        groups.setdefault(key, []).append(device)
    return groups


def _array_of(devices: Sequence[Any]) -> np.ndarray:
    out = np.empty(len(devices), object)
    out[:] = devices
    return out


def _check_blocks(grid: np.ndarray) -> None:
    """Raises ValueError unless the devices of each process are a block."""
    processes = np.vectorize(lambda d: d.process_index, otypes=[int])(grid)
    for process in np.unique(processes):
        places = np.argwhere(processes == process)
        sides = places.max(0) - places.min(0) + 1
        if math.prod(sides.tolist()) != len(places):
            raise ValueError(
                "create_device_mesh: the devices of each process must be a block of "
                f"the mesh, got those of process {process} apart in a mesh of shape "
                f"{grid.shape}; choose a shape whose last sizes multiply to the number "
                "of devices of a process, or leave contiguous_submeshes out"
            )


# -- tori ------------------------------------------------------------------------------


def arrange_on_torus(
    mesh_shape: Sizes,
    devices: Sequence[Any],
    *,
    allow_split_physical_axes: bool = False,
    **_: Any,
) -> np.ndarray | None:
    """Devices as an array whose axes follow axes of their torus.

    Along an axis that follows several of the torus, the devices are a snake, so that
    each is linked to the next.

    Args:
      mesh_shape: sizes.
      devices: with the attributes `coords` and `core_on_chip`.
      allow_split_physical_axes: let axes follow parts of those of the torus.

    Returns:
      The array; None where the devices do not fill a box.

    Raises:
      NotImplementedError: an axis follows no axes of the torus.
    """
    box = _box_of(devices)
    if box is None:
        return None
    pieces = [[n] for n in box.shape]
    chosen = _assign(tuple(mesh_shape), pieces)
    if chosen is None and allow_split_physical_axes:
        pieces = [_prime_factors(n) for n in box.shape]
        chosen = _assign(tuple(mesh_shape), pieces)
    if chosen is None:
        raise NotImplementedError(
            "create_device_mesh: each size of mesh_shape must be the product of some "
            f"sizes of the devices' torus, got {tuple(mesh_shape)} for a torus of "
            f"{'x'.join(map(str, box.shape))}; choose such sizes, or pass "
            "allow_split_physical_axes=True"
        )
    flat = [n for piece in pieces for n in piece]
    order = [axis for axes in chosen for axis in axes]
    parts = box.reshape(flat).transpose(order)
    for position, axes in enumerate(chosen):
        parts = _snake(parts, position, len(axes))
    return parts.reshape(mesh_shape)


def _box_of(devices: Sequence[Any]) -> np.ndarray | None:
    """The devices by coordinates; None where they do not fill a box."""
    places = [(*d.coords, getattr(d, "core_on_chip", 0) or 0) for d in devices]
    low, high = np.min(places, 0), np.max(places, 0)
    shape = (high - low + 1).tolist()
    if math.prod(shape) != len(devices) or len(set(places)) != len(devices):
        return None
    box = np.empty(shape, object)
    for place, device in zip(places, devices, strict=True):
        box[tuple(np.subtract(place, low))] = device
    return box


def _assign(
    mesh_shape: tuple[int, ...], pieces: list[list[int]]
) -> list[list[int]] | None:
    """For each axis of the mesh the pieces of the torus that it follows.

    The last axis of the mesh chooses first, as few pieces as it can, and of these the
    last: cores of a chip come before chips.
    """
    sizes = [n for piece in pieces for n in piece]
    free = [i for i, n in enumerate(sizes) if n > 1]
    chosen: list[list[int]] = []

    def fill(position: int, free: list[int]) -> bool:
        if position < 0:
            chosen[0] += [i for i, n in enumerate(sizes) if n == 1] if chosen else []
            return not free
        for count in range(len(free) + 1):
            for axes in itertools.combinations(reversed(free), count):
                if math.prod([sizes[i] for i in axes]) == mesh_shape[position]:
                    chosen.insert(0, sorted(axes))
                    if fill(position - 1, [i for i in free if i not in axes]):
                        return True
                    chosen.pop(0)
        return False

    return chosen if fill(len(mesh_shape) - 1, free) else None


def _snake(parts: np.ndarray, position: int, count: int) -> np.ndarray:
    """Joins `count` axes at a position into one that turns around at each end."""
    moved = np.moveaxis(parts, range(position, position + count), range(count))
    sizes = moved.shape[:count]
    rows = np.empty((math.prod(sizes), *moved.shape[count:]), object)
    for row, place in enumerate(_snake_places(sizes)):
        rows[row] = moved[place]
    return np.moveaxis(rows, 0, position)


def _snake_places(sizes: tuple[int, ...]) -> list[tuple[int, ...]]:
    """Positions in a box, each next to the one before."""
    places: list[tuple[int, ...]] = [()]
    for n in sizes:
        longer = []
        for i, place in enumerate(places):
            steps = range(n) if i % 2 == 0 else range(n - 1, -1, -1)
            longer += [(*place, step) for step in steps]
        places = longer
    return places


def _prime_factors(n: int) -> list[int]:
    factors, divisor = [], 2
    while n > 1:
        if n % divisor == 0:
            factors.append(divisor)
            n //= divisor
        else:
            divisor += 1
    return factors or [1]


# What arranges devices of a kind: takes the shape and the devices, and returns an array
# or None for their order. Users may add kinds.
device_kind_handler_dict: dict[str, Handler] = dict.fromkeys(
    (
        "TPU v2",
        "TPU v3",
        "TPU v4",
        "TPU v4 lite",
        "TPU v5",
        "TPU v5 lite",
        "TPU v5p",
        "TPU v6 lite",
    ),
    arrange_on_torus,
)
