"""Compiled programs: executables with their constants, effects and callbacks."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from olympus._src.core import avals as avals_
from olympus._src.core import dtypes
from olympus._src.foundation import config, events
from olympus._src.interpreters import compilation, effect_tokens, number_checks
from olympus._src.interpreters.concrete_arrays import ArrayImpl, on_device
from olympus._src.interpreters.lowered_programs import LoweredProgram
from olympus._src.runtime import executable, placement


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
        options: tuple[tuple[str, Any], ...] = (),
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
        out_avals += [effect_tokens.TOKEN_AVAL] * len(lowered.effects)
        built_here, self.reused = loaded is None, False
        if built_here:
            built = compilation.build_options_of(lowered, options)
            self.reused = compilation.is_loaded(lowered, built)
            loaded = compilation.load(lowered, built)
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
            checks_numbers = number_checks.is_wanted()
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
            run = number_checks.with_number_check(run, self.lowered, self._kept)
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
            tokens = effect_tokens.last_tokens.take(effects)
            outs = execute([*buffers, *tokens, *last])
            n = len(outs) - len(tokens)
            effect_tokens.last_tokens.put(effects, outs[n:])
            return outs[:n]

        if table is not None:
            run.callbacks = table  # type: ignore[attr-defined]
        return run


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
