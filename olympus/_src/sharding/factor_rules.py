"""Rules that say which axes of an operation's operands and results belong together.

Each axis has a factor, by a name, or a product of several. Axes of one factor are
divided in one way. The language is that of Shardy's `sdy.op_sharding_rule`.
"""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Iterable, Sequence
from typing import Any

BATCHING = "…"  # the first axes of a value, however many; numbers tell groups apart

_NAME = re.compile(r"[A-Za-z]\w*", re.ASCII)
_ANY = re.compile(_NAME.pattern + f"|{BATCHING}\\w*", re.ASCII)


def _check_name(what: str, name: Any, pattern: re.Pattern[str]) -> None:
    if not isinstance(name, str) or not pattern.fullmatch(name):
        raise ValueError(
            f"{what}: a factor must be a name of letters, digits and underscores that "
            f"begins with a letter, got {name!r}; write one as in 'i' or 'batch_1'"
        )


class CompoundFactor(tuple[str, ...]):
    """An axis that is the product of factors, the first of which is the outermost.

    Args:
      *factors: names, two at least.

    Raises:
      ValueError: one is not a name, or there are fewer.

    Example:
      >>> from olympus.experimental.custom_partitioning import CompoundFactor
      >>> CompoundFactor("heads", "width")
      ('heads', 'width')
    """

    __slots__ = ()

    def __new__(cls, *factors: str) -> CompoundFactor:
        """A tuple of the names."""
        if len(factors) < 2:
            raise ValueError(
                f"CompoundFactor: at least two factors are required, got {factors}; "
                "write one name by itself"
            )
        for name in factors:
            _check_name("CompoundFactor", name, _NAME)
        return super().__new__(cls, factors)


class ArrayMapping(tuple[Any, ...]):
    """The factors of the axes of one value.

    Args:
      *dim_mappings: for each axis a name or a `CompoundFactor`; the first may be
        `BATCHING`, for all axes that the others leave.

    Raises:
      ValueError: an entry is none of these.

    Example:
      >>> from olympus.experimental.custom_partitioning import ArrayMapping, BATCHING
      >>> len(ArrayMapping(BATCHING, "i", "j"))
      3
    """

    __slots__ = ()

    def __new__(cls, *dim_mappings: Any) -> ArrayMapping:
        """A tuple of the entries."""
        for i, entry in enumerate(dim_mappings):
            if isinstance(entry, CompoundFactor):
                continue
            _check_name("ArrayMapping", entry, _NAME if i else _ANY)
        names = list(_names_of(dim_mappings))
        if len(names) > len({*names}):
            raise ValueError(
                "ArrayMapping: each factor must be that of one axis, got "
                f"{dim_mappings}; give axes that are divided apart factors of their own"
            )
        return super().__new__(cls, dim_mappings)


def _names_of(entries: Iterable[Any]) -> Iterable[str]:
    """The factors of entries, also those in products."""
    for entry in entries:
        yield from entry if isinstance(entry, CompoundFactor) else (entry,)


_SETS = ("reduction", "need_replication", "permutation")


