"""Pytrees of arrays as one vector, and back."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from olympus._src import tree
from olympus._src.core import dtypes
from olympus._src.core.array_type import Array, ArrayLike, PyTree
from olympus._src.lax import concatenation, shaping
from olympus._src.lax import elementwise as lax
from olympus._src.numpy import creation, promotion
from olympus._src.numpy.promotion import aval_of, check_arraylike

_FROM = "flatten_util.ravel_pytree"


def ravel_pytree(pytree: PyTree) -> tuple[Array, Callable[[ArrayLike], PyTree]]:
    """All elements of a pytree of arrays in one vector, and the inverse function.

    Args:
      pytree: a pytree of arrays and numbers.

    Returns:
      A vector of the leaves' common dtype, and a function that maps such a vector to a
      pytree of the same structure, shapes and dtypes.

    Raises:
      TypeError: a leaf is not an array; or, of the function, the vector has another
        dtype though the leaves have several. Where they all have one, the vector's
        dtype is that of the new leaves.
      ValueError: of the function, the vector has another shape.

    Example:
      >>> import numpy as np
      >>> from olympus import flatten_util
      >>> flat, back = flatten_util.ravel_pytree({"a": np.arange(3), "b": 1.5})
      >>> print(flat)
      [0.  1.  2.  1.5]
      >>> back(2 * flat)["a"]
      Array([0, 2, 4], dtype=int32)
    """
    leaves, structure = tree.tree_flatten(pytree)
    if not leaves:
        return creation.zeros((0,), np.float32), _Unravel(structure, (), None)
    check_arraylike(_FROM, *leaves)
    kinds = tuple([(aval_of(x).shape, aval_of(x).dtype) for x in leaves])
    flat = _join_leaves(*leaves)
    if all(dtype == kinds[0][1] for _, dtype in kinds):
        return flat, _Unravel(structure, tuple([(s, None) for s, _ in kinds]), None)
    return flat, _Unravel(structure, kinds, aval_of(flat).dtype)


@promotion.evaluate.fuse
def _join_leaves(*leaves: Any) -> Any:
    # Numbers count as arrays of their default dtype: all leaves come back exactly.
    kinds = [dtypes.dtype_and_weak(x) for x in leaves]
    dtype, _ = dtypes.lattice_result(*[(kind, False) for kind, _ in kinds])
    weak = all(is_weak and kind == dtype for kind, is_weak in kinds)
    parts = [promotion.cast(x, dtype, weak) for x in leaves]
    return concatenation.concatenate(
        [shaping.reshape(x, (math.prod(aval_of(x).shape),)) for x in parts], 0
    )


class _Unravel:
    """Takes a vector back to a tree; equal trees give equal functions."""

    __slots__ = ("_dtype", "_kinds", "_structure")

    def __init__(self, structure: Any, kinds: Any, dtype: Any) -> None:
        self._structure, self._kinds, self._dtype = structure, kinds, dtype

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Unravel) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def _key(self) -> tuple[Any, ...]:
        return self._structure, self._kinds, self._dtype

    def __call__(self, vector: Any) -> Any:
        check_arraylike("unravel", vector)
        aval = aval_of(vector)
        total = sum(math.prod(shape) for shape, _ in self._kinds)
        if aval.shape != (total,):
            raise ValueError(
                f"{_FROM}: the function of this tree takes vectors of {total} elements"
                f", got {aval.short()}"
            )
        if self._dtype is not None and aval.dtype != self._dtype:
            raise TypeError(
                f"{_FROM}: the function of this tree takes dtype {self._dtype}, got "
                f"{aval.dtype}; convert the vector with astype"
            )
        leaves = _split_vector(vector, kinds=self._kinds)
        return self._structure.unflatten(leaves)


@promotion.evaluate.fuse
def _split_vector(vector: Any, *, kinds: Any) -> list[Any]:
    leaves, start = [], 0
    for shape, dtype in kinds:
        stop = start + math.prod(shape)
        part = concatenation.slice_in_dim(vector, start, stop)
        dtype = aval_of(part).dtype if dtype is None else dtype
        if dtypes.kind(dtype) != "c" and dtypes.kind(aval_of(part).dtype) == "c":
            part = lax.real(part)
        if dtype == aval_of(part).dtype:
            leaf = part
        elif dtype == np.bool_:
            leaf = lax.ne(part, promotion.scalar(0, part))
        else:
            leaf = lax.convert(part, dtype, False)
        leaves.append(shaping.reshape(leaf, shape))
        start = stop
    return leaves
