"""Evaluation: the interpreter at the bottom, which compiles and runs.

`EvalTrace` installs itself as the base interpreter. Each application of a primitive is
compiled once per (types, parameters, settings) and dispatched asynchronously. `fuse`
makes a function of several primitives run as one such program when nothing is traced.
`LoweredProgram` and `CompiledProgram` carry whole programs, for jit and the stages.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from olympus._src.core import array_type, dtypes, effects, ir, primitive, trace
from olympus._src.core import avals as avals_
from olympus._src.foundation import caching, config, events, source_info
from olympus._src.interpreters import (
    constant_warnings,
    dumps,
    fusion_limits,
    partial_eval,
)
from olympus._src.lowering import module as lowering
from olympus._src.runtime import array as array_
from olympus._src.runtime import build_options, callback, client, executable, placement

ArrayImpl = array_.ArrayImpl
current = trace.current

# -- arguments -------------------------------------------------------------------------


def as_array(x: Any, device: Any = None) -> ArrayImpl:
    """A concrete array for an array, a NumPy value or a Python scalar.

    Raises:
      UnexpectedTracerError: `x` is a tracer.
      TypeError: `x` is not array-like.
    """
    if type(x) is ArrayImpl:
        return x
    if isinstance(x, trace.Tracer):
        raise trace.leak_error(x, "a computation outside of any trace")
    kind = type(x)
    if kind is float or kind is int or kind is bool or kind is complex:
        return _scalar(x)
    if device is None and isinstance(x, np.floating):
        return _scalar(x)  # derivative rules multiply with such
    if hasattr(x, "__olympus_array__"):
        return as_array(x.__olympus_array__(), device)
    aval = avals_.aval_of(x)
    if aval.dtype == dtypes.float0:  # stored as falsehoods
        values = np.zeros(aval.shape, np.bool_)
        return with_aval(placement.put(values, aval.storage, device), aval)
    return placement.put(np.asarray(x), aval, device)


from_host = placement.put  # an array with a copy of a NumPy array; compiles nothing


def with_aval(x: ArrayImpl, aval: Any) -> ArrayImpl:
    """The same buffer as another type of the same storage: keys and their words."""
    return ArrayImpl(x._buffer, aval, x.committed)


def storage_of(x: ArrayImpl) -> ArrayImpl:
    """The same buffer as what it holds: of keys, their words."""
    return with_aval(x, x.aval.storage)


def _scalar(x: Any) -> ArrayImpl:
    """A Python or NumPy scalar on the default device; recent ones are kept."""
    key = (type(x), x if x else repr(x), config.trace_context())
    array = _scalars.get(key)
    if array is None or array.is_deleted():
        aval = avals_.aval_of(x)
        array = placement.put(np.asarray(x, aval.dtype), aval)
        if len(_scalars) > _MAX_SCALARS:
            _scalars.clear()
        _scalars[key] = array
    return array


def put(x: np.ndarray, aval: Any, device: Any = None) -> ArrayImpl:
    """A concrete array with a copy of a NumPy array's values; compiles nothing.

    Args:
      x: array of the aval's shape.
      aval: the type of the result.
      device: a device, or a sharding of one; None for the default device.
    """
    return placement.put(x, aval, None if device is None else one_device(device))


def on_chosen_device(x: ArrayImpl, device: Any) -> ArrayImpl:
    """The array on a device (or sharding of one) that the user chose."""
    return placement.copy_to_device(x, one_device(device))


def one_device(device: Any, what: str = "device") -> Any:
    """The device that a device or a sharding of one stands for.

    Args:
      device: it.
      what: the function or argument, for messages.

    Raises:
      TypeError: it stands for none.
    """
    if hasattr(device, "device_set"):
        devices = list(device.device_set)
        if len(devices) == 1:
            return devices[0]
    elif hasattr(device, "platform") and hasattr(device, "id"):
        return device
    raise TypeError(
        f"{what}: expected a device or a sharding of one device, got {device!r}; see "
        "olympus.devices()"
    )


_MAX_SCALARS = 2048
_scalars: dict[Any, ArrayImpl] = {}
caching.register(_scalars.clear, "scalars on the device")

# -- whole programs --------------------------------------------------------------------


class LoweredProgram:
    """A program as StableHLO, and what is needed to compile and call it.

    Attributes:
      text: the module.
      consts: arrays that are its first arguments.
      device, committed: where it runs, and whether the user chose that.
      kept: which of the caller's arguments it takes.
      in_avals: types of the arguments it takes, without the constants.
      out_avals: types of its results.
      callbacks: the table of the host functions it calls, or None; it takes the
        table's number as its last argument.
      effects: its ordered effects, each an extra argument and result.
      has_barriers: whether `fusion_limits` put barriers into it.
      has_open_sizes: whether it calls functions of open sizes, which it makes known.
      program: what it was lowered from; None where only the executable is here.
    """

    __slots__ = (
        "aliases",
        "callbacks",
        "committed",
        "consts",
        "device",
        "duration_s",
        "effects",
        "has_barriers",
        "has_effects",
        "has_open_sizes",
        "in_avals",
        "keepalives",
        "kept",
        "module_name",
        "out_avals",
        "platform",
        "program",
        "result_names",
        "text",
    )
    aliases: dict[int, int]
    callbacks: callback.Table | None
    committed: bool
    consts: list[Any]
    device: Any
    duration_s: float
    effects: Sequence[Any]
    has_barriers: bool
    has_effects: bool
    has_open_sizes: bool
    in_avals: Sequence[Any]
    keepalives: Any
    kept: Sequence[bool]
    module_name: str
    out_avals: Sequence[Any]
    platform: str
    program: Any
    result_names: Sequence[str] | None
    text: str

    def with_locations(self) -> str:
        """The module with source positions."""
        return lowering.lower_module(
            self.program,
            name=self.module_name,
            platform=self.platform,
            result_names=self.result_names,
            aliases=self.aliases,
            locations=True,
        ).text()

    def compile(self, options: Sequence[tuple[str, Any]] = ()) -> CompiledProgram:
        """Compiles for the program's device."""
        return CompiledProgram(self, tuple(options))


