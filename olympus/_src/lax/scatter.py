"""Scatters: an array with windows at computed positions written or combined."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from olympus._src.core import avals, ir
from olympus._src.core.primitive import (
    LateRule,
    Primitive,
    keep_program,
    missing_rule,
    takes_primitive,
)
from olympus._src.core.sizes import is_constant_shape
from olympus._src.core.symbolic_values import Linear, Zero
from olympus._src.lax import elementwise, families, gather, shaping, sharding_rules
from olympus._src.lax.families import ShapedArray
from olympus._src.lax.gather import (
    CLIP,
    FILL_OR_DROP,
    GatherDimensionNumbers,
)
from olympus._src.lowering import module, partitioning, types

# -- types -----------------------------------------------------------------------------


def _window_dims(dn: Any, rank: int) -> list[int]:
    """The operand's axes that windows extend along."""
    left_out = (*dn.inserted_window_dims, *dn.operand_batching_dims)
    return [d for d in range(rank) if d not in left_out]


def window_sizes(dn: Any, operand: Any, updates: Any) -> list[int]:
    """The size of a window along each axis of the operand."""
    sizes = [1] * operand.ndim
    for d, u in zip(_window_dims(dn, operand.ndim), dn.update_window_dims, strict=True):
        sizes[d] = updates.shape[u]
    return sizes


def _abstract_as(name: str) -> Callable[..., Any]:
    def abstract(
        operand: Any,
        indices: Any,
        updates: Any,
        *,
        dimension_numbers: Any,
        update_jaxpr: Any = None,
        **_: Any,
    ) -> Any:
        where = f"lax.{name}"
        dn = dimension_numbers
        gather.check_numbers(
            where,
            operand,
            indices,
            (
                ("inserted_window_dims", dn.inserted_window_dims),
                ("scatter_dims_to_operand_dims", dn.scatter_dims_to_operand_dims),
                ("operand_batching_dims", dn.operand_batching_dims),
                ("scatter_indices_batching_dims", dn.scatter_indices_batching_dims),
            ),
        )
        families.common_dtype(name, (operand, updates))
        _check_update(where, operand, update_jaxpr)
        window = _window_dims(dn, operand.ndim)
        outer = indices.ndim - 1
        if len(window) != len(dn.update_window_dims) or (
            updates.ndim != outer + len(window)
        ):
            raise TypeError(
                f"{where}: updates must have {outer + len(window)} axes, {outer} of "
                f"the indices and {len(window)} of the window, got {updates.short()}, "
                f"{indices.short()} and {dn}"
            )
        outer_sizes = [
            s for d, s in enumerate(updates.shape) if d not in dn.update_window_dims
        ]
        sizes = window_sizes(dn, operand, updates)
        too_large = any(s > t for s, t in zip(sizes, operand.shape, strict=True))
        if tuple(outer_sizes) != indices.shape[:-1] or (too_large and updates.size):
            raise TypeError(
                f"{where}: updates must have the indices' sizes {indices.shape[:-1]} "
                f"outside windows that fit in {operand.short()}, got {updates.short()}"
            )
        return operand

    return abstract


def _check_update(where: str, operand: Any, body: Any) -> None:
    """Refuses a program of two scalars that are not the operand's elements."""
    if body is None:
        return
    kinds = [a.dtype for a in (*body.in_avals, *body.out_avals)]
    if any(kind != operand.dtype for kind in kinds):
        raise TypeError(
            f"{where}: update_jaxpr must be of elements of {operand.short()}, got "
            f"{body.in_avals} -> {body.out_avals}"
        )


# -- lowering --------------------------------------------------------------------------


