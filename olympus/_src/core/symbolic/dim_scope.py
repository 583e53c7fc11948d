"""Scopes of symbolic sizes: which names belong together, and what is known of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from olympus._src.core.symbolic import dim_bounds, dim_parsing
from olympus._src.core.symbolic.dimensions import variables
from olympus._src.core.symbolic.monomials import (
    Monomial,
    Polynomial,
    add_scaled_polynomial,
    divide_monomials,
    multiply_polynomials,
    terms_of,
)
from olympus._src.foundation import errors, source_info

_MAX_REWRITES = 64


class SymbolicScope:
    """A scope of the names of symbolic dimensions, with constraints on them.

    Sizes that meet in one program must be of one scope. Every variable is at least 1.

    Args:
      constraints_str: what else is known, each of the form `e1 >= e2`, `e1 <= e2` or
        `e1 == e2` of expressions as in `symbolic_shape`. In an equality whose left side
        is one product, or one operation, that side is replaced by the right one
        wherever it appears.

    Raises:
      ValueError: a constraint has no such form, or cannot hold.

    Source: the behaviour of `jax.export.SymbolicScope`.

    Example:
      >>> from olympus import export
      >>> scope = export.SymbolicScope(["b >= 8"])
      >>> (b,) = export.symbolic_shape("b", scope=scope)
      >>> b >= 5
      True
    """

    __slots__ = (
        "__weakref__",
        "bounds",
        "constraints_str",
        "facts",
        "position",
        "rules",
        "variable_bounds",
    )

    def __init__(self, constraints_str: Sequence[str] = ()) -> None:
        if isinstance(constraints_str, str):
            raise ValueError(
                "SymbolicScope: the constraints must be a sequence of strings, got the "
                f"string {constraints_str!r}; write [{constraints_str!r}]"
            )
        self.position = source_info.capture()
        self.constraints_str = tuple(constraints_str)
        self.facts: list[Polynomial] = []  # never negative
        self.rules: Rewriting | None = None
        self.bounds: dict[Any, tuple[float, float]] = {}
        self.variable_bounds: dict[str, tuple[float, float]] = {}
        for constraint in self.constraints_str:
            self._add(constraint)

    def _add(self, constraint: str) -> None:
        left, sign, right = dim_parsing.parse_constraint(constraint, self)
        difference = left - right
        holds = _holds(difference, sign)
        if holds is False:
            known = "".join(f"\n  {c}" for c in self.constraints_str)
            raise ValueError(
                f"SymbolicScope: the constraint '{constraint}' cannot hold, given that "
                f"sizes are at least 1 and all constraints:{known}"
            )
        if type(difference) is int:
            return
        polynomial = dict(terms_of(difference))
        if sign in (">=", "=="):
            self.facts.append(polynomial)
        if sign in ("<=", "=="):
            self.facts.append({m: -c for m, c in polynomial.items()})
        if sign == "==":
            self._add_rule(left, right)
        names = {*self.variable_bounds, *variables(difference)}
        self.variable_bounds = dim_bounds.variable_bounds(names, self)
        self.bounds.clear()

    def _add_rule(self, left: Any, right: Any) -> None:
        terms = terms_of(left)
        if len(terms) != 1 or not terms[0][0] or terms[0][1] != 1:
            return
        monomial = terms[0][0]
        if any(divide_monomials(m, monomial) is not None for m, _ in terms_of(right)):
            return  # the right side holds the left one: no rule, but a fact
        if self.rules is None:
            self.rules = Rewriting()
        self.rules.add(monomial, dict(terms_of(right)))

    def undecided(self, what: str, *constraints: str) -> Exception:
        """The error for a comparison that depends on unknown sizes.

        Args:
          what: the comparison.
          constraints: each would decide it.
        """
        hints = " or ".join(f"{c!r}" for c in constraints)
        return errors.InconclusiveDimensionOperation(
            f"Symbolic dimension comparison {what} is inconclusive: it holds for some "
            f"sizes only, in {self}.\nIf it always holds, or never, say so by a "
            f"constraint, {hints}, in symbolic_shape(..., constraints=[...]); "
            "otherwise avoid the comparison: use core.max_dim and core.min_dim for "
            "sizes, numpy.where for values"
        )

    def __str__(self) -> str:
        place = "" if self.position is None else f" made at {self.position}"
        if not self.constraints_str:
            return f"the scope{place} without constraints"
        listed = "".join(f"\n  {c}" for c in self.constraints_str)
        return f"the scope{place} with constraints:{listed}"

    def __repr__(self) -> str:
        return f"SymbolicScope({list(self.constraints_str)})"


def _holds(difference: Any, sign: str) -> bool | None:
    """Whether a constraint is known to hold, or not to, from those before it."""
    lower, upper = dim_bounds.bounds(difference)
    if sign == ">=":
        return False if upper < 0 else None
    if sign == "<=":
        return False if lower > 0 else None
    return False if upper < 0 or lower > 0 else None


def read(
    constraints: Sequence[str], scope: SymbolicScope
) -> list[tuple[str, Any, str, Any]]:
    """Texts of constraints with their two sides, as sizes of a scope, and the sign."""
    return [(c, *dim_parsing.parse_constraint(c, scope)) for c in constraints]


class Rewriting:
    """Equalities that replace a product of atoms by a polynomial."""

    __slots__ = ("_rules",)

    def __init__(self) -> None:
        # (product, multiple of it, what that multiple is)
        self._rules: list[tuple[Monomial, int, Polynomial]] = []

    def add(self, monomial: Monomial, value: Polynomial) -> None:
        """Replaces a product from now on."""
        self._rules.append((monomial, 1, value))
        if len(monomial) == 1 and monomial[0][0].operation == "mod":
            self._add_division(monomial, value)

    def _add_division(self, monomial: Monomial, value: Polynomial) -> None:
        """A known remainder makes quotient times divisor known."""
        atom = monomial[0][0]
        dividend, divisor = [terms_of(x) for x in atom.operands]
        if monomial[0][1] != 1 or len(divisor) != 1:
            return
        quotient = type(atom)("floordiv", "", atom.operands)
        ((factor, multiple),) = divisor
        whole = multiply_polynomials({((quotient, 1),): 1}, {factor: 1})
        (product,) = whole
        difference = add_scaled_polynomial(dict(dividend), value, -1)
        if multiple < 0:
            difference = {m: -c for m, c in difference.items()}
        self._rules.append((product, abs(multiple), difference))

    def rewritten(self, terms: Mapping[Monomial, int]) -> Mapping[Monomial, int]:
        """A polynomial with all equalities applied."""
        for _ in range(_MAX_REWRITES):
            changed = self._rewrite_once(terms)
            if changed is None:
                return terms
            terms = changed
        return terms

    def _rewrite_once(self, terms: Mapping[Monomial, int]) -> Polynomial | None:
        for m, c in terms.items():
            for monomial, multiple, value in self._rules:
                cofactor = (
                    divide_monomials(m, monomial) if c and c % multiple == 0 else None
                )
                if cofactor is None:
                    continue
                others = {n: d for n, d in terms.items() if n != m}
                return add_scaled_polynomial(
                    others, multiply_polynomials(value, {cofactor: 1}), c // multiple
                )
        return None