class SdyShardingRule:
    """Which axes of operands and results belong together.

    Args:
      operand_mappings: an `ArrayMapping`, or a tuple of its entries, for each operand.
      result_mappings: the same for each result.
      reduction_factors: factors over which results are sums of what devices have.
      need_replication_factors: factors along which each device needs all elements.
        The compiler knows it when it chooses other shardings, but operands that are
        divided so stay so: the function `partition` must ask for whole ones.
      permutation_factors: factors along which devices exchange elements.
      **factor_sizes: the sizes of factors that are part of a product everywhere.

    Raises:
      ValueError: a factor is not in the rule, is in two of the sets, or its size is
        required or follows from an axis.

    Example:
      >>> from olympus.experimental.custom_partitioning import SdyShardingRule
      >>> SdyShardingRule((("i", "j"), ("j", "k")), (("i", "k"),))
      SdyShardingRule((('i', 'j'), ('j', 'k')), (('i', 'k'),), {})
    """

    __slots__ = ("factor_sets", "factor_sizes", "operand_mappings", "result_mappings")

    def __init__(
        self,
        operand_mappings: Sequence[Any],
        result_mappings: Sequence[Any],
        *,
        reduction_factors: Sequence[str] = (),
        need_replication_factors: Sequence[str] = (),
        permutation_factors: Sequence[str] = (),
        **factor_sizes: int,
    ) -> None:
        self.operand_mappings = tuple([ArrayMapping(*m) for m in operand_mappings])
        self.result_mappings = tuple([ArrayMapping(*m) for m in result_mappings])
        sets = (reduction_factors, need_replication_factors, permutation_factors)
        self.factor_sets = tuple(
            [_as_names(*row) for row in zip(_SETS, sets, strict=True)]
        )
        self.factor_sizes = dict(factor_sizes)
        self._check_factors()

    @property
    def mappings(self) -> tuple[ArrayMapping, ...]:
        """Those of the operands, then those of the results."""
        return self.operand_mappings + self.result_mappings

    def _check_factors(self) -> None:
        entries = list(itertools.chain.from_iterable(self.mappings))
        whole = {e for e in entries if not isinstance(e, CompoundFactor)}
        partial = {n for e in entries if isinstance(e, CompoundFactor) for n in e}
        names = [*self.factor_sizes, *itertools.chain.from_iterable(self.factor_sets)]
        for name in names:
            if name not in whole | partial:
                raise ValueError(
                    f"SdyShardingRule: factor {name} must be in the rule, got "
                    f"{self.operand_mappings} and {self.result_mappings}; use it for "
                    "an axis, or leave it out"
                )
        for name, size in self.factor_sizes.items():
            if name in whole or not isinstance(size, int):
                raise ValueError(
                    f"SdyShardingRule: the size of {name} must be an integer, and "
                    f"given only where no whole axis says it, got {size!r}; leave it "
                    "out"
                )
        for name in sorted(partial - whole):
            if name not in self.factor_sizes:
                raise ValueError(
                    f"SdyShardingRule: factor {name} requires a size, since no whole "
                    f"axis says it, got none; pass {name}=..."
                )
        of_results = {*_names_of(itertools.chain.from_iterable(self.result_mappings))}
        for name in self.factor_sets[0]:
            if name in of_results:
                raise ValueError(
                    f"SdyShardingRule: factor {name} must not be of a result, since "
                    f"results are sums over it, got {self.result_mappings}; leave it "
                    "out of reduction_factors"
                )
        chosen = list(itertools.chain.from_iterable(self.factor_sets))
        for name in chosen:
            if chosen.count(name) > 1:
                raise ValueError(
                    f"SdyShardingRule: factor {name} must be in one of the sets "
                    "reduction, need_replication and permutation, got it twice; "
                    "choose one"
                )

    def text(
        self,
        in_shapes: Sequence[Sequence[int]],
        out_shapes: Sequence[Sequence[int]],
        batch: Sequence[Sequence[bool]] = (),
    ) -> str:
        """The rule as Shardy's attribute.

        Args:
          in_shapes, out_shapes: those of the operands and of the results.
          batch: for each mapped axis of `vmap`, the innermost first, which operands
            have it, as an axis in front; all results do.

        Raises:
          ValueError: the rule is not one of such values.
        """
        for what, rows, shapes in (
            ("operands", self.operand_mappings, in_shapes),
            ("results", self.result_mappings, out_shapes),
        ):
            if len(rows) != len(shapes):
                raise ValueError(
                    f"sharding rule: it must have a mapping for each of {len(shapes)} "
                    f"{what}, got {len(rows)}; write {self!r} for all of them"
                )
        n_in = len(in_shapes)
        writer = _Writer(self.factor_sizes)
        for _ in range(2):  # first the sizes that whole axes say
            texts = []
            for i, (mapping, shape) in enumerate(
                zip(self.mappings, (*in_shapes, *out_shapes), strict=True)
            ):
                levels = [n for n, flags in enumerate(batch) if i >= n_in or flags[i]]
                where = f"operand {i}" if i < n_in else f"result {i - n_in}"
                texts.append(writer.axes_text(mapping, shape, levels[::-1], where))
        sets = [
            f" {name}={{{', '.join(map(writer.name, factors))}}}"
            for name, factors in zip(_SETS, self.factor_sets, strict=True)
            if factors
        ]
        operands, results = ", ".join(texts[:n_in]), ", ".join(texts[n_in:])
        return (
            f"#sdy.op_sharding_rule<({operands})->({results}) "
            f"{{{writer.sizes_text()}}}{''.join(sets)}, custom>"
        )

    def __repr__(self) -> str:
        return (
            f"SdyShardingRule({self.operand_mappings}, {self.result_mappings}, "
            f"{self.factor_sizes})"
        )


