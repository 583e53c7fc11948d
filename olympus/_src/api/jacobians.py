"""`jacfwd`, `jacrev` and `hessian`: all partial derivatives, as arrays."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ParamSpec

import numpy as np

from olympus._src.api import differentiation as common
from olympus._src.core import avals as avals_
from olympus._src.core import ir
from olympus._src.core.symbolic_values import Zero
from olympus._src.foundation import tracebacks
from olympus._src.interpreters import ad, batching, concrete_arrays, evaluate
from olympus._src.lax import (
    choice,
    comparison,
    concatenation,
    elementwise,
    families,
    shaping,
)

P = ParamSpec("P")


def jacfwd(
    fun: Callable[P, Any],
    argnums: int | Sequence[int] = 0,
    has_aux: bool = False,
    holomorphic: bool = False,
) -> Callable[P, Any]:
    """The Jacobian of a function, column by column in forward mode.

    The cost grows with the number of inputs, which suits functions with few of them.

    Args:
      fun: a function of arrays and pytrees of them.
      argnums: the positional argument or arguments to differentiate with respect to.
      has_aux: `fun` returns a pair of its result and an auxiliary value.
      holomorphic: `fun` is complex differentiable.

    Returns:
      A function of `fun`'s arguments. In the structure of the result it has at each
      leaf the structure of the chosen argument (a tuple for several), with arrays of
      the result's shape followed by the argument's, and of the result's dtype.
      With `has_aux` a pair of that and the auxiliary value.

    Raises:
      TypeError: when called: arguments are not real (complex with `holomorphic`).
      ValueError: when called: `argnums` is out of range.

    Example:
      >>> import olympus, olympus.numpy as onp
      >>> print(olympus.jacfwd(onp.square)(onp.array([1.0, 2.0])))
      [[2. 0.]
       [0. 4.]]
    """
    plan = common.Plan("jacfwd", fun, argnums, has_aux, holomorphic, "real")

    def jacobian_function(*args: P.args, **kwargs: P.kwargs) -> Any:
        try:
            jacobian, aux = _forward(plan, args, kwargs)
        except Exception as error:
            tracebacks.hide(error)
            raise
        return (jacobian, aux) if has_aux else jacobian

    return _named(jacobian_function, plan)


def jacrev(
    fun: Callable[P, Any],
    argnums: int | Sequence[int] = 0,
    has_aux: bool = False,
    holomorphic: bool = False,
    allow_int: bool = False,
) -> Callable[P, Any]:
    """The Jacobian of a function, row by row in reverse mode.

    The cost grows with the number of results, which suits functions with few of them.

    Args:
      fun: a function of arrays and pytrees of them.
      argnums: the positional argument or arguments to differentiate with respect to.
      has_aux: `fun` returns a pair of its result and an auxiliary value.
      holomorphic: `fun` is complex differentiable.
      allow_int: accept integer arguments; their derivatives are zeros of their dtype.

    Returns:
      A function of `fun`'s arguments. In the structure of the result it has at each
      leaf the structure of the chosen argument (a tuple for several), with arrays of
      the result's shape followed by the argument's, and of the argument's dtype.
      With `has_aux` a pair of that and the auxiliary value.

    Raises:
      TypeError: when called: arguments or results are not floating.
      ValueError: when called: `argnums` is out of range.

    Example:
      >>> import olympus, olympus.numpy as onp
      >>> print(olympus.jacrev(onp.square)(onp.array([1.0, 2.0])))
      [[2. 0.]
       [0. 4.]]
    """
    accepts = "any" if allow_int else "inexact"
    plan = common.Plan("jacrev", fun, argnums, has_aux, holomorphic, accepts)

    def jacobian_function(*args: P.args, **kwargs: P.kwargs) -> Any:
        try:
            jacobian, aux = _reverse(plan, args, kwargs)
        except Exception as error:
            tracebacks.hide(error)
            raise
        return (jacobian, aux) if has_aux else jacobian

    return _named(jacobian_function, plan)


jacobian = jacrev


def hessian(
    fun: Callable[P, Any],
    argnums: int | Sequence[int] = 0,
    has_aux: bool = False,
    holomorphic: bool = False,
) -> Callable[P, Any]:
    """The second derivatives of a function: forward mode over reverse mode.

    Args:
      fun: a function of arrays and pytrees of them.
      argnums: the positional argument or arguments to differentiate with respect to.
      has_aux: `fun` returns a pair of its result and an auxiliary value.
      holomorphic: `fun` is complex differentiable.

    Returns:
      A function of `fun`'s arguments. In the structure of the result it has at each
      leaf the structure of the chosen argument twice, one in the other, with arrays of
      the result's shape followed by those of the two arguments. With `has_aux` a pair
      of that and the auxiliary value.

    Raises:
      TypeError: when called: arguments or results are not floating.
      ValueError: when called: `argnums` is out of range.

    Example:
      >>> import olympus, olympus.numpy as onp
      >>> f = lambda x: x[0] * x[1] ** 2
      >>> print(olympus.hessian(f)(onp.array([1.0, 2.0])))
      [[0. 4.]
       [4. 2.]]
    """
    inner = jacrev(fun, argnums, has_aux, holomorphic)
    return jacfwd(inner, argnums, has_aux, holomorphic)


def _named(wrapper: Any, plan: common.Plan) -> Any:
    argnums = plan.positions[0] if plan.single else plan.positions
    doc = (
        f"Jacobian of {plan.name} by positional argument {argnums}; takes the "
        f"arguments of {plan.name}."
    )
    return common.named(wrapper, plan.fun, doc)


# -- forward and reverse ---------------------------------------------------------------


def _forward(plan: common.Plan, args: Any, kwargs: Any) -> tuple[Any, Any]:
    call, leaves, structure = plan.arguments(args, kwargs)
    flat, out_info = common.on_leaves(plan.api, plan.fun, call, structure, plan.has_aux)
    avals = [avals_.aval_of(x) for x in leaves]
    outs: list[Any] = []
    info = ir.DebugInfo.of(plan.api, plan.fun)

    def push(*tangents: Any) -> list[Any]:
        outs[:], slopes = ad.jvp(flat, leaves, tangents, info)
        return slopes

    columns = _apply_to_basis(push, avals)
    if plan.holomorphic:
        plan.check_outputs(outs, out_info.structure)
    jacobians = []
    for column, x in zip(columns, outs, strict=True):
        out = avals_.aval_of(x)
        if type(column) is Zero:
            blocks = _zero_blocks(out, [(out.shape, a.shape) for a in avals])
        else:
            # From (inputs, *out) to (*out, inputs), so that each row is in one piece.
            last = families.move_axis(column, 0, len(out.shape))
            parts = _split_blocks(last, [a.size for a in avals], len(out.shape))
            blocks = [
                shaping.reshape(part, (*out.shape, *a.shape))
                for part, a in zip(parts, avals, strict=True)
            ]
        jacobians.append(plan.inputs(structure, blocks))
    return out_info.structure.unflatten(jacobians), out_info.aux


def _reverse(plan: common.Plan, args: Any, kwargs: Any) -> tuple[Any, Any]:
    call, leaves, structure = plan.arguments(args, kwargs)
    flat, out_info = common.on_leaves(plan.api, plan.fun, call, structure, plan.has_aux)
    leaves = common.with_still_arrays(leaves, None)
    outs, linear = ad.linearize(flat, leaves, ir.DebugInfo.of(plan.api, plan.fun))
    plan.check_outputs(outs, out_info.structure)
    out_avals = [avals_.aval_of(x) for x in outs]
    rows = _apply_to_basis(lambda *cts: linear.transpose(cts), out_avals)
    sizes = [a.size for a in out_avals]
    by_input = []
    for row, x in zip(rows, leaves, strict=True):
        aval = avals_.aval_of(x)
        if type(row) is Zero:
            shapes = [(a.shape, aval.shape) for a in out_avals]
            by_input.append(_zero_blocks(aval, shapes))
            continue
        by_input.append(
            [
                shaping.reshape(part, (*a.shape, *aval.shape))
                for part, a in zip(_split_blocks(row, sizes, 0), out_avals, strict=True)
            ]
        )
    jacobians = [
        plan.inputs(structure, [blocks[k] for blocks in by_input])
        for k in range(len(outs))
    ]
    return out_info.structure.unflatten(jacobians), out_info.aux


def _apply_to_basis(linear: Callable[..., Any], avals: Sequence[Any]) -> list[Any]:
    """A linear function at all basis vectors, as arrays with one more axis in front.

    Results that are zero for all of them are Zeros.
    """
    count = sum(a.size for a in avals)
    if not avals or not count:
        return [_no_rows(t) for t in linear(*[Zero(a) for a in avals])]
    if len(avals) == 1 and not avals[0].shape:  # one number needs no loop
        derivatives = linear(common.one_like(avals[0]))
        return [
            t if type(t) is Zero else families.insert_axis(common.as_array(t), 0, 1)
            for t in derivatives
        ]
    zeros: list[Any] = []

    def nonzero_rows(*basis: Any) -> list[Any]:
        rows = linear(*basis)
        zeros[:] = [t if type(t) is Zero else None for t in rows]
        return [t for t in rows if type(t) is not Zero]

    axis = batching.AxisData(None, count)
    outs, dims = batching.batch(
        nonzero_rows, axis, make_basis(avals, count), [0] * len(avals)
    )
    nonzero = iter(map(families.at_front, [axis] * len(outs), outs, dims))
    return [next(nonzero) if z is None else z for z in zeros]


def _no_rows(t: Any) -> Any:
    return t if type(t) is Zero else Zero(avals_.aval_of(t))


def make_basis(avals: Sequence[Any], count: int) -> list[Any]:
    """The rows of a unit matrix, as leaves of these types with an axis in front."""
    blocks = []
    start = 0
    for a in avals:
        blocks.append(_unit_rows(a, start, count))
        start += a.size
    return blocks


def _unit_rows(aval: Any, start: int, count: int) -> Any:
    """Columns `start` onwards of a unit matrix, each row in the shape of `aval`."""
    whole = aval.with_leading_axis(count)
    if evaluate.is_evaluating():
        rows = np.eye(count, aval.size, -start, dtype=np.bool_)
        rows = rows.astype(aval.dtype).reshape(whole.shape)
        return concrete_arrays.put(rows, whole)
    row = shaping.broadcasted_iota(np.int32, (count, aval.size), 0)
    column = shaping.broadcasted_iota(np.int32, (count, aval.size), 1)
    if start:
        column = elementwise.add(column, np.int32(start))
    unit = choice.convert(comparison.eq(row, column), aval.dtype, aval.weak_type)
    return shaping.reshape(unit, whole.shape)


def _split_blocks(x: Any, sizes: Sequence[int], axis: int) -> Sequence[Any]:
    return [x] if len(sizes) == 1 else concatenation.split(x, sizes, axis)


def _zero_blocks(aval: Any, shapes: Sequence[Any]) -> list[Any]:
    """Zeros of a type's dtype for pairs of a result's and an argument's shape."""
    return [
        common.as_array(Zero(aval.update(shape=(*out_shape, *in_shape))))
        for out_shape, in_shape in shapes
    ]
