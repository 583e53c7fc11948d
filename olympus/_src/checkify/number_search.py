"""The search for the equation that made a NaN or an infinity, in compiled code.

A program, mostly a loop, is compiled once more, with a state that says which equation
first gave a bad number. The state passes through calls, branches and loops by the field
`checkify` of the operations that hold programs, so that a loop of a thousand steps is
one run. A second program keeps the operands of that equation, and the iteration it was
in. `number_steps` looks at what is not in a loop.

A state is `[code, step, steps, *captured]`: the number of the site, from 1, or 0 where
all is well; the iteration of the innermost loop, from 1; those of the loops inside of
it; and, where one equation is looked at, its operands and results.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from olympus._src.checkify import checks
from olympus._src.core import avals as avals_
from olympus._src.core import dtypes, ir, refs, trace
from olympus._src.core.avals import ShapedArray
from olympus._src.interpreters import (
    compilation,
    compiled_programs,
    lowered_programs,
    partial_eval,
)
from olympus._src.interpreters.concrete_arrays import ArrayImpl
from olympus._src.lax import (
    barriers,
    bitwise,
    choice,
    complex_numbers,
    concatenation,
    elementwise,
    reductions,
    shaping,
    stacking,
)
from olympus._src.sharding.division import Division

_SMALL = 4096  # elements of results that are looked at together
_DEPTH = 6  # of nested loops whose iterations are told


class Finding(NamedTuple):
    """An equation that made a bad number.

    Attributes:
      path: the equations around it, the outermost first, and itself.
      steps: the iteration of each loop among them, from 0; -1 is before the first.
      operands, results: values there; None for those that hold no numbers.
    """

    path: tuple[ir.Eqn, ...]
    steps: tuple[int, ...]
    operands: list[Any]
    results: list[Any]


class Plan:
    """What a search looks for; and the programs that it made, which it shares.

    Args:
      nans, infs: what is bad.
      target: the one equation whose values are kept; None to find equations.
      healed: equations whose bad results are replaced.
      every: whether operations count that can only pass bad numbers on.
      hidden: whether loops are looked into whose results are good.
    """

    def __init__(
        self,
        nans: bool,
        infs: bool,
        target: ir.Eqn | None = None,
        healed: frozenset[ir.Eqn] = frozenset(),
        every: bool = False,
        hidden: bool = False,
    ) -> None:
        self.nans, self.infs, self.every, self.hidden = nans, infs, every, hidden
        self.target, self.healed = target, healed
        self.programs: dict[Any, Any] = {}
        kept = [] if target is None else [*target.invars, *target.outvars]
        self.captured = [
            ShapedArray(v.aval.shape, v.aval.dtype) for v in kept if holds_numbers(v)
        ]

    def looks_at(self, eqn: ir.Eqn) -> bool:
        """Whether it looks for bad numbers among an equation's results."""
        if self.target is not None:
            return eqn is self.target
        if eqn in self.healed:
            return False
        return self.every or self.infs or bool(eqn.primitive.may_make_nan)


def holds_numbers(v: Any) -> bool:
    """Whether a variable is an array of numbers, whose values can be looked at."""
    aval = v.aval
    if refs.is_ref_type(aval) or dtypes.is_extended(getattr(aval, "dtype", None)):
        return False
    return isinstance(aval, ShapedArray) and aval.dtype != dtypes.float0


def may_be_bad(v: Any) -> bool:
    """Whether a variable may be NaN or infinite."""
    return holds_numbers(v) and dtypes.issubdtype(v.aval.dtype, np.inexact)


def is_loop(eqn: ir.Eqn) -> bool:
    """Whether an equation applies a program again and again."""
    return "body_jaxpr" in eqn.params or "num_carry" in eqn.params


def is_mapped_loop(eqn: ir.Eqn) -> bool:
    """Whether an equation is a loop that runs also for elements that are done."""
    test = eqn.params.get("cond_jaxpr")
    return test is not None and bool(test.out_avals[0].shape)


def contains(program: ir.Olympuspr, eqns: frozenset[ir.Eqn]) -> bool:
    """Whether a program, or one within, has one of some equations."""
    if not eqns:
        return False
    return any(
        e in eqns or any(contains(p, eqns) for p in ir.subprograms(e.params))
        for e in program.eqns
    )


