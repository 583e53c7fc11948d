"""The first runs of small eager programs, by NumPy.

A program that does one operation is called once or twice in most processes, and then
compiling it, or reading it from disk, takes a hundred times as long as the operation.
Where NumPy gives the same bits (`Primitive.exact`), the first calls are left to it, and
a later one compiles the program. Nothing else differs: the program was traced, so that
errors and types are the same, and results are where they would be.

Values decide too: of floats, only zero, infinite and normal numbers are taken. XLA may
replace subnormal numbers by zero, and NaN have many bits. It also changes some
operations whose operands are constants; these are not taken either.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from olympus._src.core import avals, dtypes, ir
from olympus._src.core.primitive import Exact
from olympus._src.foundation import compiler_settings as compiler
from olympus._src.foundation import config
from olympus._src.interpreters import concrete_arrays, number_checks, partial_eval

# Later calls are worth a compiled program. Of all programs that could be left to NumPy,
# libraries' programs run nine tenths at most so often (see the decision).
_RUNS = 3
# Of operands and results together: more take NumPy longer than reading a program.
_MAX_ELEMENTS = 1 << 13

_MOVED = frozenset(map(np.dtype, "?bhilqBHILQefdFD"))
_INTEGERS = frozenset(map(np.dtype, "?bhilqBHILQ"))
_FLOATS = frozenset(map(np.dtype, "fd"))
_NUMBERS = _INTEGERS | _FLOATS

Run = Callable[[list[Any]], Any]
Step = tuple[Callable[..., Any], tuple[int, ...], dict[str, Any], tuple[int, ...], Any]


class FirstRuns:
    """A program that NumPy runs at first.

    Args:
      plan: of the program.
      compile_program: compiles it, keeps it for later calls, and gives what runs it.
      form: makes what that returns of the list of results; None for the list.
    """

    __slots__ = ("_compile", "_form", "_plan", "_remaining")

    def __init__(
        self, plan: Plan, compile_program: Callable[[], Run], form: Any = None
    ) -> None:
        self._plan = plan
        self._compile = compile_program
        self._form = form
        self._remaining = _RUNS

    def run(self, operands: list[Any]) -> Any:
        """What the program returns for operands."""
        if self._remaining > 0:
            self._remaining -= 1
            outs = self._plan.run(operands)
            if outs is not None:
                return outs if self._form is None else self._form(outs)
        return self._compile()(operands)


def plan_of(program: ir.Olympuspr, consts: Sequence[Any]) -> Plan | None:
    """How NumPy computes a program on the default device; None where it may not."""
    if consts or program.constvars or program.effects or not _are_allowed():
        return None
    try:
        return Plan(program)
    except _Refused:
        return None


def _are_allowed() -> bool:
    """Whether nobody has to see each program compiled, or results checked."""
    return (
        compiler.first_runs_by_numpy.value
        and concrete_arrays.is_near()
        and not number_checks.is_enabled()
        and not config.log_compiles.value
        and not config.explain_cache_misses.value
        and not config.report.value
        and not config.no_execution.value
        and not compiler.dump_ir_to.value
    )


class _Refused(Exception):
    """NumPy may give other bits."""


class Plan:
    """The steps of a program on NumPy's arrays.

    Raises:
      _Refused: they may give other bits.
    """

    __slots__ = ("_constants", "_n", "_out_avals", "_outs", "_steps", "_used")

    def __init__(self, program: ir.Olympuspr) -> None:
        if any(map(_is_on_keys, program.eqns)):
            program = partial_eval.expand(program, "cpu")
            if any(map(_moves_keys, program.eqns)):
                raise _Refused
        numbers = {var: n for n, var in enumerate(program.invars)}
        self._n = len(program.invars)
        elements = sum(_size_of(var.aval, _MOVED) for var in program.invars)
        self._constants: list[tuple[int, np.ndarray]] = []
        fixed: dict[int, np.ndarray | None] = {}  # what does not depend on operands
        moved: set[int] = set()
        used: set[int] = set()

        def number_of(atom: Any) -> int:
            if type(atom) is not ir.Literal:
                used.add(numbers[atom])
                return numbers[atom]
            _size_of(atom.aval, _MOVED)
            value = np.asarray(atom.val, atom.aval.dtype)
            n = new_number()
            self._constants.append((n, value))
            fixed[n] = value
            return n

        def new_number() -> int:
            self._n += 1
            return self._n - 1

        self._steps: list[Step] = []
        n_roundings = 0
        for eqn in program.eqns:
            ins = tuple(map(number_of, eqn.invars))
            for var in eqn.outvars:
                numbers[var] = new_number()
                elements += _size_of(var.aval, _MOVED)
            outs = tuple([numbers[var] for var in eqn.outvars])
            if all(n in fixed for n in ins):
                fixed.update(dict.fromkeys(outs))
            constants = [fixed.get(n, _VARYING) for n in ins]
            check, rounds = _check_of(eqn, constants)
            if eqn.primitive.exact is Exact.FLOATS:
                _refuse_repeated(eqn, ins, moved)
            if eqn.primitive.exact is Exact.MOVES:
                moved.update(outs)
            n_roundings += rounds
            if not _fits(list(eqn.params.values())):
                raise _Refused  # which the compiler has something to say about
            reference = eqn.primitive.reference
            self._steps.append((reference, ins, eqn.params, outs, check))
        if elements > _MAX_ELEMENTS or n_roundings > 1:
            raise _Refused
        self._outs = [number_of(atom) for atom in program.outvars]
        self._out_avals = program.out_avals
        self._used = [n for n in range(len(program.invars)) if n in used]

    def run(self, operands: list[Any]) -> list[Any] | None:
        """The results, from the operands; None where NumPy may give other bits."""
        used = self._used
        read = concrete_arrays.read_computed([operands[n] for n in used])
        if read is None:
            return None
        values: list[Any] = [None] * self._n
        for n, value in (*zip(used, read, strict=True), *self._constants):
            values[n] = value
        try:
            with np.errstate(all="ignore"):
                is_exact = self._compute(values)
        except Exception:  # the compiled program says what is wrong, if anything
            return None
        if not is_exact:
            return None
        rows = zip([values[n] for n in self._outs], self._out_avals, strict=True)
        return concrete_arrays.put_computed(list(rows))

    def _compute(self, values: list[Any]) -> bool:
        """Fills in the results of all steps; False where bits may differ."""
        for reference, ins, params, outs, check in self._steps:
            taken = [values[n] for n in ins]
            outputs = reference(*taken, **params)
            results = outputs if type(outputs) in (list, tuple) else [outputs]
            if check is not None and not check(taken, results):
                return False
            for n, value in zip(outs, results, strict=True):
                values[n] = value
        return True


_VARYING = object()


def _is_on_keys(eqn: ir.Eqn) -> bool:
    """Whether an operation takes random keys, which NumPy has as their words."""
    kinds = (getattr(atom.aval, "dtype", None) for atom in (*eqn.invars, *eqn.outvars))
    return any(map(dtypes.is_extended, kinds))


def _moves_keys(eqn: ir.Eqn) -> bool:
    """Whether an operation makes keys of keys.

    Its parameters and other operands know nothing of the axis of words, which NumPy
    would take for the last axis of keys.
    """
    sides = (eqn.invars, eqn.outvars)
    return all(
        any(dtypes.is_extended(getattr(atom.aval, "dtype", None)) for atom in side)
        for side in sides
    )


def _fits(value: Any) -> bool:
    """Whether all integers in parameters have at most 64 bits."""
    if type(value) in (tuple, list):
        return all(map(_fits, value))
    return type(value) is not int or -(2**63) <= value < 2**63


def _size_of(aval: Any, kinds: frozenset[Any]) -> int:
    """The number of elements of a plain array of some dtypes, or of words of keys."""
    if type(aval) is avals.ShapedArray and dtypes.is_extended(aval.dtype):
        aval = aval.storage
    plain = type(aval) is avals.ShapedArray and aval.explicit is None
    if not plain or aval.dtype not in kinds or aval.storage is not aval:
        raise _Refused
    if not all(type(n) is int and n <= _MAX_ELEMENTS for n in aval.shape):
        raise _Refused  # also sizes that other programs give, and of empty arrays
    return aval.size


def _check_of(eqn: Any, constants: Sequence[Any]) -> tuple[Any, int]:
    """What looks at an operation's values, and how many roundings XLA might merge.

    Args:
      eqn: the operation.
      constants: for each operand its value, None where that is computed of constants
        only, `_VARYING` where it is of the program's operands.
    """
    p = eqn.primitive
    exact = p.exact if p.rules_are_fixed else None
    if exact is Exact.MOVES:
        return None, 0
    kinds = {atom.aval.dtype for atom in (*eqn.invars, *eqn.outvars)}
    if exact is None or not kinds <= _NUMBERS:
        raise _Refused
    if exact is Exact.CONVERTED:
        return _conversion_check(eqn)
    if kinds <= _INTEGERS:
        if exact is Exact.FLOATS:
            raise _Refused
        return None, 0
    if exact is Exact.INTEGERS:
        raise _Refused
    if exact is Exact.ORDERED:
        return _are_ordered, 0
    if eqn.outvars[0].aval.dtype in _INTEGERS:
        return _are_plain, 0
    for i, value in enumerate(constants):
        if value is None or (value is not _VARYING and not _is_kept(exact, i, value)):
            raise _Refused
    return _are_plain, 1


def _is_kept(exact: Exact, position: int, value: np.ndarray) -> bool:
    """Whether XLA computes with a constant as it says.

    It leaves out additions of zero, of either sign, and multiplies by the inverse where
    it should divide.
    """
    if not value:
        return False
    return exact is not Exact.FLOATS or position == 0


def _refuse_repeated(eqn: Any, ins: Sequence[int], moved: set[int]) -> None:
    """Refuses divisors that are repeated: XLA multiplies by their inverse."""
    shapes = {atom.aval.shape for atom in eqn.invars}
    if len(shapes) > 1 or ins[-1] in moved:
        raise _Refused


def _conversion_check(eqn: Any) -> tuple[Any, int]:
    (operand,), (result,) = eqn.invars, eqn.outvars
    kinds = operand.aval.dtype, result.aval.dtype
    if kinds[0] == np.bool_:
        # XLA multiplies by it by choosing between a number and 0.
        return None, int(kinds[1] in _FLOATS)
    if kinds[0] == kinds[1] or kinds[0] in _INTEGERS:
        return None, 0
    if kinds[1] in _INTEGERS and kinds[1] != np.bool_:
        return _fit_in(kinds[1]), 0
    return _are_plain, 0


def _fit_in(dtype: Any) -> Any:
    """Whether floats are far inside of what an integer type holds."""
    low, high = np.iinfo(dtype).min // 2, np.iinfo(dtype).max // 2

    def check(operands: Sequence[Any], results: Sequence[Any]) -> bool:
        (x,) = operands
        return bool(((x >= low) & (x <= high)).all())

    return check


# The least normal numbers; `finfo`, which knows them, takes as long as a whole module.
_LEAST = {np.dtype("f"): np.float32(2.0**-126), np.dtype("d"): np.float64(2.0**-1022)}


def _are_plain(operands: Sequence[Any], results: Sequence[Any]) -> bool:
    """Whether floats are all zero, infinite or normal; the least one may be rounded."""
    for x in (*operands, *results):
        least = _LEAST.get(x.dtype)
        if least is None:
            continue
        size = np.abs(x)
        if not ((size > least) | (size == 0)).all():
            return False
    return True


def _are_ordered(operands: Sequence[Any], results: Sequence[Any]) -> bool:
    """The same, and that none is -0."""
    if not _are_plain(operands, results):
        return False
    return not any((np.signbit(x) & (x == 0)).any() for x in operands)
