"""The Taylor rule that linear operations share."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from olympus._src.core import avals
from olympus._src.core.primitive import Primitive, takes_primitive
from olympus._src.core.symbolic_values import Zero


def linear_series(*positions: int) -> Callable[..., Any]:
    """The Taylor rule of an operation that is linear in some operands together.

    Args:
      *positions: the operands; all of them if none is given. The operation's jvp rule
        is applied to each coefficient.
    """

    @takes_primitive
    def taylor(p: Primitive, series: Sequence[Sequence[Any]], /, **params: Any) -> Any:
        nonzero = [any(type(c) is not Zero for c in s[1:]) for s in series]
        if positions and any(m and i not in positions for i, m in enumerate(nonzero)):
            return NotImplemented
        firsts = [s[0] for s in series]
        coefficients: dict[int, Any] = {}
        for k in range(1, len(series[0])):
            terms = [s[k] for s in series]
            if any(type(c) is not Zero for c in terms):
                out, coefficients[k] = p.jvp(firsts, terms, **params)  # type: ignore[misc]
        if not p.multiple_results:
            return [out, *fill_zeros(coefficients, len(series[0]), out)]
        columns = []
        for i, x in enumerate(out):
            column = {k: terms[i] for k, terms in coefficients.items()}
            columns.append([x, *fill_zeros(column, len(series[0]), x)])
        return columns

    return taylor


def fill_zeros(coefficients: dict[int, Any], size: int, out: Any) -> list[Any]:
    """Coefficients in order, with zeros for those that are not there."""
    zero = Zero(avals.aval_of(out).to_tangent())
    return [coefficients.get(k, zero) for k in range(1, size)]
