"""Batching rules of primitives."""

from olympus._src.api.extension import defvectorized as defvectorized
from olympus._src.api.extension import (
    fancy_primitive_batchers as axis_primitive_batchers,
)
from olympus._src.api.extension import (
    fancy_primitive_batchers as fancy_primitive_batchers,
)
from olympus._src.api.extension import primitive_batchers as primitive_batchers
from olympus._src.api.mapped_axes import bdim_at_front as bdim_at_front
from olympus._src.api.mapped_axes import broadcast as broadcast
from olympus._src.api.mapped_axes import defbroadcasting as defbroadcasting
from olympus._src.api.mapped_axes import defreducer as defreducer
from olympus._src.interpreters.batching import not_mapped as not_mapped

__all__ = [
    "axis_primitive_batchers",
    "bdim_at_front",
    "broadcast",
    "defbroadcasting",
    "defreducer",
    "defvectorized",
    "fancy_primitive_batchers",
    "not_mapped",
    "primitive_batchers",
]
