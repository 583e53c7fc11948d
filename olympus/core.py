"""Types of programs and values, for annotations and for reading programs."""

from typing import Any as Value

import olympus as _olympus  # noqa: F401
from olympus._src.api.named_scopes import (
    ensure_compile_time_eval as ensure_compile_time_eval,
)
from olympus._src.api.named_scopes import ensure_compile_time_eval as eval_context
from olympus._src.core.avals import AbstractValue as AbstractValue
from olympus._src.core.avals import ShapedArray as ShapedArray
from olympus._src.core.ir import Atom as Atom
from olympus._src.core.ir import eval_olympuspr as eval_olympuspr
from olympus._src.core.trace import Trace as Trace
from olympus._src.core.trace import Tracer as Tracer
from olympus._src.lax.sizes import max_dim as max_dim
from olympus._src.lax.sizes import min_dim as min_dim

ParamDict = dict[str, Value]

__all__ = [
    "AbstractValue",
    "Atom",
    "ParamDict",
    "ShapedArray",
    "Trace",
    "Tracer",
    "Value",
    "ensure_compile_time_eval",
    "eval_context",
    "eval_olympuspr",
    "max_dim",
    "min_dim",
]
