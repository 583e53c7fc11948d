"""What the functions that differentiate share: flat calls, positions, and checks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import FunctionType
from typing import Any

import numpy as np

from olympus._src import tree
from olympus._src.core import avals as avals_
from olympus._src.core import dtypes, ir, program_equality, trace
from olympus._src.core.symbolic_values import Zero
from olympus._src.foundation import source_info
from olympus._src.interpreters import ad, concrete_arrays, evaluate
from olympus._src.lax import families

ArrayImpl = concrete_arrays.ArrayImpl
float0 = dtypes.float0

# -- functions of leaves ---------------------------------------------------------------


class Found:
    """What a call of a user's function left beside its flat results."""

    __slots__ = ("aux", "structure")
    structure: Any
    aux: Any


def on_leaves(
    api: str, fun: Callable[..., Any], call: Any, structure: Any, has_aux: bool
) -> tuple[Callable[..., list[Any]], Found]:
    """A function of leaves that returns leaves, and where it notes the rest.

    Args:
      api: the public function, for messages.
      fun: the user's function, for messages.
      call: what to call with the arguments' trees; often `fun` itself.
      structure: of a sequence of the arguments.
      has_aux: the result is a pair, of which the second is no part of the mathematics.
    """
    out_info = Found()
    out_info.aux = None

    def flat(*leaves: Any) -> list[Any]:
        result = call(*structure.unflatten(leaves))
        if has_aux:
            result, aux = _pair(api, fun, result)
            out_info.aux = tree.tree_map(_auxiliary, aux)
        outs, out_info.structure = tree.tree_flatten(result)
        for i, x in enumerate(outs):
            if type(x) is not ad.JVPTracer and not avals_.is_array_like(x):
                raise TypeError(
                    f"{api}: {source_info.function_name(fun)} must return arrays, "
                    f"got {x!r} "
                    f"of type {type(x)} at result{leaf_path(out_info.structure, i)}; "
                    "return other values beside the result, with has_aux"
                )
        return outs

    return flat, out_info


def _pair(api: str, fun: Any, result: Any) -> Any:
    if isinstance(result, (tuple, list)) and len(result) == 2:
        return result
    got = type(result).__name__
    if isinstance(result, (tuple, list)):
        got += f" of length {len(result)}"
    raise TypeError(
        f"{api}: with has_aux, {source_info.function_name(fun)} must return a pair "
        "of its "
        f"result and an auxiliary value, got {got}; return (result, auxiliary)"
    )


def _auxiliary(x: Any) -> Any:
    return as_result(ad.primal_of(x)) if type(x) is ad.JVPTracer else x


_NUMBERS = frozenset((bool, int, float, complex))


def as_result(x: Any) -> Any:
    """A result, tangent or cotangent as the value that a user gets.

    Python's numbers, which no operation was applied to, stay what they are.
    """
    return x if type(x) in _NUMBERS else as_array(x)


def as_array(x: Any) -> Any:
    """A result, tangent or cotangent as an array."""
    kind = type(x)
    if kind is ArrayImpl:
        return x
    if kind is not Zero:
        return x if isinstance(x, trace.Tracer) else _concrete(x)
    aval = x.aval
    if aval.dtype == float0:
        return families.no_values(aval.shape)
    if not aval.shape or evaluate.is_evaluating():
        return concrete_arrays.from_host(np.zeros(aval.shape, aval.dtype), aval)
    return families.instantiate(x)


def _concrete(x: Any) -> Any:
    if isinstance(x, (np.ndarray, np.generic)) and x.dtype == float0:
        return x
    return concrete_arrays.as_array(x)


def with_still_arrays(leaves: list[Any], moving: Sequence[bool] | None) -> list[Any]:
    """Arguments as a function that is linearised sees them: all look like arrays.

    Those with a tangent are traced; the others, such as Python integers, become arrays.
    """
    arrays = list(leaves)
    for i, x in enumerate(leaves):
        kind = type(x)
        if kind is ArrayImpl or isinstance(x, trace.Tracer):
            continue
        aval = avals_.aval_of(x)
        if aval.to_tangent() is not aval or (moving is not None and not moving[i]):
            arrays[i] = as_array(x)
    return arrays


def one_like(aval: Any) -> Any:
    """The number 1 in a scalar's type; weak where Python's own is of that type."""
    if aval.weak_type:
        one = 1.0 if aval.dtype.kind == "f" else complex(1.0)
        if avals_.aval_of(one) is aval:
            return one
    return np.ones((), aval.dtype)[()]


def linear_alike(x: Any, y: Any) -> bool:
    """Whether two linear functions, held as `program` and `outs`, are the same."""
    if source_info.function_name(x.fun) != source_info.function_name(y.fun):
        return False  # messages would name the other
    zeros = [[None if o is None else o.aval for o in p.outs] for p in (x, y)]
    return zeros[0] == zeros[1] and program_equality.alike(x.program, y.program)


