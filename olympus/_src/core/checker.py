"""Verifies programs: every variable bound once before use, every type as inferred."""

from __future__ import annotations

from typing import Any

from olympus._src.core import ir, printer
from olympus._src.foundation import errors


def check_olympuspr(olympuspr: ir.Olympuspr | ir.ClosedOlympuspr) -> None:
    """Checks a program and the programs inside it.

    Args:
      olympuspr: an `Olympuspr` or `ClosedOlympuspr`.

    Raises:
      OlympusprTypeError: names the equation, and the user's line where it is known.
    """
    _check(
        olympuspr.olympuspr if isinstance(olympuspr, ir.ClosedOlympuspr) else olympuspr
    )


def _check(program: ir.Olympuspr) -> None:
    bound: set[Any] = set()
    for v in (*program.constvars, *program.invars):
        _bind(v, bound, None)
    for eqn in program.eqns:
        _check_equation(eqn, bound)
    for out in program.outvars:
        _read(out, bound, None)


def _check_equation(eqn: ir.Eqn, bound: set[Any]) -> None:
    for v in eqn.invars:
        _read(v, bound, eqn)
    for inner in ir.subprograms(eqn.params):
        _check(inner)
    in_avals = tuple([v.aval for v in eqn.invars])
    _check_effects(eqn)
    if eqn.primitive.check is not None:
        eqn.primitive.check(*in_avals, **eqn.params)
    expected = _infer(eqn, in_avals)
    if len(expected) != len(eqn.outvars):
        raise _error(
            eqn, f"{len(expected)} results are inferred, {len(eqn.outvars)} are bound"
        )
    for position, (v, aval) in enumerate(zip(eqn.outvars, expected, strict=True)):
        _bind(v, bound, eqn)
        if v.aval.strip_weak_type() is not aval.strip_weak_type():
            raise _error(
                eqn,
                f"result {position} is bound as {v.aval.short()}, inferred as "
                f"{aval.short()}",
            )


def _infer(eqn: ir.Eqn, in_avals: tuple[Any, ...]) -> Any:
    try:
        avals, _ = eqn.primitive.results(in_avals, eqn.params)
    except (TypeError, ValueError) as e:
        raise _error(eqn, f"the operands do not fit the operation: {e}") from e
    return avals if eqn.primitive.multiple_results else (avals,)


def _check_effects(eqn: ir.Eqn) -> None:
    inner = frozenset().union(*(p.effects for p in ir.subprograms(eqn.params)))
    if not inner <= eqn.effects:
        missing = ", ".join(sorted(map(repr, inner - eqn.effects)))
        raise _error(
            eqn, f"the equation does not declare effects of its program: {missing}"
        )


def _read(v: Any, bound: set[Any], eqn: ir.Eqn | None) -> None:
    if type(v) is not ir.Literal and v not in bound:
        raise _error(eqn, f"a variable of type {v.aval.short()} is used but not bound")


def _bind(v: Any, bound: set[Any], eqn: ir.Eqn | None) -> None:
    if type(v) is ir.DropVar:
        return
    if v in bound:
        raise _error(eqn, f"a variable of type {v.aval.short()} is bound twice")
    bound.add(v)


def _error(eqn: ir.Eqn | None, what: str) -> errors.OlympusprTypeError:
    if eqn is None:
        return errors.OlympusprTypeError(f"check_olympuspr: {what} by the program")
    place = f"\nwritten at {eqn.source}" if eqn.source is not None else ""
    return errors.OlympusprTypeError(
        f"check_olympuspr: {what} in the equation\n"
        f"  {printer.equation_text(eqn)}{place}"
    )
