"""Collectives: communication between the elements along a named axis."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Sequence
from typing import Any

import numpy as np

from olympus._src import tree
from olympus._src.core import avals, dtypes, trace
from olympus._src.core.array_type import Array, PyTree
from olympus._src.lax import (
    collective_exchanges,
    collectives,
    elementwise,
    families,
    manual_axes,
    shaping,
    sizes,
)
from olympus._src.lax.collectives import named

# -- arguments -------------------------------------------------------------------------


def _names(what: str, axis_name: Any, *, positional: bool = False) -> tuple[Any, ...]:
    """The axes as a tuple; raises NameError for a name that is not mapped here."""
    names = tuple(axis_name) if isinstance(axis_name, list) else named(axis_name)
    for name in names:
        if not isinstance(name, int):
            trace.axis_size(name, what)
        elif not positional:
            raise TypeError(
                f"{what}: axis_name must name a mapped axis, got the position {name}; "
                "give the axis_name of the vmap around the call"
            )
        if names.count(name) > 1 and not isinstance(name, int):
            raise ValueError(
                f"{what}: axis_name must name each axis once, got {names!r}"
            )
    return names


def _some_names(what: str, axis_name: Any) -> tuple[Any, ...]:
    """The axes of an exchange, of which there must be one."""
    names = _names(what, axis_name)
    if not names:
        raise ValueError(
            f"{what}: axis_name must name a mapped axis, got {axis_name!r}; give the "
            "axis_name of the vmap or an axis of the mesh around the call"
        )
    return names


def _count(what: str, names: Sequence[Any]) -> int:
    return math.prod([trace.axis_size(name, what) for name in names])


def _groups(what: str, names: Sequence[Any], groups: Any, *, equal: bool = True) -> Any:
    """Groups of indices as tuples: disjoint, and together the whole axis."""
    if groups is None:
        return None
    if len(names) != 1 or isinstance(names[0], int):
        raise ValueError(
            f"{what}: axis_index_groups needs a single axis name, got {names}; call "
            "it for one axis at a time"
        )
    index_groups = tuple([tuple(map(int, g)) for g in groups])
    size = trace.axis_size(names[0], what)
    if sorted(i for g in index_groups for i in g) != list(range(size)):
        raise ValueError(
            f"{what}: axis_index_groups must hold each index of the axis {names[0]!r} "
            f"of size {size} once, got {index_groups}"
        )
    if equal and len({len(g) for g in index_groups}) > 1:
        raise ValueError(
            f"{what}: axis_index_groups must be groups of one size, got sizes "
            f"{[len(g) for g in index_groups]}"
        )
    return index_groups


def _size_of(what: str, names: Sequence[Any], groups: Any) -> int:
    return _count(what, names) if groups is None else len(groups[0])


def _map_arrays(what: str, f: Callable[[Any], Any], x: Any) -> Any:
    """`f` on each leaf, which must be arrays."""
    leaves, structure = tree.tree_flatten(x)
    for path, leaf in tree.tree_flatten_with_path(x)[0]:
        if not avals.is_array_like(leaf):
            raise TypeError(
                f"{what}: x{tree.keystr(path)} must be an array, got {leaf!r} of type "
                f"{type(leaf).__name__}"
            )
    return structure.unflatten([f(leaf) for leaf in leaves])


def _axis(what: str, name: str, axis: int, ndim: int) -> int:
    return sizes.canonicalize_axes((axis,), ndim, f"{what} {name}")[0]


# -- reductions ------------------------------------------------------------------------


def psum(
    x: PyTree,
    axis_name: Hashable,
    *,
    axis_index_groups: Sequence[Sequence[int]] | None = None,
) -> PyTree:
    """The sum over a mapped axis, which every element along it gets.

    Args:
      x: an array or a pytree of arrays; bools are counted. A Python number is summed at
        once, so that `psum(1, axis_name)` is the size of the axis.
      axis_name: the name of a mapped axis, or a tuple of names. An int is an axis of
        the arrays themselves.
      axis_index_groups: lists of indices along the axis, each index in one of them: the
        sum is taken within each group.

    Returns:
      As `x`, in the shape of its arrays without the axes given by position.

    Raises:
      NameError: no axis of that name is mapped.
      ValueError: the groups do not partition the axis.

    Example:
      >>> import olympus, numpy as np
      >>> from olympus import lax
      >>> share = lambda x: x / lax.psum(x, 'i')
      >>> olympus.vmap(share, axis_name='i')(np.float32([1.0, 3.0]))
      Array([0.25, 0.75], dtype=float32)
    """
    names = _names("psum", axis_name, positional=True)
    groups = _groups("psum", names, axis_index_groups, equal=False)

    def total(leaf: Any) -> Any:
        if _is_constant(leaf, names, groups):
            return leaf * _size_of("psum", names, groups)
        if avals.aval_of(leaf).dtype == np.bool_:
            leaf = elementwise.convert_element_type(leaf, np.int32)
        return _bind_reduction("psum", collectives.sum_over, leaf, names, groups)

    return _map_arrays("psum", total, x)


def _is_constant(x: Any, names: Sequence[Any], groups: Any) -> bool:
    """Whether the sum of a value of the host is a multiple that is known at once."""
    if not isinstance(x, (int, float, complex, np.generic, np.ndarray)):
        return False
    if avals.aval_of(x).dtype == np.bool_:
        return False
    if any(isinstance(name, int) for name in names):
        return False
    return groups is None or len({len(g) for g in groups}) == 1


def _bind_reduction(
    what: str, reduce: Any, x: Any, names: tuple[Any, ...], groups: Any
) -> Any:
    if not names:
        return x
    positions = [name for name in names if isinstance(name, int)]
    families.check_axes(what, avals.aval_of(x), positions)
    return reduce(x, axes=names, axis_index_groups=groups)


def pmean(
    x: PyTree,
    axis_name: Hashable,
    *,
    axis_index_groups: Sequence[Sequence[int]] | None = None,
) -> PyTree:
    """The mean over a mapped axis, which every element along it gets.

    Args:
      x: an array or a pytree of arrays; integers are averaged as floats.
      axis_name: as for `psum`.
      axis_index_groups: as for `psum`.

    Returns:
      As `psum`.

    Raises:
      NameError: no axis of that name is mapped.

    Example:
      >>> import olympus, numpy as np
      >>> from olympus import lax
      >>> centred = lambda x: x - lax.pmean(x, 'i')
      >>> olympus.vmap(centred, axis_name='i')(np.float32([1.0, 3.0]))
      Array([-1.,  1.], dtype=float32)
    """
    names = _names("pmean", axis_name, positional=True)
    groups = _groups("pmean", names, axis_index_groups, equal=False)
    sums = psum(x, names, axis_index_groups=groups)

    def divided(total: Any, leaf: Any) -> Any:
        if dtypes.is_python_scalar(total):
            return total / _size_of("pmean", names, groups)
        dtype = dtypes.to_inexact_dtype(avals.aval_of(total).dtype)
        count = _elements(avals.aval_of(leaf), names, groups)
        if isinstance(count, int):
            count = np.asarray(count).astype(dtype)[()]
        else:
            count = elementwise.convert_element_type(count, dtype)
        return elementwise.div(elementwise.convert_element_type(total, dtype), count)

    return tree.tree_map(divided, sums, x)


def _elements(aval: Any, names: tuple[Any, ...], groups: Any) -> Any:
    """How many elements a sum over `names` of a value of this type has."""
    if groups is not None:
        return psum(1, names, axis_index_groups=groups)
    axes = [n for n in names if not isinstance(n, int)]
    own = [aval.shape[n] for n in names if isinstance(n, int)]
    return _count("pmean", axes) * math.prod(own)


def pmax(
    x: PyTree,
    axis_name: Hashable,
    *,
    axis_index_groups: Sequence[Sequence[int]] | None = None,
) -> PyTree:
    """The greatest value along a mapped axis, which every element along it gets.

    Args:
      x: an array of real numbers, or a pytree of those.
      axis_name: as for `psum`.
      axis_index_groups: as for `psum`.

    Returns:
      As `psum`. The gradient is split equally among the elements that are greatest.

    Raises:
      NameError: no axis of that name is mapped.

    Example:
      >>> import olympus, numpy as np
      >>> from olympus import lax
      >>> olympus.vmap(lambda x: lax.pmax(x, 'i'), axis_name='i')(np.arange(3))
      Array([2, 2, 2], dtype=int32)
    """
    return _extreme("pmax", collectives.pmax_p, x, axis_name, axis_index_groups)


def pmin(
    x: PyTree,
    axis_name: Hashable,
    *,
    axis_index_groups: Sequence[Sequence[int]] | None = None,
) -> PyTree:
    """The least value along a mapped axis, which every element along it gets.

    Args:
      x: an array of real numbers, or a pytree of those.
      axis_name: as for `psum`.
      axis_index_groups: as for `psum`.

    Returns:
      As `psum`. The gradient is split equally among the elements that are least.

    Raises:
      NameError: no axis of that name is mapped.

    Example:
      >>> import olympus, numpy as np
      >>> from olympus import lax
      >>> olympus.vmap(lambda x: lax.pmin(x, 'i'), axis_name='i')(np.arange(3))
      Array([0, 0, 0], dtype=int32)
    """
    return _extreme("pmin", collectives.pmin_p, x, axis_name, axis_index_groups)


def _extreme(what: str, p: Any, x: Any, axis_name: Any, groups: Any) -> Any:
    names = _names(what, axis_name, positional=True)
    groups = _groups(what, names, groups, equal=False)

    def extreme(leaf: Any) -> Any:
        leaf = _varying(leaf, names)
        return _bind_reduction(what, p.bind, leaf, names, groups)

    return _map_arrays(what, extreme, x)


def _varying(x: Any, names: Sequence[Any]) -> Any:
    """An operand as the type of a collective over manual axes of a mesh has it."""
    axes = manual_axes.checked_axes(names)
    return manual_axes.vary(x, axes) if axes else x


# -- gathering and scattering ----------------------------------------------------------


def all_gather(
    x: PyTree,
    axis_name: Hashable,
    *,
    axis_index_groups: Sequence[Sequence[int]] | None = None,
    axis: int = 0,
    tiled: bool = False,
    to: str | None = None,
) -> PyTree:
    """The values of all elements along a mapped axis, put together for each of them.

    Args:
      x: an array or a pytree of arrays.
      axis_name: the name of a mapped axis, or a tuple of names, the last of which
        varies fastest.
      axis_index_groups: lists of one size of indices along the axis: each element gets
        the values of its group.
      axis: where in the result the values are.
      tiled: they are joined along the existing `axis` instead of a new one.
      to: 'varying' (the default): types say that the result may differ along the axis;
        'invarying': that it is the same on all devices. In `shard_map` alone.

    Returns:
      As `x`: arrays with one more axis, of the size of the mapped one; if tiled, `axis`
      is that many times as long.

    Raises:
      NameError: no axis of that name is mapped.
      ValueError: `axis` is out of range, or the groups do not fit.

    Example:
      >>> import olympus, numpy as np
      >>> from olympus import lax
      >>> ranked = lambda x: (lax.all_gather(x, 'i') < x).sum()
      >>> olympus.vmap(ranked, axis_name='i')(np.array([30, 10, 20]))
      Array([2, 0, 1], dtype=int32)
    """
    if to not in (None, "varying", "invarying"):
        raise ValueError(
            f"all_gather: to must be 'varying', 'invarying' or None, got {to!r}"
        )
    names = _names("all_gather", axis_name)
    if not names:
        return x
    if to == "invarying" and set(manual_axes.checked_axes(names)) != set(names):
        raise ValueError(
            f"all_gather: to='invarying' requires manual axes of a mesh whose types "
            f"are checked, got {names}; use it in shard_map with check_vma=True"
        )
    groups = _groups("all_gather", names, axis_index_groups)
    size = _size_of("all_gather", names, groups)

    def gathered(leaf: Any) -> Any:
        ndim = avals.aval_of(leaf).ndim + (not tiled)
        p = collective_exchanges.all_gather_p
        if to == "invarying":
            p = collective_exchanges.all_gather_invariant_p
        return p.bind(
            _varying(leaf, names),
            all_gather_dimension=_axis("all_gather", "axis", axis, ndim),
            axis_index_groups=groups,
            axis_name=names,
            axis_size=size,
            tiled=bool(tiled),
        )

    return _map_arrays("all_gather", gathered, x)


def psum_scatter(
    x: PyTree,
    axis_name: Hashable,
    *,
    scatter_dimension: int = 0,
    axis_index_groups: Sequence[Sequence[int]] | None = None,
    tiled: bool = False,
) -> PyTree:
    """The sum over a mapped axis, of which each element along it gets its own part.

    Args:
      x: an array of numbers or a pytree of those.
      axis_name: the name of a mapped axis, or a tuple of names.
      scatter_dimension: the axis of the arrays that is distributed.
      axis_index_groups: lists of one size of indices along the mapped axis: sums are
        taken, and distributed, within each group.
      tiled: each element gets a piece of that axis; if not, the axis is as long as
        the mapped one, and is removed.

    Returns:
      As `x`: arrays without `scatter_dimension`, or with a shorter one.

    Raises:
      NameError: no axis of that name is mapped.
      ValueError: the axis that is distributed has another length.

    Example:
      >>> import olympus, numpy as np
      >>> from olympus import lax
      >>> x = np.arange(4).reshape(2, 2)
      >>> olympus.vmap(lambda row: lax.psum_scatter(row, 'i'), axis_name='i')(x)
      Array([2, 4], dtype=int32)
    """
    names = _names("psum_scatter", axis_name)
    if not names:
        return x
    groups = _groups("psum_scatter", names, axis_index_groups)
    size = _size_of("psum_scatter", names, groups)

    def scattered(leaf: Any) -> Any:
        aval = avals.aval_of(leaf)
        position = _axis(
            "psum_scatter", "scatter_dimension", scatter_dimension, aval.ndim
        )
        _check_parts("psum_scatter", aval, position, size, tiled)
        return collective_exchanges.reduce_scatter_p.bind(
            _varying(leaf, names),
            axis_index_groups=groups,
            axis_name=names,
            axis_size=size,
            scatter_dimension=position,
            tiled=bool(tiled),
        )

    return _map_arrays("psum_scatter", scattered, x)


def _check_parts(what: str, aval: Any, axis: int, size: int, tiled: bool) -> None:
    """Raises ValueError unless an axis can be split among that many elements."""
    own = aval.shape[axis]
    if tiled and own % size:
        raise ValueError(
            f"{what}: axis {axis} of {aval.short()} must be divisible by the size of "
            f"the mapped axis, {size}; pad it"
        )
    if not tiled and own != size:
        raise ValueError(
            f"{what}: axis {axis} of {aval.short()} must have the size of the mapped "
            f"axis, {size}, got {own}; use tiled=True to distribute parts of it"
        )


def all_to_all(
    x: PyTree,
    axis_name: Hashable,
    split_axis: int,
    concat_axis: int,
    *,
    axis_index_groups: Sequence[Sequence[int]] | None = None,
    tiled: bool = False,
) -> PyTree:
    """Distributes an axis of each element to all, and gathers the received parts.

    Element i gets part i of `split_axis` of every element. Without `tiled` it swaps
    the mapped axis with `split_axis`, which is then at `concat_axis`.

    Args:
      x: an array or a pytree of arrays.
      axis_name: the name of a mapped axis, or a tuple of names.
      split_axis: the axis of the arrays that is distributed.
      concat_axis: the axis of the result along which the parts are put together.
      axis_index_groups: lists of one size of indices along the mapped axis: elements
        exchange within each group.
      tiled: `split_axis` is cut into pieces that are joined along the existing
        `concat_axis`; if not, it is as long as the mapped axis, and is removed.

    Returns:
      As `x`: if tiled, arrays of the same rank; if not, with `split_axis` removed and
      `concat_axis` new.

    Raises:
      NameError: no axis of that name is mapped.
      ValueError: `split_axis` does not have the size of the mapped axis, or cannot be
        cut into that many pieces.

    Example:
      >>> import olympus, numpy as np
      >>> from olympus import lax
      >>> x = np.arange(4).reshape(2, 2)
      >>> olympus.vmap(lambda row: lax.all_to_all(row, 'i', 0, 0), axis_name='i')(x)
      Array([[0, 2],
             [1, 3]], dtype=int32)
    """
    names = _some_names("all_to_all", axis_name)
    groups = _groups("all_to_all", names, axis_index_groups)
    size = _size_of("all_to_all", names, groups)

    def exchanged(leaf: Any) -> Any:
        aval = avals.aval_of(leaf)
        split = _axis("all_to_all", "split_axis", split_axis, aval.ndim)
        concat = _axis("all_to_all", "concat_axis", concat_axis, aval.ndim)
        _check_parts("all_to_all", aval, split, size, tiled)
        leaf = _varying(leaf, names)
        params = {
            "axis_name": names if len(names) > 1 else names[0],
            "axis_index_groups": groups,
            "axis_size": size,
            "tiled": bool(tiled),
        }
        if tiled or split == concat:
            return collective_exchanges.all_to_all_p.bind(
                leaf, split_axis=split, concat_axis=concat, **params
            )
        # A new axis to join along; what is left of the one that was split goes.
        split, concat = split + (concat < split), concat + (concat > split)
        leaf = shaping.expand_dims(leaf, (concat,))
        leaf = collective_exchanges.all_to_all_p.bind(
            leaf, split_axis=split, concat_axis=concat, **params
        )
        return shaping.squeeze(leaf, (split,))

    return _map_arrays("all_to_all", exchanged, x)


def pswapaxes(
    x: PyTree,
    axis_name: Hashable,
    axis: int,
    *,
    axis_index_groups: Sequence[Sequence[int]] | None = None,
) -> PyTree:
    """Swaps a mapped axis with an axis of the arrays of the same size.

    Args:
      x: an array or a pytree of arrays.
      axis_name: the name of a mapped axis.
      axis: the axis of the arrays.
      axis_index_groups: as for `all_to_all`.

    Returns:
      As `x`, of the same shapes.

    Raises:
      NameError: no axis of that name is mapped.
      ValueError: the axes differ in size.

    Example:
      >>> import olympus, numpy as np
      >>> from olympus import lax
      >>> x = np.arange(4).reshape(2, 2)
      >>> olympus.vmap(lambda row: lax.pswapaxes(row, 'i', 0), axis_name='i')(x)
      Array([[0, 2],
             [1, 3]], dtype=int32)
    """
    return all_to_all(x, axis_name, axis, axis, axis_index_groups=axis_index_groups)


# -- moving ----------------------------------------------------------------------------


def ppermute(x: PyTree, axis_name: Hashable, perm: Sequence[tuple[int, int]]) -> PyTree:
    """Sends each element's value to another element along a mapped axis.

    Args:
      x: an array or a pytree of arrays.
      axis_name: the name of a mapped axis, or a tuple of names.
      perm: pairs of the index of a sender and that of its receiver. Each index sends
        and receives at most once; one that receives nothing gets zeros.

    Returns:
      As `x`.

    Raises:
      NameError: no axis of that name is mapped.
      ValueError: an index is out of range, or occurs twice.

    Example:
      >>> import olympus, numpy as np
      >>> from olympus import lax
      >>> right = lambda x: lax.ppermute(x, 'i', [(0, 1), (1, 2)])
      >>> olympus.vmap(right, axis_name='i')(np.array([5, 6, 7]))
      Array([0, 5, 6], dtype=int32)
    """
    names = _some_names("ppermute", axis_name)
    pairs = tuple([(int(s), int(d)) for s, d in perm])
    size = _count("ppermute", names)
    for which, i in (("source", 0), ("destination", 1)):
        indices = [pair[i] for pair in pairs]
        if any(not 0 <= k < size for k in indices) or len(set(indices)) < len(indices):
            raise ValueError(
                f"ppermute: each {which} in perm must be an index below {size} that "
                f"occurs once, got {list(indices)}"
            )
    return _map_arrays(
        "ppermute",
        lambda leaf: collective_exchanges.ppermute_p.bind(
            _varying(leaf, names), axis_name=names, perm=pairs
        ),
        x,
    )


def pshuffle(x: PyTree, axis_name: Hashable, perm: Sequence[int]) -> PyTree:
    """Reorders the elements along a mapped axis.

    Args:
      x: an array or a pytree of arrays.
      axis_name: the name of a mapped axis.
      perm: a permutation: element i gets the value of element `perm[i]`.

    Returns:
      As `x`.

    Raises:
      NameError: no axis of that name is mapped.
      ValueError: `perm` is not a permutation of the axis's indices.

    Example:
      >>> import olympus, numpy as np
      >>> from olympus import lax
      >>> back = lambda x: lax.pshuffle(x, 'i', [2, 1, 0])
      >>> olympus.vmap(back, axis_name='i')(np.array([5, 6, 7]))
      Array([7, 6, 5], dtype=int32)
    """
    size = _count("pshuffle", _names("pshuffle", axis_name))
    order = [int(i) for i in perm]
    if sorted(order) != list(range(size)):
        raise ValueError(
            f"pshuffle: perm must be a permutation of the {size} indices of the axis, "
            f"got {order}; use ppermute to leave some out"
        )
    return ppermute(x, axis_name, [(source, i) for i, source in enumerate(order)])


def pbroadcast(x: PyTree, axis_name: Hashable, source: int) -> PyTree:
    """The value of one element along a mapped axis, which every element gets.

    Args:
      x: an array or a pytree of arrays.
      axis_name: the name of a mapped axis, or a tuple of names.
      source: the index of the element that gives its value.

    Returns:
      As `x`.

    Raises:
      NameError: no axis of that name is mapped.
      ValueError: `source` is out of range.

    Example:
      >>> import olympus, numpy as np
      >>> from olympus import lax
      >>> first = lambda x: lax.pbroadcast(x, 'i', 0)
      >>> olympus.vmap(first, axis_name='i')(np.array([5, 6, 7]))
      Array([5, 5, 5], dtype=int32)
    """
    names = _some_names("pbroadcast", axis_name)
    size = _count("pbroadcast", names)
    if not 0 <= source < size:
        raise ValueError(
            f"pbroadcast: source must be an index of the axis of size {size}, got "
            f"{source}"
        )
    name = names if len(names) > 1 else names[0]
    manual = trace.current.manual
    if manual is not None and set(names) <= set(manual.all_axes()):
        return _map_arrays("pbroadcast", lambda v: _of_one(v, names, source), x)
    return _map_arrays(
        "pbroadcast",
        lambda leaf: collective_exchanges.pbroadcast_p.bind(
            leaf, axis_name=name, source=int(source)
        ),
        x,
    )


def _of_one(x: Any, names: tuple[Any, ...], source: int) -> Any:
    """The value of one device, as the sum of it and zeros."""
    mine = elementwise.eq(axis_index(names), np.int32(source))
    zero = elementwise.sub(x, x)
    kept = elementwise.select_n(
        shaping.broadcast(mine, avals.aval_of(x).shape), zero, x
    )
    return _varying(psum(kept, names), names)


def pcast(x: PyTree, axis_name: Hashable, *, to: str) -> PyTree:
    """The same values, of a type that says they may differ along manual axes.

    Operations insert it where operands differ in this; it is needed where a type must
    not change, as in the carry of a loop.

    Args:
      x: an array or a pytree of arrays.
      axis_name: the name of a manual axis of a mesh, or a tuple of names.
      to: 'varying'.

    Returns:
      As `x`.

    Raises:
      NameError: no axis of that name is mapped.
      ValueError: `to` has another value.

    Example:
      >>> import olympus, numpy as np
      >>> from olympus import lax
      >>> from olympus.sharding import PartitionSpec as P
      >>> f = lambda x: olympus.typeof(lax.pcast(x, 'i', to='varying')).short()
      >>> mesh = olympus.make_mesh((1,), ('i',))
      >>> olympus.shard_map(
      ...     lambda x: print(f(x)), mesh=mesh, in_specs=P(), out_specs=P()
      ... )(np.float32(1))
      f32[]{V:i}
    """
    if to != "varying":
        raise ValueError(f"pcast: to must be 'varying', got {to!r}")
    names = _names("pcast", axis_name)
    return _map_arrays("pcast", lambda leaf: _varying(leaf, names), x)


# -- the axis itself -------------------------------------------------------------------


def axis_index(axis_name: Hashable) -> Array:
    """The index of the element along a mapped axis.

    Args:
      axis_name: the name of a mapped axis, or a tuple of names, the last of which
        varies fastest.

    Returns:
      An int32 scalar.

    Raises:
      NameError: no axis of that name is mapped.

    Example:
      >>> import olympus, numpy as np
      >>> from olympus import lax
      >>> numbered = lambda x: x + lax.axis_index('i')
      >>> olympus.vmap(numbered, axis_name='i')(np.array([10, 10, 10]))
      Array([10, 11, 12], dtype=int32)
    """
    names = _names("axis_index", axis_name)
    if not isinstance(axis_name, (tuple, list)):
        return collectives.axis_index(axis_name)
    index: Any = np.int32(0)
    stride = 1
    for name in reversed(names):
        own = collectives.axis_index(name)
        index = elementwise.add(index, elementwise.mul(own, np.int32(stride)))
        stride *= trace.axis_size(name, "axis_index")
    return index


def axis_size(axis_name: Hashable) -> int:
    """The size of a mapped axis, as a Python number.

    Args:
      axis_name: the name of a mapped axis, or a tuple of names, whose sizes are
        multiplied.

    Raises:
      NameError: no axis of that name is mapped.

    Example:
      >>> import olympus, numpy as np
      >>> from olympus import lax
      >>> shared = lambda x: x / lax.axis_size('i')
      >>> olympus.vmap(shared, axis_name='i')(np.float32([2.0, 4.0]))
      Array([1., 2.], dtype=float32)
    """
    return _count("axis_size", _names("axis_size", axis_name))
