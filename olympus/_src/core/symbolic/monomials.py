"""Products of powers of atoms: what symbolic sizes are sums of multiples of.

An atom is a variable, or an operation on two sizes that has no simpler form. Here are
also polynomials as plain dictionaries, which the search for bounds computes with.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


class Atom:
    """A variable (`operation` is "var"), or an operation on two sizes.

    `weight` and `key` order atoms, and with them the printed terms.
    """

    __slots__ = ("hash", "key", "name", "operands", "operation", "weight")

    def __init__(self, operation: str, name: str, operands: tuple[Any, ...]) -> None:
        self.operation = operation
        self.name = name
        self.operands = operands
        inner = sum(map(_weight, operands))
        self.weight = 1 if operation == "var" else 4 + 2 * inner
        rank = 0 if operation == "var" else 1
        self.key: Any = (
            rank,
            self.weight,
            name or operation,
            tuple(map(_key, operands)),
        )
        self.hash = hash((operation, name, operands))

    def __eq__(self, other: object) -> bool:
        return self is other or (
            isinstance(other, Atom)
            and self.hash == other.hash
            and self.operation == other.operation
            and self.name == other.name
            and all(map(same, self.operands, other.operands))
        )

    def __hash__(self) -> int:
        return self.hash

    def __str__(self) -> str:
        if self.operation == "var":
            return self.name
        return f"{self.operation}({', '.join(map(text, self.operands))})"


# A product of powers of atoms: ((atom, exponent), ...) in the order of atoms. The empty
# product is the constant 1.
Monomial = tuple[tuple[Atom, int], ...]


def _weight(size: Any) -> int:
    if type(size) is int:
        return 0
    degrees = [sum(a.weight * n for a, n in m) for m, _ in size.terms]
    return sum(degrees) + len(degrees) - 1


def _key(size: Any) -> Any:
    if type(size) is int:
        return (((0, ()), size),)
    return tuple([(monomial_key(m), c) for m, c in size.terms])


def monomial_key(m: Monomial) -> Any:
    """What monomials are ordered by when they are printed, the largest first."""
    weight = sum(a.weight * n for a, n in m) + max(len(m) - 1, 0)
    return weight, tuple([(a.key, n) for a, n in reversed(m)])


def times(m: Monomial, n: Monomial) -> Monomial:
    """The product of two monomials."""
    if not m or not n:
        return m or n
    powers = dict(m)
    for atom, exponent in n:
        powers[atom] = powers.get(atom, 0) + exponent
    return tuple(sorted(powers.items(), key=lambda item: item[0].key))


def divide_monomials(m: Monomial, n: Monomial) -> Monomial | None:
    """The quotient of two monomials, None if they do not divide."""
    powers = dict(m)
    for atom, exponent in n:
        left = powers.get(atom, 0) - exponent
        if left < 0:
            return None
        if left:
            powers[atom] = left
        else:
            del powers[atom]
    return tuple([(a, powers[a]) for a, _ in m if a in powers])


# -- polynomials -----------------------------------------------------------------------

Polynomial = dict[Monomial, int]


def terms_of(size: Any) -> tuple[tuple[Monomial, int], ...]:
    """Monomials and their multiples, of a symbolic size or of an integer."""
    if type(size) is int:
        return (((), size),) if size else ()
    return size.terms


def same(a: Any, b: Any) -> bool:
    """Whether two sizes are the same as data; bounds are not asked."""
    if a is b:
        return True
    if type(a) is int or type(b) is int:
        return type(a) is type(b) and a == b
    return a.scope is b.scope and a.terms == b.terms


def add_scaled_polynomial(
    p: Mapping[Monomial, int], q: Mapping[Monomial, int], by: int
) -> Polynomial:
    """The sum of a polynomial and a multiple of another."""
    total = dict(p)
    for m, c in q.items():
        total[m] = total.get(m, 0) + by * c
    return {m: c for m, c in total.items() if c}


def multiply_polynomials(
    p: Mapping[Monomial, int], q: Mapping[Monomial, int]
) -> Polynomial:
    """The product of two polynomials."""
    total: Polynomial = {}
    for m, c in p.items():
        for n, d in q.items():
            product = times(m, n)
            total[product] = total.get(product, 0) + c * d
    return {m: c for m, c in total.items() if c}


def text(size: Any) -> str:
    """A size as it is printed inside an operation."""
    if type(size) is int:
        return f"- {-size}" if size < 0 else str(size)
    return str(size)
