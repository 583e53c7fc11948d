"""Splits a program in what runs once and what runs again for the derivative.

A policy says which intermediate values may be kept. Going backwards from the values
that the derivative needs, each is kept, or is computed again from what is: from
arguments, in the end. Programs inside (of `jit` and `scan`) are split likewise.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from olympus._src.core import ir
from olympus._src.interpreters import partial_eval
from olympus._src.lax.memory_kinds import move_to_memory_p
from olympus._src.programs import inner_programs
from olympus._src.remat.policies import Offloadable, Policy, Recompute, decide


class Split:
    """A program in two parts.

    Attributes:
      once: the program, returning what is kept after its own results.
      again: takes what is kept and then some of the program's inputs; returns the
        wanted values.
      inputs: which of the program's inputs it takes.
      n_kept: how many values are kept.
    """

    __slots__ = ("again", "inputs", "n_kept", "once")

    def __init__(
        self, once: ir.Olympuspr, again: ir.Olympuspr, inputs: list[bool], n_kept: int
    ) -> None:
        self.once = once
        self.again = again
        self.inputs = inputs
        self.n_kept = n_kept


def split(program: ir.Olympuspr, n_results: int, policy: Policy | None) -> Split:
    """Splits a program without constants.

    Args:
      program: returns results and then the values that the derivative needs.
      n_results: how many of its outputs are results.
      policy: says which values may be kept; None: none but inputs.
    """
    keep_flags = [False] * n_results + [True] * (len(program.outvars) - n_results)
    splitter = Splitter(program, keep_flags, policy)
    once = program.replace(
        eqns=splitter.once,
        outvars=program.outvars[:n_results] + splitter.kept,
        debug_info=inner_programs.forget_argument_names(program.debug_info),
    )
    once, _ = partial_eval.dce_olympuspr(once, [True] * len(once.outvars), True)
    again, inputs = splitter.again()
    return Split(once, again, inputs, len(splitter.kept))


class Splitter:
    """Walks a program backwards from wanted outputs.

    Attributes:
      once: the equations that run once; they also make what inner programs keep.
      kept: variables of `once` that are passed on.
    """

    __slots__ = (
        "_again",
        "_inside",
        "_needed",
        "_outvars",
        "_policy",
        "_program",
        "kept",
        "once",
    )

    def __init__(
        self, program: ir.Olympuspr, keep_flags: Sequence[bool], policy: Policy | None
    ) -> None:
        self._program = program
        self._policy = policy
        self._outvars = [
            v for v, w in zip(program.outvars, keep_flags, strict=True) if w
        ]
        self._needed = {v for v in self._outvars if type(v) is not ir.Literal}
        self._again: list[ir.Eqn] = []
        self._inside: list[Any] = []  # how `_again` calls the values that are kept
        self.kept: list[Any] = []
        self.once: list[ir.Eqn] = []
        for eqn in reversed(program.eqns):
            self._visit(eqn)
        self.once.reverse()
        self._again.reverse()

    def again(self) -> tuple[ir.Olympuspr, list[bool]]:
        """The program that makes the wanted values again, and the inputs it takes."""
        flags = [v in self._needed for v in self._program.invars]
        inputs = [v for v, f in zip(self._program.invars, flags, strict=True) if f]
        again = self.again_of_all().replace(invars=self._inside + inputs)
        smaller, used = partial_eval.dce_olympuspr(
            again,
            [True] * len(self._outvars),
            [True] * len(self._inside) + [False] * len(inputs),
        )
        chosen = iter(used[len(self._inside) :])
        return smaller, [next(chosen) if f else False for f in flags]

    def again_of_all(self) -> ir.Olympuspr:
        """The program that makes the wanted values again, taking all inputs."""
        return ir.Olympuspr(
            (),
            self._inside + self._program.invars,
            self._outvars,
            self._again,
            debug_info=inner_programs.forget_argument_names(self._program.debug_info),
        )

    # -- one equation ----------------------------------------------------------------

    def _visit(self, eqn: ir.Eqn) -> None:
        hit = [v in self._needed for v in eqn.outvars]
        rule = eqn.primitive.split
        if not any(hit) and not eqn.effects:
            self.once.append(eqn)
        elif rule is not None and self._policy is not None:
            rule(self, eqn, hit)
        else:
            self.visit_whole(eqn, hit)

    def _keep(self, v: Any, answer: Any) -> list[ir.Eqn]:
        """Keeps a result; returns the equation that takes it to another memory."""
        if type(answer) is not Offloadable:
            self.keep(v, v)
            return []
        away = ir.Var(v.aval)
        self.keep(away, away)
        self._again.append(_move(away, v, answer.src))
        return [_move(v, away, answer.dst)]

    # -- what the rules of inner programs use -----------------------------------------

    def keep(self, variable: Any, copy: Any) -> None:
        """Passes a variable of what runs once to what runs again."""
        self.kept.append(variable)
        self._inside.append(copy)

    def run_again(self, eqn: ir.Eqn) -> None:
        """Makes an equation part of what runs again."""
        self._again.append(eqn)
        self._needed.update(v for v in eqn.invars if type(v) is not ir.Literal)

    def visit_whole(self, eqn: ir.Eqn, hit: Sequence[bool]) -> None:
        """Keeps an equation's results, or runs it again, as the policy says."""
        answer = decide(self._policy, eqn)
        moves = []
        if answer is Recompute:
            self.run_again(eqn)
        else:
            for v, h in zip(eqn.outvars, hit, strict=True):
                if h:
                    moves += self._keep(v, answer)
        self.once += [*moves, eqn]

    def keeps(self, eqn: ir.Eqn) -> bool:
        """Whether the policy keeps the results of an equation as a whole."""
        return decide(self._policy, eqn) is not Recompute

    def inner(self, program: ir.Olympuspr, keep_flags: Sequence[bool]) -> Splitter:
        """Splits a program inside, by the same policy."""
        return Splitter(program, keep_flags, self._policy)


def _move(source: Any, target: Any, kind: str) -> ir.Eqn:
    return ir.Eqn(move_to_memory_p, [source], [target], {"memory_kind": kind})
