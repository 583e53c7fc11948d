"""Leaves of a call: their arrays and types, and how wrong arguments are refused."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from olympus._src.api.signatures import Call
from olympus._src.core import avals as avals_
from olympus._src.core import dtypes, high_values
from olympus._src.core.primitive import LateRule
from olympus._src.core.refs import RefAval
from olympus._src.foundation import source_info
from olympus._src.interpreters import concrete_arrays
from olympus._src.lax import sharding_constraints
from olympus._src.runtime import guards, placement
from olympus._src.sharding.named import NamedSharding
from olympus._src.sharding.specs import PartitionSpec

ShapedArray = avals_.ShapedArray
_canonical = LateRule("core.hi_types", "canonical")


def as_argument(x: Any, call: Call, i: int) -> Any:
    """A concrete array for an argument leaf."""
    try:
        return concrete_arrays.as_operand(x)
    except TypeError as error:
        raise _bad_argument(x, call, i, error) from None


def as_arguments(call: Call, leaves: Sequence[Any]) -> list[Any]:
    """Concrete arrays for the leaves of a call.

    Guards of transfers let them pass: those that the program does not take are none of
    their business. `check_transfers` asks them, once it is known which it takes.
    """
    rows = enumerate(leaves)
    if not guards.are_on():
        return [as_argument(x, call, i) for i, x in rows]
    try:
        with guards.lift():
            return [as_argument(x, call, i) for i, x in rows]
    finally:
        concrete_arrays.forget_scalars()


def check_transfers(leaves: Sequence[Any], taken: Sequence[bool] | None) -> None:
    """Asks the guards of transfers for the leaves from the host that a program takes.

    Args:
      leaves: of a call, which `as_arguments` has put on a device.
      taken: which of them the program takes; None for all.

    Raises:
      JaxRuntimeError: a guard refuses one.
    """
    if not guards.are_on():
        return
    for i, x in enumerate(leaves):
        is_taken = taken is None or taken[i]
        if is_taken and isinstance(
            x, (np.ndarray, np.generic, bool, int, float, complex)
        ):
            aval = avals_.aval_of(x)
            placement.put(np.asarray(x, aval.storage.dtype), aval)


def argument_aval(x: Any, call: Call, i: int) -> Any:
    """The type of an argument leaf that may be a tracer."""
    try:
        return avals_.aval_of(x)
    except TypeError as error:
        raise _bad_argument(x, call, i, error) from None


def abstract_argument(x: Any, call: Call, i: int) -> Any:
    """The type of an argument leaf, which may be a `ShapeDtypeStruct`."""
    if avals_.is_array_like(x):
        return argument_aval(x, call, i)
    if high_values.are_in_use() and getattr(x, "is_high", False):
        return _canonical(x)  # the type itself stands for values of it
    if hasattr(x, "shape") and hasattr(x, "dtype"):
        dtype = dtypes.canonicalize_dtype(x.dtype, allow_extended_dtype=True)
        weak = getattr(x, "weak_type", False)
        place = getattr(x, "sharding", None)
        if isinstance(place, PartitionSpec):
            place = sharding_constraints.resolve(place, "ShapeDtypeStruct sharding")
        sharding = place if isinstance(place, NamedSharding) else None
        vma = frozenset(getattr(x, "vma", ()))
        aval = ShapedArray(tuple(x.shape), dtype, weak, vma, sharding)
        return RefAval(aval) if getattr(x, "is_ref", False) else aval
    raise _bad_argument(x, call, i)


def _class_cure(x: Any) -> str:
    """What to do for an object of the user's own class, as `self` of a method is."""
    kind = type(x)
    if kind.__module__ == "builtins" or callable(x):
        return ""
    return (
        f", or register the class {kind.__name__} as a pytree, with "
        "olympus.tree_util.register_pytree_node_class or register_dataclass"
    )


def _bad_argument(
    x: Any, call: Call, i: int, error: TypeError | None = None
) -> TypeError:
    path = call.paths()[i]
    known = source_info.function_code(call.fun) is not None
    where = f" at {source_info.function_location(call.fun)}" if known else ""
    return TypeError(
        f"Error interpreting argument to {source_info.function_name(call.fun)}{where} "
        "as an abstract array. The problematic "
        f"value is of type {type(x)} and was passed to the function at path {path}.\n"
        + (f"{error}.\n" if avals_.is_array_like(x) else "")
        + "Arguments must be arrays, numbers, or pytrees of them; mark Python values "
        f"with static_argnums or static_argnames{_class_cure(x)}."
    )
