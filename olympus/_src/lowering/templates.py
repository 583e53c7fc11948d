"""Operations that are written again for equations that differ in names only.

A program applies few operations to few types: a network the same ones in each layer.
What a lowering rule writes is then the same text, but for the names of operands and
results. The second time that an operation is written with some parameters and types,
what its rule writes is noted (see `recording`), and later equations are written from
these notes, also in later programs.

A rule may be repeated so only if it does nothing but write operations on its operands.
Whatever else a rule asks for, as other functions of the module, the equation or the
letters of a name, is refused while it is recorded, and then it is always called. So are
the rules of users, and those of operations whose parameters are functions or programs.
"""

from __future__ import annotations

import operator
from collections.abc import Sequence
from enum import Enum
from typing import Any

import numpy as np

from olympus._src.core.primitive import is_told_by_value
from olympus._src.foundation import caching, config
from olympus._src.lowering import builder, recording


class Templates:
    """What operations write in modules of one kind, by parameters and types.

    Args:
      module: one of them.
    """

    __slots__ = ("_by_key", "_called", "_facts")

    def __init__(self, module: Any) -> None:
        self._facts = _Facts(module)
        # None for what was written once.
        self._by_key: dict[Any, recording.Template | None] = {}
        self._called: set[Any] = set()  # rules of olympus that are always called

    def __len__(self) -> int:
        return len(self._by_key)

    def find(
        self, block: builder.Block, eqn: Any, operands: list[str], in_avals: list[Any]
    ) -> recording.Template | None:
        """The template of an equation; None where its rule is to be called.

        Args:
          block: where it is written: no body of a reduction, and without attributes.
          eqn: the equation.
          operands: names of its operands.
          in_avals: their types.
        """
        params, outs = eqn.params, eqn.outvars
        kind = outs[0].aval if len(outs) == 1 else tuple(map(_aval, outs))
        key: Any
        if params:  # of which 1, 1.0 and True are equal, and written in different ways
            values = params.values()
            rule = eqn.primitive.lower
            key = (rule, kind, *in_avals, *params, *values, *map(type, values))
        else:
            key = (eqn.primitive.lower, kind, *in_avals)
        try:
            template = self._by_key.get(key)
        except TypeError:  # a parameter that has no hash
            return None
        return template or self._learn(key, block, eqn, operands)

    def _learn(
        self, key: Any, block: builder.Block, eqn: Any, operands: Sequence[str]
    ) -> recording.Template | None:
        """A new template; None if there is none, or not yet."""
        if key[0] in self._called or not eqn.primitive.rules_are_fixed:
            return None
        if key not in self._by_key:
            is_ours = str(getattr(key[0], "__module__", "")).startswith("olympus._src.")
            if is_ours and all(map(_is_exact, eqn.params.values())):
                if len(self._by_key) >= _MOST:
                    self._by_key.clear()
                self._by_key[key] = None
            return None
        template = recording.record(self._facts, block, eqn, operands)
        if template is None:
            self._called.add(key[0])
        else:
            self._by_key[key] = template
        return template


def _is_exact(value: Any) -> bool:
    """Whether equal parameters of one type are written alike.

    Floats are not: zeros of both signs are equal. Numbers in tuples are sizes and
    positions, where no others are than these; those in attributes of users have names.
    """
    if isinstance(value, (bool, str)):
        return True
    if hasattr(value, "eqns"):
        return is_told_by_value(value)
    return _is_position(value)


def _is_position(value: Any) -> bool:
    if isinstance(value, tuple):
        return all(map(_is_position, value))
    return value is None or type(value) is int or isinstance(value, (np.dtype, Enum))


_aval = operator.attrgetter("aval")
_MOST = 4096  # of one kind of modules
_kinds = caching.Bounded(16, "templates of operations")


def of_module(module: Any) -> Templates | None:
    """The templates for a module that will be written; None if it can have none.

    Rules see platform and settings, and how a module is divided: those of one device
    share theirs.
    """
    if module.locate is not None:  # where an operation comes from is a part of its text
        return None
    if module.divided_over is not None or module.has_other_memories:
        return Templates(module)
    flags = module.moves_slices, module.keeps_barriers
    key = module.platform, flags, config.trace_context()
    templates: Templates | None = _kinds.get(key)
    if templates is None:
        templates = _kinds[key] = Templates(module)
    return templates


class _Facts:
    """What all modules of a kind have in common."""

    __slots__ = (
        "divided_over",
        "has_other_memories",
        "keeps_barriers",
        "manual",
        "moves_slices",
        "platform",
    )

    def __init__(self, module: Any) -> None:
        self.platform = module.platform
        self.manual = None  # else nothing is recorded
        self.divided_over = module.divided_over
        self.has_other_memories = module.has_other_memories
        self.keeps_barriers = module.keeps_barriers
        self.moves_slices = module.moves_slices

    def __getattr__(self, name: str) -> Any:
        return recording.refuse()