class _Search(checks.Checks):
    """An interpreter that applies a program and keeps the state of the search."""

    def __init__(self, plan: Plan) -> None:
        super().__init__(frozenset())
        self.plan = plan
        self.eqn: Any = None
        self._open: list[Any] = []  # (site, result) that the state does not know yet
        self._state: list[Any] | None = None

    # -- what the interpreter does -------------------------------------------------

    def evaluate(
        self, program: ir.Olympuspr, consts: Sequence[Any], *args: Any
    ) -> list[Any]:
        """Runs a program in the current interpreter, with the search."""
        env: dict[Any, Any] = dict(zip(program.constvars, consts, strict=True))
        env.update(zip(program.invars, args, strict=True))
        current = trace.current
        outer = current.position, current.scope
        try:
            for eqn in program.eqns:
                inputs = [
                    v.val if type(v) is ir.Literal else env[v] for v in eqn.invars
                ]
                current.position, current.scope = eqn.source, outer[1] + eqn.scope
                self.eqn = eqn
                env.update(zip(eqn.outvars, self._outputs(eqn, inputs), strict=True))
        finally:
            current.position, current.scope = outer
        return [v.val if type(v) is ir.Literal else env[v] for v in program.outvars]

    def _outputs(self, eqn: ir.Eqn, inputs: list[Any]) -> list[Any]:
        p = eqn.primitive
        inner = eqn.params.get("call_jaxpr")
        if type(inner) is ir.ClosedOlympuspr and len(inner.in_avals) == len(inputs):
            checked = self.program(inner)
            if checked is not None:  # of a function with rules, which are not asked
                state, outs = checked.run(*inner.consts, *inputs)
                self.join_checked(checked, state)
                return list(outs)
        elif p.checkify and any(ir.subprograms(eqn.params)) and self._is_followed(eqn):
            out = p.checkify(self, *inputs, **eqn.params)
            return list(out) if p.multiple_results else [out]
        out = p.bind(*inputs, **eqn.params)
        outs = list(out) if p.multiple_results else [out]
        return self._look_at(eqn, inputs, outs)

    @staticmethod
    def _is_followed(eqn: ir.Eqn) -> bool:
        return not is_mapped_loop(eqn)

    def _look_at(self, eqn: ir.Eqn, inputs: list[Any], outs: list[Any]) -> list[Any]:
        plan = self.plan
        if eqn in plan.healed:
            pairs = zip(outs, eqn.outvars, strict=True)
            return [_heal(x, plan) if may_be_bad(v) else x for x, v in pairs]
        if not any(map(may_be_bad, eqn.outvars)) or not plan.looks_at(eqn):
            return outs
        # Else each flag's reduction would compute what leads to it again.
        outs = list(barriers.optimization_barrier_p.bind(*outs))
        suspects = [x for x, v in zip(outs, eqn.outvars, strict=True) if may_be_bad(v)]
        if plan.target is None:
            site: Any = (eqn,)  # a path of equations, where `checkify` has its checks
            self.sites.append(site)
            self._open += [(len(self.sites), x) for x in suspects]
            return outs
        flag = _any_bad(suspects[0], plan)
        for x in suspects[1:]:
            flag = bitwise.bitwise_or(flag, _any_bad(x, plan))
        atoms = [*eqn.invars, *eqn.outvars]
        kept = [
            elementwise.convert(x, v.aval.dtype)
            for x, v in zip([*inputs, *outs], atoms, strict=True)
            if holds_numbers(v)
        ]
        code = elementwise.select(flag, np.int32(1), np.int32(0))
        state = [code, np.int32(0), np.zeros(_DEPTH, np.int32), *kept]
        self._add([(eqn,)], state)
        return outs

    # -- states ----------------------------------------------------------------------

    def program(self, closed: ir.ClosedOlympuspr, context: Any = None) -> Any:
        """The program with its state as first results; None where nothing can fail."""
        key = (closed.olympuspr, context)
        programs = self.plan.programs
        if key not in programs:
            programs[key] = self._make(ir.hoist_consts(closed.olympuspr))
        return programs[key]

    def _make(self, whole: ir.Olympuspr) -> Any:
        sites: list[Any] = []
        has_healed = False

        def run(*args: Any) -> list[Any]:
            nonlocal has_healed
            search = _Search(self.plan)
            outs = search.evaluate(whole, (), *args)
            sites.extend(search.sites)
            has_healed = contains(whole, self.plan.healed)
            return [*search.state(), *outs]

        info = whole.debug_info or ir.DebugInfo("number search", "program")
        info = info.with_names()
        program, consts = partial_eval.trace_to_olympuspr(run, whole.in_avals, info)
        if not sites and not has_healed:
            return None
        return _Checked(program, consts, tuple(sites), self.size_of(sites))

    def state(self) -> list[Any]:
        """The state, with the sites that were looked at last."""
        self._flush()
        return self.nothing_failed(()) if self._state is None else self._state

    def _flush(self) -> None:
        if not self._open:
            return
        code = _first(self._open, self.plan)
        self._open = []
        self._merge_in([code, *self.nothing_failed(())[1:]])

    def _merge_in(self, state: Sequence[Any]) -> None:
        self._state = (
            list(state) if self._state is None else self.merge(self._state, state)
        )

    def _add(self, sites: Sequence[Any], state: Sequence[Any]) -> None:
        self._flush()
        offset = len(self.sites)
        self.sites += sites
        self._merge_in([_shift(state[0], offset), *state[1:]])

    def join(self, code: Any, sites: Any, payload: Any) -> None:
        """Adds the state of a program within the equation."""
        step, steps, *captured = payload
        if is_loop(self.eqn):
            row = shaping.reshape(step, (1,))
            outer = concatenation.slice_in_dim(steps, 0, _DEPTH - 1)
            steps = concatenation.concatenate([row, outer], 0)
            step = np.int32(0)
        paths = [(self.eqn, *site) for site in sites]
        self._add(paths, [code, step, steps, *captured])

    def join_checked(self, checked: Any, state: Sequence[Any]) -> None:
        """Adds the state that a program within the equation returned."""
        self.join(state[0], checked.sites, state[1:])

    # The fields `checkify` reach these through their `checks`.

    def nothing_failed(self, sites: Any) -> list[Any]:  # type: ignore[override]
        """A state before anything ran."""
        kept = [shaping.full(a.shape, 0, a.dtype) for a in self.plan.captured]
        return [np.int32(0), np.int32(0), np.zeros(_DEPTH, np.int32), *kept]

    def size_of(self, sites: Any) -> int:  # type: ignore[override]
        """How many arrays a state has."""
        return 3 + len(self.plan.captured)

    @staticmethod
    def advance(state: Sequence[Any], new: Sequence[Any] | None) -> list[Any]:
        """The state after one more iteration of a loop."""
        open_ = elementwise.eq(state[0], np.int32(0))
        one = elementwise.select(open_, np.int32(1), np.int32(0))
        step = elementwise.add(state[1], one)
        merged = list(state) if new is None else _Search.merge(state, new)
        return [merged[0], step, *merged[2:]]

    @staticmethod
    def widen(state: Sequence[Any], own: Any, sites: Any, offset: int) -> list[Any]:
        """A state of some sites as one of more, where those begin at `offset`."""
        return [_shift(state[0], offset), *state[1:]]

    @staticmethod
    def merge(state: Sequence[Any], new: Sequence[Any]) -> list[Any]:
        """The state of what came first."""
        open_ = elementwise.eq(state[0], np.int32(0))
        pairs = zip(new, state, strict=True)
        return [elementwise.select(open_, x, y) for x, y in pairs]


