"""`linear_call`: a linear function with a transpose that its user writes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from olympus._src.api import custom_calls
from olympus._src.core import avals as avals_
from olympus._src.core.array_type import PyTree
from olympus._src.custom_rules.linear_call import linear_call_p
from olympus._src.foundation import tracebacks
from olympus._src.programs import functions, inner_programs


@tracebacks.api_boundary
def linear_call(
    fun: Callable[..., Any],
    fun_transpose: Callable[..., Any],
    residual_args: PyTree,
    linear_args: PyTree,
) -> PyTree:
    """Calls a linear function that has a custom transpose.

    Args:
      fun: called as `fun(residual_args, linear_args)`, linear in the latter.
      fun_transpose: called as `fun_transpose(residual_args, cotangent)` with a value
        like `fun`'s result, returns one like `linear_args`. Its own transpose is `fun`.
      residual_args: an array, or a tree of arrays.
      linear_args: an array, or a tree of arrays.

    Returns:
      The result of `fun`.

    Raises:
      TypeError: `fun` or `fun_transpose` is not a function, arguments are not arrays,
        or results do not have the structure and types that they must.

    Example:
      >>> import olympus
      >>> from olympus.custom_derivatives import linear_call
      >>> def divide(x, by):
      ...     fun = lambda by, x: x / by
      ...     transpose = lambda by, ct: 10 * ct / by  # tenfold, to be seen
      ...     return linear_call(fun, transpose, by, x)
      >>> print(divide(6.0, 2.0), olympus.grad(divide)(6.0, 2.0))
      3.0 5.0
    """
    custom_calls.check_rule("linear_call", "fun", fun)
    custom_calls.check_rule("linear_call", "fun_transpose", fun_transpose)
    residuals, residual_tree = inner_programs.flatten_operands(
        "linear_call", "residual_args", residual_args
    )
    linear, in_tree = inner_programs.flatten_operands(
        "linear_call", "linear_args", linear_args
    )
    results = custom_calls.Results()
    n = len(residuals)

    def call(*flat: Any) -> list[Any]:
        out = fun(residual_tree.unflatten(flat[:n]), in_tree.unflatten(flat[n:]))
        outs, results.structure = custom_calls.flatten_results("linear_call", fun, out)
        return outs

    in_avals = [avals_.aval_of(x) for x in linear]

    def back(*flat: Any) -> list[Any]:
        cotangent = results.structure.unflatten(flat[n:])
        result = fun_transpose(residual_tree.unflatten(flat[:n]), cotangent)
        return _check_transposed(fun_transpose, result, in_tree, in_avals)

    outs = linear_call_p.bind(
        *residuals,
        *linear,
        call_jaxpr=functions.Function(call, fun),
        transpose=functions.Function(back, fun_transpose),
        num_consts=0,
        num_res=n,
    )
    return results.structure.unflatten(outs)


def _check_transposed(
    fun: Any, result: Any, structure: Any, linear_avals: Any
) -> list[Any]:
    """Leaves of the transpose's result, which must be like the linear arguments."""
    outs, out_structure = custom_calls.flatten_results("linear_call", fun, result)
    described = f"linear_call: fun_transpose {inner_programs.fun_text(fun)} must return"
    if out_structure != structure:
        where = inner_programs.structure_mismatch(
            out_structure, structure, "its result", "linear_args"
        )
        raise TypeError(
            f"{described} a value in the structure of linear_args, got {where}"
        )
    avals = [avals_.aval_of(x) for x in outs]
    unmapped = [a.to_tangent() for a in linear_avals]
    wrong = inner_programs.type_mismatches(structure, avals, unmapped, "result")
    if wrong:
        raise TypeError(
            f"{described} values of the types of linear_args; {'; '.join(wrong)}"
        )
    return outs
