"""Evaluation: the interpreter at the bottom, which compiles and runs.

`EvalTrace` installs itself as the base interpreter. Each application of a primitive is
compiled once per (types, parameters, settings) and dispatched asynchronously. `fuse`
makes a function of several primitives run as one such program when nothing is traced.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any

from olympus._src.core import avals as avals_
from olympus._src.core import dtypes, ir, primitive, trace
from olympus._src.explanations import operations
from olympus._src.foundation import caching, config, source_info
from olympus._src.interpreters import (
    concrete_arrays,
    first_runs,
    lowered_programs,
    partial_eval,
)
from olympus._src.interpreters.compiled_programs import CompiledProgram, build
from olympus._src.interpreters.concrete_arrays import as_array
from olympus._src.runtime import build_options, client
from olympus._src.sharding.division import Division

ArrayImpl = concrete_arrays.ArrayImpl
current = trace.current


class EvalTrace(trace.Trace):
    """The interpreter that runs each primitive on concrete arrays."""

    __slots__ = ()
    is_adopted = False

    def __init__(self) -> None:
        super().__init__(None)

    def process(self, p: Any, args: tuple[Any, ...], params: Any) -> Any:
        if p.impl is not None:
            return p.impl(*args, **params)
        return apply_primitive(p, args, params)

    def __repr__(self) -> str:
        return "EvalTrace"


# Eager operations on little data spend their first call compiling and all others being
# dispatched, so they are compiled in the quickest way.
_QUICK_ELEMENTS = 1 << 9


def eager_options(
    lowered: lowered_programs.LoweredProgram,
) -> Sequence[tuple[str, Any]]:
    """Compile options for a program made for one eager operation."""
    elements = sum(a.size for a in (*lowered.in_avals, *lowered.out_avals))
    if elements > _QUICK_ELEMENTS or _needs_full_build(lowered.program):
        return ()
    return build_options.quick(lowered.platform)


def _needs_full_build(program: ir.Olympuspr) -> bool:
    return any(
        eqn.primitive.needs_full_build
        or any(map(_needs_full_build, ir.subprograms(eqn.params)))
        for eqn in program.eqns
    )


def compile_eager(lowered: lowered_programs.LoweredProgram) -> CompiledProgram:
    """Compiles a program made for one eager operation."""
    return build(lowered, tuple(eager_options(lowered)))


_programs: dict[Any, Any] = {}
caching.register(_programs.clear, "eager programs")


def apply_primitive(p: Any, args: tuple[Any, ...], params: Any) -> Any:
    """Compiles a primitive for its arguments' types, once, and runs it."""
    in_avals = []
    operands = []
    for x in args:
        if type(x) is not ArrayImpl:
            x = as_array(x)
        in_avals.append(x.aval)
        operands.append(x)
    try:
        key: Any = (p, tuple(in_avals), config.trace_context())
        if params:
            key += tuple([(name, caching.exact(v)) for name, v in params.items()])
        program = _programs.get(key) if p.rules_are_fixed else None
    except TypeError:
        key, program = None, None
    if program is None or (
        client.several_devices() and not concrete_arrays.are_at_default(args)
    ):
        arrays = list(map(as_array, args))
        device = concrete_arrays.common_device(arrays)
        program = _program_for(p, in_avals, params, key, device)
        operands = concrete_arrays.on_device(arrays, device)
        followed = config.debug_key_reuse.value and handle_keys(in_avals)
        if followed and type(program) is CompiledProgram:
            outs = follow_run(program, args, operands)
            return outs if p.multiple_results else outs[0]
    outs = program.run(operands)
    return outs if p.multiple_results else outs[0]