class _Checked(NamedTuple):
    """A program whose first results are a state, as the fields `checkify` use it."""

    program: ir.Olympuspr
    consts: list[Any]
    sites: tuple[Any, ...]
    size: int

    def run(self, *args: Any) -> tuple[list[Any], list[Any]]:
        """Applies it: the state, and the outputs."""
        outs = ir.eval_olympuspr(self.program, self.consts, *args)
        return outs[: self.size], outs[self.size :]


# -- operations ------------------------------------------------------------------------


def _bad(x: Any, plan: Plan) -> Any:
    """Where the elements of an array are bad."""
    aval = avals_.aval_of(x)
    if dtypes.issubdtype(aval.dtype, np.complexfloating):
        real, imag = complex_numbers.real(x), complex_numbers.imag(x)
        return bitwise.bitwise_or(_bad(real, plan), _bad(imag, plan))
    if aval.dtype.itemsize < 4:
        x = elementwise.convert(x, np.dtype(np.float32))
    if plan.nans and not plan.infs:
        return elementwise.ne(x, x)
    finite = choice.is_finite(x)
    if plan.nans:
        return bitwise.bitwise_not(finite)
    return bitwise.bitwise_and(bitwise.bitwise_not(finite), elementwise.eq(x, x))


def _any_bad(x: Any, plan: Plan) -> Any:
    axes = tuple(range(avals_.aval_of(x).ndim))
    return reductions.reduce_or(_bad(x, plan), axes)


def _heal(x: Any, plan: Plan) -> Any:
    aval = avals_.aval_of(x)
    return elementwise.select(_bad(x, plan), shaping.full(aval.shape, 1, aval.dtype), x)


