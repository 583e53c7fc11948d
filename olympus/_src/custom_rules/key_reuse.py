"""How random keys pass through solvers; see `interpreters.key_reuse`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from olympus._src.core import ir
from olympus._src.interpreters.key_reuse import Uses


def solver(uses: Uses, eqn: ir.Eqn, operands: Sequence[Any]) -> Any:
    """The solver's program, which applies the function that is solved itself."""
    lengths, programs = eqn.params["const_lengths"], eqn.params["jaxprs"]
    before = lengths._fields.index("solve")
    start = sum(lengths[:before])
    consts = operands[start : start + lengths.solve]
    return uses.apply(programs.solve, [*consts, *operands[sum(lengths) :]])
