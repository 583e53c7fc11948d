"""Marks in a program: where gradients end, what may not be moved across or dropped."""

from __future__ import annotations

from typing import Any

import numpy as np

from olympus._src.core import dtypes
from olympus._src.core.array_type import PyTree
from olympus._src.core.avals import narrow_numpy
from olympus._src.core.effects import Effect
from olympus._src.core.primitive import Cost, Exact, Primitive
from olympus._src.core.symbolic_values import Zero
from olympus._src.core.trace import Tracer
from olympus._src.lax import families, shaping, sharding_rules
from olympus._src.lax.families import ShapedArray
from olympus._src.lowering import types
from olympus._src.tree import tree_flatten, tree_map, tree_unflatten

# -- stop_gradient ---------------------------------------------------------------------

stop_gradient_p: Primitive = Primitive(
    "stop_gradient",
    shard=sharding_rules.linear_in(sharding_rules.keep),
    abstract=lambda operand: operand,
    impl=narrow_numpy,
    lower=lambda ctx, x: x,
    batch=lambda axis, args, dims: (stop_gradient_p.bind(*args), dims[0]),
    transpose=lambda cts, x: [None],
    reference=lambda x: np.array(x),
    cost=Cost.BITS,
    may_make_nan=False,
    jvp=families.no_tangent,
    exact=Exact.MOVES,
)


def stop_gradient(x: PyTree) -> PyTree:
    """The same values, whose derivative is zero.

    Args:
      x: a pytree of arrays.

    Returns:
      A pytree of the same structure; differentiation treats its leaves as constants.

    Example:
      >>> olympus.grad(lambda x: x * lax.stop_gradient(x))(3.0)
      Array(3., dtype=float32, weak_type=True)
    """
    return tree_map(_stop, x)


def _stop(x: Any) -> Any:
    """Python's numbers stay what they are, but where they are recorded."""
    out = stop_gradient_p.bind(x)
    number = type(x) in dtypes.python_scalar_dtypes
    return x if number and not isinstance(out, Tracer) else out


# -- optimization_barrier --------------------------------------------------------------


def _barrier_jvp(primals: Any, tangents: Any) -> Any:
    outs = optimization_barrier_p.bind(*primals)
    nonzero = [t for t in tangents if type(t) is not Zero]
    out_tangents = iter(optimization_barrier_p.bind(*nonzero))
    return outs, [t if type(t) is Zero else next(out_tangents) for t in tangents]


def _barrier_transpose(cts: Any, *operands: Any) -> Any:
    nonzero = [ct for ct in cts if type(ct) is not Zero]
    in_cts = iter(optimization_barrier_p.bind(*nonzero))
    return [ct if type(ct) is Zero else next(in_cts) for ct in cts]


def _barrier_lower(ctx: Any, *operands: str) -> list[str]:
    if not operands:
        return []
    kinds = ", ".join([types.tensor_type(a) for a in ctx.avals_in])
    return ctx.block.emit_many(
        f"stablehlo.optimization_barrier {', '.join(operands)} : {kinds}", len(operands)
    )


optimization_barrier_p: Primitive = Primitive(
    "optimization_barrier",
    shard=sharding_rules.keep_each,
    multiple_results=True,
    abstract=lambda *operands: list(operands),
    lower=_barrier_lower,
    jvp=_barrier_jvp,
    transpose=_barrier_transpose,
    batch=lambda axis, args, dims: (optimization_barrier_p.bind(*args), dims),
    reference=lambda *operands: list(operands),
    may_make_nan=False,
    exact=Exact.MOVES,
)


def optimization_barrier(operand: PyTree, /) -> PyTree:
    """The same values, all computed before any of them is used.

    The compiler moves nothing across: neither is a part computed again after it, nor is
    anything before it merged with what comes after.

    Args:
      operand: a pytree of arrays.

    Returns:
      A pytree of the same structure.

    Source: `stablehlo.optimization_barrier`.

    Example:
      >>> lax.optimization_barrier(jnp.array([1, 2]))
      Array([1, 2], dtype=int32)
    """
    leaves, structure = tree_flatten(operand)
    return tree_unflatten(structure, optimization_barrier_p.bind(*leaves))


# -- stage -----------------------------------------------------------------------------

stage_p: Primitive = Primitive(
    "stage",
    shard=sharding_rules.keep,
    abstract=lambda operand: operand,
    lower=lambda ctx, x: x,
    batch=lambda axis, args, dims: (stage_p.bind(*args), dims[0]),
    transpose=lambda cts, x: [cts[0]],
    reference=lambda x: np.array(x),
    **families.LINEAR,
)


