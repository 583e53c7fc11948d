"""Derivatives of `scan`: forward mode, linearisation, transposition.

A carry that gets a tangent in some step has one from the first step on. Linearising
runs the loop once and stacks what each step's derivative needs; what is the same in all
steps, or is a slice of an operand already, is not stacked. The transposed loop goes the
other way and sums the cotangents of constants.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from olympus._src.control_flow import known_carries
from olympus._src.core import ir, trace
from olympus._src.core.primitive import takes_primitive
from olympus._src.core.symbolic_values import Linear, Zero
from olympus._src.interpreters import ad, partial_eval
from olympus._src.lax import elementwise, families
from olympus._src.programs import inner_programs
from olympus._src.programs.scan_operands import Parts


def nonzero_flags(tangents: Sequence[Any]) -> list[bool]:
    """Which of some tangents or cotangents are not zero."""
    return [type(t) is not Zero for t in tangents]


def zero_of(x: Any) -> Zero:
    """The zero tangent of a value."""
    return Zero(inner_programs.aval_of(x).to_tangent())


def instantiate_flagged(tangents: Sequence[Any], flags: Sequence[bool]) -> list[Any]:
    """The flagged tangents, as values."""
    return [families.instantiate(t) for t, f in zip(tangents, flags, strict=True) if f]


def with_zeros(nonzero: Any, flags: Sequence[bool], avals: Sequence[Any]) -> list[Any]:
    """Tangents for all results: the next found one where flagged, zero elsewhere."""
    return [
        next(nonzero) if f else Zero(a.to_tangent())
        for f, a in zip(flags, avals, strict=True)
    ]


def settled_tangents(
    body: ir.Olympuspr, nonzero: Parts, num_ys: int, flow: Any = None
) -> tuple[list[bool], list[bool], list[bool]]:
    """Which tangents there are once the carries' have settled.

    Returns:
      Flags of the body's inputs; flags of the results whose tangent is wanted in any
      case; flags of the results that have one.
    """
    carry = nonzero.carry
    while True:
        flags = [*nonzero.consts, *carry, *nonzero.xs]
        required = [*carry, *[False] * num_ys]
        out_nonzero = (flow or _jvp_flow)(body, flags, required)
        if out_nonzero[: len(carry)] == carry:
            return flags, required, out_nonzero
        carry = out_nonzero[: len(carry)]


def _jvp_flow(
    body: ir.Olympuspr, flags: Sequence[bool], required: Sequence[bool]
) -> list[bool]:
    """Which results of a body have tangents."""
    return jvp_body(body, flags, required)[1]


def jvp_body(
    body: ir.Olympuspr, flags: Sequence[bool], required: Sequence[bool]
) -> Any:
    """`ad.jvp_olympuspr`, once for each program."""
    key = ("jvp", tuple(flags), tuple(required))
    return body.derived(key, lambda p: ad.jvp_olympuspr(p, flags, required))


# -- forward mode ----------------------------------------------------------------------


@takes_primitive
def jvp(p: Any, primals: Any, tangents: Any, **params: Any) -> Any:
    """The rule of `scan_p.jvp`."""
    body, n_carry = params["jaxpr"].olympuspr, params["num_carry"]
    n_ys = len(body.outvars) - n_carry
    values, slopes = Parts(primals, params), Parts(tangents, params)
    start = Parts(nonzero_flags(tangents), params)
    flags, required, out_nonzero = settled_tangents(body, start, n_ys)
    nonzero = Parts(flags, params)
    closed, new_consts = inner_programs.absorb(jvp_body(body, flags, required)[0])
    n_consts = len(new_consts) + len(values.consts)
    n_t, n_yt = sum(out_nonzero[:n_carry]), sum(out_nonzero[n_carry:])
    program = _order_for_scan(
        closed.olympuspr,
        [n_consts, n_carry, len(values.xs)],
        [sum(nonzero.consts), sum(nonzero.carry), sum(nonzero.xs)],
        [n_carry, n_ys, n_t, n_yt],
    )
    outs = p.bind(
        *new_consts,
        *values.consts,
        *instantiate_flagged(slopes.consts, nonzero.consts),
        *values.carry,
        *instantiate_flagged(slopes.carry, nonzero.carry),
        *values.xs,
        *instantiate_flagged(slopes.xs, nonzero.xs),
        **{
            **params,
            "jaxpr": ir.ClosedOlympuspr(program),
            "num_consts": n_consts + sum(nonzero.consts),
            "num_carry": n_carry + n_t,
        },
    )
    last, last_t, ys, ys_t = inner_programs.split_by_sizes(
        outs, [n_carry, n_t, n_ys, n_yt]
    )
    results = last + ys
    avals = [inner_programs.aval_of(x) for x in results]
    return results, with_zeros(iter(last_t + ys_t), out_nonzero, avals)


def _order_for_scan(
    program: ir.Olympuspr,
    n_values: Sequence[int],
    n_tangents: Sequence[int],
    n_outs: Sequence[int],
) -> ir.Olympuspr:
    """A body of all values and then all tangents, as a body that `scan` can run.

    Args:
      program: the body.
      n_values: how many of its inputs are constants, carries and slices.
      n_tangents: how many are tangents of each of these.
      n_outs: how many results are carries, slices, and tangents of both.
    """
    c, s, x, tc, ts, tx = inner_programs.split_by_sizes(
        program.invars, [*n_values, *n_tangents]
    )
    out_s, out_y, out_ts, out_ty = inner_programs.split_by_sizes(
        program.outvars, n_outs
    )
    return program.replace(
        invars=c + tc + s + ts + x + tx,
        outvars=out_s + out_ts + out_y + out_ty,
        debug_info=inner_programs.forget_argument_names(program.debug_info),
    )


# -- linearisation ---------------------------------------------------------------------


class _Residuals:
    """Where each value that the derivative needs comes from.

    Attributes:
      stacked: variables of the forward body that become outputs of the loop.
      fixed: flags of residuals that are the same in all steps.
    """

    __slots__ = ("_find", "fixed", "stacked")

    def __init__(
        self, program: ir.Olympuspr, residuals: Sequence[Any], operands: Parts
    ) -> None:
        places = {v: ("const", i) for i, v in enumerate(program.invars)}
        first = len(program.invars) - len(operands.xs)
        for i, v in enumerate(program.invars[first:]):
            places[v] = ("xs", i)
        n_consts = len(operands.consts)
        outer = _InvariantPart(program, n_consts)
        self.stacked: list[Any] = []
        self.fixed: list[bool] = []
        self._find: list[Callable[[list[Any]], Any]] = []
        for v in residuals:
            kind, i = ("value", 0) if type(v) is ir.Literal else places.get(v, ("", 0))
            if kind == "const" and i >= n_consts:
                kind = ""  # a carry
            if kind == "" and outer.has(v):
                kind = "outer"
            self.fixed.append(kind in ("value", "const", "outer"))
            self._find.append(self._finder(kind, i, v, operands, outer))

    def _finder(self, kind: str, i: int, v: Any, operands: Parts, outer: Any) -> Any:
        if kind == "value":
            return lambda stacked: v.val
        if kind == "const":
            return lambda stacked: operands.consts[i]
        if kind == "xs":
            return lambda stacked: operands.xs[i]
        if kind == "outer":
            return lambda stacked: outer.value(v, operands.consts)
        n = len(self.stacked)
        self.stacked.append(v)
        return lambda stacked: stacked[n]

    def values(self, stacked: list[Any]) -> list[Any]:
        """The residuals, given the loop's additional outputs."""
        return [find(stacked) for find in self._find]