def _attributes(dn: Any, index_dim: int, is_sorted: bool, is_unique: bool) -> str:
    lists = types.int_list
    batching = ""
    if dn.operand_batching_dims:
        batching = (
            f"input_batching_dims = {lists(dn.operand_batching_dims)}, "
            "scatter_indices_batching_dims = "
            f"{lists(dn.scatter_indices_batching_dims)}, "
        )
    return (
        "scatter_dimension_numbers = #stablehlo.scatter<"
        f"update_window_dims = {lists(dn.update_window_dims)}, "
        f"inserted_window_dims = {lists(dn.inserted_window_dims)}, {batching}"
        "scatter_dims_to_operand_dims = "
        f"{lists(dn.scatter_dims_to_operand_dims)}, index_vector_dim = {index_dim}>, "
        f"indices_are_sorted = {'true' if is_sorted else 'false'}, "
        f"unique_indices = {'true' if is_unique else 'false'}"
    )


def _lower(
    ctx: Any,
    x: str,
    indices: str,
    updates: str,
    *,
    dimension_numbers: Any,
    indices_are_sorted: bool,
    unique_indices: bool,
    mode: Any,
    update_jaxpr: Any,
    update_consts: Any,
) -> str:
    (aval, index_aval, update_aval), (out,) = ctx.avals_in, ctx.avals_out
    dn = dimension_numbers
    if not update_aval.size or not out.size:
        return x
    indices, index_aval = gather.emit_whole_bytes(ctx, indices, index_aval)
    avals_in = (aval, index_aval, update_aval)
    x, indices, updates = _divide_rightly(ctx, (x, indices, updates), avals_in, dn)
    if all(n == 1 for n in index_aval.shape[:-1]):
        x = _keep_from_slices(ctx, x, aval)
    if mode is CLIP and dn.scatter_dims_to_operand_dims:
        sizes = window_sizes(dn, aval, update_aval)
        last = gather.limits(
            aval.shape, sizes, dn.scatter_dims_to_operand_dims, index_aval.dtype
        )
        indices = gather.emit_clamp(ctx, indices, index_aval, last)
        indices = partitioning.hide(ctx, indices, index_aval)
    storage = families.storage(aval)
    extra = range(update_aval.ndim, update_aval.ndim + storage.ndim - aval.ndim)
    storage_numbers = dn._replace(update_window_dims=(*dn.update_window_dims, *extra))
    scalar = ShapedArray((), storage.dtype)
    inner = ctx.block.inner()
    names = inner.arguments([scalar, scalar])
    combined = names[1:]
    if update_jaxpr is not None:
        combined = module.lower_program(
            ctx.module, inner, update_jaxpr, update_consts, names
        )
    region = inner.region(names, [scalar, scalar], combined, [scalar])
    result = ctx.block.op1(
        "stablehlo.scatter",
        [x, indices, updates],
        [aval, index_aval, update_aval],
        out,
        _attributes(
            storage_numbers, index_aval.ndim - 1, indices_are_sorted, unique_indices
        ),
        [region],
    )
    return partitioning.keep_whole(ctx, result, out, _axes_kept_whole(ctx, out, dn))


def _keep_from_slices(ctx: Any, x: str, aval: Any) -> str:
    """An array that XLA does not look through, for a scatter of a single window.

    XLA writes it as a slice that is combined and put back, and adds the position of the
    slice to one that the array itself is a slice from, without moving it inside (jaxlib
    0.10). Most such scatters are other operations, by `single_windows.update_instead`.
    """
    kind = types.tensor_type(aval)
    return str(ctx.block.emit(f"stablehlo.optimization_barrier {x} : {kind}"))


def _divide_rightly(
    ctx: Any, names: Sequence[str], avals_in: Sequence[Any], dn: Any
) -> list[str]:
    """Operands, of which each device holds whole what XLA divides wrongly."""
    whole = [_axes_kept_whole(ctx, aval, dn) for aval in avals_in]
    vector = avals_in[1].ndim - 1
    if vector not in whole[1]:
        whole[1] = [*whole[1], vector]
    rows = zip(names, avals_in, whole, strict=True)
    return [partitioning.keep_whole(ctx, *row) for row in rows]


