"""Staging: runs a Python function on tracers and records what it does as a program."""

from __future__ import annotations

import functools
import gc
import operator
import weakref
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from olympus._src.core import (
    array_type,
    checker,
    dtypes,
    effects,
    ir,
    refs,
    scopes,
    sizes,
    trace,
)
from olympus._src.core import avals as avals_
from olympus._src.core.primitive import Primitive
from olympus._src.foundation import (
    array_protocol,
    config,
    errors,
    source_info,
    vocabulary,
)
from olympus._src.interpreters import embedding

current = trace.current
_new = object.__new__
_SCALARS = (bool, int, float, complex)


class DynamicOlympusprTracer(trace.Tracer):
    """A variable of the program that is being recorded."""

    __slots__ = ("variable",)

    def __init__(self, trace_: DynamicOlympusprTrace, var: ir.Var | ir.Literal) -> None:
        self._trace = trace_
        self.aval = var.aval
        self.variable: Any = var


class DynamicOlympusprTrace(trace.Trace):
    """Records applications of primitives as equations."""

    __slots__ = (
        "_consts",
        "consts",
        "constvars",
        "debug_info",
        "ended",
        "eqns",
        "invars",
    )
    is_adopted = False

    def __init__(self, parent: trace.Trace, debug_info: ir.DebugInfo) -> None:
        super().__init__(parent)
        self.debug_info = debug_info
        self.eqns: list[ir.Eqn] = []
        self.invars: list[ir.Var] = []
        self.constvars: list[ir.Var] = []
        self.consts: list[Any] = []
        self._consts: dict[int, ir.Var] = {}
        self.ended = False

    # -- recording ---------------------------------------------------------------

    def process(self, p: Any, args: tuple[Any, ...], params: Any) -> Any:
        if p.stage is not None:
            return p.stage(self, args, params)
        return self.record(p, args, params)

    def record(self, p: Any, args: Sequence[Any], params: Any) -> Any:
        """Records the application as one equation; returns its results."""
        atoms = []
        in_avals = []
        for x in args:
            if type(x) is DynamicOlympusprTracer and x._trace is self:
                atom = x.variable
            else:
                atom = self.lift(x, p.name)
            atoms.append(atom)
            in_avals.append(atom.aval)
        try:
            out, effects_ = p.results(tuple(in_avals), params)
        except (TypeError, ValueError) as error:
            trace.name_operands(error, args)
            raise
        # Each operation of each program comes through here: what it makes is filled in
        # without calls of `__init__`, which take as long as all the rest.
        eqn = _new(ir.Eqn)
        eqn.primitive, eqn.invars, eqn.params = p, atoms, params
        eqn.effects, eqn.scope = effects_, current.scope
        position = current.position
        eqn.source = source_info.capture() if position is None else position
        self.eqns.append(eqn)
        if p.multiple_results:
            eqn.outvars = [ir.Var(aval) for aval in out]
            return [DynamicOlympusprTracer(self, v) for v in eqn.outvars]
        var = _new(ir.Var)
        tracer = _new(DynamicOlympusprTracer)
        var.aval = tracer.aval = out
        tracer.variable, tracer._trace = var, self
        eqn.outvars = [var]
        return tracer

    def new_input(self, aval: Any) -> DynamicOlympusprTracer:
        """A tracer for one more input of the program."""
        var = ir.Var(aval)
        self.invars.append(var)
        return DynamicOlympusprTracer(self, var)

    def new_arg(self, aval: Any, source_info: Any = None) -> DynamicOlympusprTracer:
        """`new_input`, as libraries call it that read values from elsewhere."""
        return self.new_input(aval)

    def lift(self, x: Any, where: str = "the function's result") -> Any:
        """The atom that stands for any value: a variable, a literal, or a constant."""
        kind = type(x)
        if kind in _SCALARS:
            return ir.Literal(x, avals_.aval_of(x))
        if isinstance(x, trace.Tracer):
            return self.lift_tracer(x, where)
        aval = avals_.aval_of(x)
        if kind is refs.Ref or aval.is_high:
            return self.const(x, aval)
        if isinstance(x, np.generic) and x.dtype == aval.dtype:
            return ir.Literal(x, aval)
        if array_protocol.is_array(x):
            return self.lift(array_protocol.array_of(x), where)
        # Libraries written for JAX count the constants of a program.
        is_constant = vocabulary.is_jax() and kind in array_type.concrete_types()
        if not aval.shape and dtypes.has_numbers(aval.dtype) and not is_constant:
            return _literal(x, aval)
        return self.const(x, aval)

    def lift_tracer(self, x: trace.Tracer, where: str) -> Any:
        """The atom that stands for a tracer: of this trace, or of one around it."""
        owner = x._trace
        if owner is self:
            return x.variable  # type: ignore[attr-defined]
        is_next = owner is self.parent and not owner.ended  # as most are
        if not (is_next or _encloses(owner, self)):
            raise trace.leak_error(x, where)
        return self.const(x, x.aval)

    def const(self, x: Any, aval: Any) -> ir.Var:
        """The variable that stands for a value from outside."""
        var = self._consts.get(id(x))
        if var is None:
            var = self._consts[id(x)] = ir.Var(aval)
            self.constvars.append(var)
            self.consts.append(x)  # keeps x alive, so that its id stays its own
        return var

    def lift_number(self, x: Any) -> Any:
        if not dtypes.has_numbers(x.aval.dtype):
            return x
        return DynamicOlympusprTracer(self, _literal(x, x.aval))

    # -- closing -----------------------------------------------------------------

    def close(self, outs: Sequence[Any]) -> tuple[ir.Olympuspr, list[Any]]:
        """Ends the trace; returns the program and the values of its constants."""
        outvars = [self.lift(x) for x in outs]
        if refs.are_in_use():
            self._check_refs(outs, outvars)
        program = ir.Olympuspr(
            self.constvars,
            self.invars,
            outvars,
            self.eqns,
            debug_info=self.debug_info,
        )
        return program, self.consts

    def _check_refs(self, outs: Sequence[Any], outvars: Sequence[Any]) -> None:
        """Raises ValueError where a ref is returned, or used after its end."""
        for i, (x, v) in enumerate(zip(outs, outvars, strict=True)):
            if refs.is_ref_type(v.aval):
                raise self._returned_ref(x, v, i)
        ended: dict[Any, ir.Eqn] = {}
        for eqn in self.eqns:
            for v in eqn.invars:
                if type(v) is not ir.Literal and v in ended:
                    end, place = ended[v], eqn.source
                    error = refs.ended_error(v.aval, end.primitive.ends_ref, end.source)
                    at = "" if place is None else f"\nIt is used at {place}."
                    raise type(error)(f"{error}{at}")
            if eqn.primitive.ends_ref is not None:
                ended[eqn.invars[0]] = eqn

    def _returned_ref(self, x: Any, v: ir.Var, i: int) -> ValueError:
        info = self.debug_info
        place = f" at {info.func_location}" if info.func_location else ""
        paths = info.result_paths
        path = f" at {paths[i]}" if paths is not None and i < len(paths) else ""
        own = isinstance(x, DynamicOlympusprTracer) and x._trace is self
        origin = self.made_at(x) if own else "It is a ref from outside."
        return ValueError(
            f"{info.traced_for}: {info.func_name}{place} must not return a ref, got "
            f"one of type {v.aval.short()}{path}; return what it holds, ref[...]"
            f"\n{origin}"
        )

    # -- explanations ------------------------------------------------------------

    def explain(self, tracer: trace.Tracer) -> str:
        info = self.debug_info
        place = f" at {info.func_location}" if info.func_location else ""
        text = (
            f"The error occurred while tracing the function {info.func_name}{place} "
            f"for {info.traced_for}."
        )
        var = tracer.variable  # type: ignore[attr-defined]
        reason, cure = self._dependence(var), self._static_cure(var)
        text = f"{text} {reason}" if reason else text
        return f"{text}\n{cure}" if cure else text

    def made_at(self, tracer: trace.Tracer) -> str:
        info = self.debug_info
        function = f"the function {info.func_name}"
        if info.func_location:
            function += f" at {info.func_location}"
        var = tracer.variable  # type: ignore[attr-defined]
        if type(var) is ir.Literal:
            return (
                f"The traced value is an array of the number {var.val} that {function} "
                f"made while it was traced for {info.traced_for}."
            )
        for eqn in self.eqns:
            if any(v is var for v in eqn.outvars):
                place = f" at {eqn.source}" if eqn.source is not None else ""
                return (
                    f"The traced value was made by {eqn.primitive.name}{place}, while "
                    f"{function} was traced for {info.traced_for}."
                )
        name = self._input_name(var)
        which = f"the argument {name}" if name else "an input"
        return (
            f"The traced value is {which} of {function}, traced for {info.traced_for}."
        )

    def origin(self, tracer: trace.Tracer) -> str:
        var = tracer.variable  # type: ignore[attr-defined]
        name = self._input_name(var)
        if name:
            return f"the argument {name} of {self.debug_info.func_name}"
        for eqn in reversed(self.eqns):
            if any(v is var for v in eqn.outvars):
                place = "" if eqn.source is None else f" at {eqn.source}"
                return f"the result of {eqn.primitive.name}{place}"
        return ""

    def _input_name(self, var: ir.Var) -> str:
        names = self.debug_info.arg_names
        for i, v in enumerate(self.invars):
            if v is var and names is not None and i < len(names):
                return names[i]
        return ""

    def _dependence(self, var: Any) -> str:
        if type(var) is ir.Literal:
            return (
                f"It is an array made of the number {var.val} while tracing, so it is "
                "traced too; use the number itself, or a NumPy array."
            )
        inputs = self._inputs_of(var)
        names = [n for v in self.invars if v in inputs and (n := self._input_name(v))]
        if names:
            several = len(names) > 1
            listed = " and ".join(names) if len(names) < 3 else ", ".join(names)
            return (
                "This concrete value was not available in Python because it depends "
                f"on the value{'s' if several else ''} of the argument"
                f"{'s' if several else ''} {listed}."
            )
        makers = [e for e in self.eqns if any(v is var for v in e.outvars)]
        if not makers:
            return ""
        place = f" at {makers[0].source}" if makers[0].source is not None else ""
        return (
            "This value became a tracer because it was computed by "
            f"{makers[0].primitive.name}{place}, which the trace records."
        )

    def _static_cure(self, var: ir.Var) -> str:
        """How to make the numbers static that the value depends on, if that helps."""
        inputs = self._inputs_of(var)
        known = [v for v in self.invars if v in inputs]
        names = [self._input_name(v) for v in known]
        if self.debug_info.traced_for != "jit" or not names:
            return ""
        if any(v.aval.shape for v in known) or not all(n.isidentifier() for n in names):
            return ""
        named = repr(names[0]) if len(names) == 1 else repr(tuple(names))
        function = self.debug_info.func_name
        function = function if function.isidentifier() else "f"
        return (
            f"If {' and '.join(names)} takes few values, mark it static: "
            f"olympus.jit({function}, static_argnames={named})."
        )

    def _inputs_of(self, var: ir.Var) -> set[Any]:
        """The variables that `var` depends on."""
        needed = {var}
        for eqn in reversed(self.eqns):
            if any(v in needed for v in eqn.outvars):
                needed.update(v for v in eqn.invars if type(v) is not ir.Literal)
        return needed


