"""Meshes of devices, and how arrays are divided over them."""

from olympus._src.api.collectives import explain_collectives
from olympus._src.foundation.lazy_names import claim as _claim
from olympus._src.runtime.shardings import Sharding, SingleDeviceSharding
from olympus._src.sharding.contexts import (
    get_abstract_mesh,
    get_mesh,
    set_mesh,
    use_abstract_mesh,
)
from olympus._src.sharding.meshes import AbstractMesh, AxisType, Mesh
from olympus._src.sharding.named import NamedSharding
from olympus._src.sharding.specs import PartitionSpec

__all__ = [
    "AbstractMesh",
    "AxisType",
    "Mesh",
    "NamedSharding",
    "PartitionSpec",
    "Sharding",
    "SingleDeviceSharding",
    "explain_collectives",
    "get_abstract_mesh",
    "get_mesh",
    "set_mesh",
    "use_abstract_mesh",
]

_claim(__name__)
