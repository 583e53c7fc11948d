"""`vmap`: a function applied along an axis of its arguments."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Any

from olympus._src import tree
from olympus._src.core import avals as avals_
from olympus._src.foundation import source, tracebacks
from olympus._src.interpreters import batching
from olympus._src.lax import families


def vmap(
    fun: Callable[..., Any],
    in_axes: int | Sequence[Any] | None = 0,
    out_axes: Any = 0,
    axis_name: Hashable | None = None,
    axis_size: int | None = None,
    spmd_axis_name: Any = None,
    sum_match: bool = False,
) -> Callable[..., Any]:
    """Maps a function over axes of its arguments, without a loop.

    Args:
      fun: a function of arrays and pytrees of them.
      in_axes: for each positional argument the axis to map, None for none, or a tree of
        those that is a prefix of the argument; one int stands for all. Keyword
        arguments are mapped over axis 0.
      out_axes: where each result gets the mapped axis; a prefix of the result's tree.
        None where the result does not depend on the mapped arguments.
      axis_name: a name collectives may use inside `fun`.
      axis_size: the size of the axis, where no argument tells it.

    Returns:
      A function of arguments with one more axis.

    Raises:
      TypeError: `in_axes` is no int, None, or sequence that fits the arguments.
      ValueError: mapped axes do not exist or differ in size.

    Example:
      >>> import olympus, olympus.numpy as onp
      >>> olympus.vmap(onp.dot)(onp.ones((2, 3)), onp.ones((2, 3)))
      Array([3., 3.], dtype=float32)
    """
    if not callable(fun):
        raise TypeError(f"vmap: expected a callable, got {fun!r}")
    if isinstance(in_axes, list):
        in_axes = tuple(in_axes)
    if in_axes is not None and not isinstance(in_axes, (int, tuple)):
        raise TypeError(
            "vmap: in_axes must be an int, None, or a tuple with an entry for each "
            f"positional argument, got {in_axes!r}"
        )
    name = source.function_name(fun)

    def mapped(*args: Any, **kwargs: Any) -> Any:
        try:
            return _mapped(args, kwargs)
        except Exception as error:
            tracebacks.hide(error)
            raise

    def _mapped(args: Any, kwargs: Any) -> Any:
        if isinstance(in_axes, tuple) and len(in_axes) != len(args):
            raise ValueError(
                f"vmap: in_axes must have an entry for each positional argument of "
                f"{name}, got {len(in_axes)} entries for {len(args)} arguments"
            )
        leaves, structure = tree.tree_flatten((args, kwargs))
        dims = _flat_axes("vmap in_axes", (in_axes, 0), (args, kwargs), structure)
        dims = [_in_dim(x, d, name) for x, d in zip(leaves, dims, strict=True)]
        size = _axis_size(leaves, dims, axis_size, structure, name)
        out_structure: Any = None
        result: Any = None

        def flat(*inputs: Any) -> list[Any]:
            nonlocal out_structure, result
            inner_args, inner_kwargs = structure.unflatten(inputs)
            result = fun(*inner_args, **inner_kwargs)
            outs, out_structure = tree.tree_flatten(result)
            return outs

        axis = batching.AxisData(axis_name, size)
        outs, out_dims = batching.batch(flat, axis, leaves, dims)
        wanted = _flat_axes("vmap out_axes", out_axes, result, out_structure)
        moved = [
            _out(x, d, w, axis, name)
            for x, d, w in zip(outs, out_dims, wanted, strict=True)
        ]
        return out_structure.unflatten(moved)

    for attribute in ("__module__", "__doc__"):
        setattr(mapped, attribute, getattr(fun, attribute, None))
    mapped.__name__ = mapped.__qualname__ = name
    mapped.__wrapped__ = fun  # type: ignore[attr-defined]
    return mapped


def _is_axis(x: Any) -> bool:
    return x is None or isinstance(x, int)


def _flat_axes(what: str, axes: Any, full: Any, structure: Any) -> list[int | None]:
    """An axis (or None) for each leaf of `full`, from a tree that is a prefix of it."""
    if _is_axis(axes):
        return [axes] * structure.num_leaves
    if isinstance(axes, list):
        axes = tuple(axes)
    return tree.broadcast_prefix(axes, full, is_leaf=_is_axis, what=what)


def _in_dim(x: Any, dim: Any, name: str) -> int | None:
    if dim is None:
        return None
    if not avals_.is_array_like(x):
        raise TypeError(
            f"vmap: arguments of {name} must be arrays, got {type(x)} to map over axis "
            f"{dim}; give it in_axes None, or close over it"
        )
    ndim = avals_.aval_of(x).ndim
    if not -ndim <= dim < ndim:
        raise ValueError(
            f"vmap: in_axes {dim} is out of range for an argument of {name} of type "
            f"{avals_.aval_of(x).short()} with {ndim} axes"
        )
    return dim % ndim


def _axis_size(
    leaves: Sequence[Any], dims: Sequence[Any], given: Any, structure: Any, name: str
) -> int:
    sizes = {
        avals_.aval_of(x).shape[d]
        for x, d in zip(leaves, dims, strict=True)
        if d is not None
    }
    if given is not None:
        sizes.add(given)
    if len(sizes) == 1:
        return sizes.pop()
    if not sizes:
        raise ValueError(
            f"vmap: at least one argument of {name} must be mapped, got in_axes None "
            "for all of them; map one, or give axis_size"
        )
    args, kwargs = structure.unflatten(list(zip(leaves, dims, strict=True)))
    lines = []
    for path, (x, d) in _described(args, kwargs):
        if d is not None:
            aval = avals_.aval_of(x)
            lines.append(
                f"  {path} of type {aval.short()}: axis {d} has size {aval.shape[d]}"
            )
    if given is not None:
        lines.append(f"  axis_size={given} was given")
    raise ValueError(
        f"vmap: mapped axes of {name}'s arguments must have one size, got\n"
        + "\n".join(lines)
        + "\nGive in_axes None to arguments that are not mapped."
    )


def _described(args: Any, kwargs: Any) -> list[tuple[str, Any]]:
    def is_pair(x: Any) -> bool:
        return isinstance(x, tuple) and len(x) == 2 and _is_axis(x[1])

    found = []
    for which, value in (("args", args), ("kwargs", kwargs)):
        pairs, _ = tree.tree_flatten_with_path(value, is_leaf=is_pair)
        found += [(which + tree.keystr(path), pair) for path, pair in pairs]
    return found


def _out(x: Any, dim: Any, wanted: Any, axis: Any, name: str) -> Any:
    if not avals_.is_array_like(x):
        raise TypeError(
            f"vmap: results of {name} must be arrays, got {x!r} of type {type(x)}"
        )
    if wanted is None:
        if dim is not None:
            raise ValueError(
                f"vmap: out_axes None says that a result of {name} does not depend on "
                "the mapped arguments, but it does; give it an axis"
            )
        return x
    ndim = avals_.aval_of(x).ndim + (dim is None)
    if not -ndim <= wanted < ndim:
        raise ValueError(
            f"vmap: out_axes {wanted} is out of range for a result of {name} with "
            f"{ndim} axes"
        )
    wanted %= ndim
    if dim is None:
        return families.insert_axis(x, wanted, axis.size)
    return families.move_axis(x, dim, wanted)
