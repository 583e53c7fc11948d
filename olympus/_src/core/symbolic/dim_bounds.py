"""Bounds of symbolic sizes that hold for all values of the variables.

An interval for each atom gives an interval for a polynomial. Where that does not
decide, a linear program does: monomials are its unknowns, and all that is known of them
are its inequalities: the intervals; what `floordiv`, `mod`, `max` and `min` mean; the
constraints of the scope; products of inequalities of factors. The least value of the
program is a lower bound, and as sizes are integers, it is rounded up.

All bounds hold, but a bound that exists need not be found.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from typing import Any

from olympus._src.core.symbolic import linear_programming
from olympus._src.core.symbolic.monomials import (
    Atom,
    Monomial,
    Polynomial,
    add_scaled_polynomial,
    divide_monomials,
    multiply_polynomials,
    terms_of,
)

_INFINITE = math.inf
_MAX_FACTS = 120
_MAX_SPLITS = 3


def bounds(size: Any) -> tuple[float, float]:
    """The best lower and upper bound that are found; infinite ones for none."""
    if type(size) is int:
        return size, size
    cache = size.scope.bounds
    interval = cache.get(size.terms)
    if interval is None:
        polynomial = dict(size.terms)
        lower, upper = _interval(polynomial, size.scope)
        if lower != upper and not _interval_is_best(polynomial, size.scope):
            lower = max(lower, _lower(polynomial, size.scope))
            upper = min(upper, -_lower(_negate_polynomial(polynomial), size.scope))
        if len(cache) > 4096:
            cache.clear()
        interval = cache[size.terms] = (lower, upper)
    return interval


def decide(difference: Any, sign: str) -> bool | None:
    """Whether a size compares so with zero: always, never, or (None) unknown."""
    polynomial = dict(difference.terms)
    if difference.terms not in difference.scope.bounds:
        answer = _decide_comparison(_interval(polynomial, difference.scope), sign)
        if answer is not None:
            return answer
    return _decide_comparison(bounds(difference), sign)


def _decide_comparison(interval: tuple[float, float], sign: str) -> bool | None:
    lower, upper = interval
    if sign == ">=":
        return True if lower >= 0 else False if upper < 0 else None
    if sign == ">":
        return True if lower > 0 else False if upper <= 0 else None
    if sign == "<=":
        return True if upper <= 0 else False if lower > 0 else None
    return True if upper < 0 else False if lower >= 0 else None


def are_equal(difference: Any) -> bool:
    """Whether a difference of sizes is known to be zero."""
    if type(difference) is int:
        return difference == 0
    if not difference.scope.facts and _of_variables(difference.terms):
        return False  # a polynomial that is not zero has values that are not
    return bounds(difference) == (0, 0)


# -- intervals -------------------------------------------------------------------------


def _of_variables(terms: Iterable[tuple[Monomial, int]]) -> bool:
    return all(a.operation == "var" for m, _ in terms for a, _ in m)


def _interval_is_best(p: Polynomial, scope: Any) -> bool:
    """Whether the interval is attained: free variables, monotonic in one direction."""
    if scope.facts or not _of_variables(p.items()):
        return False
    return len({c > 0 for m, c in p.items() if m}) == 1


def _interval(p: Polynomial, scope: Any) -> tuple[float, float]:
    lower: float = 0
    upper: float = 0
    for m, c in p.items():
        low, high = _monomial_interval(m, scope)
        if c < 0:
            low, high = high, low
        lower += c * low
        upper += c * high
    return lower, upper


def _monomial_interval(m: Monomial, scope: Any) -> tuple[float, float]:
    low: float = 1
    high: float = 1
    for atom, exponent in m:
        a, b = _atom_interval(atom, scope)
        a, b = _power(a, b, exponent)
        ends = [_times(x, y) for x in (low, high) for y in (a, b)]
        low, high = min(ends), max(ends)
    return low, high


def _times(x: float, y: float) -> float:
    return 0 if x == 0 or y == 0 else x * y


def _power(low: float, high: float, n: int) -> tuple[float, float]:
    ends = low**n, high**n
    if n % 2 == 0 and low < 0 < high:
        return 0, max(ends)
    return min(ends), max(ends)


def _atom_interval(atom: Atom, scope: Any) -> tuple[float, float]:
    if atom.operation == "var":
        interval: tuple[float, float] = scope.variable_bounds.get(
            atom.name, (1, _INFINITE)
        )
        return interval
    (a, b), (c, d) = [_interval(dict(terms_of(x)), scope) for x in atom.operands]
    if atom.operation == "max":
        return max(a, c), max(b, d)
    if atom.operation == "min":
        return min(a, c), min(b, d)
    if atom.operation == "mod":
        if c >= 1:
            return (a, b) if a >= 0 and b < c else (0, min(d - 1, b if a >= 0 else d))
        return (c + 1, 0) if d <= -1 else (-_INFINITE, _INFINITE)
    if c >= 1 or d <= -1:
        ends = [_quotient(x, y) for x in (a, b) for y in (c, d)]
        return min(ends), max(ends)
    return -_INFINITE, _INFINITE


def _quotient(x: float, y: float) -> float:
    if math.isinf(y):
        return 0 if x == 0 or (x > 0) == (y > 0) else -1 if not math.isinf(x) else x
    if math.isinf(x):
        return x if y > 0 else -x
    return x // y


# -- the linear program ----------------------------------------------------------------


def _negate_polynomial(p: Polynomial) -> Polynomial:
    return {m: -c for m, c in p.items()}


def _lower(p: Polynomial, scope: Any) -> float:
    """A lower bound, by the linear program; `max` and `min` split it into cases."""
    least = _least(p, scope, (), 0)
    return -_INFINITE if least == _INFINITE else least


def _least(
    p: Polynomial, scope: Any, constraints: tuple[Polynomial, ...], splits: int
) -> float:
    """The same under further inequalities; infinite where these cannot all hold."""
    split = _extreme_in(p) if splits < _MAX_SPLITS else None
    if split is not None:
        a, b = [dict(terms_of(x)) for x in split.operands]
        first = (
            add_scaled_polynomial(a, b, -1)
            if split.operation == "max"
            else add_scaled_polynomial(b, a, -1)
        )
        return min(
            _least(
                _replace_atom(p, split, a), scope, (*constraints, first), splits + 1
            ),
            _least(
                _replace_atom(p, split, b),
                scope,
                (*constraints, _negate_polynomial(first)),
                splits + 1,
            ),
        )
    if not any(p):
        return p.get((), 0)
    least = linear_programming.minimum(p, _facts((p, *constraints), constraints, scope))
    if least == linear_programming.CONTRADICTION:
        return _INFINITE
    return -_INFINITE if least is None else math.ceil(least)  # type: ignore[arg-type]


def _extreme_in(p: Polynomial) -> Atom | None:
    for m in p:
        for atom, _ in m:
            if atom.operation in ("max", "min"):
                return atom
    return None


def _replace_atom(p: Polynomial, atom: Atom, by: Polynomial) -> Polynomial:
    """A polynomial with another in place of an atom."""
    result: Polynomial = {}
    for m, c in p.items():
        exponent = dict(m).get(atom, 0)
        cofactor = divide_monomials(m, ((atom, exponent),)) if exponent else m
        term: Polynomial = {cofactor or (): c}
        for _ in range(exponent):
            term = multiply_polynomials(term, by)
        result = add_scaled_polynomial(result, term, 1)
    return result


def _facts(
    start: Iterable[Polynomial], constraints: tuple[Polynomial, ...], scope: Any
) -> list[Polynomial]:
    """Polynomials that are never negative, about some monomials and related ones."""
    facts: list[Polynomial] = [*constraints, *scope.facts]
    pending = [m for p in (*start, *facts) for m in p if m]
    seen: set[Monomial] = set()
    while pending and len(facts) < _MAX_FACTS:
        m = pending.pop(0)
        if m in seen:
            continue
        seen.add(m)
        for fact in _find_monomial_facts(m, scope):
            facts.append(fact)
            pending.extend(n for n in fact if n and n not in seen)
    return facts


def _find_monomial_facts(m: Monomial, scope: Any) -> Iterator[Polynomial]:
    """What is known of one monomial."""
    low, high = _monomial_interval(m, scope)
    yield from _bound_monomial(m, low, high)
    if len(m) == 1 and m[0][1] == 1:
        yield from _find_operation_facts(m[0][0], scope)
        return
    for atom, _ in m:
        single: Monomial = ((atom, 1),)
        cofactor = divide_monomials(m, single)
        if cofactor:
            yield from _products(single, cofactor, scope)
    for fact in scope.facts:
        for n in fact:
            cofactor = divide_monomials(m, n) if n else None
            if cofactor and _monomial_interval(cofactor, scope)[0] >= 0:
                yield multiply_polynomials(fact, {cofactor: 1})
                break


def _bound_monomial(m: Monomial, low: float, high: float) -> Iterator[Polynomial]:
    if not math.isinf(low):
        yield _linear(m, 1, -low)
    if not math.isinf(high):
        yield _linear(m, -1, high)


def _linear(m: Monomial, factor: int, constant: float) -> Polynomial:
    return add_scaled_polynomial({m: factor}, {(): int(constant)}, 1)


def _products(m: Monomial, n: Monomial, scope: Any) -> Iterator[Polynomial]:
    """Products of the distances of two monomials from their bounds."""
    for p in _bound_monomial(m, *_monomial_interval(m, scope)):
        for q in _bound_monomial(n, *_monomial_interval(n, scope)):
            yield multiply_polynomials(p, q)


def _find_operation_facts(atom: Atom, scope: Any) -> Iterator[Polynomial]:
    """The inequalities that an operation implies for its result."""
    if atom.operation == "var":
        return
    a, b = [dict(terms_of(x)) for x in atom.operands]
    this: Polynomial = {((atom, 1),): 1}
    if atom.operation in ("max", "min"):
        sign = 1 if atom.operation == "max" else -1
        for operand in (a, b):
            yield add_scaled_polynomial(_scale_polynomial(this, sign), operand, -sign)
        return
    low, high = _interval(b, scope)
    if low < 1 and high > -1:
        return  # the divisor may be zero
    sign = 1 if low >= 1 else -1
    if atom.operation == "floordiv":
        remainder = add_scaled_polynomial(a, multiply_polynomials(this, b), -1)
        yield from _remainder(remainder, b, sign)
        return
    yield from _remainder(this, b, sign)
    quotient: Polynomial = {((Atom("floordiv", "", atom.operands), 1),): 1}
    equation = add_scaled_polynomial(
        add_scaled_polynomial(a, multiply_polynomials(quotient, b), -1), this, -1
    )
    yield equation
    yield _negate_polynomial(equation)
    if sign > 0 and _interval(a, scope)[0] >= 0:
        yield add_scaled_polynomial(a, this, -1)


def _remainder(
    rest: Polynomial, divisor: Polynomial, sign: int
) -> Iterator[Polynomial]:
    """0 <= rest <= divisor - 1, or the mirror image for a negative divisor."""
    yield _scale_polynomial(rest, sign)
    yield add_scaled_polynomial(
        add_scaled_polynomial(
            _scale_polynomial(divisor, sign), _scale_polynomial(rest, sign), -1
        ),
        {(): 1},
        -1,
    )


def _scale_polynomial(p: Polynomial, by: int) -> Polynomial:
    return {m: c * by for m, c in p.items()}


def variable_bounds(names: Iterable[str], scope: Any) -> dict[str, tuple[float, float]]:
    """Bounds of variables that follow from a scope's constraints."""
    intervals = {}
    for name in names:
        p: Polynomial = {((Atom("var", name, ()), 1),): 1}
        lower = max(1, _lower(p, scope))
        intervals[name] = lower, -_lower(_negate_polynomial(p), scope)
    return intervals
