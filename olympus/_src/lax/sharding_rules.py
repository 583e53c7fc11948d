"""The rules `shard`: how results are divided along explicit axes of a mesh.

A rule takes the types of the results, then those of the operands and the parameters. It
returns, for each result, which mesh axes divide each of its axes: a tuple with an entry
for each axis. A rule never guesses: where the operands do not tell, it raises
`ShardingTypeError`, and the user says how.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from olympus._src.core import dtypes
from olympus._src.core.explicit_shardings import (
    Entries,
    bilinear,
    entries_of,
    linear_in,
    mesh_axes_of,
    roles_of,
)
from olympus._src.foundation.errors import ShardingTypeError
from olympus._src.sharding.named import NamedSharding
from olympus._src.sharding.specs import PartitionSpec, names_of

# -- joining ---------------------------------------------------------------------------


def join(*rows: Sequence[Any]) -> Entries:
    """One entry for each axis from several, of which those that are not None agree."""
    return tuple([_join_entries(column, rows) for column in zip(*rows, strict=True)])


def _join_entries(column: Sequence[Any], rows: Sequence[Sequence[Any]]) -> Any:
    different = list(dict.fromkeys([entry for entry in column if entry is not None]))
    if len(different) > 1:
        specs = " and ".join([f"P({', '.join(map(repr, row))})" for row in rows])
        raise ShardingTypeError(
            f"operands must be divided alike along each axis, got {specs}; reshard "
            "one, as in olympus.reshard(x, P(...))"
        )
    return different[0] if different else None


def refuse_divided(aval: Any, axes: Iterable[int], what: str) -> None:
    """Raises ShardingTypeError where a mesh axis divides one of some axes."""
    entries = entries_of(aval)
    for axis in axes:
        if entries[axis] is not None:
            raise ShardingTypeError(
                f"{what} must not be divided, got axis {axis} of {aval.short()}; "
                f"reshard the operand, as in olympus.reshard(x, P(...)) with None for "
                f"axis {axis}, or use olympus.sharding.auto_axes"
            )


# -- families ------------------------------------------------------------------------


def elementwise(out: Any, *operands: Any, **params: Any) -> Any:
    """Of operations on elements: operands are joined, scalars have no say."""
    rows = [entries_of(a) for a in operands if a.ndim == out.ndim]
    return join(*rows)


def keep(out: Any, operand: Any, *others: Any, **params: Any) -> Any:
    """Of what leaves the axes of its first operand as they are."""
    return entries_of(operand)


def replicate(outs: Any, *operands: Any, **params: Any) -> Any:
    """Of what takes whole operands only."""
    for aval in operands:
        refuse_divided(aval, range(aval.ndim), "operands of this operation")
    if isinstance(outs, tuple):
        return [(None,) * out.ndim for out in outs]
    return (None,) * outs.ndim


def whole_results(outs: Any, *operands: Any, **params: Any) -> Any:
    """Of what takes operands divided in any way, and gives results that are whole."""
    return [(None,) * out.ndim for out in outs]


def keep_each(outs: Any, *operands: Any, **params: Any) -> Any:
    """Of what returns its operands."""
    return [entries_of(aval) for aval in operands]


def reduction(out: Any, operand: Any, *, axes: Any, **params: Any) -> Any:
    """Of reductions: the entries of the other axes."""
    return drop(entries_of(operand), axes)


def drop(entries: Sequence[Any], axes: Any) -> Entries:
    """Entries without those of some axes."""
    return tuple([entry for i, entry in enumerate(entries) if i not in axes])


def along(name: str, result_count: int = 1) -> Callable[..., Any]:
    """Of operations along an axis, the parameter `name`, which must be whole."""

    def rule(outs: Any, *operands: Any, **params: Any) -> Any:
        for aval in operands:
            refuse_divided(aval, (params[name],), "the axis that it goes along")
        entries = join(*[entries_of(aval) for aval in operands])
        return [entries] * len(outs) if isinstance(outs, tuple) else entries

    return rule


def same_rank(outs: Any, operand: Any, *others: Any, **params: Any) -> Any:
    """Of what changes sizes but no ranks: entries are kept where the parts fit."""
    if isinstance(outs, tuple):
        return [_fit(out, operand) for out in outs]
    return _fit(outs, operand)


def _fit(out: Any, operand: Any) -> Entries:
    """The operand's entries, where they divide the sizes of the result."""
    entries = entries_of(operand)
    for axis, entry in enumerate(entries):
        count = _count(operand, entry)
        if out.shape[axis] % count:
            raise ShardingTypeError(
                f"sizes along a divided axis must remain multiples of the number of "
                f"parts, got {out.shape[axis]} for axis {axis} of {operand.short()}, "
                f"which is in {count} parts; reshard the operand, as in "
                "olympus.reshard(x, P(...)), or use olympus.sharding.auto_axes"
            )
    return entries


