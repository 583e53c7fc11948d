"""Automatic differentiation: jvp, direct linearisation, transposition.

Forward mode runs each primitive's jvp rule. Linearisation runs the same rules once,
with tangents that record: operations on a tangent are recorded on a tape, a linear
program, while the others are applied at once in the interpreter below. Transposing the
tape gives reverse mode.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Sequence
from typing import Any

from olympus._src.core import array_type, dtypes, ir, primitive, refs, scopes, trace
from olympus._src.core import avals as avals_
from olympus._src.core.symbolic_values import Linear, Reads, Zero
from olympus._src.foundation import errors, source_info
from olympus._src.interpreters import discharge, partial_eval, residuals
from olympus._src.lax import families, sharding_constraints

current = trace.current


def zero_tangent(x: Any) -> Zero:
    """The zero tangent of a value."""
    return Zero(avals_.aval_of(x).to_tangent())


# -- forward mode ----------------------------------------------------------------------


class JVPTracer(trace.Tracer):
    """A value with its tangent.

    Attributes:
      spread: of what `broadcast_in_dim` makes: the tracer of what it was made of, and
        the parameters. Other tracers have no such attribute.
    """

    __slots__ = ("primal", "spread", "tangent")
    spread: tuple[Any, dict[str, Any]]

    def __init__(self, trace: trace.Trace, primal: Any, tangent: Any) -> None:
        self._trace = trace
        self.aval = avals_.aval_of(primal)
        self.primal = primal
        self.tangent = tangent


def _is_divided(x: Any) -> bool:
    """Whether explicit axes of a mesh divide an array; refs have no tangents."""
    aval = getattr(x, "aval", None) if avals_.are_divided() else None
    return getattr(aval, "explicit", None) is not None and not refs.is_ref_type(aval)


class JVPTrace(trace.Trace):
    """Applies jvp rules in the interpreter that was current before."""

    __slots__ = ("ended", "info")
    is_adopted = False

    def __init__(self, parent: trace.Trace, info: ir.DebugInfo | None = None) -> None:
        super().__init__(parent)
        self.ended = False
        self.info = info

    def process(self, p: Any, args: tuple[Any, ...], params: Any) -> Any:
        primals, tangents = [], []
        has_tangent = False
        for x in args:
            if type(x) is JVPTracer and x._trace is self:
                primals.append(x.primal)
                tangents.append(x.tangent)
                has_tangent = True
            else:
                primals.append(x)
                tangents.append(zero_tangent(x))
        if p.discharge is not None and discharge.is_needed(p, params):
            return discharge.apply(p, args, params)
        outer = current.position
        if outer is None:  # one look at the stack serves all that the rule applies
            current.position = source_info.capture()
        parent: Any = self.parent
        current.trace = parent
        try:
            if not has_tangent and not p.is_always_followed:
                return parent.process(p, args, params)
            spread = None
            if p.jvp_by_spread is not None and type(tangents[-1]) is not Zero:
                spread = getattr(args[-1], "spread", None)
            if spread is not None:
                out, out_tangents = self.rule_by_spread(p, primals, tangents, spread)
            else:
                out, out_tangents = self.rule(p, primals, tangents, params)
            if p.multiple_results:
                out_tangents = _give_tangent_types(out, out_tangents)
            elif type(out_tangents) is not Zero and _is_divided(out):
                (out_tangents,) = _give_tangent_types([out], [out_tangents])
        finally:
            current.trace = self
            current.position = outer
        if p.multiple_results:
            return [self.wrap(x, t) for x, t in zip(out, out_tangents, strict=True)]
        if type(out_tangents) is Zero:
            return out
        tracer = JVPTracer(self, out, out_tangents)
        if p is families.broadcast_in_dim_p:
            self._note_spread(tracer, args[0], params)
        return tracer

    def _note_spread(self, tracer: JVPTracer, source: Any, params: Any) -> None:
        """Keeps what a value is repeated from, unless axes of a mesh divide it."""
        if tracer.aval.explicit is None:
            tracer.spread = source, params

    def rule_by_spread(self, p: Any, primals: Any, tangents: Any, spread: Any) -> Any:
        """A result and its tangent, where the last operand is spread from less."""
        source, params = spread

        def repeat(x: Any) -> Any:
            return families.broadcast_in_dim_p.bind(x, **params)

        return p.jvp_by_spread(primals, tangents, source.primal, source.tangent, repeat)

    def rule(self, p: Any, primals: Any, tangents: Any, params: Any) -> Any:
        """Results and their tangents."""
        return _apply_jvp(p, primals, tangents, params)

    def split(self, x: Any) -> tuple[Any, Any]:
        """A value and its tangent."""
        if type(x) is JVPTracer and x._trace is self:
            return x.primal, x.tangent
        return x, zero_tangent(x)

    def wrap(self, x: Any, tangent: Any) -> Any:
        """The tracer of a value with a tangent; the value itself if that is zero."""
        return x if type(tangent) is Zero else JVPTracer(self, x, tangent)

    def origin(self, tracer: trace.Tracer) -> str:
        inner = tracer.primal  # type: ignore[attr-defined]
        return inner._trace.origin(inner) if isinstance(inner, trace.Tracer) else ""

    def explain(self, tracer: trace.Tracer) -> str:
        inner = tracer.primal  # type: ignore[attr-defined]
        if isinstance(inner, trace.Tracer):
            return inner._trace.explain(inner)
        if self.info is None:
            return ""
        return (
            f"The value is differentiated ({self._where()}), and a Python or NumPy "
            "value would lose its derivative. Keep it an array, or take it out of the "
            "derivative with olympus.lax.stop_gradient."
        )

    def _where(self) -> str:
        info = self.info
        if info is None:
            return "by a transformation"
        place = f" at {info.func_location}" if info.func_location else ""
        return f"{info.traced_for} of the function {info.func_name}{place}"

    def made_at(self, tracer: trace.Tracer) -> str:
        return f"The traced value was made in {self._where()}."


def jvp(
    fun: Callable[..., Sequence[Any]],
    primals: Sequence[Any],
    tangents: Sequence[Any],
    info: ir.DebugInfo | None = None,
) -> tuple[list[Any], list[Any]]:
    """Results of a function of flat arguments, and their tangents (Zeros allowed).

    Args:
      fun: a function of flat arguments.
      primals: its arguments.
      tangents: a tangent for each.
      info: names the user's function, where it is that which is differentiated.
    """
    t = JVPTrace(current.trace, info)
    inputs = [
        x if getattr(d, "dtype", None) == dtypes.float0 else t.wrap(x, d)
        for x, d in zip(primals, tangents, strict=True)
    ]
    outs = _run(t, fun, inputs)
    trace_ref = weakref.ref(t)
    del t, inputs
    partial_eval.check_leaks(trace_ref, JVPTracer, info)
    return outs


def primal_of(x: Any) -> Any:
    """The value that a tracer of the current differentiation carries a tangent for."""
    mine = type(x) is JVPTracer and x._trace is current.trace
    return x.primal if mine else x


def _run(t: JVPTrace, fun: Any, inputs: Any) -> tuple[list[Any], list[Any]]:
    outer = current.scope
    current.trace, current.scope = t, outer + scopes.JVP
    try:
        pairs = [t.split(x) for x in fun(*inputs)]
    finally:
        current.trace, current.scope = t.parent, outer
        t.ended = True
    return [x for x, _ in pairs], [d for _, d in pairs]


# -- linearisation ---------------------------------------------------------------------


class TangentTape(partial_eval.DynamicOlympusprTrace):
    """Records operations on tangents; passes all others to the interpreter below.

    Attributes:
      splits: operations that hold programs may compute values besides tangents, as in
        the rules that users write; their values are then computed below.
    """

    __slots__ = ("splits",)

    def __init__(self, parent: trace.Trace, info: ir.DebugInfo) -> None:
        super().__init__(parent, info)
        self.splits = False

    def process(self, p: Any, args: tuple[Any, ...], params: Any) -> Any:
        for x in args:
            if type(x) is partial_eval.DynamicOlympusprTracer and x._trace is self:
                if p.stage is not None:
                    return p.stage(self, args, params)
                if self.splits and p.linearize is not None:
                    return self._split_linear(p, args, params)
                return self.record(p, args, params)
        parent: Any = self.parent
        current.trace = parent
        try:  # what `bind` does to operands is done
            return parent.process(p, args, params)
        finally:
            current.trace = self

    def lift(self, x: Any, where: str = "the function's result") -> Any:
        if isinstance(x, trace.Tracer):
            return self.lift_tracer(x, where)
        if type(x) in array_type.concrete_types():  # no need to wait for its value
            return self.const(x, x.aval)
        return super().lift(x, where)

    def _split_linear(self, p: Any, args: tuple[Any, ...], params: Any) -> list[Any]:
        """Applies what is linear in its tangents, but may return other values too.

        A linear function is its own derivative, so the operation is linearised where
        its tangents are zero. Results whose tangent is zero are values.
        """
        primals, tangents = [], []
        self.splits = False
        current.trace = self.parent
        try:
            for x in args:
                on_tape = (
                    type(x) is partial_eval.DynamicOlympusprTracer and x._trace is self
                )
                zero = zero_tangent(x)
                primals.append(families.instantiate(zero) if on_tape else x)
                tangents.append(x if on_tape else zero)
            outs, apply = p.linearize(primals, tangents, **params)
            current.trace = self
            out_tangents = apply()
        finally:
            current.trace = self
            self.splits = True
        return [
            x if type(t) is Zero else t for x, t in zip(outs, out_tangents, strict=True)
        ]

    lift_number = trace.Trace.lift_number  # numbers are no tangents

    def zeros(self, aval: Any) -> Any:
        """Zeros that the tape makes, so that they are not constants it carries."""
        zero = families.instantiate(Zero(aval), aval.shape)
        if aval.is_high or not aval.shape:
            return zero
        params = {
            "shape": aval.shape,
            "broadcast_dimensions": (),
            "sharding": aval.explicit,
        }
        return super().process(families.broadcast_in_dim_p, (zero,), params)


class splitting:
    """Lets a tape split mixed operations (see `TangentTape`) for a `with` block.

    Args:
      trace_: the interpreter that runs the block; nothing happens if it is not a tape.
    """

    __slots__ = ("outer", "tape")

    def __init__(self, trace_: trace.Trace) -> None:
        self.tape = trace_ if type(trace_) is TangentTape else None
        self.outer = False

    def __enter__(self) -> None:
        if self.tape is not None:
            self.outer, self.tape.splits = self.tape.splits, True

    def __exit__(self, *error: object) -> None:
        if self.tape is not None:
            self.tape.splits = self.outer


class LinearizeTrace(JVPTrace):
    """Runs jvp rules with the tape as the interpreter of tangents."""

    __slots__ = ("tape",)

    def __init__(self, parent: trace.Trace, tape: TangentTape) -> None:
        super().__init__(parent, tape.debug_info)
        self.tape = tape

    def made_at(self, tracer: trace.Tracer) -> str:
        tangent = tracer.tangent  # type: ignore[attr-defined]
        if type(tangent) is partial_eval.DynamicOlympusprTracer:
            return self.tape.made_at(tangent)
        return super().made_at(tracer)

    def rule(self, p: Any, primals: Any, tangents: Any, params: Any) -> Any:
        if p.linearize is not None:
            out, apply = p.linearize(primals, tangents, **params)
            current.trace = self.tape
            return out, apply()
        current.trace = self.tape
        return _apply_jvp(p, primals, tangents, params)

    def rule_by_spread(self, *args: Any) -> Any:
        current.trace = self.tape
        return super().rule_by_spread(*args)


class LinearProgram:
    """A linear function as a tape: tangents in, tangents out."""

    __slots__ = ("consts", "in_avals", "outs", "program")

    def __init__(
        self, program: ir.Olympuspr, consts: list[Any], outs: list[Any]
    ) -> None:
        self.program = program
        self.consts = consts
        self.outs = outs  # a Zero, or None for an output of the program
        self.in_avals = program.in_avals

    def pruned(self) -> LinearProgram:
        """The same without equations, and constants, that no result depends on."""
        used = [True] * len(self.program.outvars)
        small, _ = partial_eval.dce_olympuspr(self.program, used, instantiate=True)
        needed = {v for eqn in small.eqns for v in eqn.invars if type(v) is ir.Var}
        needed.update(v for v in small.outvars if type(v) is ir.Var)
        pairs = zip(small.constvars, self.consts, strict=True)
        needed_pairs = [(v, c) for v, c in pairs if v in needed]
        small = small.replace(constvars=[v for v, _ in needed_pairs])
        return LinearProgram(small, [c for _, c in needed_pairs], self.outs)

    def apply(self, tangents: Sequence[Any]) -> list[Any]:
        """The tangents of the results."""
        nonzero_tangents = iter(ir.eval_olympuspr(self.program, self.consts, *tangents))
        return [next(nonzero_tangents) if o is None else o for o in self.outs]

    def transpose(self, cotangents: Sequence[Any]) -> list[Any]:
        """The cotangents of the inputs; a Zero for each that is known to be zero."""
        nonzero_cts = [
            ct for ct, o in zip(cotangents, self.outs, strict=True) if o is None
        ]
        return backward_pass(self.program, self.consts, nonzero_cts)


def linearize(
    fun: Callable[..., Sequence[Any]],
    primals: Sequence[Any],
    info: ir.DebugInfo,
    instantiate: Sequence[bool] = (),
    nonzero: Sequence[bool] | None = None,
) -> tuple[list[Any], LinearProgram]:
    """Results of a function of flat arguments, and its derivative there as a tape.

    Args:
      fun: a function of flat arguments.
      primals: where to linearise it.
      info: names for messages.
      instantiate: results whose tangent must be on the tape, even if it is zero.
      nonzero: which arguments have a nonzero tangent; None for all but integers.
    """
    tape = TangentTape(current.trace, info)
    t = LinearizeTrace(current.trace, tape)
    inputs = []
    for i, x in enumerate(primals):
        aval = avals_.aval_of(x).to_tangent()
        tangent = tape.new_input(aval)
        # Integers and keys have zero tangents; programs inside need not carry them.
        is_zero = avals_.is_float0(aval) or (nonzero is not None and not nonzero[i])
        inputs.append(x if is_zero else JVPTracer(t, x, tangent))
    outs, tangents = _run(t, fun, inputs)
    trace_ref = weakref.ref(t)
    del t, inputs
    partial_eval.check_leaks(trace_ref, JVPTracer, info)
    for i, force in enumerate(instantiate):
        if force and type(tangents[i]) is Zero:
            tangents[i] = tape.zeros(tangents[i].aval)
    program, consts = tape.close([d for d in tangents if type(d) is not Zero])
    _name_within(program, current.scope)
    tape.ended = True
    zeros = [d if type(d) is Zero else None for d in tangents]
    return outs, LinearProgram(program, consts, zeros)


def _name_within(program: ir.Olympuspr, outer: scopes.Scope) -> None:
    """Leaves out of a tape's scopes the one around it: where it runs, there is one."""
    if not outer:
        return
    inner: dict[scopes.Scope, scopes.Scope] = {}
    for eqn in program.eqns:
        scope = inner.get(eqn.scope)
        if scope is None:
            scope = inner[eqn.scope] = scopes.within(eqn.scope, outer)
        eqn.scope = scope