def lower(
    program: ir.Olympuspr,
    consts: Sequence[Any],
    *,
    name: str,
    device: Any = None,
    platform: str | None = None,
    donated: Sequence[bool] = (),
    keep_unused: bool = False,
    result_names: Sequence[str] | None = None,
) -> LoweredProgram:
    """Lowers a program to StableHLO text.

    Args:
      program: what to lower.
      consts: values of its constants; they become arguments of the module.
      name: the function's name; the module is `jit_name`.
      device: where it will run; None for the default device.
      platform: what it is written for; None for the device's.
      donated: which inputs may be overwritten.
      keep_unused: keep inputs nobody reads as arguments.
      result_names: a path for each output.
    """
    start = time.perf_counter()
    effects.check_allowed(name, program.effects, "lowerable", ValueError)
    low = LoweredProgram()
    low.device = device if device is not None else client.default_device()
    low.committed = device is not None
    low.platform = platform or client.platform_of(low.device)
    n_consts = len(consts)
    whole = partial_eval.expand(ir.hoist_consts(program), low.platform)
    used = [True] * len(whole.outvars)
    keep = [False] * n_consts + [keep_unused] * len(program.invars)
    whole, kept_mask = partial_eval.dce_olympuspr(whole, used, instantiate=keep)
    needed = [c for c, k in zip(consts, kept_mask[:n_consts], strict=True) if k]
    low.consts = on_device([as_array(c, device) for c in needed], low.device)
    if low.consts:
        constant_warnings.warn(whole, name, len(low.consts))
    low.kept = kept_mask[n_consts:]
    low.in_avals = whole.in_avals[len(low.consts) :]
    low.out_avals = program.out_avals  # weak also where what it expands to is not
    in_bodies = build_options.barriers_in_bodies
    limited = fusion_limits.limit(whole, low.platform, in_bodies)
    low.has_barriers = limited is not whole
    low.program = whole = limited
    low.module_name = f"jit_{name}"
    low.result_names = result_names
    low.aliases = output_aliases(whole, len(low.consts), donated, low.kept)
    module = lowering.lower_module(
        whole,
        name=low.module_name,
        platform=low.platform,
        result_names=result_names,
        aliases=low.aliases,
    )
    low.text = module.text()
    if low.has_barriers and not in_bodies:  # nor may a user's be there
        n = low.text.count("stablehlo.optimization_barrier")
        low.has_barriers = n == fusion_limits.count_barriers(whole)
    low.callbacks = callback.Table(module.callbacks) if module.calls_python else None
    low.keepalives = module.keepalives
    low.has_open_sizes = module.has_open_calls
    low.effects = [e for e in sorted(whole.effects, key=repr) if e.ordered]
    low.has_effects = bool(whole.effects)
    low.duration_s = time.perf_counter() - start
    events.record_event_duration_secs(
        "/olympus/core/compile/to_mlir_module_duration", low.duration_s
    )
    return low