def _count(aval: Any, entry: Any) -> int:
    if entry is None:
        return 1
    sizes = aval.explicit.mesh.shape
    return math.prod([sizes[name] for name in names_of(entry)])


def leading(outs: Any, *operands: Any, n_free: int = 2, **params: Any) -> Any:
    """Of operations on stacks of matrices: their last two axes must be whole."""
    rank = max(aval.ndim for aval in operands)
    rows = []
    for aval in operands:
        n = min(n_free, aval.ndim) if aval.ndim == rank else aval.ndim - (rank - n_free)
        first = aval.ndim - n
        refuse_divided(aval, range(first, aval.ndim), "the axes of the matrices")
        rows.append(entries_of(aval)[: rank - n_free])
    entries = join(*rows)

    def extend(out: Any) -> Entries:
        return (*entries, *[None] * (out.ndim - len(entries)))

    return [extend(out) for out in outs] if isinstance(outs, tuple) else extend(outs)


# -- movement --------------------------------------------------------------------------


def transpose(out: Any, operand: Any, *, permutation: Any) -> Any:
    entries = entries_of(operand)
    return tuple([entries[i] for i in permutation])


def broadcast_in_dim(
    out: Any, operand: Any, *, shape: Any, broadcast_dimensions: Any, sharding: Any
) -> Any:
    if sharding is not None:
        return sharding
    entries = [None] * out.ndim
    for entry, axis in zip(entries_of(operand), broadcast_dimensions, strict=True):
        entries[axis] = entry
    return tuple(entries)


def squeeze(out: Any, operand: Any, *, dimensions: Any) -> Any:
    return drop(entries_of(operand), dimensions)


def stack(out: Any, *operands: Any, axis: int) -> Any:
    entries = list(join(*[entries_of(aval) for aval in operands]))
    entries.insert(axis, None)
    return tuple(entries)


def unstack(outs: Any, operand: Any, *, axis: int) -> Any:
    refuse_divided(operand, (axis,), "the axis that it goes along")
    return [drop(entries_of(operand), (axis,))] * len(outs)


def concatenate(out: Any, *operands: Any, dimension: int) -> Any:
    return join(*[entries_of(aval) for aval in operands])


def tile(out: Any, operand: Any, *, reps: Any) -> Any:
    repeated = [axis for axis, n in enumerate(reps) if n != 1]
    refuse_divided(operand, repeated, "axes that are repeated")
    return entries_of(operand)


def take_runs(out: Any, operand: Any, *, runs: Any) -> Any:
    axes = [axis for axis, row in enumerate(runs) if row is not None]
    refuse_divided(operand, axes, "axes that are read at runs of positions")
    return entries_of(operand)


def bitcast_convert_type(out: Any, operand: Any, *, new_dtype: Any) -> Any:
    entries = entries_of(operand)
    if out.ndim > operand.ndim:
        return (*entries, None)
    refuse_divided(operand, range(out.ndim, operand.ndim), "the axis of the words")
    return entries[: out.ndim]


def fft(out: Any, operand: Any, *, fft_type: Any, fft_lengths: Any) -> Any:
    return _fit(out, operand)


def top_k(outs: Any, operand: Any, *, axis: int, **params: Any) -> Any:
    refuse_divided(operand, (axis,), "the axis that it goes along")
    return [entries_of(operand)] * len(outs)


def argmax(outs: Any, operand: Any, *, axes: Any, **params: Any) -> Any:
    entries = drop(entries_of(operand), axes)
    return [entries] * len(outs) if isinstance(outs, tuple) else entries


# -- reshape ---------------------------------------------------------------------------


