"""Pairs of values that the compiler divides over a mesh in one way."""

from __future__ import annotations

from typing import Any

from olympus._src import tree
from olympus._src.core import avals
from olympus._src.core.array_type import PyTree
from olympus._src.core.primitive import Primitive
from olympus._src.core.symbolic_values import Zero
from olympus._src.lax import families, sharding_rules
from olympus._src.lowering import types


def _lower(ctx: Any, *operands: str) -> list[str]:
    if ctx.module.divided_over is not None:
        number = ctx.module.new_sharding_group()
        for x, aval in zip(operands, ctx.avals_in, strict=True):
            kind = types.tensor_type(aval)
            ctx.block.emit_many(f"sdy.sharding_group {x} group_id={number} : {kind}", 0)
    return list(operands)


def _apply_to_nonzero(values: Any) -> list[Any]:
    """Both, where neither is known to be zero; one alone goes with none."""
    if any(type(x) is Zero for x in values):
        return list(values)
    outs: list[Any] = shard_alike_p.bind(*values)
    return outs


def _batch(axis: Any, args: Any, dims: Any) -> Any:
    if dims[0] == dims[1]:
        return shard_alike_p.bind(*args), dims
    args = [families.at_front(axis, x, d) for x, d in zip(args, dims, strict=True)]
    return shard_alike_p.bind(*args), [0, 0]


shard_alike_p: Primitive = Primitive(
    "shard_alike",
    shard=sharding_rules.keep_each,
    multiple_results=True,
    abstract=lambda *operands: list(operands),
    lower=_lower,
    jvp=lambda primals, tangents: (
        shard_alike_p.bind(*primals),
        _apply_to_nonzero(tangents),
    ),
    transpose=lambda cts, *operands: _apply_to_nonzero(cts),
    batch=_batch,
    reference=lambda *operands: list(operands),
    may_make_nan=False,
)


def shard_alike(x: PyTree, y: PyTree) -> tuple[PyTree, PyTree]:
    """The same values, of which the compiler divides each of `x` as that of `y`.

    It says nothing about how that is: what is known of one holds for the other.

    Args:
      x: a pytree of arrays.
      y: a pytree of the same structure, of arrays of the same shapes.

    Returns:
      Both.

    Raises:
      ValueError: structures or shapes differ.

    Source: `sdy.sharding_group`.

    Example:
      >>> import olympus.numpy as jnp
      >>> from olympus.experimental.shard_alike import shard_alike
      >>> a, b = shard_alike(jnp.ones(2), jnp.zeros(2))
      >>> print(a, b)
      [1. 1.] [0. 0.]
    """
    xs, structure = tree.tree_flatten(x)
    ys, other = tree.tree_flatten(y)
    if structure != other:
        raise ValueError(
            f"shard_alike: x and y must be of one structure, got {structure} and "
            f"{other}; call it for parts that match"
        )
    pairs = [_pair(*row) for row in zip(xs, ys, strict=True)]
    return (
        structure.unflatten([a for a, _ in pairs]),
        structure.unflatten([b for _, b in pairs]),
    )


def _pair(x: Any, y: Any) -> list[Any]:
    shapes = [avals.aval_of(v).shape for v in (x, y)]
    if shapes[0] != shapes[1]:
        raise ValueError(
            f"shard_alike: x and y must be of one shape, got {shapes[0]} and "
            f"{shapes[1]}; name how each is divided by with_sharding_constraint"
        )
    pair: list[Any] = shard_alike_p.bind(x, y)
    return pair