# -- reverse mode ----------------------------------------------------------------------


def backward_pass(
    program: ir.Olympuspr,
    consts: Sequence[Any],
    cotangents: Sequence[Any],
    sums: Sequence[Any] | None = None,
) -> list[Any]:
    """The cotangents of a linear program's inputs.

    Args:
      program: linear in its inputs; its constants are known.
      consts: their values.
      cotangents: one for each output; a Zero is allowed.
      sums: if the program is the body of a loop, the sums of the cotangents of its
        first inputs over the steps so far. The new sums take the places of these
        cotangents: what a step adds to a few elements is added to them in place.
    """
    known: dict[Any, Any] = dict(zip(program.constvars, consts, strict=True))
    pending: dict[Any, Any] = {}
    parts: dict[Any, list[_Part]] = {}
    for v, ct in zip(program.outvars, cotangents, strict=True):
        _accumulate(pending, v, ct)
    outer_position, outer_scope = current.position, current.scope
    try:
        linear = _run_known(program, known, sums is not None)
        current.scope = backward = outer_scope + scopes.TRANSPOSE
        scope: scopes.Scope = ()  # that of the last equation; neighbours share it
        is_marked = False
        for eqn in reversed(program.eqns):
            if eqn.outvars and eqn.outvars[0] in linear:
                current.position = eqn.source
                if eqn.scope is not scope:
                    scope = eqn.scope
                    current.scope = backward + scope
                    is_marked = scopes.has_metadata(scope)
                if is_marked:
                    state = known, linear, pending, parts
                    scopes.call_within(scope, _transpose_equation, eqn, *state)
                else:
                    _transpose_equation(eqn, known, linear, pending, parts)
        for v, total in zip(program.invars, sums or (), strict=False):
            if v in pending or v in parts:
                _accumulate(pending, v, total)
        return [_complete(pending, parts, v) for v in program.invars]
    finally:
        current.position, current.scope = outer_position, outer_scope


