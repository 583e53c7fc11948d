"""`grad` and its kin: what users call to differentiate."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from olympus._src import tree
from olympus._src.core import avals as avals_
from olympus._src.core import dtypes, ir
from olympus._src.core.rules import Zero
from olympus._src.foundation import source, tracebacks
from olympus._src.interpreters import ad
from olympus._src.lax import families


def _flat(fun: Callable[..., Any], structure: Any, found: list[Any]) -> Any:
    """`fun` on leaves; leaves the structure of its result in `found`."""

    def flat(*leaves: Any) -> list[Any]:
        outs, out_structure = tree.tree_flatten(fun(*structure.unflatten(leaves)))
        found[:] = [out_structure]
        return outs

    return flat


@tracebacks.api_boundary
def jvp(
    fun: Callable[..., Any], primals: Sequence[Any], tangents: Sequence[Any]
) -> tuple[Any, Any]:
    """The value of a function and its derivative along given tangents.

    Args:
      fun: a function of arrays and pytrees of them.
      primals: its arguments.
      tangents: a direction for each, of the same structure, shapes and dtypes.

    Returns:
      A pair of the result and its tangent.

    Raises:
      TypeError: the tangents do not match the primals.

    Example:
      >>> import olympus, olympus.numpy as onp
      >>> value, slope = olympus.jvp(onp.square, (3.0,), (1.0,))
      >>> print(value, slope)
      9.0 6.0
    """
    if not isinstance(primals, (tuple, list)) or not isinstance(
        tangents, (tuple, list)
    ):
        raise TypeError(
            "jvp: primals and tangents must be tuples or lists with an entry for each "
            f"argument, got {type(primals).__name__} and {type(tangents).__name__}"
        )
    flat_primals, structure = tree.tree_flatten(tuple(primals))
    flat_tangents, tangent_structure = tree.tree_flatten(tuple(tangents))
    if structure != tangent_structure:
        raise TypeError(
            "jvp: primals and tangents must have one structure, got "
            f"{structure} and {tangent_structure}"
        )
    for x, t in zip(flat_primals, flat_tangents, strict=True):
        _check_tangent(x, t)
    found: list[Any] = []
    outs, out_tangents = ad.jvp(
        _flat(fun, structure, found), flat_primals, flat_tangents
    )
    out_tangents = [_as_value(t) for t in out_tangents]
    return found[0].unflatten(outs), found[0].unflatten(out_tangents)


def _check_tangent(x: Any, t: Any) -> None:
    wanted, given = avals_.aval_of(x).to_tangent(), avals_.aval_of(t)
    if wanted.shape != given.shape or wanted.dtype != given.dtype:
        raise TypeError(
            f"jvp: a tangent must have its primal's shape and tangent dtype, got "
            f"{given.short()} for a primal of type {avals_.aval_of(x).short()}, which "
            f"needs {wanted.short()}"
        )


def _as_value(t: Any) -> Any:
    if type(t) is not Zero:
        return t
    if t.aval.dtype == dtypes.float0:
        return np.zeros(t.aval.shape, dtypes.float0)
    return families.instantiate(t)


@tracebacks.api_boundary
def linearize(fun: Callable[..., Any], *primals: Any) -> tuple[Any, Callable[..., Any]]:
    """The value of a function and its derivative at that point, as a linear function.

    Args:
      fun: a function of arrays and pytrees of them.
      *primals: its arguments.

    Returns:
      A pair of the result, and a function from tangents to the result's tangent.
    """
    leaves, structure = tree.tree_flatten(primals)
    found: list[Any] = []
    outs, linear = ad.linearize(_flat(fun, structure, found), leaves, _info(fun))

    @tracebacks.api_boundary
    def derivative(*tangents: Any) -> Any:
        flat, given = tree.tree_flatten(tangents)
        if given != structure:
            raise TypeError(
                f"linearize: tangents must have the primals' structure {structure}, "
                f"got {given}"
            )
        return found[0].unflatten([_as_value(t) for t in linear.apply(flat)])

    return found[0].unflatten(outs), derivative


@tracebacks.api_boundary
def vjp(fun: Callable[..., Any], *primals: Any, has_aux: bool = False) -> Any:
    """The value of a function and its derivative's transpose at that point.

    Args:
      fun: a function of arrays and pytrees of them.
      *primals: its arguments.
      has_aux: `fun` returns a pair, of which the second is passed through.

    Returns:
      The result and a function from its cotangent to a tuple of cotangents of the
      arguments; with `has_aux` also the auxiliary value.
    """
    leaves, structure = tree.tree_flatten(primals)
    aux: list[Any] = []
    inner = _without_aux(fun, aux) if has_aux else fun
    found: list[Any] = []
    outs, linear = ad.linearize(_flat(inner, structure, found), leaves, _info(fun))
    out = found[0].unflatten(outs)

    @tracebacks.api_boundary
    def pullback(cotangent: Any) -> Any:
        flat, given = tree.tree_flatten(cotangent)
        if given != found[0]:
            raise TypeError(
                f"vjp: the cotangent must have the result's structure {found[0]}, got "
                f"{given}"
            )
        return structure.unflatten([_as_value(ct) for ct in linear.transpose(flat)])

    return (out, pullback, aux[0]) if has_aux else (out, pullback)


def _without_aux(fun: Any, aux: list[Any]) -> Any:
    def first(*args: Any) -> Any:
        result = fun(*args)
        if not isinstance(result, tuple) or len(result) != 2:
            raise TypeError(
                f"has_aux: {source.function_name(fun)} must return a pair of a result "
                f"and an auxiliary value, got {type(result).__name__}"
            )
        aux[:] = [tree.tree_map(_primal_of, result[1])]
        return result[0]

    return first


def _primal_of(x: Any) -> Any:
    return x.primal if type(x) is ad.JVPTracer else x


def _info(fun: Any) -> ir.DebugInfo:
    return ir.DebugInfo(
        "linearize", source.function_name(fun), source.function_location(fun)
    )


def value_and_grad(
    fun: Callable[..., Any],
    argnums: int | Sequence[int] = 0,
    has_aux: bool = False,
    holomorphic: bool = False,
    allow_int: bool = False,
) -> Callable[..., Any]:
    """A function that returns both the value and the gradient of `fun`.

    Args:
      fun: returns a real scalar (a complex one with `holomorphic`).
      argnums: the argument or arguments to differentiate with respect to.
      has_aux: `fun` returns a pair of the scalar and an auxiliary value.
      holomorphic: `fun` is complex differentiable.
      allow_int: admit integer arguments; their gradients have dtype float0.

    Raises:
      TypeError: the result is no scalar, or arguments are not floating.
    """
    several = not isinstance(argnums, int)
    name = source.function_name(fun)

    @tracebacks.api_boundary
    def differentiated(*args: Any, **kwargs: Any) -> Any:
        chosen = [_position(i, len(args), name) for i in _tuple(argnums)]
        for i in chosen:
            for leaf in tree.tree_leaves(args[i]):
                _check_input(leaf, name, holomorphic, allow_int)

        def of_chosen(*some: Any) -> Any:
            given = list(args)
            for i, x in zip(chosen, some, strict=True):
                given[i] = x
            return fun(*given, **kwargs)

        out = vjp(of_chosen, *[args[i] for i in chosen], has_aux=has_aux)
        value, pullback = out[0], out[1]
        _check_output(value, name, holomorphic)
        grads = pullback(families.ones_like(value))
        grads = grads if several else grads[0]
        return ((value, out[2]) if has_aux else value), grads

    differentiated.__name__ = differentiated.__qualname__ = name
    differentiated.__doc__ = f"Value and gradient of {name}."
    differentiated.__wrapped__ = fun  # type: ignore[attr-defined]
    return differentiated


def grad(
    fun: Callable[..., Any],
    argnums: int | Sequence[int] = 0,
    has_aux: bool = False,
    holomorphic: bool = False,
    allow_int: bool = False,
) -> Callable[..., Any]:
    """The gradient of a scalar function, as a function.

    Args: as those of `value_and_grad`.

    Returns:
      A function of `fun`'s arguments that returns the gradient, in the structure of the
      chosen argument (a tuple of them for several); with `has_aux` a pair of it and the
      auxiliary value.

    Example:
      >>> import olympus
      >>> olympus.grad(lambda x: x * x)(3.0)
      Array(6., dtype=float32, weak_type=True)
    """
    both = value_and_grad(fun, argnums, has_aux, holomorphic, allow_int)

    @tracebacks.api_boundary
    def gradient(*args: Any, **kwargs: Any) -> Any:
        value, grads = both(*args, **kwargs)
        return (grads, value[1]) if has_aux else grads

    gradient.__name__ = gradient.__qualname__ = source.function_name(fun)
    gradient.__doc__ = f"Gradient of {source.function_name(fun)}."
    gradient.__wrapped__ = fun  # type: ignore[attr-defined]
    return gradient


def _tuple(argnums: Any) -> tuple[int, ...]:
    return (argnums,) if isinstance(argnums, int) else tuple(argnums)


def _position(i: int, count: int, name: str) -> int:
    if not -count <= i < count:
        raise ValueError(
            f"grad: argnums {i} is out of range, {name} was called with {count} "
            "positional arguments"
        )
    return i % count


def _check_input(x: Any, name: str, holomorphic: bool, allow_int: bool) -> None:
    if not avals_.is_array_like(x):
        raise TypeError(
            f"grad: arguments of {name} must be arrays, got {x!r} of type {type(x)}"
        )
    dtype = avals_.aval_of(x).dtype
    if holomorphic and not dtypes.issubdtype(dtype, np.complexfloating):
        raise TypeError(
            "grad with holomorphic=True requires complex inputs, got "
            f"{dtype} for {name}"
        )
    if dtypes.issubdtype(dtype, np.floating) or allow_int:
        return
    if dtypes.issubdtype(dtype, np.complexfloating) and holomorphic:
        return
    raise TypeError(
        f"grad requires real-valued (floating) inputs, got {dtype} in a call of "
        f"{name}; convert it to a float, or see allow_int and holomorphic"
    )


def _check_output(x: Any, name: str, holomorphic: bool) -> None:
    if not avals_.is_array_like(x):
        raise TypeError(
            f"grad: {name} must return one scalar array, got {x!r} of type {type(x)}; "
            "use has_aux for more results"
        )
    aval = avals_.aval_of(x)
    if aval.shape:
        raise TypeError(
            f"Gradient only defined for scalar-output functions. {name} returned "
            f"{aval.short()}; sum it, or use jacrev"
        )
    wanted = np.complexfloating if holomorphic else np.floating
    if not dtypes.issubdtype(aval.dtype, wanted):
        raise TypeError(
            f"grad: {name} must return a "
            f"{'complex' if holomorphic else 'real floating'} scalar, "
            f"got {aval.short()}"
        )
