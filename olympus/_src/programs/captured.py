"""Rules that close over values of the function being traced.

A rule is a Python function, which a program keeps and calls when the program is
differentiated. What it closes over is gone by then, if it is a value of the function
that was traced. Such rules are traced when the program is, and the values become
operands.
"""

from __future__ import annotations

import threading
import types
from collections.abc import Sequence
from typing import Any

from olympus._src import tree
from olympus._src.core import avals as avals_
from olympus._src.core import dtypes, ir, trace
from olympus._src.core.symbolic_values import Zero
from olympus._src.interpreters import ad, partial_eval
from olympus._src.lax import families
from olympus._src.programs import call_rules, functions, inner_programs

_MAX_DEPTH = 6


def holds_tracers(x: Any, depth: int = 0) -> bool:
    """Whether a function closes over traced values, as far as its cells, defaults and
    bound arguments tell.
    """
    if isinstance(x, trace.Tracer):
        return True
    if depth > _MAX_DEPTH:
        return False
    return any(
        holds_tracers(leaf, depth + 1) for part in _parts(x) for leaf in _leaves(part)
    )


def _leaves(x: Any) -> list[Any]:
    """What is in containers, also in those that cannot be flattened as trees."""
    try:
        return tree.tree_leaves(x)
    except Exception:  # keys without an order, a list in itself
        return _leaves_in_any_order(x)


def _leaves_in_any_order(x: Any) -> list[Any]:
    leaves, seen, left = [], set(), [x]
    while left:
        x = left.pop()
        if not isinstance(x, (dict, list, tuple)):
            leaves.append(x)
        elif id(x) not in seen:
            seen.add(id(x))
            left.extend(x.values() if isinstance(x, dict) else x)
    return leaves


def _parts(x: Any) -> list[Any]:
    """What a function refers to, apart from globals."""
    if isinstance(x, types.FunctionType):
        cells = [c.cell_contents for c in x.__closure__ or () if not _is_empty(c)]
        return [*cells, x.__defaults__, x.__kwdefaults__]
    if isinstance(x, types.MethodType):
        return [x.__func__, vars(x.__self__) if hasattr(x.__self__, "__dict__") else ()]
    if hasattr(x, "func") and hasattr(x, "keywords"):  # a partial
        return [x.func, x.args, x.keywords]
    wrapped = getattr(x, "__wrapped__", None)
    return [] if wrapped is None else [wrapped]


def _is_empty(cell: Any) -> bool:
    try:
        return cell.cell_contents is None
    except ValueError:
        return True


class _Underway(threading.local):
    """The rules whose tracing is under way in this thread."""

    def __init__(self) -> None:
        self.rules: list[Any] = []


_underway = _Underway()

# A rule mostly calls the function that it belongs to, for its value. That one's rule is
# traced in turn, for derivatives of the next order, and so on up to this order.
_MAX_ORDER = 3


def must_be_traced(*rules: functions.Function) -> bool:
    """Whether rules have to be traced now, because of what they close over."""
    first = rules[0].fun
    if sum(rule is first for rule in _underway.rules) >= _MAX_ORDER:
        return False
    return any(holds_tracers(rule.fun) for rule in rules)


def _trace(rule: Any, fun: Any, in_avals: Sequence[Any]) -> Any:
    """Traces what calls a rule; None where that fails: it says why when needed."""
    name = repr(rule)
    _underway.rules.append(rule.fun)
    try:
        info = ir.DebugInfo("differentiation", name)
        return partial_eval.trace_to_olympuspr(fun, in_avals, info)
    except Exception:
        return None
    finally:
        _underway.rules.pop()


def _trace_call(what: str, call: Any, in_avals: Sequence[Any]) -> Any:
    info = ir.DebugInfo(what, repr(call))
    return partial_eval.trace_to_olympuspr(call, in_avals, info)


def _can_move(aval: Any) -> bool:
    return aval.to_tangent().dtype != dtypes.float0


# -- custom_jvp ------------------------------------------------------------------------


