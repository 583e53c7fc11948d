"""`PartitionSpec`: which axes of a mesh divide each axis of an array."""

from __future__ import annotations

import enum
from collections.abc import Iterable, Iterator
from typing import Any

from olympus._src.foundation.interning import Interned


class _Unconstrained:
    """The entry of an axis whose division is left to the compiler."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "UNCONSTRAINED"

    def __reduce__(self) -> str:
        return "UNCONSTRAINED"


UNCONSTRAINED = _Unconstrained()


class UnreducedKind(enum.Enum):
    """How the devices' values of an unreduced array are still to be joined.

    `PartitionSpec` takes `sum` only.

    Example:
      >>> from olympus.sharding import PartitionSpec as P, UnreducedKind
      >>> P(unreduced={'x'}).unreduced_kind is UnreducedKind.sum
      True
    """

    sum = enum.auto()
    max = enum.auto()
    min = enum.auto()

    def __str__(self) -> str:
        return f"UnreducedKind.{self.name}"


class PartitionSpec(Interned):
    """The names of the mesh axes that divide each axis of an array.

    Axes of the array beyond the last entry are not divided.

    Args:
      *partitions: an entry for each axis: None where it is whole, a mesh axis's name,
        a tuple of names (the first divides into the largest parts), or
        `PartitionSpec.UNCONSTRAINED` where the compiler may choose.
      unreduced: mesh axes over which the devices' values are still to be summed.
      reduced: mesh axes along which the devices hold equal values whose cotangents are
        unreduced.
      unreduced_kind: how values are to be joined over the axes in `unreduced`: by
        `UnreducedKind.sum`, which is the default.

    Raises:
      TypeError: an entry is neither hashable nor a sequence of names.
      ValueError: an axis is both reduced and unreduced, or divides the array too; or
        there is a kind without unreduced axes.
      NotImplementedError: the kind is not the sum.

    Example:
      >>> from olympus.sharding import PartitionSpec as P
      >>> P('x', None, ('y', 'z'))
      P('x', None, ('y', 'z'))
    """

    __slots__ = ("partitions", "reduced", "unreduced")
    UNCONSTRAINED = UNCONSTRAINED

    partitions: tuple[Any, ...]
    unreduced: frozenset[Any]
    reduced: frozenset[Any]

    def __new__(
        cls,
        *partitions: Any,
        unreduced: Any = frozenset(),
        reduced: Any = frozenset(),
        unreduced_kind: UnreducedKind | None = None,
    ) -> PartitionSpec:
        entries = tuple([_entry(p) for p in partitions])
        sums = _axis_set(unreduced, "unreduced")
        equals = _axis_set(reduced, "reduced")
        if unreduced_kind is not None:
            check_unreduced_kind("PartitionSpec", unreduced_kind, sums)
        divided = set(axes_of(entries))
        for first, second, what in (
            (sums, equals, "both unreduced and reduced"),
            (sums, divided, "both unreduced and among the partitions"),
            (equals, divided, "both reduced and among the partitions"),
        ):
            common = first & second
            if common:
                raise ValueError(
                    f"PartitionSpec: a mesh axis must have one role, got "
                    f"{', '.join(sorted(map(repr, common)))} {what}"
                )
        # 1 and True are equal, but not the same name.
        kinds = tuple([type(a) for a in axes_of(entries)])
        return cls._intern(
            (entries, kinds, sums, equals),
            partitions=entries,
            unreduced=sums,
            reduced=equals,
        )

    # -- as a sequence ---------------------------------------------------------------

    def __len__(self) -> int:
        return len(self.partitions)

    def __iter__(self) -> Iterator[Any]:
        return iter(self.partitions)

    def __getitem__(self, index: Any) -> Any:
        return self.partitions[index]

    def __add__(self, other: Any) -> PartitionSpec:
        if isinstance(other, PartitionSpec):
            return PartitionSpec(
                *self.partitions,
                *other.partitions,
                unreduced=self.unreduced | other.unreduced,
                reduced=self.reduced | other.reduced,
            )
        if isinstance(other, tuple):
            return self.update(partitions=(*self.partitions, *other))
        return NotImplemented

    def __radd__(self, other: Any) -> PartitionSpec:
        if isinstance(other, tuple):
            return self.update(partitions=(*other, *self.partitions))
        return NotImplemented

    def index(self, value: Any) -> int:
        """The first axis of the array with this entry."""
        return self.partitions.index(_entry(value))

    def count(self, value: Any) -> int:
        """How many axes of the array have this entry."""
        return self.partitions.count(_entry(value))

    @property
    def unreduced_kind(self) -> UnreducedKind | None:
        """How values are to be joined over the unreduced axes; None without them."""
        return UnreducedKind.sum if self.unreduced else None

    # -- others ------------------------------------------------------------------------

    def update(self, **fields: Any) -> PartitionSpec:
        """The spec with other `partitions`, `unreduced` or `reduced`."""
        partitions = fields.pop("partitions", self.partitions)
        roles = {"unreduced": self.unreduced, "reduced": self.reduced, **fields}
        return PartitionSpec(*partitions, **roles)

    def __reduce__(self) -> Any:
        return _unpickle, (self.partitions, self.unreduced, self.reduced)

    def __repr__(self) -> str:
        parts = [repr(p) for p in self.partitions]
        roles = [
            f"{name}={{{', '.join(sorted(map(repr, axes)))}}}"
            for name, axes in (("unreduced", self.unreduced), ("reduced", self.reduced))
            if axes
        ]
        end = "," if len(parts) == 1 and not roles else ""
        return f"P({', '.join(parts + roles)}{end})"


P = PartitionSpec


def check_unreduced_kind(
    what: str, kind: UnreducedKind | None, unreduced: frozenset[Any]
) -> UnreducedKind | None:
    """The kind of some unreduced axes; None where there are none.

    Raises:
      TypeError: it is no `UnreducedKind`.
      ValueError: it is one, but there are no such axes.
      NotImplementedError: it is not the sum.
    """
    if kind is None:
        return UnreducedKind.sum if unreduced else None
    if not isinstance(kind, UnreducedKind):
        raise TypeError(
            f"{what}: unreduced_kind must be a sharding.UnreducedKind, got {kind!r}"
        )
    if not unreduced:
        raise ValueError(
            f"{what}: unreduced_kind must be None where no axis is unreduced, got "
            f"{kind}; leave it out"
        )
    if kind is not UnreducedKind.sum:
        raise NotImplementedError(
            f"{what}: unreduced_kind must be UnreducedKind.sum, got {kind}; reduce "
            "with lax.pmax or lax.pmin in a shard_map, which leaves nothing unreduced"
        )
    return kind


def _unpickle(partitions: Any, unreduced: Any, reduced: Any) -> PartitionSpec:
    return PartitionSpec(*partitions, unreduced=unreduced, reduced=reduced)


def _entry(x: Any) -> Any:
    """The canonical form of an entry: no tuples of one name or of none."""
    if isinstance(x, (tuple, list)):
        names = tuple(x)
        if any(isinstance(n, (tuple, list)) or n is None for n in names):
            raise TypeError(
                "PartitionSpec: an entry must be None, the name of a mesh axis or a "
                f"tuple of names, got {x!r}"
            )
        for name in names:
            _check_hashable(name)
        return None if not names else names[0] if len(names) == 1 else names
    _check_hashable(x)
    return x


def _check_hashable(name: Any) -> None:
    try:
        hash(name)
    except TypeError:
        raise TypeError(
            "PartitionSpec: an entry must be None, the name of a mesh axis or a tuple "
            f"of names, got {name!r}"
        ) from None


def _axis_set(names: Any, what: str) -> frozenset[Any]:
    if isinstance(names, str):
        return frozenset((names,))
    try:
        axes = frozenset(names)
    except TypeError:
        raise TypeError(
            f"PartitionSpec: {what} must be a set of the names of mesh axes, got "
            f"{names!r}; write {what}={{'x'}}"
        ) from None
    if None in axes:
        raise ValueError(f"PartitionSpec: {what} must hold names of axes, got None")
    return axes


def names_of(entry: Any) -> tuple[Any, ...]:
    """The mesh axes of one entry, the one of the largest parts first."""
    if entry is None or entry is UNCONSTRAINED:
        return ()
    return entry if isinstance(entry, tuple) else (entry,)


def axes_of(partitions: Iterable[Any]) -> list[Any]:
    """All mesh axes that divide an array, in the order of its axes."""
    return [name for entry in partitions for name in names_of(entry)]
