"""What is said of an operation that made a NaN or an infinity."""

from __future__ import annotations

import linecache
import math
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from olympus._src.checkify import number_cures, number_search, number_steps
from olympus._src.core import ir, scopes, trace
from olympus._src.foundation import config, errors, source_info
from olympus._src.interpreters.concrete_arrays import ArrayImpl

_MAX_CALLERS = 6


def explain(
    lowered: Any, args: Sequence[ArrayImpl], position: Any, hidden: bool = False
) -> errors.BadNumberError | None:
    """The error for a program whose results hold bad numbers.

    Args:
      lowered: the program.
      args: its constants and inputs, as they were before the run.
      position: of the call, or None; for operations that know no place of their own.
      hidden: look also for those that do not reach a result.

    Returns:
      None where no equation is found to make any.
    """
    nans, infs = bool(config.debug_nans.value), bool(config.debug_infs.value)
    finding = number_steps.find(lowered, args, nans, infs, hidden)
    return None if finding is None else _Report(finding, position, nans, infs).error()


def direction_of(path: Iterable[ir.Eqn]) -> str:
    """'backward', 'derivative' or '': what the innermost of equations belongs to."""
    parts = [*trace.current.scope, *(part for eqn in path for part in eqn.scope)]
    if any(part in scopes.TRANSPOSE for part in parts if _is_transform(part)):
        return "backward"
    is_jvp = any(part in scopes.JVP for part in parts if _is_transform(part))
    return "forward" if is_jvp else ""


def _is_transform(part: Any) -> bool:
    return type(part) is scopes.Transform


class _Report:
    """The parts of the message about one finding."""

    def __init__(self, finding: Any, position: Any, nans: bool, infs: bool) -> None:
        self.finding, self.eqn = finding, finding.path[-1]
        own = [e.source for e in reversed(finding.path) if e.source is not None]
        self.position = own[0] if own else position
        self.call = position
        self.direction = direction_of(finding.path)
        self.nans, self.infs = nans, infs
        self.number, self.index, self.value, self.count = self._worst()
        self.loops = [e for e in finding.path[:-1] if number_search.is_loop(e)]

    def _worst(self) -> tuple[int, tuple[int, ...], Any, int]:
        """Which result is bad, the first such element, its value, and how many."""
        for i, x in enumerate(self.finding.results):
            if x is None:
                continue
            bad = number_steps.bad_elements(x, self.nans, self.infs)
            if bad.any():
                index = tuple(map(int, np.argwhere(bad)[0]))
                return i, index, x[index], int(bad.sum())
        return 0, (), np.float32(np.nan), 0

    def error(self) -> errors.BadNumberError:
        """The error, with all that is known as attributes."""
        kind = "nan" if self.count and is_nan(self.value) else "inf"
        name = self.eqn.primitive.name
        cure = number_cures.cure(self._facts())
        lines = [
            f"invalid value ({kind}) encountered in {name}{self._place()}",
            *self._callers(),
            *self._elements(),
            *self._operands(),
            *([f"  cure: {cure}"] if cure else []),
            "  (found because olympus_debug_nans or olympus_debug_infs is on)",
        ]
        error = errors.BadNumberError("\n".join(lines))
        error.primitive, error.position = name, self.position
        error.direction, error.index, error.cure = self.direction, self.index, cure
        error.iterations = self._iterations()
        error.operands = tuple(self.finding.operands)
        error.results = tuple(self.finding.results)
        return error

    # -- where ------------------------------------------------------------------------

    def _place(self) -> str:
        text = "" if self.position is None else f" at {self.position}"
        if self.position is not None and self.direction == "backward":
            text += f", in the backward pass of line {self.position.line}"
        elif self.position is not None and self.direction == "forward":
            text += ", while its derivative is computed"
        for eqn, i in zip(self.loops, self._iterations(), strict=True):
            length = eqn.params.get("length")
            kind = eqn.primitive.name
            of = f" of {length}" if isinstance(length, int) else ""
            where = "" if eqn.source is None else f" of line {eqn.source.line}"
            when = f"iteration {i}{of}" if i >= 0 else "the test before the iterations"
            text += f", in {when} (from 0) of the {kind}{where}"
        return text

    def _iterations(self) -> tuple[int, ...]:
        """As the user's loop counts: a reversed scan begins with the last row."""
        counted = []
        for eqn, step in zip(self.loops, self.finding.steps, strict=False):
            length = eqn.params.get("length")
            if eqn.params.get("reverse") and isinstance(length, int):
                step = length - 1 - step
            counted.append(step)
        return tuple(counted)

    def _callers(self) -> list[str]:
        if self.position is None:
            return []
        text = linecache.getline(self.position.file, self.position.line).strip()
        lines = [f"    {text}"] if text else []
        seen = {self.position.key}
        shown = []
        for p in _call_chain(self.finding.path) or self.position.callers:
            if p.key not in seen:
                seen.add(p.key)
                shown.append(p)
        lines += [f"  called from {_short(p)}" for p in shown[:_MAX_CALLERS]]
        if len(shown) > _MAX_CALLERS:
            lines.append(f"  and {len(shown) - _MAX_CALLERS} more calls")
        return lines

    # -- what -------------------------------------------------------------------------

    def _elements(self) -> list[str]:
        if not self.count:
            return []
        aval = self.eqn.outvars[self.number].aval
        if not aval.shape:
            return [f"  result: {aval.short()}, {number(self.value)}"]
        index = ", ".join(map(str, self.index))
        return [
            f"  element [{index}] of the result {aval.short()} is "
            f"{number(self.value)}; {self.count} of {math.prod(aval.shape)} are bad"
        ]

    def _operands(self) -> list[str]:
        lines = []
        for i, (v, x) in enumerate(
            zip(self.eqn.invars, self.finding.operands, strict=True)
        ):
            if x is not None:
                lines.append(f"  operand {i}: {self._describe(v, x)}")
        return lines[:6]

    def _describe(self, v: Any, x: Any) -> str:
        if type(v) is ir.Literal or not x.shape:
            return f"{v.aval.short()}, {number(x[()])}"
        text = f"{v.aval.short()}, {value_range(x)}"
        if x.shape == self.finding.results[self.number].shape:
            text += f", {number(x[self.index])} there"
        return text

    def _facts(self) -> number_cures.Facts:
        result = self.finding.results[self.number]
        shape = () if result is None else result.shape
        there, ranges = [], []
        for x in self.finding.operands:
            is_whole = x is not None and x.shape == shape
            is_scalar = x is not None and not x.shape
            value = x[self.index] if is_whole else x[()] if is_scalar else None
            there.append(value)
            ranges.append(x)
        dtype = self.eqn.outvars[self.number].aval.dtype
        source = ""
        if self.position is not None:
            source = linecache.getline(self.position.file, self.position.line).strip()
        return number_cures.Facts(
            self.eqn.primitive.name,
            self.direction,
            there,
            ranges,
            self.value,
            dtype,
            self.eqn.params,
            source,
        )