def _encloses(outer: trace.Trace, inner: trace.Trace) -> bool:
    step: trace.Trace | None = inner
    while step is not None:
        if step.takes(outer):
            return not getattr(outer, "ended", False)
        step = step.parent
    return False


def _literal(x: Any, aval: Any) -> ir.Literal:
    """The literal of an array without axes."""
    value = np.asarray(x).astype(aval.dtype)[()]
    return ir.Literal(_weak(value) if aval.weak_type else value, aval)


def _weak(value: Any) -> Any:
    """A number as the Python number of its dtype, or itself where there is none."""
    number = value.item()
    return number if avals_.aval_of(number).dtype == value.dtype else value


def find_recorder() -> DynamicOlympusprTrace | None:
    """The trace that records what this thread does now, if there is one."""
    ancestor = current.trace
    while ancestor is not None:
        if isinstance(ancestor, DynamicOlympusprTrace):
            return ancestor
        ancestor = ancestor.parent
    return None


# -- tracing a function ---------------------------------------------------------------


def trace_to_olympuspr(
    fun: Callable[..., Sequence[Any]],
    in_avals: Sequence[Any],
    debug_info: ir.DebugInfo,
    kind: type[DynamicOlympusprTrace] = DynamicOlympusprTrace,
) -> tuple[ir.Olympuspr, list[Any]]:
    """Traces a function of flat arguments to a program.

    Args:
      fun: takes a tracer for each aval, returns a sequence of values.
      in_avals: types of the inputs.
      debug_info: names for messages.
      kind: the interpreter that records it.

    Returns:
      The program, and a value for each of its `constvars`; a value may be a tracer of
      an enclosing trace.
    """
    if config.no_tracing.value:
        raise RuntimeError(
            f"{debug_info.func_name} would be traced for {debug_info.traced_for}, but "
            "the setting olympus_no_tracing is on; call it with these types before, or "
            "turn it off"
        )
    t = kind(current.trace, debug_info)
    outer_scope = current.scope
    outer_position = current.position
    current.scope = scopes.base()
    current.position = None
    current.trace = t
    try:
        tracers = [t.new_input(aval) for aval in in_avals]
        outs = fun(*tracers)
        program, consts = t.close(outs)
    finally:
        current.trace = t.parent
        current.scope = outer_scope
        current.position = outer_position
        t.ended = True
    trace_ref = weakref.ref(t)
    del t, tracers, outs
    check_leaks(trace_ref, DynamicOlympusprTracer, debug_info)
    if config.enable_checks.value:
        checker.check_olympuspr(program)
    return program, consts