def _cotangent_type(aval: Any) -> Any:
    """The type of cotangents of a value of a linear program, of its own dtype.

    Loops have counters among their carries, which have no tangents.
    """
    is_divided = aval.is_high or getattr(aval, "explicit", None) is not None
    return aval.to_cotangent() if is_divided else aval


def _accumulate(pending: dict[Any, Any], v: Any, ct: Any) -> None:
    if ct is None or type(ct) is Zero or type(v) is ir.Literal:
        return
    if avals_.are_divided():
        explicit = getattr(getattr(ct, "aval", None), "explicit", None)
        if explicit is not None or v.aval.explicit is not None:
            ct = _give_cotangent_type(ct, v.aval)
    total = pending.get(v)
    pending[v] = ct if total is None else families.add_tangents(total, ct)


def _give_cotangent_type(ct: Any, aval: Any) -> Any:
    """A cotangent, divided along explicit axes of a mesh as the value itself is."""
    explicit = getattr(getattr(ct, "aval", None), "explicit", None)
    expected = aval.to_cotangent().explicit
    if explicit is expected or aval.is_high or avals_.aval_of(ct).shape != aval.shape:
        return ct
    return sharding_constraints.give_type(ct, expected)


def _apply_jvp(p: Any, primals: Any, tangents: Any, params: Any) -> Any:
    """Results and their tangents, by the rule `jvp`."""
    if p.jvp is None:
        raise primitive.missing_rule(p, "jvp")
    try:
        return p.jvp(primals, tangents, **params)
    except errors.ShardingTypeError:
        return _jvp_divided(p, primals, tangents, params)