def _call_chain(path: Sequence[ir.Eqn]) -> list[Any]:
    """The places of the calls that led to the last of the equations, innermost first.

    An inner program may have been traced for another caller, whose places are left out.
    """
    chain: list[Any] = []
    for i in reversed(range(len(path))):
        source = path[i].source
        if source is not None:
            frames = [source, *source.callers]
            chain += frames if i == 0 else _within(frames, path[i - 1], path[i])
    return chain


def _within(frames: list[Any], call: ir.Eqn, eqn: ir.Eqn) -> list[Any]:
    """The frames within the function whose program has an equation."""
    programs = [p for p in ir.subprograms(call.params) if eqn in p.eqns]
    info = programs[0].debug_info if programs else None
    if info is None:
        return frames
    file = info.func_location.rpartition(":")[0]
    for n, frame in enumerate(frames, 1):
        if frame.file == file and frame.function.split(".")[-1] == info.func_name:
            return frames[:n]
    return frames


def is_nan(value: Any) -> bool:
    """Whether a scalar is NaN."""
    return bool(np.isnan(value))


def number(value: Any) -> str:
    """A scalar as text."""
    value = np.asarray(value)
    if value.dtype == np.bool_ or np.issubdtype(value.dtype, np.integer):
        return str(value)
    if np.issubdtype(value.dtype, np.complexfloating):
        return str(complex(value))
    return f"{float(value):.6g}"


def value_range(x: Any) -> str:
    """The range of an array's numbers, and what else it holds."""
    if not x.size:
        return "empty"
    if np.issubdtype(x.dtype, np.complexfloating):
        return f"of magnitudes {value_range(np.abs(x)).removeprefix('from ')}"
    if x.dtype == np.bool_:
        return f"{int(x.sum())} of {x.size} true"
    numbers = x.astype(np.float64)
    finite = numbers[np.isfinite(numbers)]
    text = "no finite number"
    if finite.size:
        text = f"from {finite.min():.6g} to {finite.max():.6g}"
    n_nan, n_inf = int(np.isnan(numbers).sum()), int(np.isinf(numbers).sum())
    if n_nan:
        text += f", {n_nan} nan"
    return f"{text}, {n_inf} inf" if n_inf else text


def _short(p: Any) -> str:
    return f"{source_info.short_file(p.file)}:{p.line} ({p.function})"
