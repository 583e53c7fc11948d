"""XLA's own descriptions of how arrays are divided."""

from __future__ import annotations

from typing import TYPE_CHECKING as _TYPE_CHECKING

import olympus as _olympus  # noqa: F401
from olympus._src.foundation.lazy_names import Late as _Late
from olympus._src.foundation.lazy_names import claim as _claim

if _TYPE_CHECKING:
    from olympus._src.api.jaxlib_names import (
        get_hlo_sharding_from_serialized_proto as get_hlo_sharding_from_serialized_proto,  # noqa: E501
    )
    from olympus._src.api.jaxlib_names import (
        get_op_sharding_from_serialized_proto as get_op_sharding_from_serialized_proto,
    )
    from olympus._src.api.jaxlib_names import (
        get_serialized_proto_from_hlo_sharding as get_serialized_proto_from_hlo_sharding,  # noqa: E501
    )

_LATE = {
    "api.jaxlib_names": (
        "get_hlo_sharding_from_serialized_proto "
        "get_op_sharding_from_serialized_proto "
        "get_serialized_proto_from_hlo_sharding"
    ),
}

_late = _Late(__name__, (), _LATE)

__all__ = [
    "get_hlo_sharding_from_serialized_proto",
    "get_op_sharding_from_serialized_proto",
    "get_serialized_proto_from_hlo_sharding",
]

_claim(__name__)
