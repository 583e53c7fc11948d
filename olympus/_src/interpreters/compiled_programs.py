"""Compiled programs: executables with their constants, effects and callbacks."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from olympus._src import native
from olympus._src.core import avals as avals_
from olympus._src.core import dtypes
from olympus._src.core.primitive import LateRule
from olympus._src.foundation import config, events
from olympus._src.interpreters import (
    compilation,
    effect_tokens,
    inspections,
    number_checks,
    progress,
    ref_arguments,
)
from olympus._src.interpreters.concrete_arrays import ArrayImpl, on_device
from olympus._src.interpreters.lowered_programs import LoweredProgram
from olympus._src.runtime import compile_cache, executable, placement
from olympus._src.runtime.shardings import placement_of
from olympus._src.sharding import single_devices
from olympus._src.sharding.division import chosen_sharding
from olympus._src.sharding.meshes import Mesh
from olympus._src.sharding.named import NamedSharding
from olympus._src.sharding.specs import PartitionSpec

_group_lows = LateRule("interpreters.hi_lowering", "group_lows")
_raising = LateRule("interpreters.hi_lowering", "raising")


class CompiledProgram(NamedTuple):
    """A loaded executable with its constants; immutable.

    Attributes:
      lowered: the program.
      options: XLA's, by name.
      executable: what was loaded for it.
      run: takes arrays or jaxlib's buffers, one for each input; returns the results.
      run_one: the same for a program of one result, which it returns itself.
      reused: whether an executable of the same text was in memory already.
      duration_s: how long it took to make.
    """

    lowered: LoweredProgram
    options: tuple[tuple[str, Any], ...]
    executable: executable.Executable
    # Functions in fields, not methods: a call is a few microseconds in all.
    run: Callable[[list[Any]], list[ArrayImpl]]
    run_one: Callable[[list[Any]], ArrayImpl]
    reused: bool
    duration_s: float

    def call(self, arrays: Sequence[ArrayImpl]) -> list[ArrayImpl]:
        """`run` for arrays, which are moved to the program's device."""
        place = self.lowered.division or self.lowered.device
        device_arrays = on_device(arrays, place, self.taken_arguments())
        return self.run(list(device_arrays))

    def taken_arguments(self) -> Sequence[bool] | None:
        """Which of the caller's arguments it takes; None where some are of high types.

        Those that it does not take may be anywhere.
        """
        lowered = self.lowered
        if lowered.high is not None:
            return None
        return lowered.kept[0 if lowered.refs is None else len(lowered.refs.captured) :]

    def input_shardings(self) -> list[Any]:
        """A sharding for each of the caller's arguments, as the program takes it.

        None for one that it does not take; for an argument of a high type a list.
        """
        lowered = self.lowered
        shardings = self._shardings_of_arrays()
        if lowered.high is None:
            return shardings
        return _group_lows(shardings, lowered.high.in_avals)

    def _shardings_of_arrays(self) -> list[Any]:
        lowered = self.lowered
        n = 0 if lowered.refs is None else len(lowered.refs.captured)
        if lowered.division is None:
            place = placement_of(lowered.device).sharding
            return [place if is_kept else None for is_kept in lowered.kept[n:]]
        taken = iter((self.executable.in_shardings or [])[len(lowered.consts) :])
        return [next(taken) if is_kept else None for is_kept in lowered.kept][n:]