def output_aliases(
    program: ir.Olympuspr, n_consts: int, donated: Sequence[bool], kept: Sequence[bool]
) -> dict[int, int]:
    """Gives each donated input an output of the same type to share its buffer with.

    Args:
      program: its inputs are constants and what is kept of the caller's arguments.
      n_consts: how many inputs are constants.
      donated: a flag for each of the caller's arguments.
      kept: which of those the program takes.

    Returns:
      The number of an output for numbers of inputs.
    """
    if not any(donated):
        return {}
    free: dict[Any, list[int]] = {}
    for i, aval in enumerate(program.out_avals):
        free.setdefault(aval.strip_weak_type(), []).append(i)
    aliases = {}
    flags = [d for d, k in zip(donated, kept, strict=True) if k]
    for i, donate in enumerate(flags):
        aval = program.in_avals[n_consts + i].strip_weak_type()
        if donate and free.get(aval):
            aliases[n_consts + i] = free[aval].pop(0)
    return aliases


class CompiledProgram:
    """A loaded executable with its constants.

    Args:
      lowered: the program.
      options: XLA's, by name.
      loaded: the executable, where it need not be compiled.
      checks_numbers: look for NaN or infinity in results; None: as the settings say.

    Attributes:
      reused: whether an executable of the same text was in memory already.
      run: takes the caller's jaxlib buffers, one for each input; returns the results.
      run_one: the same for a program of one result, which it returns itself.
    """

    __slots__ = (
        "_all_kept",
        "_const_buffers",
        "_effects",
        "_kept",
        "_last_buffers",
        "duration_s",
        "executable",
        "lowered",
        "options",
        "reused",
        "run",
        "run_one",
    )
    run: Callable[[list[Any]], list[ArrayImpl]]
    run_one: Callable[[list[Any]], ArrayImpl]

    def __init__(
        self,
        lowered: LoweredProgram,
        options: tuple[tuple[str, Any], ...],
        loaded: Any = None,
        checks_numbers: bool | None = None,
    ) -> None:
        start = time.perf_counter()
        if config.no_execution.value:
            raise RuntimeError(
                f"{lowered.module_name} would be compiled and run, but the setting "
                "olympus_no_execution is on; trace only, or turn it off"
            )
        self.lowered = lowered
        out_avals = list(lowered.out_avals)
        out_avals += [_TOKEN_AVAL] * len(lowered.effects)
        built_here, self.reused = loaded is None, False
        if built_here:
            built = build_options_of(lowered, options)
            self.reused = is_loaded(lowered, built)
            loaded = load(lowered, built)
        self.executable = executable.Executable(
            loaded,
            out_avals,
            lowered.device,
            committed=lowered.committed,
            donated=tuple(lowered.aliases),
            has_side_effects=lowered.has_effects,
        )
        self._const_buffers = [c._buffer for c in lowered.consts]
        self._last_buffers = _callback_buffers(lowered)
        self._kept = [i for i, k in enumerate(lowered.kept) if k]
        self._all_kept = all(lowered.kept)
        self._effects = lowered.effects
        # Functions in slots, not methods: a call is a few microseconds in all.
        if checks_numbers is None:
            checks_numbers = bool(config.debug_nans.value or config.debug_infs.value)
        self.run, self.run_one = self._runners(checks_numbers)
        self.options = options
        self.duration_s = time.perf_counter() - start
        if built_here:
            events.record_event_duration_secs(
                "/olympus/core/compile/backend_compile_duration", self.duration_s
            )

    def call(self, arrays: Sequence[ArrayImpl]) -> list[ArrayImpl]:
        """`run` for arrays, which are moved to the program's device."""
        device_arrays = on_device(arrays, self.lowered.device)
        return self.run([x._buffer for x in device_arrays])

    def _runners(self, checks_numbers: bool) -> tuple[Any, Any]:
        plain = self._all_kept and not self._const_buffers and not self._effects
        plain = plain and not self._last_buffers
        run = self.executable.execute if plain else self._general_runner()
        if any(a.dtype == dtypes.float0 for a in self.lowered.out_avals):
            run, plain = _with_float0(run), False
        if checks_numbers:
            run = self._with_number_check(run)
        elif plain:
            return run, self.executable.execute_one
        return run, lambda buffers: run(buffers)[0]

    def _general_runner(self) -> Callable[[list[Any]], list[ArrayImpl]]:
        """Runs a program that does not just take the caller's buffers.

        It is closed over the parts, not the program, which would then be its own
        garbage: constants may be large, and must go when the program does.
        """
        kept_positions = None if self._all_kept else self._kept
        first, last = self._const_buffers, self._last_buffers
        effects, execute = self._effects, self.executable.execute
        donated = tuple(self.lowered.aliases) if first else ()
        table = self.lowered.callbacks  # must live as long as whoever may run it

        def run(buffers: list[Any]) -> list[ArrayImpl]:
            if kept_positions is not None:
                buffers = [buffers[i] for i in kept_positions]
            if first:
                buffers = first + buffers
            if donated:  # the function may close over what it is given
                placement.keep_from_donation(buffers, donated, first)
            if not effects:
                return execute(buffers + last if last else buffers)
            # No lock is held while it runs: a callback may start such a program itself,
            # in another thread. Programs of one thread are ordered by the tokens they
            # pass on.
            tokens = effect_tokens.take(effects)
            outs = execute([*buffers, *tokens, *last])
            n = len(outs) - len(tokens)
            effect_tokens.put(effects, outs[n:])
            return outs[:n]

        if table is not None:
            run.callbacks = table  # type: ignore[attr-defined]
        return run

    def _with_number_check(self, run: Any) -> Any:
        """`run`, then a look for NaN or infinity among the results."""

        def checked(buffers: list[Any]) -> list[ArrayImpl]:
            outs = run(buffers)
            for bad_number in filter(None, map(_bad_number, outs)):
                self._blame(buffers, bad_number)
            return outs

        return checked

    def _blame(self, buffers: list[Any], bad_number: str) -> None:
        """Raises an error that names the operation that first made the number."""
        program = self.lowered.program
        eqns = [] if program is None else program.eqns
        name = self.lowered.module_name.removeprefix("jit_")
        single = eqns[0] if len(eqns) == 1 else None
        # Modules are told by names; one that only has that of its operation is told no
        # less by it.
        itself = single is not None and single.primitive.name == name
        position = current.position
        if position is None and single is not None:
            position = single.source
        if position is None:
            position = source_info.capture()
        if program and eqns and not itself and not any(map(_is_deleted, buffers)):
            if all(e.source is None for e in program.eqns):
                eqns = [e.replace(source=position) for e in program.eqns]
                program = program.replace(eqns=eqns)
            args = list(self.lowered.consts)
            kept_buffers = [buffers[i] for i in self._kept]
            avals = self.lowered.in_avals
            args += [ArrayImpl(b, a) for b, a in zip(kept_buffers, avals, strict=True)]
            # Each operation by itself: the one that makes the number raises.
            ir.eval_olympuspr(program, (), *args)
        place = "" if position is None else f" at {position}"
        raise FloatingPointError(
            f"invalid value ({bad_number}) encountered in {name}{place}; it was found "
            "because olympus_debug_nans or olympus_debug_infs is on"
        )


