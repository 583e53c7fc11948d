"""For libraries that wrap functions: functions of leaves, names, donation."""

import olympus as _olympus  # noqa: F401
from olympus._src.api.function_flattening import (
    argnums_partial,
    debug_info,
    donation_vector,
    flatten_axes,
    flatten_fun,
    flatten_fun_nokwargs,
    rebase_donate_argnums,
    safe_map,
    shaped_abstractify,
)
from olympus._src.foundation.lazy_names import claim as _claim

__all__ = [
    "argnums_partial",
    "debug_info",
    "donation_vector",
    "flatten_axes",
    "flatten_fun",
    "flatten_fun_nokwargs",
    "rebase_donate_argnums",
    "safe_map",
    "shaped_abstractify",
]

_claim(__name__)
