"""Warnings of donated arguments whose memory no result can take."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from olympus._src.core import ir
from olympus._src.foundation import user_warnings


def warn(
    program: ir.Olympuspr,
    name: str,
    donated: Sequence[int],
    aliases: Mapping[int, int],
) -> None:
    """Warns where a donated input has no result of as many elements left.

    Args:
      program: what is lowered.
      name: the function's name.
      donated: the numbers of the inputs that the user donates.
      aliases: the output that takes the memory of an input, by numbers.
    """
    outputs = enumerate(program.out_avals)
    taken = set(aliases.values())
    free = Counter(aval.size for i, aval in outputs if i not in taken)
    unusable = []
    for i in donated:
        aval = program.in_avals[i]
        if i in aliases:
            continue
        if free[aval.size]:
            free[aval.size] -= 1
        else:
            unusable.append(str(aval))
    if unusable:
        user_warnings.warn(
            f"Some donated buffers were not usable: {', '.join(unusable)}.\n{name}: no "
            "result can take their memory; donate an argument for each result of its "
            "shape, and leave others out of donate_argnums"
        )