def _program_for(
    p: Any, in_avals: Sequence[Any], params: Any, key: Any, device: Any
) -> CompiledProgram | first_runs.FirstRuns:
    by_device = (key, device)
    if key is not None and p.rules_are_fixed:
        cached_program = _programs.get(by_device)
        if cached_program is not None:
            return cached_program
    info = ir.DebugInfo("evaluation", p.name)

    def run(*args: Any) -> Any:
        out = p.bind(*args, **params)
        return out if p.multiple_results else [out]

    program, consts = partial_eval.trace_to_olympuspr(run, in_avals, info)
    forget_lines(program)
    is_kept = key is not None and p.rules_are_fixed and _are_told_by_value(params)
    followed = config.debug_key_reuse.value and handle_keys(in_avals)
    # A call is brought there only with arrays that are on the default device.
    is_usual = is_kept and device is None and not followed

    def compile_program() -> CompiledProgram:
        with operations.noted(p.name, in_avals, params, device) as note:
            lowered = lowered_programs.lower(
                program, consts, name=p.name, device=device
            )
            compiled = note.adopt(lowered, compile_eager(lowered))
        if is_kept:
            make_room(_programs)
            _programs[by_device] = compiled
        if is_usual:
            _programs[key] = compiled
        return compiled

    plan = first_runs.plan_of(program, consts) if is_usual else None
    if plan is None:
        return compile_program()
    make_room(_programs)
    first = first_runs.FirstRuns(plan, lambda: compile_program().run)
    _programs[by_device] = _programs[key] = first
    return first


def _are_told_by_value(params: dict[str, Any]) -> bool:
    return all(map(primitive.is_told_by_value, params.values()))


def forget_lines(program: ir.Olympuspr) -> None:
    """Takes the user's lines out of a program that serves calls from all lines."""
    for eqn in program.eqns:
        eqn.source = None


MAX_PROGRAMS = 4096


def make_room(programs: dict[Any, Any]) -> None:
    """Empties a table of programs that is full; they are in the cache by text still."""
    if len(programs) >= MAX_PROGRAMS:
        programs.clear()


def fuse(fun: Callable[..., Any], quick: bool = True) -> Callable[..., Any]:
    """Makes a function run as one compiled program when nothing is being traced.

    Array arguments are positional, everything else is given by keyword and hashable. In
    a trace, or where jit is disabled, the function is simply called. A small program is
    compiled in the quickest way unless `quick` is off; its results then have the bits
    that they have in a jitted program, as far as XLA gives the same bits at all.
    """
    # Where all arrays are in one place, callers look into the first by themselves.
    programs: dict[Any, Any] = {}
    default_programs: dict[Any, Any] = {}
    caching.register(programs.clear, f"fused {fun.__name__}")
    caching.register(default_programs.clear, f"fused {fun.__name__}, placed")
    client.on_several(programs.clear)
    name = fun.__name__

    def call(*args: Any, **static: Any) -> Any:
        if current.trace is not _eval:
            return fun(*args, **static)
        key: list[Any] = [config.trace_context()]
        operands = []
        for x in args:
            if type(x) is ArrayImpl:
                key.append(x.aval)
                operands.append(x)
                continue
            x = _fusable(x)
            if x is None:
                return fun(*args, **static)
            key.append(x.aval)
            operands.append(x)
        table = programs
        if client.several_devices():
            if not concrete_arrays.are_at_default(args):
                return _call_placed(args, static, key, operands)
            table = default_programs
        for option, value in static.items():
            key.append(option)
            key.append(caching.exact(value))
        try:
            program = table.get(tuple(key))
        except TypeError:
            return fun(*args, **static)
        if program is None:
            if config.jit_disabled():
                return fun(*args, **static)
            in_avals = key[1 : len(args) + 1]
            if config.debug_key_reuse.value and handle_keys(in_avals):
                return _call_followed(args, static, table, key)
            fused = _Fused(fun, name, in_avals, static, quick)
            program = fused.first_run(table, tuple(key))
        return program(operands)

    def _call_placed(args: Any, static: Any, key: list[Any], operands: Any) -> Any:
        """A call where the arguments, or the mesh that is set, say where it runs."""
        place = concrete_arrays.common_device(args)
        if config.jit_disabled() or config.debug_key_reuse.value:
            return fun(*args, **static)
        if not isinstance(place, Division):
            operands = concrete_arrays.operands_on(args, place)
        in_avals = key[1:]
        options = [(name, caching.exact(x)) for name, x in static.items()]
        try:
            placed = (*key, place, *options)
            program = default_programs.get(placed)
        except TypeError:
            return fun(*args, **static)
        if program is None:
            fused = _Fused(fun, name, in_avals, static, quick, place)
            program = fused.compile_for(default_programs, placed)
        return program(operands)

    def _call_followed(args: Any, static: Any, table: Any, key: list[Any]) -> Any:
        """A call whose keys are marked; its program is not where calls look first."""
        followed = ("followed", *key)
        fused = table.get(followed)
        arrays = list(map(as_array, args))
        if fused is None:
            fused = _Fused(fun, name, [x.aval for x in arrays], static, quick)
            make_room(table)
            table[followed] = fused
        outs = follow_run(fused.compile_once(), args, arrays)
        return outs[0] if fused.container is None else fused.container(outs)

    call.__name__ = call.__qualname__ = name
    call.__doc__ = fun.__doc__
    call.__module__ = fun.__module__
    call.__wrapped__ = fun  # type: ignore[attr-defined]
    # By settings, types and metadata: callers that know these look here first.
    call.programs = programs  # type: ignore[attr-defined]
    return call


