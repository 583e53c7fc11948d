"""`with_layout_constraint`, and the formats of compiled programs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from olympus._src import tree
from olympus._src.core import avals as avals_
from olympus._src.core.array_type import PyTree
from olympus._src.interpreters import evaluate
from olympus._src.lax.layout_constraints import layout_constraint_p
from olympus._src.sharding.layouts import Layout, check_default


def with_layout_constraint(x: PyTree, layouts: PyTree) -> PyTree:
    """The same values, in another order in memory inside of a compiled program.

    Outside of programs arrays have the default layout, and others are refused.

    Args:
      x: a pytree of arrays.
      layouts: a `Layout`, or a tree of them that is a prefix of `x`.

    Returns:
      A pytree of the same structure.

    Raises:
      TypeError: a leaf of `layouts` is no `Layout`.
      ValueError: a layout has another number of axes than its array.
      NotImplementedError: outside of a program, a layout is not the default.

    Example:
      >>> import olympus, numpy as np
      >>> from olympus.experimental.layout import Layout, with_layout_constraint
      >>> f = olympus.jit(lambda x: with_layout_constraint(x, Layout((1, 0))) + 1)
      >>> f(np.zeros((1, 2)))
      Array([[1., 1.]], dtype=float32)
    """
    what = "with_layout_constraint"
    leaves, structure = tree.tree_flatten(x)
    chosen = tree.broadcast_prefix(
        layouts, x, _is_layout, what=f"{what} layouts", full_name="x"
    )
    rows = zip(leaves, chosen, strict=True)
    return structure.unflatten([_constrain(leaf, layout) for leaf, layout in rows])


def _is_layout(x: Any) -> bool:
    return isinstance(x, Layout)


def _constrain(x: Any, layout: Any) -> Any:
    what = "with_layout_constraint"
    if not isinstance(layout, Layout):
        raise TypeError(f"{what}: layouts must be Layouts, got {layout!r}")
    layout.check_compatible_aval(avals_.aval_of(x).shape)
    if evaluate.is_evaluating():
        check_default(layout, len(layout.major_to_minor), what)
    if layout.tiling or layout.sub_byte_element_size_in_bits:
        raise NotImplementedError(
            f"{what}: layouts must have no tiles and elements of whole bytes, got "
            f"{layout}; leave it to the compiler"
        )
    return layout_constraint_p.bind(x, layout=layout)


def default_layout(aval: Any) -> Layout:
    """The layout that arrays of a type have."""
    return Layout(range(aval.storage.ndim), ())


def of_runtime(layouts: Sequence[Any] | None, types: Sequence[Any]) -> list[Layout]:
    """The layouts that a program has for its arguments or results.

    Args:
      layouts: what the runtime says; None where it says nothing.
      types: the types of the first of them.
    """
    if layouts is None:
        return list(map(default_layout, types))
    known = zip(layouts, types, strict=False)
    return [Layout.from_pjrt_layout(layout) for layout, _ in known]
