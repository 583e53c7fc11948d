"""Derivative rules of users' operations that follow from other ones.

lin, linearized = linearize_from_jvp
vjp_fwd, vjp_bwd_retval = vjp_from_jvp      or vjp_from_lin
jvp = jvp_from_lin
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from olympus._src import tree
from olympus._src.core import ir, trace
from olympus._src.core.symbolic_values import Zero
from olympus._src.interpreters import ad
from olympus._src.lax import families

current = trace.current


# -- what rules return -----------------------------------------------------------------


def check_pair(prim: Any, method: str, pair: Any, second: str) -> Any:
    """Raises TypeError unless a rule returned a pair."""
    if isinstance(pair, (tuple, list)) and len(pair) == 2:
        return pair
    raise TypeError(
        f"{type(prim).__name__}.{method}: it must return a pair of the result and "
        f"{second}, got {pair!r}"
    )


def results(prim: Any, method: str, out: Any) -> list[Any]:
    """The leaves of what a rule returned as the result."""
    outs, structure = tree.tree_flatten(out)
    if structure != prim.out_tree:
        raise TypeError(
            f"{type(prim).__name__}.{method}: its result must have the structure of "
            f"out_aval, {prim.out_tree}, got {structure}"
        )
    return outs


def tangents(prim: Any, method: str, tangent: Any) -> list[Any]:
    """The leaves of what a rule returned as the result's tangent."""
    leaves = tree.tree_leaves(tangent, is_leaf=lambda x: x is None)
    n = len(prim.out_avals_flat)
    if len(leaves) != n or any(x is None for x in leaves):
        raise TypeError(
            f"{type(prim).__name__}.{method}: the tangent of the result must have the "
            f"structure of out_aval, {prim.out_tree}, got {tangent!r}; use Zero(type) "
            "for a zero one"
        )
    return leaves


# -- linear programs of one operation --------------------------------------------------


def unwritten(method: Any) -> Any:
    """Marks a method that only says what to write."""
    method.is_unwritten = True
    return method


def is_written(prim: Any, method: str) -> bool:
    """Whether the user wrote a rule, or derived it from another."""
    return not getattr(getattr(type(prim), method), "is_unwritten", False)


def is_linearizable(prim: Any) -> bool:
    """Whether there are rules of which `linearize` makes a linear program."""
    return is_written(prim, "lin") or is_written(prim, "jvp")


def linearize(
    prim: Any, nonzero: Sequence[bool], primals: Sequence[Any]
) -> tuple[list[Any], ad.LinearProgram]:
    """The results, and the linear program of nonzero tangents, by `lin` or `jvp`."""
    if not is_written(prim, "lin") and is_written(prim, "jvp"):
        return linearize_jvp(prim, nonzero, primals)
    if type(prim).lin is _lin_from_jvp:
        return linearize_jvp(prim, nonzero, primals)
    return linearize_lin(prim, nonzero, primals)


def linearize_jvp(
    prim: Any, nonzero: Sequence[bool], primals: Sequence[Any]
) -> tuple[list[Any], ad.LinearProgram]:
    """`linearize`, by the rule `jvp`."""

    def apply(slopes: list[Any]) -> tuple[Any, Any]:
        unflatten = prim.in_tree.unflatten
        pair = prim.jvp(unflatten(primals), unflatten(slopes))
        return check_pair(prim, "jvp", pair, "its tangent")

    return _on_tape(prim, "jvp", nonzero, primals, apply)


def linearize_lin(
    prim: Any, nonzero: Sequence[bool], primals: Sequence[Any]
) -> tuple[list[Any], ad.LinearProgram]:
    """`linearize`, by the rules `lin` and `linearized`."""
    unflatten = prim.in_tree.unflatten
    pair = prim.lin(unflatten(nonzero), *unflatten(primals))
    out, res = check_pair(prim, "lin", pair, "residuals")

    def apply(slopes: list[Any]) -> tuple[Any, Any]:
        return out, prim.linearized(res, *unflatten(slopes))

    return _on_tape(prim, "linearized", nonzero, primals, apply)


def _on_tape(
    prim: Any,
    method: str,
    nonzero: Sequence[bool],
    primals: Sequence[Any],
    apply: Callable[[list[Any]], tuple[Any, Any]],
) -> tuple[list[Any], ad.LinearProgram]:
    """Runs a rule on tangents that record."""
    tape = ad.TangentTape(current.trace, ir.DebugInfo("linearize", type(prim).__name__))
    slopes = []
    for x, flag in zip(primals, nonzero, strict=True):
        zero = ad.zero_tangent(x)
        slopes.append(tape.new_input(zero.aval) if flag else zero)
    current.trace = tape
    try:
        out, tangent = apply(slopes)
    finally:
        current.trace = tape.parent
    outs = results(prim, method, out)
    leaves = tangents(prim, method, tangent)
    program, consts = tape.close([t for t in leaves if type(t) is not Zero])
    tape.ended = True
    zeros = [t if type(t) is Zero else None for t in leaves]
    return outs, ad.LinearProgram(program, consts, zeros)


