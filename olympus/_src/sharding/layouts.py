"""The order of an array's elements in memory: `Layout`, and with a sharding `Format`.

Programs take and return arrays in the default layout, in which the last axis is the
densest: other libraries read arrays so, and programs of one type share them. Another
layout is refused by name where it would have to be kept.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from olympus._src.foundation.interning import Interned
from olympus._src.runtime import versions
from olympus._src.runtime.shardings import Sharding

# Whether XLA divides values whose layout a program constrains; before, it gathers them.
divided_where_constrained = versions.JAXLIB_VERSION >= (0, 12)


class _Auto:
    """The layout that the compiler chooses."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "AUTO"

    def __reduce__(self) -> str:
        return "AUTO"


AUTO = _Auto()


class Layout(Interned):
    """The order of the axes of an array in memory.

    Args:
      major_to_minor: the axes, that of the largest strides first.
      tiling: the shapes of the tiles that elements are grouped in, if they are.
      sub_byte_element_size_in_bits: of elements that share bytes; 0 if they do not.

    Raises:
      ValueError: `major_to_minor` is no permutation.

    Example:
      >>> from olympus.experimental.layout import Layout
      >>> Layout((1, 0))
      Layout(major_to_minor=(1, 0), tiling=None, sub_byte_element_size_in_bits=0)
    """

    __slots__ = ("major_to_minor", "sub_byte_element_size_in_bits", "tiling")
    AUTO = AUTO

    major_to_minor: tuple[int, ...]
    tiling: tuple[tuple[int, ...], ...] | None
    sub_byte_element_size_in_bits: int

    def __new__(
        cls,
        major_to_minor: Sequence[int],
        tiling: Sequence[Sequence[int]] | None = None,
        sub_byte_element_size_in_bits: int = 0,
    ) -> Layout:
        axes = tuple([int(axis) for axis in major_to_minor])
        if sorted(axes) != list(range(len(axes))):
            raise ValueError(
                f"Layout: major_to_minor must be a permutation of the axes, got {axes};"
                f" for arrays of {len(axes)} axes write "
                f"{tuple(range(len(axes)))} in some order"
            )
        tiles = None if tiling is None else tuple([tuple(tile) for tile in tiling])
        bits = int(sub_byte_element_size_in_bits)
        return cls._intern(
            (axes, tiles, bits),
            major_to_minor=axes,
            tiling=tiles,
            sub_byte_element_size_in_bits=bits,
        )

    @classmethod
    def from_pjrt_layout(cls, layout: Any) -> Layout:
        """The layout that the runtime describes."""
        minor_to_major, tiles, bits = versions.layout_fields(layout)
        return cls(tuple(reversed(minor_to_major)), tiles, bits)

    @property
    def is_default(self) -> bool:
        """Whether the last axis is the densest, without tiles."""
        ordered = self.major_to_minor == tuple(range(len(self.major_to_minor)))
        return ordered and not self.tiling and not self.sub_byte_element_size_in_bits

    def update(self, **fields: Any) -> Layout:
        """The layout with another order, tiling or size of elements."""
        names = ("major_to_minor", "tiling", "sub_byte_element_size_in_bits")
        return Layout(**{name: fields.get(name, getattr(self, name)) for name in names})

    def check_compatible_aval(self, aval_shape: Sequence[int]) -> None:
        """Raises ValueError where an array of a shape has another number of axes."""
        if len(aval_shape) != len(self.major_to_minor):
            raise ValueError(
                f"Layout: major_to_minor must have an entry for each axis, got "
                f"{self.major_to_minor} for shape {tuple(aval_shape)}"
            )

    def __reduce__(self) -> Any:
        return Layout, (
            self.major_to_minor,
            self.tiling,
            self.sub_byte_element_size_in_bits,
        )

    def __repr__(self) -> str:
        return (
            f"Layout(major_to_minor={self.major_to_minor}, tiling={self.tiling}, "
            f"sub_byte_element_size_in_bits={self.sub_byte_element_size_in_bits})"
        )


class Format(Interned):
    """How an array lies in memory, and on which devices.

    Args:
      layout: a `Layout`, `Layout.AUTO` or None for the compiler's choice.
      sharding: which devices hold which part; required with a `Layout`.

    Raises:
      TypeError: an argument has a wrong type.
      ValueError: there is a `Layout`, but no sharding.

    Example:
      >>> from olympus.experimental.layout import Format, Layout
      >>> Format(Layout.AUTO)
      Format(layout=AUTO, sharding=None)
    """

    __slots__ = ("layout", "sharding")

    layout: Layout | _Auto | None
    sharding: Sharding | None

    def __new__(cls, layout: Any = None, sharding: Any = None) -> Format:
        if not (layout is None or layout is AUTO or isinstance(layout, Layout)):
            raise TypeError(
                f"Format: layout must be a Layout, Layout.AUTO or None, got {layout!r}"
            )
        if not (sharding is None or isinstance(sharding, Sharding)):
            raise TypeError(f"Format: sharding must be a Sharding, got {sharding!r}")
        if isinstance(layout, Layout) and sharding is None:
            raise ValueError(
                f"Format: a Layout requires a sharding, got {layout} and None; for one "
                "device write SingleDeviceSharding(device)"
            )
        return cls._intern((layout, sharding), layout=layout, sharding=sharding)

    def __reduce__(self) -> Any:
        return Format, (self.layout, self.sharding)

    def __repr__(self) -> str:
        return f"Format(layout={self.layout}, sharding={self.sharding})"


def check_default(layout: Any, ndim: int, what: str) -> None:
    """Raises unless arrays of `ndim` axes that programs take can have a layout.

    Raises:
      NotImplementedError: it is another than the default.
      ValueError: it is for another number of axes.
    """
    if not isinstance(layout, Layout):
        return
    if len(layout.major_to_minor) != ndim:
        raise ValueError(
            f"{what}: the layout must have an entry for each axis, got "
            f"{layout.major_to_minor} for an array of {ndim} axes"
        )
    if not layout.is_default:
        order = tuple(range(ndim))
        raise NotImplementedError(
            f"{what}: arrays have the default layout Layout({order}), got {layout}; "
            "transpose the array, or inside of a program use "
            "experimental.layout.with_layout_constraint"
        )
