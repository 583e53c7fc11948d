"""Taylor mode: derivatives of all orders along a curve, in one pass."""

import olympus as _olympus  # noqa: F401
from olympus._src.api.jet import (
    ZeroSeries,
    ZeroTerm,
    fact,
    jet,
    jet2,
    zero_series,
    zero_term,
)
from olympus._src.api.jet_rules import (
    def_comp,
    def_deriv,
    deflinear,
    defzero,
    deriv_prop,
    jet_rules,
    linear_prop,
    zero_prop,
)
from olympus._src.foundation.lazy_names import claim as _claim
from olympus._src.interpreters.taylor import JetTrace, JetTracer

__all__ = [
    "JetTrace",
    "JetTracer",
    "ZeroSeries",
    "ZeroTerm",
    "def_comp",
    "def_deriv",
    "deflinear",
    "defzero",
    "deriv_prop",
    "fact",
    "jet",
    "jet2",
    "jet_rules",
    "linear_prop",
    "zero_prop",
    "zero_series",
    "zero_term",
]

_claim(__name__)
