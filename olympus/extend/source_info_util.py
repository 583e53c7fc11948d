"""Where operations come from: places in files, and scopes."""

from __future__ import annotations

from typing import TYPE_CHECKING as _TYPE_CHECKING

import olympus as _olympus  # noqa: F401
from olympus._src.foundation.lazy_names import Late as _Late
from olympus._src.foundation.lazy_names import claim as _claim

if _TYPE_CHECKING:
    from olympus._src.api.source_information import Frame as Frame
    from olympus._src.api.source_information import NameStack as NameStack
    from olympus._src.api.source_information import SourceInfo as SourceInfo
    from olympus._src.api.source_information import current as current
    from olympus._src.api.source_information import (
        current_name_stack as current_name_stack,
    )
    from olympus._src.api.source_information import (
        extend_name_stack as extend_name_stack,
    )
    from olympus._src.api.source_information import new_name_stack as new_name_stack
    from olympus._src.api.source_information import new_source_info as new_source_info
    from olympus._src.api.source_information import (
        register_exclusion as register_exclusion,
    )
    from olympus._src.api.source_information import reset_name_stack as reset_name_stack
    from olympus._src.api.source_information import set_name_stack as set_name_stack
    from olympus._src.api.source_information import summarize as summarize
    from olympus._src.api.source_information import (
        transform_name_stack as transform_name_stack,
    )
    from olympus._src.api.source_information import user_context as user_context
    from olympus._src.api.source_information import user_frame as user_frame
    from olympus._src.api.source_information import user_frames as user_frames

_LATE = {
    "api.source_information": (
        "Frame NameStack SourceInfo current current_name_stack "
        "extend_name_stack new_name_stack new_source_info "
        "register_exclusion reset_name_stack set_name_stack summarize "
        "transform_name_stack user_context user_frame user_frames"
    ),
}

_late = _Late(__name__, (), _LATE)

__all__ = [
    "Frame",
    "NameStack",
    "SourceInfo",
    "current",
    "current_name_stack",
    "extend_name_stack",
    "new_name_stack",
    "new_source_info",
    "register_exclusion",
    "reset_name_stack",
    "set_name_stack",
    "summarize",
    "transform_name_stack",
    "user_context",
    "user_frame",
    "user_frames",
]

_claim(__name__)
