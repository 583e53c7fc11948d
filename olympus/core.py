"""The language's types and values: avals, traces, tracers, programs run as functions."""

from olympus._src.core.avals import ShapedArray
from olympus._src.core.ir import eval_olympuspr
from olympus._src.core.trace import Trace, Tracer

__all__ = ["ShapedArray", "Trace", "Tracer", "eval_olympuspr"]
