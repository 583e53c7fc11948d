"""Rematerialization: names of values, results of policies, and saved residuals."""

import olympus as _olympus  # noqa: F401
from olympus import checkpoint_policies as checkpoint_policies
from olympus._src.api.residuals import print_saved_residuals, saved_residuals
from olympus._src.foundation.lazy_names import claim as _claim
from olympus._src.lax.checkpoint_names import (
    checkpoint_name,
    checkpoint_name_fwd,
    name_p,
)
from olympus._src.remat.policies import Offloadable, Recompute, Saveable

__all__ = [
    "Offloadable",
    "Recompute",
    "Saveable",
    "checkpoint_name",
    "checkpoint_name_fwd",
    "checkpoint_policies",
    "name_p",
    "print_saved_residuals",
    "saved_residuals",
]

_claim(__name__)
