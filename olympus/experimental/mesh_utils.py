"""Arrays of devices for meshes, in an order that suits the links between them."""

import olympus as _olympus  # noqa: F401
from olympus._src.foundation.lazy_names import claim as _claim
from olympus._src.sharding.device_meshes import (
    create_device_mesh,
    create_hybrid_device_mesh,
    device_kind_handler_dict,
)

__all__ = [
    "create_device_mesh",
    "create_hybrid_device_mesh",
    "device_kind_handler_dict",
]

_claim(__name__)
