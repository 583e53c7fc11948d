"""Programs with values of high types, as programs of the arrays that stand for them.

A low program takes the arrays of its inputs and constants, one group after another, and
returns those of its results. It is traced: the interpreter of its equations holds
objects of users, made of tracers, in place of variables of high types. The rule
`to_low` of a record says what an operation on them is there; it is also what runs where
nothing is traced.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from olympus._src.core import avals as avals_
from olympus._src.core import high_values, ir, trace
from olympus._src.interpreters import concrete_arrays, partial_eval
from olympus._src.sharding.division import Division

# -- values and the arrays that stand for them -----------------------------------------


def low_types(types: Sequence[Any]) -> list[Any]:
    """The types of the arrays that stand for values of some types, in one list."""
    return [low for aval in types for low in _low_types_of(aval)]


def _low_types_of(aval: Any) -> list[Any]:
    """Those of one type, which may itself be made of high types."""
    if not aval.is_high:
        return [aval]
    return low_types(aval.lo_ty())


def lower_values(values: Sequence[Any]) -> list[Any]:
    """The arrays that stand for values, in one list."""
    return [low for x in values for low in lower_value(x)]


def lower_value(x: Any) -> list[Any]:
    """The arrays that stand for one value; itself, if it is of no high type."""
    aval = avals_.aval_of(x)
    if not aval.is_high:
        return [x]
    lows, types = list(aval.lower_val(x)), aval.lo_ty()
    if len(lows) != len(types):
        raise TypeError(
            f"{type(aval).__name__}.lower_val: it must return a value for each type "
            f"that lo_ty returns, got {len(lows)} values for {len(types)} types"
        )
    return lower_values(lows)


def raise_values(types: Sequence[Any], lows: Sequence[Any]) -> list[Any]:
    """The values of some types that arrays, in one list, stand for."""
    remaining = iter(lows)
    return [_raise_value(aval, remaining) for aval in types]


def _raise_value(aval: Any, remaining: Any) -> Any:
    if not aval.is_high:
        return next(remaining)
    return aval.raise_val(*[_raise_value(low, remaining) for low in aval.lo_ty()])


def group_lows(items: Sequence[Any], types: Sequence[Any]) -> list[Any]:
    """What is said of each array, by value: a list for one of a high type."""
    remaining = iter(items)
    return [
        [next(remaining) for _ in _low_types_of(aval)]
        if aval.is_high
        else next(remaining)
        for aval in types
    ]


def repeat_for_lows(items: Sequence[Any], types: Sequence[Any]) -> list[Any]:
    """What is said of each value, said of each array that stands for it."""
    rows = zip(items, types, strict=True)
    return [x for x, aval in rows for _ in _low_types_of(aval)]


# -- programs --------------------------------------------------------------------------


def is_needed(args: Sequence[Any], params: dict[str, Any]) -> bool:
    """Whether operands of an operation, or programs that it holds, are high."""
    if not high_values.are_in_use():
        return False
    return any(map(_is_high_operand, args)) or any(
        map(ir.is_high, ir.subprograms(params))
    )


def _is_high_operand(x: Any) -> bool:
    if isinstance(x, trace.Tracer):
        return x.aval.is_high
    return high_values.is_high_value(x)


class LoweringTrace(partial_eval.DynamicOlympusprTrace):
    """Records the low form of what is applied to users' objects."""

    __slots__ = ()

    def process(self, p: Any, args: tuple[Any, ...], params: Any) -> Any:
        if p.is_high or is_needed(args, params):
            return apply(p, args, params)
        return super().process(p, args, params)


def apply(p: Any, args: Sequence[Any], params: dict[str, Any]) -> Any:
    """Applies an operation in its low form, in the current interpreter."""
    if p.to_low is not None:
        return p.to_low(*args, **params)
    types = [avals_.aval_of(x) for x in args]
    if any(aval.is_high for aval in types):
        raise high_values.not_an_array(p.name, types)
    raise NotImplementedError(
        f"{p.name}: a function that it applies must not use high types or operations "
        "on them (HiPrims); take them out of the function"
    )


