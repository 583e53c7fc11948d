"""What the type of an array says about the manual axes of a mesh."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from olympus._src.foundation.interning import Interned
from olympus._src.sharding.specs import UnreducedKind, check_unreduced_kind


class ManualAxisType(Interned):
    """Along which manual axes of a mesh devices may hold different values, and how.

    `olympus.typeof(x).manual_axis_type` is one, and `ShapeDtypeStruct` takes one.

    Args:
      varying: axes along which they may be any values.
      unreduced: axes over which they are still to be summed.
      reduced: axes along which they are equal, and their cotangents are unreduced.
      unreduced_kind: as for `PartitionSpec`.

    Raises:
      ValueError: an axis is in two of them.

    Example:
      >>> from olympus.sharding import ManualAxisType
      >>> ManualAxisType(varying={'x'}).varying
      frozenset({'x'})
    """

    __slots__ = ("reduced", "unreduced", "unreduced_kind", "varying")

    varying: frozenset[Any]
    unreduced: frozenset[Any]
    reduced: frozenset[Any]
    unreduced_kind: UnreducedKind | None

    def __new__(
        cls,
        *,
        varying: Collection[Any] = (),
        unreduced: Collection[Any] = (),
        reduced: Collection[Any] = (),
        unreduced_kind: UnreducedKind | None = None,
    ) -> ManualAxisType:
        fields = {"varying": varying, "unreduced": unreduced, "reduced": reduced}
        sets = {name: frozenset(axes) for name, axes in fields.items()}
        for first, second in (
            ("varying", "unreduced"),
            ("varying", "reduced"),
            ("unreduced", "reduced"),
        ):
            common = sets[first] & sets[second]
            if common:
                raise ValueError(
                    f"ManualAxisType: a mesh axis must have one role, got "
                    f"{', '.join(sorted(map(repr, common)))} both {first} and {second}"
                )
        kind = check_unreduced_kind("ManualAxisType", unreduced_kind, sets["unreduced"])
        return cls._intern(tuple(sets.values()), unreduced_kind=kind, **sets)

    @property
    def empty(self) -> bool:
        """Whether it names no axis."""
        return not (self.varying or self.unreduced or self.reduced)

    def update(self, **changes: Any) -> ManualAxisType:
        """The same with other axes in some roles."""
        roles = ("varying", "unreduced", "reduced")
        return ManualAxisType(**{n: getattr(self, n) for n in roles} | changes)

    def __reduce__(self) -> Any:
        return _unpickle, (self.varying, self.unreduced, self.reduced)

    def __repr__(self) -> str:
        return (
            f"ManualAxisType(varying={self.varying!r}, unreduced={self.unreduced!r}, "
            f"reduced={self.reduced!r}, unreduced_kind={self.unreduced_kind})"
        )


def _unpickle(varying: Any, unreduced: Any, reduced: Any) -> ManualAxisType:
    return ManualAxisType(varying=varying, unreduced=unreduced, reduced=reduced)