class _InvariantPart:
    """What a body computes from constants alone: the same in all steps."""

    __slots__ = ("_n", "_program", "_values", "_variables")

    def __init__(self, program: ir.Olympuspr, n_consts: int) -> None:
        self._program = program
        self._n = n_consts
        self._values: dict[Any, Any] = {}
        known: set[Any] = set(program.invars[:n_consts])
        self._variables: set[Any] = set()
        for eqn in program.eqns:
            if eqn.effects or not all(
                type(v) is ir.Literal or v in known for v in eqn.invars
            ):
                continue
            known.update(eqn.outvars)
            self._variables.update(eqn.outvars)

    def has(self, v: Any) -> bool:
        """Whether `v` is computed from constants alone."""
        return v in self._variables

    def value(self, v: Any, consts: list[Any]) -> Any:
        """Computes it, outside of the loop."""
        inputs = self._program.invars[: self._n]
        part = self._program.replace(invars=inputs, outvars=[v], debug_info=None)
        part = part.replace(
            eqns=[e for e in part.eqns if self._variables.issuperset(e.outvars)]
        )
        small, _ = partial_eval.dce_olympuspr(part, [True], instantiate=True)
        return ir.eval_olympuspr(small, (), *consts)[0]


@takes_primitive
def linearize(
    p: Any,
    primals: Any,
    tangents: Any,
    *,
    linear_p: Any = None,
    split: Callable[..., Any] = ad.linearize_olympuspr,
    **params: Any,
) -> Any:
    """The rule of `scan_p.linearize`, and of loops that are applied like it.

    Args:
      p: applies the loop.
      primals: operands.
      tangents: theirs.
      linear_p: applies the loop of tangents; `p` where it is None.
      split: makes a forward and a tangent program of the body.
      **params: of the loop.
    """
    body, n_carry = params["jaxpr"].olympuspr, params["num_carry"]
    n_outs = len(body.outvars)
    start = Parts(nonzero_flags(tangents), params)

    def divided(flags: Sequence[bool], required: Sequence[bool]) -> Any:
        for_tangents = trace.current.pushes_forward
        return body.derived(
            ("linearized", split, tuple(flags), tuple(required), for_tangents),
            lambda program: split(program, flags, required),
        )

    def flow(body: Any, flags: Sequence[bool], required: Sequence[bool]) -> list[bool]:
        return [z is None for z in divided(flags, required)[2]]

    # Operations of users may have rules for reverse mode only.
    of_users = flow if ir.is_high(body) else None
    flags, required, _ = settled_tangents(body, start, n_outs - n_carry, of_users)
    forward, tangent, out_zeros = divided(flags, required)
    forward, new_consts = inner_programs.absorb(forward)
    operands = Parts(primals, params)
    operands.consts = new_consts + operands.consts
    program = forward.olympuspr
    kept_values = _Residuals(program, program.outvars[n_outs:], operands)
    outs = p.bind(
        *operands.consts,
        *operands.carry,
        *operands.xs,
        **{
            **params,
            "jaxpr": ir.ClosedOlympuspr(
                program.replace(outvars=program.outvars[:n_outs] + kept_values.stacked)
            ),
            "num_consts": len(operands.consts),
        },
    )
    residuals = kept_values.values(outs[n_outs:])
    nonzero, slopes = Parts(flags, params), Parts(tangents, params)
    apply = _tangent_loop(
        linear_p or p, tangent, residuals, kept_values.fixed, nonzero, slopes, params
    )

    def complete() -> list[Any]:
        tangents_out = iter(apply())
        return [next(tangents_out) if z is None else z for z in out_zeros]

    return outs[:n_outs], complete


