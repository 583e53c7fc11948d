"""Runs the cases of an entry: compiled as one program, and some one by one."""

from __future__ import annotations

import warnings
import zlib
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import numpy as np

import olympus
from tests.differential.comparing import Disagreement, agree
from tests.public_functions.drawing import Call, Draw
from tests.public_functions.entries import Entry, map_arrays

GROUP = 8  # cases that are compiled together


class Case(NamedTuple):
    """A drawn call and what it must give: an exception where it must raise."""

    entry: Entry
    number: int
    x64: bool
    call: Call
    want: Any

    def __str__(self) -> str:
        shown = [show(a) for a in self.call.args]
        shown += [f"{k}={show(v)}" for k, v in self.call.kwargs.items()]
        width = "x64 " if self.x64 else ""
        return f"{width}{self.entry.id}({', '.join(shown)}) [--case {self.number}]"


class Failure(NamedTuple):
    case: Case
    how: str
    why: str

    def __str__(self) -> str:
        return f"{self.case} {self.how}: {self.why}"


def show(x: Any) -> str:
    if isinstance(x, np.ndarray):
        return f"{x.dtype}{list(x.shape)}" if x.size > 6 else f"{x.dtype}{x.tolist()}"
    if isinstance(x, (tuple, list)):
        return f"({', '.join(map(show, x))})"
    return repr(x)


def draw(entry: Entry, number: int, seed: int) -> Case:
    """The case of a number; cases of one group share whether 64-bit values are on."""
    group = [seed, zlib.crc32(entry.id.encode()), number // GROUP, 64]
    x64 = bool(np.random.default_rng(group).uniform() < 0.4)
    call = entry.draw(Draw(seed, entry.id, number, x64))
    with olympus.enable_x64(x64):
        return Case(entry, number, x64, call, expected(entry, call))


def expected(entry: Entry, call: Call) -> Any:
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            # An oracle may write to its arguments; the call must not see that.
            copies = map_arrays(np.copy, (call.args, call.kwargs))
            return entry.expected(Call(*copies))
        except Exception as e:
            return e


def taken_apart(call: Call) -> tuple[list[Any], Callable[[Any], Call]]:
    """The arrays of a call, and what puts others in their place."""
    arrays: list[Any] = []
    map_arrays(arrays.append, (call.args, call.kwargs))

    def put(others: Iterable[Any]) -> Call:
        given = iter(others)
        return Call(*map_arrays(lambda _: next(given), (call.args, call.kwargs)))

    return arrays, put


Place = Callable[[Any], Any]


def on_host(x: Any) -> Any:
    """How an array is passed where nothing else is said: as it is."""
    return x


def compiled(cases: list[Case], place: Place = on_host) -> list[Any]:
    """The results of calls, computed by one program, of arrays that are placed."""
    parts = [taken_apart(case.call) for case in cases]

    def together(given: Any) -> Any:
        outs = []
        for case, (_, put), arrays in zip(cases, parts, given, strict=True):
            args, kwargs = put(arrays)
            outs.append(case.entry.function()(*args, **kwargs))
        return outs

    with olympus.enable_x64(cases[0].x64):
        placed = [list(map(place, arrays)) for arrays, _ in parts]
        return olympus.jit(together)(placed)


def by_itself(case: Case, place: Place = on_host) -> Any:
    with olympus.enable_x64(case.x64):
        args, kwargs = map_arrays(place, (case.call.args, case.call.kwargs))
        return case.entry.function()(*args, **kwargs)


def judge(case: Case, how: str, got: Any) -> Failure | None:
    """A failure where a result is not as it must be."""
    entry, want = case.entry, case.want
    if isinstance(want, Exception):
        if isinstance(got, Exception):
            return None
        reason = f"no error, expected {type(want).__name__}: {want}"
        return Failure(case, how, reason)
    if isinstance(got, Exception):
        return Failure(case, how, f"{type(got).__name__}: {got}")
    scale = entry.size(case.call, want)
    try:
        agree(got, want, entry.ulps, scale, entry.kinds, entry.signs)
    except Disagreement as e:
        return Failure(case, how, str(e))
    return None


def attempt(f: Callable[[], Any]) -> Any:
    try:
        return f()
    except Exception as e:
        return e


def run_group(cases: list[Case], eager: int, place: Place = on_host) -> list[Failure]:
    """Failures of cases of one group.

    Args:
      cases: of one entry, and all with or all without 64-bit values.
      eager: one in so many of the cases also runs outside of `jit`.
      place: what is done to arrays before they are passed.
    """
    entry = cases[0].entry
    found: list[Failure | None] = []
    inside = [c for c in cases if entry.jit and not isinstance(c.want, Exception)]
    numbers = {c.number for c in inside}
    if inside:
        outs = attempt(lambda: compiled(inside, place))
        if isinstance(outs, Exception):  # one of them: each for itself
            outs = [attempt(lambda c=c: compiled([c], place)[0]) for c in inside]
        found += [judge(c, "jit", o) for c, o in zip(inside, outs, strict=True)]
    for case in cases:
        if case.number not in numbers or case.number % eager == 0:
            out = attempt(lambda c=case: by_itself(c, place))
            found.append(judge(case, "eager", out))
    return [f for f in found if f is not None]


class Outcome(NamedTuple):
    """How many cases ran, in how many of them an error is expected, which failed."""

    cases: int
    refused: int
    failures: list[Failure]


def sweep(
    entry: Entry,
    numbers: range,
    seed: int,
    eager: int = GROUP,
    place: Place = on_host,
) -> Outcome:
    """Runs the cases of these numbers; see `run_group`."""
    failures: list[Failure] = []
    refused = 0
    for start in range(numbers.start, numbers.stop, GROUP):
        cases = [
            draw(entry, n, seed) for n in range(start, min(start + GROUP, numbers.stop))
        ]
        failures += run_group(cases, eager, place)
        refused += sum(isinstance(c.want, Exception) for c in cases)
    failed = {f.case.number: f for f in reversed(failures)}
    return Outcome(len(numbers), refused, [failed[n] for n in sorted(failed)])
