"""Descriptions of devices, from which meshes are made."""

import olympus as _olympus  # noqa: F401
from olympus._src.foundation.lazy_names import claim as _claim
from olympus._src.sharding.attached_topologies import (
    TopologyDescription,
    get_attached_topology,
    get_topology_desc,
    make_mesh,
)

__all__ = [
    "TopologyDescription",
    "get_attached_topology",
    "get_topology_desc",
    "make_mesh",
]

_claim(__name__)
