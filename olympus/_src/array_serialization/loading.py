"""Loading: every process reads the parts that its devices hold."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import numpy as np

from olympus._src.api import global_arrays
from olympus._src.array_serialization import boxes, shard_files
from olympus._src.array_serialization.boxes import Box
from olympus._src.array_serialization.indexing import Leaf
from olympus._src.core import avals as avals_
from olympus._src.core import dtypes
from olympus._src.foundation.container import Unreadable
from olympus._src.interpreters import concrete_arrays
from olympus._src.sharding.named import NamedSharding

_WHAT = "array_serialization.load"


def load(folder: str, leaf: Leaf, sharding: Any, dtype: Any = None) -> Any:
    """An array of a save, on the devices of a sharding.

    Args:
      folder: where the files are.
      leaf: the array.
      sharding: how it is to be divided; None for the default device.
      dtype: of the result; default that of the saved array.

    Raises:
      TypeError: arrays here cannot have the dtype.
      ValueError: the array cannot be divided so, or a file is damaged.
      FileNotFoundError: a file is missing.
    """
    aval = leaf.aval
    if dtype is not None and dtypes.as_dtype(dtype) != aval.dtype:
        return _load_as(folder, leaf, sharding, dtypes.as_dtype(dtype))
    if aval.storage is aval and dtypes.canonicalize_dtype(aval.dtype) != aval.dtype:
        raise TypeError(
            f"{_WHAT}: arrays must keep their values, got {aval.str_long()} saved at "
            f"data{leaf.path}, a dtype that needs the setting olympus_enable_x64; set "
            "it, or give a ShapeDtypeStruct with another dtype"
        )
    return _place(folder, leaf, sharding, aval)


def _load_as(folder: str, leaf: Leaf, sharding: Any, dtype: Any) -> Any:
    saved = leaf.aval
    if saved.storage is not saved or dtypes.is_extended(dtype):
        raise TypeError(
            f"{_WHAT}: random keys must keep their dtype, got {saved.str_long()} saved "
            f"at data{leaf.path} and {dtypes.long_name(dtype)} asked for; load it as "
            "it is"
        )
    kind = dtypes.canonicalize_dtype(dtype)
    return _place(folder, leaf, sharding, avals_.ShapedArray(saved.shape, kind))


def _place(folder: str, leaf: Leaf, sharding: Any, aval: Any) -> Any:
    """The array of a type whose elements the saved ones become."""
    storage = aval.storage
    if not isinstance(sharding, NamedSharding):
        values = _read_box(folder, leaf, boxes.whole(storage.shape))
        x = concrete_arrays.put(values.astype(storage.dtype), storage, sharding)
        return concrete_arrays.with_aval(x, aval)
    sharding.check_shape(aval.shape, f"{_WHAT}: data{leaf.path}")

    def part_at(index: Sequence[slice]) -> np.ndarray:
        box = boxes.from_slices(index, storage.shape)
        return _read_box(folder, leaf, box).astype(storage.dtype, copy=False)

    divided: Any = global_arrays.make_array_from_callback(
        storage.shape, sharding, part_at, storage.dtype
    )
    return concrete_arrays.with_aval(divided, aval)


def _read_box(folder: str, leaf: Leaf, box: Box) -> np.ndarray:
    """Part of a saved array, from the files that hold some of it."""
    storage = leaf.aval.storage
    if any(shard.box == box for shard in leaf.shards) and boxes.size(box):
        shard = next(s for s in leaf.shards if s.box == box)
        return _read_shard(folder, shard, storage, box)
    out = np.empty(boxes.shape_of(box), storage.dtype)
    n_read = 0
    for shard in leaf.shards:
        common = boxes.intersect(shard.box, box)
        if boxes.size(common):
            values = _read_shard(folder, shard, storage, common)
            out[boxes.slices(boxes.relative_to(common, box))] = values
            n_read += values.size
    if n_read != out.size:
        raise Unreadable(
            f"{_WHAT}: the files of data{leaf.path} must hold all of it, got "
            f"{n_read} of the {out.size} elements of {box}; use another save"
        )
    return out


def _read_shard(folder: str, shard: Any, storage: Any, box: Box) -> np.ndarray:
    inner = boxes.relative_to(box, shard.box)
    path = os.path.join(folder, shard.file)
    shape = boxes.shape_of(shard.box)
    return shard_files.read(path, storage.dtype, shape, inner, shard.checksums)