def _fusable(x: Any) -> Any:
    """A concrete array for an argument of a fused function; None: call it plainly."""
    if isinstance(x, trace.Tracer):
        return None
    if not avals_.is_array_like(x):
        return None
    return as_array(x)


class _Fused:
    """A fused function for some types, as a program.

    Attributes:
      container: what holds several results; None where there is one.
    """

    __slots__ = ("_args", "_compiled", "_quick", "container")

    def __init__(
        self,
        fun: Callable[..., Any],
        name: str,
        in_avals: Sequence[Any],
        static: Any,
        quick: bool,
        place: Any = None,
    ) -> None:
        container: Any = None

        def run(*args: Any) -> Any:
            nonlocal container
            out = fun(*args, **static)
            if isinstance(out, (tuple, list)):
                container = list if isinstance(out, list) else tuple
            return [out] if container is None else out

        info = ir.DebugInfo("evaluation", name, source_info.function_location(fun))
        program, consts = partial_eval.trace_to_olympuspr(run, in_avals, info)
        forget_lines(program)
        self._args = fun, name, in_avals, static, place, program, consts
        self._quick = quick
        self._compiled: CompiledProgram | None = None
        self.container = container

    def compile_once(self) -> CompiledProgram:
        """The compiled program, which is kept."""
        if self._compiled is None:
            fun, name, in_avals, static, place, program, consts = self._args
            code = source_info.function_code(fun)
            with operations.noted(name, in_avals, static, place, code=code) as note:
                lowered = lowered_programs.lower(
                    program, consts, name=name, device=place
                )
                build_program = compile_eager if self._quick else build
                self._compiled = note.adopt(lowered, build_program(lowered))
        return self._compiled

    def compile_for(self, table: dict[Any, Any], key: Any) -> Callable[..., Any]:
        """What makes the function's results of operands; kept in a table."""
        compiled, container = self.compile_once(), self.container
        run: Callable[[list[Any]], Any] = compiled.run_one
        if container is not None:
            run = lambda operands: container(compiled.run(operands))  # noqa: E731
        make_room(table)
        table[key] = run
        return run

    def first_run(self, table: dict[Any, Any], key: Any) -> Callable[..., Any]:
        """The same for the first calls, which NumPy may make."""
        *_, program, consts = self._args
        container = self.container
        plan = first_runs.plan_of(program, consts)
        if plan is None:
            return self.compile_for(table, key)
        run = first_runs.FirstRuns(
            plan,
            lambda: self.compile_for(table, key),
            container or operator.itemgetter(0),
        ).run
        make_room(table)
        table[key] = run
        return run


# -- random keys that are used twice ---------------------------------------------------

_run_compiled = primitive.LateRule("interpreters.key_reuse", "run_compiled")
share_keys = primitive.LateRule("interpreters.key_reuse", "share_keys")


def handle_keys(avals: Sequence[Any]) -> bool:
    """Whether some of the types are of random keys."""
    return any(dtypes.is_extended(getattr(aval, "dtype", None)) for aval in avals)


def follow_run(
    compiled: CompiledProgram, args: Sequence[Any], operands: list[Any]
) -> list[Any]:
    """Runs a program with `debug_key_reuse`, which marks the keys of its arguments."""
    return _run_compiled(compiled, args, operands)


_eval = EvalTrace()
trace.set_base(_eval)


def eval_trace() -> EvalTrace:
    """The base interpreter."""
    return _eval


def is_evaluating() -> bool:
    """Whether nothing is being traced in this thread."""
    return current.trace is _eval


def is_staging() -> bool:
    """Whether operations of this thread are being recorded, so that none runs now."""
    return partial_eval.find_recorder() is not None
