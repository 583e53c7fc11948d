"""Reduces the residuals between a program and its derivative.

What a derivative needs is an output of one program and an input of another: of a call,
a step of a loop, a branch. A value that is quickly made of a smaller one, or of one
that is available anyway, such as an argument or a number, is not passed on: the second
program makes it again. So it does with what a little arithmetic makes of other values
that are handed over, as 1 - y * y of the hyperbolic tangent y. Of values that are
computed alike, such as positions that were counted from the end, one is passed on.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from olympus._src.core import avals as avals_
from olympus._src.core import dtypes, ir, sizes
from olympus._src.core.primitive import Remade

_MAX_STEPS = 4  # operations that make a value of others


def reduce(
    forward: ir.Olympuspr, n_outs: int, tangent: ir.Olympuspr
) -> tuple[ir.Olympuspr, ir.Olympuspr]:
    """Makes the two programs of a derivative share less.

    Args:
      forward: returns results and then residuals.
      n_outs: how many of its outputs are results.
      tangent: takes the residuals first; has no constants.

    Returns:
      The two programs, with fewer or smaller residuals.
    """
    residuals = forward.outvars[n_outs:]
    remade = _find_remade(forward, residuals)
    again = _Again(remade, _find_equal(forward, residuals))
    renamed: dict[Any, Any] = {
        inner: again.name(outer)
        for outer, inner in zip(residuals, tangent.invars, strict=False)
    }
    if not remade and len(again.kept) == len(residuals):
        return forward, tangent
    eqns = [
        e.replace(invars=[renamed.get(v, v) for v in e.invars])
        if any(v in renamed for v in e.invars)
        else e
        for e in tangent.eqns
    ]
    return forward.replace(outvars=forward.outvars[:n_outs] + again.kept), (
        tangent.replace(
            invars=again.inputs + tangent.invars[len(residuals) :],
            outvars=[renamed.get(v, v) for v in tangent.outvars],
            eqns=again.eqns + eqns,
        )
    )


def _find_remade(forward: ir.Olympuspr, residuals: Sequence[Any]) -> dict[Any, ir.Eqn]:
    """The values that are made again, and the equations that make them."""
    remakes = [e for e in forward.eqns if e.primitive.remade is not None]
    of_operand = Remade.OF_OPERAND
    cheap = {e.outvars[0]: e for e in remakes if e.primitive.remade is of_operand}
    there = set(forward.constvars + forward.invars)
    there.update(v for v in residuals if type(v) is ir.Var)
    remade: dict[Any, ir.Eqn] = {}
    for residual in residuals:
        size = _bytes(residual)
        steps: list[Any] = []
        v = residual
        while v in cheap:
            steps.append(v)
            sources = [x for x in cheap[v].invars if type(x) is not ir.Literal]
            v = sources[0] if sources else None
            if v is None or v in there or _is_less(_bytes(v), size):
                remade.update((s, cheap[s]) for s in steps)
                steps = []
    light = {e.outvars[0]: e for e in remakes}
    residual_vars = {v for v in residuals if type(v) is ir.Var}
    for residual in residuals:
        if residual in light and residual not in remade and residual.aval.shape:
            remade.update(_made_of(residual, light, residual_vars))
    return remade


def _made_of(
    residual: Any, light: dict[Any, ir.Eqn], kept: set[Any]
) -> dict[Any, ir.Eqn]:
    """The few equations that make a residual of others; none where more are needed."""
    steps: dict[Any, ir.Eqn] = {}
    pending = [residual]
    while pending:
        v = pending.pop()
        if v in steps or (v in kept and v is not residual):
            continue
        if v not in light or len(steps) == _MAX_STEPS:
            return {}
        steps[v] = light[v]
        pending += [x for x in light[v].invars if type(x) is not ir.Literal]
    return steps


def _find_equal(forward: ir.Olympuspr, residuals: Sequence[Any]) -> dict[Any, Any]:
    """For values that a little arithmetic computes twice, the first that is equal."""
    light = {e.outvars[0]: e for e in forward.eqns if e.primitive.remade is not None}
    kinds = [(light[v].primitive, v.aval) for v in set(residuals) if v in light]
    if len(set(kinds)) == len(kinds):
        return {}
    first: dict[Any, Any] = {}
    equal: dict[Any, Any] = {}
    for v, eqn in light.items():
        operands = tuple(_identity(equal.get(x, x)) for x in eqn.invars)
        params = tuple(sorted(eqn.params.items()))
        equal[v] = first.setdefault((eqn.primitive, operands, params, v.aval), v)
    return equal


def _identity(v: Any) -> Any:
    """Equal for variables, and for numbers, that are the same."""
    if type(v) is ir.Literal:
        return v.aval, np.asarray(v.val).tobytes()
    return v


def _bytes(v: Any) -> Any:
    aval = v.aval
    if aval.is_high or isinstance(aval.dtype, dtypes.ExtendedDType):
        return avals_.count_bytes(aval)
    return aval.size * aval.dtype.itemsize


def _is_less(a: Any, b: Any) -> bool:
    """Whether that is so for all sizes."""
    if type(a) is int and type(b) is int:
        return a < b
    return sizes.at_least(b, a + 1)


class _Again:
    """The start of the second program, where values are made again.

    Attributes:
      kept: values of the first program that are passed on.
      inputs: their names in the second.
      eqns: its first equations.
    """

    __slots__ = ("_equal", "_names", "_remade", "eqns", "inputs", "kept")

    def __init__(self, remade: dict[Any, ir.Eqn], equal: dict[Any, Any]) -> None:
        self._remade = remade
        self._equal = equal
        self._names: dict[Any, Any] = {}
        self.kept: list[Any] = []
        self.inputs: list[Any] = []
        self.eqns: list[ir.Eqn] = []

    def name(self, v: Any) -> Any:
        """The value in the second program for a value of the first."""
        if type(v) is ir.Literal:
            return v
        v = self._equal.get(v, v)
        if v in self._names:
            return self._names[v]
        eqn = self._remade.get(v)
        invars = [] if eqn is None else [self.name(x) for x in eqn.invars]
        new = self._names[v] = ir.Var(v.aval)
        if eqn is None:
            self.kept.append(v)
            self.inputs.append(new)
        else:
            self.eqns.append(eqn.replace(invars=invars, outvars=[new]))
        return new


class Source:
    """Where the residuals of a forward program come from.

    An input or a number need not pass through the program: whoever applies it has them.
    In a loop around, an input may be the same in all steps, which a result never is.

    Attributes:
      outputs: the variables that the program must return, each once.
      inputs: which inputs are residuals, by their positions.
    """

    __slots__ = ("_places", "inputs", "outputs")

    def __init__(self, program: ir.Olympuspr, n_outs: int) -> None:
        inputs = {v: i for i, v in enumerate(program.constvars + program.invars)}
        self.outputs: list[Any] = []
        self._places: list[tuple[str, Any]] = []
        at: dict[Any, int] = {}
        for v in program.outvars[n_outs:]:
            if type(v) is ir.Literal:
                self._places.append(("value", np.asarray(v.val, v.aval.dtype)[()]))
            elif v in inputs:
                self._places.append(("input", inputs[v]))
            else:
                if v not in at:
                    at[v] = len(at)
                    self.outputs.append(v)
                self._places.append(("made", at[v]))
        self.inputs = {i for kind, i in self._places if kind == "input"}

    @property
    def count(self) -> int:
        """How many residuals there are."""
        return len(self._places)

    def find(self, inputs: Any, made: Sequence[Any]) -> list[Any]:
        """The residuals, given the program's inputs by position, and what it made."""
        readers = {"value": lambda x: x, "input": inputs.__getitem__}
        readers["made"] = made.__getitem__
        return [readers[kind](x) for kind, x in self._places]


def forward_sources(closed: ir.ClosedOlympuspr, n_outs: int) -> tuple[Any, Source]:
    """The forward program without residuals that it need not return, and where all are.

    Args:
      closed: returns `n_outs` results and then residuals.
      n_outs: how many results.
    """
    program = closed.olympuspr
    source = Source(program, n_outs)
    small = program.replace(outvars=program.outvars[:n_outs] + source.outputs)
    return ir.ClosedOlympuspr(small, closed.consts), source
