"""What libraries use of jaxlib, in one place for the public modules that hold it."""

from __future__ import annotations

from olympus._src.runtime.library_names import (
    deserialize_portable_artifact as deserialize_portable_artifact,
)
from olympus._src.runtime.library_names import (
    get_hlo_sharding_from_serialized_proto as get_hlo_sharding_from_serialized_proto,
)
from olympus._src.runtime.library_names import (
    get_op_sharding_from_serialized_proto as get_op_sharding_from_serialized_proto,
)
from olympus._src.runtime.library_names import (
    get_serialized_proto_from_hlo_sharding as get_serialized_proto_from_hlo_sharding,
)
from olympus._src.runtime.library_names import hlo_to_stablehlo as hlo_to_stablehlo
from olympus._src.runtime.library_names import ifrt_programs as ifrt_programs
from olympus._src.runtime.library_names import (
    refine_polymorphic_shapes as refine_polymorphic_shapes,
)
from olympus._src.runtime.library_names import (
    serialize_portable_artifact as serialize_portable_artifact,
)
