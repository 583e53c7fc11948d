"""Constraints on where values live, as an operation of programs."""

from __future__ import annotations

from typing import Any

import numpy as np

from olympus._src.core.primitive import Primitive
from olympus._src.core.symbolic_values import Zero
from olympus._src.lax import families


def _batch(axis: Any, args: Any, dims: Any, **params: Any) -> Any:
    return sharding_constraint_p.bind(*args, **params), dims[0]


def _transpose(cts: Any, x: Any, **params: Any) -> Any:
    (ct,) = cts
    return [ct if type(ct) is Zero else sharding_constraint_p.bind(ct, **params)]


sharding_constraint_p = Primitive(
    "sharding_constraint",
    abstract=lambda operand, **params: operand,
    # Every program runs on one device, where the whole value is anyway.
    lower=lambda ctx, x, **params: x,
    batch=_batch,
    transpose=_transpose,
    reference=lambda x, **params: np.array(x),
    **families.LINEAR,
)
