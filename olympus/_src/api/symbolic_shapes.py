"""Symbolic shapes as users write them: for one argument, or for trees of arguments."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any

from olympus._src import tree
from olympus._src.api.shapes import ShapeDtypeStruct
from olympus._src.core import avals, dtypes, sizes
from olympus._src.core.array_type import PyTree
from olympus._src.core.symbolic import dim_bounds, dim_parsing
from olympus._src.core.symbolic.dim_scope import SymbolicScope


def symbolic_shape(
    shape_spec: str | None,
    *,
    constraints: Sequence[str] = (),
    scope: SymbolicScope | None = None,
    like: Sequence[int | None] | None = None,
) -> tuple[Any, ...]:
    """The symbolic shape that a text describes.

    Args:
      shape_spec: sizes separated by commas, optionally in parentheses.
        A size is an integer, a name, or made of those by `+`, `-`, `*`, `^` (and a
        number), `floordiv(a, b)`, `mod(a, b)`, `max(a, b)` and `min(a, b)`. '_' copies
        the size of `like` at its place, '...' at the end the rest of it. None stands
        for '...'.
      constraints: what is known of the names, as `SymbolicScope` takes them.
      scope: the scope of the names; by default a new one, with the constraints.
      like: a shape to copy sizes from.

    Returns:
      A tuple of sizes: integers, or symbolic sizes, which are integers to most code.

    Raises:
      ValueError: the text has no such form; the message marks the place. Or both
        `scope` and `constraints` are given.

    Source: the behaviour of `jax.export.symbolic_shape`.

    Example:
      >>> from olympus import export
      >>> export.symbolic_shape("b, 2*b + 1, 3")
      (b, 2*b + 1, 3)
      >>> export.symbolic_shape("b, ...", like=(8, 28, 28))
      (b, 28, 28)
    """
    scope = _scope("symbolic_shape", constraints, scope)
    if like is not None:
        like = tuple(getattr(like, "shape", like))
    return _parse("symbolic_shape", shape_spec, scope, like)


def _scope(
    where: str, constraints: Sequence[str], scope: SymbolicScope | None
) -> SymbolicScope:
    if scope is None:
        return SymbolicScope(constraints)
    if constraints:
        raise ValueError(
            f"{where}: `scope` and `constraints` must not both be given, got both; "
            "pass the constraints to the scope: SymbolicScope(constraints)"
        )
    if not isinstance(scope, SymbolicScope):
        raise TypeError(f"{where}: `scope` must be a SymbolicScope, got {scope!r}")
    return scope


def _parse(
    where: str, spec: Any, scope: SymbolicScope, like: Sequence[Any] | None
) -> tuple[Any, ...]:
    if spec is None:
        spec = "..."
    if not isinstance(spec, str):
        raise ValueError(
            f"{where}: a symbolic shape must be None or a string, got {spec!r}; write "
            f"{str(spec).strip('()[]')!r}"
        )
    return dim_parsing.parse_shape(spec, scope, like)


def symbolic_args_specs(
    args: PyTree,
    shapes_specs: PyTree,
    constraints: Sequence[str] = (),
    scope: SymbolicScope | None = None,
) -> PyTree:
    """Descriptions of arguments with symbolic shapes, to export a function for.

    Args:
      args: a tree of arrays or descriptions of them; only shapes and dtypes are read.
      shapes_specs: a tree that is a prefix of it, of texts as `symbolic_shape` takes
        them. None means '...'.
      constraints: what is known of the names, as `SymbolicScope` takes them.
      scope: the scope of the names; by default a new one, with the constraints.

    Returns:
      A tree like `args` of `ShapeDtypeStruct`.

    Raises:
      ValueError: `shapes_specs` is not a prefix of `args`, or a text has no such form.

    Source: the behaviour of `jax.export.symbolic_args_specs`.

    Example:
      >>> import numpy as np
      >>> from olympus import export
      >>> x = np.zeros((8, 28), "float32")
      >>> export.symbolic_args_specs((x, {"y": x}), "b, ...")[1]
      {'y': ShapeDtypeStruct(shape=(b, 28), dtype=float32)}
    """
    where = "symbolic_args_specs"
    leaves, treedef = tree.flatten(args)
    specs = tree.broadcast_prefix(
        _as_tuple(shapes_specs),
        _as_tuple(args),
        lambda x: x is None,
        what=f"{where} shapes_specs",
        full_name="args",
    )
    types = [avals.aval_of(x) if not hasattr(x, "shape") else x for x in leaves]
    scope = _scope(where, constraints, scope or _find_scope(types))
    leaf_specs = [
        ShapeDtypeStruct(_parse(where, spec, scope, x.shape), _dtype(x))
        for spec, x in zip(specs, types, strict=True)
    ]
    return treedef.unflatten(leaf_specs)


def _dtype(x: Any) -> Any:
    return dtypes.canonicalize_dtype(x.dtype, allow_extended_dtype=True)


def _as_tuple(x: Any) -> Any:
    """Converts a list at the top to a tuple, which arguments of a call are."""
    return tuple(x) if isinstance(x, list) else x


def _find_scope(types: Sequence[Any]) -> SymbolicScope | None:
    """The scope of sizes that are symbolic already."""
    for x in types:
        for d in x.shape:
            if sizes.is_symbolic(d):
                known_scope: SymbolicScope = d.scope
                return known_scope
    return None


def is_symbolic_dim(p: object) -> bool:
    """Whether a size is symbolic.

    Args:
      p: anything, such as a size of a shape.

    Source: the behaviour of `jax.export.is_symbolic_dim`.

    Example:
      >>> from olympus import export
      >>> [export.is_symbolic_dim(d) for d in export.symbolic_shape("b, 3")]
      [True, False]
    """
    return sizes.is_symbolic(p)


def symbolic_dim_bounds(dimension: Any) -> tuple[float, float]:
    """Bounds of a size that hold for all values of its variables.

    Args:
      dimension: a symbolic size or an integer.

    Returns:
      The lower and the upper bound, both included: integers, or infinite where none is
      found. They need not be tight.

    Raises:
      TypeError: `dimension` is neither.

    Source: the behaviour of `jax.export.symbolic_dim_bounds`.

    Example:
      >>> from olympus import export
      >>> (b,) = export.symbolic_shape("b", constraints=["b <= 64"])
      >>> export.symbolic_dim_bounds(2 * b + 1)
      (3, 129)
    """
    if sizes.is_symbolic(dimension):
        return dim_bounds.bounds(dimension)
    try:
        size = operator.index(dimension)
    except TypeError:
        raise TypeError(
            "symbolic_dim_bounds: dimension must be an integer or a symbolic size, got "
            f"{dimension!r} of type {type(dimension).__name__}"
        ) from None
    return size, size