def reshape(
    out: Any, operand: Any, *, new_sizes: Any, dimensions: Any, sharding: Any
) -> Any:
    """Axes that are merged or split: the parts must remain the leading ones."""
    if sharding is not None:
        return sharding
    entries = entries_of(operand)
    order = range(operand.ndim) if dimensions is None else dimensions
    old = [(operand.shape[i], entries[i]) for i in order]
    sizes = operand.explicit.mesh.shape
    new: list[Any] = [None] * out.ndim
    for old_axes, new_axes in _groups([s for s, _ in old], new_sizes):
        names = _merge([old[i] for i in old_axes])
        divided = [i for i in old_axes if old[i][1] is not None]
        scatters = len(divided) > 1 and sum(new_sizes[j] > 1 for j in new_axes) > 1
        if (
            names is None
            or scatters
            or not _split(names, sizes, new_sizes, new_axes, new)
        ):
            raise ShardingTypeError(
                f"a divided axis may be merged with those after it, or split so that "
                f"its parts are those of the first, got {operand.short()} for the "
                f"sizes {tuple(new_sizes)}; give the result's sharding by "
                "out_sharding=, as in numpy.reshape(x, shape, out_sharding=P(...)), or "
                "reshard the operand first"
            )
    return tuple(new)


def _groups(
    old: Sequence[int], new: Sequence[int]
) -> list[tuple[list[int], list[int]]]:
    """Axes of two shapes in groups of equal products, as small as can be."""
    groups: list[tuple[list[int], list[int]]] = []
    i = j = 0
    while i < len(old) or j < len(new):
        olds, news = [], []
        if i < len(old):
            olds.append(i)
        if j < len(new):
            news.append(j)
        left = old[i] if i < len(old) else 1
        right = new[j] if j < len(new) else 1
        i, j = i + 1, j + 1
        if len(olds) and len(news) and left != right:
            if left == 1:  # a new axis of size 1, or one that goes
                groups.append((olds, []))
                j -= 1
                continue
            if right == 1:
                groups.append(([], news))
                i -= 1
                continue
        while left != right:
            if left < right:
                olds.append(i)
                left *= old[i]
                i += 1
            else:
                news.append(j)
                right *= new[j]
                j += 1
        groups.append((olds, news))
    return groups


def _merge(axes: Sequence[tuple[int, Any]]) -> list[Any] | None:
    """The names that divide the product of axes; None if parts would be scattered."""
    names: list[Any] = []
    is_open = True
    for size, entry in axes:
        if entry is None:
            is_open = is_open and size == 1
        elif not is_open:
            return None
        else:
            names += names_of(entry)
    return names


def _split(
    names: list[Any], sizes: Any, shape: Sequence[int], axes: Sequence[int], new: Any
) -> bool:
    """Gives names to the axes that a product is split into; whether they fit."""
    remaining = list(names)
    for axis in axes:
        taken: list[Any] = []
        left = shape[axis]
        while remaining and left % sizes[remaining[0]] == 0 and left > 1:
            left //= sizes[remaining[0]]
            taken.append(remaining.pop(0))
        new[axis] = tuple(taken) if len(taken) > 1 else taken[0] if taken else None
        if remaining and left != 1:
            return False
    return not remaining


# -- products --------------------------------------------------------------------------


def dot_general(
    out: Any,
    x: Any,
    y: Any,
    *,
    dimension_numbers: Any,
    out_sharding: Any,
    **params: Any,
) -> Any:
    (cx, cy), (bx, by) = dimension_numbers
    ex, ey = entries_of(x), entries_of(y)
    for aval in (x, y):
        if roles_of(aval)[0]:
            raise ShardingTypeError(
                f"operands must not be still to be summed (unreduced), got "
                f"{aval.short()}; sum it with olympus.reshard(x, P(...))"
            )
    if out_sharding is not None:
        _check_sums(out_sharding, [ex[i] for i in cx], [ey[j] for j in cy])
        return out_sharding
    for i, j in zip(cx, cy, strict=True):
        if ex[i] is None or ey[j] is None:
            continue
        if ex[i] != ey[j]:
            raise ShardingTypeError(
                f"contracted axes must be divided alike, got {ex[i]!r} and {ey[j]!r} "
                f"of {x.short()} and {y.short()}; reshard one of the operands"
            )
        raise ShardingTypeError(
            "where both operands are divided along a contracted axis, it is ambiguous "
            f"how the result is, got {ex[i]!r} for axis {i} of {x.short()} and axis "
            f"{j} of {y.short()}; give the result's sharding by out_sharding=, as in "
            "numpy.matmul(x, y, out_sharding=P(...))"
        )
    mesh = mesh_of(x, y)
    batch = join([ex[i] for i in bx], [ey[j] for j in by])
    x_free = [e for i, e in enumerate(ex) if i not in cx and i not in bx]
    y_free = [e for j, e in enumerate(ey) if j not in cy and j not in by]
    # A factor that is reduced has an unreduced cotangent; the product is neither.
    return NamedSharding(mesh, _spec_of((*batch, *x_free, *y_free)))


