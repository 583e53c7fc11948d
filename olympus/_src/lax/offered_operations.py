"""Operations of olympus alone, as interpreters of a library's own see them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from olympus._src.core import trace
from olympus._src.core.primitive import LateRule, takes_primitive

_offer_decomposition = LateRule("custom_rules.offered_calls", "offer_decomposition")


@takes_primitive
def offer_decomposition(
    p: Any, trace_: trace.Trace, args: Sequence[Any], params: Any
) -> Any:
    """The rule `offer` of an operation for which a library has no rule.

    It is offered as a function of the operations that it decomposes to, with a custom
    derivative. An interpreter that takes no such functions gets the operation itself.
    """
    return _offer_decomposition(p, trace_, args, params)
