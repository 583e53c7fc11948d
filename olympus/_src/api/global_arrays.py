"""Arrays over several devices, made of parts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from olympus._src import tree
from olympus._src.api import sharding_arguments
from olympus._src.core import avals as avals_
from olympus._src.core import dtypes
from olympus._src.core.array_type import Array, ArrayLike, DTypeLike, PyTree
from olympus._src.interpreters import concrete_arrays
from olympus._src.runtime import placement
from olympus._src.sharding.named import NamedSharding

ArrayImpl = concrete_arrays.ArrayImpl
Index = tuple[slice, ...]


def make_array_from_callback(
    shape: Sequence[int],
    sharding: Any,
    data_callback: Callable[[Index], ArrayLike],
    dtype: DTypeLike | None = None,
) -> Array:
    """An array whose parts a function returns.

    The function is called once for each different part on a device of this process, so
    that no process needs the whole.

    Args:
      shape: of the whole array.
      sharding: how it is divided.
      data_callback: given the slices of a part, returns its values.
      dtype: of the array; default that of the first part.

    Raises:
      TypeError: a part has the wrong shape or dtype.
      ValueError: the mesh cannot divide the shape evenly.

    Example:
      >>> import olympus, numpy as np
      >>> from olympus.sharding import NamedSharding, PartitionSpec as P
      >>> mesh = olympus.make_mesh((1,), ('x',))
      >>> values = np.arange(4.0)
      >>> olympus.make_array_from_callback(
      ...     (4,), NamedSharding(mesh, P('x')), lambda index: values[index]
      ... )
      Array([0., 1., 2., 3.], dtype=float32)
    """
    what = "make_array_from_callback"
    place = sharding_arguments.resolve(sharding, f"{what} sharding")
    shape = tuple(shape)
    sharding_arguments.check_value(place, shape, what)
    local = place.local_parts(shape)
    parts: list[np.ndarray] = []
    expected = None if dtype is None else dtypes.canonicalize_dtype(dtype)
    for part in local:
        if part.source is part.device:
            values = np.asarray(data_callback(part.slices))
            if expected is None:
                expected = avals_.aval_of(values).dtype
            _check_part(what, values, place.shard_shape(shape), part.slices)
            parts.append(values.astype(expected, copy=False))
    if expected is None:
        raise ValueError(
            f"{what}: dtype must be given where this process holds no part, got None"
        )
    aval = avals_.ShapedArray(shape, expected, sharding=place)
    # It asks for the different parts in the order in which they were made.
    in_order = iter(parts)
    out: Any = placement.make_divided(lambda _: next(in_order), aval, place)
    return out


def _check_part(what: str, values: Any, shape: tuple[int, ...], index: Index) -> None:
    if values.shape != shape:
        raise TypeError(
            f"{what}: the part at {index} must have the shape {shape}, got "
            f"{values.shape}; return the values at the slices that it is given"
        )


def make_array_from_process_local_data(
    sharding: PyTree, local_data: PyTree, global_shape: PyTree = None
) -> PyTree:
    """An array to which each process contributes the values on its own devices.

    Args:
      sharding: how the whole is divided; or a tree that is a prefix of `local_data`.
      local_data: a NumPy array, or a tree of them: the whole, or the block of it that
        this process's devices hold.
      global_shape: the whole's shape, or a tree of shapes; where it or a size is None,
        the blocks of the processes are concatenated.

    Raises:
      ValueError: the values do not fit the parts.
    """
    what = "make_array_from_process_local_data"
    leaves, structure = tree.tree_flatten(local_data)
    places = sharding_arguments.of_leaves(
        sharding, local_data, f"{what} sharding", "local_data"
    )
    if global_shape is None or _is_shape(global_shape):
        shapes = [global_shape] * len(leaves)
    else:
        shapes = structure.flatten_up_to(global_shape)
    rows = zip(leaves, places, shapes, strict=True)
    return structure.unflatten([_from_local_data(what, *row) for row in rows])


def _is_shape(x: Any) -> bool:
    return isinstance(x, tuple) and all(n is None or isinstance(n, int) for n in x)


def _from_local_data(what: str, data: Any, sharding: Any, shape: Any) -> Array:
    values = np.asarray(data)
    if not isinstance(sharding, NamedSharding) or sharding.is_fully_addressable:
        if shape is not None:
            full = [
                n if s is None else s for n, s in zip(values.shape, shape, strict=True)
            ]
            if tuple(full) != values.shape:
                raise ValueError(
                    f"{what}: where all devices belong to one process, local_data must "
                    f"be the whole array of shape {shape}, got {values.shape}"
                )
        out: Any = concrete_arrays.on_sharding(values, sharding)
        return out
    return _from_block(what, values, sharding, shape)


def _from_block(what: str, values: np.ndarray, sharding: Any, shape: Any) -> Array:
    """One process's block of an array that several hold."""
    sizes = list(values.shape) if shape is None else list(shape)
    for axis in range(values.ndim):
        if shape is None or shape[axis] is None:
            sizes[axis] = values.shape[axis] * _blocks_along(
                sharding, values.ndim, axis
            )
    whole = tuple(sizes)
    sharding_arguments.check_value(sharding, whole, what)
    indices = [part.slices for part in sharding.local_parts(whole)]
    starts = [min(i[axis].start or 0 for i in indices) for axis in range(values.ndim)]
    stops = [
        max(whole[axis] if i[axis].stop is None else i[axis].stop for i in indices)
        for axis in range(values.ndim)
    ]
    block = tuple([stop - start for start, stop in zip(starts, stops, strict=True)])
    if values.shape == whole:
        starts = [0] * values.ndim
    elif values.shape != block:
        raise ValueError(
            f"{what}: local_data must be the block of shape {block} that the "
            f"devices of this process hold, or the whole of shape {whole}, got "
            f"{values.shape}"
        )

    def part_at(index: Index) -> np.ndarray:
        moved = [
            slice(None) if s.start is None else slice(s.start - at, s.stop - at)
            for s, at in zip(index, starts, strict=True)
        ]
        return values[tuple(moved)].astype(aval.dtype, copy=False)

    dtype = avals_.aval_of(values).dtype
    aval = avals_.ShapedArray(whole, dtype, sharding=sharding)
    out: Any = placement.make_divided(part_at, aval, sharding)
    return out