def _jvp_divided(p: Any, primals: Any, tangents: Any, params: Any) -> Any:
    """`jvp` where types do not tell how values in it are divided, but do of results.

    The compiler divides what is between; tangents are divided as the results are.
    """
    avals = tuple([avals_.aval_of(x) for x in primals])
    out_avals, _ = p.results(avals, params)  # which may refuse the operands themselves
    primals = list(map(_undivided, primals))
    tangents = [
        Zero(avals_.aval_of(x).to_tangent()) if type(t) is Zero else _undivided(t)
        for x, t in zip(primals, tangents, strict=True)
    ]
    params = {
        name: None if name in ("sharding", "out_sharding") else value
        for name, value in params.items()
    }
    outs, out_tangents = p.jvp(primals, tangents, **params)
    give = sharding_constraints.give_type
    if not p.multiple_results:
        out = give(outs, out_avals.explicit)
        if type(out_tangents) is Zero:
            out_tangents = Zero(out_avals.to_tangent())
        return out, out_tangents
    rows = zip(outs, out_avals, strict=True)
    outs = [give(out, aval.explicit) for out, aval in rows]
    return outs, [
        Zero(aval.to_tangent()) if type(t) is Zero else t
        for t, aval in zip(out_tangents, out_avals, strict=True)
    ]