def _spec_of(entries: Sequence[Any]) -> PartitionSpec:
    used = [name for entry in entries for name in names_of(entry)]
    twice = [name for name in used if used.count(name) > 1]
    if twice:
        listed = ", ".join(map(repr, entries))
        raise ShardingTypeError(
            f"a mesh axis must divide at most one axis of the result, got {twice[0]!r} "
            f"more than once in P({listed}); reshard an operand, or give the result's "
            "sharding by out_sharding="
        )
    return PartitionSpec(*entries)


def _check_sums(sharding: Any, first: Sequence[Any], second: Sequence[Any]) -> None:
    """Sums can be left to be taken only where the contracted axes are divided so."""
    wanted = sharding.spec.unreduced
    if not wanted:
        return
    divided = {name for entry in first for name in names_of(entry)}
    if list(first) != list(second) or not wanted <= divided:
        raise ShardingTypeError(
            f"a product can be left to be summed (unreduced) along axes that divide "
            f"contracted axes of both operands, got {sharding.spec} for the contracted "
            f"entries {tuple(first)} and {tuple(second)}; reshard an operand"
        )


def convolution(
    out: Any, x: Any, kernel: Any, *, dimension_numbers: Any, **params: Any
) -> Any:
    """Divided along the batch, and along space where the parts fit."""
    dn = dimension_numbers
    refuse_divided(kernel, range(kernel.ndim), "the axes of the kernel")
    refuse_divided(x, (dn.lhs_spec[1],), "the axis of the features")
    if params["batch_group_count"] != 1:
        refuse_divided(x, (dn.lhs_spec[0],), "the axis of the batch")
    entries = entries_of(x)
    new: list[Any] = [None] * out.ndim
    for source, target in zip(dn.lhs_spec, dn.out_spec, strict=True):
        new[target] = entries[source]
        count = _count(x, entries[source])
        if out.shape[target] % count:
            raise ShardingTypeError(
                f"sizes along a divided axis must remain multiples of the number of "
                f"parts, got {out.shape[target]} for axis {source} of {x.short()}; "
                "reshard the operand, or use olympus.sharding.auto_axes"
            )
    return tuple(new)


def ragged_dot_general(outs: Any, *operands: Any, **params: Any) -> Any:
    return replicate(outs, *operands)


# -- indexing --------------------------------------------------------------------------

_GET = (
    "give the result's sharding by out_sharding=, as in "
    "x.at[i].get(out_sharding=P(...)), or use olympus.sharding.auto_axes"
)
_SET = (
    "give the result's sharding by out_sharding=, as in "
    "x.at[i].set(y, out_sharding=P(...)), or use olympus.sharding.auto_axes"
)


def gather(
    out: Any, operand: Any, indices: Any, *, dimension_numbers: Any, slice_sizes: Any,
    **params: Any,
) -> Any:  # fmt: skip
    """Whole slices of axes that no index selects from keep their entries."""
    dn = dimension_numbers
    entries, index_entries = entries_of(operand), entries_of(indices)
    paired = tuple(dn.operand_batching_dims)
    new: list[Any] = [None] * out.ndim
    offset_axes = iter(sorted(dn.offset_dims))
    for axis, entry in enumerate(entries):
        if axis in paired:
            continue
        is_kept = slice_sizes[axis] == operand.shape[axis]
        if entry is not None and not is_kept:
            raise ShardingTypeError(
                f"an axis that is indexed must not be divided, got axis {axis} of "
                f"{operand.short()}; {_GET}"
            )
        if axis not in dn.collapsed_slice_dims:
            new[next(offset_axes)] = entry
    refuse_divided(indices, (indices.ndim - 1,), "the axis of the index vectors")
    batch_axes = [axis for axis in range(out.ndim) if axis not in dn.offset_dims]
    for position, axis in enumerate(batch_axes):
        entry = index_entries[position]
        if position in dn.start_indices_batching_dims:
            pair = paired[list(dn.start_indices_batching_dims).index(position)]
            entry = join([entry], [entries[pair]])[0]
        new[axis] = entry
    return tuple(new)


