"""The type of arrays, for annotations and `isinstance`, and types like it.

Its members are declared for type checkers alone: the classes of concrete and of traced
arrays have them (`runtime.array`, `core.trace`, the array methods of `numpy`), and a
test compares the lists.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, ForwardRef, Protocol, Union

import numpy as np

from olympus._src.tree.flattening import PyTree as PyTree

if TYPE_CHECKING:
    from olympus._src.lax.gather import GatherScatterMode
    from olympus._src.numpy.at import IndexUpdateHelper


class SupportsDType(Protocol):
    """An object with a dtype, such as the scalar types of `olympus.numpy`."""

    @property
    def dtype(self) -> np.dtype[Any]: ...


class SupportsShape(Protocol):
    """An object with a shape and a dtype, such as `ShapeDtypeStruct`."""

    @property
    def shape(self) -> Any: ...
    @property
    def dtype(self) -> Any: ...


class SupportsDevice(Protocol):
    """A device, as `olympus.devices` lists them."""

    @property
    def id(self) -> int: ...
    @property
    def platform(self) -> str: ...


class SupportsDevices(Protocol):
    """A sharding: it has a set of devices."""

    @property
    def device_set(self) -> Any: ...


_concrete_types: set[type] = set()
_tracer_types: tuple[type[Any], ...] = ()
_aval_types: tuple[type[Any], ...] = ()  # of tracers that stand for arrays


class _ArrayType(type):
    """`isinstance(x, Array)` holds for concrete arrays and for tracers of arrays."""

    def __instancecheck__(cls, x: Any) -> bool:
        return type(x) in _concrete_types or (
            isinstance(x, _tracer_types) and isinstance(x.aval, _aval_types)
        )

    def __subclasscheck__(cls, kind: type) -> bool:
        return kind is cls or kind in _concrete_types or issubclass(kind, _tracer_types)


class Array(metaclass=_ArrayType):
    """The type of arrays, concrete or traced, for annotations and `isinstance`.

    Create arrays with functions such as `olympus.numpy.array`, not with this class.
    """

    def __init__(self) -> None:
        raise TypeError(
            "olympus.Array cannot be instantiated; use olympus.numpy.array(...)"
        )

    if TYPE_CHECKING:
        # -- what it is --
        aval: Any

        @property
        def dtype(self) -> np.dtype[Any]: ...
        @property
        def weak_type(self) -> bool: ...
        @property
        def shape(self) -> tuple[int, ...]: ...
        @property
        def size(self) -> int: ...
        @property
        def ndim(self) -> int: ...
        @property
        def nbytes(self) -> int: ...
        @property
        def itemsize(self) -> int: ...

        # -- where it is --
        @property
        def sharding(self) -> Any: ...
        @property
        def device(self) -> Any: ...
        @property
        def format(self) -> Any: ...
        @property
        def committed(self) -> bool: ...
        @property
        def is_fully_addressable(self) -> bool: ...
        @property
        def is_fully_replicated(self) -> bool: ...
        @property
        def addressable_shards(self) -> list[Any]: ...
        @property
        def global_shards(self) -> list[Any]: ...
        def addressable_data(self, index: int) -> Array: ...
        def devices(self) -> set[Any]: ...
        def to_device(self, device: Any, *, stream: None = None) -> Array: ...
        def copy_to_host_async(self) -> None: ...
        def block_until_ready(self) -> Array: ...
        def is_ready(self) -> bool: ...
        def is_deleted(self) -> bool: ...
        def delete(self) -> None: ...
        def on_device_size_in_bytes(self) -> int: ...
        def unsafe_buffer_pointer(self) -> int: ...

        # -- as Python's and NumPy's values --
        def __bool__(self) -> bool: ...
        def __int__(self) -> int: ...
        def __float__(self) -> float: ...
        def __complex__(self) -> complex: ...
        def __index__(self) -> int: ...
        def __len__(self) -> int: ...
        def __iter__(self) -> Iterator[Array]: ...
        def __reversed__(self) -> Iterator[Array]: ...
        def __contains__(self, value: ArrayLike, /) -> bool: ...
        def __array__(
            self, dtype: DTypeLike | None = None, copy: bool | None = None
        ) -> np.ndarray: ...
        def __array_namespace__(self, *, api_version: str | None = None) -> Any: ...
        def __dlpack__(
            self,
            *,
            stream: Any = None,
            max_version: tuple[int, int] | None = None,
            dl_device: tuple[int, int] | None = None,
            copy: bool | None = None,
        ) -> Any: ...
        def __dlpack_device__(self) -> tuple[int, int]: ...
        def item(self, *index: int) -> Any: ...
        def tolist(self) -> Any: ...
        def tobytes(self, order: str = "C") -> bytes: ...

        # -- elements --
        def __getitem__(self, index: Any, /) -> Array: ...
        @property
        def at(self) -> IndexUpdateHelper: ...

        # -- operators --
        def __add__(self, other: ArrayLike, /) -> Array: ...
        def __radd__(self, other: ArrayLike, /) -> Array: ...
        def __sub__(self, other: ArrayLike, /) -> Array: ...
        def __rsub__(self, other: ArrayLike, /) -> Array: ...
        def __mul__(self, other: ArrayLike, /) -> Array: ...
        def __rmul__(self, other: ArrayLike, /) -> Array: ...
        def __truediv__(self, other: ArrayLike, /) -> Array: ...
        def __rtruediv__(self, other: ArrayLike, /) -> Array: ...
        def __floordiv__(self, other: ArrayLike, /) -> Array: ...
        def __rfloordiv__(self, other: ArrayLike, /) -> Array: ...
        def __mod__(self, other: ArrayLike, /) -> Array: ...
        def __rmod__(self, other: ArrayLike, /) -> Array: ...
        def __matmul__(self, other: ArrayLike, /) -> Array: ...
        def __rmatmul__(self, other: ArrayLike, /) -> Array: ...
        def __and__(self, other: ArrayLike, /) -> Array: ...
        def __rand__(self, other: ArrayLike, /) -> Array: ...
        def __or__(self, other: ArrayLike, /) -> Array: ...
        def __ror__(self, other: ArrayLike, /) -> Array: ...
        def __xor__(self, other: ArrayLike, /) -> Array: ...
        def __rxor__(self, other: ArrayLike, /) -> Array: ...
        def __lshift__(self, other: ArrayLike, /) -> Array: ...
        def __rlshift__(self, other: ArrayLike, /) -> Array: ...
        def __rshift__(self, other: ArrayLike, /) -> Array: ...
        def __rrshift__(self, other: ArrayLike, /) -> Array: ...
        def __pow__(self, other: ArrayLike, /) -> Array: ...
        def __rpow__(self, other: ArrayLike, /) -> Array: ...
        def __divmod__(self, other: ArrayLike, /) -> tuple[Array, Array]: ...
        def __rdivmod__(self, other: ArrayLike, /) -> tuple[Array, Array]: ...
        def __eq__(self, other: object, /) -> Array: ...  # type: ignore[override]
        def __ne__(self, other: object, /) -> Array: ...  # type: ignore[override]
        def __lt__(self, other: ArrayLike, /) -> Array: ...
        def __le__(self, other: ArrayLike, /) -> Array: ...
        def __gt__(self, other: ArrayLike, /) -> Array: ...
        def __ge__(self, other: ArrayLike, /) -> Array: ...

        __hash__: None  # type: ignore[assignment]

        def __neg__(self) -> Array: ...
        def __pos__(self) -> Array: ...
        def __abs__(self) -> Array: ...
        def __invert__(self) -> Array: ...
        def __round__(self, ndigits: int | None = None) -> Array: ...

        # -- methods: NumPy's functions of the same names --
        @property
        def T(self) -> Array: ...
        @property
        def mT(self) -> Array: ...
        @property
        def real(self) -> Array: ...
        @property
        def imag(self) -> Array: ...
        @property
        def flat(self) -> Array: ...
        def all(
            self,
            axis: Axes = None,
            out: None = None,
            keepdims: bool = False,
            *,
            where: OptionalArray = None,
        ) -> Array: ...
        def any(
            self,
            axis: Axes = None,
            out: None = None,
            keepdims: bool = False,
            *,
            where: OptionalArray = None,
        ) -> Array: ...
        def argmax(
            self, axis: Axis = None, out: None = None, keepdims: bool = False
        ) -> Array: ...
        def argmin(
            self, axis: Axis = None, out: None = None, keepdims: bool = False
        ) -> Array: ...
        def argpartition(self, kth: int, axis: int = -1) -> Array: ...
        def argsort(
            self,
            axis: Axis = -1,
            *,
            descending: bool = False,
            stable: bool = True,
            order: None = None,
            kind: None = None,
            dtype: DTypeLike | None = None,
        ) -> Array: ...
        def astype(
            self, dtype: DTypeLike | None, copy: bool = False, device: Any = None
        ) -> Array: ...
        def byteswap(self) -> Array: ...
        def choose(
            self, choices: Sequence[ArrayLike], out: None = None, mode: str = "raise"
        ) -> Array: ...
        def clip(
            self, min: OptionalArray = None, max: OptionalArray = None
        ) -> Array: ...
        def compress(
            self, condition: ArrayLike, axis: Axis = None, *, out: None = None
        ) -> Array: ...
        def conj(self) -> Array: ...
        def conjugate(self) -> Array: ...
        def copy(self) -> Array: ...
        def cumprod(
            self,
            axis: Axis = None,
            dtype: DTypeLike | None = None,
            out: None = None,
        ) -> Array: ...
        def cumsum(
            self,
            axis: Axis = None,
            dtype: DTypeLike | None = None,
            out: None = None,
        ) -> Array: ...
        def diagonal(
            self, offset: int = 0, axis1: int = 0, axis2: int = 1
        ) -> Array: ...
        def dot(
            self,
            b: ArrayLike,
            *,
            precision: Any = None,
            preferred_element_type: DTypeLike | None = None,
        ) -> Array: ...
        def flatten(self, order: str = "C", *, out_sharding: Any = None) -> Array: ...
        def max(
            self,
            axis: Axes = None,
            out: None = None,
            keepdims: bool = False,
            initial: OptionalArray = None,
            where: OptionalArray = None,
        ) -> Array: ...
        def mean(
            self,
            axis: Axes = None,
            dtype: DTypeLike | None = None,
            out: None = None,
            keepdims: bool = False,
            *,
            where: OptionalArray = None,
        ) -> Array: ...
        def min(
            self,
            axis: Axes = None,
            out: None = None,
            keepdims: bool = False,
            initial: OptionalArray = None,
            where: OptionalArray = None,
        ) -> Array: ...
        def nonzero(
            self, *, size: int | None = None, fill_value: OptionalArray = None
        ) -> tuple[Array, ...]: ...
        def prod(
            self,
            axis: Axes = None,
            dtype: DTypeLike | None = None,
            out: None = None,
            keepdims: bool = False,
            initial: OptionalArray = None,
            where: OptionalArray = None,
            promote_integers: bool = True,
        ) -> Array: ...
        def ptp(
            self, axis: Axes = None, out: None = None, keepdims: bool = False
        ) -> Array: ...
        def ravel(self, order: str = "C", *, out_sharding: Any = None) -> Array: ...
        def repeat(
            self,
            repeats: ArrayLike,
            axis: Axis = None,
            *,
            total_repeat_length: int | None = None,
        ) -> Array: ...
        def reshape(
            self,
            *args: int | Sequence[int],
            order: str = "C",
            copy: bool | None = None,
            out_sharding: Any = None,
        ) -> Array: ...
        def round(self, decimals: int = 0, out: None = None) -> Array: ...
        def searchsorted(
            self,
            v: ArrayLike,
            side: str = "left",
            sorter: OptionalArray = None,
            *,
            method: str = "scan",
        ) -> Array: ...
        def sort(
            self,
            axis: Axis = -1,
            *,
            descending: bool = False,
            stable: bool = True,
            order: None = None,
            kind: None = None,
        ) -> Array: ...
        def squeeze(self, axis: Axes = None) -> Array: ...
        def std(
            self,
            axis: Axes = None,
            dtype: DTypeLike | None = None,
            out: None = None,
            ddof: int = 0,
            keepdims: bool = False,
            *,
            where: OptionalArray = None,
            mean: OptionalArray = None,
            correction: float | None = None,
        ) -> Array: ...
        def sum(
            self,
            axis: Axes = None,
            dtype: DTypeLike | None = None,
            out: None = None,
            keepdims: bool = False,
            initial: OptionalArray = None,
            where: OptionalArray = None,
            promote_integers: bool = True,
        ) -> Array: ...
        def swapaxes(self, axis1: int, axis2: int) -> Array: ...
        def take(
            self,
            indices: Indices,
            axis: Axis = None,
            out: None = None,
            mode: IndexMode | None = None,
            unique_indices: bool = False,
            indices_are_sorted: bool = False,
            fill_value: OptionalArray = None,
        ) -> Array: ...
        def trace(
            self,
            offset: int = 0,
            axis1: int = 0,
            axis2: int = 1,
            dtype: DTypeLike | None = None,
            out: None = None,
        ) -> Array: ...
        def transpose(self, *args: int | Sequence[int] | None) -> Array: ...
        def var(
            self,
            axis: Axes = None,
            dtype: DTypeLike | None = None,
            out: None = None,
            ddof: int = 0,
            keepdims: bool = False,
            *,
            where: OptionalArray = None,
            mean: OptionalArray = None,
            correction: float | None = None,
        ) -> Array: ...
        def view(self, dtype: DTypeLike | None = None, type: None = None) -> Array: ...


# Evaluated when the module loads, so no `|` of forward references.
# An array, a NumPy array or scalar, or a Python number.
ArrayLike = Union[Array, np.ndarray, np.generic, bool, int, float, complex]  # noqa: UP007
# Several arrays: a sequence of them, or the rows of one.
Arrays = Union[Array, np.ndarray, Sequence[ArrayLike]]  # noqa: UP007
# The name of a dtype, a scalar type, or a dtype.
DTypeLike = Union[str, type[Any], np.dtype, SupportsDType]  # noqa: UP007
# Sizes of axes.
Shape = Sequence[int]
# What becomes of indices that are out of bounds.
if TYPE_CHECKING:
    IndexMode = Union[str, GatherScatterMode]  # noqa: UP007
else:  # functions of any module have it in their annotations
    _MODE = ForwardRef("GatherScatterMode", module="olympus._src.lax.gather")
    IndexMode = Union[str, _MODE]  # noqa: UP007
# An array that may be left out.
OptionalArray = Union[ArrayLike, None]  # noqa: UP007
# Arrays of integers that are positions.
Indices = ArrayLike
# Matrices, in the last two axes of an array.
Matrices = ArrayLike
# One axis; None for all, or for the elements of all in order.
Axis = Union[int, None]  # noqa: UP007
# Padding of each axis, or the name of a rule for it.
Padding = Union[str, Sequence[tuple[int, int]]]  # noqa: UP007
# One axis, several, or all.
Axes = Union[int, Sequence[int], None]  # noqa: UP007
# Keys, or their words.
KeyArray = Union[Array, np.ndarray]  # noqa: UP007
# Where an array lives: a device or a sharding of one; None for the default.
Placement = Union[SupportsDevice, SupportsDevices, None]  # noqa: UP007


def register_concrete(kind: type) -> None:
    """Says that `kind` is the class of concrete arrays."""
    _concrete_types.add(kind)


def register_tracers(kind: type, aval_kind: type) -> None:
    """Says which class traced values have, and which class the types of arrays."""
    global _tracer_types, _aval_types
    _tracer_types = (*_tracer_types, kind)
    _aval_types = (*_aval_types, aval_kind)


def concrete_types() -> set[type]:
    """The classes of concrete arrays."""
    return _concrete_types