def _give_tangent_types(outs: Sequence[Any], tangents: Sequence[Any]) -> list[Any]:
    """Tangents, divided along explicit axes of a mesh as the values are."""
    typed = list(tangents)
    for i, (out, t) in enumerate(zip(outs, tangents, strict=True)):
        explicit = getattr(getattr(out, "aval", None), "explicit", None)
        if explicit is not None and type(t) is not Zero:
            typed[i] = sharding_constraints.give_type(t, explicit)
    return typed


# A read of a part: its equation, cotangents, operands, how its operand is read, and the
# scope of what is added.
_Part = tuple[ir.Eqn, Sequence[Any], Sequence[Any], Any, scopes.Scope]


def _run_known(
    program: ir.Olympuspr, known: dict[Any, Any], is_repeated: bool
) -> dict[Any, Reads]:
    """Evaluates what depends on no linear input; the reads of each variable that does.

    Those of parts are counted, by operations with a rule `transpose_into`.
    """
    unread = Reads(0, 0, is_repeated)
    linear = dict.fromkeys(program.invars, unread)
    outer = current.scope
    scope: scopes.Scope = ()
    for eqn in program.eqns:
        for v in eqn.invars:
            if v in linear:
                for out in eqn.outvars:
                    linear[out] = unread
                if eqn.primitive.transpose_into is not None:
                    reads = linear.get(eqn.invars[0], unread)
                    part = eqn.outvars[0].aval.size
                    linear[eqn.invars[0]] = reads.add(part)
                break
        else:
            args = [v.val if type(v) is ir.Literal else known[v] for v in eqn.invars]
            current.position = eqn.source
            if eqn.scope is not scope:
                scope = eqn.scope
                current.scope = outer + scope
            results = eqn.primitive.bind(*args, **eqn.params)
            results = results if eqn.primitive.multiple_results else [results]
            known.update(zip(eqn.outvars, results, strict=True))
    current.scope = outer
    return linear


