"""Partial evaluation: computes what depends on known values, records all else.

A function of some known and some unknown inputs runs in an `OlympusprTrace`. An
operation on known values alone is applied in the interpreter around; one that has an
unknown operand becomes an equation. The values that equations read are the constants
of the program, its residuals.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from olympus._src.core import avals as avals_
from olympus._src.core import ir, scopes, trace
from olympus._src.interpreters import partial_eval

current = trace.current


class PartialVal(tuple[Any, Any]):
    """A value that is known, or the type of one that is not.

    Args:
      xs: the pair `(None, value)`, or `(type, None)`.

    Example:
      >>> from olympus.interpreters import partial_eval
      >>> partial_eval.PartialVal.known(3.0).is_known()
      True
    """

    __slots__ = ()

    def __new__(cls, xs: tuple[Any, Any]) -> PartialVal:
        aval, const = xs
        if aval is not None and not isinstance(aval, avals_.AbstractValue):
            raise TypeError(
                "PartialVal: an unknown value needs its type, an instance of "
                f"core.AbstractValue, got {aval!r}; pass core.ShapedArray(shape, dtype)"
            )
        return tuple.__new__(cls, (aval, const))

    @classmethod
    def known(cls, const: Any) -> PartialVal:
        """A known value."""
        return cls((None, const))

    @classmethod
    def unknown(cls, aval: Any) -> PartialVal:
        """A value of which only the type is known."""
        return cls((aval, None))

    def is_known(self) -> bool:
        """Whether the value is known."""
        return self[0] is None

    def get_known(self) -> Any:
        """The value; None if it is not known."""
        return self[1] if self.is_known() else None

    def get_aval(self) -> Any:
        """The type."""
        return avals_.aval_of(self[1]) if self.is_known() else self[0]


class OlympusprTracer(partial_eval.DynamicOlympusprTracer):
    """A value of partial evaluation.

    Args:
      trace: the interpreter.
      pval: the value, or its type.
      recipe: what computes it, from `new_eqn_recipe`; None for an input.
    """

    __slots__ = ("pval", "recipe")

    def __init__(self, trace: OlympusprTrace, pval: PartialVal, recipe: Any) -> None:
        self._trace = trace
        self.aval = pval.get_aval()
        self.pval = pval
        self.recipe = recipe
        self.variable = ir.Var(self.aval)

    def is_known(self) -> bool:
        """Whether the value is known."""
        return self.pval.is_known()


class EquationRecipe:
    """The equation that computes some tracers.

    Attributes:
      in_tracers: operands.
      eqn: the equation.
    """

    __slots__ = ("eqn", "in_tracers")

    def __init__(self, in_tracers: Sequence[Any], eqn: ir.Eqn) -> None:
        self.in_tracers = in_tracers
        self.eqn = eqn


class OlympusprTrace(partial_eval.DynamicOlympusprTrace):
    """Applies what it can in the interpreter around, and records all else."""

    __slots__ = ()

    def process(self, p: Any, args: tuple[Any, ...], params: Any) -> Any:
        if p.partial_eval is not None:
            tracers = [self.to_olympuspr_tracer(x) for x in args]
            with trace.set_current(self.parent):
                out = p.partial_eval(self, *tracers, **params)
            return list(map(_value, out)) if p.multiple_results else _value(out)
        return self.default_process_primitive(p, args, params)

    def default_process_primitive(self, p: Any, args: Any, params: Any) -> Any:
        """Applies an operation on known values; records one on any that is not."""
        args = [_value(x) for x in args]
        if any(self._is_unknown(x) for x in args):
            with trace.set_current(self):
                return super().process(p, tuple(args), params)
        with trace.set_current(self.parent):
            return p.bind(*args, **params)

    def _is_unknown(self, x: Any) -> bool:
        return isinstance(x, OlympusprTracer) and x._trace is self

    def record(self, p: Any, args: Sequence[Any], params: Any) -> Any:
        out = super().record(p, args, params)
        eqn = self.eqns[-1]
        outs = out if p.multiple_results else [out]
        recipe = EquationRecipe(args, eqn)
        tracers = [self._new(x.aval, x.variable, recipe) for x in outs]
        return tracers if p.multiple_results else tracers[0]

    lift_number = trace.Trace.lift_number  # numbers are known

    def lift(self, x: Any, where: str = "the function's result") -> Any:
        return super().lift(_value(x), where)

    def _new(self, aval: Any, variable: ir.Var, recipe: Any) -> OlympusprTracer:
        tracer = OlympusprTracer(self, PartialVal.unknown(aval), recipe)
        tracer.variable = variable
        return tracer

    # Libraries give one interpreter a type, and this one what is known of a value.
    def new_arg(self, pval: PartialVal) -> OlympusprTracer:  # type: ignore[override]
        """A tracer for one more unknown input of the program."""
        tracer = OlympusprTracer(self, pval, None)
        self.invars.append(tracer.variable)
        return tracer

    def new_const(self, val: Any) -> OlympusprTracer:
        """The tracer of a known value."""
        return OlympusprTracer(self, PartialVal.known(val), None)

    def to_olympuspr_tracer(self, x: Any) -> OlympusprTracer:
        """The tracer of a value, which is known if it is no tracer of this trace."""
        return x if self._is_unknown(x) else self.new_const(x)

    def instantiate_const(self, tracer: OlympusprTracer) -> OlympusprTracer:
        """The tracer of an unknown value for that of a known one."""
        if not tracer.is_known():
            return tracer
        value = tracer.pval.get_known()
        aval = avals_.aval_of(value)
        return self._new(aval, self.const(value, aval), None)


def _value(x: Any) -> Any:
    """The value of a known tracer; other values and tracers as they are."""
    known = isinstance(x, OlympusprTracer) and x.pval.is_known()
    return x.pval.get_known() if known else x


def new_eqn_recipe(
    trace: OlympusprTrace,
    in_tracers: Sequence[Any],
    out_tracers: Sequence[OlympusprTracer],
    primitive: Any,
    params: dict[str, Any],
    effects: Iterable[Any],
    source_info: Any,
    ctx: Any = None,
) -> EquationRecipe:
    """The equation that computes unknown tracers, for a rule of partial evaluation.

    Args:
      trace: the interpreter that the rule was given.
      in_tracers: operands; known ones become constants.
      out_tracers: the results, `PartialVal.unknown` ones.
      primitive, params, effects: what is applied.
      source_info: where; see `extend.source_info_util.current`.
      ctx: has no effect.

    Returns:
      What the results' attribute `recipe` is set to.
    """
    del ctx
    atoms = [trace.lift(x, primitive.name) for x in in_tracers]
    outvars = [x.variable for x in out_tracers]
    place = getattr(source_info, "traceback", source_info)
    eqn = ir.Eqn(
        primitive,
        atoms,
        outvars,
        dict(params),
        frozenset(effects),
        place,
        current.scope,
    )
    trace.eqns.append(eqn)
    return EquationRecipe(in_tracers, eqn)


# -- functions -------------------------------------------------------------------------


def _info(fun: Any, traced_for: str) -> ir.DebugInfo:
    if getattr(fun, "debug_info", None) is not None:
        return fun.debug_info
    inner = getattr(fun, "f", fun)
    return ir.DebugInfo.of(traced_for, inner)


def _caller(fun: Any) -> Callable[..., Any]:
    return getattr(fun, "call_wrapped", fun)


def _flags(name: str, flags: bool | Sequence[bool], count: int) -> list[bool]:
    """A flag for each of some values, from one for all or one for each."""
    if isinstance(flags, bool):
        return [flags] * count
    if len(flags) != count:
        raise ValueError(
            f"{name}: a flag is needed for each of {count} values, got {len(flags)}"
        )
    return list(map(bool, flags))


def trace_to_olympuspr_dynamic(
    fun: Any,
    in_avals: Sequence[Any],
    *,
    keep_inputs: Sequence[bool] | None = None,
    lower: bool = False,
    auto_dce: bool = False,
) -> tuple[ir.Olympuspr, list[Any], list[Any]]:
    """Traces a function of flat arguments, all unknown, to a program.

    Args:
      fun: a `linear_util.WrappedFun` of arrays that returns a list of them.
      in_avals: types of the inputs.
      keep_inputs: inputs that the function takes; None for all.
      lower: has no effect.
      auto_dce: leave out equations on which no result depends.

    Returns:
      The program, types of its results, and the values of its constants.

    Example:
      >>> from olympus.core import ShapedArray
      >>> from olympus.extend import linear_util
      >>> from olympus.interpreters import partial_eval
      >>> f = linear_util.wrap_init(lambda x: [x + x])
      >>> partial_eval.trace_to_olympuspr_dynamic(f, [ShapedArray((), 'float32')])[0]
      { lambda ; a:f32[]. let b:f32[] = add a a in (b,) }
    """
    del lower
    keep = [True] * len(in_avals) if keep_inputs is None else list(keep_inputs)

    def run(*tracers: Any) -> Sequence[Any]:
        passed = [x for x, k in zip(tracers, keep, strict=True) if k]
        return list(_caller(fun)(*passed))

    info = _info(fun, "trace_to_olympuspr_dynamic")
    program, consts = partial_eval.trace_to_olympuspr(run, in_avals, info)
    if auto_dce:
        used = [True] * len(program.outvars)
        program, _ = partial_eval.dce_olympuspr(program, used, instantiate=True)
        program, consts = _prune_consts(program, consts)
    return program, program.out_avals, consts


def _prune_consts(
    program: ir.Olympuspr, consts: Sequence[Any]
) -> tuple[ir.Olympuspr, list[Any]]:
    used = _used_consts(program)
    pairs = zip(program.constvars, consts, used, strict=True)
    kept = [(v, c) for v, c, u in pairs if u]
    return program.replace(constvars=[v for v, _ in kept]), [c for _, c in kept]


def _used_consts(program: ir.Olympuspr) -> list[bool]:
    needed = {v for eqn in program.eqns for v in eqn.invars if type(v) is ir.Var}
    needed.update(v for v in program.outvars if type(v) is ir.Var)
    return [v in needed for v in program.constvars]


def trace_to_olympuspr_nounits(
    fun: Any, pvals: Sequence[PartialVal], instantiate: bool | Sequence[bool] = False
) -> tuple[ir.Olympuspr, list[PartialVal], tuple[Any, ...]]:
    """Runs a function of which some arguments are not known.

    What depends on known arguments only is computed. Loops and branches that depend on
    an unknown one are recorded whole.

    Args:
      fun: a `linear_util.WrappedFun` of arrays that returns a list of them.
      pvals: the arguments.
      instantiate: results that the program returns even if they are known.

    Returns:
      The program of the unknown arguments, which returns the unknown results; the
      results; and the values of the program's constants.

    Example:
      >>> from olympus.core import ShapedArray
      >>> from olympus.extend import linear_util
      >>> from olympus.interpreters.partial_eval import (
      ...     PartialVal, trace_to_olympuspr_nounits)
      >>> f = linear_util.wrap_init(lambda x, y: [x * y, y + 1.0])
      >>> x = PartialVal.unknown(ShapedArray((), 'float32'))
      >>> trace_to_olympuspr_nounits(f, [x, PartialVal.known(2.0)])[1][1]
      (None, 3.0)
    """
    t = OlympusprTrace(current.trace, _info(fun, "partial evaluation"))
    outer = current.scope, current.position
    try:
        with trace.set_current(t):
            current.scope, current.position = scopes.base(), None
            inputs = [p.get_known() if p.is_known() else t.new_arg(p) for p in pvals]
            outs = list(map(_value, _caller(fun)(*inputs)))
            flags = _flags("trace_to_olympuspr_nounits", instantiate, len(outs))
            unknown = [f or t._is_unknown(x) for f, x in zip(flags, outs, strict=True)]
            program, consts = t.close(_select(outs, unknown))
    finally:
        current.scope, current.position = outer
        t.ended = True
    used = [True] * len(program.outvars)
    program, _ = partial_eval.dce_olympuspr(program, used, instantiate=True)
    program, consts = _prune_consts(program, consts)
    out_pvals = [
        PartialVal.unknown(avals_.aval_of(x)) if u else PartialVal.known(x)
        for u, x in zip(unknown, outs, strict=True)
    ]
    return program, out_pvals, tuple(consts)


def _select(items: Sequence[Any], flags: Sequence[bool]) -> list[Any]:
    return [x for x, f in zip(items, flags, strict=True) if f]


def abstract_eval_fun(
    fun: Callable[..., Sequence[Any]],
    *avals: Any,
    debug_info: ir.DebugInfo | None = None,
    **params: Any,
) -> list[Any]:
    """The types of a function's results, from those of its arguments.

    Args:
      fun: takes arrays, returns a list of them.
      *avals: types of the arguments.
      debug_info: names for messages.
      **params: keyword arguments.
    """
    info = debug_info or _info(fun, "abstract_eval_fun")
    program, _ = partial_eval.trace_to_olympuspr(
        lambda *xs: list(fun(*xs, **params)), avals, info
    )
    return program.out_avals


# -- programs --------------------------------------------------------------------------


def partial_eval_olympuspr_nounits(
    olympuspr: ir.ClosedOlympuspr,
    unknowns: Sequence[bool],
    instantiate: bool | Sequence[bool],
) -> tuple[ir.ClosedOlympuspr, ir.ClosedOlympuspr, list[bool], list[Any]]:
    """Divides a program by which of its inputs are known.

    Args:
      olympuspr: the program.
      unknowns: which inputs are not known.
      instantiate: outputs that the second part returns even if they are known.

    Returns:
      The program of known inputs, which returns known outputs and then residuals; that
      of residuals and unknown inputs, which returns the other outputs; which outputs
      are of the second; and the types of the residuals.
    """
    flags = _flags("partial_eval_olympuspr_nounits", unknowns, len(olympuspr.in_avals))
    parts: list[Any] = []

    def run(*known: Any) -> list[Any]:
        values = iter(known)
        pvals = [
            PartialVal.unknown(a) if u else PartialVal.known(next(values))
            for a, u in zip(olympuspr.in_avals, flags, strict=True)
        ]
        evaluate = ir.program_as_function(olympuspr)
        program, out_pvals, residuals = trace_to_olympuspr_nounits(
            evaluate, pvals, instantiate
        )
        out_unknown = [not p.is_known() for p in out_pvals]
        parts[:] = [program, out_unknown, list(map(avals_.aval_of, residuals))]
        return [*[p.get_known() for p in out_pvals if p.is_known()], *residuals]

    info = olympuspr.olympuspr.debug_info or ir.DebugInfo("partial_eval", "program")
    known_avals = _select(olympuspr.in_avals, [not u for u in flags])
    known, consts = partial_eval.trace_to_olympuspr(run, known_avals, info)
    program, out_unknown, residual_avals = parts
    unknown = ir.ClosedOlympuspr(ir.hoist_consts(program))
    return ir.ClosedOlympuspr(known, consts), unknown, out_unknown, residual_avals


def close_olympuspr(olympuspr: ir.Olympuspr) -> ir.ClosedOlympuspr:
    """A program without constants as a closed one, the same each time.

    Raises:
      ValueError: it has constants.
    """
    if olympuspr.constvars:
        raise ValueError(
            "close_olympuspr: a program without constants is needed, got one of "
            f"{len(olympuspr.constvars)}; give their values to ClosedOlympuspr, or "
            "make them inputs with convert_constvars_olympuspr"
        )
    return olympuspr.derived("closed without constants", ir.ClosedOlympuspr)


def convert_constvars_olympuspr(olympuspr: ir.Olympuspr) -> ir.Olympuspr:
    """The program with its constants as first inputs."""
    return ir.hoist_consts(olympuspr)


def dce_olympuspr_consts(
    olympuspr: ir.Olympuspr,
    used_outputs: Sequence[bool],
    instantiate: bool | Sequence[bool] = False,
) -> tuple[ir.Olympuspr, list[bool], list[bool]]:
    """`dce_olympuspr` that removes unused constants too.

    Returns:
      The smaller program, which constants it still has, and which inputs.
    """
    small, used_inputs = partial_eval.dce_olympuspr(
        olympuspr, used_outputs, instantiate
    )
    used_consts = _used_consts(small)
    constvars = _select(small.constvars, used_consts)
    return small.replace(constvars=constvars), used_consts, used_inputs


def move_binders_to_back(
    closed_olympuspr: ir.ClosedOlympuspr, to_move: Sequence[bool]
) -> ir.ClosedOlympuspr:
    """The program with some of its inputs after all others."""
    program = closed_olympuspr.olympuspr
    flags = _flags("move_binders_to_back", to_move, len(program.invars))
    stay = [not f for f in flags]
    invars = _select(program.invars, stay) + _select(program.invars, flags)
    info = program.debug_info
    if info is not None and info.arg_names is not None:
        names = list(info.arg_names)
        names = _select(names, stay) + _select(names, flags)
        info = info.with_names(names, info.result_paths)
    moved = program.replace(invars=invars, debug_info=info)
    return ir.ClosedOlympuspr(moved, closed_olympuspr.consts)


def prune_closed_olympuspr_outputs(
    olympuspr: ir.ClosedOlympuspr, used_outputs: Sequence[bool]
) -> ir.ClosedOlympuspr:
    """The program that returns some of its outputs only; it keeps all equations."""
    program = olympuspr.olympuspr
    flags = _flags("prune_closed_olympuspr_outputs", used_outputs, len(program.outvars))
    pruned = program.replace(outvars=_select(program.outvars, flags))
    return ir.ClosedOlympuspr(pruned, olympuspr.consts)
