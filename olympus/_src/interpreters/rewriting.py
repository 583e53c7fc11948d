"""Programs written again, with some results computed in another way."""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping, Sequence
from typing import Any

import numpy as np

from olympus._src.core import ir, sizes
from olympus._src.core.avals import ShapedArray
from olympus._src.core.primitive import Cost, Primitive
from olympus._src.interpreters import partial_eval
from olympus._src.lax.barriers import optimization_barrier_p
from olympus._src.lax.shaping import reshape_p

_INFO = ir.DebugInfo("rewriting", "program")
_ELEMENTWISE = (Cost.CHEAP, Cost.BITS, Cost.EXPENSIVE)

# Writes what stands for an equation; gives the value to be read in place of its result.
Change = Callable[[ir.Eqn], Any]


def holds(program: ir.Olympuspr, what: str, look: Callable[..., bool]) -> bool:
    """Whether a program, or one within it, has something to write again.

    Args:
      program: any program.
      what: the name under which the answer is kept with it.
      look: whether a program has it among its own equations.
    """

    def find(program: ir.Olympuspr) -> bool:
        if look(program):
            return True
        return any(holds(inner, what, look) for inner in ir.inner_programs(program))

    return bool(program.derived(what, find))


def rewrite(
    program: ir.Olympuspr,
    what: str,
    look: Callable[[ir.Olympuspr], bool],
    write: Callable[[ir.Olympuspr], ir.Olympuspr],
) -> ir.Olympuspr:
    """A program, and those within it, written again where they have something.

    Args:
      program: any program.
      what: the name under which what is found and written is kept with it.
      look: whether a program has it among its own equations.
      write: gives such a program, those within it left as they are, written again.

    Returns:
      The same object where there is nothing.
    """
    if not holds(program, what, look):
        return program

    def write_whole(program: ir.Olympuspr) -> ir.Olympuspr:
        program = ir.map_subprograms(program, lambda p: rewrite(p, what, look, write))
        return write(program) if look(program) else program

    result: ir.Olympuspr = program.derived((what, "written again"), write_whole)
    return result


def readers_of(
    program: ir.Olympuspr, values: Container[Any] | None = None
) -> dict[Any, list[ir.Eqn | None]]:
    """The equations that read each value; None for the results.

    Args:
      program: any program.
      values: of which values; None for all.
    """
    readers: dict[Any, list[ir.Eqn | None]] = {}
    for eqn in program.eqns:
        for v in eqn.invars:
            if values is None or v in values:
                readers.setdefault(v, []).append(eqn)
    for v in program.outvars:
        if values is None or v in values:
            readers.setdefault(v, []).append(None)
    return readers


def is_undivided(aval: Any) -> bool:
    """Whether a type is of an array of known sizes that nothing says to be divided."""
    return (
        type(aval) is ShapedArray
        and aval.explicit is None
        and not aval.vma
        and sizes.is_constant_shape(aval.shape)
    )


def is_elementwise(eqn: ir.Eqn, shape: tuple[int, ...]) -> bool:
    """Whether an equation makes arrays of a shape, each element of one of each operand.

    Its parameters say nothing of the shape, so that it may be written for another.
    """
    if eqn.primitive.cost not in _ELEMENTWISE or eqn.effects:
        return False
    if eqn.primitive is optimization_barrier_p:
        return False
    if any(isinstance(value, tuple) for value in eqn.params.values()):
        return False  # which may be a shape
    if eqn.params.get("sharding") is not None:
        return False
    avals = [v.aval for v in eqn.outvars]
    return all(is_undivided(a) and a.shape == shape for a in avals)


def reshape(x: Any, shape: Sequence[int]) -> Any:
    """An array in another shape, within a function that is written."""
    return reshape_p.bind(x, new_sizes=tuple(shape), dimensions=None, sharding=None)


class Rewriter:
    """Writes the equations of a program, and others in place of some."""

    def __init__(self) -> None:
        self._eqns: list[ir.Eqn] = []
        self._replaced: dict[Any, Any] = {}
        self._has_new_programs = False

    def write_equations(
        self, eqns: Sequence[ir.Eqn], changes: Mapping[ir.Eqn, Change | None]
    ) -> None:
        """Writes equations, some in another way; all read what replaces their operands.

        Args:
          eqns: the equations.
          changes: for some of them what writes others, and gives the value to be read
            in place of the one result; None for those that nothing reads any more.
        """
        written, replaced = self._eqns, self._replaced
        reads_none_of = replaced.keys().isdisjoint
        for eqn in eqns:
            if eqn in changes:
                change = changes[eqn]
                if change is not None:
                    replaced[eqn.outvars[0]] = change(eqn)
                continue
            if not reads_none_of(eqn.invars):
                eqn = eqn.replace(invars=list(map(self.read, eqn.invars)))
            written.append(eqn)

    def read(self, v: Any) -> Any:
        """What is now read in place of a value."""
        return v if type(v) is ir.Literal else self._replaced.get(v, v)

    def apply(
        self, eqn: ir.Eqn, p: Primitive, operands: Sequence[Any], **params: Any
    ) -> Any:
        """Writes one operation of one result; gives its result.

        Args:
          eqn: whose place in the user's source it gets.
          p: the operation.
          operands: variables and literals, as the new program has them.
          **params: its parameters, none of them programs.
        """
        aval, effects = p.results(tuple([v.aval for v in operands]), params)
        out, place = ir.Var(aval), (eqn.source, eqn.scope)
        self._eqns.append(ir.Eqn(p, list(operands), [out], params, effects, *place))
        return out

    def write(self, eqn: ir.Eqn, run: Callable[..., Any], values: Sequence[Any]) -> Any:
        """Writes what a function does to values; gives its result.

        Args:
          eqn: whose place in the user's source it gets.
          run: takes a tracer for each value.
          values: variables and literals, as the new program has them.
        """
        traced, consts = partial_eval.trace_to_olympuspr(
            lambda *args: [run(*args)], [v.aval for v in values], _INFO
        )
        self._has_new_programs |= bool(ir.equations_with_programs(traced))
        env: dict[Any, Any] = dict(zip(traced.invars, values, strict=True))
        for v, x in zip(traced.constvars, consts, strict=True):
            env[v] = ir.Literal(np.asarray(x), v.aval)
        for new in traced.eqns:
            inputs = [v if type(v) is ir.Literal else env.get(v, v) for v in new.invars]
            self._eqns.append(
                new.replace(invars=inputs, source=eqn.source, scope=eqn.scope)
            )
        (out,) = traced.outvars
        return out if type(out) is ir.Literal else env.get(out, out)

    def finish(self, program: ir.Olympuspr, *, are_needed: bool = False) -> Any:
        """The program with the equations so far, as far as something needs them.

        Args:
          program: what is written again.
          are_needed: whether all of the equations are known to be.
        """
        outvars = list(map(self.read, program.outvars))
        written = program.replace(eqns=self._eqns, outvars=outvars)
        if not self._has_new_programs:
            ir.inherit_programs(written, program)
        if are_needed:
            return written
        return partial_eval.dce_olympuspr(written, True, instantiate=True)[0]
