"""Functions of trees as functions of leaves, for libraries that wrap functions."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any

from olympus._src import tree
from olympus._src.api import parameters
from olympus._src.core import avals as avals_
from olympus._src.core import dtypes, ir
from olympus._src.foundation import source_info
from olympus._src.programs.parameter_names import leaf_paths
from olympus._src.programs.wrapped_functions import (
    Store,
    WrappedFun,
    transformation2,
    transformation_with_aux2,
)


@transformation_with_aux2
def flatten_fun(
    f: Callable[..., Any], store: Store, in_tree: Any, *args_flat: Any
) -> list[Any]:
    """The function of the leaves of `(args, kwargs)`, and what returns its out tree.

    Example:
      >>> import olympus
      >>> from olympus import api_util
      >>> from olympus.extend import linear_util
      >>> leaves, tree = olympus.tree.flatten(((1, 2), {}))
      >>> f = linear_util.wrap_init(lambda x, y: {'sum': x + y})
      >>> flat, out_tree = api_util.flatten_fun(f, tree)
      >>> flat.call_wrapped(*leaves), out_tree()
      ([3], PyTreeDef({'sum': *}))
    """
    args, kwargs = in_tree.unflatten(args_flat)
    leaves, structure = tree.tree_flatten(f(*args, **kwargs))
    store.store(structure)
    return leaves


@transformation_with_aux2
def flatten_fun_nokwargs(
    f: Callable[..., Any], store: Store, in_tree: Any, *args_flat: Any
) -> list[Any]:
    """`flatten_fun` for the leaves of positional arguments alone."""
    leaves, structure = tree.tree_flatten(f(*in_tree.unflatten(args_flat)))
    store.store(structure)
    return leaves


@transformation2
def _with_fixed(
    f: Callable[..., Any],
    positions: tuple[int, ...],
    fixed: Any,
    *args: Any,
    **kwargs: Any,
) -> Any:
    """The function with values in the places that its arguments do not take."""
    whole = list(fixed)
    for i, x in zip(positions, args, strict=True):
        whole[i] = x
    return f(*whole, **kwargs)


def argnums_partial(
    f: WrappedFun,
    dyn_argnums: int | Sequence[int],
    args: Sequence[Any],
    require_static_args_hashable: bool = True,
) -> tuple[WrappedFun, tuple[Any, ...]]:
    """The function of some of its arguments, with the others fixed, and those.

    Args:
      f: the function.
      dyn_argnums: numbers of the arguments that stay.
      args: all arguments.
      require_static_args_hashable: raise ValueError for a fixed one that has no hash.
    """
    numbers = (dyn_argnums,) if isinstance(dyn_argnums, int) else tuple(dyn_argnums)
    positions = tuple([i + len(args) if i < 0 else i for i in numbers])
    fixed = tuple([None if i in positions else x for i, x in enumerate(args)])
    if require_static_args_hashable:
        for i, x in enumerate(fixed):
            _check_hashable(i, x)
    return _with_fixed(f, positions, fixed), tuple([args[i] for i in positions])


def _check_hashable(i: int, x: Any) -> None:
    try:
        hash(x)
    except TypeError:
        raise ValueError(
            f"argnums_partial: fixed arguments must be hashable, got argument {i} of "
            f"type {type(x).__name__}; pass it as one that stays"
        ) from None


def donation_vector(
    donate_argnums: Sequence[int],
    donate_argnames: Sequence[str],
    in_tree: Any,
    kws: bool = True,
) -> tuple[bool, ...]:
    """For each leaf of arguments whether it is donated.

    Args:
      donate_argnums, donate_argnames: the donated arguments.
      in_tree: the structure of `(args, kwargs)`, or of the arguments.
      kws: whether it is of both.
    """
    args = in_tree.children()[0] if kws else in_tree
    chosen = [i in tuple(donate_argnums) for i in range(len(args.children()))]
    donated = list(zip(args.children(), chosen, strict=True))
    if kws:
        kwargs = in_tree.children()[1]
        for name, value in zip(kwargs.node_data()[1], kwargs.children(), strict=True):
            donated.append((value, name in tuple(donate_argnames)))
    return tuple([flag for value, flag in donated for _ in range(value.num_leaves)])


def rebase_donate_argnums(
    donate_argnums: Sequence[int], static_argnums: Sequence[int]
) -> tuple[int, ...]:
    """The numbers of donated arguments once the static ones are taken out."""
    static = sorted(static_argnums)
    if set(static) & set(donate_argnums):
        raise ValueError(
            f"static_argnums and donate_argnums must not overlap, got "
            f"{tuple(static_argnums)} and {tuple(donate_argnums)}"
        )
    return tuple(sorted([i - sum(s < i for s in static) for i in donate_argnums]))


def flatten_axes(
    name: str,
    treedef: Any,
    axis_tree: Any,
    *,
    kws: bool = False,
    tupled_args: bool = False,
) -> list[Any]:
    """An axis, or None, for each leaf, from a tree of axes that is a prefix.

    Args:
      name: what the axes are, for messages.
      treedef: the structure.
      axis_tree: axes, and None, in a prefix of it.
      kws: `axis_tree` is for `(args, kwargs)`.
      tupled_args: `axis_tree` is for a tuple of arguments.

    Raises:
      ValueError: it is no prefix.
    """
    del tupled_args
    axes = (axis_tree, {}) if kws else axis_tree
    skeleton = treedef.unflatten(range(treedef.num_leaves))
    try:
        return list(tree.broadcast_prefix(axes, skeleton, is_leaf=lambda x: x is None))
    except ValueError as error:
        raise ValueError(
            f"{name}: the axes must be a prefix of the values; {error}"
        ) from None


def debug_info(
    traced_for: str,
    fun: Callable[..., Any],
    args: Sequence[Any],
    kwargs: dict[str, Any],
    *,
    static_argnums: Sequence[int] = (),
    static_argnames: Sequence[str] = (),
    result_paths_thunk: Callable[[], Sequence[str]] | None = None,
    sourceinfo: str | None = None,
    signature: inspect.Signature | None = None,
) -> ir.DebugInfo:
    """Names of a function, and of the leaves of its arguments, for messages.

    Args:
      traced_for: what it is traced for, as in 'jit'.
      fun: the function.
      args, kwargs: its arguments, or anything of their structure.
      static_argnums, static_argnames: arguments that are not leaves.
      result_paths_thunk: names of the results.
      sourceinfo: the function's name and place, as "f at file:line"; default its own.
      signature: has no effect; it is read from the function.
    """
    del signature
    names, varargs = parameters.positional_names(fun)
    missing = range(max(len(args) - len(names), 0))
    names += [f"{varargs or 'args'}[{i}]" for i in missing]
    rows = [
        (name, x)
        for i, (name, x) in enumerate(zip(names, args, strict=False))
        if i not in static_argnums and name not in static_argnames
    ]
    rows += [(k, x) for k, x in kwargs.items() if k not in static_argnames]
    paths = leaf_paths([n for n, _ in rows], [x for _, x in rows])
    results = None if result_paths_thunk is None else result_paths_thunk()
    description = sourceinfo or source_info.describe_function(fun)
    return ir.DebugInfo(traced_for, description, paths, results)


def safe_map(f: Callable[..., Any], *sequences: Sequence[Any]) -> list[Any]:
    """A list of a function's results for elements of sequences of one length.

    Raises:
      ValueError: the lengths differ.
    """
    lists = list(map(list, sequences))
    for i, items in enumerate(lists):
        if len(items) != len(lists[0]):
            longer = "longer" if len(items) > len(lists[0]) else "shorter"
            raise ValueError(f"safe_map() argument {i + 1} is {longer} than argument 1")
    return list(map(f, *lists))


def shaped_abstractify(x: Any) -> avals_.AbstractValue:
    """The type of a value, or of a `ShapeDtypeStruct`."""
    if avals_.is_array_like(x):
        return avals_.aval_of(x)
    if hasattr(x, "shape") and hasattr(x, "dtype"):
        dtype = dtypes.canonicalize_dtype(x.dtype, allow_extended_dtype=True)
        return avals_.ShapedArray(tuple(x.shape), dtype, getattr(x, "weak_type", False))
    return avals_.aval_of(x)