def build(
    lowered: LoweredProgram,
    options: tuple[tuple[str, Any], ...] = (),
    loaded: Any = None,
    checks_numbers: bool | None = None,
) -> CompiledProgram:
    """Compiles and loads a program.

    Args:
      lowered: the program.
      options: XLA's, by name.
      loaded: the executable, where it need not be compiled.
      checks_numbers: look for NaN or infinity in results; None: as the settings say.
    """
    start = time.perf_counter()
    if config.no_execution.value:
        raise RuntimeError(
            f"{lowered.module_name} would be compiled and run, but the setting "
            "olympus_no_execution is on; trace only, or turn it off"
        )
    built_here, reused = loaded is None, False
    if built_here:
        built = compilation.build_options_of(lowered, options)
        reused = compilation.is_loaded(lowered, built)
        if not reused and progress.is_on():
            name = lowered.module_name
            with progress.watch_compilation(
                lowered.program, name.removeprefix("jit_"), _last(name)
            ):
                loaded = compilation.load(lowered, built)
        else:
            loaded = compilation.load(lowered, built)
        inspections.report(lowered)
    program = executable.Executable(
        loaded,
        [*lowered.out_avals, *[effect_tokens.TOKEN_AVAL] * len(lowered.effects)],
        lowered.device,
        committed=lowered.committed,
        donated=tuple(lowered.aliases),
        has_side_effects=lowered.has_effects,
        **_shardings(lowered, loaded),
    )
    if checks_numbers is None:
        checks_numbers = number_checks.is_enabled()
    run, run_one = _runners(lowered, program, checks_numbers)
    duration_s = time.perf_counter() - start
    if built_here:
        events.record_event_duration_secs(
            "/olympus/core/compile/backend_compile_duration",
            duration_s,
            fun_name=lowered.module_name.removeprefix("jit_"),
        )
    return CompiledProgram(lowered, options, program, run, run_one, reused, duration_s)


def _last(name: str) -> Callable[[], float | None]:
    """Gives how long a program of the name took to compile, as the disk knows."""
    return lambda: compile_cache.last_seconds(name)


def _runners(
    lowered: LoweredProgram, program: executable.Executable, checks_numbers: bool
) -> tuple[Any, Any]:
    """What runs a program on operands, and what returns its one result."""
    run, run_one = _runners_on_buffers(lowered, program, checks_numbers)
    donates = bool(program.donated)
    return _taking_arrays(run, donates), _taking_arrays(run_one, donates)


def _taking_arrays(run: Any, donates: bool) -> Any:
    """A function that runs a program on buffers, for arrays too."""
    if native.calls is not None and type(run) is native.calls.Runner:
        return run
    as_buffers = placement.as_own_buffers if donates else placement.as_buffers
    return lambda operands: run(as_buffers(operands))


def _runners_on_buffers(
    lowered: LoweredProgram, program: executable.Executable, checks_numbers: bool
) -> tuple[Any, Any]:
    """The same for operands that have buffers."""
    if executable.is_absent(lowered.devices):
        return program.execute, program.execute_one
    run, run_one = _without_python(lowered, program)
    plain = run is not None
    if run is None:
        run = _general_runner(lowered, program)
    if any(a.dtype == dtypes.float0 for a in lowered.out_avals):
        run, plain = _with_float0(run), False
    if checks_numbers:
        kept = [i for i, k in enumerate(lowered.kept) if k]
        run = number_checks.with_number_check(run, lowered, kept)
    elif plain and lowered.refs is None and lowered.high is None:
        return run, run_one
    if lowered.refs is not None:
        place = lowered.division or lowered.device
        run = ref_arguments.lending(run, lowered.refs, place, checks_numbers)
    if lowered.high is not None:
        run = _raising(run, lowered.high)
    return run, lambda buffers: run(buffers)[0]


def _without_python(
    lowered: LoweredProgram, program: executable.Executable
) -> tuple[Any, Any]:
    """What runs a program, and for one result, with no Python between; None where it
    takes more than buffers of its own and of the caller.
    """
    if lowered.effects:
        return None, None
    runs: tuple[Any, Any] = program.execute, program.execute_one
    if not lowered.consts and all(lowered.kept) and lowered.callbacks is None:
        return runs
    is_native = native.calls is not None and type(runs[0]) is native.calls.Runner
    # What is donated must not be a constant too, which `_general_runner` looks after.
    if not is_native or (lowered.consts and lowered.aliases):
        return None, None
    if lowered.callbacks is not None and runs[0].turn is None:
        return None, None
    consts: Sequence[Any] = lowered.consts
    if program.in_shardings is not None:
        consts = program.place([c._buffer for c in consts])
    kept = [i for i, is_kept in enumerate(lowered.kept) if is_kept]
    run = runs[0].taking((*consts, *kept, *_callback_buffers(lowered)))
    if lowered.callbacks is not None:  # which must live as long as whoever may run it
        run = run.in_turn((*run.turn, lowered.callbacks))
    if len(program.out_avals) != 1:
        return run, lambda buffers: run(buffers)[0]
    return run, run.with_form(...)


