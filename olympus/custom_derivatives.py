"""Functions with custom derivatives."""

import olympus as _olympus  # noqa: F401
from olympus._src.api.custom_gradient import closure_convert as closure_convert
from olympus._src.api.custom_gradient import custom_gradient as custom_gradient
from olympus._src.api.custom_jvp import custom_jvp as custom_jvp
from olympus._src.api.custom_vjp import CustomVJPPrimal as CustomVJPPrimal
from olympus._src.api.custom_vjp import custom_vjp as custom_vjp
from olympus._src.api.custom_vjp import (
    custom_vjp_primal_tree_values as custom_vjp_primal_tree_values,
)
from olympus._src.api.custom_vjp import zero_from_primal as zero_from_primal
from olympus._src.api.linear_call import linear_call as linear_call
from olympus._src.core.symbolic_values import SymbolicZero as SymbolicZero
from olympus._src.custom_rules.custom_jvp import custom_jvp_call_p as custom_jvp_call_p
from olympus._src.custom_rules.custom_vjp import custom_vjp_call_p as custom_vjp_call_p
from olympus._src.custom_rules.remat_opt import remat_opt_p as remat_opt_p
from olympus._src.foundation.lazy_names import claim as _claim

__all__ = [
    "CustomVJPPrimal",
    "SymbolicZero",
    "closure_convert",
    "custom_gradient",
    "custom_jvp",
    "custom_jvp_call_p",
    "custom_vjp",
    "custom_vjp_call_p",
    "custom_vjp_primal_tree_values",
    "linear_call",
    "remat_opt_p",
    "zero_from_primal",
]

_claim(__name__)
