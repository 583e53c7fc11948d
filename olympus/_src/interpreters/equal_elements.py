"""Sums of prefixes of arrays whose elements are equal, as products.

The derivative of a sum of cumulative sums is a cumulative sum of ones, and that of
their mean one of equal shares. Of `n` equal elements `x` the sum is `n * x`, with one
rounding.
"""

from __future__ import annotations

from typing import Any

from olympus._src.core import avals, ir
from olympus._src.interpreters import rewriting
from olympus._src.interpreters.rewriting import Rewriter
from olympus._src.lax import elementwise, shaping
from olympus._src.lax.cumulative import cumsum_p
from olympus._src.lax.families import broadcast_in_dim_p

# Of others products round otherwise than sums do, as in float16 beyond 2048 elements.
_DTYPES = frozenset(["float32", "float64", "int32", "int64"])


def multiply(program: ir.Olympuspr) -> ir.Olympuspr:
    """The program, with products in place of sums of equal elements up to each one.

    The same object where there are none.
    """
    return rewriting.rewrite(program, "has cumulative sums", _has_sums, _multiply)


def _has_sums(program: ir.Olympuspr) -> bool:
    primitives = ir.primitives_of(program)
    return cumsum_p in primitives and broadcast_in_dim_p in primitives


def _multiply(program: ir.Olympuspr) -> ir.Olympuspr:
    spread = {
        eqn.outvars[0]: eqn
        for eqn in program.eqns
        if eqn.primitive is broadcast_in_dim_p
    }
    sums = [
        eqn
        for eqn in program.eqns
        if eqn.primitive is cumsum_p and _sums_equal_elements(eqn, spread)
    ]
    if not sums:
        return program
    writer = Rewriter()

    def write_product(eqn: ir.Eqn) -> Any:
        axis, reverse = eqn.params["axis"], eqn.params["reverse"]
        x = writer.read(eqn.invars[0])
        return writer.write(eqn, lambda x: _multiples(x, axis, reverse), [x])

    writer.write_equations(program.eqns, dict.fromkeys(sums, write_product))
    return writer.finish(program)


def _sums_equal_elements(eqn: ir.Eqn, spread: dict[Any, ir.Eqn]) -> bool:
    (x,) = eqn.invars
    maker = spread.get(x)
    if maker is None or x.aval.dtype.name not in _DTYPES:
        return False
    if not rewriting.is_undivided(x.aval) or x.aval.size == 0:
        return False
    axis, axes = eqn.params["axis"], list(maker.params["broadcast_dimensions"])
    source = maker.invars[0].aval
    return axis not in axes or source.shape[axes.index(axis)] == 1


def _multiples(x: Any, axis: int, reverse: bool) -> Any:
    """As many times each element as there are elements up to it."""
    aval = avals.aval_of(x)
    counts = shaping.broadcasted_iota(aval.dtype, aval.shape, axis)
    if reverse:
        counts = elementwise.sub(aval.dtype.type(aval.shape[axis]), counts)
    else:
        counts = elementwise.add(counts, aval.dtype.type(1))
    return elementwise.mul(x, counts)
