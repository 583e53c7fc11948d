"""Taylor mode: the coefficients of a function's result along a curve, all at once.

A value is a truncated power series c0 + c1 t + ... + cK t^K, held as the list of its
coefficients; a coefficient after the first may be a Zero. Along a curve x(t) the result
y(t) = f(x(t)) satisfies

    y'(t) = Df(x(t)) x'(t),

and the right side is what an operation's jvp rule computes. So the rule itself, run on
the series of x and x', which are one term shorter, gives the coefficients of y', and
with them those of y. This serves every operation that has a jvp rule, and shortens the
series until nothing is left to derive. Operations that are linear, bilinear or a
quotient, and those that hold programs, say by the field `taylor` of their record how
they act on series at once.

While a rule is expanded, applications of one operation to the same coefficients are
done once: sine needs cosine and cosine needs sine, each at every order.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from olympus._src.core import avals as avals_
from olympus._src.core import dtypes, ir, primitive, trace
from olympus._src.core.symbolic_values import Zero
from olympus._src.foundation import source_info
from olympus._src.interpreters import discharge, partial_eval
from olympus._src.lax import elementwise, families

current = trace.current
Series = list[Any]


class JetTracer(trace.Tracer):
    """A value with the coefficients of its series after the first."""

    __slots__ = ("primal", "terms")

    def __init__(self, trace: trace.Trace, primal: Any, terms: Sequence[Any]) -> None:
        self._trace = trace
        self.aval = avals_.aval_of(primal)
        self.primal = primal
        self.terms = list(terms)


class _Memo:
    """What was computed while one rule is expanded, and what it was computed from."""

    __slots__ = ("kept", "results")

    def __init__(self) -> None:
        self.results: dict[Any, Any] = {}
        self.kept: list[Any] = []  # keys hold ids, which must stay their owners'


class JetTrace(trace.Trace):
    """Applies operations to series of `order` terms after the first."""

    __slots__ = ("_memo", "ended", "order")
    is_adopted = False
    parent: trace.Trace

    def __init__(
        self, parent: trace.Trace, order: int, memo: _Memo | None = None
    ) -> None:
        super().__init__(parent)
        self.order = order
        self.ended = False
        self._memo = memo

    def process(self, p: Any, args: tuple[Any, ...], params: Any) -> Any:
        if p.discharge is not None and discharge.is_needed(p, params):
            return discharge.apply(p, args, params)
        series = [self.split(x) for x in args]
        outer = current.position
        if outer is None:  # one look at the stack serves all that the rule applies
            current.position = source_info.capture()
        current.trace = self.parent
        try:
            outs = self._apply_once(p, series, params)
        finally:
            current.trace = self
            current.position = outer
        out_values = [self.wrap(s) for s in outs]
        return out_values if p.multiple_results else out_values[0]

    def _apply_once(self, p: Any, series: list[Series], params: Any) -> list[Series]:
        """Applies `p`, or finds what it gave before."""
        key = None if self._memo is None else _key(p, series, params)
        if self._memo is None or key is None:
            return self._apply(p, series, params, self._memo or _Memo())
        result = self._memo.results.get(key)
        if result is None:
            result = self._apply(p, series, params, self._memo)
            self._memo.results[key] = result
            self._memo.kept.append(series)
        return result

    def _apply(
        self, p: Any, series: list[Series], params: Any, memo: _Memo
    ) -> list[Series]:
        if not any(map(is_nonzero, series)):
            out = p.bind(*[s[0] for s in series], **params)
            outs = out if p.multiple_results else [out]
            return [self.split(x) for x in outs]
        if p.taylor is not None:
            out = p.taylor(series, **params)
            if out is not NotImplemented:
                return out if p.multiple_results else [out]
        return self._apply_by_derivative(p, series, params, memo)

    def _apply_by_derivative(
        self, p: Any, series: list[Series], params: Any, memo: _Memo
    ) -> list[Series]:
        """The series of y from that of y', one term shorter."""
        if p.jvp is None:
            raise primitive.missing_rule(p, "jvp")
        inner = JetTrace(self.parent, self.order - 1, memo)
        primals = [inner.wrap(s[:-1]) for s in series]
        tangents = [inner.tangent(s) for s in series]
        current.trace = inner if inner.order else self.parent
        try:
            out, out_tangents = p.jvp(primals, tangents, **params)
        finally:
            current.trace = self.parent
            inner.ended = True
        if not p.multiple_results:
            out, out_tangents = [out], [out_tangents]
        pairs = zip(out, out_tangents, strict=True)
        return [_integrate_series(inner.split(x)[0], inner.slope(t)) for x, t in pairs]

    def split(self, x: Any) -> Series:
        """The coefficients of a value."""
        if type(x) is JetTracer and x._trace is self:
            return [x.primal, *x.terms]
        zero = Zero(avals_.aval_of(x).to_tangent())
        return [x, *[zero] * self.order]

    def slope(self, t: Any) -> Series:
        """The coefficients of a tangent, which may be a Zero."""
        return [t] * (self.order + 1) if type(t) is Zero else self.split(t)

    def wrap(self, series: Series) -> Any:
        """The tracer of a series; its first term if all others are zero."""
        return (
            JetTracer(self, series[0], series[1:]) if is_nonzero(series) else series[0]
        )

    def tangent(self, series: Series) -> Any:
        """The derivative of a series of one term more, as a value of this trace."""
        if not is_nonzero(series):
            return Zero(avals_.aval_of(series[0]).to_tangent())
        slope = [self._scale_coefficient(c, k) for k, c in enumerate(series) if k]
        return self.wrap([families.instantiate(slope[0]), *slope[1:]])

    def _scale_coefficient(self, c: Any, k: int) -> Any:
        """`k` times a coefficient; the same object each time it is requested."""
        memo = self._memo
        if memo is None or type(c) is Zero:
            return scale_coefficient(elementwise.mul, c, k)
        key = ("scaled", k, _mark(c))
        if key not in memo.results:
            memo.results[key] = scale_coefficient(elementwise.mul, c, k)
            memo.kept.append(c)
        return memo.results[key]

    def explain(self, tracer: trace.Tracer) -> str:
        inner = tracer.primal  # type: ignore[attr-defined]
        if isinstance(inner, trace.Tracer):
            return inner._trace.explain(inner)
        return ""


