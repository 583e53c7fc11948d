"""Modules of StableHLO as bytes."""

from __future__ import annotations

from typing import TYPE_CHECKING as _TYPE_CHECKING

import olympus as _olympus  # noqa: F401
from olympus._src.foundation.lazy_names import Late as _Late
from olympus._src.foundation.lazy_names import claim as _claim

if _TYPE_CHECKING:
    from olympus._src.api.jaxlib_names import (
        deserialize_portable_artifact as deserialize_portable_artifact,
    )
    from olympus._src.api.jaxlib_names import hlo_to_stablehlo as hlo_to_stablehlo
    from olympus._src.api.jaxlib_names import (
        refine_polymorphic_shapes as refine_polymorphic_shapes,
    )
    from olympus._src.api.jaxlib_names import (
        serialize_portable_artifact as serialize_portable_artifact,
    )
    from olympus._src.api.mlir_rules import (
        lower_with_sharding_in_types as lower_with_sharding_in_types,
    )

_LATE = {
    "api.jaxlib_names": (
        "deserialize_portable_artifact hlo_to_stablehlo "
        "refine_polymorphic_shapes serialize_portable_artifact"
    ),
    "api.mlir_rules": "lower_with_sharding_in_types",
}

_late = _Late(__name__, (), _LATE)

__all__ = [
    "deserialize_portable_artifact",
    "hlo_to_stablehlo",
    "lower_with_sharding_in_types",
    "refine_polymorphic_shapes",
    "serialize_portable_artifact",
]

_claim(__name__)