def _transpose_equation(
    eqn: ir.Eqn,
    known: dict[Any, Any],
    linear: dict[Any, Reads],
    pending: dict[Any, Any],
    parts: dict[Any, list[_Part]],
) -> None:
    """Moves cotangents from an equation's results to its linear operands."""
    outvars = eqn.outvars
    if parts or len(outvars) != 1:
        cts = [_complete(pending, parts, v) for v in outvars]
        if all(type(ct) is Zero for ct in cts):
            return
    else:  # as of most equations
        ct = pending.pop(outvars[0], None)
        if ct is None:
            return
        cts = [ct]
    p = eqn.primitive
    if p.transpose is None:
        raise primitive.missing_rule(p, "transpose", eqn.source)
    args: list[Any] = []
    for v in eqn.invars:
        if type(v) is ir.Literal:
            args.append(v.val)
        else:
            args.append(Linear(v.aval) if v in linear else known[v])
    if p.transpose_into is not None:
        v = eqn.invars[0]
        part = eqn, cts, args, linear.get(v), current.scope
        is_repeated = v in linear and linear[v].is_repeated
        if is_repeated and not scopes.has_metadata(eqn.scope):
            parts.setdefault(v, []).append(part)
            return
        if _add_part(pending, v, part):
            return
    _add_operands(pending, eqn, cts, args)


def _complete(pending: dict[Any, Any], parts: dict[Any, list[_Part]], v: Any) -> Any:
    """The sum of a variable's cotangents, those of its parts last.

    In a loop they are added in place, to what is there of the whole.
    """
    if v in parts:
        outer_position, outer_scope = current.position, current.scope
        for part in parts.pop(v):
            eqn, cts, args, _, current.scope = part
            current.position = eqn.source
            if not _add_part(pending, v, part):
                _add_operands(pending, eqn, cts, args)
        current.position, current.scope = outer_position, outer_scope
    ct = pending.pop(v, None)
    return Zero(_cotangent_type(v.aval)) if ct is None else ct


def _add_part(pending: dict[Any, Any], v: Any, part: _Part) -> bool:
    """Adds to the cotangent that a variable has already; whether that was possible."""
    eqn, cts, args, reads, _ = part
    total = pending.get(v)
    if total is not None:
        add = eqn.primitive.transpose_into
        total = add(total, reads, cts, *args, **eqn.params)
    if total is not None:
        pending[v] = total
    return total is not None