def _callback_buffers(lowered: LoweredProgram) -> list[Any]:
    """The number of the program's callbacks, where it has some."""
    if lowered.callbacks is None:
        return []
    number = lowered.callbacks.number
    aval = avals_.ShapedArray((), number.dtype)
    return [placement.put(np.asarray(number), aval, lowered.device)._buffer]


def _with_float0(run: Any) -> Any:
    """`run`, with results of dtype float0 as NumPy arrays: they hold nothing."""

    def with_float0(buffers: list[Any]) -> list[Any]:
        return [
            np.zeros(x.shape, x.dtype) if x.dtype == dtypes.float0 else x
            for x in run(buffers)
        ]

    return with_float0


def _is_deleted(buffer: Any) -> bool:
    return buffer.is_deleted()


def _bad_number(x: ArrayImpl) -> str | None:
    """'nan' or 'inf' where the array holds one that the settings forbid."""
    if not dtypes.issubdtype(x.dtype, np.inexact):
        return None
    value = np.asarray(x)
    if config.debug_nans.value and np.isnan(value).any():
        return "nan"
    return "inf" if config.debug_infs.value and np.isinf(value).any() else None


_TOKEN_AVAL = avals_.ShapedArray((0,), np.dtype(np.bool_))


class _EffectTokens:
    """The empty array that the last program of each ordered effect returned."""

    def __init__(self) -> None:
        self._lock = caching.lock()
        self._last: dict[Any, ArrayImpl] = {}

    def take(self, effects: Sequence[Any]) -> list[Any]:
        """The buffers to wait for before a program of these effects runs."""
        with self._lock:
            tokens = [self._last.get(e) for e in effects]
        empty = np.zeros((0,), np.bool_)
        return [
            (placement.put(empty, _TOKEN_AVAL) if x is None else x)._buffer
            for x in tokens
        ]

    def put(self, effects: Sequence[Any], tokens: Sequence[ArrayImpl]) -> None:
        """Notes that a program of these effects was started."""
        with self._lock:
            self._last.update(zip(effects, tokens, strict=True))

    def pending(self) -> list[ArrayImpl]:
        """What to wait for until all have happened."""
        with self._lock:
            return list(self._last.values())


