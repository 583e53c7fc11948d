"""Checks of results for NaN and infinity, where settings request them.

A check reads the results alone. Where one is bad, the arguments are looked at, and then
`checkify.number_reports`, loaded then, finds the operation and words the error.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NoReturn

import numpy as np

from olympus._src.core import dtypes, trace
from olympus._src.core.primitive import LateRule
from olympus._src.foundation import config, errors, source_info
from olympus._src.interpreters.concrete_arrays import ArrayImpl, as_array
from olympus._src.interpreters.lowered_programs import LoweredProgram

Runner = Callable[[list[Any]], list[ArrayImpl]]

_explain = LateRule("checkify.number_reports", "explain")


def is_enabled() -> bool:
    """Whether the settings of this thread request it."""
    return bool(config.debug_nans.value or config.debug_infs.value)


def with_number_check(
    run: Runner, lowered: LoweredProgram, kept: Sequence[int]
) -> Runner:
    """`run`, followed by a check of the results for NaN or infinity.

    Args:
      run: runs the program on the caller's buffers.
      lowered: the program.
      kept: the numbers of the buffers that it takes.
    """
    n = len(lowered.consts)
    donated = [kept[i - n] for i in lowered.aliases if i >= n]

    def run_and_check(buffers: list[Any]) -> list[ArrayImpl]:
        before = _Arguments(lowered, kept, buffers, donated)
        outs = run(buffers)
        if config.debug_all_numbers.value:
            _search_all(before)
        for bad_number in filter(None, map(_bad_number, outs)):
            _blame(before, bad_number, run, outs)
        return outs

    return run_and_check


def check_results(name: str, outs: Sequence[ArrayImpl]) -> None:
    """Looks at results that Python computed, where settings request it.

    Raises:
      BadNumberError: one holds a number that they forbid.
    """
    if not is_enabled():
        return
    for bad_number in filter(None, map(_bad_number, outs)):
        position = trace.current.position or source_info.capture()
        raise _bad_number_error(bad_number, name, position)


class _Arguments:
    """What a program was given; those it overwrites are copied first."""

    def __init__(
        self,
        lowered: LoweredProgram,
        kept: Sequence[int],
        buffers: list[Any],
        donated: Sequence[int],
    ) -> None:
        self.lowered, self.kept, self.buffers = lowered, kept, buffers
        avals = dict(zip(kept, lowered.in_avals, strict=True))
        self._copies = {
            i: np.array(ArrayImpl(buffers[i], avals[i]))
            for i in donated
            if lowered.division is None and not _is_opaque(avals[i])
        }

    def arrays(self) -> list[ArrayImpl] | None:
        """The constants and inputs; None where one is gone."""
        arrays = list(self.lowered.consts)
        for i, aval in zip(self.kept, self.lowered.in_avals, strict=True):
            if i in self._copies:
                arrays.append(as_array(self._copies[i]))
            elif self.buffers[i].is_deleted():
                return None
            else:
                arrays.append(ArrayImpl(self.buffers[i], aval))
        return arrays

    def names(self) -> list[str]:
        """What the user calls each of `arrays`."""
        program, n = self.lowered.program, len(self.lowered.consts)
        info = None if program is None else program.debug_info
        known = [] if info is None else list(info.arg_names or ())
        if len(known) != n + len(self.kept):
            known = [""] * n + [f"argument {i}" for i in self.kept]
        return [
            name or ("a constant of the program" if i < n else f"argument {i - n}")
            for i, name in enumerate(known)
        ]


def _is_opaque(aval: Any) -> bool:
    return bool(dtypes.is_extended(aval.dtype))


def _place_of(lowered: LoweredProgram) -> Any:
    """Where the call is, or the one operation of the program."""
    if trace.current.position is not None:  # of an equation applied by itself
        return trace.current.position
    eqns = [] if lowered.program is None else lowered.program.eqns
    if len(eqns) == 1 and eqns[0].source is not None:
        return eqns[0].source
    return source_info.capture()


def _blame(
    before: _Arguments, bad_number: str, run: Runner, outs: Sequence[ArrayImpl]
) -> NoReturn:
    """Raises an error that names the operation that first made the number."""
    lowered = before.lowered
    position = _place_of(lowered)
    arrays = before.arrays()
    name = lowered.module_name.removeprefix("jit_")
    reason = ""
    if arrays is not None and lowered.program is not None:
        came_in = _bad_arguments(before, arrays)
        if came_in and _explains(before, arrays, run, outs):
            reason = f"; it came in with {came_in}"
        else:
            n = len(lowered.consts)
            if came_in:
                mended = [_healed(x) if _bad_number(x) else x for x in arrays[n:]]
                arrays = [*arrays[:n], *mended]
            error = _explain(lowered, arrays, position)
            if error is not None:
                raise error
            if came_in:
                reason = f"; it came in with {came_in}"
    raise _bad_number_error(bad_number, name, position, reason)


def _bad_number_error(
    bad_number: str, name: str, position: Any, reason: str = ""
) -> errors.BadNumberError:
    place = "" if position is None else f" at {position}"
    return errors.BadNumberError(
        f"invalid value ({bad_number}) encountered in {name}{place}{reason}; it was "
        "found because olympus_debug_nans or olympus_debug_infs is on"
    )


def _search_all(before: _Arguments) -> None:
    """Raises for a bad number anywhere in the program, also where none comes out."""
    arrays = before.arrays()
    if arrays is None or before.lowered.program is None:
        return
    error = _explain(before.lowered, arrays, _place_of(before.lowered), hidden=True)
    if error is not None:
        raise error


def _bad_arguments(before: _Arguments, arrays: Sequence[ArrayImpl]) -> str:
    """The arguments that are bad, in words; '' where none is."""
    texts = []
    for name, x in zip(before.names(), arrays, strict=True):
        bad = _bad_number(x)
        if bad:
            value = np.asarray(x)
            index = np.argwhere(_bad_elements(value))[0]
            place = f"[{', '.join(map(str, index))}]" if value.ndim else ""
            texts.append(f"{name}{place} ({bad})")
    more = f" and {len(texts) - 3} more" if len(texts) > 3 else ""
    return ", ".join(texts[:3]) + more


def _explains(
    before: _Arguments, arrays: Sequence[ArrayImpl], run: Runner, outs: Sequence[Any]
) -> bool:
    """Whether the results are better with numbers in place of the bad arguments."""
    if before.lowered.division is not None or before.lowered.callbacks is not None:
        return True
    n = len(before.lowered.consts)
    if any(map(_bad_number, arrays[:n])):
        return True
    buffers = list(before.buffers)
    for i, x in zip(before.kept, arrays[n:], strict=True):
        buffers[i] = _healed(x)._buffer if _bad_number(x) else x._buffer
    new = run(buffers)
    pairs = zip(outs, new, strict=True)
    return any((_bad_elements(x) & ~_bad_elements(y)).any() for x, y in pairs)


def _healed(x: ArrayImpl) -> ArrayImpl:
    value = np.array(x)
    value[_bad_elements(value)] = 1
    return as_array(value)


def _bad_elements(x: Any) -> Any:
    """Where an array holds numbers that the settings forbid."""
    value = np.asarray(x)
    bad = np.zeros(value.shape, bool)
    if dtypes.issubdtype(value.dtype, np.inexact):
        if config.debug_nans.value:
            bad |= np.isnan(value)
        if config.debug_infs.value:
            bad |= np.isinf(value)
    return bad


def _bad_number(x: ArrayImpl) -> str | None:
    """'nan' or 'inf' where the array holds one that the settings forbid."""
    if not dtypes.issubdtype(x.dtype, np.inexact):
        return None
    value = np.asarray(x)
    if config.debug_nans.value and np.isnan(value).any():
        return "nan"
    return "inf" if config.debug_infs.value and np.isinf(value).any() else None
