"""Files of one shard each: the elements in C order, with a checksum for each block.

Blocks are the units of checking: a reader that needs a few rows of a large shard reads
the blocks that hold them, and knows that they are intact.
"""

from __future__ import annotations

import math
import os
import zlib
from collections.abc import Sequence
from typing import Any

import numpy as np

from olympus._src.array_serialization import boxes
from olympus._src.array_serialization.boxes import Box
from olympus._src.foundation.container import Unreadable

BLOCK_BYTES = 1 << 20


def write(path: str, values: np.ndarray) -> list[int]:
    """Writes a new file, to the disk itself; returns the CRC-32 of each block."""
    data = np.ascontiguousarray(values).reshape(-1).view(np.uint8).data
    checksums = []
    with open(path, "xb") as file:
        for start in range(0, len(data), BLOCK_BYTES):
            block = data[start : start + BLOCK_BYTES]
            checksums.append(zlib.crc32(block))
            file.write(block)
        file.flush()
        os.fsync(file.fileno())
    return checksums


def count_blocks(n_bytes: int) -> int:
    """The number of blocks of a file of some bytes."""
    return -(-n_bytes // BLOCK_BYTES)


def read(
    path: str, dtype: Any, shape: Sequence[int], box: Box, checksums: Sequence[int]
) -> np.ndarray:
    """A box of a shard; no other blocks of the file are read.

    Args:
      path: the file.
      dtype: of the elements.
      shape: of the shard.
      box: what is to be read, which is not empty.
      checksums: what `write` returned.

    Raises:
      FileNotFoundError: the file is missing.
      Unreadable: it is shorter or longer than it was, or damaged.
    """
    n_bytes = math.prod(shape) * dtype.itemsize
    _check_size(path, n_bytes)
    touched = np.flatnonzero(_touched_blocks(dtype.itemsize, shape, box))
    base = int(touched[0]) * BLOCK_BYTES
    # Memory that is never written costs none.
    data = np.empty(min((int(touched[-1]) + 1) * BLOCK_BYTES, n_bytes) - base, np.uint8)
    view = memoryview(data.data)
    with open(path, "rb") as file:
        for number in touched.tolist():
            start = number * BLOCK_BYTES
            block = view[start - base : min(start + BLOCK_BYTES, n_bytes) - base]
            file.seek(start)
            if file.readinto(block) != len(block):
                raise Unreadable(_damage(path, f"it ends before byte {n_bytes}"))
            if zlib.crc32(block) != checksums[number]:
                end = start + len(block)
                raise Unreadable(
                    _damage(path, f"the checksum of its bytes {start} to {end} differs")
                )
    strides = _strides(dtype.itemsize, shape)
    rows = zip(box, strides, strict=True)
    first = sum(start * stride for (start, _), stride in rows)
    return np.ndarray(
        boxes.shape_of(box), dtype, data.data, offset=first - base, strides=strides
    )


def _check_size(path: str, n_bytes: int) -> None:
    try:
        actual = os.path.getsize(path)
    except FileNotFoundError:
        raise FileNotFoundError(
            f"array_serialization: {path} must exist, got no such file; the save is "
            "incomplete: use another"
        ) from None
    if actual != n_bytes:
        raise Unreadable(_damage(path, f"it has {actual} bytes instead of {n_bytes}"))


def _damage(path: str, how: str) -> str:
    return (
        f"array_serialization: {path} must be as it was saved, got a damaged file: "
        f"{how}; use another save"
    )


def _strides(itemsize: int, shape: Sequence[int]) -> tuple[int, ...]:
    """Bytes from one element to the next along each axis, in C order."""
    out = [itemsize]
    for n in reversed(shape[1:]):
        out.append(out[-1] * n)
    return tuple(reversed(out)) if shape else ()


def _touched_blocks(itemsize: int, shape: Sequence[int], box: Box) -> np.ndarray:
    """For each block, whether it holds a part of the box."""
    strides = _strides(itemsize, shape)
    starts = np.zeros(1, np.int64)
    run = itemsize  # bytes of the box that follow each other in the file
    axis = len(shape) - 1
    while axis >= 0:
        run = strides[axis] * (box[axis][1] - box[axis][0])
        starts = starts + strides[axis] * box[axis][0]
        axis -= 1
        if box[axis + 1] != (0, shape[axis + 1]):
            break
    for outer in range(axis, -1, -1):
        offsets = np.arange(*box[outer], dtype=np.int64) * strides[outer]
        starts = np.add.outer(offsets, starts).reshape(-1)
    changes = np.zeros(count_blocks(math.prod(shape) * itemsize) + 1, np.int64)
    np.add.at(changes, starts // BLOCK_BYTES, 1)
    np.add.at(changes, (starts + run - 1) // BLOCK_BYTES + 1, -1)
    return np.cumsum(changes[:-1]) > 0
