"""Marks in a program: where gradients end, and what may not be moved across."""

from __future__ import annotations

from typing import Any

import numpy as np

from olympus._src.core.primitive import Primitive
from olympus._src.core.rules import Zero
from olympus._src.lax import families
from olympus._src.lowering import types
from olympus._src.tree import tree_flatten, tree_map, tree_unflatten

_FILE = "lax/barriers.py"

# -- stop_gradient ---------------------------------------------------------------------

stop_gradient_p: Primitive = Primitive(
    "stop_gradient",
    abstract=lambda operand: operand,
    lower=lambda ctx, x: x,
    batch=lambda axis, args, dims: (stop_gradient_p.bind(*args), dims[0]),
    transpose=lambda cts, x: [None],
    reference=lambda x: np.array(x),
    file=_FILE,
)
stop_gradient_p.jvp = families.no_tangent(stop_gradient_p)


def stop_gradient(x: Any) -> Any:
    """The same values, whose derivative is zero.

    Args:
      x: a pytree of arrays.

    Returns:
      A pytree of the same structure; differentiation takes its leaves for constants.

    Example:
      >>> olympus.grad(lambda x: x * lax.stop_gradient(x))(3.0)
      Array(3., dtype=float32, weak_type=True)
    """
    return tree_map(stop_gradient_p.bind, x)


# -- optimization_barrier --------------------------------------------------------------


def _barrier_jvp(primals: Any, tangents: Any) -> Any:
    outs = optimization_barrier_p.bind(*primals)
    moving = [t for t in tangents if type(t) is not Zero]
    held = iter(optimization_barrier_p.bind(*moving))
    return outs, [t if type(t) is Zero else next(held) for t in tangents]


def _barrier_transpose(cts: Any, *operands: Any) -> Any:
    moving = [ct for ct in cts if type(ct) is not Zero]
    held = iter(optimization_barrier_p.bind(*moving))
    return [ct if type(ct) is Zero else next(held) for ct in cts]


def _barrier_lower(ctx: Any, *operands: str) -> list[str]:
    if not operands:
        return []
    kinds = ", ".join([types.tensor_type(a) for a in ctx.avals_in])
    return ctx.block.emit_many(
        f"stablehlo.optimization_barrier {', '.join(operands)} : {kinds}", len(operands)
    )


optimization_barrier_p: Primitive = Primitive(
    "optimization_barrier",
    multiple_results=True,
    abstract=lambda *operands: list(operands),
    lower=_barrier_lower,
    jvp=_barrier_jvp,
    transpose=_barrier_transpose,
    batch=lambda axis, args, dims: (optimization_barrier_p.bind(*args), dims),
    reference=lambda *operands: list(operands),
    file=_FILE,
)


def optimization_barrier(operand: Any, /) -> Any:
    """The same values, all computed before any of them is used.

    The compiler moves nothing across: neither is a part computed again after it, nor is
    anything before it merged with what comes after.

    Args:
      operand: a pytree of arrays.

    Returns:
      A pytree of the same structure.

    Source: `stablehlo.optimization_barrier`.
    """
    leaves, structure = tree_flatten(operand)
    return tree_unflatten(structure, optimization_barrier_p.bind(*leaves))
