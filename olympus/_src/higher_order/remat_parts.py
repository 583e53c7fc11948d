"""Splits a program in what runs once and what runs again for the derivative.

A policy says which intermediate values may be kept. Going backwards from the values
that the derivative needs, each is kept, or is computed again from what is: from
arguments, in the end. Programs inside (of `jit` and `scan`) are split likewise.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from olympus._src.core import ir
from olympus._src.higher_order import programs
from olympus._src.higher_order.jit import pjit_p
from olympus._src.higher_order.remat_policies import (
    Offloadable,
    Policy,
    Recompute,
    decide,
)
from olympus._src.higher_order.scan import scan_p
from olympus._src.higher_order.scan_parts import Parts
from olympus._src.interpreters import partial_eval
from olympus._src.lax.memory import move_to_memory_p


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
    wanted = [False] * n_results + [True] * (len(program.outvars) - n_results)
    found = _Splitter(program, wanted, policy)
    once = program.replace(
        eqns=found.once,
        outvars=program.outvars[:n_results] + found.kept,
        debug_info=programs.unnamed(program.debug_info),
    )
    once, _ = partial_eval.dce_olympuspr(once, [True] * len(once.outvars), True)
    again, inputs = found.again()
    return Split(once, again, inputs, len(found.kept))


class _Splitter:
    """Walks a program backwards from wanted outputs.

    Attributes:
      once: the equations that run once; they also make what inner programs keep.
      kept: variables of `once` that are handed on.
    """

    __slots__ = (
        "_inside",
        "_needed",
        "_outvars",
        "_policy",
        "_program",
        "_rest",
        "kept",
        "once",
    )

    def __init__(
        self, program: ir.Olympuspr, wanted: Sequence[bool], policy: Policy | None
    ) -> None:
        self._program = program
        self._policy = policy
        self._outvars = [v for v, w in zip(program.outvars, wanted, strict=True) if w]
        self._needed = {v for v in self._outvars if type(v) is not ir.Literal}
        self._rest: list[ir.Eqn] = []
        self._inside: list[Any] = []  # what the rest calls the values that are kept
        self.kept: list[Any] = []
        self.once: list[ir.Eqn] = []
        for eqn in reversed(program.eqns):
            self._visit(eqn)
        self.once.reverse()
        self._rest.reverse()

    def again(self) -> tuple[ir.Olympuspr, list[bool]]:
        """The program that makes the wanted values again, and the inputs it takes."""
        flags = [v in self._needed for v in self._program.invars]
        inputs = [v for v, f in zip(self._program.invars, flags, strict=True) if f]
        again = ir.Olympuspr(
            (),
            self._inside + inputs,
            self._outvars,
            self._rest,
            debug_info=programs.unnamed(self._program.debug_info),
        )
        smaller, used = partial_eval.dce_olympuspr(
            again,
            [True] * len(self._outvars),
            [True] * len(self._inside) + [False] * len(inputs),
        )
        chosen = iter(used[len(self._inside) :])
        return smaller, [next(chosen) if f else False for f in flags]

    # -- one equation ----------------------------------------------------------------

    def _visit(self, eqn: ir.Eqn) -> None:
        hit = [v in self._needed for v in eqn.outvars]
        rule = _INNER.get(eqn.primitive)
        if not any(hit) and not eqn.effects:
            self.once.append(eqn)
        elif rule is not None and self._policy is not None:
            rule(self, eqn, hit)
        else:
            self._visit_whole(eqn, hit)

    def _visit_whole(self, eqn: ir.Eqn, hit: Sequence[bool]) -> None:
        answer = decide(self._policy, eqn)
        moves = []
        if answer is Recompute:
            self.run_again(eqn)
        else:
            for v, h in zip(eqn.outvars, hit, strict=True):
                if h:
                    moves += self._keep(v, answer)
        self.once += [*moves, eqn]

    def _keep(self, v: Any, answer: Any) -> list[ir.Eqn]:
        """Keeps a result; returns the equation that takes it to another memory."""
        if type(answer) is not Offloadable:
            self.keep(v, v)
            return []
        away = ir.Var(v.aval)
        self.keep(away, away)
        self._rest.append(_move(away, v, answer.src))
        return [_move(v, away, answer.dst)]

    # -- what the rules of inner programs use -----------------------------------------

    def keep(self, made: Any, used: Any) -> None:
        """Hands a variable of what runs once to what runs again."""
        self.kept.append(made)
        self._inside.append(used)

    def run_again(self, eqn: ir.Eqn) -> None:
        """Makes an equation part of what runs again."""
        self._rest.append(eqn)
        self._needed.update(v for v in eqn.invars if type(v) is not ir.Literal)

    def inner(self, program: ir.Olympuspr, wanted: Sequence[bool]) -> _Splitter:
        """Splits a program inside, by the same policy."""
        return _Splitter(program, wanted, self._policy)


def _move(source: Any, target: Any, kind: str) -> ir.Eqn:
    return ir.Eqn(move_to_memory_p, [source], [target], {"memory_kind": kind})


def _chosen(items: Sequence[Any], flags: Sequence[bool]) -> list[Any]:
    return [x for x, f in zip(items, flags, strict=True) if f]


# -- programs inside -------------------------------------------------------------------


def _visit_call(splitter: _Splitter, eqn: ir.Eqn, hit: Sequence[bool]) -> None:
    """`pjit`: both parts are calls."""
    program = ir.hoist_consts(eqn.params["olympuspr"].olympuspr)
    inner = splitter.inner(program, hit)
    again, inputs = inner.again()
    made, new, outs = _handed_on(inner, program.outvars, eqn.outvars, lambda a: a)
    for v in made:
        splitter.keep(v, v)
    once = program.replace(
        eqns=inner.once,
        outvars=program.outvars + [k for _, k in new],
        debug_info=programs.unnamed(program.debug_info),
    )
    splitter.once.append(
        eqn.replace(
            outvars=eqn.outvars + [v for v, _ in new],
            params={**eqn.params, "olympuspr": ir.ClosedOlympuspr(once)},
        )
    )
    operands = made + _chosen(eqn.invars, inputs)
    params = {
        **eqn.params,
        "olympuspr": ir.ClosedOlympuspr(again),
        "donated_invars": (False,) * len(operands),
    }
    splitter.run_again(
        eqn.replace(
            invars=operands,
            outvars=_chosen(outs, hit),
            params=params,
            effects=again.effects,
        )
    )


def _handed_on(
    inner: _Splitter, results: Sequence[Any], outer: Sequence[Any], aval: Any
) -> tuple[list[Any], list[tuple[Any, Any]], list[Any]]:
    """What stands outside for the values that a program inside keeps.

    Args:
      inner: the program's parts.
      results: its outputs.
      outer: the variables of its equation that they are given to.
      aval: the type outside of a value of a type inside.

    Returns:
      A variable for each value; pairs of those that are new and the values inside; and
      the results for the part that runs again, which gives none that is kept.
    """
    known = {v: o for v, o in zip(results, outer, strict=True) if type(v) is ir.Var}
    made, new = [], []
    for v in inner.kept:
        if v in known:
            made.append(known[v])
        else:
            made.append(ir.Var(aval(v.aval)))
            new.append((made[-1], v))
    kept = set(made)
    return made, new, [ir.Var(o.aval) if o in kept else o for o in outer]


def _visit_scan(splitter: _Splitter, eqn: ir.Eqn, hit: Sequence[bool]) -> None:
    """`scan`: what a step keeps is stacked, and a second loop makes the rest."""
    params = eqn.params
    body, n_carry = params["olympuspr"].olympuspr, params["num_carry"]
    carried = list(hit[:n_carry])
    while True:  # until no more of the carry is needed in the second loop
        inner = splitter.inner(body, [*carried, *hit[n_carry:]])
        again, flags = inner.again()
        inputs = Parts(flags, params)
        if not any(f and not c for f, c in zip(inputs.carry, carried, strict=True)):
            break
        carried = [f or c for f, c in zip(inputs.carry, carried, strict=True)]
    made, new, outs = _handed_on(
        inner,
        body.outvars[n_carry:],
        eqn.outvars[n_carry:],
        lambda aval: aval.with_leading_axis(params["length"]),
    )
    for v in made:
        splitter.keep(v, v)
    once = body.replace(
        eqns=inner.once,
        outvars=body.outvars + [k for _, k in new],
        debug_info=programs.unnamed(body.debug_info),
    )
    splitter.once.append(
        eqn.replace(
            outvars=eqn.outvars + [v for v, _ in new],
            params={**params, "olympuspr": ir.ClosedOlympuspr(once)},
        )
    )
    operands = Parts(eqn.invars, params)
    ys = _chosen(outs, hit[n_carry:])
    last = [
        o if h else ir.Var(o.aval)
        for o, h, c in zip(eqn.outvars, hit, carried, strict=False)
        if c
    ]
    again = _with_carry(again, len(made), body.invars, inputs, carried, params)
    splitter.run_again(
        eqn.replace(
            invars=[
                *_chosen(operands.consts, inputs.consts),
                *_chosen(operands.carry, carried),
                *_chosen(operands.xs, inputs.xs),
                *made,
            ],
            outvars=last + ys,
            params={
                **params,
                "olympuspr": ir.ClosedOlympuspr(again),
                "num_consts": sum(inputs.consts),
                "num_carry": sum(carried),
            },
            effects=again.effects,
        )
    )


def _with_carry(
    again: ir.Olympuspr,
    n_kept: int,
    invars: Sequence[Any],
    inputs: Parts,
    carried: Sequence[bool],
    params: Any,
) -> ir.Olympuspr:
    """The second loop's body, its inputs in the order of a scan: kept values last."""
    kept, n_consts = again.invars[:n_kept], sum(inputs.consts)
    given = again.invars[n_kept:]
    used = iter(given[n_consts : n_consts + sum(inputs.carry)])
    carry = [
        next(used) if f else ir.Var(v.aval)
        for v, f, c in zip(
            Parts(invars, params).carry, inputs.carry, carried, strict=True
        )
        if c
    ]
    rows = given[n_consts + sum(inputs.carry) :]
    return again.replace(invars=[*given[:n_consts], *carry, *rows, *kept])


_INNER: dict[Any, Callable[..., None]] = {pjit_p: _visit_call, scan_p: _visit_scan}
