"""`x.at[index]`: new arrays that differ from `x` at some positions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from olympus._src.core import avals, dtypes
from olympus._src.foundation import notices
from olympus._src.interpreters import evaluate
from olympus._src.lax import elementwise as lax
from olympus._src.lax import gather, joining, scatter, shaping, slicing
from olympus._src.numpy import indexing
from olympus._src.numpy.indexing import INT, NEW, SLICE, Plan

Mode = gather.GatherScatterMode


class IndexUpdateHelper:
    """`x.at`; index it to say which positions are meant."""

    __slots__ = ("array",)

    def __init__(self, array: Any) -> None:
        self.array = array

    def __getitem__(self, index: Any) -> IndexUpdateRef:
        return IndexUpdateRef(self.array, index)

    def __repr__(self) -> str:
        return f"IndexUpdateHelper({self.array})"


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
        return f"IndexUpdateRef({self.array}, {self.index!r})"

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

    def apply(self, func: Callable[[Any], Any], **options: Any) -> Any:
        """`func` applied to the elements at the index.

        Args:
          func: takes and returns an array, elementwise.
        """
        values = func(self.get(mode="clip"))
        return _write(self, "set", values, **options)


def _ones(x: Any) -> Any:
    return shaping.full_like(x, 1)


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
    if not avals.is_array_like(values):
        raise TypeError(
            f"at[...].{op}: values must be an array or a number, got {type(values)}; "
            "convert it with numpy.asarray"
        )
    x_aval = avals.aval_of(x)
    mode = Mode.FILL_OR_DROP if mode is None else Mode.from_any(mode)
    values = _in_dtype(values, x_aval.dtype, op)
    plan, operands = indexing.parse(
        x_aval, ref.index, clamp=mode is Mode.CLIP, wrap=wrap_negative_indices
    )
    options = (op, mode, bool(indices_are_sorted), bool(unique_indices))
    return _update(x, values, *operands, plan=plan, options=options)


def _in_dtype(values: Any, dtype: Any, op: str) -> Any:
    """Values in the array's dtype; warns where that loses what they are."""
    aval = avals.aval_of(values)
    if aval.dtype == dtype:
        return values
    if not isinstance(values, (bool, int, float, complex)):
        joined, _ = dtypes.lattice_result((dtype, False), (aval.dtype, aval.weak_type))
        if joined != dtype:
            notices.warn(
                f"at[...].{op}: values of dtype {aval.dtype} do not fit an array of "
                f"dtype {dtype} without loss, and are converted; convert them "
                "yourself, this will be an error",
                FutureWarning,
            )
        return lax.convert(values, dtype)
    joined, _ = dtypes.lattice_result((dtype, False), (aval.dtype, True))
    if joined != dtype:
        notices.warn(
            f"at[...].{op}: the number {values!r} does not fit an array of dtype "
            f"{dtype} without loss, and is converted; this will be an error",
            FutureWarning,
        )
    return np.asarray(values).astype(dtype)[()]


def _update_traced(
    x: Any, values: Any, *operands: Any, plan: Plan, options: Any
) -> Any:
    op, mode, is_sorted, unique = options
    if plan.inserted:
        whole = shaping.expand_dims(x, plan.inserted)
        out = _update_traced(
            whole, values, *operands, plan=Plan(plan.entries, ()), options=options
        )
        return shaping.reshape(out, avals.aval_of(x).shape)
    if _is_window(plan):
        return _update_window(x, values, operands, plan, op)
    return _update_scattered(x, values, operands, plan, op, mode, is_sorted, unique)


_update = evaluate.fuse(_update_traced)
_update.__name__ = "at"


def _is_window(plan: Plan) -> bool:
    """Whether the index is one block within bounds."""
    return all(
        e[0] in (NEW, INT) or (e[0] == SLICE and e[3] == 1) for e in plan.entries
    )


def _update_window(x: Any, values: Any, operands: Any, plan: Plan, op: str) -> Any:
    """One block: sliced out, changed, and put back."""
    starts, sizes, result = [], [], []
    for entry in plan.entries:
        if entry[0] == NEW:
            result.append(1)
        elif entry[0] == SLICE:
            starts.append(entry[1])
            sizes.append(entry[2])
            result.append(entry[2])
        else:
            starts.append(operands[entry[1]])
            sizes.append(1)
    values = _broadcast_values(values, tuple(result), op)
    if 0 in sizes:
        return x
    block = shaping.reshape(values, tuple(sizes))
    starts = [lax.convert(s, np.dtype(np.int32)) for s in starts]
    if op != "set":
        old = x
        if sizes:
            old = slicing.dynamic_slice(x, starts, sizes, allow_negative_indices=False)
        block = _combine(op, old, block)
    if not sizes:
        return block
    return slicing.dynamic_update_slice(x, block, starts, allow_negative_indices=False)


