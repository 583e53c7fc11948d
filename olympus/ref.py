"""Refs: arrays that programs change in place."""

import olympus as _olympus  # noqa: F401
from olympus._src.core.refs import Ref
from olympus._src.core.refs import RefAval as AbstractRef
from olympus._src.foundation.lazy_names import claim as _claim
from olympus._src.refs.functions import (
    addupdate,
    empty_ref,
    free_ref,
    freeze,
    get,
    new_ref,
    set,
    swap,
)

__all__ = [
    "AbstractRef",
    "Ref",
    "addupdate",
    "empty_ref",
    "free_ref",
    "freeze",
    "get",
    "new_ref",
    "set",
    "swap",
]

_claim(__name__)