effect_tokens = _EffectTokens()


def effects_barrier() -> None:
    """Waits until the effects of all programs that were started have happened."""
    for token in effect_tokens.pending():
        token.block_until_ready()
    executable.wait_for_side_effects()


def build_options_of(lowered: LoweredProgram, options: Any) -> Any:
    """XLA's options for a program, of a user's and of the settings of this thread."""
    return build_options.complete(options, lowered.platform, lowered.has_barriers)


def _loaded_key(lowered: LoweredProgram, built: Any) -> tuple[Any, ...]:
    key = (lowered.text, lowered.device.id, lowered.platform, built)
    # Elsewhere a program may still run when whoever started it has dropped it, so the
    # executable holds the callbacks.
    own = lowered.callbacks is not None and lowered.platform != "cpu"
    return (*key, lowered.callbacks) if own else key


def is_loaded(lowered: LoweredProgram, built: Any) -> bool:
    """Whether an executable of the program's text is in memory."""
    return _loaded.get(_loaded_key(lowered, built)) is not None


def is_ready(lowered: LoweredProgram, built: Any) -> bool:
    """Whether `load` need not compile: the program is in memory or on disk."""
    return is_loaded(lowered, built) or executable.is_stored(
        lowered.text, options=built, devices=[lowered.device]
    )


quick_options = build_options.quick
has_quick_build = build_options.has_quick


def load(lowered: LoweredProgram, built: Any) -> Any:
    """Compiles, or finds the same text compiled for the same device before.

    Args:
      lowered: the program.
      built: what `build_options_of` gave.
    """
    key = _loaded_key(lowered, built)
    loaded = _loaded.get(key)
    if loaded is None:
        dumps.write(lowered)
        loaded = _loaded[key] = executable.compile(
            lowered.text,
            options=built,
            devices=[lowered.device],
            host_callbacks=_host_callbacks(lowered),
            has_open_sizes=lowered.has_open_sizes,
        )
    return loaded


def _host_callbacks(lowered: LoweredProgram) -> Sequence[Any]:
    """The functions to compile a program with."""
    table = lowered.callbacks
    if table is None:
        return ()
    on_cpu = lowered.platform == "cpu"
    return callback.routes(len(table.functions)) if on_cpu else table.bound()