def _tangent_loop(
    p: Any,
    tangent: ir.ClosedOlympuspr,
    residuals: list[Any],
    fixed: list[bool],
    nonzero: Parts,
    slopes: Parts,
    params: Any,
) -> Callable[[], list[Any]]:
    """The loop of the linear program, with tangents for operands."""
    counts = [
        len(residuals),
        sum(nonzero.consts),
        sum(nonzero.carry),
        sum(nonzero.xs),
    ]
    r, tc, ts, tx = inner_programs.split_by_sizes(tangent.olympuspr.invars, counts)
    program = tangent.olympuspr.replace(
        invars=[
            *[v for v, f in zip(r, fixed, strict=True) if f],
            *tc,
            *ts,
            *[v for v, f in zip(r, fixed, strict=True) if not f],
            *tx,
        ],
        debug_info=inner_programs.forget_argument_names(tangent.olympuspr.debug_info),
    )
    consts = [x for x, f in zip(residuals, fixed, strict=True) if f]
    rows = [x for x, f in zip(residuals, fixed, strict=True) if not f]
    new_params = {
        **params,
        "jaxpr": ir.ClosedOlympuspr(program),
        "num_consts": len(consts) + len(tc),
        "num_carry": len(ts),
    }

    def apply() -> list[Any]:
        return p.bind(
            *consts,
            *instantiate_flagged(slopes.consts, nonzero.consts),
            *instantiate_flagged(slopes.carry, nonzero.carry),
            *rows,
            *instantiate_flagged(slopes.xs, nonzero.xs),
            **new_params,
        )

    return apply


# -- transposition ---------------------------------------------------------------------


@takes_primitive
def transpose(p: Any, cts: Any, *args: Any, **params: Any) -> Any:
    """The rule of `scan_p.transpose`."""
    body, n_carry = params["jaxpr"].olympuspr, params["num_carry"]
    parts = Parts(args, params)
    marks = tuple([type(x) is Linear for x in args])
    linear = Parts(marks, params)
    if not all(linear.carry):
        n_consts = params["num_consts"]
        known = body.derived(
            ("known carries", marks, n_consts, n_carry),
            lambda program: known_carries.divide(program, marks, n_consts, n_carry),
        )
        if known is not None:
            return _transpose_beside(p, known, cts, args, params)
    flags = [*linear.consts, *[True] * n_carry, *linear.xs]
    nonzero = [True] * n_carry + nonzero_flags(cts[n_carry:])
    n_c, n_x = sum(linear.consts), sum(linear.xs)
    required = [False] * n_c + [True] * n_carry + [False] * n_x
    closed, in_nonzero = body.derived(
        ("transposed", tuple(flags), tuple(nonzero), n_carry),
        lambda program: ad.transpose_olympuspr(
            program, flags, nonzero, required, n_sums=n_c
        ),
    )
    closed, new_consts = inner_programs.absorb(closed)
    flows_c, _, flows_x = inner_programs.split_by_sizes(in_nonzero, [n_c, n_carry, n_x])
    known_consts = [x for x in parts.consts if type(x) is not Linear]
    known_xs = [x for x in parts.xs if type(x) is not Linear]
    sums = [a for a, f in zip(_linear_avals(parts.consts), flows_c, strict=True) if f]
    nonzero_cts = instantiate_flagged(cts[n_carry:], nonzero[n_carry:])
    counts = [len(new_consts) + len(known_consts), len(known_xs), n_carry]
    weak = [
        _is_weak(x) and (type(ct) is Zero or _is_weak(ct))
        for x, ct in zip(parts.carry, cts, strict=False)
    ]
    program = _order_operands(closed.olympuspr, counts, len(sums), weak)
    outs = p.bind(
        *new_consts,
        *known_consts,
        *[families.instantiate(Zero(a)) for a in sums],
        *[families.instantiate(ct) for ct in cts[:n_carry]],
        *known_xs,
        *nonzero_cts,
        **{
            **params,
            "jaxpr": program,
            "num_consts": counts[0],
            "num_carry": len(sums) + n_carry,
            "reverse": not params["reverse"],
        },
    )
    ct_consts, ct_carry, ct_xs = inner_programs.split_by_sizes(
        outs, [len(sums), n_carry, sum(flows_x)]
    )
    return [
        *inner_programs.assign_cotangents(parts.consts, flows_c, ct_consts),
        *[
            ct if type(x) is Linear else None
            for x, ct in zip(parts.carry, ct_carry, strict=True)
        ],
        *inner_programs.assign_cotangents(parts.xs, flows_x, ct_xs),
    ]


