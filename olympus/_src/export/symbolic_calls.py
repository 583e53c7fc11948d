"""Exported programs of symbolic shapes, called with arguments of actual shapes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from olympus._src.core import sizes
from olympus._src.core.symbolic import dim_solver, dimensions
from olympus._src.foundation import caching

_plans = caching.Bounded(256, "symbolic shapes of exported programs")


def are_known(avals: Sequence[Any]) -> bool:
    """Whether all sizes of types are integers."""
    return all(sizes.is_constant_shape(a.shape) for a in avals)


def solve_dimensions(
    exported: Any, shapes: Sequence[Any], paths: Sequence[str] | None = None
) -> dict[str, Any]:
    """The values of the dimension variables of a program.

    Args:
      exported: the program.
      shapes: of the arguments; their sizes may be symbolic in turn.
      paths: how users write the arguments, for messages.

    Raises:
      ValueError: the shapes are none of those that the program was exported for.
    """
    if are_known(exported.in_avals):
        return {}
    key = (exported.in_avals, None if paths is None else tuple(paths))
    plan = _plans.get(key)
    if plan is None:
        symbolic_shapes = [a.shape for a in exported.in_avals]
        plan = _plans[key] = dim_solver.plan(symbolic_shapes, paths)
    return dim_solver.solve(plan, [tuple(s) for s in shapes])


def with_values(avals: Sequence[Any], env: Mapping[str, Any]) -> list[Any]:
    """Types with the values of the variables in their sizes."""
    return [
        a.update(shape=tuple([_value(d, env) for d in a.shape])) if env else a
        for a in avals
    ]


def _value(size: Any, env: Mapping[str, Any]) -> Any:
    return dimensions.evaluate(size, env, dimensions.Sizes)