# Programs that functions still hold live on when they go from here; then their text, if
# it comes again, is compiled again. An executable takes some 200 times the memory of
# its text: 0.2 MB for one operation, 4.5 MB for a hundred.
_BASE_BYTES, _BYTES_PER_LETTER = 100_000, 200
_MAX_LOADED_BYTES = 128 << 20


def _executable_bytes(key: tuple[Any, ...]) -> int:
    return _BASE_BYTES + _BYTES_PER_LETTER * len(key[0])


_loaded = caching.BoundedBytes(
    4096, _MAX_LOADED_BYTES, _executable_bytes, "executables by text"
)

# Eager operations on little data spend their first call compiling and all others being
# dispatched, so they are compiled in the quickest way.
_QUICK_ELEMENTS = 1 << 9


def eager_options(lowered: LoweredProgram) -> Sequence[tuple[str, Any]]:
    """Compile options for a program made for one eager operation."""
    elements = sum(a.size for a in (*lowered.in_avals, *lowered.out_avals))
    if elements > _QUICK_ELEMENTS or _needs_full_build(lowered.program):
        return ()
    return quick_options(lowered.platform)


def _needs_full_build(program: ir.Olympuspr) -> bool:
    return any(
        eqn.primitive.needs_full_build
        or any(map(_needs_full_build, ir.subprograms(eqn.params)))
        for eqn in program.eqns
    )


def compile_eager(lowered: LoweredProgram) -> CompiledProgram:
    """Compiles a program made for one eager operation."""
    return lowered.compile(eager_options(lowered))


# -- calls of one program per signature ------------------------------------------------


class EvalTrace(trace.Trace):
    """The interpreter that runs each primitive on concrete arrays."""

    __slots__ = ()

    def __init__(self) -> None:
        super().__init__(None)

    def process(self, p: Any, args: tuple[Any, ...], params: Any) -> Any:
        if p.impl is not None:
            return p.impl(*args, **params)
        return apply_primitive(p, args, params)

    def __repr__(self) -> str:
        return "EvalTrace"


_programs: dict[Any, Any] = {}
caching.register(_programs.clear, "eager programs")


def apply_primitive(p: Any, args: tuple[Any, ...], params: Any) -> Any:
    """Compiles a primitive for its arguments' types, once, and runs it."""
    in_avals = []
    buffers = []
    for x in args:
        if type(x) is not ArrayImpl:
            x = as_array(x)
        in_avals.append(x.aval)
        buffers.append(x._buffer)
    try:
        key: Any = (p, tuple(in_avals), config.trace_context())
        if params:
            key += tuple([(name, caching.exact(v)) for name, v in params.items()])
        program = _programs.get(key) if p.rules_are_fixed else None
    except TypeError:
        key, program = None, None
    if program is None or client.several_devices():
        device = common_device(args)
        program = _program_for(p, in_avals, params, key, device)
        buffers = [b._buffer for b in on_device(args, device)]
    outs = program.run(buffers)
    return outs if p.multiple_results else outs[0]


def _program_for(
    p: Any, in_avals: Sequence[Any], params: Any, key: Any, device: Any
) -> CompiledProgram:
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
    _forget_lines(program)
    compiled = compile_eager(lower(program, consts, name=p.name, device=device))
    if key is not None and p.rules_are_fixed and _are_told_by_value(params):
        make_room(_programs)
        _programs[by_device] = compiled
        if not client.several_devices():
            _programs[key] = compiled
    return compiled


def _are_told_by_value(params: dict[str, Any]) -> bool:
    return all(map(primitive.is_told_by_value, params.values()))


def _forget_lines(program: ir.Olympuspr) -> None:
    """Takes the user's lines out of a program that serves calls from all lines."""
    for eqn in program.eqns:
        eqn.source = None


MAX_PROGRAMS = 4096


def make_room(programs: dict[Any, Any]) -> None:
    """Empties a table of programs that is full; they are in the cache by text still."""
    if len(programs) >= MAX_PROGRAMS:
        programs.clear()