def debug_info(api: str, fun: Any) -> ir.DebugInfo:
    """Names of a function for messages about its trace."""
    return ir.DebugInfo(
        api, source_info.function_name(fun), source_info.function_location(fun)
    )


def check_callable(api: str, fun: Any) -> None:
    """Raises TypeError unless `fun` can be called."""
    if not callable(fun):
        raise TypeError(
            f"{api}: expected a callable, got {fun!r}; pass the function itself, not "
            "its result"
        )


def check_reduce_axes(api: str, reduce_axes: Any) -> None:
    """Raises NotImplementedError for an argument that only older programs give."""
    if reduce_axes:
        raise NotImplementedError(
            f"{api}: reduce_axes is no longer supported, got {reduce_axes!r}; leave it "
            "out, and sum over the mapped axis where you need that"
        )


def named(wrapper: Any, fun: Any, doc: str) -> Any:
    """Gives a wrapper the name and signature of the function it wraps."""
    name = source_info.function_name(fun)
    wrapper.__name__ = name
    wrapper.__qualname__ = getattr(fun, "__qualname__", name)
    wrapper.__module__ = getattr(fun, "__module__", wrapper.__module__)
    wrapper.__doc__ = doc
    wrapper.__wrapped__ = fun
    return wrapper


# -- places, in words ------------------------------------------------------------------


def leaf_path(structure: Any, i: int) -> str:
    """How the leaf number `i` of a tree is reached, as in `['w'][0]`."""
    path = _key_path(structure, i)
    return f" leaf {i}" if path is None else tree.keystr(path)


def _key_path(structure: Any, i: int) -> Any:
    """The keys to a leaf; None where a class of a user's refuses to hold numbers."""
    try:
        places = structure.unflatten(range(structure.num_leaves))
        return tree.tree_flatten_with_path(places)[0][i][0]
    except Exception:
        return None


def argument_path(fun: Any, structure: Any, i: int, positions: Any = None) -> str:
    """The leaf number `i` of a call's arguments, as in `params['w']`.

    Args:
      fun: the function that is called.
      structure: of a tuple or list of arguments.
      i: which of the leaves.
      positions: where those arguments stand in the call; from 0 if None.
    """
    path = _key_path(structure, i)
    if path is None:
        return f"leaf {i} of the arguments"
    first, *others = path
    position = first.idx if positions is None else positions[first.idx]
    return parameter_name(fun, position) + tree.keystr(tuple(others))


def parameter_name(fun: Any, position: int) -> str:
    """The name of a positional parameter; `argument 1` where it has none."""
    skipped = 0
    while not isinstance(fun, FunctionType):
        method = getattr(fun, "__func__", None)
        skipped += method is not None
        fun = method or getattr(fun, "__wrapped__", None)
        if fun is None:
            return f"argument {position}"
    while isinstance(getattr(fun, "__wrapped__", None), FunctionType):
        fun = fun.__wrapped__  # type: ignore[attr-defined]
    code = fun.__code__
    if position + skipped < code.co_argcount:
        return code.co_varnames[position + skipped]
    return f"argument {position}"


def mismatch(api: str, first: str, second: str, wanted: Any, given: Any) -> str:
    """Where a tree differs from a structure, in words.

    Args:
      api: the public function.
      first, second: names of what has the structure, and of the tree.
      wanted: the structure.
      given: the tree.
    """
    try:
        mismatches = tree.equality_errors(tree.skeleton(wanted), given)
    except Exception:  # a class of a user's refuses to hold what stands for leaves
        mismatches = []
    places = " and ".join([m.describe(first, second) for m in mismatches[:4]])
    text = f"{api}: {second} must have the structure of {first}, {wanted}, got "
    got = str(tree.tree_structure(given))
    return text + (f"{places} ({got})" if places else got)


# -- which arguments -------------------------------------------------------------------


def as_positions(api: str, argnums: Any) -> tuple[int, ...]:
    """`argnums` as a tuple of ints.

    Raises:
      TypeError: it holds something else.
      ValueError: it is empty.
    """
    try:
        if hasattr(argnums, "__index__"):
            return (argnums.__index__(),)
        positions = tuple([i.__index__() for i in argnums])
    except (TypeError, AttributeError):
        raise TypeError(
            f"{api}: argnums must be an int or a sequence of ints, got {argnums!r}"
        ) from None
    if not positions:
        raise ValueError(
            f"{api}: argnums must name at least one argument, got {argnums!r}"
        )
    return positions


