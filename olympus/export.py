"""Exported programs, for other processes and platforms, and symbolic shapes."""

import olympus as _olympus  # noqa: F401
from olympus._src.api.symbolic_shapes import is_symbolic_dim as is_symbolic_dim
from olympus._src.api.symbolic_shapes import symbolic_args_specs as symbolic_args_specs
from olympus._src.api.symbolic_shapes import symbolic_dim_bounds as symbolic_dim_bounds
from olympus._src.api.symbolic_shapes import symbolic_shape as symbolic_shape
from olympus._src.core.symbolic.dim_scope import (
    SymbolicScope as SymbolicScope,
)
from olympus._src.export.checks import DisabledSafetyCheck as DisabledSafetyCheck
from olympus._src.export.deserialization import deserialize as deserialize
from olympus._src.export.exported import Exported as Exported
from olympus._src.export.exported import (
    maximum_supported_calling_convention_version as maximum_supported_calling_convention_version,  # noqa: E501
)
from olympus._src.export.exported import (
    minimum_supported_calling_convention_version as minimum_supported_calling_convention_version,  # noqa: E501
)
from olympus._src.export.exporting import (
    default_export_platform as default_export_platform,
)
from olympus._src.export.exporting import export as export
from olympus._src.export.trees import (
    register_namedtuple_serialization as register_namedtuple_serialization,
)
from olympus._src.export.trees import (
    register_pytree_node_serialization as register_pytree_node_serialization,
)
from olympus._src.foundation.lazy_names import claim as _claim

__all__ = [
    "DisabledSafetyCheck",
    "Exported",
    "SymbolicScope",
    "default_export_platform",
    "deserialize",
    "export",
    "is_symbolic_dim",
    "maximum_supported_calling_convention_version",
    "minimum_supported_calling_convention_version",
    "register_namedtuple_serialization",
    "register_pytree_node_serialization",
    "symbolic_args_specs",
    "symbolic_dim_bounds",
    "symbolic_shape",
]

_claim(__name__)