def scatter(
    out: Any, operand: Any, indices: Any, updates: Any, *, dimension_numbers: Any,
    **params: Any,
) -> Any:  # fmt: skip
    """Whole windows of axes that no index selects from keep their entries."""
    dn = dimension_numbers
    entries = list(entries_of(operand))
    index_entries, update_entries = entries_of(indices), entries_of(updates)
    paired = tuple(dn.operand_batching_dims)
    window_axes = iter(sorted(dn.update_window_dims))
    for axis, entry in enumerate(entries):
        if axis in paired:
            continue
        is_whole, own = False, None
        if axis not in dn.inserted_window_dims:
            window_axis = next(window_axes)
            is_whole = updates.shape[window_axis] == operand.shape[axis]
            own = update_entries[window_axis]
        if is_whole:
            entries[axis] = join([entry], [own])[0]
        elif entry is not None or own is not None:
            raise ShardingTypeError(
                f"an axis that is indexed must not be divided, got axis {axis} of "
                f"{operand.short()} and updates {updates.short()}; {_SET}"
            )
    others = [a for a in range(updates.ndim) if a not in dn.update_window_dims]
    refuse_divided(indices, (indices.ndim - 1,), "the axis of the index vectors")
    for position, axis in enumerate(others):
        entry = join([index_entries[position]], [update_entries[axis]])[0]
        if position in dn.scatter_indices_batching_dims:
            pair = paired[list(dn.scatter_indices_batching_dims).index(position)]
            entries[pair] = join([entries[pair]], [entry])[0]
        elif entry is not None:
            raise ShardingTypeError(
                f"indices and updates must not be divided along the axes of indices, "
                f"got {indices.short()} and {updates.short()}; {_SET}"
            )
    return tuple(entries)


def dynamic_update_slice(
    out: Any, operand: Any, update: Any, *indices: Any, **params: Any
) -> Any:
    entries = join(entries_of(operand), entries_of(update))
    for axis, entry in enumerate(entries):
        if entry is not None and update.shape[axis] != operand.shape[axis]:
            count = _count(operand if operand.explicit is not None else update, entry)
            if update.shape[axis] % count:
                raise ShardingTypeError(
                    f"sizes along a divided axis must be multiples of the number of "
                    f"parts, got an update {update.short()} for {operand.short()}; "
                    "reshard the operand, or use olympus.sharding.auto_axes"
                )
    return entries


# -- random numbers, creation ----------------------------------------------------------


def iota(out: Any, *, sharding: Any, **params: Any) -> Any:
    return sharding


def with_words(out: Any, operand: Any, *others: Any, **params: Any) -> Any:
    """Of what gives each element more axes: keys their words and bits."""
    entries = entries_of(operand)
    return (*entries, *[None] * (out.ndim - len(entries)))


def without_words(out: Any, operand: Any, **params: Any) -> Any:
    refuse_divided(operand, range(out.ndim, operand.ndim), "the axis of the words")
    return entries_of(operand)[: out.ndim]


def mesh_of(*operands: Any) -> Any:
    """The mesh that explicitly divides some operand; None where none is divided."""
    for aval in operands:
        if aval.explicit is not None:
            return aval.explicit.mesh
    return None


def pick(mesh: Any, aval: Any, order: Sequence[int]) -> Any:
    """The sharding of a value with the axes of another in an order, as cotangents."""
    spec = PartitionSpec() if aval.explicit is None else aval.explicit.spec
    entries = entries_of(aval)
    dual = PartitionSpec(
        *[entries[i] for i in order], unreduced=spec.reduced, reduced=spec.unreduced
    )
    return NamedSharding(mesh, dual)


