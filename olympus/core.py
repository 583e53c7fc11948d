"""The language's types, for annotations and for reading programs."""

from olympus._src.core.avals import AbstractValue as AbstractValue
from olympus._src.core.avals import ShapedArray as ShapedArray
from olympus._src.core.ir import Atom as Atom
from olympus._src.core.ir import eval_olympuspr as eval_olympuspr
from olympus._src.core.trace import Trace as Trace
from olympus._src.core.trace import Tracer as Tracer

__all__ = [
    "AbstractValue",
    "Atom",
    "ShapedArray",
    "Trace",
    "Tracer",
    "eval_olympuspr",
]