def _axes_kept_whole(ctx: Any, aval: Any, dn: Any) -> Sequence[int]:
    """The axes of an operand or a result that XLA must not divide.

    They are all in scatters with batch axes. Else they are those whose parts may differ
    in size: where XLA pads parts of the updates or of the indices it combines the
    padding as well, or ends the process for indices of 64 bits.
    """
    if dn.operand_batching_dims:
        return range(aval.ndim)
    return partitioning.uneven_axes(ctx, aval)


# -- batching --------------------------------------------------------------------------


@takes_primitive
def batch_scatter(
    p: Primitive,
    axis: Any,
    args: Any,
    dims: Any,
    *,
    dimension_numbers: Any,
    **params: Any,
) -> Any:
    """The batching rule of scatters."""
    x, indices, updates = args
    x = families.at_front(axis, x, dims[0])
    updates = families.at_front(axis, updates, dims[2])
    mapped = dims[1] is not None
    dn = gather.shift_dimension_numbers(
        dimension_numbers, x_mapped=True, indices_mapped=mapped
    )
    window = tuple([d + 1 for d in dimension_numbers.update_window_dims])
    if mapped:
        indices = families.move_axis(indices, dims[1], 0)
    else:
        window = (0, *window)
    out = p.bind(
        x,
        indices,
        updates,
        dimension_numbers=dn._replace(update_window_dims=window),
        **params,
    )
    return out, 0


# -- derivatives -----------------------------------------------------------------------


def _gather_numbers(dn: Any) -> GatherDimensionNumbers:
    return GatherDimensionNumbers(*dn)


def _read(
    source: Any, indices: Any, operand: Any, updates: Any, params: Any, fill: Any = 0
) -> Any:
    """What `source`, an array like the operand, holds where updates go."""
    dn = params["dimension_numbers"]
    return gather.gather(
        source,
        indices,
        _gather_numbers(dn),
        window_sizes(dn, operand, updates),
        unique_indices=params["unique_indices"],
        indices_are_sorted=params["indices_are_sorted"],
        mode=params["mode"],
        fill_value=fill if params["mode"] is FILL_OR_DROP else None,
    )


def _aval(x: Any) -> Any:
    return x.aval if type(x) is Linear else avals.aval_of(x)


@takes_primitive
def _add_jvp(p: Primitive, primals: Any, tangents: Any, **params: Any) -> Any:
    x, indices, updates = primals
    out = p.bind(x, indices, updates, **params)
    tx, _, tu = tangents
    if type(tx) is Zero and type(tu) is Zero:
        return out, Zero(avals.aval_of(out).to_tangent())
    parts = (families.instantiate(tx), indices, families.instantiate(tu))
    return out, p.bind(*parts, **params)


def _add_transpose(sign: Any) -> Callable[..., Any]:
    def transpose(cts: Any, x: Any, indices: Any, updates: Any, **params: Any) -> Any:
        (ct,) = cts
        if type(ct) is Zero:
            return _zeros(x, updates)
        for_updates = None
        if type(updates) is Linear:
            got = _read(ct, indices, _aval(x), updates.aval, params)
            for_updates = sign(got)
        return [ct if type(x) is Linear else None, None, for_updates]

    return transpose


def _zeros(x: Any, updates: Any) -> Any:
    return [
        Zero(x.aval) if type(x) is Linear else None,
        None,
        Zero(updates.aval) if type(updates) is Linear else None,
    ]


def _mul_jvp(primals: Any, tangents: Any, **params: Any) -> Any:
    x, indices, updates = primals
    tx, _, tu = tangents
    out = scatter_mul_p.bind(x, indices, updates, **params)
    total: Any = Zero(avals.aval_of(out).to_tangent())
    if type(tx) is not Zero:
        total = scatter_mul_p.bind(tx, indices, updates, **params)
    if type(tu) is not Zero:
        if not params["unique_indices"]:
            raise NotImplementedError(
                "lax.scatter_mul: the derivative with respect to updates needs "
                "distinct positions; give unique_indices=True if they are"
            )
        old = _read(x, indices, avals.aval_of(x), avals.aval_of(updates), params)
        change = elementwise.mul(old, tu)
        total = _accumulate(families.instantiate(total), indices, change, params)
    return out, total


