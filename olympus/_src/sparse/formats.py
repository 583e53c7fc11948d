"""The base class of sparse arrays, and warnings and errors about them."""

from __future__ import annotations

import abc
import math
from collections.abc import Iterable
from typing import Any

from olympus._src import tree
from olympus._src.core.array_type import Array
from olympus._src.lax import sizes as lax_sizes


class SparseEfficiencyWarning(UserWarning):
    """An operation on sparse arrays is slower than it could be.

    Example:
      >>> from olympus.experimental import sparse
      >>> issubclass(sparse.SparseEfficiencyWarning, UserWarning)
      True
    """


class CuSparseEfficiencyWarning(SparseEfficiencyWarning):
    """An operation cannot use a GPU's library for sparse arrays.

    Example:
      >>> from olympus.experimental import sparse
      >>> base = sparse.SparseEfficiencyWarning
      >>> issubclass(sparse.CuSparseEfficiencyWarning, base)
      True
    """


class SparseEfficiencyError(ValueError):
    """A conversion would give a sparse array that stores more than it needs to.

    Example:
      >>> from olympus.experimental import sparse
      >>> matrix = sparse.eye(3)
      >>> try:
      ...     matrix.update_layout(n_batch=1)
      ... except sparse.SparseEfficiencyError:
      ...     print("inefficient")
      inefficient
    """


class JAXSparse(abc.ABC):
    """The base class of sparse arrays.

    Args:
      args: the buffers.
      shape: of the array.

    Attributes:
      shape: of the array.

    Example:
      >>> from olympus.experimental import sparse
      >>> isinstance(sparse.eye(3), sparse.JAXSparse)
      True
    """

    __array_priority__ = 100
    __array_ufunc__ = None  # NumPy's arrays leave operators to this class
    __hash__ = None  # type: ignore[assignment]

    data: Any
    shape: tuple[int, ...]

    def __init__(self, args: Iterable[Any], *, shape: Any) -> None:
        del args
        self.shape = lax_sizes.canonicalize_shape(shape)

    @property
    @abc.abstractmethod
    def nse(self) -> int:
        """How many elements are stored, in each element of a batch."""

    @property
    def dtype(self) -> Any:
        """Element type."""
        return self.data.dtype

    @property
    def size(self) -> int:
        """The number of elements, stored or not."""
        return math.prod(self.shape)

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return len(self.shape)

    @property
    def T(self) -> Any:
        """The transpose."""
        return self.transpose()

    @abc.abstractmethod
    def tree_flatten(self) -> Any:
        """The buffers, and what is known of them."""

    @classmethod
    @abc.abstractmethod
    def tree_unflatten(cls, aux_data: Any, children: Any) -> Any:
        """The array of the buffers."""

    @abc.abstractmethod
    def todense(self) -> Array:
        """The same array in dense form."""

    @abc.abstractmethod
    def transpose(self, axes: Any = None) -> Any:
        """The array with its axes in another order."""

    def block_until_ready(self) -> Any:
        """Waits until the buffers are computed; returns the array."""
        for buffer in tree.tree_leaves(self):
            buffer.block_until_ready()
        return self

    def sum(self, *args: Any, **kwargs: Any) -> Any:
        """The sum of elements over axes."""
        raise self._missing("sum")

    def __repr__(self) -> str:
        return describe(self)

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError(
                f"len: {type(self).__name__} of shape () has no length; use size"
            )
        return self.shape[0]

    def __bool__(self) -> bool:
        return True  # as any object: an array that is stored is there

    def _missing(self, name: str) -> NotImplementedError:
        kind = type(self).__name__
        return NotImplementedError(
            f"{kind}.{name}: must be an operation that {kind} has, got none; convert "
            "it to a BCOO, or use todense()"
        )

    def __neg__(self) -> Any:
        raise self._missing("__neg__")

    def __pos__(self) -> Any:
        raise self._missing("__pos__")

    def __matmul__(self, other: Any) -> Any:
        raise self._missing("__matmul__")

    def __rmatmul__(self, other: Any) -> Any:
        raise self._missing("__rmatmul__")

    def __mul__(self, other: Any) -> Any:
        raise self._missing("__mul__")

    def __rmul__(self, other: Any) -> Any:
        raise self._missing("__rmul__")

    def __add__(self, other: Any) -> Any:
        raise self._missing("__add__")

    def __radd__(self, other: Any) -> Any:
        raise self._missing("__radd__")

    def __sub__(self, other: Any) -> Any:
        raise self._missing("__sub__")

    def __rsub__(self, other: Any) -> Any:
        raise self._missing("__rsub__")

    def __getitem__(self, item: Any) -> Any:
        raise self._missing("__getitem__")


def describe(array: Any, *axes: str) -> str:
    """What is printed of a sparse array: its type, its size, axes that are not sparse.

    Args:
      array: a sparse array, perhaps one whose buffers do not fit together.
      axes: attributes that are shown where they are not 0.
    """
    name = type(array).__name__
    try:
        nse = array.nse
        dtype = array.dtype
        numbers = [f"nse={nse}"]
        numbers += [f"{a}={getattr(array, a)}" for a in axes if getattr(array, a)]
        kind = f"{dtype}{list(array.shape)}"
    except Exception:  # buffers of a tree may be anything
        return f"{name}(<invalid>)"
    text = f"{name}({kind}, {', '.join(numbers)})"
    tracers = [x for x in tree.tree_leaves(array) if hasattr(x, "_trace")]
    return f"{type(tracers[0]).__name__}[{text}]" if tracers else text