def check_leaks(
    trace_ref: Any, kind: type[trace.Tracer], info: ir.DebugInfo | None
) -> None:
    """Raises if a tracer of a trace that has ended is still referenced, if one asks.

    Args:
      trace_ref: a weak reference to the trace; only tracers may still hold it.
      kind: the class of its tracers.
      info: names the function that was traced; None where no user did it.
    """
    if info is None or not config.check_leaks():
        return
    t = trace_ref()
    if t is None:
        return
    gc.collect()
    alive: list[Any] = [x for x in gc.get_objects() if type(x) is kind]
    alive = [x for x in alive if x._trace is t]
    if alive:
        place = f" at {info.func_location}" if info.func_location else ""
        where = f"{info.traced_for} of the function {info.func_name}{place}"
        origin = f"The traced value was made in {where}."
        origins = "\n".join(sorted({t.made_at(x) or origin for x in alive}))
        raise errors.LeakError(
            f"Leaked {len(alive)} traced value(s) from {info.func_name}: they "
            "are still referred to after the trace ended, by a global, an attribute, "
            f"a closure or a container.\n{origins}"
        )


# -- passes ---------------------------------------------------------------------------


def dce_olympuspr(
    olympuspr: ir.Olympuspr,
    used_outputs: bool | Sequence[bool],
    instantiate: bool | Sequence[bool] = False,
    live_inputs: bool | Sequence[bool] = True,
) -> tuple[ir.Olympuspr, list[bool]]:
    """Removes equations, outputs and inputs that are not used.

    Args:
      olympuspr: any program.
      used_outputs: which outputs to keep (one flag, or one for each).
      instantiate: inputs to keep even if unused (the same).
      live_inputs: refs among the inputs that are read after the program (the same):
        what is written to others, and not read in the program, is removed.

    Returns:
      The smaller program, and which inputs it still has.
    """
    program = olympuspr
    used_outputs = _as_flags(used_outputs, program.outvars)
    instantiate = _as_flags(instantiate, program.invars)
    lives = _as_flags(live_inputs, program.invars)
    rows = zip(program.invars, lives, strict=True)
    dead = {v for v, is_live in rows if not is_live and refs.is_ref_type(v.aval)}
    outvars = [v for v, used in zip(program.outvars, used_outputs, strict=True) if used]
    needed = set(outvars)  # literals too, which nobody asks for
    is_plain = not any(p.dce for p in ir.primitives_of(program))
    is_plain = is_plain and not any(map(_effects, program.eqns))
    removed: list[ir.Eqn] = []
    if is_plain:
        live_eqns = _find_live(program.eqns, needed, removed)
    else:
        live_eqns = _dce_equations(program.eqns, needed, dead)
    keep = [
        v in needed or force
        for v, force in zip(program.invars, instantiate, strict=True)
    ]
    invars = [v for v, k in zip(program.invars, keep, strict=True) if k]
    if (
        len(live_eqns) == len(program.eqns)
        and all(keep)
        and len(outvars) == len(program.outvars)
        and all(map(operator.is_, live_eqns, program.eqns))
    ):
        return program, keep  # with what is known of it
    debug = _dce_debug_info(program.debug_info, keep, used_outputs)
    small = ir.Olympuspr(
        program.constvars,
        invars,
        outvars,
        live_eqns,
        effects=effects.no_effects if is_plain else None,
        debug_info=debug,
    )
    if is_plain:
        ir.inherit_primitives(small, program, removed=removed)
    return ir.inherit_programs(small, program), keep