def _mul_transpose(cts: Any, x: Any, indices: Any, updates: Any, **params: Any) -> Any:
    (ct,) = cts
    if type(ct) is Zero:
        return _zeros(x, updates)
    if type(x) is Linear:
        return [scatter_mul_p.bind(ct, indices, updates, **params), None, None]
    if not params["unique_indices"]:
        raise NotImplementedError(
            "lax.scatter_mul: the transpose with respect to updates needs distinct "
            "positions; give unique_indices=True if they are"
        )
    old, slope = (_read(v, indices, _aval(x), updates.aval, params) for v in (x, ct))
    return [None, None, elementwise.mul(old, slope)]


def _combine(p: Primitive, x: Any, indices: Any, updates: Any, params: Any) -> Any:
    """The scatter `p` with the positions of another scatter."""
    other_params = {k: v for k, v in params.items() if not k.startswith("update_")}
    program = update_program(p, avals.aval_of(x).dtype)
    return p.bind(
        x, indices, updates, update_jaxpr=program, update_consts=(), **other_params
    )


def _accumulate(x: Any, indices: Any, updates: Any, params: Any) -> Any:
    return _combine(scatter_add_p, x, indices, updates, params)


def _as_number(flags: Any, like: Any) -> Any:
    return elementwise.convert(flags, avals.aval_of(like).dtype)


@takes_primitive
def _extreme_jvp(p: Primitive, primals: Any, tangents: Any, **params: Any) -> Any:
    """Elements equal to the result share its tangent."""
    x, indices, updates = primals
    out = p.bind(x, indices, updates, **params)
    tx, _, tu = tangents
    if type(tx) is Zero and type(tu) is Zero:
        return out, Zero(avals.aval_of(out).to_tangent())
    numbers = _extreme_at_updates if _has_few(x, updates, params) else _extreme_overall
    return out, numbers(out, x, indices, updates, tx, tu, params)


_FEW = 4  # updates are few if the operand has so many times their elements


def _has_few(x: Any, updates: Any, params: Any) -> bool:
    """Whether a derivative takes less time on updates than on the whole operand."""
    if params["unique_indices"]:
        return True
    shapes = avals.aval_of(x).shape, avals.aval_of(updates).shape
    if not all(map(is_constant_shape, shapes)):
        return False
    size, update_size = map(math.prod, shapes)
    return update_size * _FEW <= size


def _extreme_overall(
    out: Any, x: Any, indices: Any, updates: Any, tx: Any, tu: Any, params: Any
) -> Any:
    """The tangent by sums of the operand's size."""
    read = _read(out, indices, avals.aval_of(x), avals.aval_of(updates), params)
    stays = _as_number(elementwise.eq(x, out), out)
    arrives = _as_number(elementwise.eq(updates, read), out)
    count = _accumulate(stays, indices, arrives, params)
    tangent_sum = _accumulate(
        elementwise.mul(stays, families.instantiate(tx)),
        indices,
        elementwise.mul(arrives, families.instantiate(tu)),
        params,
    )
    return elementwise.div(tangent_sum, count)


def _extreme_at_updates(
    out: Any, x: Any, indices: Any, updates: Any, tx: Any, tu: Any, params: Any
) -> Any:
    """The tangent by numbers of the updates' size; elsewhere it stays as it is."""
    aval, update_aval = avals.aval_of(x), avals.aval_of(updates)

    def read(source: Any) -> Any:
        return _read(source, indices, aval, update_aval, params)

    extreme = read(out)
    stays = _as_number(elementwise.eq(read(x), extreme), out)
    arrives = _as_number(elementwise.eq(updates, extreme), out)
    arrivals = arrives
    if not params["unique_indices"]:
        nothing = shaping.full(aval.shape, 0, aval.dtype)
        arrivals = read(_accumulate(nothing, indices, arrives, params))
    count = elementwise.add(stays, arrivals)
    total = families.instantiate(tx)
    if type(tx) is not Zero:
        factor = elementwise.div(stays, count)
        if not params["unique_indices"]:  # one update stands for all of its position
            _, won = _find_winners(x, indices, updates, params)
            factor = elementwise.select(won, factor, np.ones((), aval.dtype)[()])
        total = _combine(scatter_mul_p, total, indices, factor, params)
    if type(tu) is Zero:
        return total
    share = elementwise.div(arrives, count)
    return _accumulate(total, indices, elementwise.mul(tu, share), params)


