"""Meshes of the eight devices of a test run."""

from __future__ import annotations

from typing import Any

import numpy as np

import olympus
from olympus.sharding import AxisType, Mesh, NamedSharding, PartitionSpec

P = PartitionSpec


def mesh(*sizes: int, names: str = "xyz") -> Mesh:
    """A mesh of automatic axes over the first devices."""
    kinds = (AxisType.Auto,) * len(sizes)
    return olympus.make_mesh(sizes, tuple(names[: len(sizes)]), kinds)


def divide(x: Any, *entries: Any, over: Mesh | None = None) -> Any:
    """An array divided over a mesh, of 4 by 2 devices unless one is given."""
    sharding = NamedSharding(over or mesh(4, 2), P(*entries))
    return olympus.device_put(np.asarray(x), sharding)


def entries(x: Any) -> tuple[Any, ...]:
    """How an array is divided."""
    return tuple(x.sharding.spec)
