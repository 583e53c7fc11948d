"""Shapes and dtypes without data."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from olympus._src.core import avals as avals_
from olympus._src.core import dtypes, refs, sizes, trace
from olympus._src.core.array_type import ArrayLike, DTypeLike, Placement, Shape
from olympus._src.core.avals import AbstractValue
from olympus._src.sharding.layouts import Format
from olympus._src.sharding.manual_types import ManualAxisType
from olympus._src.sharding.meshes import NO_MESH, AbstractMesh
from olympus._src.sharding.named import NamedSharding
from olympus._src.sharding.specs import PartitionSpec


class ShapeDtypeStruct:
    """Describes an array that need not exist.

    Args:
      shape: sizes of the axes.
      dtype: element type.
      sharding: where it would live: a sharding, or a `Format` with one.
      weak_type: whether its dtype is weak in promotion.
      vma: the manual axes of a mesh along which devices may hold different values.
      manual_axis_type: the same, as the type of an array has it: a `ManualAxisType`.
      is_ref: it describes a ref that holds such an array.

    Example:
      >>> olympus.ShapeDtypeStruct((2, 3), 'float32')
      ShapeDtypeStruct(shape=(2, 3), dtype=float32)
    """

    __slots__ = ("dtype", "is_ref", "shape", "sharding", "vma", "weak_type")

    def __init__(
        self,
        shape: Shape,
        dtype: DTypeLike,
        *,
        sharding: Placement = None,
        weak_type: bool = False,
        vma: Collection[Any] = (),
        manual_axis_type: ManualAxisType | None = None,
        is_ref: bool = False,
        _memory_space: Any = None,
    ) -> None:
        if dtype is None:
            raise ValueError("ShapeDtypeStruct: dtype must be specified, got None")
        self.shape = tuple(shape)
        self.dtype = dtypes.as_dtype(dtype)
        self.sharding = sharding.sharding if isinstance(sharding, Format) else sharding
        self.weak_type = weak_type
        if manual_axis_type is not None:
            vma = avals_.varying_axes("ShapeDtypeStruct", manual_axis_type)
        avals_.refuse_placement("ShapeDtypeStruct", _memory_space)
        self.vma = frozenset(vma)
        self.is_ref = is_ref

    @classmethod
    def like(cls, x: Any) -> ShapeDtypeStruct:
        """The description of an array, a ref or another description.

        Example:
          >>> import olympus
          >>> olympus.ShapeDtypeStruct.like(olympus.numpy.zeros(3))
          ShapeDtypeStruct(shape=(3,), dtype=float32)
        """
        if isinstance(x, cls):
            return x.update()
        aval = avals_.aval_of(x)
        place = None if isinstance(x, trace.Tracer) else getattr(x, "sharding", None)
        return cls(
            aval.shape,
            aval.dtype,
            sharding=place if getattr(x, "committed", False) else aval.explicit,
            weak_type=aval.weak_type,
            vma=aval.vma,
            is_ref=refs.is_ref_type(aval),
        )

    @property
    def format(self) -> Format:
        """The layout, which is the default one, and the sharding."""
        return Format(None, self.sharding)

    @property
    def manual_axis_type(self) -> ManualAxisType | None:
        """The manual axes along which devices may hold different values, or None."""
        return ManualAxisType(varying=self.vma) if self.vma else None

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
        return (
            self.shape,
            self.dtype,
            self.sharding,
            self.weak_type,
            self.vma,
            self.is_ref,
        )

    def __repr__(self) -> str:
        name = self.dtype.name if hasattr(self.dtype, "name") else self.dtype
        weak = ", weak_type=True" if self.weak_type else ""
        place = "" if self.sharding is None else f", sharding={self.sharding}"
        more = f", vma={set(self.vma)}" if self.vma else ""
        more += ", is_ref=True" if self.is_ref else ""
        return f"ShapeDtypeStruct(shape={self.shape}, dtype={name}{place}{weak}{more})"


def struct_of(aval: Any, mesh: AbstractMesh = NO_MESH.abstract_mesh) -> Any:
    """The description of values of a type: of a high type, the type itself.

    Args:
      aval: the type.
      mesh: the axes of the mesh that is set. Where all are explicit, the description
        says that none divides a value.
    """
    if aval.is_high:
        return aval
    sharding = aval.explicit
    if sharding is None and mesh.are_all_axes_explicit:
        sharding = NamedSharding(mesh, PartitionSpec(*[None] * aval.ndim))
    return ShapeDtypeStruct(
        aval.shape, aval.dtype, sharding=sharding, weak_type=aval.weak_type
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
