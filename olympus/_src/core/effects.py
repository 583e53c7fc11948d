"""Effects: what an equation does beside computing its results.

An effect is a value; a program's effects are the union of its equations' effects.
Kinds that keep an order between equations say so with `ordered`; kinds that forbid
dead-code elimination say so with `keep`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


class Effect:
    """Base class of effects; instances are compared by type unless they say otherwise.

    Attributes:
      ordered: equations with this effect run in program order.
      in_control_flow: the effect may occur inside `cond`, `while` and `scan`.
      speculative: the effect may also occur for elements whose results are dropped, as
        in both branches of a `cond` with a mapped predicate.
      hoist: the effect can leave such an operation: a batching rule of the operation,
        which moves the effect out, and with it what says for whom it happens.
    """

    __slots__ = ()
    ordered = False
    in_control_flow = True
    speculative = True
    hoist: Callable[..., Any] | None = None

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other)

    def __hash__(self) -> int:
        return hash(type(self))

    def __repr__(self) -> str:
        return type(self).__name__

    def __str__(self) -> str:
        return repr(self)


Effects = frozenset
no_effects: frozenset[Effect] = frozenset()


def ordered(effects: frozenset[Effect]) -> list[Effect]:
    """The ordered effects among `effects`, in a stable order."""
    return sorted((e for e in effects if e.ordered), key=repr)