def _add_operands(
    pending: dict[Any, Any], eqn: ir.Eqn, cts: Sequence[Any], args: Sequence[Any]
) -> None:
    """Adds to the cotangents of an equation's operands, by its rule `transpose`."""
    p = eqn.primitive
    try:
        operand_cts = p.transpose(cts, *args, **eqn.params)
    except errors.ShardingTypeError:
        operand_cts = _transpose_undivided(p, cts, args, eqn.params)
    if not isinstance(operand_cts, (list, tuple)) or len(operand_cts) != len(args):
        raise _not_one_for_each(p, operand_cts, len(args))
    for v, x, ct in zip(eqn.invars, args, operand_cts, strict=True):
        if type(x) is Linear:
            _accumulate(pending, v, ct)


def _not_one_for_each(p: Any, operand_cts: Any, n: int) -> TypeError:
    got = (
        f"{len(operand_cts)}"
        if isinstance(operand_cts, (list, tuple))
        else repr(operand_cts)
    )
    return TypeError(
        f"{p.name}: its transpose rule must return a list of {n} cotangents, one for "
        f"each operand (None for those that are known), got {got}"
    )


def _transpose_undivided(p: Any, cts: Any, args: Any, params: Any) -> Any:
    """Operands' cotangents, where types do not tell how values between are divided.

    The compiler divides them. Nothing is ambiguous: cotangents are divided as the
    operands are.
    """
    cts = [ct if type(ct) is Zero else _undivided(ct) for ct in cts]
    args = [x if type(x) is Linear else _undivided(x) for x in args]
    params = {
        name: None if name in ("sharding", "out_sharding") else value
        for name, value in params.items()
    }
    linear = [_undivided_type(x) if type(x) is Linear else x for x in args]
    return p.transpose(cts, *linear, **params)


def _undivided(x: Any) -> Any:
    return sharding_constraints.leave_to_compiler(x)


def _undivided_type(x: Linear) -> Linear:
    return Linear(x.aval.update(sharding=None))


# -- derivatives of programs, as programs ----------------------------------------------


def _info(program: ir.Olympuspr) -> ir.DebugInfo:
    return program.debug_info or ir.DebugInfo("differentiation", "program")


def jvp_olympuspr(
    program: ir.Olympuspr, nonzero: Sequence[bool], instantiate: Sequence[bool] = ()
) -> tuple[ir.ClosedOlympuspr, list[bool]]:
    """The program of values and tangents.

    Args:
      program: its constants come first among the inputs of the result.
      nonzero: which inputs have a nonzero tangent.
      instantiate: which outputs must have one, even if it is zero; none if empty.

    Returns:
      A program of constants, inputs and nonzero tangents of inputs, that returns
      outputs and their nonzero tangents; and which outputs have one.
    """
    whole = ir.hoist_consts(program)
    n_consts, n = len(program.constvars), len(whole.invars)
    out_nonzero: list[bool] = []

    def run(*args: Any) -> list[Any]:
        primals, nonzero_tangents = args[:n], iter(args[n:])
        tangents = [zero_tangent(x) for x in primals[:n_consts]]
        tangents += [
            next(nonzero_tangents) if m else zero_tangent(x)
            for m, x in zip(nonzero, primals[n_consts:], strict=True)
        ]
        outs, out_tangents = jvp(_runner(whole), primals, tangents)
        out_tangents = _instantiate_zeros(out_tangents, instantiate)
        out_nonzero[:] = [type(t) is not Zero for t in out_tangents]
        return outs + [t for t in out_tangents if type(t) is not Zero]

    in_avals = whole.in_avals + _tangent_avals(program, nonzero)
    closed, consts = partial_eval.trace_to_olympuspr(run, in_avals, _info(program))
    return ir.ClosedOlympuspr(closed, consts), out_nonzero


def _instantiate_zeros(tangents: list[Any], instantiate: Sequence[bool]) -> list[Any]:
    """Tangents or cotangents with values in place of zeros where wanted."""
    if not instantiate:
        return tangents
    return [
        families.instantiate(t) if w else t
        for t, w in zip(tangents, instantiate, strict=True)
    ]


def _runner(program: ir.Olympuspr) -> Callable[..., list[Any]]:
    return lambda *args: ir.eval_olympuspr(program, (), *args)


def _tangent_avals(program: ir.Olympuspr, nonzero: Sequence[bool]) -> list[Any]:
    return [
        v.aval.to_tangent() for v, m in zip(program.invars, nonzero, strict=True) if m
    ]