def _find_live(
    eqns: Sequence[ir.Eqn], needed: set[Any], removed: list[ir.Eqn]
) -> list[ir.Eqn]:
    """The equations that are needed, where none has a rule of its own, or an effect.

    Args:
      eqns: all of them.
      needed: the values that are needed; takes the operands of those equations.
      removed: takes the others.
    """
    live: list[ir.Eqn] = []
    # Each program that is lowered comes through here.
    is_unused, need = needed.isdisjoint, needed.update
    for eqn in reversed(eqns):
        if is_unused(eqn.outvars):
            removed.append(eqn)
        else:
            live.append(eqn)
            need(eqn.invars)
    live.reverse()
    return live


def _dce_equations(
    eqns: Sequence[ir.Eqn], needed: set[Any], dead: set[Any]
) -> list[ir.Eqn]:
    """The same for any equations, by their rules.

    Args:
      eqns: all of them.
      needed: the values that are needed; takes the operands of those equations.
      dead: refs that nothing reads after the program.
    """
    live: list[ir.Eqn] = []
    for eqn in reversed(eqns):
        if needed.isdisjoint(eqn.outvars) and (
            not eqn.effects or _changes_only(eqn, dead - needed)
        ):
            continue
        if eqn.primitive.dce is not None:
            small_eqn = _dce_equation(eqn, [v in needed for v in eqn.outvars])
            if small_eqn is None:
                continue
            eqn = small_eqn
        live.append(eqn)
        needed.update(eqn.invars)
    live.reverse()
    return live


