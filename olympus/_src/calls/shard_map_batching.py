"""The batching of `shard_map`: which devices compute which elements.

Where `vmap` spreads its elements over axes of the mesh, by `spmd_axis_name` or because
types say it, each device computes some of them: the specs name these axes along the
mapped axis, and the program is batched over the elements that one device has. It must
not look along these axes itself; one that does gets all elements on each device.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from olympus._src.core import avals, dtypes, explicit_shardings, ir, trace
from olympus._src.core.primitive import takes_primitive
from olympus._src.interpreters import ad, batching
from olympus._src.lax import collectives, sharding_constraints
from olympus._src.lax.manual_axes import Manual, manual_of, manual_over
from olympus._src.programs import functions, inner_programs
from olympus._src.sharding.meshes import unknown_axis
from olympus._src.sharding.named import NamedSharding
from olympus._src.sharding.specs import (
    UNCONSTRAINED,
    PartitionSpec,
    axes_of,
    names_of,
)

Dims = Sequence[int | None]


@takes_primitive
def batch(
    p: Any, axis: Any, args: Any, dims: Any, *, jaxpr: Any, **params: Any
) -> tuple[list[Any], list[int | None]]:
    """The rule `shard_map_p.batch`."""
    manual = manual_of(params)
    if manual.checks and axis.name in manual.axes:
        _check_reductions(axis.name, jaxpr.olympuspr)
    names = _mesh_axes_of(axis)
    if axis.spmd_name is not None:
        _check_names(names, manual, params)
    is_automatic = axis.spmd_name is not None and not set(names) & set(manual.axes)
    if is_automatic:
        args = _constrain(args, dims, axis, manual)
    spread = _spread_axes(axis, dims, names, jaxpr.olympuspr, params)
    manual = manual._replace(spread=(*manual.spread, *spread))
    with manual_over(manual):
        within = _axis_within(axis, names, spread, manual)
        batched, out_dims = batching.batch_olympuspr(jaxpr, within, tuple(dims))
    closed, consts = inner_programs.absorb(batched)
    in_specs = [PartitionSpec()] * len(consts) + _with_axis(params, "in", dims, spread)
    params["in_specs"] = tuple(in_specs)
    params["out_specs"] = tuple(_with_axis(params, "out", out_dims, spread))
    params["spread"] = manual.spread
    outs = p.bind(*consts, *args, jaxpr=closed, **params)
    if is_automatic:
        outs = _constrain(outs, out_dims, axis, manual)
    return outs, out_dims


def _check_reductions(name: Any, program: ir.Olympuspr) -> None:
    """Raises ValueError where a program reduces along a name of two meanings.

    Within it the name would be that of the elements, while the types of its values,
    and the specs of its results, say that they are reduced over devices.
    """
    for eqn in program.eqns:
        axes = eqn.primitive.axes
        is_reduction = eqn.primitive in _REDUCTIONS
        if is_reduction and axes is not None and name in axes(**eqn.params):
            raise ValueError(
                f"vmap axis_name: {name!r} is also the name of an axis of the mesh of "
                f"a shard_map in the mapped function, in which {eqn.primitive.name} "
                "reduces over it; rename the axis of the vmap"
            )
        for inner in ir.subprograms(eqn.params):
            _check_reductions(name, inner)


_REDUCTIONS = {
    collectives.psum_invariant_p,
    collectives.pmax_p,
    collectives.pmin_p,
}


def _mesh_axes_of(axis: Any) -> tuple[Any, ...]:
    """The mesh axes over which elements are to be spread."""
    return axis.spmd_name if axis.spmd_name is not None else names_of(axis.entry)


def _check_names(names: tuple[Any, ...], manual: Manual, params: Any) -> None:
    outer = trace.current.manual
    used = _axes_in_specs(params)
    for name in names:
        if name not in manual.mesh.axis_names:
            raise ValueError(unknown_axis("vmap spmd_axis_name", name, manual.mesh))
        if outer is not None and name in outer.all_axes():
            raise ValueError(
                f"vmap spmd_axis_name: {name!r} is an axis along which the program "
                "around is written for one device, so elements cannot be spread over "
                "it; name another axis of the mesh, or none"
            )
        if name in used:
            raise ValueError(
                f"vmap spmd_axis_name: {name!r} cannot appear in in_specs or out_specs "
                "of a shard_map in the mapped function, since elements and parts of "
                f"one cannot both be spread over it, got in_specs {params['in_specs']} "
                f"and out_specs {params['out_specs']}; name another axis of the mesh"
            )


def _axes_in_specs(params: Any) -> set[Any]:
    specs = (*params["in_specs"], *params["out_specs"])
    return {name for spec in specs for name in axes_of(spec.partitions)}


def _spread_axes(
    axis: Any, dims: Dims, names: tuple[Any, ...], program: ir.Olympuspr, params: Any
) -> tuple[Any, ...]:
    """The manual axes over which elements are spread, where they can be."""
    manual = manual_of(params)
    if (
        not names
        or not set(names) <= set(manual.axes)
        or set(names) & _axes_in_specs(params)
        or axis.active is not None
        or all(d is None for d in dims)
    ):
        return ()
    seen = ir.axis_names(program) | _names_in_rules(program, manual)
    if any(name in seen for name in (*names, axis.name)):
        return ()
    count = _count(names, manual)
    if axis.size % count:
        raise ValueError(
            f"vmap spmd_axis_name: the size of the mapped axis must be a multiple of "
            f"the {count} devices along {names}, got {axis.size}; pad it by "
            f"{-axis.size % count}, or leave out spmd_axis_name"
        )
    return names


def _names_in_rules(program: ir.Olympuspr, manual: Manual) -> frozenset[Any]:
    """The axes that rules of users refer to, which derivatives of a program apply."""
    if not _holds_functions(program):
        return frozenset()
    names: frozenset[Any] = program.derived(
        ("names in rules", manual), lambda p: _names_in_derivative(p, manual)
    )
    return names


def _names_in_derivative(program: ir.Olympuspr, manual: Manual) -> frozenset[Any]:
    nonzero = [dtypes.issubdtype(a.dtype, np.inexact) for a in program.in_avals]
    n = sum(nonzero)
    try:
        with manual_over(manual):
            forward, linear, zeros = ad.linearize_olympuspr(program, nonzero)
            is_linear = [False] * (len(linear.in_avals) - n) + [True] * n
            flows = [True] * zeros.count(None)
            back, _ = ad.transpose_olympuspr(linear.olympuspr, is_linear, flows)
    except Exception:  # it is told where the derivative is asked for
        return frozenset(manual.axes)
    programs = forward, linear, back
    return frozenset().union(*[ir.axis_names(p.olympuspr) for p in programs])


def _holds_functions(program: ir.Olympuspr) -> bool:
    return any(
        any(type(value) is functions.Function for value in eqn.params.values())
        or any(map(_holds_functions, ir.subprograms(eqn.params)))
        for eqn in program.eqns
    )


def _count(names: Sequence[Any], manual: Manual) -> int:
    return math.prod([manual.mesh.shape[name] for name in names])


def _axis_within(
    axis: Any, names: tuple[Any, ...], spread: tuple[Any, ...], manual: Manual
) -> Any:
    """The mapped axis in the program of one device."""
    if spread:
        size = axis.size // _count(spread, manual)
        shown = spread if manual.checks else ()
        return batching.AxisData(axis.name, size, manual=shown)
    if set(names) & set(manual.axes):  # which its program cannot place
        return batching.AxisData(axis.name, axis.size, None, axis.active)
    return axis


def _with_axis(
    params: Any, side: str, dims: Dims, names: tuple[Any, ...]
) -> list[PartitionSpec]:
    """The specs of values with a mapped axis, which is spread over some mesh axes."""
    specs = []
    for spec, dim in zip(params[f"{side}_specs"], dims, strict=True):
        entries = list(spec.partitions)
        if dim is not None and (names or dim < len(entries)):
            entries += [None] * (dim - len(entries))
            entries.insert(dim, names)
        specs.append(spec.update(partitions=entries))
    return specs


def _constrain(values: Any, dims: Dims, axis: Any, manual: Manual) -> list[Any]:
    """Values whose mapped axis is spread over automatic axes of the mesh."""
    return [
        x if dim is None else _constrain_one(x, dim, axis, manual)
        for x, dim in zip(values, dims, strict=True)
    ]


def _constrain_one(x: Any, dim: int, axis: Any, manual: Manual) -> Any:
    spec = PartitionSpec(*[UNCONSTRAINED] * (avals.aval_of(x).ndim - 1))
    place = NamedSharding(manual.mesh, spec)
    place = explicit_shardings.with_axis(place, dim, axis.spmd_name)
    return sharding_constraints.constrain(x, place)