def _transpose_beside(p: Any, known: Any, cts: Any, args: Any, params: Any) -> Any:
    """`transpose` of a loop that computes something known beside, as a counter."""
    operands = [x for x, k in zip(args, known.inputs, strict=True) if k]
    parts, inputs = Parts(args, params), Parts(known.inputs, params)
    n_known, n_carry = sum(known.flags), params["num_carry"]
    outs = p.bind(
        *operands,
        **{
            **params,
            "jaxpr": known.program,
            "num_consts": sum(inputs.consts),
            "num_carry": n_known,
        },
    )
    carry = [x for x, k in zip(parts.carry, known.flags, strict=True) if not k]
    carry_cts = [ct for ct, k in zip(cts, known.flags, strict=False) if not k]
    new_cts = transpose(
        p,
        [*carry_cts, *cts[n_carry:]],
        *parts.consts,
        *carry,
        *parts.xs,
        *outs[n_known:],
        **{**params, "jaxpr": known.remaining, "num_carry": n_carry - n_known},
    )
    sizes = [len(parts.consts), len(carry), len(parts.xs)]
    ct_consts, ct_carry, ct_xs, _ = inner_programs.split_by_sizes(
        new_cts, [*sizes, n_known]
    )
    remaining = iter(ct_carry)
    ct_carry = [None if k else next(remaining) for k in known.flags]
    return [*ct_consts, *ct_carry, *ct_xs]


def _is_weak(x: Any) -> bool:
    aval = x.aval if type(x) is Linear else inner_programs.aval_of(x)
    return bool(aval.weak_type)


def _linear_avals(args: Sequence[Any]) -> list[Any]:
    return [x.aval.to_cotangent() for x in args if type(x) is Linear]


def _order_operands(
    transposed: ir.Olympuspr,
    counts: Sequence[int],
    n_sums: int,
    weak: Sequence[bool],
) -> ir.ClosedOlympuspr:
    """The body of the transposed loop.

    It takes known constants; sums and cotangents of the carry; known slices and
    cotangents of outputs. It returns new sums, cotangents of the carry, and those of
    slices.
    """
    n_consts, n_xs, n_carry = counts
    known_c, known_x, sums, carry, rows = inner_programs.split_by_sizes(
        transposed.in_avals,
        [n_consts, n_xs, n_sums, n_carry, len(transposed.invars)],
    )
    sizes = [n_consts, n_sums, n_carry, n_xs, len(rows)]

    def run(*args: Any) -> list[Any]:
        consts, totals, cts, slices, ys = inner_programs.split_by_sizes(args, sizes)
        results = ir.eval_olympuspr(
            transposed, (), *consts, *slices, *totals, *cts, *ys
        )
        new_sums, others = results[:n_sums], results[n_sums:]
        # A cotangent of the carry stays as weak as it comes in.
        others[:n_carry] = [
            x if a.is_high else elementwise.convert(x, a.dtype, w)
            for x, a, w in zip(others, carry, weak, strict=False)
        ]
        return new_sums + others

    in_avals = [*known_c, *sums, *carry, *known_x, *rows]
    info = inner_programs.forget_argument_names(transposed.debug_info) or ir.DebugInfo(
        "transpose", "scan"
    )
    program, consts = partial_eval.trace_to_olympuspr(run, in_avals, info)
    return ir.ClosedOlympuspr(program, consts)
