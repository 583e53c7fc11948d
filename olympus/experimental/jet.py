"""Taylor mode: derivatives of all orders along a curve, in one pass."""

from olympus._src.api.jet import (
    ZeroSeries,
    ZeroTerm,
    fact,
    jet,
    jet2,
    zero_series,
    zero_term,
)
from olympus._src.interpreters.taylor import JetTrace, JetTracer

__all__ = [
    "JetTrace",
    "JetTracer",
    "ZeroSeries",
    "ZeroTerm",
    "fact",
    "jet",
    "jet2",
    "zero_series",
    "zero_term",
]