def _as_names(what: str, names: Any) -> tuple[str, ...]:
    if isinstance(names, str) or not isinstance(names, (tuple, list)):
        raise ValueError(
            f"SdyShardingRule: {what}_factors must be a tuple of factors, got "
            f"{names!r}; write ({names!r},)"
        )
    return tuple(names)


class _Writer:
    """Shardy's names of factors, and their sizes, as they come."""

    def __init__(self, sizes: dict[str, int]) -> None:
        self._fixed = sizes
        self._names: dict[Any, str] = {}
        self._sizes: dict[Any, int] = {}

    def name(self, factor: Any) -> str:
        """I to z, then z_1 and so on."""
        n = self._names.setdefault(factor, str(len(self._names)))
        i = int(n)
        return chr(ord("i") + i) if i < 18 else f"z_{i - 17}"

    def axes_text(
        self, mapping: ArrayMapping, shape: Sequence[int], levels: Any, where: str
    ) -> str:
        """The factors of the axes of a value; those of `levels` are in front."""
        entries: list[Any] = [*mapping]
        rank = len(shape) - len(levels)
        if entries and _is_batching(entries[0]):
            count = rank - len(entries) + 1
            entries[:1] = [(entries[0], i - count) for i in range(count)]
            excess = count < 0
        else:
            excess = len(entries) != rank
        if excess:
            raise ValueError(
                f"sharding rule: {where} must have as many axes as the rule says, "
                f"{len(mapping)}, got {rank} of shape {tuple(shape)}; write a factor "
                "for each"
            )
        entries = [("vmap", n) for n in levels] + entries
        rows = zip(entries, shape, strict=True)
        return f"[{', '.join([self._axis_text(e, n, where) for e, n in rows])}]"

    def _axis_text(self, entry: Any, size: int, where: str) -> str:
        if not isinstance(entry, CompoundFactor):
            # Sizes of one factor may differ, as those of what is cut off at an end.
            self._sizes[entry] = min(size, self._sizes.get(entry, size))
            return self.name(entry)
        sizes = [self._fixed.get(n, self._sizes.get(n)) for n in entry]
        if None not in sizes and math.prod(map(int, sizes)) != size:  # type: ignore[arg-type]
            raise ValueError(
                f"sharding rule: the sizes of {tuple(entry)} must have the product "
                f"{size}, the size of an axis of {where}, got {sizes}"
            )
        for factor in entry:
            if factor in self._fixed:
                self._sizes[factor] = self._fixed[factor]
        return "".join(map(self.name, entry))

    def sizes_text(self) -> str:
        """The sizes of all factors."""
        return ", ".join([f"{self.name(f)}={self._sizes[f]}" for f in self._names])


def _is_batching(entry: Any) -> bool:
    return isinstance(entry, str) and entry.startswith(BATCHING)


def parse_rule(
    text: Any,
    sets: dict[str, Sequence[str]],
    sizes: dict[str, int],
) -> SdyShardingRule:
    """The rule that a text says, as in `"... i j, j k -> ... i k"`.

    Args:
      text: factors of each axis, separated by blanks, of each value, separated by
        commas, of operands and results, separated by an arrow. Factors in parentheses
        are multiplied; an ellipsis stands for the axes that the others leave.
      sets: the keywords of `SdyShardingRule` that are sets of factors.
      sizes: sizes of factors.

    Raises:
      TypeError: it is not a text.
      ValueError: it is another text.
    """
    if not isinstance(text, str):
        raise TypeError(
            "sharding_rule: it must be a string, an SdyShardingRule or a function that "
            f"returns one, got {type(text).__name__}; write it as in 'i j -> j i'"
        )
    sides = text.replace("...", BATCHING).split("->")
    if len(sides) != 2:
        raise ValueError(
            f"sharding_rule: it must have one ->, got {text!r}; write it "
            "between operands and results"
        )
    operands, results = [list(_parse_values(side, text)) for side in sides]
    return SdyShardingRule(operands, results, **sets, **sizes)  # type: ignore[arg-type]


def _parse_values(side: str, text: str) -> Iterable[ArrayMapping]:
    for value in side.split(","):
        entries: list[Any] = []
        for inner, word in re.findall(r"\(([^()]*)\)|([^\s()]+|[()])", value):
            if word in ("(", ")"):
                raise ValueError(
                    f"sharding_rule: parentheses must be balanced, got {text!r}; close "
                    "each of them within a value"
                )
            entries.append(word or CompoundFactor(*inner.split()))
        yield ArrayMapping(*entries)
