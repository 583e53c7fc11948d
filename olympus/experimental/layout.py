"""The order of arrays' elements in memory."""

import olympus as _olympus  # noqa: F401
from olympus._src.api.layouts import with_layout_constraint
from olympus._src.foundation.lazy_names import claim as _claim
from olympus._src.sharding.layouts import Format, Layout

__all__ = ["Format", "Layout", "with_layout_constraint"]

_claim(__name__)
