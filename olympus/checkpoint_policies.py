"""Policies of `olympus.checkpoint`: which residuals are kept.

A custom policy is a function of a primitive, the types of its operands and its
parameters, that returns whether the results may be kept.
"""

import olympus as _olympus  # noqa: F401
from olympus._src.foundation.lazy_names import claim as _claim
from olympus._src.remat.policies import (
    dots_saveable,
    dots_with_no_batch_dims_saveable,
    everything_saveable,
    nothing_saveable,
    offload_dot_with_no_batch_dims,
    save_and_offload_only_these_names,
    save_any_names_but_these,
    save_anything_except_these_names,
    save_from_both_policies,
    save_only_these_names,
)
from olympus._src.remat.policies import dots_saveable as checkpoint_dots
from olympus._src.remat.policies import (
    dots_with_no_batch_dims_saveable as checkpoint_dots_with_no_batch_dims,
)

__all__ = [
    "checkpoint_dots",
    "checkpoint_dots_with_no_batch_dims",
    "dots_saveable",
    "dots_with_no_batch_dims_saveable",
    "everything_saveable",
    "nothing_saveable",
    "offload_dot_with_no_batch_dims",
    "save_and_offload_only_these_names",
    "save_any_names_but_these",
    "save_anything_except_these_names",
    "save_from_both_policies",
    "save_only_these_names",
]

_claim(__name__)