class _Held:
    """A linear program without the values that it needs; equal to itself only."""

    __slots__ = ("nonzero", "outs", "program")

    def __init__(self, linear: ad.LinearProgram, nonzero: Sequence[bool]) -> None:
        self.program = linear.program
        self.outs = linear.outs
        self.nonzero = tuple(nonzero)

    def __call__(self, *consts: Any) -> ad.LinearProgram:
        return ad.LinearProgram(self.program, list(consts), self.outs)


def _hold(prim: Any, outs: Any, linear: ad.LinearProgram, nonzero: Any) -> Any:
    """The result, and residuals: the values that a linear program needs."""
    residuals = tree.Partial(_Held(linear, nonzero), *linear.consts)
    return prim.out_tree.unflatten(outs), residuals


def _flat_flags(nzs_in: Any) -> list[bool]:
    return list(tree.tree_leaves(nzs_in))


def _lin_from_jvp(self: Any, nzs_in: Any, *primals: Any) -> Any:
    nonzero = _flat_flags(nzs_in)
    outs, linear = linearize_jvp(self, nonzero, tree.tree_leaves(primals))
    return _hold(self, outs, linear, nonzero)


def _linearized_from_jvp(self: Any, residuals: Any, *slopes: Any) -> Any:
    held = residuals.func
    leaves = tree.tree_leaves(slopes)
    nonzero = [
        families.instantiate(t)
        for t, flag in zip(leaves, held.nonzero, strict=True)
        if flag
    ]
    return self.out_tree.unflatten(residuals().apply(nonzero))


def _vjp_fwd_from(by: Callable[..., Any]) -> Callable[..., Any]:
    def vjp_fwd(self: Any, nzs_in: Any, /, *args: Any) -> Any:
        nonzero = _flat_flags(nzs_in)
        outs, linear = by(self, nonzero, tree.tree_leaves(args))
        return _hold(self, outs, linear, nonzero)

    return vjp_fwd


def _vjp_bwd_retval(self: Any, res: Any, outgrad: Any, /) -> Any:
    """Transposes the linear program."""
    nonzero_cts = iter(res().transpose(self.out_tree.flatten_up_to(outgrad)))
    cts = [
        next(nonzero_cts) if flag else Zero(aval.to_cotangent())
        for flag, aval in zip(res.func.nonzero, self.in_avals_flat, strict=True)
    ]
    return self.in_tree.unflatten(cts)


class _LinearizeFromJVP(NamedTuple):
    lin: Callable[..., Any]
    linearized: Callable[..., Any]


class _VJPFromJVP(NamedTuple):
    vjp_fwd: Callable[..., Any]
    vjp_bwd_retval: Callable[..., Any]


class _VJPFromLin(NamedTuple):
    vjp_fwd: Callable[..., Any]
    vjp_bwd_retval: Callable[..., Any]


linearize_from_jvp = _LinearizeFromJVP(_lin_from_jvp, _linearized_from_jvp)
vjp_from_jvp = _VJPFromJVP(_vjp_fwd_from(linearize_jvp), _vjp_bwd_retval)
vjp_from_lin = _VJPFromLin(_vjp_fwd_from(linearize_lin), _vjp_bwd_retval)
_DERIVED = frozenset((vjp_from_jvp.vjp_fwd, vjp_from_lin.vjp_fwd))


def is_derived_vjp(kind: type) -> bool:
    """Whether the rules of reverse mode are derived from other ones."""
    own: Any = kind
    return own.vjp_fwd in _DERIVED and own.vjp_bwd_retval is _vjp_bwd_retval


def jvp_from_lin(self: Any, primals: Any, tangents: Any) -> Any:
    """A rule `jvp`, for operations with the rules `lin` and `linearized`.

    Example:
      >>> import olympus
      >>> from olympus.experimental import hijax
      >>> class Double(hijax.HiPrim):
      ...     def __init__(self, x):
      ...         self.in_avals, self.out_aval, self.params = (x,), x, {}
      ...         super().__init__()
      ...     def expand(self, x):
      ...         return 2.0 * x
      ...     def lin(self, nzs_in, x):
      ...         return self(x), None
      ...     def linearized(self, residuals, t):
      ...         return 2.0 * t
      ...     jvp = hijax.jvp_from_lin
      >>> double = Double(olympus.typeof(1.0))
      >>> value, slope = olympus.jvp(double, (3.0,), (1.0,))
      >>> print(value, slope)
      6.0 2.0
    """
    leaves = tree.tree_leaves(tangents)
    nonzero = tree.tree_structure(primals).unflatten(
        [type(t) is not Zero for t in leaves]
    )
    pair = self.lin(nonzero, *primals)
    out, res = check_pair(self, "lin", pair, "residuals")
    return out, self.linearized(res, *tangents)