def with_jvp(
    what: str, args: Sequence[Any], params: dict[str, Any]
) -> tuple[list[Any], dict[str, Any]] | None:
    """Operands and parameters for a program, with a rule `jvp` that is traced.

    Returns:
      None where the rule cannot be traced; it says why when it is needed.
    """
    rule, n = params["jvp"], params["num_consts"]
    in_avals = [avals_.aval_of(x) for x in args]
    differentiable = [i for i, a in enumerate(in_avals) if i >= n and _can_move(a)]
    out_nonzero: list[bool] = []

    def run(*values: Any) -> list[Any]:
        primals, slopes = values[: len(args)], values[len(args) :]
        tangents = [ad.zero_tangent(x) for x in primals]
        for i, t in zip(differentiable, slopes, strict=True):
            tangents[i] = t
        outs, out_tangents = rule(primals[:n], primals[n:], tangents[n:])
        out_nonzero[:] = [type(t) is not Zero for t in out_tangents]
        return [*outs, *[t for t in out_tangents if type(t) is not Zero]]

    tangent_avals = [in_avals[i].to_tangent() for i in differentiable]
    of_rule = _trace(rule, run, [*in_avals, *tangent_avals])
    if of_rule is None:
        return None
    of_call = _trace_call(what, params["call_jaxpr"], in_avals)
    (call, traced), shared = inner_programs.share_consts([of_call, of_rule])
    total = len(shared) + n

    def jvp(consts: Any, primals: Any, tangents: Any) -> Any:
        slopes = [families.instantiate(tangents[i - n]) for i in differentiable]
        own = consts[len(consts) - total :]
        results = functions.run(traced, [*own, *primals, *slopes])
        n_results = len(out_nonzero)
        outs = results[:n_results]
        avals = list(map(avals_.aval_of, outs))
        return outs, call_rules.fill_zeros(out_nonzero, results[n_results:], avals)

    return [*shared, *args], dict(
        params, call_jaxpr=call, jvp=rule.derived(jvp), num_consts=total
    )


# -- custom_vjp ------------------------------------------------------------------------


def with_vjp(
    what: str, args: Sequence[Any], params: dict[str, Any]
) -> tuple[list[Any], dict[str, Any]] | None:
    """Operands and parameters for a program, with rules that are traced.

    Returns:
      None where the rules cannot be traced; they say why when they are needed.
    """
    fwd, n = params["fwd"], params["num_consts"]
    in_avals = [avals_.aval_of(x) for x in args]
    perturbed = tuple([_can_move(a) for a in in_avals[n:]])
    forward_info: list[Any] = []

    def forward(*values: Any) -> list[Any]:
        outs, residuals, pullback = fwd(values[:n], values[n:], perturbed)
        forward_info[:] = [len(outs), pullback]
        return [*outs, *residuals]

    of_fwd = _trace(fwd, forward, in_avals)
    if of_fwd is None:
        return None
    count, pullback = forward_info
    out_avals = of_fwd[0].out_avals
    back = _Back(pullback, out_avals[:count], len(out_avals) - count)
    of_back = _trace(fwd, back.run, [*out_avals[count:], *back.ct_avals])
    if of_back is None:
        return None
    of_call = _trace_call(what, params["call_jaxpr"], in_avals)
    traced, shared = inner_programs.share_consts([of_call, of_fwd, of_back])
    call, forward_program, back.program = traced
    total = len(shared) + n

    def rule(consts: Any, primals: Any, perturbed: Any) -> Any:
        own = consts[len(consts) - total :]
        results = functions.run(forward_program, [*own, *primals])
        # The pullback's constants go with the residuals.
        residuals = [*own[: len(shared)], *results[count:]]
        return results[:count], residuals, pullback.derived(back)

    return [*shared, *args], dict(
        params, call_jaxpr=call, fwd=fwd.derived(rule), num_consts=total
    )


class _Back:
    """A pullback that is traced: first as a function of flat values, then called.

    Attributes:
      ct_avals: types of the cotangents that it takes.
      program: what it was traced to.
    """

    program: Any

    def __init__(self, pullback: Any, out_avals: Sequence[Any], count: int) -> None:
        self._pullback = pullback
        self._zeros = [Zero(a.to_tangent()) for a in out_avals]
        self._differentiable = [i for i, a in enumerate(out_avals) if _can_move(a)]
        self._count = count
        self._flows: list[bool] = []
        self.ct_avals = [self._zeros[i].aval for i in self._differentiable]

    def run(self, *values: Any) -> list[Any]:
        """The user's rule on residuals and cotangents that are given."""
        cts: list[Any] = list(self._zeros)
        for i, ct in zip(self._differentiable, values[self._count :], strict=True):
            cts[i] = ct
        in_cts = self._pullback(values[: self._count], cts)
        self._flows = [ct is not None and type(ct) is not Zero for ct in in_cts]
        return [ct for ct, flows in zip(in_cts, self._flows, strict=True) if flows]

    def __call__(self, residuals: Any, cts: Any) -> list[Any]:
        nonzero_cts = [families.instantiate(cts[i]) for i in self._differentiable]
        in_cts = iter(functions.run(self.program, [*residuals, *nonzero_cts]))
        return [next(in_cts) if flows else None for flows in self._flows]