def _general_runner(
    lowered: LoweredProgram, program: executable.Executable
) -> Callable[[list[Any]], list[ArrayImpl]]:
    """Runs a program that takes more than the caller's buffers."""
    kept_positions = None
    if not all(lowered.kept):
        kept_positions = [i for i, k in enumerate(lowered.kept) if k]
    first = program.place([c._buffer for c in lowered.consts])
    last = _callback_buffers(lowered)
    effects, execute = lowered.effects, program.execute
    donated = tuple(lowered.aliases) if first else ()
    is_divided = lowered.division is not None
    device = None if is_divided else lowered.device
    table = lowered.callbacks  # must live as long as whoever may run it

    def run(buffers: list[Any]) -> list[ArrayImpl]:
        if kept_positions is not None:
            buffers = [buffers[i] for i in kept_positions]
        if first:
            buffers = first + buffers
        if donated:  # the function may close over what it is given
            placement.keep_from_donation(buffers, donated, first)
        if not effects:
            return execute(buffers + last if last else buffers)
        # No lock is held while it runs: a callback may start such a program itself, in
        # another thread. Programs of one thread are ordered by the tokens they pass on.
        tokens = effect_tokens.last_tokens.take(effects, device)
        outs = execute([*buffers, *tokens, *last])
        n = len(outs) - len(tokens)
        effect_tokens.last_tokens.put(effects, outs[n:], is_divided)
        return outs[:n]

    if table is not None:
        run.callbacks = table  # type: ignore[attr-defined]
    return run


def _shardings(lowered: LoweredProgram, loaded: Any) -> dict[str, Any]:
    """How arguments and results of a divided program are placed on its devices."""
    division = lowered.division
    if division is None:
        return {}
    mesh = division.mesh
    in_avals = [*[c.aval for c in lowered.consts], *lowered.in_avals]
    ins, outs = executable.chosen_shardings(loaded)
    in_shardings = _resolve(division.in_shardings, ins, in_avals, mesh)
    shardings = _resolve(division.out_shardings, outs, lowered.out_avals, mesh)
    # Tokens and the number of the callbacks, which only programs of one device take.
    whole = NamedSharding(mesh, PartitionSpec())
    tokens = [whole] * len(lowered.effects)
    number = [whole] if lowered.takes_callbacks else []
    return {
        "in_shardings": in_shardings + tokens + number,
        "shardings": shardings + tokens,
    }


def _resolve(shardings: Any, chosen: Any, types: Any, mesh: Mesh) -> list[Any]:
    """The shardings that a program fixes, and those that the compiler chose."""
    if mesh.size == 1:  # where it chooses none
        whole = single_devices.whole_sharding(mesh)
        return [fixed or whole for fixed in shardings or [None] * len(types)]
    if None not in shardings:  # of what is read from disk XLA may not tell its own
        return list(shardings)
    # Of tokens XLA tells a sharding too.
    rows = zip(shardings, chosen[: len(types)], types, strict=True)
    return [
        chosen_sharding(mesh, of_xla, aval.storage.ndim) if fixed is None else fixed
        for fixed, of_xla, aval in rows
    ]


def _callback_buffers(lowered: LoweredProgram) -> list[Any]:
    """The number of the program's callbacks, where it has some."""
    if lowered.callbacks is None or not lowered.takes_callbacks:
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
