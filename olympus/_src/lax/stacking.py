"""Stacks: arrays of one shape along a new axis, and their slices along an axis.

Each of the two operations is the other's transpose.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from olympus._src.core import avals
from olympus._src.core.array_type import Array, ArrayLike
from olympus._src.core.primitive import Cost, Exact, Primitive
from olympus._src.core.symbolic_values import Linear, Zero
from olympus._src.lax import concatenation, families, sharding_rules
from olympus._src.lax import sizes as sizes_
from olympus._src.lax.families import ShapedArray

# -- stack -----------------------------------------------------------------------------


def _stack_abstract(*operands: Any, axis: int) -> Any:
    if not operands:
        raise ValueError("lax.stack: expects at least one operand, got 0")
    first = operands[0]
    if any(a.shape != first.shape for a in operands):
        listed = ", ".join([a.short() for a in operands])
        raise ValueError(
            f"lax.stack: operands must have one shape, got {listed}; use "
            "numpy.broadcast_arrays"
        )
    if not 0 <= axis <= first.ndim:
        raise ValueError(
            f"lax.stack: axis must be from 0 to {first.ndim} for {first.short()}, got "
            f"{axis}"
        )
    dtype = families.common_dtype("stack", operands)
    return ShapedArray(
        _with_axis(first.shape, axis, len(operands)),
        dtype,
        all(a.weak_type for a in operands),
    )


def _with_axis(shape: Any, axis: int, size: int) -> tuple[int, ...]:
    return (*shape[:axis], size, *shape[axis:])


def _stack_lower(ctx: Any, *operands: str, axis: int) -> str:
    out = families.storage(ctx.avals_out[0])
    parts, thin_avals = [], []
    for x, aval in zip(operands, ctx.avals_in, strict=True):
        storage = families.storage(aval)
        thin = ShapedArray(_with_axis(storage.shape, axis, 1), storage.dtype)
        parts.append(ctx.block.reshape(x, storage, thin))
        thin_avals.append(thin)
    return ctx.block.op1(
        "stablehlo.concatenate", parts, thin_avals, out, f"dimension = {axis} : i64"
    )


def _stack_jvp(primals: Any, tangents: Any, *, axis: int) -> Any:
    return families.apply_linear(stack_p, primals, tangents, axis=axis)


def _stack_transpose(cts: Any, *operands: Any, axis: int) -> Any:
    (ct,) = cts
    if type(ct) is Zero:
        return [Zero(x.aval) if type(x) is Linear else None for x in operands]
    parts = unstack_p.bind(ct, axis=axis)
    return [
        part if type(x) is Linear else None
        for x, part in zip(operands, parts, strict=True)
    ]


def _stack_batch(mapped: Any, args: Any, dims: Any, *, axis: int) -> Any:
    dim = next(d for d in dims if d is not None)
    moved = [
        families.insert_axis(x, dim, mapped.size)
        if d is None
        else families.move_axis(x, d, dim)
        for x, d in zip(args, dims, strict=True)
    ]
    if axis <= dim:  # the new axis moves the mapped one
        return stack_p.bind(*moved, axis=axis), dim + 1
    return stack_p.bind(*moved, axis=axis + 1), dim


stack_p = Primitive(
    "stack",
    key_reuse=lambda uses, eqn, operands: uses.concatenate(eqn, operands),
    shard=sharding_rules.linear_in(sharding_rules.stack),
    abstract=_stack_abstract,
    lower=_stack_lower,
    jvp=_stack_jvp,
    transpose=_stack_transpose,
    batch=_stack_batch,
    reference=lambda *xs, axis: np.stack(xs, axis),
    cost=Cost.MOVE,
    taylor=families.linear_series(),
    exact=Exact.MOVES,
)


def stack(operands: Sequence[ArrayLike], axis: int = 0) -> Array:
    """Arrays of one shape along a new axis.

    Args:
      operands: arrays of one shape and dtype.
      axis: the position of the new axis in the result; may be negative.

    Returns:
      Array of one more axis, whose size is the number of operands.

    Raises:
      ValueError: there are no operands, or shapes differ.
      TypeError: dtypes differ.

    Source: `stablehlo.concatenate` of reshaped operands.

    Example:
      >>> from olympus import lax
      >>> lax.stack([1, 2, 3])
      Array([1, 2, 3], dtype=int32, weak_type=True)
    """
    operands = tuple(operands)
    if not operands:
        raise ValueError("lax.stack: expects at least one operand, got 0")
    rank = avals.aval_of(operands[0]).ndim + 1
    axis = sizes_.canonicalize_axis(axis, rank, "lax.stack")
    return stack_p.bind(*operands, axis=axis)


# -- unstack ---------------------------------------------------------------------------


_MOST_RESULTS = 1 << 20


def _unstack_abstract(operand: Any, *, axis: int) -> Any:
    families.check_axes("unstack", operand, (axis,))
    if operand.shape[axis] > _MOST_RESULTS:
        raise ValueError(
            f"unstack: the axis must have at most {_MOST_RESULTS} elements, which "
            f"become results each, got {operand.shape[axis]} along axis {axis} of "
            f"{operand.short()}; index the array, or map over the axis with vmap"
        )
    shape = (*operand.shape[:axis], *operand.shape[axis + 1 :])
    out = ShapedArray(shape, operand.dtype, operand.weak_type)
    return [out] * operand.shape[axis]


def _unstack_lower(ctx: Any, x: str, *, axis: int) -> list[str]:
    aval = families.storage(ctx.avals_in[0])
    thin = ShapedArray((*aval.shape[:axis], 1, *aval.shape[axis + 1 :]), aval.dtype)
    outs = []
    for i, out in enumerate(ctx.avals_out):
        starts, limits = [0] * aval.ndim, list(aval.shape)
        starts[axis], limits[axis] = i, i + 1
        part = concatenation.emit_slice(ctx, x, aval, thin, starts, limits)
        outs.append(ctx.block.reshape(part, thin, families.storage(out)))
    return outs


def _unstack_jvp(primals: Any, tangents: Any, *, axis: int) -> Any:
    outs = unstack_p.bind(*primals, axis=axis)
    if type(tangents[0]) is Zero:
        return outs, [Zero(avals.aval_of(x).to_tangent()) for x in outs]
    return outs, unstack_p.bind(tangents[0], axis=axis)


def _unstack_transpose(cts: Any, x: Any, *, axis: int) -> Any:
    if all(type(ct) is Zero for ct in cts):
        return [Zero(x.aval)]
    return [stack_p.bind(*map(families.instantiate, cts), axis=axis)]


def _unstack_batch(mapped: Any, args: Any, dims: Any, *, axis: int) -> Any:
    (dim,) = dims
    outs = unstack_p.bind(args[0], axis=axis + (axis >= dim))
    return outs, [dim - (axis < dim)] * len(outs)


unstack_p = Primitive(
    "unstack",
    shard=sharding_rules.linear_in(sharding_rules.unstack),
    multiple_results=True,
    abstract=_unstack_abstract,
    lower=_unstack_lower,
    jvp=_unstack_jvp,
    transpose=_unstack_transpose,
    batch=_unstack_batch,
    reference=lambda x, *, axis: list(np.moveaxis(x, axis, 0)),
    cost=Cost.MOVE,
    taylor=families.linear_series(),
    exact=Exact.MOVES,
)


def unstack(x: ArrayLike, axis: int = 0) -> tuple[Array, ...]:
    """The slices of `x` along an axis, without that axis.

    Args:
      x: array.
      axis: the axis; may be negative.

    Returns:
      A tuple of as many arrays as the axis has elements.

    Raises:
      ValueError: there is no such axis.

    Source: `stablehlo.slice`.

    Example:
      >>> import numpy as np
      >>> from olympus import lax
      >>> lax.unstack(np.array([1, 2]))
      (Array(1, dtype=int32), Array(2, dtype=int32))
    """
    aval = avals.aval_of(x)
    axis = sizes_.canonicalize_axis(axis, aval.ndim, "lax.unstack")
    return tuple(unstack_p.bind(x, axis=axis)) if aval.shape[axis] else ()