def stage(x: PyTree, /) -> PyTree:
    """The same value, as one of the program that is being traced.

    A number or a NumPy array becomes a value of the trace; outside of any, an array.

    Args:
      x: array or number.

    Returns:
      An array of x's type.

    Raises:
      TypeError: `x` is neither.

    Example:
      >>> from olympus import lax
      >>> lax.stage(1.0)
      Array(1., dtype=float32, weak_type=True)
    """
    return x if isinstance(x, Tracer) else stage_p.bind(x)


# -- dce_sink --------------------------------------------------------------------------


class Sink(Effect):
    """Keeps an equation whose results are unused."""

    __slots__ = ()
    lowerable = in_control_flow = in_remat = True


_SINK = frozenset((Sink(),))


def _sink_lower(ctx: Any, x: str, *, prevent_mlir_dce: bool) -> list[str]:
    if prevent_mlir_dce:
        kind = types.tensor_type(ctx.avals_in[0])
        ctx.block.emit(f"stablehlo.optimization_barrier {x} : {kind}")
    return []


def _sink_jvp(primals: Any, tangents: Any, **params: Any) -> Any:
    return dce_sink_p.bind(*primals, **params), []


dce_sink_p: Primitive = Primitive(
    "dce_sink",
    shard=sharding_rules.no_results,
    multiple_results=True,
    abstract=lambda operand, **params: [],
    effects=lambda operand, **params: _SINK,
    lower=_sink_lower,
    jvp=_sink_jvp,
    batch=lambda axis, args, dims, **params: (dce_sink_p.bind(*args, **params), []),
    reference=lambda operand, **params: [],
)


def dce_sink(val: PyTree, *, prevent_mlir_dce: bool = False) -> None:
    """Keeps values in a program although they are not used.

    Args:
      val: a pytree of arrays.
      prevent_mlir_dce: whether the text for the compiler keeps a use of them, too.

    Example:
      >>> import olympus
      >>> def f(x):
      ...     olympus.lax.dce_sink(x * 2.0)
      ...     return x
      >>> olympus.make_olympuspr(f)(1.0)
      { lambda ; a:f32[]. let
          b:f32[] = mul a 2.0:f32[]
          dce_sink[prevent_mlir_dce=False] b
        in (a,) }
    """
    for leaf in tree_flatten(val)[0]:
        dce_sink_p.bind(leaf, prevent_mlir_dce=bool(prevent_mlir_dce))


# -- tokens ----------------------------------------------------------------------------

_TOKEN = ShapedArray((0,), np.dtype(np.bool_))

create_token_p: Primitive = Primitive(
    "create_token",
    abstract=lambda: _TOKEN,
    lower=lambda ctx: ctx.block.constant(np.zeros(0, np.bool_), _TOKEN),
    reference=lambda: np.zeros(0, np.bool_),
)


def _after_all_lower(ctx: Any, *operands: str) -> str:
    """One of them, once all are there."""
    if not operands:
        return ctx.block.constant(np.zeros(0, np.bool_), _TOKEN)
    return _barrier_lower(ctx, *operands)[0]


def _after_all_abstract(*operands: Any) -> Any:
    for aval in operands:
        if aval is not _TOKEN:
            raise TypeError(
                f"lax.after_all: operands must be tokens, got {aval.short()}; make one "
                "by lax.create_token()"
            )
    return _TOKEN


def _after_all_batch(axis: Any, args: Any, dims: Any) -> Any:
    """Tokens hold nothing, so there is nothing to map."""
    tokens = [
        x
        if d is None
        else shaping.reshape_p.bind(
            x, new_sizes=_TOKEN.shape, dimensions=None, sharding=None
        )
        for x, d in zip(args, dims, strict=True)
    ]
    return after_all_p.bind(*tokens), None


after_all_p: Primitive = Primitive(
    "after_all",
    abstract=_after_all_abstract,
    batch=_after_all_batch,
    lower=_after_all_lower,
    reference=lambda *operands: np.zeros(0, np.bool_),
)


def create_token(_: PyTree = None) -> Any:
    """A token: an empty array of booleans, which stands for a point in time.

    What depends on it by `after_all` and `optimization_barrier` comes after it.

    Args:
      _: not used.

    Returns:
      Array bool[0].

    Example:
      >>> from olympus import lax
      >>> lax.create_token().shape
      (0,)
    """
    return create_token_p.bind()


def after_all(*operands: Any) -> Any:
    """A token that depends on all the given ones.

    Args:
      *operands: tokens.

    Returns:
      A token.

    Raises:
      TypeError: an operand is not a token.

    Source: `stablehlo.after_all`.

    Example:
      >>> from olympus import lax
      >>> lax.after_all(lax.create_token(), lax.create_token()).shape
      (0,)
    """
    return after_all_p.bind(*operands)
