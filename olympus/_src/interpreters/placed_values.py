"""Arrays of one value in places that were chosen; no program is compiled for them."""

from __future__ import annotations

from typing import Any

import numpy as np

from olympus._src.core import dtypes
from olympus._src.core.trace import Tracer
from olympus._src.foundation import array_protocol
from olympus._src.interpreters import concrete_arrays, evaluate
from olympus._src.sharding.meshes import AbstractMesh
from olympus._src.sharding.named import NamedSharding


def fill(value: Any, aval: Any, place: Any) -> Any:
    """An array filled with one value, in a place; None where programs are traced.

    Args:
      value: a scalar.
      aval: the type of the result.
      place: a device or a sharding.
    """
    if isinstance(value, Tracer) or evaluate.is_staging():
        return None
    if isinstance(place, NamedSharding) and isinstance(place.mesh, AbstractMesh):
        return None
    whole = np.broadcast_to(np.asarray(value, aval.dtype), aval.shape)
    with concrete_arrays.lift_guards():
        return concrete_arrays.put(whole, aval.update(sharding=None), place)


def place_like(x: Any, shape: tuple[int, ...]) -> Any:
    """Where an array like another one is: where that is committed, or None.

    Parts of a mesh tell nothing of arrays of another shape.
    """
    if array_protocol.is_array(x):
        x = array_protocol.array_of(x)
    if type(x) is not concrete_arrays.ArrayImpl or dtypes.is_extended(x.dtype):
        return None
    place = x.committed_device
    if not isinstance(place, NamedSharding) or x.shape == shape:
        return place
    whole = concrete_arrays.whole_on(place.device_mesh)
    return whole if place.is_fully_replicated else None