def is_nonzero(series: Series) -> bool:
    """Whether some coefficient after the first is not zero."""
    return any(type(c) is not Zero for c in series[1:])


def scale_coefficient(combine: Any, c: Any, factor: int) -> Any:
    """A coefficient times a number, or divided by it, as `combine` says."""
    if type(c) is Zero or factor == 1:
        return c
    return combine(c, families.scalar_like(c, factor))


def _integrate_series(first: Any, slope: Series) -> Series:
    """The series that begins with `first` and has the derivative `slope`."""
    terms = [scale_coefficient(elementwise.div, c, k) for k, c in enumerate(slope, 1)]
    return [first, *terms]


# -- what was computed before ----------------------------------------------------------


def _key(p: Any, series: list[Series], params: Any) -> Any:
    """Equal for equal applications; None where that cannot be known."""
    if p.effects is not None or p.impl is not None:
        return None
    key = (p, tuple(params.items()), tuple([tuple(map(_mark, s)) for s in series]))
    try:
        hash(key)
    except TypeError:
        return None
    return key


def _mark(c: Any) -> Any:
    if type(c) is Zero:
        return Zero, c.aval
    if isinstance(c, np.generic):
        return c.dtype, c.tobytes()
    if isinstance(c, (bool, int, float, complex)):
        return type(c), repr(c)
    return id(c)


# -- functions and programs ------------------------------------------------------------


def jet(
    fun: Callable[..., Sequence[Any]], series: Sequence[Series], order: int
) -> list[Series]:
    """The series of the results of a function of flat arguments.

    Args:
      fun: a function of flat arguments.
      series: for each argument its coefficients, 1 + `order` of them.
      order: how many terms after the first.
    """
    t = JetTrace(current.trace, order)
    inputs = [t.wrap(s) for s in series]
    current.trace = t
    try:
        outs = [t.split(x) for x in fun(*inputs)]
    finally:
        current.trace = t.parent
        t.ended = True
    return outs


Pattern = tuple[bool, ...]  # which terms after the first are not zero


def pattern_of(series: Series) -> Pattern:
    """Which terms of a series after the first are not zero."""
    return tuple([type(c) is not Zero for c in series[1:]])


def flat(series: Sequence[Series]) -> list[Any]:
    """First coefficients, then all other coefficients that are not zero."""
    firsts = [s[0] for s in series]
    return firsts + [c for s in series for c in s[1:] if type(c) is not Zero]


def unflatten(
    values: Sequence[Any], patterns: Sequence[Pattern], avals: Sequence[Any]
) -> list[Series]:
    """The series that `flat` turned into `values`."""
    higher_terms = iter(values[len(patterns) :])
    series = []
    for first, pattern, aval in zip(values, patterns, avals, strict=False):
        zero = Zero(aval.to_tangent())
        series.append([first, *[next(higher_terms) if p else zero for p in pattern]])
    return series


def jet_olympuspr(
    closed: ir.ClosedOlympuspr,
    patterns: tuple[Pattern, ...],
    force: tuple[Pattern, ...] | None = None,
) -> tuple[ir.ClosedOlympuspr, list[Pattern]]:
    """The program of series.

    Args:
      closed: a program.
      patterns: for each input which terms it has.
      force: for each output terms it must have, even if they are zero.

    Returns:
      A program from `flat` series of the inputs to flat series of the outputs, and
      which terms these have.
    """
    if closed.consts:
        return _jet_olympuspr(closed, patterns, force)
    key = ("jet", patterns, force)
    return closed.olympuspr.derived(
        key, lambda _: _jet_olympuspr(closed, patterns, force)
    )


def _jet_olympuspr(
    closed: ir.ClosedOlympuspr, patterns: Any, force: Any
) -> tuple[ir.ClosedOlympuspr, list[Pattern]]:
    in_avals = list(closed.in_avals)
    for aval, pattern in zip(closed.in_avals, patterns, strict=True):
        in_avals += [aval.to_tangent()] * sum(pattern)
    out_patterns: list[Pattern] = []
    order = len(patterns[0]) if patterns else 0

    def run(*args: Any) -> list[Any]:
        series = unflatten(args, patterns, closed.in_avals)
        outs = jet(ir.program_as_function(closed), series, order)
        if force is not None:
            outs = [instantiate_series(s, f) for s, f in zip(outs, force, strict=True)]
        out_patterns[:] = map(pattern_of, outs)
        return flat(outs)

    info = closed.olympuspr.debug_info or ir.DebugInfo("jet", "program")
    info = info.with_names()
    program, consts = partial_eval.trace_to_olympuspr(run, in_avals, info)
    return ir.ClosedOlympuspr(program, consts), out_patterns


def instantiate_series(series: Series, pattern: Pattern) -> Series:
    """A series with values in place of zeros where they are wanted."""
    terms = zip(series[1:], pattern, strict=True)
    return [series[0], *[families.instantiate(c) if w else c for c, w in terms]]


def may_move(aval: Any) -> bool:
    """Whether values of this type have series at all: not integers."""
    return dtypes.issubdtype(aval.dtype, np.inexact)