class LowProgram(NamedTuple):
    """A program of arrays in place of one with high types.

    Attributes:
      closed: takes `consts`, then the arrays of the program's constants and inputs.
      consts: values that it closes over itself.
      out_avals: types of the program's results.
    """

    closed: ir.ClosedOlympuspr
    consts: list[Any]
    out_avals: list[Any]

    def raise_results(self, lows: Sequence[Any]) -> list[Any]:
        """The results that arrays stand for."""
        return raise_values(self.out_avals, lows)


def lower_program(program: ir.Olympuspr) -> LowProgram:
    """The low program; constants are its first inputs."""
    return program.derived("low", _lower_program)


def _lower_program(program: ir.Olympuspr) -> LowProgram:
    whole = ir.hoist_consts(program)
    used = [True] * len(whole.outvars)
    # By the rules of the operations themselves, before what they apply is.
    whole, _ = partial_eval.dce_olympuspr(whole, used, instantiate=True)

    def run(*lows: Any) -> list[Any]:
        args = raise_values(whole.in_avals, lows)
        outs = ir.eval_olympuspr(whole, (), *args)
        check_results(outs, whole.out_avals, program.debug_info)
        return lower_values(outs)

    info = _debug_info(program)
    low, consts = partial_eval.trace_to_olympuspr(
        run, low_types(whole.in_avals), info, LoweringTrace
    )
    closed = ir.ClosedOlympuspr(ir.hoist_consts(low))
    return LowProgram(closed, consts, program.out_avals)


def lower_olympuspr2(
    hi_olympuspr: ir.Olympuspr | ir.ClosedOlympuspr,
) -> ir.ClosedOlympuspr:
    """The program of arrays that stands for one with values of high types.

    Args:
      hi_olympuspr: a program; without constants, if it is open.

    Returns:
      A program that takes and returns the arrays of its inputs and outputs.

    Example:
      >>> import olympus
      >>> from olympus.experimental import hijax
      >>> from olympus.interpreters import partial_eval
      >>> class Double(hijax.HiPrim):
      ...     def __init__(self, x):
      ...         self.in_avals, self.out_aval, self.params = (x,), x, {}
      ...         super().__init__()
      ...     def expand(self, x):
      ...         return x + x
      >>> closed = olympus.make_olympuspr(Double(olympus.typeof(1.0)))(1.0)
      >>> partial_eval.lower_olympuspr2(closed)
      { lambda ; a:f32[]. let b:f32[] = add a a in (b,) }
    """
    low, first = lower_closed(
        ir.ClosedOlympuspr(hi_olympuspr.jaxpr, hi_olympuspr.consts)
    )
    program, n = low.closed.olympuspr, len(first)
    return ir.ClosedOlympuspr(
        program.replace(constvars=program.invars[:n], invars=program.invars[n:]), first
    )


def lower_closed(closed: ir.ClosedOlympuspr) -> tuple[LowProgram, list[Any]]:
    """The low program of a closed one, and values for its first inputs."""
    low = lower_program(closed.olympuspr)
    return low, [*low.consts, *lower_values(closed.consts)]


def check_results(outs: Sequence[Any], types: Sequence[Any], info: Any) -> None:
    """Raises TypeError where lowering gave other types than the program has."""
    for x, expected in zip(outs, types, strict=True):
        got = avals_.aval_of(x)
        if not _is_alike(got, expected):
            name = "" if info is None else f" in {info.func_name}"
            raise TypeError(
                f"lowering of high types{name}: a result of type {expected.short()} is "
                f"required, got {got.short()}; `expand` and `lo_ty` must agree with "
                "the types that programs have"
            )


def _is_alike(x: Any, y: Any) -> bool:
    if x is y or x.is_high or y.is_high:
        return x is y
    shape = getattr(x, "shape", None)
    if shape != getattr(y, "shape", None):
        return False
    return getattr(x, "dtype", None) == getattr(y, "dtype", None)


def _debug_info(program: ir.Olympuspr) -> ir.DebugInfo:
    """Names of the function; an argument of several arrays has its name for each."""
    info = program.debug_info
    if info is None:
        return ir.DebugInfo("lowering of high types", "program")
    names = info.arg_names
    if names is not None and len(names) == len(program.invars):
        first = [""] * len(low_types([v.aval for v in program.constvars]))
        names = [*first, *repeat_for_lows(list(names), program.in_avals)]
    else:
        names = None
    return info.with_names(names)


