"""Entry points to derivatives of flat functions and programs, for libraries."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from olympus._src.core import ir
from olympus._src.core.symbolic_values import Linear, Zero
from olympus._src.foundation import source_info
from olympus._src.interpreters import ad
from olympus._src.lax import families


def _caller(fun: Any) -> Callable[..., Any]:
    return getattr(fun, "call_wrapped", fun)


class _Auxiliary:
    """A function of flat arguments without the auxiliary value that it also returns."""

    __slots__ = ("fun", "value")

    def __init__(self, fun: Any) -> None:
        self.fun = fun
        self.value: Any = None

    def __call__(self, *args: Any) -> Any:
        outs, aux = _caller(self.fun)(*args)
        # Of the program's own trace, which ends: auxiliary values have no tangents.
        self.value = aux
        return outs


def _instantiate(tangents: Sequence[Any], wanted: bool | Sequence[bool]) -> list[Any]:
    flags = [wanted] * len(tangents) if isinstance(wanted, bool) else list(wanted)
    return [
        families.instantiate(t) if w else t
        for t, w in zip(tangents, flags, strict=True)
    ]


def _primal(x: Any) -> Any:
    return x.primal if type(x) is ad.JVPTracer else x


def jvp(
    fun: Any,
    primals: Sequence[Any],
    tangents: Sequence[Any],
    has_aux: bool = False,
    instantiate: bool | Sequence[bool] = True,
    transform_stack: bool = True,
) -> Any:
    """Results of a function of flat arguments, and their tangents.

    Args:
      fun: takes arrays, returns a sequence of arrays; may be a
        `linear_util.WrappedFun`.
      primals: the arguments.
      tangents: a tangent, or a `Zero`, for each.
      has_aux: `fun` returns a pair of results and another list of arrays.
      instantiate: results whose tangent is an array even if it is zero; one flag, or
        one for each.
      transform_stack: has no effect.

    Returns:
      Lists of results and of tangents, and with `has_aux` the other list.

    Example:
      >>> from olympus.interpreters import ad
      >>> (product,), (slope,) = ad.jvp(lambda x, y: [x * y], (2.0, 3.0), (1.0, 0.0))
      >>> print(product, slope)
      6.0 3.0
    """
    del transform_stack
    called: Any = _Auxiliary(fun) if has_aux else _caller(fun)
    outs, out_tangents = ad.jvp(lambda *xs: list(called(*xs)), primals, tangents)
    out_tangents = _instantiate(out_tangents, instantiate)
    if not has_aux:
        return outs, out_tangents
    return outs, out_tangents, list(map(_primal, called.value))


def jvp_olympuspr(
    olympuspr: ir.ClosedOlympuspr,
    nonzeros: Sequence[bool],
    instantiate: bool | Sequence[bool],
) -> tuple[ir.ClosedOlympuspr, list[bool]]:
    """The program of values and tangents.

    Args:
      olympuspr: the program.
      nonzeros: which inputs have a nonzero tangent.
      instantiate: which outputs have one even if it is zero; one flag, or one for each.

    Returns:
      A program of inputs and their nonzero tangents, which returns outputs and their
      nonzero tangents; and which outputs have one.
    """
    count = len(olympuspr.out_avals)
    wanted = [instantiate] * count if isinstance(instantiate, bool) else instantiate
    closed, out_nonzeros = ad.jvp_olympuspr(olympuspr.olympuspr, nonzeros, wanted)
    n, program = len(olympuspr.consts), closed.olympuspr
    program = program.replace(
        constvars=program.constvars + program.invars[:n], invars=program.invars[n:]
    )
    consts = [*closed.consts, *olympuspr.consts]
    return ir.ClosedOlympuspr(program, consts), out_nonzeros


def linearize(
    traceable: Any,
    primals_ft: Sequence[Any],
    has_aux: bool = False,
    is_vjp: bool = False,
    in_nzs: Sequence[bool] | None = None,
) -> Any:
    """Results of a function of flat arguments, and its derivative as a linear program.

    Args:
      traceable: takes arrays, returns a sequence of arrays.
      primals_ft: the arguments.
      has_aux: it returns a pair of results and another list of arrays.
      is_vjp: has no effect.
      in_nzs: which arguments have a nonzero tangent; None for all but integers.

    Returns:
      The results; for each whether its tangent is zero; a program of tangents of the
      arguments that returns the others; the values of its constants; and with `has_aux`
      the other list.
    """
    del is_vjp
    called: Any = _Auxiliary(traceable) if has_aux else _caller(traceable)
    inner = getattr(traceable, "f", traceable)
    info = ir.DebugInfo("linearize", source_info.function_name(inner))
    outs, linear = ad.linearize(
        lambda *xs: list(called(*xs)), list(primals_ft), info, nonzero=in_nzs
    )
    zeros = [z is not None for z in linear.outs]
    if not has_aux:
        return outs, zeros, linear.program, linear.consts
    aux = list(map(_primal, called.value))
    return outs, zeros, linear.program, linear.consts, aux


def backward_pass(
    olympuspr: ir.Olympuspr,
    transform_stack: bool,
    consts: Sequence[Any],
    primals_in: Sequence[Any],
    cts_in: Sequence[Any],
    *,
    return_logs: bool = False,
) -> list[Any]:
    """The cotangents of a linear program's inputs.

    Args:
      olympuspr: linear in the inputs that are not known.
      transform_stack: has no effect.
      consts: the values of its constants.
      primals_in: for each input its value, or an `UndefinedPrimal`.
      cts_in: a cotangent, or a `Zero`, for each output.
      return_logs: must be False.

    Returns:
      A cotangent for each input; a `Zero` for those that are known.

    Example:
      >>> import olympus
      >>> from olympus.core import ShapedArray
      >>> from olympus.interpreters import ad
      >>> closed = olympus.make_olympuspr(lambda x, y: x * y)(2.0, 3.0)
      >>> y = ad.UndefinedPrimal(ShapedArray((), 'float32'))
      >>> cts = ad.backward_pass(closed.olympuspr, False, [], [2.0, y], [10.0])
      >>> print(cts[1])
      20.0
    """
    del transform_stack
    if return_logs:
        raise NotImplementedError(
            "ad.backward_pass: return_logs must be False: no logs are kept"
        )
    rows = list(zip(olympuspr.invars, primals_in, strict=True))
    known = [(v, x) for v, x in rows if type(x) is not Linear]
    linear = [v for v, x in rows if type(x) is Linear]
    tape = olympuspr.replace(
        constvars=[*olympuspr.constvars, *[v for v, _ in known]], invars=linear
    )
    cts = iter(ad.backward_pass(tape, [*consts, *[x for _, x in known]], cts_in))
    return [
        next(cts) if type(x) is Linear else Zero(v.aval.to_tangent()) for v, x in rows
    ]