def _set_jvp(primals: Any, tangents: Any, **params: Any) -> Any:
    x, indices, updates = primals
    tx, _, tu = tangents
    out = scatter_p.bind(x, indices, updates, **params)
    if type(tx) is Zero and type(tu) is Zero:
        return out, Zero(avals.aval_of(out).to_tangent())
    if params["update_jaxpr"] is not None:
        raise missing_rule(scatter_p, "jvp")
    if params["unique_indices"] or type(tu) is Zero:
        tx, tu = families.instantiate(tx), families.instantiate(tu)
        return out, scatter_p.bind(tx, indices, tu, **params)
    return out, _set_tangent(x, indices, updates, tx, tu, params)


def _set_tangent(
    x: Any, indices: Any, updates: Any, tx: Any, tu: Any, params: Any
) -> Any:
    """The tangent where positions may repeat: numbers tell which update has won."""
    winner, won = _find_winners(x, indices, updates, params)
    zero = np.zeros((), avals.aval_of(x).dtype)[()]
    arrives = elementwise.select(won, families.instantiate(tu), zero)
    untouched = elementwise.eq(winner, np.uint32(0))
    stays = elementwise.select(untouched, families.instantiate(tx), zero)
    return _accumulate(stays, indices, arrives, params)


def _find_winners(x: Any, indices: Any, updates: Any, params: Any) -> tuple[Any, Any]:
    """One update for each position: its number plus one, and whether updates are it."""
    aval, update_aval = _aval(x), _aval(updates)
    count = shaping.iota(np.uint32, update_aval.size)
    numbers = shaping.reshape(elementwise.add(count, np.uint32(1)), update_aval.shape)
    nobody = shaping.full(aval.shape, 0, np.uint32)
    winner = _combine(scatter_p, nobody, indices, numbers, params)
    read = _read(winner, indices, aval, update_aval, params)
    return winner, elementwise.eq(read, numbers)


def _set_transpose(cts: Any, x: Any, indices: Any, updates: Any, **params: Any) -> Any:
    (ct,) = cts
    if type(ct) is Zero:
        return _zeros(x, updates)
    update_aval = _aval(updates)
    for_x = for_updates = None
    if type(x) is Linear:
        hole = shaping.full(update_aval.shape, 0, update_aval.dtype)
        for_x = scatter_p.bind(ct, indices, hole, **params)
    if type(updates) is Linear:
        for_updates = _read(ct, indices, _aval(x), update_aval, params)
        if not params["unique_indices"]:
            _, won = _find_winners(x, indices, updates, params)
            zero = np.zeros((), update_aval.dtype)[()]
            for_updates = elementwise.select(won, for_updates, zero)
    return [for_x, None, for_updates]


# -- meaning in NumPy ------------------------------------------------------------------


