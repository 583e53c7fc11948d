"""`x.at[index]`: new arrays that differ from `x` at some positions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from olympus._src import tree
from olympus._src.core import avals, dtypes
from olympus._src.foundation import lazy_names, user_warnings
from olympus._src.interpreters import evaluate
from olympus._src.lax import elementwise as lax
from olympus._src.lax import shaping, sharding_constraints
from olympus._src.numpy import (
    creation,
    index_parsing,
    index_updates,
    indexing,
    masked_updates,
)
from olympus._src.numpy.index_parsing import Mode


class IndexUpdateHelper:
    """`x.at`; index it to say which positions are meant."""

    __slots__ = ("array",)

    def __init__(self, array: Any) -> None:
        self.array = array

    def __getitem__(self, index: Any) -> IndexUpdateRef:
        return IndexUpdateRef(self.array, index)

    def __repr__(self) -> str:
        return f"IndexUpdateHelper({self.array!r})"


@lazy_names.guard_methods
class IndexUpdateRef:
    """`x.at[index]`: reads there, or makes an array that differs there.

    Methods take `indices_are_sorted` and `unique_indices` (promises that may save time)
    and `mode`: what happens out of bounds. Reading takes the nearest position and
    writing drops the update, unless `mode` is 'clip', 'fill', 'drop' or
    'promise_in_bounds'. Positions named twice are updated twice, in any order.
    """

    __slots__ = ("array", "index")

    def __init__(self, array: Any, index: Any) -> None:
        self.array = array
        self.index = index

    def __repr__(self) -> str:
        return f"IndexUpdateRef({self.array!r}, {self.index!r})"

    def get(
        self,
        *,
        indices_are_sorted: bool = False,
        unique_indices: bool = False,
        mode: Any = None,
        fill_value: Any = None,
        out_sharding: Any = None,
        wrap_negative_indices: bool = True,
    ) -> Any:
        """`x[index]`, with a choice of what out-of-bounds positions give.

        Example:
          >>> import olympus.numpy as onp
          >>> onp.arange(3.0).at[7].get(mode='fill', fill_value=-1)
          Array(-1., dtype=float32)
        """
        if out_sharding is not None:
            index = self.index
            options = {
                "indices_are_sorted": indices_are_sorted,
                "unique_indices": unique_indices,
                "mode": mode,
                "fill_value": fill_value,
                "wrap_negative_indices": wrap_negative_indices,
            }
            return _divide_result(
                lambda x, i: IndexUpdateRef(x, i).get(**options),
                "at[...].get",
                out_sharding,
                (self.array, index),
            )
        if mode is None and wrap_negative_indices:
            return indexing.getitem(self.array, self.index)
        return indexing.take(
            self.array,
            self.index,
            mode=mode,
            fill_value=fill_value,
            indices_are_sorted=indices_are_sorted,
            unique_indices=unique_indices,
            wrap=wrap_negative_indices,
        )

    def set(self, values: Any, **options: Any) -> Any:
        """`x` with `values` at the index.

        Example:
          >>> import olympus.numpy as onp
          >>> onp.zeros(3).at[1].set(5)
          Array([0., 5., 0.], dtype=float32)
        """
        return _write(self, "set", values, **options)

    def add(self, values: Any, **options: Any) -> Any:
        """`x` with `values` added at the index."""
        return _write(self, "add", values, **options)

    def subtract(self, values: Any, **options: Any) -> Any:
        """`x` with `values` subtracted at the index."""
        return _write(self, "subtract", values, **options)

    def multiply(self, values: Any, **options: Any) -> Any:
        """`x` multiplied by `values` at the index."""
        return _write(self, "multiply", values, **options)

    mul = multiply

    def divide(self, values: Any, **options: Any) -> Any:
        """`x` divided by `values` at the index."""
        factor = IndexUpdateRef(_ones(self.array), self.index)
        return self.array / factor.multiply(values, **options)

    def power(self, values: Any, **options: Any) -> Any:
        """`x` to the power `values` at the index."""
        exponent = IndexUpdateRef(_ones(self.array), self.index)
        return self.array ** exponent.multiply(values, **options)

    def min(self, values: Any, **options: Any) -> Any:
        """The lesser of `x` and `values` at the index."""
        return _write(self, "min", values, **options)

    def max(self, values: Any, **options: Any) -> Any:
        """The greater of `x` and `values` at the index."""
        return _write(self, "max", values, **options)

    def apply(
        self,
        func: Callable[[Any], Any],
        *,
        indices_are_sorted: bool = False,
        unique_indices: bool = False,
        mode: Any = None,
        out_sharding: Any = None,
        wrap_negative_indices: bool = True,
    ) -> Any:
        """`func` applied to the elements at the index, as often as they are named.

        Args:
          func: takes and returns an array, elementwise.
        """
        x = self.array
        choices = (indices_are_sorted, unique_indices, mode, wrap_negative_indices)
        masked = masked_updates.find(avals.aval_of(x), self.index)
        if masked is not None:
            old = IndexUpdateRef(x, masked.places).get(mode="clip")
            new = func(old)
            shape = avals.aval_of(new).shape
            return _write_masked(
                x, masked, "set", new, shape, masked.place, None, choices
            )
        plan, operands, options = _plan_update(x, self.index, "set", *choices)
        if plan.distinct or unique_indices:
            wrap = {"wrap_negative_indices": wrap_negative_indices}
            values = func(self.get(mode="clip", **wrap))
            return self.set(values, mode=mode, unique_indices=True, **wrap)
        return index_updates.apply_traced(
            x, *operands, plan=plan, options=options, func=func
        )


def _divide_result(f: Any, what: str, out_sharding: Any, operands: Any) -> Any:
    """A function of arrays and an index that holds some, with a divided result."""
    leaves, structure = tree.tree_flatten(operands)
    return sharding_constraints.divide_result(
        lambda *xs: f(*structure.unflatten(xs)), out_sharding, what, *leaves
    )


def _ones(x: Any) -> Any:
    return shaping.full_like(x, 1)


def _plan_update(
    x: Any,
    index: Any,
    op: str,
    indices_are_sorted: bool,
    unique_indices: bool,
    mode: Any,
    wrap: bool,
) -> tuple[index_parsing.Plan, list[Any], index_updates.Options]:
    """The plan of an index, its operands, and how to write by it."""
    mode = Mode.FILL_OR_DROP if mode is None else Mode.from_any(mode)
    aval = avals.aval_of(x)
    plan, operands = index_parsing.parse(
        aval, index, clamp=mode is Mode.CLIP, wrap=wrap
    )
    if evaluate.is_evaluating():
        plan, operands = index_parsing.moving(plan, operands, aval.shape)
    elif not unique_indices:  # once for many calls
        unique_indices = index_parsing.are_known_distinct(plan, operands, aval.shape)
    options = index_updates.Options(
        op, mode, bool(indices_are_sorted), bool(unique_indices)
    )
    return plan, operands, options


def _write(
    ref: IndexUpdateRef,
    op: str,
    values: Any,
    *,
    indices_are_sorted: bool = False,
    unique_indices: bool = False,
    mode: Any = None,
    out_sharding: Any = None,
    wrap_negative_indices: bool = True,
) -> Any:
    x = ref.array
    if out_sharding is not None:
        keywords: dict[str, Any] = {
            "indices_are_sorted": indices_are_sorted,
            "unique_indices": unique_indices,
            "mode": mode,
            "wrap_negative_indices": wrap_negative_indices,
        }
        return _divide_result(
            lambda x, i, v: _write(IndexUpdateRef(x, i), op, v, **keywords),
            f"at[...].{op}",
            out_sharding,
            (x, ref.index, values),
        )
    if isinstance(values, (list, tuple)):
        values = creation.asarray(values)
    if not avals.is_array_like(values):
        raise TypeError(
            f"at[...].{op}: values must be an array or a number, got {type(values)}; "
            "convert it with numpy.asarray"
        )
    values, wide = _cast_values(values, avals.aval_of(x).dtype, op)
    choices = (indices_are_sorted, unique_indices, mode, wrap_negative_indices)
    masked = masked_updates.find(avals.aval_of(x), ref.index)
    few = op in _SCATTERED and not evaluate.is_evaluating()
    if masked is not None and not (few and masked_updates.is_sparse(masked)):
        shape = avals.aval_of(values).shape
        spread = masked_updates.value_shape(masked, shape)
        if spread is not None:
            return _write_masked(
                x, masked, op, values, spread, masked.front, wide, choices
            )
        masked_updates.refuse_traced(masked, op, shape)
    plan, operands, options = _plan_update(x, ref.index, op, *choices)
    if wide is not None:
        options = options._replace(wide=wide)
    return index_updates.update(x, values, *operands, plan=plan, options=options)


# What a known mask with few elements set is written by at these alone, in traced
# programs.
_SCATTERED = ("set", "add", "subtract", "min", "max")


def _write_masked(
    x: Any,
    masked: masked_updates.Masked,
    op: str,
    values: Any,
    spread: tuple[int, ...],
    front: int,
    wide: Any,
    choices: tuple[Any, ...],
) -> Any:
    plan, operands, options = _plan_update(x, masked.places, op, *choices)
    return masked_updates.update(
        x,
        values,
        masked.mask,
        *operands,
        plan=plan,
        options=options._replace(wide=wide),
        spread=spread,
        move=(front, masked.place),
    )


def _cast_values(values: Any, dtype: Any, op: str) -> tuple[Any, Any]:
    """Values in the array's dtype, or in a wider one, which is the second result.

    Warns where the array's own dtype does not hold what the values are.
    """
    aval = avals.aval_of(values)
    if aval.dtype == dtype:
        return values, None
    number = isinstance(values, (bool, int, float, complex))
    joined, _ = dtypes.lattice_result((dtype, False), (aval.dtype, aval.weak_type))
    narrow = dtypes.canonicalize_dtype(dtype)  # than 64 bits, where x64 is off
    if joined == narrow:
        joined = dtype
    if joined != dtype:
        what = f"the number {values!r}" if number else f"values of dtype {aval.dtype}"
        user_warnings.warn(
            f"at[...].{op}: cannot safely cast {what} to dtype {dtype} of the "
            f"array, and the result is converted; convert it yourself, as in "
            f"x.at[...].{op}(y.astype(x.dtype)): this will be an error",
            FutureWarning,
        )
    wide = joined if joined != dtype and op != "set" else None
    target = dtype if wide is None else wide
    if narrow != dtype and wide is None:
        return lax.convert(creation.asarray(values), target), wide
    if number and wide is None and not isinstance(values, complex):
        return lax.cast_on_host(np.asarray(values), target)[()], None
    return lax.convert(values, target), wide
