"""Batching rules of primitives, and containers that are mapped."""

from __future__ import annotations

from typing import TYPE_CHECKING as _TYPE_CHECKING

import olympus as _olympus  # noqa: F401
from olympus._src.api.extension import (
    axis_primitive_batchers as axis_primitive_batchers,
)
from olympus._src.api.extension import defvectorized as defvectorized
from olympus._src.api.extension import (
    fancy_primitive_batchers as fancy_primitive_batchers,
)
from olympus._src.api.extension import primitive_batchers as primitive_batchers
from olympus._src.api.mapped_axes import bdim_at_front as bdim_at_front
from olympus._src.api.mapped_axes import broadcast as broadcast
from olympus._src.api.mapped_axes import defbroadcasting as defbroadcasting
from olympus._src.api.mapped_axes import defreducer as defreducer
from olympus._src.api.vmappable import register_vmappable as register_vmappable
from olympus._src.api.vmappable import unregister_vmappable as unregister_vmappable
from olympus._src.foundation.lazy_names import Late as _Late
from olympus._src.foundation.lazy_names import claim as _claim
from olympus._src.interpreters.batching import not_mapped as not_mapped

if _TYPE_CHECKING:
    from olympus._src.api.batched_programs import (
        batch_olympuspr_axes as batch_olympuspr_axes,
    )
    from olympus._src.api.batched_programs import batch_subtrace as batch_subtrace
    from olympus._src.api.batched_programs import zero_if_mapped as zero_if_mapped

_LATE = {
    "api.batched_programs": ("batch_olympuspr_axes batch_subtrace zero_if_mapped"),
}

_late = _Late(__name__, (), _LATE)

__all__ = [
    "axis_primitive_batchers",
    "batch_olympuspr_axes",
    "batch_subtrace",
    "bdim_at_front",
    "broadcast",
    "defbroadcasting",
    "defreducer",
    "defvectorized",
    "fancy_primitive_batchers",
    "not_mapped",
    "primitive_batchers",
    "register_vmappable",
    "unregister_vmappable",
    "zero_if_mapped",
]

_claim(__name__)
