"""Meshes of devices, and how arrays are divided over them."""

from typing import TYPE_CHECKING as _TYPE_CHECKING

import olympus as _olympus  # noqa: F401
from olympus._src.foundation.lazy_names import Late as _Late
from olympus._src.foundation.lazy_names import claim as _claim
from olympus._src.runtime.shardings import (
    Sharding,
    SingleDeviceSharding,
    make_single_device_sharding,
)
from olympus._src.sharding.contexts import (
    get_abstract_mesh,
    get_mesh,
    use_abstract_mesh,
)
from olympus._src.sharding.manual_types import ManualAxisType
from olympus._src.sharding.meshes import AbstractMesh, AxisType, Mesh
from olympus._src.sharding.named import NamedSharding
from olympus._src.sharding.specs import PartitionSpec, UnreducedKind

if _TYPE_CHECKING:
    from olympus._src.api.collectives import (
        Collective,
        Collectives,
        explain_collectives,
    )
    from olympus._src.api.cost_model import CollectiveCost, Estimate, estimate
    from olympus._src.api.explicit_axes import auto_axes, explicit_axes, reshard
    from olympus._src.api.mesh_setting import set_mesh
    from olympus._src.sharding.collective_costs import collective_seconds
    from olympus._src.sharding.topologies import TOPOLOGIES, Topology

__all__ = [
    "TOPOLOGIES",
    "AbstractMesh",
    "AxisType",
    "Collective",
    "CollectiveCost",
    "Collectives",
    "Estimate",
    "ManualAxisType",
    "Mesh",
    "NamedSharding",
    "PartitionSpec",
    "Sharding",
    "SingleDeviceSharding",
    "Topology",
    "UnreducedKind",
    "auto_axes",
    "collective_seconds",
    "estimate",
    "explain_collectives",
    "explicit_axes",
    "get_abstract_mesh",
    "get_mesh",
    "make_single_device_sharding",
    "reshard",
    "set_mesh",
    "use_abstract_mesh",
]

# Loaded at their first use, by the file they come from.
_LATE = {
    "api.collectives": "Collective Collectives explain_collectives",
    "api.cost_model": "CollectiveCost Estimate estimate",
    "api.explicit_axes": "auto_axes explicit_axes reshard",
    "api.mesh_setting": "set_mesh",
    "sharding.collective_costs": "collective_seconds",
    "sharding.topologies": "TOPOLOGIES Topology",
}

_late = _Late(__name__, (), _LATE)

_claim(__name__)
