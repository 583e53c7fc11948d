"""What the methods and operators of a BCOO do."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from olympus._src.numpy import (
    arithmetic,
    contractions,
    creation,
    indexing,
    logic,
    manipulation,
    reductions,
)
from olympus._src.sparse import bcoo_functions, bcoo_layout, formats, sparsify

fromdense = bcoo_functions.bcoo_fromdense
todense = bcoo_functions.bcoo_todense
sort_indices = bcoo_functions.bcoo_sort_indices
sum_duplicates = bcoo_functions.bcoo_sum_duplicates
eliminate_zeros = bcoo_functions.bcoo_eliminate_zeros
update_layout = bcoo_layout.bcoo_update_layout


def transpose(mat: Any, axes: Any) -> Any:
    """The array with its axes in another order, reversed by default."""
    order = tuple(range(mat.ndim))[::-1] if axes is None else tuple(axes)
    return bcoo_functions.bcoo_transpose(mat, permutation=order)


def _reshape(x: Any, *shape: Any) -> Any:
    is_one = len(shape) == 1 and not isinstance(shape[0], int)
    return manipulation.reshape(x, shape[0] if is_one else shape)


_FUNCTIONS: dict[str, Callable[..., Any]] = {
    "abs": arithmetic.absolute,
    "add": arithmetic.add,
    "divide": arithmetic.true_divide,
    "equal": logic.equal,
    "greater": logic.greater,
    "greater_equal": logic.greater_equal,
    "less": logic.less,
    "less_equal": logic.less_equal,
    "matmul": contractions.matmul,
    "multiply": arithmetic.multiply,
    "negative": arithmetic.negative,
    "not_equal": logic.not_equal,
    "positive": arithmetic.positive,
    "power": arithmetic.power,
    "subtract": arithmetic.subtract,
}


def apply(name: str, *args: Any, **kwargs: Any) -> Any:
    """An operator or a method, by the name of the function of arrays."""
    mat, *options = args
    if name == "power" and isinstance(options[0], (int, float)):
        return sparsify.sparsify(lambda x: arithmetic.power(x, options[0]))(mat)
    if name in _FUNCTIONS:
        return sparsify.sparsify(_FUNCTIONS[name])(*args)
    method: dict[str, Callable[..., Any]] = {
        "reshape": _reshape,
        "astype": creation.astype,
        "sum": reductions.sum,
    }
    return sparsify.sparsify(lambda x: method[name](x, *options, **kwargs))(mat)


def take(mat: Any, item: Any) -> Any:
    """A part of an array, by an index."""
    part = sparsify.sparsify(lambda x: indexing.getitem(x, item))(mat)
    if isinstance(part, formats.JAXSparse):
        return part
    return fromdense(part, nse=0)  # of an axis of no elements
