"""Checks of results for NaN and infinity, where settings request them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from olympus._src.core import dtypes, ir, trace
from olympus._src.foundation import config, source_info
from olympus._src.interpreters.concrete_arrays import ArrayImpl
from olympus._src.interpreters.lowered_programs import LoweredProgram

Runner = Callable[[list[Any]], list[ArrayImpl]]


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

    def run_and_check(buffers: list[Any]) -> list[ArrayImpl]:
        outs = run(buffers)
        for bad_number in filter(None, map(_bad_number, outs)):
            _blame(lowered, kept, buffers, bad_number)
        return outs

    return run_and_check


def _blame(
    lowered: LoweredProgram, kept: Sequence[int], buffers: list[Any], bad_number: str
) -> None:
    """Raises an error that names the operation that first made the number."""
    program = lowered.program
    eqns = [] if program is None else program.eqns
    name = lowered.module_name.removeprefix("jit_")
    single = eqns[0] if len(eqns) == 1 else None
    # Modules are told by names; one that only has that of its operation is told no less
    # by it.
    itself = single is not None and single.primitive.name == name
    position = trace.current.position
    if position is None and single is not None:
        position = single.source
    if position is None:
        position = source_info.capture()
    if program and eqns and not itself and not any(map(_is_deleted, buffers)):
        if all(e.source is None for e in program.eqns):
            eqns = [e.replace(source=position) for e in program.eqns]
            program = program.replace(eqns=eqns)
        args = list(lowered.consts)
        kept_buffers = [buffers[i] for i in kept]
        args += [
            ArrayImpl(b, a) for b, a in zip(kept_buffers, lowered.in_avals, strict=True)
        ]
        # Each operation by itself: the one that makes the number raises.
        ir.eval_olympuspr(program, (), *args)
    place = "" if position is None else f" at {position}"
    raise FloatingPointError(
        f"invalid value ({bad_number}) encountered in {name}{place}; it was found "
        "because olympus_debug_nans or olympus_debug_infs is on"
    )


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