def mesh_axes(*operands: Any) -> list[Any]:
    """The explicit mesh axes that divide some operand."""
    return [name for aval in operands for name in mesh_axes_of(aval)]


# -- others ----------------------------------------------------------------------------


def keep_each_joined(outs: Any, *operands: Any, **params: Any) -> Any:
    """Of several results, each with the elements of all operands."""
    rank = max(aval.ndim for aval in operands)
    entries = join(*[entries_of(a) for a in operands if a.ndim == rank])
    return [entries] * len(outs)


def select(out: Any, which: Any, *cases: Any) -> Any:
    """Of a choice for each element, or of one for all of them."""
    return elementwise(out, which, *cases)


def approx_top_k(outs: Any, operand: Any, *, reduction_dimension: int, **_: Any) -> Any:
    return top_k(outs, operand, axis=reduction_dimension)


def second_operand(out: Any, source: Any, operand: Any, **params: Any) -> Any:
    return join(_fit(source, operand), entries_of(source))


def reduce(outs: Any, *operands: Any, dimensions: Any, **params: Any) -> Any:
    count = len(operands) // 2
    entries = join(*[entries_of(aval) for aval in operands[:count]])
    return [drop(entries, dimensions)] * len(outs)


def reduce_windows(outs: Any, *operands: Any, **params: Any) -> Any:
    count = len(operands) // 2
    rows = [_fit(outs[0], aval) for aval in operands[:count]]
    return [join(*rows)] * len(outs)


def leading_vectors(outs: Any, *operands: Any, **params: Any) -> Any:
    """Of operations on stacks of vectors: their last axis must be whole."""
    return leading(outs, *operands, n_free=1)


def triangular_solve(
    out: Any, a: Any, b: Any, *, left_side: bool, **params: Any
) -> Any:
    """The matrices must be whole, and the sides along the axis that is solved for."""
    n = a.ndim - 2
    refuse_divided(a, (n, n + 1), "the axes of the matrices")
    refuse_divided(b, (n if left_side else n + 1,), "the axis that is solved for")
    entries = list(entries_of(b))
    entries[:n] = join(entries_of(a)[:n], entries[:n])
    return tuple(entries)


def no_results(outs: Any, *operands: Any, **params: Any) -> Any:
    return []


def polynomial(out: Any, x: Any, coefficients: Any, **params: Any) -> Any:
    refuse_divided(coefficients, (0,), "the axis of the coefficients")
    if coefficients.ndim == 1:
        return entries_of(x)
    return join(entries_of(x), entries_of(coefficients)[1:])


# -- exchanges between devices along manual axes ---------------------------------------


def all_reduce(out: Any, x: Any, *, axes: Any, **params: Any) -> Any:
    """Named axes are manual; of axes by position the result has none."""
    return drop(entries_of(x), [axis for axis in axes if isinstance(axis, int)])


def all_gather(
    out: Any, x: Any, *, all_gather_dimension: int, tiled: bool, **params: Any
) -> Any:
    entries = list(entries_of(x))
    if not tiled:
        entries.insert(all_gather_dimension, None)
    return tuple(entries)


def reduce_scatter(
    out: Any, x: Any, *, scatter_dimension: int, tiled: bool, **params: Any
) -> Any:
    if tiled:
        return _fit(out, x)
    refuse_divided(x, (scatter_dimension,), "the axis that is scattered")
    return drop(entries_of(x), (scatter_dimension,))


# -- which are linear ------------------------------------------------------------------

linear_elementwise = linear_in(elementwise)


def _convert(out: Any, operand: Any, **params: Any) -> Any:
    if roles_of(operand)[0] and not dtypes.issubdtype(out.dtype, np.inexact):
        raise ShardingTypeError(
            f"it is linear from floats to floats only, and the operand is still to be "
            f"summed (unreduced), got {operand.short()} for {out.dtype}; sum it with "
            "olympus.reshard(x, P(...))"
        )
    return elementwise(out, operand)


conversion = linear_in(_convert)
product = bilinear(elementwise)


def _linear_cases(out: Any, which: Any, *cases: Any) -> Any:
    return select(out, which, *cases)


select_linear = linear_in(_linear_cases, 1, 2)
