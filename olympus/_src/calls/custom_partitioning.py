"""`custom_partitioning`: a function that the user divides over the devices of a mesh.

Parameters:
  call: the function on whole arrays, which programs of one device apply.
  rules: how it is divided; see `Rules`.
  mapped: for each mapped axis of `vmap`, the innermost first, which operands have it,
    in front of the others; all results do.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from olympus._src.core import ir
from olympus._src.core.primitive import Primitive, as_abstract_says
from olympus._src.interpreters import batching
from olympus._src.lax import families
from olympus._src.lowering import types
from olympus._src.programs import inner_programs

Mapped = tuple[tuple[bool, ...], ...]


class Rules(Protocol):
    """How a function is divided, as its definition says.

    Attributes:
      shown: what a printed program shows of them.
    """

    shown: dict[str, Any]

    def attributes(
        self, mesh: Any, platform: str, avals: tuple[Any, Any], mapped: Mapped
    ) -> tuple[str, str]:
        """The target of a custom call that XLA divides so, and its attributes."""


def _run(call: ir.ClosedOlympuspr) -> Any:
    return lambda *args: ir.eval_olympuspr(call.olympuspr, call.consts, *args)


def _lower(
    ctx: Any, *operands: str, call: ir.ClosedOlympuspr, rules: Rules, mapped: Mapped
) -> Sequence[str]:
    mesh = ctx.module.divided_over
    if mesh is None or mesh.size == 1 or ctx.module.manual is not None:
        return inner_programs.lower_closed(ctx, ctx.block, call, operands)
    avals = ctx.avals_in, ctx.avals_out
    target, attributes = rules.attributes(mesh, ctx.platform, avals, mapped)
    outs: Sequence[str] = ctx.block.op(
        "stablehlo.custom_call",
        operands,
        *avals,
        f"call_target_name = {types.string(target)}, {attributes}",
    )
    return outs


def _batch(
    axis: Any, args: Any, dims: Any, *, call: Any, rules: Rules, mapped: Mapped
) -> Any:
    flags = tuple([d is not None for d in dims])
    args = [
        x if d is None else families.at_front(axis, x, d)
        for x, d in zip(args, dims, strict=True)
    ]
    in_dims = tuple([0 if flag else None for flag in flags])
    batched, out_dims = batching.batch_olympuspr(call, axis, in_dims, True)
    outs = custom_partitioning_p.bind(
        *args, call=batched, rules=rules, mapped=(*mapped, flags)
    )
    return outs, out_dims


def _print(eqn: ir.Eqn) -> Any:
    shown = {"call": eqn.params["call"], **eqn.params["rules"].shown}
    if eqn.params["mapped"]:
        shown["mapped"] = eqn.params["mapped"]
    return sorted(shown.items())


custom_partitioning_p = Primitive(
    "custom_partitioning",
    vary=as_abstract_says,
    multiple_results=True,
    abstract=lambda *avals, call, **params: call.out_avals,
    effects=lambda *avals, call, **params: call.effects,
    impl=lambda *args, call, **params: _run(call)(*args),
    lower=_lower,
    batch=_batch,
    print=_print,
    needs_full_build=True,
)
