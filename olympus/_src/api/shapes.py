"""Shapes and dtypes without data."""

from __future__ import annotations

from typing import Any

from olympus._src.core import avals as avals_
from olympus._src.core import dtypes, sizes
from olympus._src.core.array_type import ArrayLike, DTypeLike, Placement, Shape
from olympus._src.core.avals import AbstractValue


class ShapeDtypeStruct:
    """Describes an array that need not exist.

    Args:
      shape: sizes of the axes.
      dtype: element type.
      sharding: where it would live.
      weak_type: whether its dtype is weak in promotion.

    Example:
      >>> olympus.ShapeDtypeStruct((2, 3), 'float32')
      ShapeDtypeStruct(shape=(2, 3), dtype=float32)
    """

    __slots__ = ("dtype", "shape", "sharding", "weak_type")

    def __init__(
        self,
        shape: Shape,
        dtype: DTypeLike,
        *,
        sharding: Placement = None,
        weak_type: bool = False,
        **_: Any,
    ) -> None:
        if dtype is None:
            raise ValueError("ShapeDtypeStruct: dtype must be specified, got None")
        self.shape = tuple(shape)
        self.dtype = dtypes.as_dtype(dtype)
        self.sharding = sharding
        self.weak_type = weak_type

    @property
    def size(self) -> int:
        """Number of elements."""
        return sizes.product(self.shape)

    @property
    def ndim(self) -> int:
        """Number of axes."""
        return len(self.shape)

    def update(self, **changes: Any) -> ShapeDtypeStruct:
        """This description with some fields replaced."""
        fields = {name: getattr(self, name) for name in ShapeDtypeStruct.__slots__}
        fields.update(changes)
        return ShapeDtypeStruct(**fields)

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("len() of unsized object")
        return self.shape[0]

    def __eq__(self, other: object) -> bool:
        return type(other) is ShapeDtypeStruct and self._fields() == other._fields()

    def __hash__(self) -> int:
        return hash(self._fields())

    def _fields(self) -> Any:
        return self.shape, self.dtype, self.sharding, self.weak_type

    def __repr__(self) -> str:
        name = self.dtype.name if hasattr(self.dtype, "name") else self.dtype
        weak = ", weak_type=True" if self.weak_type else ""
        place = "" if self.sharding is None else f", sharding={self.sharding}"
        return f"ShapeDtypeStruct(shape={self.shape}, dtype={name}{place}{weak})"


def struct_of(aval: Any) -> ShapeDtypeStruct:
    """The description of values of a type."""
    return ShapeDtypeStruct(
        aval.shape, aval.dtype, sharding=aval.explicit, weak_type=aval.weak_type
    )


def typeof(x: ArrayLike) -> AbstractValue:
    """The type of a value: shape, dtype and weak type.

    Raises:
      TypeError: `x` is not array-like.

    Example:
      >>> import olympus
      >>> olympus.typeof(1.5)
      ShapedArray(float32[], weak_type=True)
    """
    return avals_.aval_of(x)