def resolve(
    api: str, fun: Any, argnums: tuple[int, ...], count: int, kind: type[Exception]
) -> list[int]:
    """The positions of a call's arguments that `argnums` means.

    Args:
      api: the public function.
      fun: the user's function.
      argnums: may be negative.
      count: how many positional arguments the call has.
      kind: the error where there are too few.
    """
    positions = []
    for i in argnums:
        if not -count <= i < count:
            raise (kind if i >= 0 else ValueError)(
                f"{api}: differentiating with respect to argnums={i} requires at least "
                f"{i + 1 if i >= 0 else -i} positional arguments, but "
                f"{source_info.function_name(fun)} was called with only {count}; give "
                "differentiated arguments by position, not by keyword"
            )
        positions.append(i % count)
    if len(set(positions)) != len(positions):
        raise ValueError(
            f"{api}: argnums must name each argument once, got {argnums} for a call of "
            f"{source_info.function_name(fun)} with {count} positional arguments"
        )
    return positions


def of_chosen(fun: Any, args: Any, kwargs: Any, chosen: list[int]) -> Any:
    """`fun` as a function of some of its arguments, the others as given."""

    def call(*some: Any) -> Any:
        arguments = list(args)
        for i, x in zip(chosen, some, strict=True):
            arguments[i] = x
        return fun(*arguments, **kwargs)

    return call


# -- checks of types -------------------------------------------------------------------


def check_input(x: Any, api: str, where: Any, holomorphic: bool, accepts: str) -> None:
    """Raises TypeError where an argument cannot be differentiated.

    Args:
      x: a leaf of an argument.
      api: the public function.
      where: called for the argument's path, for the message.
      holomorphic: it must be complex.
      accepts: 'real', 'inexact' (also complex) or 'any'.
    """
    if not avals_.is_array_like(x):
        raise TypeError(
            f"{api}: {where()} must be an array, got {x!r} of type {type(x)}; pass "
            "what is no array in an argument that is not differentiated"
        )
    aval = avals_.aval_of(x)
    dtype = aval.dtype
    if holomorphic:
        if not dtypes.issubdtype(dtype, np.complexfloating):
            raise TypeError(
                f"{api} with holomorphic=True requires inputs with complex dtype, but "
                f"got {aval.short()} for {where()}; convert it to complex"
            )
        return
    if accepts == "any" or dtypes.issubdtype(dtype, np.floating):
        return
    if accepts == "inexact" and dtypes.issubdtype(dtype, np.complexfloating):
        return
    raise TypeError(_refusal_message(api, aval, where(), accepts))


def _refusal_message(api: str, aval: Any, where: str, accepts: str) -> str:
    dtype = aval.dtype
    if accepts == "inexact":
        cure = "convert it to float, or set allow_int=True for a gradient of float0"
        if isinstance(dtype, dtypes.ExtendedDType):
            cure = "differentiate with respect to the other arguments"
        text = f"{api} requires real- or complex-valued inputs"
    else:
        cure = "convert it to float, or push a tangent through with jvp"
        if dtypes.issubdtype(dtype, np.complexfloating):
            cure = "set holomorphic=True if the function is complex differentiable"
        text = f"{api} requires real-valued inputs"
    return f"{text} (of floating dtype), but got {aval.short()} for {where}; {cure}"


def check_output(x: Any, api: str, where: Any, holomorphic: bool) -> None:
    """Raises TypeError where a result has no gradient.

    Args:
      x: a leaf of the result.
      api: the public function.
      where: called for the result's name, for the message.
      holomorphic: it must be complex, else real.
    """
    aval = avals_.aval_of(x)
    if holomorphic:
        if not dtypes.issubdtype(aval.dtype, np.complexfloating):
            raise TypeError(
                f"{api} with holomorphic=True requires outputs with complex dtype, but "
                f"{where()} is {aval.short()}; leave holomorphic out"
            )
        return
    if dtypes.issubdtype(aval.dtype, np.floating):
        return
    cure = "its derivative is zero; return a float, or use vjp"
    if dtypes.issubdtype(aval.dtype, np.complexfloating):
        cure = (
            "take its real part, set holomorphic=True if the function is complex "
            "differentiable, or use vjp"
        )
    raise TypeError(
        f"{api} requires real-valued outputs (of floating dtype), but {where()} is "
        f"{aval.short()}; {cure}"
    )


def check_types(
    given: Sequence[Any],
    wanted: Sequence[Any],
    complain: Callable[[int, Any, Any], Exception],
    any_for_float0: bool = False,
) -> None:
    """Compares the types of tangents or cotangents with those they must have.

    Args:
      given: the values.
      wanted: their avals; weakness does not matter.
      complain: makes the error from the position, the aval wanted and that given.
      any_for_float0: admit anything where nothing flows.
    """
    for i, (x, want) in enumerate(zip(given, wanted, strict=True)):
        aval = avals_.aval_of(x)
        if aval is want or (any_for_float0 and want.dtype == float0):
            continue
        if aval.shape != want.shape or aval.dtype != want.dtype:
            raise complain(i, want, aval)