_effects = operator.attrgetter("effects")


def _as_flags(flags: bool | Sequence[bool], variables: Sequence[Any]) -> Sequence[bool]:
    return [flags] * len(variables) if isinstance(flags, bool) else flags


def _changes_only(eqn: ir.Eqn, dead: set[ir.Var]) -> bool:
    """Whether all that an equation does besides its results is done to some refs."""
    if not dead or not eqn.effects <= refs.READS_AND_WRITES:
        return False
    return all(v in dead for v in eqn.invars if refs.is_ref_type(v.aval))


def used_inputs(olympuspr: ir.Olympuspr) -> list[bool]:
    """Which inputs of a program its results and effects need."""
    return olympuspr.derived("used inputs", lambda p: dce_olympuspr(p, True)[1])


def restore_inputs(
    smaller: ir.Olympuspr,
    program: ir.Olympuspr,
    used_outputs: Sequence[bool],
    inputs: Sequence[bool],
) -> ir.Olympuspr:
    """What `dce_olympuspr` gave, with inputs that it had removed.

    The same as another run of it with `instantiate`, which costs as much as the first.

    Args:
      smaller: what it gave.
      program, used_outputs: of what.
      inputs: those to have; all that are used are among them.
    """
    invars = [v for v, k in zip(program.invars, inputs, strict=True) if k]
    if len(invars) == len(smaller.invars):
        return smaller
    info = _dce_debug_info(program.debug_info, inputs, used_outputs)
    longer = smaller.replace(invars=invars, debug_info=info)
    return ir.inherit_programs(longer, smaller)


def is_whole(smaller: ir.Olympuspr, program: ir.Olympuspr) -> bool:
    """Whether `dce_olympuspr` found nothing to remove, in inner programs neither."""
    counts = [(len(p.invars), len(p.outvars), len(p.eqns)) for p in (smaller, program)]
    rows = zip(smaller.eqns, program.eqns, strict=False)
    return counts[0] == counts[1] and all(a is b for a, b in rows)


def _dce_equation(eqn: ir.Eqn, used: list[bool]) -> ir.Eqn | None:
    _, smaller = eqn.primitive.dce(used, eqn)
    return smaller


