"""Rules of `jet` in the signature that JAX's libraries use.

A rule takes the values of the operands and, for each, the list of the further Taylor
coefficients; it returns the result and the list of its coefficients, or `zero_series`.
`jet_rules` is a view of the field `taylor` of the records. Operations without that
field are in it too, by their JVP rule.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, MutableMapping, Sequence
from typing import Any

from olympus._src.api import jet as jet_
from olympus._src.core import avals as avals_
from olympus._src.core import primitive
from olympus._src.core.primitive import Primitive
from olympus._src.core.symbolic_values import Zero
from olympus._src.interpreters import taylor
from olympus._src.lax import elementwise, families

JetRule = Callable[..., tuple[Any, Any]]


class _JetRules(MutableMapping[Any, JetRule]):
    """A mapping from primitives to rules."""

    def __getitem__(self, prim: Any) -> JetRule:
        if prim not in self:
            raise KeyError(prim)
        return getattr(prim.taylor, "as_written", functools.partial(_apply, prim))

    def __setitem__(self, prim: Any, rule: JetRule) -> None:
        prim.set_rule("taylor", _Entered(prim, rule))

    def __delitem__(self, prim: Any) -> None:
        self[prim]
        prim.set_rule("taylor", None)

    def __contains__(self, prim: object) -> bool:
        return any(
            getattr(prim, field, None) is not None for field in ("taylor", "jvp")
        )

    def __iter__(self) -> Iterator[Any]:
        return iter([p for p in primitive.records() if p in self])

    def __len__(self) -> int:
        return sum(1 for _ in self)


jet_rules = _JetRules()


class _Entered:
    """A rule in the signature of the table, as the field `taylor`."""

    __slots__ = ("_prim", "as_written")

    def __init__(self, prim: Any, rule: JetRule) -> None:
        self._prim = prim
        self.as_written = rule

    def __call__(self, series: Sequence[taylor.Series], **params: Any) -> Any:
        primals = [s[0] for s in series]
        terms = [list(map(families.instantiate, s[1:])) for s in series]
        out, out_terms = self.as_written(primals, terms, **params)
        order = len(series[0]) - 1
        if self._prim.multiple_results:
            if isinstance(out_terms, jet_.ZeroSeries):
                out_terms = [out_terms] * len(out)
            return [_column(x, s, order) for x, s in zip(out, out_terms, strict=True)]
        return _column(out, out_terms, order)


def _column(out: Any, terms: Any, order: int) -> taylor.Series:
    zero = Zero(avals_.aval_of(out).to_tangent())
    if isinstance(terms, jet_.ZeroSeries):
        return [out, *[zero] * order]
    return [out, *[zero if isinstance(c, jet_.ZeroTerm) else c for c in terms]]


def _apply(prim: Any, primals_in: Any, series_in: Any, **params: Any) -> Any:
    return jet_.jet2(functools.partial(prim.bind, **params), primals_in, series_in)


def linear_prop(
    prim: Primitive, primals_in: Sequence[Any], series_in: Sequence[Any], **params: Any
) -> tuple[Any, Any]:
    """The rule of an operation that is linear in all operands together.

    Args:
      prim: the operation.
      primals_in: values of its operands.
      series_in: for each operand the list of its further coefficients.
      **params: its parameters.

    Returns:
      The result, and the list of its further coefficients.
    """
    out = prim.bind(*primals_in, **params)
    columns = [prim.bind(*terms, **params) for terms in zip(*series_in, strict=True)]
    if prim.multiple_results:
        return out, [list(column) for column in zip(*columns, strict=True)]
    return out, columns


def zero_prop(
    prim: Primitive, primals_in: Sequence[Any], series_in: Sequence[Any], **params: Any
) -> tuple[Any, Any]:
    """The rule of an operation whose derivative is zero.

    Args:
      prim: the operation.
      primals_in: values of its operands.
      series_in: not used.
      **params: its parameters.

    Returns:
      The result, and `zero_series`.
    """
    return prim.bind(*primals_in, **params), jet_.zero_series


def deriv_prop(
    prim: Primitive,
    deriv: Callable[[Any], Any],
    primals_in: Sequence[Any],
    series_in: Sequence[Any],
) -> tuple[Any, Any]:
    """The rule of an operation of one operand, from its derivative.

    Args:
      prim: the operation f.
      deriv: the function f'.
      primals_in: the operand's value, in a sequence.
      series_in: the list of its further coefficients, in a sequence.

    Returns:
      The result, and the list of its further coefficients.

    Source: y' = f'(x) x', coefficient by coefficient.
    """
    (x,), (terms,) = primals_in, series_in
    # One coefficient less, as there is one less of x'.
    slope, slopes = jet_.jet2(deriv, (x,), (terms[:-1],))
    slopes = [slope, *slopes]
    out_terms = []
    for k in range(1, len(terms) + 1):
        total: Any = Zero(avals_.aval_of(x).to_tangent())
        for j in range(1, k + 1):
            term = taylor.scale_coefficient(elementwise.mul, terms[j - 1], j)
            total = families.add_tangents(total, elementwise.mul(slopes[k - j], term))
        out_terms.append(taylor.scale_coefficient(elementwise.div, total, k))
    return prim.bind(x), out_terms


def deflinear(prim: Primitive) -> None:
    """Declares an operation linear in all its operands together.

    Args:
      prim: the operation.
    """
    jet_rules[prim] = functools.partial(linear_prop, prim)


def defzero(prim: Primitive) -> None:
    """Declares that the derivative of an operation is zero.

    Args:
      prim: the operation.
    """
    jet_rules[prim] = functools.partial(zero_prop, prim)


def def_deriv(prim: Primitive, deriv: Callable[[Any], Any]) -> None:
    """Defines the derivative of an operation of one operand.

    Args:
      prim: the operation.
      deriv: its derivative, a function of the operand.
    """
    jet_rules[prim] = functools.partial(deriv_prop, prim, deriv)


def def_comp(prim: Primitive, comp: Callable[..., Any], **kwargs: Any) -> None:
    """Defines the rule of an operation by a function of other operations.

    Args:
      prim: the operation.
      comp: the function, of the operands and parameters.
      **kwargs: further keyword arguments of it.
    """

    def rule(primals_in: Any, series_in: Any, **params: Any) -> Any:
        fun = functools.partial(comp, **params, **kwargs)
        return jet_.jet2(fun, primals_in, series_in)

    jet_rules[prim] = rule
