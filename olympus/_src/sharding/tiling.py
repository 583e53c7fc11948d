"""Which part of an array each device of a mesh holds, and XLA's form of it.

An axis of an array is cut into as many parts as the mesh axes that divide it have
positions in all; the first of them varies slowest.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from olympus._src.runtime.versions import HloSharding, OpSharding
from olympus._src.sharding.specs import names_of

Index = tuple[slice, ...]


def part_counts(
    sizes: dict[Any, int], partitions: Sequence[Any], ndim: int
) -> tuple[int, ...]:
    """The number of parts that each axis of an array is cut into.

    Args:
      sizes: the size of each mesh axis.
      partitions: entries of a spec.
      ndim: the number of axes of the array.
    """
    counts = [math.prod([sizes[n] for n in names_of(entry)]) for entry in partitions]
    return tuple(counts + [1] * (ndim - len(counts)))


def part_numbers(sizes: dict[Any, int], partitions: Sequence[Any]) -> np.ndarray:
    """For each device, in the mesh's order, the index of its part along each axis.

    Returns:
      An integer array of shape (devices, entries).
    """
    shape = tuple(sizes.values())
    positions = np.indices(shape).reshape(len(shape), -1)
    by_name = dict(zip(sizes, positions, strict=True))
    out = np.zeros((math.prod(shape), len(partitions)), np.int64)
    for axis, entry in enumerate(partitions):
        for name in names_of(entry):
            out[:, axis] = out[:, axis] * sizes[name] + by_name[name]
    return out


def device_slices(
    sizes: dict[Any, int], partitions: Sequence[Any], shape: tuple[int, ...]
) -> list[Index]:
    """For each device, in the mesh's order, its part of an array of a shape."""
    counts = part_counts(sizes, partitions, len(shape))
    whole = slice(None)
    lengths = [n // count for n, count in zip(shape, counts, strict=True)]
    divided = [axis for axis, count in enumerate(counts) if count > 1]
    parts = []
    for numbers in part_numbers(sizes, partitions):
        index = [whole] * len(shape)
        for axis in divided:
            start = int(numbers[axis]) * lengths[axis]
            index[axis] = slice(start, start + lengths[axis])
        parts.append(tuple(index))
    return parts


def to_hlo(sizes: dict[Any, int], partitions: Sequence[Any], ndim: int) -> HloSharding:
    """XLA's form of a spec for arrays of `ndim` axes; devices in the mesh's order."""
    counts = part_counts(sizes, partitions, ndim)
    dividing = [n for entry in partitions for n in names_of(entry) if sizes[n] > 1]
    if not dividing:
        return HloSharding.replicate()
    order = list(sizes)
    remaining = [n for n in order if n not in dividing]
    copies = math.prod([sizes[n] for n in remaining])
    dims = [*counts, copies] if copies > 1 else list(counts)
    replicated = [OpSharding.Type.REPLICATED] if copies > 1 else []
    permutation = [order.index(n) for n in dividing + remaining]
    return HloSharding.iota_tile(dims, list(sizes.values()), permutation, replicated)


def from_hlo(
    sizes: dict[Any, int], sharding: HloSharding, ndim: int
) -> tuple[Any, ...] | None:
    """The entries of a spec for XLA's form of it; None where no spec expresses it.

    Along which mesh axes does the number of a device's part change, and by how much?
    The axis by which it changes most divides into the largest parts.
    """
    if sharding.is_replicated() or ndim == 0:
        return ()
    if not sharding.is_tiled():
        return None
    dims = list(sharding.tile_assignment_dimensions())
    shape = tuple(sizes.values())
    tiles = np.empty((math.prod(shape), len(dims)), np.int64)
    devices = np.asarray(sharding.tile_assignment_devices())
    tiles[devices] = np.indices(dims).reshape(len(dims), -1).T
    grid = tiles.reshape(*shape, len(dims))
    entries = []
    for axis in range(ndim):
        strides = []
        for position, (name, size) in enumerate(sizes.items()):
            if size > 1:
                first = np.moveaxis(grid[..., axis], position, 0).reshape(size, -1)
                step = int(first[1, 0] - first[0, 0])
                if step:
                    strides.append((step, name))
        names = [name for _, name in sorted(strides, key=lambda s: -s[0])]
        entries.append(tuple(names) if len(names) > 1 else names[0] if names else None)
    while entries and entries[-1] is None:
        entries.pop()
    exact = part_counts(sizes, entries, ndim) == tuple(dims[:ndim])
    numbers = part_numbers(sizes, entries)
    if not exact or not np.array_equal(numbers, tiles[:, : len(entries)]):
        return None
    return tuple(entries)
