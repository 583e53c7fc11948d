"""The search for the operation that made a NaN or an infinity, equation by equation.

A program that gave bad numbers runs again, each equation by itself, and its results are
looked at. Equations that are alike share a compiled program, so that a hundred layers
compile as fast as one. Calls and branches are followed; loops run compiled, and where
their results are bad, `number_search` says which equation and iteration in them it was.

What is bad may be masked further on, as by `where`. So the equation found is asked
whether it matters: the program runs again with numbers in place of its bad results, and
if the outcome is as bad as before, the search goes on behind it.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from olympus._src.checkify import number_search
from olympus._src.checkify.number_search import Finding, Plan
from olympus._src.core import avals as avals_
from olympus._src.core import dtypes, ir
from olympus._src.foundation import caching, config
from olympus._src.interpreters import (
    compiled_programs,
    evaluate,
    lowered_programs,
    partial_eval,
)
from olympus._src.interpreters.concrete_arrays import ArrayImpl, as_array
from olympus._src.lax import elementwise, shaping

_MAX_CANDIDATES = 8  # equations that are looked at before the first is blamed

Path = tuple[ir.Eqn, ...]


# Programs of few equations, or of large arrays, are not searched in one piece: of the
# others each equation costs a fifth there of what it costs by itself.
_FEW, _LARGE, _PIECES = 60, 1 << 20, 5


def _is_varied(program: ir.Olympuspr) -> bool:
    """Whether most equations of a program are unlike the others."""
    keys: set[Any] = set()
    total = size = 0
    for eqn in _equations(program):
        if number_search.is_mapped_loop(eqn):
            return False
        keys.add(_key(eqn))
        total += 1
        size += sum(getattr(v.aval, "size", 0) for v in eqn.outvars)
    return len(keys) > _FEW and _PIECES * len(keys) > total and size < _LARGE


def _equations(program: ir.Olympuspr) -> Iterator[ir.Eqn]:
    for eqn in program.eqns:
        yield eqn
        for inner in ir.subprograms(eqn.params):
            yield from _equations(inner)


class _Outcome(NamedTuple):
    """What a run gave.

    Attributes:
      path: the equations down to the first that gave a bad number; None if none did.
      look: gives the values there.
      bad: where each result is bad.
    """

    path: Path | None
    look: Callable[[], Finding]
    bad: list[Any]


def find(
    lowered: Any,
    args: Sequence[ArrayImpl],
    nans: bool,
    infs: bool,
    hidden: bool = False,
) -> Finding | None:
    """The equation of a program that made the bad numbers in its results.

    Args:
      lowered: the program.
      args: its constants and inputs.
      nans, infs: what is bad.
      hidden: the first of all, also where it does not reach a result.

    Returns:
      None where no equation gives any.
    """
    with config.debug_nans(False), config.debug_infs(False):
        place = lowered.device if lowered.committed else None
        if lowered.division is None and not _is_varied(lowered.program):
            steps = _Steps(lowered.program, args, _Units(place), np.True_)
            # An operation may run in its program only.
            with contextlib.suppress(Exception):
                finding = _find(steps, nans, infs, hidden)
                return finding and _within(finding, Plan(nans, infs), _Units(place))
        whole = _Whole(lowered, args, lowered.division or place)
        return _find(whole, nans, infs, hidden)


def _find(runner: Any, nans: bool, infs: bool, hidden: bool = False) -> Finding | None:
    if hidden:
        outcome = runner.run(Plan(nans, infs, hidden=True))
        return outcome.look() if outcome.path else None
    for every in (False, True):
        outcome = _first_that_matters(runner, nans, infs, every)
        if outcome.path is not None:
            return outcome.look()
    return None


def _within(finding: Finding, plan: Plan, units: _Units) -> Finding:
    """What in a mapped loop it was, where that loop is in another one."""
    *around, eqn = finding.path
    if not _is_stepped(eqn) or any(x is None for x in finding.operands):
        return finding
    walk = _Walk(plan, units)
    walk.evaluate_one(eqn, list(map(as_array, finding.operands)))
    if walk.path is None:
        return finding
    inner: Finding = walk.look()
    path, steps = (*around, *inner.path), (*finding.steps, *inner.steps)
    return inner._replace(path=path, steps=steps)


def _is_stepped(eqn: ir.Eqn) -> bool:
    return number_search.is_mapped_loop(eqn) and "body_nconsts" in eqn.params


def _first_that_matters(runner: Any, nans: bool, infs: bool, every: bool) -> _Outcome:
    """The first equation without which the results are better."""
    run = start = runner.run(Plan(nans, infs, every=every))
    healed: frozenset[ir.Eqn] = frozenset()
    for _ in range(_MAX_CANDIDATES):
        if run.path is None or runner.is_single:
            break
        healed = healed | {run.path[-1]}
        after = runner.run(Plan(nans, infs, None, healed, every))
        pairs = zip(run.bad, after.bad, strict=True)
        if any((old & ~new).any() for old, new in pairs):
            return run
        run = after
    return start


def bad_elements(x: Any, nans: bool, infs: bool) -> Any:
    """Where an array of NumPy holds NaN or infinity, as far as they are looked for."""
    bad = np.zeros(x.shape, bool)
    if dtypes.issubdtype(x.dtype, np.inexact):
        if nans:
            bad |= np.isnan(x)
        if infs:
            bad |= np.isinf(x)
    return bad


def _bad_in(x: Any, plan: Plan) -> Any:
    return bad_elements(np.asarray(x), plan.nans, plan.infs)


def _has_bad(x: Any, plan: Plan) -> bool:
    value = np.asarray(x)
    if value.dtype.kind == "f" and value.size:  # the least and the greatest say it
        with np.errstate(invalid="ignore"):
            ends = np.asarray([value.min(), value.max()])
        return bool(bad_elements(ends, plan.nans, plan.infs).any())
    return bool(bad_elements(value, plan.nans, plan.infs).any())


class _Whole:
    """A program that is searched in one piece, as those over several devices."""

    is_single = False

    def __init__(self, lowered: Any, args: Sequence[ArrayImpl], place: Any) -> None:
        name = lowered.module_name.removeprefix("jit_")
        self._args, self._program = args, lowered.program
        self._searched = number_search.Searched(lowered.program, name, place)

    def run(self, plan: Plan) -> _Outcome:
        """Runs it with the search of a plan."""
        run = self._searched.run(plan, self._args)
        pairs = zip(run.outs, self._program.outvars, strict=True)
        bad = [_bad_in(x, plan) for x, v in pairs if number_search.may_be_bad(v)]
        path = run.path or ()
        look = lambda: self._searched.look(plan, self._args, path)  # noqa: E731
        return _Outcome(run.path, look, bad)


class _Steps:
    """A program that runs equation by equation.

    Args:
      program: whose constants are inputs.
      args: its inputs.
      units: compiled equations.
      rows: which rows of the results count, as in a mapped loop; np.True_ for all.
    """

    def __init__(
        self, program: ir.Olympuspr, args: Sequence[Any], units: _Units, rows: Any
    ) -> None:
        self._program, self._args, self._units = program, args, units
        self._rows = np.asarray(rows)
        eqns = program.eqns
        is_one = len(eqns) == 1 and not any(ir.subprograms(eqns[0].params))
        self.is_single = is_one and self._rows.all()

    def run(self, plan: Plan) -> _Outcome:
        """Runs it with the search of a plan."""
        walk = _Walk(plan, self._units)
        outs = walk.evaluate(self._program, self._args, ())
        pairs = zip(outs, self._program.outvars, strict=True)
        bad = [_bad_in(x, plan) for x, v in pairs if number_search.may_be_bad(v)]
        return _Outcome(walk.path, walk.look, [self._of_rows(b) for b in bad])

    def without_done(self, x: Any, plan: Plan) -> Any:
        """A value in the program, without what is bad in rows that do not count."""
        n = self._rows.ndim
        if x is None or x.shape[:n] != self._rows.shape:
            return x
        bad = bad_elements(x, plan.nans, plan.infs)
        return np.where(bad & ~self._of_rows(bad), np.ones((), x.dtype), x)

    def _of_rows(self, bad: Any) -> Any:
        rows = self._rows
        return bad & rows.reshape(rows.shape + (1,) * (bad.ndim - rows.ndim))


class _Walk:
    """One run of a program, equation by equation.

    Attributes:
      path: down to the first equation that gave a bad number.
      look: gives the values there.
    """

    def __init__(self, plan: Plan, units: _Units) -> None:
        self.plan, self.units = plan, units
        self.path: Path | None = None
        self.look: Any = None

    def evaluate(
        self, program: ir.Olympuspr, args: Sequence[Any], around: Path
    ) -> list[Any]:
        """The results of a program without constants; values die with their reader."""
        env = dict(zip(program.invars, args, strict=True))
        for eqn, dead in program.derived("last reads", _last_reads):
            inputs = [_value(v, env) for v in eqn.invars]
            if eqn.outvars:  # others only have effects, and had them
                outs = self._outputs(eqn, inputs, around)
                env.update(zip(eqn.outvars, outs, strict=True))
            for v in dead:
                env.pop(v, None)
        return [_value(v, env) for v in program.outvars]

    def evaluate_one(self, eqn: ir.Eqn, inputs: list[Any]) -> list[Any]:
        """The results of one equation."""
        return self._outputs(eqn, inputs, ())

    def _outputs(self, eqn: ir.Eqn, inputs: list[Any], around: Path) -> list[Any]:
        inner = _program_in(eqn, inputs)
        path = (*around, eqn)
        if inner is not None:
            return self.evaluate(*inner, path)
        if _is_stepped(eqn):
            return self._mapped_loop(eqn, inputs, path)
        if any(ir.subprograms(eqn.params)):
            return self._loop(eqn, inputs, path)
        outs = self.units.apply(eqn, inputs)
        if eqn in self.plan.healed:
            return [self._heal(x, v) for x, v in zip(outs, eqn.outvars, strict=True)]
        if self.path is None and self.plan.looks_at(eqn) and self._any_bad(eqn, outs):
            operands = _numbers(eqn.invars, inputs)
            finding = Finding(path, (), operands, _numbers(eqn.outvars, outs))
            self.path, self.look = path, lambda: finding
        return outs

    def _any_bad(self, eqn: ir.Eqn, outs: Sequence[Any]) -> bool:
        return any(
            _has_bad(x, self.plan)
            for x, v in zip(outs, eqn.outvars, strict=True)
            if number_search.may_be_bad(v)
        )

    def _heal(self, x: Any, v: Any) -> Any:
        if not number_search.may_be_bad(v):
            return x
        bad = _bad_in(x, self.plan)
        value = np.array(x)
        value[bad] = 1
        return as_array(value) if bad.any() else x

    def _loop(self, eqn: ir.Eqn, inputs: list[Any], path: Path) -> list[Any]:
        """An equation with programs, of which only bad results are looked into."""
        plan = self.plan
        is_healed = any(
            number_search.contains(p, plan.healed) for p in ir.subprograms(eqn.params)
        )
        if not is_healed and not plan.hidden:
            outs = self.units.apply(eqn, inputs)
            if self.path is not None or not self._any_bad(eqn, outs):
                return outs
        searched, args = self.units.searched(eqn, inputs)
        run = searched.run(plan, args)
        if run.path is not None and self.path is None:
            inside = run.path

            def look() -> Finding:
                finding = searched.look(plan, args, inside)
                return finding._replace(path=(*path[:-1], *finding.path))

            self.path, self.look = (*path[:-1], *inside), look
        return run.outs

    def _mapped_loop(self, eqn: ir.Eqn, inputs: list[Any], path: Path) -> list[Any]:
        """A loop for many elements, of which each is done after its own iterations.

        Those that are done go through the body too, and what it makes of them is not
        used, so that each iteration is judged by the elements that go on.
        """
        loop = self.units.mapped_loop(eqn, self.plan)
        consts, carry = loop.consts(inputs), loop.carry(inputs)
        i = 0
        while True:
            active, is_worse, *new = loop.step(inputs, carry)
            if not np.asarray(active).any():
                return carry
            if self.path is None and bool(is_worse):
                args = [*consts, *carry]
                self._look_into(_Steps(loop.body, args, self.units, active), path, i)
            carry, i = new, i + 1

    def _look_into(self, body: _Steps, path: Path, i: int) -> None:
        plan = self.plan
        outcome = _first_that_matters(body, plan.nans, plan.infs, plan.every)
        if outcome.path is None or outcome.path[-1] in plan.healed:
            return

        def look() -> Finding:
            inside = outcome.look()
            return inside._replace(
                path=(*path, *inside.path),
                steps=(i, *inside.steps),
                results=[body.without_done(x, plan) for x in inside.results],
            )

        self.path, self.look = (*path, *outcome.path), look


def _value(v: Any, env: dict[Any, Any]) -> Any:
    if type(v) is ir.Literal:
        return as_array(np.asarray(v.val, v.aval.dtype))
    return env[v]


def _numbers(variables: Sequence[Any], values: Sequence[Any]) -> list[Any]:
    pairs = zip(variables, values, strict=True)
    return [np.asarray(x) if number_search.holds_numbers(v) else None for v, x in pairs]


def _last_reads(program: ir.Olympuspr) -> list[tuple[ir.Eqn, list[ir.Var]]]:
    """The equations, each with what nothing reads after it."""
    seen = {v for v in program.outvars if type(v) is not ir.Literal}
    rows = []
    for eqn in reversed(program.eqns):
        read = {v for v in eqn.invars if type(v) is not ir.Literal}
        dead = [v for v in (*read, *eqn.outvars) if v not in seen]
        seen |= read
        rows.append((eqn, dead))
    return rows[::-1]


def _program_in(
    eqn: ir.Eqn, inputs: list[Any]
) -> tuple[ir.Olympuspr, list[Any]] | None:
    """The program that an equation applies once, with its inputs; else None."""
    params = eqn.params
    if "branches" in params:
        last = len(params["branches"]) - 1
        chosen = params["branches"][min(max(int(inputs[0]), 0), last)]
        return _closed(chosen, inputs[1:])
    inner = params.get("call_jaxpr")
    if type(inner) is ir.ClosedOlympuspr and len(inner.in_avals) == len(inputs):
        return _closed(inner, inputs)
    if eqn.primitive.is_call or "prevent_cse" in params:
        return _closed(params["jaxpr"], inputs)
    return None


def _closed(program: Any, inputs: list[Any]) -> tuple[ir.Olympuspr, list[Any]]:
    if type(program) is ir.Olympuspr:
        return program, inputs
    consts = list(map(as_array, program.consts))
    return program.olympuspr.derived("hoisted", ir.hoist_consts), [*consts, *inputs]


# -- compiled equations ----------------------------------------------------------------


class _Units:
    """Compiled programs of single equations, which those that are alike share.

    Args:
      place: the device, or None for the default one.
    """

    def __init__(self, place: Any) -> None:
        self._place = place
        self._compiled: dict[Any, Any] = {}
        self._searched: dict[Any, Any] = {}
        self._loops: dict[Any, Any] = {}

    def apply(self, eqn: ir.Eqn, inputs: list[Any]) -> list[Any]:
        """The results of an equation."""
        key = _key(eqn)
        compiled = self._compiled.get(key)
        if compiled is None:
            program = _alone(_without_literals(eqn))
            compiled = self._compiled[key] = self.build(program, eqn.primitive.name)
        each_once = dict(zip(eqn.invars, inputs, strict=True))
        return list(compiled.call(list(map(as_array, each_once.values()))))

    def build(self, program: ir.Olympuspr, name: str) -> Any:
        """Compiles a program without constants."""
        lowered = lowered_programs.lower(
            program, (), name=name, device=self._place, keep_unused=True
        )
        options = tuple(evaluate.eager_options(lowered))
        return compiled_programs.build(lowered, options, checks_numbers=False)

    def searched(self, eqn: ir.Eqn, inputs: list[Any]) -> Any:
        """An equation as a program to search, and its inputs."""
        args = _operands(eqn, inputs)
        if eqn not in self._searched:
            name = eqn.primitive.name
            program = _alone(eqn)
            searched = number_search.Searched(program, name, self._place)
            self._searched[eqn] = searched
        return self._searched[eqn], args

    def mapped_loop(self, eqn: ir.Eqn, plan: Plan) -> _MappedLoop:
        """A loop, of which single steps are compiled."""
        key = eqn, plan.healed
        if key not in self._loops:
            self._loops[key] = _MappedLoop(eqn, plan, self)
        return self._loops[key]


def _operands(eqn: ir.Eqn, inputs: list[Any]) -> list[Any]:
    """The values of the variables that an equation reads, each once."""
    pairs = zip(eqn.invars, inputs, strict=True)
    return list(
        {v: as_array(x) for v, x in pairs if type(v) is not ir.Literal}.values()
    )


def _key(eqn: ir.Eqn) -> Any:
    """Equal for equations that are alike; the equation where that is not known.

    Those that differ in the values of their literals are alike.
    """
    numbers: dict[Any, int] = {}
    places = [(numbers.setdefault(v, len(numbers)), v.aval) for v in eqn.invars]
    params = [(name, caching.exact(value)) for name, value in eqn.params.items()]
    key = eqn.primitive, tuple(params), tuple(places)
    try:
        hash(key)
    except TypeError:
        return eqn
    return key


def _without_literals(eqn: ir.Eqn) -> ir.Eqn:
    """The equation with variables in their places, which may have any values."""
    read = {v: ir.Var(v.aval) for v in eqn.invars if type(v) is ir.Literal}
    return eqn.replace(invars=[read.get(v, v) for v in eqn.invars])


def _alone(eqn: ir.Eqn) -> ir.Olympuspr:
    """The program of one equation."""
    variables = [v for v in eqn.invars if type(v) is not ir.Literal]
    invars = list(dict.fromkeys(variables))
    outvars = [ir.Var(v.aval) for v in eqn.outvars]
    return ir.Olympuspr((), invars, outvars, [eqn.replace(outvars=outvars)])


class _MappedLoop:
    """A loop for many elements as a program of one step.

    Attributes:
      body: the body, whose constants are inputs.
    """

    def __init__(self, eqn: ir.Eqn, plan: Plan, units: _Units) -> None:
        params = eqn.params
        self._n_test, self._n_body = params["cond_nconsts"], params["body_nconsts"]
        self._test_consts = params["cond_jaxpr"].consts
        self._body_consts = params["body_jaxpr"].consts
        self._test = ir.hoist_consts(params["cond_jaxpr"].olympuspr)
        self.body = ir.hoist_consts(params["body_jaxpr"].olympuspr)
        self._plan, self._units = plan, units
        self._compiled: Any = None

    def consts(self, inputs: list[Any]) -> list[Any]:
        """What the body takes before the carry."""
        own = inputs[self._n_test : self._n_test + self._n_body]
        return [*map(as_array, self._body_consts), *own]

    def carry(self, inputs: list[Any]) -> list[Any]:
        """The carry before the first step."""
        return inputs[self._n_test + self._n_body :]

    def step(self, inputs: list[Any], carry: list[Any]) -> list[Any]:
        """Which elements go on, whether one of them became bad, and the new carry."""
        first = [*map(as_array, self._test_consts), *inputs[: self._n_test]]
        args = list(map(as_array, [*first, *self.consts(inputs), *carry]))
        if self._compiled is None:
            n, m = len(first), len(args) - len(carry)
            self._compiled = self._build(n, m, [x.aval for x in args])
        return list(self._compiled.call(args))

    def _build(self, n: int, m: int, in_avals: Sequence[Any]) -> Any:
        def run(*args: Any) -> list[Any]:
            old = args[m:]
            (active,) = ir.eval_olympuspr(self._test, (), *args[:n], *old)
            new = number_search.heal_within(self.body, self._plan, [*args[n:m], *old])
            new = [_select_rows(active, x, y) for x, y in zip(new, old, strict=True)]
            return [active, self._is_worse(old, new), *new]

        info = ir.DebugInfo("number search", "step")
        program, consts = partial_eval.trace_to_olympuspr(run, in_avals, info)
        closed = ir.hoist_consts(program)
        compiled = self._units.build(closed, "step")
        return _WithConsts(compiled, list(map(as_array, consts)))

    def _is_worse(self, old: Sequence[Any], new: Sequence[Any]) -> Any:
        worse: Any = np.bool_(False)
        for x, y in zip(old, new, strict=True):
            if number_search.may_be_bad(ir.Var(avals_.aval_of(y))):
                bad = number_search.is_worse(x, y, self._plan)
                worse = elementwise.bitwise_or(worse, bad)
        return worse


class _WithConsts(NamedTuple):
    """A compiled program whose first inputs are known."""

    compiled: Any
    consts: list[Any]

    def call(self, args: list[Any]) -> Iterator[Any]:
        """Runs it."""
        return self.compiled.call([*self.consts, *args])


def _select_rows(rows: Any, new: Any, old: Any) -> Any:
    aval, axes = avals_.aval_of(new), range(avals_.aval_of(rows).ndim)
    mask = shaping.broadcast_in_dim(rows, aval.shape, tuple(axes))
    return elementwise.select(mask, new, old)