def of_arrays(
    what: str, program: ir.Olympuspr, consts: Sequence[Any]
) -> tuple[ir.Olympuspr, list[Any]]:
    """A program that has high types inside only, and its constants, without them.

    Raises:
      NotImplementedError: it takes or returns a value of a high type.
    """
    for aval in (*program.in_avals, *program.out_avals):
        if aval.is_high:
            raise NotImplementedError(
                f"{what}: a program for other platforms or processes must take and "
                f"return arrays, got the high type {aval.short()}; pass the arrays it "
                "is made of, and make the value inside"
            )
    low = lower_program(program)
    values = [*low.consts, *lower_values(consts)]
    own, n = low.closed.olympuspr, len(values)
    arrays = own.replace(
        constvars=own.invars[:n],
        invars=own.invars[n:],
        debug_info=program.debug_info,
    )
    return arrays, values


# -- what is compiled ------------------------------------------------------------------


class HighUse(NamedTuple):
    """How a compiled program of arrays is called with values of high types.

    Attributes:
      in_avals: types of the caller's arguments.
      out_avals: types of the results.
    """

    in_avals: list[Any]
    out_avals: list[Any]


class ArrayProgram(NamedTuple):
    """A low program, with what `lower` takes for it."""

    program: ir.Olympuspr
    consts: list[Any]
    donated: list[bool]
    device: Any
    result_names: Sequence[str] | None
    high: HighUse


def without_high_types(
    program: ir.Olympuspr,
    consts: Sequence[Any],
    donated: Sequence[bool],
    device: Any,
    result_names: Sequence[str] | None,
) -> ArrayProgram:
    """The program of arrays that stands for one with high types.

    Args:
      program, consts, donated, device, result_names: as `lowered_programs.lower` takes
        them.
    """
    low = lower_program(program)
    values = [*low.consts, *lower_values(consts)]
    own, n = low.closed.olympuspr, len(values)
    in_avals = program.in_avals
    names = own.debug_info
    if names is not None and names.arg_names is not None:
        names = names.with_names(list(names.arg_names)[n:])
    arrays = own.replace(
        constvars=own.invars[:n], invars=own.invars[n:], debug_info=names
    )
    flags = repeat_for_lows(donated or [False] * len(in_avals), in_avals)
    if isinstance(device, Division):
        device = _divide_lows(device, in_avals, program.out_avals)
    if result_names is not None:
        result_names = repeat_for_lows(result_names, program.out_avals)
    use = HighUse(in_avals, program.out_avals)
    return ArrayProgram(arrays, values, flags, device, result_names, use)


def _divide_lows(
    division: Division, in_avals: Sequence[Any], out_avals: Sequence[Any]
) -> Division:
    """A division of values, as one of the arrays; the compiler divides high values."""
    ins = _shardings_of_lows(division.in_shardings, in_avals)
    outs = division.out_shardings
    if outs:
        outs = _shardings_of_lows(outs, out_avals)
    return division._replace(in_shardings=ins, out_shardings=outs)


def _shardings_of_lows(shardings: Any, types: Sequence[Any]) -> tuple[Any, ...]:
    rows = zip(shardings, types, strict=True)
    own = [None if aval.is_high else sharding for sharding, aval in rows]
    return tuple(repeat_for_lows(own, types))


def raising(
    run: Callable[[list[Any]], list[Any]], high: HighUse
) -> Callable[[list[Any]], list[Any]]:
    """Runs a program on buffers, where operands stand for several; raises results.

    Args:
      run: takes buffers and returns arrays.
      high: which of the arguments and results are of high types.
    """
    takes_high = any(aval.is_high for aval in high.in_avals)

    def run_on_values(buffers: list[Any]) -> list[Any]:
        if takes_high:
            buffers = [low for x in buffers for low in _buffers_of(x)]
        return raise_values(high.out_avals, run(buffers))

    return run_on_values


def _buffers_of(x: Any) -> list[Any]:
    if type(x) is concrete_arrays.HighOperand:
        return [low._buffer for low in x.lows]
    return [x]