def _dce_debug_info(
    info: ir.DebugInfo | None, keep: Sequence[bool], used: Sequence[bool]
) -> ir.DebugInfo | None:
    if info is None or (all(keep) and all(used)):
        return info
    names, paths = info.arg_names, info.result_paths
    # Names may be made when they are read: only those that some are removed of are.
    if names is not None and len(names) == len(keep) and not all(keep):
        names = [n for n, k in zip(names, keep, strict=True) if k]
    if paths is not None and len(paths) == len(used) and not all(used):
        paths = [n for n, u in zip(paths, used, strict=True) if u]
    return info.with_names(names, paths)


def expand(
    program: ir.Olympuspr, platform: str, *, divisible: bool = False
) -> ir.Olympuspr:
    """Replaces equations that are lowered as other operations on a platform.

    Args:
      program: what will be lowered.
      platform: for which.
      divisible: whether kernels that only this process has, and that the compiler
        cannot divide over devices, are replaced too.
    """
    return _expand(program, (platform, divisible))


_Target = tuple[str, bool]


def _replacement(eqn: ir.Eqn, target: _Target) -> Any:
    """The function over other operations that is lowered for an equation, or None."""
    p = eqn.primitive
    platform, divisible = target
    if p.rewrite is not None and (
        getattr(p.rewrite, "takes_symbolic_sizes", False) or not _is_dynamic(eqn)
    ):
        function = p.rewrite(platform, *[v.aval for v in eqn.invars], **eqn.params)
        if function is not None:
            return function
    if p.decompose is not None and (p.lower is None or divisible):
        return functools.partial(p.decompose, **eqn.params)
    return None


def _find_replacement(eqn: ir.Eqn, target: _Target, stays: set[Any]) -> Any:
    """The same, where equations of one operation and one kind may come many times."""
    if not eqn.primitive.rules_are_fixed:
        return _replacement(eqn, target)
    params = eqn.params
    try:
        key = (eqn.primitive, *params, *params.values(), *[v.aval for v in eqn.invars])
        if key in stays:
            return None
    except TypeError:  # a parameter that has no hash
        return _replacement(eqn, target)
    function = _replacement(eqn, target)
    if function is None:
        stays.add(key)
    return function


def _is_dynamic(eqn: ir.Eqn) -> bool:
    """Whether sizes are symbolic, so that the fastest form is not known."""
    for v in (*eqn.invars, *eqn.outvars):
        for d in getattr(v.aval, "shape", ()):
            if type(d) is not int and sizes.is_symbolic(d):
                return True
    return False


def _expand(program: ir.Olympuspr, target: _Target) -> ir.Olympuspr:
    key = "expanded", target, Primitive.n_changes
    expanded: ir.Olympuspr = program.derived(key, lambda p: _write_expanded(p, target))
    return expanded


def _write_expanded(program: ir.Olympuspr, target: _Target) -> ir.Olympuspr:
    """The program with replacements; the same object where there are none."""
    primitives = ir.primitives_of(program)
    replaceable = {p for p in primitives if p.rewrite or p.decompose}
    holders = ir.equations_with_programs(program)
    if not replaceable and not holders:  # as of most programs of elementwise operations
        return program
    stays: set[Any] = set()  # operations, parameters and types that are not replaced
    functions: dict[int, Any] = {}  # that are lowered in place of equations
    inner: dict[int, ir.Eqn] = {}  # equations with replacements in their programs
    at = [i for i, eqn in enumerate(program.eqns) if eqn.primitive in replaceable]
    for i in at:
        function = _find_replacement(program.eqns[i], target, stays)
        if function is not None:
            functions[i] = function
    for i, eqn in holders.items():
        if i not in functions:
            expanded_eqn = _expand_inside(eqn, target)
            if expanded_eqn is not eqn:
                inner[i] = expanded_eqn
    if not functions and not inner:
        return program
    eqns: list[ir.Eqn] = []
    # What is read in place of the results of equations that were replaced.
    env: dict[Any, Any] = {}
    reads_none_of = env.keys().isdisjoint
    has_programs = bool(holders)
    for i, eqn in enumerate(program.eqns):
        eqn = inner.get(i, eqn)
        if not reads_none_of(eqn.invars):
            eqn = eqn.replace(invars=[env.get(v, v) for v in eqn.invars])
        if i in functions:
            n = len(eqns)
            outs = _write_replacement(eqn, functions[i], target, eqns)
            env.update(zip(eqn.outvars, outs, strict=True))
            has_programs = has_programs or any(map(_has_programs, eqns[n:]))
        else:
            eqns.append(eqn)
    outvars = [env.get(v, v) for v in program.outvars]
    expanded = program.replace(eqns=eqns, outvars=outvars)
    if not has_programs:
        ir.inherit_programs(expanded, program)
    if config.enable_checks.value:
        checker.check_olympuspr(expanded)
    return expanded