def _first(rows: Sequence[Any], plan: Plan) -> Any:
    """The least number of a site whose result is bad; 0 if none is.

    Small results of one type are looked at together, which compiles much faster.
    """
    groups: dict[Any, list[Any]] = {}
    for number, x in rows:
        aval = avals_.aval_of(x)
        single = number if aval.size > _SMALL else 0
        key = (aval.shape, aval.dtype, single, getattr(aval, "sharding", None))
        groups.setdefault(key, []).append((number, x))
    none = np.int32(np.iinfo(np.int32).max)
    least: Any = none
    for group in groups.values():
        numbers = np.array([number for number, _ in group], np.int32)
        if len(group) == 1:
            flag = _any_bad(group[0][1], plan)
            code = choice.select(flag, numbers[0], none)
        else:
            row = _bad(stacking.stack([x for _, x in group]), plan)
            row = reductions.reduce_or(row, tuple(range(1, avals_.aval_of(row).ndim)))
            each = choice.select(row, numbers, np.full(len(group), none, np.int32))
            code = reductions.reduce_min(each, (0,))
        least = elementwise.min_(least, code)
    return elementwise.select(elementwise.eq(least, none), np.int32(0), least)


def _shift(code: Any, offset: int) -> Any:
    if not offset:
        return code
    none = elementwise.eq(code, np.int32(0))
    moved = elementwise.add(code, np.int32(offset))
    return elementwise.select(none, np.int32(0), moved)


# -- runs ------------------------------------------------------------------------------


class Run(NamedTuple):
    """What a run of a plan gave.

    Attributes:
      path: the equations down to the first that gave a bad number; None if none did.
      state: as at the top of this file.
      outs: the results, with numbers in place of what the plan heals.
    """

    path: tuple[ir.Eqn, ...] | None
    state: list[Any]
    outs: list[Any]

    def steps(self) -> tuple[int, ...]:
        """The iteration of each loop of the path, from 0; -1 is before the first."""
        n = sum(map(is_loop, (self.path or ())[:-1]))
        return tuple([int(i) - 1 for i in self.state[2][:n]])


class Searched:
    """A program and where it runs; its searches are compiled once for each plan.

    Args:
      program: without constants.
      name: of the function.
      place: a device, a division over several, or None.
    """

    def __init__(self, program: ir.Olympuspr, name: str, place: Any) -> None:
        self.program, self._name, self._place = program, name, place
        self._compiled: dict[Any, Any] = {}

    def run(self, plan: Plan, args: Sequence[ArrayImpl]) -> Run:
        """Runs the program with the search of a plan."""
        key = plan.target, plan.healed, plan.every
        if key not in self._compiled:
            self._compiled[key] = self._build(plan)
        sites, size, compiled = self._compiled[key]
        outs = compiled.call(args)
        state = list(map(np.asarray, outs[:size]))
        code = int(state[0])
        return Run(sites[code - 1] if code else None, state, outs[size:])

    def _build(self, plan: Plan) -> tuple[list[Any], int, Any]:
        whole = self.program
        search = _Search(plan)
        sites: list[Any] = []

        def run(*xs: Any) -> list[Any]:
            inner = _Search(plan)
            outs = inner.evaluate(whole, (), *xs)
            sites.extend(inner.sites)
            return [*inner.state(), *outs]

        info = ir.DebugInfo("number search", self._name)
        program, consts = partial_eval.trace_to_olympuspr(run, whole.in_avals, info)
        place = self._place
        if isinstance(place, Division):
            place = place._replace(out_shardings=())
        lowered = lowered_programs.lower(
            program,
            consts,
            name=f"{self._name}_number_search",
            device=place,
            keep_unused=True,
        )
        options = tuple(compilation.quick_options(lowered.platform))  # it runs once
        compiled = compiled_programs.build(lowered, options, checks_numbers=False)
        return sites, search.size_of(()), compiled

    def look(
        self, plan: Plan, args: Sequence[ArrayImpl], path: tuple[ir.Eqn, ...]
    ) -> Finding:
        """The values at an equation, where it first gives a bad number."""
        eqn = path[-1]
        run = self.run(Plan(plan.nans, plan.infs, target=eqn), args)
        values = iter(run.state[3:])
        kept = [
            next(values) if holds_numbers(v) else None
            for v in [*eqn.invars, *eqn.outvars]
        ]
        k = len(eqn.invars)
        return Finding(run.path or path, run.steps(), kept[:k], kept[k:])


def heal_within(program: ir.Olympuspr, plan: Plan, args: Sequence[Any]) -> list[Any]:
    """Applies a program in the current trace, with the plan's healed results."""
    if contains(program, plan.healed):
        return _Search(plan).evaluate(program, (), *args)
    return ir.eval_olympuspr(program, (), *args)


def is_worse(old: Any, new: Any, plan: Plan) -> Any:
    """Whether an array of the current trace is bad where one before it was not."""
    bad = bitwise.bitwise_and(_bad(new, plan), bitwise.bitwise_not(_bad(old, plan)))
    return reductions.reduce_or(bad, tuple(range(avals_.aval_of(bad).ndim)))