def common_device(args: Sequence[Any]) -> Any:
    """The device that arguments are committed to; None where none is.

    Raises:
      ValueError: they are committed to different devices.
    """
    if not client.several_devices():
        return None
    common = None
    for x in args:
        device = x.committed_device if type(x) is ArrayImpl else None
        if device is None:
            continue
        if common is not None and device != common:
            raise ValueError(
                f"Received incompatible devices for one computation: arguments are "
                f"committed to {common} and {device}; move one with olympus.device_put"
            )
        common = device
    return common


def on_device(args: Sequence[Any], device: Any) -> list[ArrayImpl]:
    """The arguments as arrays, moved to the device the computation runs on."""
    arrays = [as_array(x) for x in args]
    if not client.several_devices():
        return arrays
    target = device if device is not None else client.default_device()
    return [placement.follow(a, target) for a in arrays]


def fuse(fun: Callable[..., Any], quick: bool = True) -> Callable[..., Any]:
    """Makes a function run as one compiled program when nothing is being traced.

    Array arguments are positional, everything else is given by keyword and hashable. In
    a trace, or where jit is disabled, the function is simply called. A small program is
    compiled in the quickest way unless `quick` is off; its results then have the bits
    that they have in a jitted program, as far as XLA gives the same bits at all.
    """
    programs: dict[Any, Any] = {}
    caching.register(programs.clear, f"fused {fun.__name__}")
    name = fun.__name__

    def call(*args: Any, **static: Any) -> Any:
        if current.trace is not _eval:
            return fun(*args, **static)
        key: list[Any] = [config.trace_context()]
        buffers = []
        for x in args:
            if type(x) is ArrayImpl:
                key.append(x.aval)
                buffers.append(x._buffer)
                continue
            x = _fusable(x)
            if x is None:
                return fun(*args, **static)
            key.append(x.aval)
            buffers.append(x._buffer)
        for option, value in static.items():
            key.append(option)
            key.append(caching.exact(value))
        try:
            program = programs.get(tuple(key))
        except TypeError:
            return fun(*args, **static)
        if program is None:
            if config.jit_disabled() or client.several_devices():
                return fun(*args, **static)
            in_avals = key[1 : len(args) + 1]
            program = _fuse_program(fun, name, in_avals, static, quick)
            make_room(programs)
            programs[tuple(key)] = program
        return program(buffers)

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


def _fuse_program(
    fun: Callable[..., Any],
    name: str,
    in_avals: Sequence[Any],
    static: Any,
    quick: bool,
) -> Callable[[list[Any]], Any]:
    container: Any = None

    def run(*args: Any) -> Any:
        nonlocal container
        out = fun(*args, **static)
        if isinstance(out, (tuple, list)):
            container = list if isinstance(out, list) else tuple
        return [out] if container is None else out

    info = ir.DebugInfo("evaluation", name, source_info.function_location(fun))
    program, consts = partial_eval.trace_to_olympuspr(run, in_avals, info)
    _forget_lines(program)
    lowered = lower(program, consts, name=name)
    compiled = compile_eager(lowered) if quick else lowered.compile()
    if container is None:
        return compiled.run_one
    return lambda buffers: container(compiled.run(buffers))


_eval = EvalTrace()
trace.set_base(_eval)
array_type.register_concrete(ArrayImpl)


def eval_trace() -> EvalTrace:
    """The base interpreter."""
    return _eval


def platform() -> str:
    """The platform on which operations run that have no arrays."""
    return client.platform_of(client.default_device())


def is_evaluating() -> bool:
    """Whether nothing is being traced in this thread."""
    return current.trace is _eval


jit_is_disabled = config.jit_disabled
trace_context = config.trace_context


def from_dlpack(x: Any, device: Any = None, copy: bool | None = None) -> ArrayImpl:
    """An array that shares the memory of another library's; see `runtime.placement`."""
    target = None if device is None else client.as_device(device)
    return placement.from_dlpack(x, avals_.ShapedArray, target, copy)


def is_staging() -> bool:
    """Whether operations of this thread are being recorded, so that none runs now."""
    ancestor = current.trace
    while ancestor is not None:
        if isinstance(ancestor, partial_eval.DynamicOlympusprTrace):
            return True
        ancestor = ancestor.parent
    return False
