"""`scan` as interpreters of libraries written for JAX apply it.

There the operands and results are described by groups of flat values, `ft_in`
(constants, carry, slices) and `ft_out` (carry, stacked results), in place of
`num_consts` and `num_carry`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from olympus._src.foundation import vocabulary


class Group:
    """Flat values of one role."""

    __slots__ = ("vals",)

    def __init__(self, vals: Sequence[Any]) -> None:
        self.vals = tuple(vals)

    def __len__(self) -> int:
        return len(self.vals)

    def __iter__(self) -> Iterator[Any]:
        return iter(self.vals)

    def __repr__(self) -> str:
        return f"Group({list(self.vals)})"


class Groups:
    """Groups in their order."""

    __slots__ = ("groups",)

    def __init__(self, groups: Sequence[Any]) -> None:
        self.groups = tuple([g if isinstance(g, Group) else Group(g) for g in groups])

    @classmethod
    def of_sizes(cls, sizes: Sequence[int]) -> Groups:
        """Groups of so many places each."""
        return cls([Group([None] * n) for n in sizes])

    @property
    def vals(self) -> tuple[Any, ...]:
        """All values in a row."""
        return tuple([x for group in self.groups for x in group.vals])

    def update(self, values: Sequence[Any]) -> Groups:
        """Groups of the same sizes that hold these values."""
        remaining = iter(values)
        new = Groups([[next(remaining) for _ in group] for group in self.groups])
        if next(remaining, None) is not None:
            raise ValueError(
                f"update: {len(self)} values are needed, got {len(values)}; pass one "
                "for each place"
            )
        return new

    def unpack(self) -> tuple[Group, ...]:
        """The groups."""
        return self.groups

    def __len__(self) -> int:
        return sum(map(len, self.groups))

    def __repr__(self) -> str:
        return f"Groups({list(self.groups)})"


def describe_operands(n_args: int, params: dict[str, Any]) -> dict[str, Any]:
    """Parameters of `scan` with groups, as libraries written for JAX expect them."""
    if not vocabulary.is_jax():
        return params
    consts, carry = params["num_consts"], params["num_carry"]
    n_results = len(params["jaxpr"].out_avals)
    described = {k: v for k, v in params.items() if k not in _COUNTS}
    described["ft_in"] = Groups.of_sizes((consts, carry, n_args - consts - carry))
    described["ft_out"] = Groups.of_sizes((carry, n_results - carry))
    return described


_COUNTS = ("num_consts", "num_carry")


def count_operands(params: dict[str, Any]) -> dict[str, Any]:
    """Parameters of `scan` with counts, from those with groups."""
    params = dict(params)
    consts, carry, _ = params.pop("ft_in").unpack()
    del params["ft_out"]
    return {**params, "num_consts": len(consts), "num_carry": len(carry)}