def _combine(op: str, old: Any, new: Any) -> Any:
    combine = {
        "add": lax.add,
        "subtract": lax.sub,
        "multiply": lax.mul,
        "min": lax.min_,
        "max": lax.max_,
    }[op]
    if avals.aval_of(old).dtype == np.bool_ and op in ("add", "multiply"):
        combine = lax.bitwise_or if op == "add" else lax.bitwise_and
    return combine(old, new)


def _broadcast_values(values: Any, shape: tuple[int, ...], op: str) -> Any:
    own = avals.aval_of(values).shape
    fits = len(own) <= len(shape) and all(
        a in (1, b) for a, b in zip(own[::-1], shape[::-1], strict=False)
    )
    if not fits:
        while own and own[0] == 1 and len(own) > len(shape):
            own = own[1:]  # leading axes of size one may be dropped, as in NumPy
            return _broadcast_values(shaping.reshape(values, own), shape, op)
        raise ValueError(
            f"at[...].{op}: values must broadcast to the indexed shape {shape}, got "
            f"shape {own}"
        )
    dims = tuple(range(len(shape) - len(own), len(shape)))
    if own == shape:
        return values
    return shaping.broadcast_in_dim(values, shape, dims)


def _update_scattered(
    x: Any,
    values: Any,
    operands: Any,
    plan: Plan,
    op: str,
    mode: Any,
    is_sorted: bool,
    unique: bool,
) -> Any:
    x_shape = avals.aval_of(x).shape
    partial, positions = _partial_slices(plan, x_shape)
    layout = indexing.Layout(x_shape, plan.entries, operands)
    sizes = {axis: len(p) for axis, p in positions.items()}
    result = []
    batch = iter(layout.batch)
    for label in layout.labels:
        if label == NEW:
            result.append(1)
        elif label == "batch":
            result.append(next(batch))
        else:
            result.append(sizes.get(label, x_shape[label]))
    values = _broadcast_values(values, tuple(result), op)
    kept = [k for k, label in enumerate(layout.labels) if label != NEW]
    labels = [layout.labels[k] for k in kept]
    values = shaping.reshape(values, tuple([result[k] for k in kept]))
    # In the order scatter wants: arrays' axes, partly taken axes, whole axes.
    order = [k for k, label in enumerate(labels) if label == "batch"]
    order += [labels.index(axis) for axis in partial]
    whole = [
        k for k, label in enumerate(labels) if label != "batch" and label not in partial
    ]
    order += whole
    values = shaping.transpose(values, tuple(order))
    if 0 in result:
        return x
    n_scattered = len(order) - len(whole)
    numbers = scatter.ScatterDimensionNumbers(
        update_window_dims=tuple(range(n_scattered, len(order))),
        inserted_window_dims=tuple(sorted((*layout.axes, *partial))),
        scatter_dims_to_operand_dims=(*layout.axes, *partial),
    )
    indices = _indices(layout, partial, positions)
    return _SCATTERS[op](
        x,
        indices,
        values,
        numbers,
        indices_are_sorted=is_sorted,
        unique_indices=unique,
        mode=mode,
    )


def _partial_slices(plan: Plan, shape: Any) -> tuple[list[int], dict[int, Any]]:
    """Axes of which a slice takes a part, and the positions it takes."""
    positions: dict[int, Any] = {}
    axis = 0
    for entry in plan.entries:
        if entry[0] == NEW:
            continue
        if entry[0] == SLICE:
            _, start, size, step = entry
            if (start, size, step) != (0, shape[axis], 1):
                positions[axis] = np.arange(size, dtype=np.int32) * step + start
        axis += 1
    return list(positions), positions


def _indices(layout: Any, partial: list[int], positions: dict[int, Any]) -> Any:
    """Positions along each scattered axis, over all arrays' and slices' axes."""
    shape = layout.batch + tuple([len(positions[axis]) for axis in partial])
    n = len(layout.batch)
    parts = [
        shaping.broadcast_in_dim(p, (*shape, 1), tuple(range(n)))
        for p in layout.positions
    ]
    dtype = avals.aval_of(parts[0]).dtype if parts else np.dtype(np.int32)
    for k, axis in enumerate(partial):
        p = positions[axis].astype(dtype)
        parts.append(shaping.broadcast_in_dim(p, (*shape, 1), (n + k,)))
    return joining.concatenate(parts, len(shape))


_SCATTERS = {
    "set": scatter.scatter,
    "add": scatter.scatter_add,
    "subtract": scatter.scatter_sub,
    "multiply": scatter.scatter_mul,
    "min": scatter.scatter_min,
    "max": scatter.scatter_max,
}