def _expand_inside(eqn: ir.Eqn, target: _Target) -> ir.Eqn:
    """An equation, with replacements in the programs that it holds."""
    params = map_programs(lambda program: _expand(program, target), eqn.params)
    if all(map(operator.is_, params.values(), eqn.params.values())):
        return eqn
    avals = tuple([v.aval for v in eqn.invars])
    effects_ = eqn.primitive.results(avals, params)[1]
    ordered = effects.ordered(eqn.effects)
    return eqn.replace(params=params, effects=effects_.union(ordered))


def _write_replacement(
    eqn: ir.Eqn, function: Any, target: _Target, eqns: list[ir.Eqn]
) -> list[Any]:
    """Writes the equations of a function in place of an equation.

    Args:
      eqn: what is replaced.
      function: of its operands.
      target: for what the program is expanded.
      eqns: what is written to.

    Returns:
      What is read in place of its results.
    """
    is_known = [type(v) is ir.Literal and v.aval.shape == () for v in eqn.invars]
    operands = [v for v, k in zip(eqn.invars, is_known, strict=True) if not k]

    def run(*tracers: Any) -> Sequence[Any]:
        current.position, current.scope = eqn.source, eqn.scope
        values = iter(tracers)
        rows = zip(eqn.invars, is_known, strict=True)
        out = function(*[v.val if known else next(values) for v, known in rows])
        return out if eqn.primitive.multiple_results else [out]

    info = ir.DebugInfo("expansion", "program")
    traced, consts = trace_to_olympuspr(run, [v.aval for v in operands], info)
    if consts:
        traced = embedding.write_in_place(traced, consts)
    order = frozenset(effects.ordered(eqn.effects))
    if order:
        ordered = [_keep_order(e, order, inside=True) for e in traced.eqns]
        traced = traced.replace(eqns=ordered)
    traced = _expand(traced, target)  # what replaces it may need it too
    env: dict[Any, Any] = dict(zip(traced.invars, operands, strict=True))
    eqns += [e.replace(invars=[env.get(v, v) for v in e.invars]) for e in traced.eqns]
    return [env.get(v, v) for v in traced.outvars]


def _has_programs(eqn: ir.Eqn) -> bool:
    return any(True for _ in ir.subprograms(eqn.params))


def _keep_order(eqn: ir.Eqn, order: frozenset[Any], inside: bool) -> ir.Eqn:
    """An equation that stands for one with ordered effects, and has its part in them.

    Operations without an effect have no place in the order.

    Args:
      eqn: the equation.
      order: the ordered effects of what it stands for.
      inside: whether the operations of its programs have their part too; else they
        have it already.
    """
    has_programs = _has_programs(eqn)
    if not eqn.effects or (has_programs and not inside):
        return eqn

    def keep_order_in(program: ir.Olympuspr) -> ir.Olympuspr:
        eqns = [_keep_order(e, order, inside) for e in program.eqns]
        return program.replace(eqns=eqns)

    params = map_programs(keep_order_in, eqn.params) if has_programs else eqn.params
    return eqn.replace(params=params, effects=eqn.effects | order)


def map_programs(f: Callable[[ir.Olympuspr], ir.Olympuspr], params: Any) -> Any:
    """Parameters with `f` of each program among them; the rest are the same objects."""
    return {name: _map_parameter(f, value) for name, value in params.items()}


def _map_parameter(f: Callable[[ir.Olympuspr], ir.Olympuspr], value: Any) -> Any:
    if isinstance(value, ir.ClosedOlympuspr):
        new = f(value.olympuspr)
        return value if new is value.olympuspr else value.replace(olympuspr=new)
    if isinstance(value, ir.Olympuspr):
        return f(value)
    if isinstance(value, tuple) and value and isinstance(value[0], ir.ClosedOlympuspr):
        items = [_map_parameter(f, v) for v in value]
        if not all(map(operator.is_, items, value)):
            return tuple.__new__(type(value), items)
    return value