def _reference_as(combine: Callable[[Any, Any], Any]) -> Callable[..., Any]:
    def reference(
        x: Any,
        indices: Any,
        updates: Any,
        *,
        dimension_numbers: Any,
        mode: Any,
        **_: Any,
    ) -> Any:
        dn = dimension_numbers
        left_out = (*dn.inserted_window_dims, *dn.operand_batching_dims)
        sizes = window_sizes(dn, x, updates)
        last = [d - s for d, s in zip(x.shape, sizes, strict=True)]
        out = np.array(x)
        for place, start, _ in gather.windows(dn, x.ndim, left_out, indices):
            if mode is CLIP:
                start = [min(max(a, 0), b) for a, b in zip(start, last, strict=True)]
            if any(not 0 <= a <= b for a, b in zip(start, last, strict=True)):
                continue
            source: list[Any] = list(place)
            for d in dn.update_window_dims:
                source.insert(d, slice(None))
            at = tuple([slice(a, a + s) for a, s in zip(start, sizes, strict=True)])
            part = updates[tuple(source)].reshape(sizes)
            out[at] = combine(out[at], part)
        return out

    return reference


# -- the records -----------------------------------------------------------------------


@takes_primitive
def _checkify(
    p: Primitive, checks: Any, x: Any, indices: Any, updates: Any, **params: Any
) -> Any:
    dn, operand = params["dimension_numbers"], _aval(x)
    axes = dn.scatter_dims_to_operand_dims
    window = window_sizes(dn, operand, _aval(updates))
    last = gather.limits(operand.shape, window, axes, _aval(indices).dtype)
    checks.indices(indices, last, axes, operand.shape)
    out = p.bind(x, indices, updates, **params)
    checks.numbers(p, [out])
    return out


def _scatter(
    name: str, combine: Callable[[Any, Any], Any], printed: str, **rules: Any
) -> Primitive:
    return Primitive(
        printed,
        abstract=_abstract_as(name),
        shard=sharding_rules.scatter,
        lower=_lower,
        batch=batch_scatter,
        reference=_reference_as(combine),
        checkify=_checkify,
        rewrite=LateRule("lax.single_windows", "update_instead"),
        needs_full_build=True,
        **rules,
    )


scatter_p = _scatter(
    "scatter",
    lambda x, y: y,
    "scatter",
    jvp=_set_jvp,
    transpose=_set_transpose,
    taylor=families.linear_series(),
)
scatter_add_p = _scatter(
    "scatter_add",
    np.add,
    "scatter-add",
    jvp=_add_jvp,
    transpose=_add_transpose(lambda ct: ct),
    taylor=families.linear_series(),
)
scatter_sub_p = _scatter(
    "scatter_sub",
    np.subtract,
    "scatter-sub",
    jvp=_add_jvp,
    transpose=_add_transpose(elementwise.neg),
    taylor=families.linear_series(),
)
scatter_mul_p = _scatter(
    "scatter_mul", np.multiply, "scatter-mul", jvp=_mul_jvp, transpose=_mul_transpose
)
scatter_min_p = _scatter("scatter_min", np.minimum, "scatter-min", jvp=_extreme_jvp)
scatter_max_p = _scatter("scatter_max", np.maximum, "scatter-max", jvp=_extreme_jvp)


_COMBINED_BY = {
    scatter_add_p: elementwise.add_p,
    scatter_sub_p: elementwise.sub_p,
    scatter_mul_p: elementwise.mul_p,
    scatter_min_p: elementwise.min_p,
    scatter_max_p: elementwise.max_p,
}
_programs: dict[Any, ir.Olympuspr] = {}


def update_program(p: Primitive, dtype: Any) -> Any:
    """The program of two scalars that combines what is there with an update."""
    if p not in _COMBINED_BY:
        return None
    program = _programs.get((p, dtype))
    if program is None:
        scalar = ShapedArray((), dtype)
        x, y, out = ir.Var(scalar), ir.Var(scalar), ir.Var(scalar)
        combine = _COMBINED_BY[p]
        if dtype == np.bool_ and p in (scatter_add_p, scatter_mul_p):
            combine = elementwise.or_p if p is scatter_add_p else elementwise.and_p
        combine.results((scalar, scalar), {})
        eqn = ir.Eqn(combine, [x, y], [out], {}, frozenset(), None, ())
        program = ir.Olympuspr((), [x, y], [out], [eqn])
        program = _programs.setdefault((p, dtype), program)
        keep_program(program)
    return program
