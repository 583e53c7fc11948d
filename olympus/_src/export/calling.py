"""`call_exported`: an exported program as an operation.

Operands are the program's constants, then the leaves of its arguments. Its reverse
derivative is the program that was exported with it; where that has one as well, forward
derivatives follow from the two.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from olympus._src import tree
from olympus._src.control_flow import loops
from olympus._src.core import avals as avals_
from olympus._src.core import dtypes, ir, sizes
from olympus._src.core.primitive import Primitive, takes_primitive
from olympus._src.core.symbolic_values import Zero
from olympus._src.export import checks, divisions, portable_modules, symbolic_calls
from olympus._src.interpreters import ad, concrete_arrays, partial_eval
from olympus._src.lax import families
from olympus._src.lowering import module, types
from olympus._src.programs import call_rules, inner_programs

_INDEX = avals_.ShapedArray((), np.dtype(np.int32))


def call(exported: Any, args: Any, kwargs: Any) -> Any:
    """Applies an `Exported` to arguments."""
    leaves, structure = tree.tree_flatten((args, kwargs))
    if structure != exported.in_tree:
        raise ValueError(_structure_message(exported, structure))
    _check_types(exported, leaves, (args, kwargs))
    return exported.out_tree.unflatten(call_flat(exported, leaves))


def call_flat(exported: Any, leaves: Sequence[Any], mesh: Any = None) -> list[Any]:
    """Applies an `Exported` to leaves that were checked.

    Args:
      exported: the program.
      leaves: of its arguments.
      mesh: the devices of a program of several, where the arguments do not say; None
        for the mesh that is set.
    """
    mesh = divisions.mesh_of_context(exported) if mesh is None else mesh
    return call_exported_p.bind(
        *exported.constants, *leaves, exported=exported, mesh=mesh
    )


# -- arguments -------------------------------------------------------------------------


def _structure_message(exported: Any, structure: Any) -> str:
    lines = []
    for mismatch in tree.treedef_errors(exported.in_tree, structure):
        where = _format_path(mismatch.path)
        says = mismatch.says.replace("{0}", f"{where} as exported")
        lines.append(says.replace("{1}", f"{where} as called"))
    return (
        f"Exported.call: arguments must have the same pytree structure as when "
        f"{exported.fun_name!r} was exported, {exported.in_tree}, got {structure}"
        + "".join([f"\n  - {line}" for line in lines])
    )


def _format_path(path: Any) -> str:
    """How users write a path in `(args, kwargs)`: `args[0]`, `kwargs['y']`."""
    if not path:
        return "(args, kwargs)"
    return ("args", "kwargs")[path[0].idx] + tree.keystr(path[1:])


def _check_types(exported: Any, leaves: Sequence[Any], tree_: Any) -> None:
    for i, (x, expected) in enumerate(zip(leaves, exported.in_avals, strict=True)):
        actual = avals_.aval_of(x)
        if actual is expected or _fits(actual, expected):
            continue
        what = "shape" if actual.dtype == expected.dtype else "dtype"
        what = "rank" if actual.ndim != expected.ndim else what
        raise ValueError(
            f"Exported.call: {argument_paths(tree_)[i]} of {exported.fun_name!r} must "
            f"be of the exported type {expected.short()}, got {actual.short()} "
            f"({what.capitalize()} mismatch); convert the argument, or export the "
            "function for this type"
        )
    if not symbolic_calls.are_known(exported.in_avals):
        shapes = [avals_.aval_of(x).shape for x in leaves]
        symbolic_calls.solve_dimensions(exported, shapes, argument_paths(tree_))


def _fits(actual: Any, expected: Any) -> bool:
    """Whether types agree; symbolic sizes are not yet looked at."""
    if actual.dtype != expected.dtype or actual.ndim != expected.ndim:
        return False
    pairs = zip(actual.shape, expected.shape, strict=True)
    return all(sizes.is_symbolic(w) or g == w for g, w in pairs)


def argument_paths(args_kwargs: Any) -> list[str]:
    """How users write each leaf."""
    return [
        _format_path(path) for path, _ in tree.tree_flatten_with_path(args_kwargs)[0]
    ]


# -- the operation ---------------------------------------------------------------------


def _abstract(*avals: Any, exported: Any, mesh: Any) -> Any:
    return _out_avals(exported, avals[len(exported.constants) :])


def _out_avals(exported: Any, avals: Sequence[Any]) -> list[Any]:
    """The types of the results for types of the arguments, and whatever follows."""
    shapes = [a.shape for a in avals[: len(exported.in_avals)]]
    return symbolic_calls.with_values(
        exported.out_avals, symbolic_calls.solve_dimensions(exported, shapes)
    )


def _effects(*avals: Any, exported: Any, mesh: Any) -> Any:
    return frozenset((*exported.ordered_effects, *exported.unordered_effects))


def _shard(outs: Any, *avals: Any, exported: Any, mesh: Any) -> Any:
    """What explicit axes divide: results are as the program was exported with."""
    axes = next(a.explicit.mesh for a in avals if getattr(a, "explicit", None))
    _, named = divisions.shardings_of(exported)
    return [divisions.spec_of_result(sharding, axes) for sharding in named]


def _lower(ctx: Any, *operands: str, exported: Any, mesh: Any) -> list[str]:
    checks.check_platform(exported, ctx.platform)
    divisions.check_devices(exported, ctx.module)
    functions = portable_modules.functions(exported.program_serialized)
    checks.check_targets(exported, functions.targets)
    n = len(exported.constants)
    kept_positions = [*range(n), *[n + i for i in exported.module_kept_var_idx]]
    operand_avals = [*map(avals_.aval_of, exported.constants), *exported.in_avals]
    constrain = divisions.constraining(ctx, exported, functions)
    ins, out_shardings = divisions.shardings_of(exported)
    shardings = [*[None] * n, *ins]
    values = [
        ctx.block.convert(
            constrain(operands[i], ctx.avals_in[i], shardings[i]),
            ctx.avals_in[i],
            operand_avals[i],
        )
        for i in kept_positions
    ]
    in_types = [types.tensor_type(operand_avals[i]) for i in kept_positions]
    out_types = [types.tensor_type(a) for a in exported.out_avals]
    if not symbolic_calls.are_known(exported.in_avals):
        ctx.module.has_dynamic_calls = True
    tokens = [types.token_type()] * len(exported.ordered_effects)
    values = [*[ctx.block.tokens[e] for e in exported.ordered_effects], *values]
    in_types, out_types = tokens + in_types, tokens + out_types
    if exported.uses_global_constants and len(exported.platforms) > 1:
        place = checks.platform_number(exported, ctx.platform)
        values = [ctx.block.constant(place, _INDEX), *values]
        in_types = [types.tensor_type(_INDEX), *in_types]
    _check_module(exported, functions, in_types, out_types)
    divisions.check_meshes(exported, functions)
    name = f"call_exported_{exported.fun_name}"
    symbol = ctx.module.splice(functions.texts, name, functions.meshes)
    outs = ctx.block.emit_many(
        f"func.call @{symbol}({', '.join(values)}) : ({', '.join(in_types)}) -> "
        f"({', '.join(out_types)})",
        len(out_types),
    )
    ctx.block.tokens.update(zip(exported.ordered_effects, outs, strict=False))
    rows = zip(
        outs[len(tokens) :],
        exported.out_avals,
        ctx.avals_out,
        out_shardings,
        strict=True,
    )
    return [
        constrain(ctx.block.convert(x, inner, aval), aval, sharding)
        for x, inner, aval, sharding in rows
    ]


def _check_module(
    exported: Any, functions: Any, in_types: list[str], out_types: list[str]
) -> None:
    """Raises ValueError unless the module has the types that its record says."""
    if (functions.in_types, functions.out_types) != (in_types, out_types):
        raise ValueError(
            f"Exported.call: the module of {exported.fun_name!r} must take "
            f"{in_types} and return {out_types}, got one that takes "
            f"{functions.in_types} and returns {functions.out_types}; export the "
            "function again"
        )


def _jvp(primals: Any, tangents: Any, *, exported: Any, mesh: Any) -> Any:
    outs = call_exported_p.bind(*primals, exported=exported, mesh=mesh)
    args, nonzero = primals[len(exported.constants) :], []
    slopes = []
    for i, t in enumerate(tangents[len(exported.constants) :]):
        if type(t) is not Zero:
            nonzero.append(i)
            slopes.append(t)
    if not nonzero:
        return outs, [Zero(avals_.aval_of(x).to_tangent()) for x in outs]
    out_slopes = exported_tangent_p.bind(
        *args, *slopes, exported=exported, moving=tuple(nonzero), mesh=mesh
    )
    avals = list(map(avals_.aval_of, outs))
    return outs, call_rules.fill_zeros(list(map(_varies, avals)), out_slopes, avals)


def _varies(aval: Any) -> bool:
    return aval.to_tangent().dtype != dtypes.float0


@takes_primitive
def _loop_batch(p: Primitive, axis: Any, args: Any, dims: Any, /, **params: Any) -> Any:
    """A batching rule: the operation for one element after another."""
    mapped = [
        families.at_front(axis, x, d)
        for x, d in zip(args, dims, strict=True)
        if d is not None
    ]

    def step(elements: Any) -> Any:
        values = inner_programs.fill_mapped(args, dims, elements)
        return p.bind(*values, **params)

    outs = loops.map_(step, mapped)
    return outs, [0] * len(outs)


call_exported_p = Primitive(
    "call_exported",
    multiple_results=True,
    abstract=_abstract,
    effects=_effects,
    lower=_lower,
    jvp=_jvp,
    shard=_shard,
    print=lambda eqn: [("exported", eqn.params["exported"].fun_name)],
    needs_full_build=True,
    batch=_loop_batch,
)


# -- its derivative --------------------------------------------------------------------
#
# `exported_tangent` maps tangents of the arguments whose numbers are in `moving` to
# those of the results that have tangents. Operands are the arguments, then tangents.


def _tangent_abstract(*avals: Any, exported: Any, moving: Any, mesh: Any) -> Any:
    return [a.to_tangent() for a in _out_avals(exported, avals) if _varies(a)]


def _no_tangent(aval: Any) -> Any:
    return families.no_values(aval.shape)


def _as_cotangents(out_avals: Any, values: Any) -> list[Any]:
    """A cotangent for each result, where `values` has those that are not float0."""
    remaining = iter(values)
    return [next(remaining) if _varies(a) else _no_tangent(a) for a in out_avals]


def _tangent_transpose(
    cts: Any, *args: Any, exported: Any, moving: Any, mesh: Any
) -> Any:
    n = len(exported.in_avals)
    nonzero_cts = [families.instantiate(ct) for ct in cts]
    outs = _out_avals(exported, [avals_.aval_of(x) for x in args[:n]])
    in_cts = call_flat(
        exported.vjp(), [*args[:n], *_as_cotangents(outs, nonzero_cts)], mesh
    )
    return [None] * n + [in_cts[i] for i in moving]


def _tangent_impl(*args: Any, exported: Any, moving: Any, mesh: Any) -> Any:
    """The transpose of the reverse derivative, which is linear in the cotangents."""
    reverse = exported.vjp()
    if not reverse.has_vjp():
        raise TypeError(
            f"Exported.call: the forward derivative (jvp) of {exported.fun_name!r} "
            "needs two reverse derivatives, got one; serialize with vjp_order=2, or "
            "use reverse derivatives (grad, vjp) only"
        )
    n = len(exported.in_avals)
    slopes = dict(zip(moving, args[n:], strict=True))
    tangents = [
        slopes.get(i, families.instantiate(Zero(a.to_tangent())))
        if _varies(a)
        else _no_tangent(a)
        for i, a in enumerate(map(avals_.aval_of, args[:n]))
    ]
    outs = _out_avals(exported, [avals_.aval_of(x) for x in args[:n]])
    zeros = [families.instantiate(Zero(a.to_tangent())) for a in outs if _varies(a)]
    cotangents = _as_cotangents(outs, zeros)
    results = call_flat(reverse.vjp(), [*args[:n], *cotangents, *tangents], mesh)
    return [
        x for x, a in zip(results[n:], exported.out_avals, strict=True) if _varies(a)
    ]


def _tangent_lower(ctx: Any, *operands: str, **params: Any) -> list[str]:
    info = ir.DebugInfo("lowering", "exported_tangent")
    program, consts = partial_eval.trace_to_olympuspr(
        lambda *xs: _tangent_impl(*xs, **params), ctx.avals_in, info
    )
    program = partial_eval.expand(program, ctx.platform, divisible=True)
    values = [
        np.asarray(concrete_arrays.storage_of(concrete_arrays.as_array(c)))
        for c in consts
    ]
    names = [
        ctx.block.constant(c, v.aval)
        for c, v in zip(values, program.constvars, strict=True)
    ]
    return module.lower_program(ctx.module, ctx.block, program, names, operands)


def _tangent_jvp(primals: Any, tangents: Any, **params: Any) -> Any:
    return ad.jvp(lambda *xs: _tangent_impl(*xs, **params), primals, list(tangents))


def _print_tangent(eqn: ir.Eqn) -> Any:
    params = eqn.params
    return [("exported", params["exported"].fun_name), ("moving", params["moving"])]


exported_tangent_p = Primitive(
    "exported_tangent",
    multiple_results=True,
    abstract=_tangent_abstract,
    impl=_tangent_impl,
    lower=_tangent_lower,
    jvp=_tangent_jvp,
    transpose=_tangent_transpose,
    print=_print_tangent,
    needs_full_build=True,
    batch=_loop_batch,
)