def _blocks_along(sharding: NamedSharding, ndim: int, axis: int) -> int:
    """How many processes' blocks are concatenated along an axis."""
    tiles = sharding.tile_numbers(ndim)
    mesh = sharding.device_mesh
    mine = set(mesh.local_devices)
    rows = zip(mesh.flat_devices, tiles, strict=True)
    local = {int(tile[axis]) for device, tile in rows if device in mine}
    return (int(tiles[:, axis].max()) + 1) // len(local)


def make_array_from_single_device_arrays(
    shape: Sequence[int],
    sharding: Any,
    arrays: Sequence[Array],
    *,
    dtype: DTypeLike | None = None,
) -> Array:
    """An array from arrays on single devices, which are copied as its parts.

    Args:
      shape: of the whole array.
      sharding: how it is divided.
      arrays: a part on each device of this process, in any order.
      dtype: of the array, where this process holds no part.

    Raises:
      TypeError: a part is not an array of the right shape and dtype.
      ValueError: the parts are not on the sharding's devices of this process.
    """
    what = "make_array_from_single_device_arrays"
    place = sharding_arguments.resolve(sharding, f"{what} sharding")
    shape = tuple(shape)
    sharding_arguments.check_value(place, shape, what)
    devices = [part.device for part in place.local_parts(shape)]
    by_device: dict[Any, Any] = {}
    for array in arrays:
        if type(array) is not ArrayImpl or array.single_device is None:
            raise TypeError(
                f"{what}: arrays must be arrays on one device each, got {array!r}"
            )
        by_device[array.single_device] = array
    owners = list(by_device)
    if set(owners) != set(devices) or len(arrays) != len(devices):
        raise ValueError(
            f"{what}: arrays must hold one part on each of {devices}, got parts on "
            f"{owners}"
        )
    kinds = {a.dtype for a in arrays} | ({dtypes.as_dtype(dtype)} if dtype else set())
    if len(kinds) != 1:
        raise TypeError(
            f"{what}: the parts must have one dtype, got {sorted(map(str, kinds))}"
        )
    expected = place.shard_shape(shape)
    for device, array in by_device.items():
        if array.shape != expected:
            raise TypeError(
                f"{what}: each part must have the shape {expected}, got {array.shape} "
                f"on {device}"
            )
    ordered = [by_device[device] for device in devices]
    aval = avals_.ShapedArray(shape, kinds.pop(), sharding=place)
    out: Any = placement.assemble(ordered, aval, place)
    return out
