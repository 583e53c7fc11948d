"""`roofline`: what a program computes, reads and exchanges on a device, by counting.

Nothing is compiled: the operations of the traced program are counted. See
`sharding.estimate` for the time of a compiled program.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from olympus._src.api import reverse_mode, shard_map, staging
from olympus._src.api.roofline_counts import (
    RooflineResult,
    RooflineRuleContext,
    RooflineShape,
    count_operation,
)
from olympus._src.core import ir, scopes
from olympus._src.foundation import user_warnings


def roofline(
    f: Callable[..., Any],
    mesh: Any = None,
    in_specs: Any = None,
    out_specs: Any = None,
    *,
    pin_lhs_in_vmem: bool = False,
    pin_rhs_in_vmem: bool = False,
    vjp: bool = False,
    print_olympuspr: bool = False,
) -> Callable[..., tuple[Any, RooflineResult]]:
    """Counts what a function computes, reads, writes and exchanges on each device.

    Args:
      f: a function of arrays and pytrees of them.
      mesh: a mesh; `f` is then the program of one device, as in `shard_map`.
      in_specs, out_specs: how arguments and results are divided over it.
      pin_lhs_in_vmem, pin_rhs_in_vmem: whether the left or right operands of
        contractions are kept in fast memory, so that reading them costs nothing.
      vjp: count the backward pass of `f` alone, at a cotangent of each result.
      print_olympuspr: print the program.

    Returns:
      A function of arrays or `ShapeDtypeStruct`s, which returns the shape of the result
      and a `RooflineResult`. A `scan` counts each of its steps, a `while_loop` one, and
      `cond` the branch with most operations.

    Raises:
      ValueError: specs are given without a mesh.

    Example:
      >>> import olympus, olympus.numpy as onp
      >>> from olympus.experimental.roofline import roofline
      >>> x = olympus.ShapeDtypeStruct((8, 4), "float32")
      >>> out, counts = roofline(lambda x: onp.tanh(x @ x.T))(x)
      >>> out.shape, counts.flops, counts.unfused_flops
      ((8, 8), 512, 576)
    """
    if mesh is None and not (in_specs is None and out_specs is None):
        raise ValueError(
            "roofline: in_specs and out_specs require a mesh, got none; pass mesh=, or "
            "leave the specs out"
        )
    if mesh is not None:
        f = shard_map.shard_map(
            f, mesh=mesh, in_specs=in_specs, out_specs=out_specs, check_vma=True
        )

    def count(*args: Any) -> tuple[Any, RooflineResult]:
        out = staging.eval_shape(f, *args)
        program = _backward_program(f, args, out) if vjp else _program(f, args)
        if print_olympuspr:
            print(program)
        counter = _Counter(mesh, mesh is None, pin_lhs_in_vmem, pin_rhs_in_vmem)
        return out, counter.count(program.olympuspr)

    return count


def roofline_and_grad(
    f: Callable[..., Any],
    mesh: Any,
    in_specs: Any,
    out_specs: Any,
    *,
    pin_lhs_in_vmem: bool = False,
    pin_rhs_in_vmem: bool = False,
    print_olympuspr: bool = False,
) -> Callable[..., tuple[Any, RooflineResult, RooflineResult]]:
    """As `roofline`, for the forward and for the backward pass.

    Args:
      f, mesh, in_specs, out_specs, pin_lhs_in_vmem, pin_rhs_in_vmem, print_olympuspr:
        as for `roofline`.

    Returns:
      A function that returns the shape of the result and two `RooflineResult`s.

    Example:
      >>> import olympus, olympus.numpy as onp
      >>> from olympus.experimental.roofline import roofline_and_grad
      >>> count = roofline_and_grad(lambda x: x @ x.T, None, None, None)
      >>> x = olympus.ShapeDtypeStruct((8, 4), "float32")
      >>> out, forward, backward = count(x)
      >>> forward.flops, backward.flops
      (512, 1024)
    """
    options: Any = {
        "pin_lhs_in_vmem": pin_lhs_in_vmem,
        "pin_rhs_in_vmem": pin_rhs_in_vmem,
        "print_olympuspr": print_olympuspr,
    }
    forward = roofline(f, mesh, in_specs, out_specs, **options)
    backward = roofline(f, mesh, in_specs, out_specs, vjp=True, **options)

    def count(*args: Any) -> tuple[Any, RooflineResult, RooflineResult]:
        out, counts = forward(*args)
        return out, counts, backward(*args)[1]

    return count


def _program(f: Any, args: Any) -> ir.ClosedOlympuspr:
    program: ir.ClosedOlympuspr = staging.make_olympuspr(f)(*args)
    return program


def _backward_program(f: Any, args: Any, out: Any) -> ir.ClosedOlympuspr:
    """The pullback as a program of what the forward pass keeps, and a cotangent."""
    pullback = staging.eval_shape(lambda *xs: reverse_mode.vjp(f, *xs)[1], *args)
    return _program(lambda pull, ct: pull(ct), (pullback, out))


class _Counter:
    """Counts the operations of a program for one device.

    Args:
      mesh: the mesh of exchanges, or None.
      is_of_device: whether values are those of one device; else they are whole, and no
        memory is counted.
      pin_lhs_in_vmem, pin_rhs_in_vmem: as for `roofline`.
    """

    def __init__(
        self,
        mesh: Any,
        is_of_device: bool,
        pin_lhs_in_vmem: bool,
        pin_rhs_in_vmem: bool,
    ) -> None:
        self.mesh = mesh
        self.is_of_device = is_of_device
        self.pins = {
            "pin_lhs_in_vmem": pin_lhs_in_vmem,
            "pin_rhs_in_vmem": pin_rhs_in_vmem,
        }

    def count(self, program: ir.Olympuspr) -> RooflineResult:
        """What the operations of a program do."""
        last = {v: i for i, eqn in enumerate(program.eqns) for v in _variables(eqn)}
        last.update(dict.fromkeys(filter(_is_variable, program.outvars), -1))
        alive = set(filter(_is_variable, program.invars + program.constvars))
        total = self._peak_of(alive)
        for i, eqn in enumerate(program.eqns):
            total += self._count_equation(eqn)
            alive.update(eqn.outvars)
            alive -= {
                v for v in (*_variables(eqn), *eqn.outvars) if last.get(v, i) == i
            }
            total += self._peak_of(alive)
        return total

    def _peak_of(self, alive: set[Any]) -> RooflineResult:
        n = RooflineShape.total_bytes([v.aval for v in alive])
        return RooflineResult(peak_hbm_bytes=n if self.is_of_device else 0)

    def _count_equation(self, eqn: ir.Eqn) -> RooflineResult:
        name, params = eqn.primitive.name, eqn.params
        if name == "cond":
            branches = [self.count(b.olympuspr) for b in params["branches"]]
            return max(branches, key=lambda r: (r.flops, r.unfused_flops))
        if name == "shard_map":
            inner = _Counter(params["mesh"], True, **self.pins)
            return inner.count(params["jaxpr"].olympuspr)
        programs = list(ir.subprograms(params))
        if name in ("scan", "counted_scan"):
            return self.count(programs[0]).repeated(params["length"])
        if programs and not name.startswith("reduce"):
            return sum(map(self.count, programs), RooflineResult.zeros())
        counted = count_operation(self._context(eqn), params)
        if counted is None:
            user_warnings.warn(
                f"roofline: nothing is counted of {name}, which has no rule; write one "
                "with register_roofline"
            )
            return RooflineResult.zeros()
        return counted

    def _context(self, eqn: ir.Eqn) -> RooflineRuleContext:
        return RooflineRuleContext(
            name_stack=scopes.names(eqn.scope),
            primitive=eqn.primitive,
            avals_in=[v.aval for v in eqn.invars],
            avals_out=[v.aval for v in eqn.outvars],
            olympuspr_eqn_ctx=eqn,
            mesh=self.mesh,
            **self.pins,
        )


def _is_variable(v: Any) -> bool:
    return type(v) is ir.Var


def _variables(eqn: ir.Eqn) -> list[Any]:
    return [v for v in eqn.invars if _is_variable(v)]
