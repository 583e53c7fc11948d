"""Effects: what an equation does besides computing its results.

An effect is a value; a program's effects are the union of its equations' effects. An
equation with an effect stays in its program even if nothing reads its results. Where
else it may occur is set by attributes of its class, which subclasses inherit. An
effect that sets none may only be traced: each place must be allowed explicitly.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any


class Effect:
    """Base class of effects; instances are compared by type unless they say otherwise.

    Attributes:
      ordered: equations with this effect run in program order.
      lowerable: programs with this effect may be compiled.
      in_control_flow: the effect may occur inside `cond`, `while` and `scan`.
      in_remat: the effect may occur inside `checkpoint` where it is differentiated,
        which computes again, and so has the effect again.
      in_custom_rules: the effect may occur in functions with custom rules,
        as those of `custom_jvp`.
      speculative: the effect may also occur for elements whose results are dropped, as
        in both branches of a `cond` with a mapped predicate.
      raises_at_once: the effect happens to concrete values only: a `checkpoint` outside
        of traces applies its equations one by one.
      needs_refs: it happens to refs among a program's inputs; a program without any
        does not have it, whatever its equations do.
      hoist: the effect can leave such an operation: a batching rule of the operation,
        which moves the effect out, and with it what says for whom it happens.
    """

    __slots__ = ()
    ordered = False
    lowerable = False
    in_control_flow = False
    in_remat = False
    in_custom_rules = True
    speculative = True
    raises_at_once = False
    needs_refs = False
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


_PLACES = {
    "lowerable": "lowerable",
    "in_control_flow": "allowed in control flow",
    "in_remat": "allowed to happen again",
    "in_custom_rules": "allowed in functions with custom rules",
}


def check_allowed(
    what: str,
    effects: Iterable[Effect],
    attribute: str,
    error: type[Exception] = NotImplementedError,
) -> None:
    """Raises for effects that are not allowed where they occur.

    Args:
      what: the function that the message names.
      effects: the effects of a program.
      attribute: what their classes must set.
      error: the class to raise.
    """
    refused = [e for e in effects if not getattr(e, attribute)]
    if refused:
        names = ", ".join(sorted(map(repr, refused)))
        raise error(
            f"{what}: effects inside must be {_PLACES[attribute]}, got {names}; move "
            f"the operation out, or set {attribute} = True in the effect's class"
        )