def linearize_olympuspr(
    program: ir.Olympuspr, nonzero: Sequence[bool], instantiate: Sequence[bool] = ()
) -> tuple[ir.ClosedOlympuspr, ir.ClosedOlympuspr, list[Any]]:
    """Splits a program's derivative in two.

    Args:
      program: its constants come first among the inputs of the result.
      nonzero: which inputs have a nonzero tangent.
      instantiate: which outputs must have one, even if it is zero; none if empty.

    Returns:
      A program that returns outputs and residuals; a linear program of residuals and
      nonzero tangents of inputs; and for each output a Zero, or None where its tangent
      is nonzero.
    """
    whole = ir.hoist_consts(program)
    n_consts = len(program.constvars)
    linear: list[Any] = []

    def run(*primals: Any) -> list[Any]:
        args = list(primals)
        positions = [i + n_consts for i, m in enumerate(nonzero) if m]

        def of_nonzero(*some: Any) -> list[Any]:
            full_args = list(args)
            for i, x in zip(positions, some, strict=True):
                full_args[i] = x
            return ir.eval_olympuspr(whole, (), *full_args)

        nonzero_args = [args[i] for i in positions]
        outs, tape = linearize(of_nonzero, nonzero_args, _info(program), instantiate)
        linear[:] = [tape.program, tape.outs]  # not its constants: they are traced
        return outs + tape.consts

    forward, consts = partial_eval.trace_to_olympuspr(
        run, whole.in_avals, _info(program)
    )
    tape_program, zeros = linear
    forward, tangent = residuals.reduce(
        forward, len(program.outvars), ir.hoist_consts(tape_program)
    )
    return ir.ClosedOlympuspr(forward, consts), ir.ClosedOlympuspr(tangent), zeros


def transpose_olympuspr(
    program: ir.Olympuspr,
    linear: Sequence[bool],
    nonzero: Sequence[bool],
    instantiate: Sequence[bool] = (),
    n_sums: int | None = None,
) -> tuple[ir.ClosedOlympuspr, list[bool]]:
    """The transpose of a program that is linear in some of its inputs.

    Args:
      program: has no constants.
      linear: which inputs it is linear in.
      nonzero: which outputs have a nonzero cotangent.
      instantiate: which of the linear inputs must get one, even if it is zero; none if
        empty.
      n_sums: of a loop's body, for how many of the first linear inputs cotangents are
        summed over the steps.

    Returns:
      A program of the known inputs, the sums, and the cotangents given, that returns
      cotangents of linear inputs (new sums for those that have one); and which of those
      are there. Sums that no step adds to are left out.
    """
    known = [
        v for v, is_linear in zip(program.invars, linear, strict=True) if not is_linear
    ]
    unknown = [
        v for v, is_linear in zip(program.invars, linear, strict=True) if is_linear
    ]
    tape = program.replace(constvars=known, invars=unknown)
    in_nonzero: list[bool] = []

    def run(*args: Any) -> list[Any]:
        n = len(known) + (n_sums or 0)
        values, nonzero_cts = args[: len(known)], iter(args[n:])
        sums = None if n_sums is None else args[len(known) : n]
        cts = [
            next(nonzero_cts) if f else Zero(v.aval.to_cotangent())
            for f, v in zip(nonzero, program.outvars, strict=True)
        ]
        in_cts = backward_pass(tape, values, cts, sums)
        in_cts = _instantiate_zeros(in_cts, instantiate)
        in_nonzero[:] = [type(ct) is not Zero for ct in in_cts]
        return [ct for ct in in_cts if type(ct) is not Zero]

    in_avals = [v.aval for v in known]
    in_avals += [v.aval.to_cotangent() for v in unknown[: n_sums or 0]]
    rows = zip(program.outvars, nonzero, strict=True)
    in_avals += [v.aval.to_cotangent() for v, f in rows if f]
    closed, consts = partial_eval.trace_to_olympuspr(run, in_avals, _info(program))
    sums = closed.invars[len(known) : len(known) + (n_sums or 0)]
    unused = {v for v, f in zip(sums, in_nonzero, strict=False) if not f}
    closed = closed.replace(invars=[v for v in closed.invars if v not in unused])
    return ir.ClosedOlympuspr(closed, consts), in_nonzero
