"""Sorts by XLA's own kernel: the region that compares tuples of keys."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from olympus._src.core import dtypes
from olympus._src.lax import sort_keys
from olympus._src.lax.families import ShapedArray
from olympus._src.lowering import types


class _Comparator:
    """Writes the region that says whether the first of two tuples of keys is less.

    XLA's GPU compiler replaces a sort by a radix sort where it recognizes the region:
    one comparison in the total order of floats, of operands in which all NaN and all
    zeros are made equal (`is_total`). Elsewhere plain comparisons are faster.
    """

    __slots__ = ("block", "flag", "is_total")

    def __init__(self, block: Any, is_total: bool) -> None:
        self.block = block
        self.flag = ShapedArray((), np.bool_)
        self.is_total = is_total

    def less(self, pairs: Sequence[tuple[str, str, Any]]) -> str:
        """Lexicographic order of scalars: by the first key, then the second, ..."""
        *first, (x, y, scalar) = pairs
        result, _ = self._one(x, y, scalar, needs_equal=False)
        for x, y, scalar in reversed(first):
            below, equal = self._one(x, y, scalar, needs_equal=True)
            result = self._logic("or", below, self._logic("and", equal, result))
        return result

    def _one(self, x: str, y: str, scalar: Any, needs_equal: bool) -> Any:
        """Whether x < y and x == y, where NaN is above all numbers and -0 equals 0."""
        if not dtypes.issubdtype(scalar.dtype, np.floating):
            kind = sort_keys.comparison_kind(scalar.dtype)
            below = self._compare("LT", x, y, scalar, kind)
            return below, self._compare("EQ", x, y, scalar, kind)
        if self.is_total:
            return self._one_in_total_order(x, y, scalar, needs_equal)
        nan_x = self._compare("NE", x, x, scalar, "FLOAT")
        nan_y = self._compare("NE", y, y, scalar, "FLOAT")
        above = self._compare("GT", x, y, scalar, "FLOAT")
        number_x = self.block.elementwise("stablehlo.not", (nan_x,), self.flag)
        below = self._compare("LT", x, y, scalar, "FLOAT")
        below = self._logic("or", below, self._logic("and", nan_y, number_x))
        if not needs_equal:
            return below, ""
        above = self._logic(
            "or", above, self._logic("and", nan_x, self._logic("xor", nan_y, nan_x))
        )
        either = self._logic("or", below, above)
        return below, self.block.elementwise("stablehlo.not", (either,), self.flag)

    def _one_in_total_order(
        self, x: str, y: str, scalar: Any, needs_equal: bool
    ) -> tuple[str, str]:
        x, y = (self._merge_equals(v, scalar) for v in (x, y))
        below = self._compare("LT", x, y, scalar, "TOTALORDER")
        if not needs_equal:
            return below, ""
        return below, self._compare("EQ", x, y, scalar, "TOTALORDER")

    def _merge_equals(self, x: str, scalar: Any) -> str:
        """`x` with one zero for both, and one NaN for all."""
        zero, nan = (self.block.constant(v, scalar) for v in (0.0, float("nan")))
        is_zero = self._compare("EQ", x, zero, scalar, "FLOAT")
        is_nan = self._compare("NE", x, x, scalar, "FLOAT")
        merged = self._select(is_zero, zero, x, scalar)
        return self._select(is_nan, nan, merged, scalar)

    def _select(self, flag: str, yes: str, no: str, scalar: Any) -> str:
        f, t = types.tensor_type(self.flag), types.tensor_type(scalar)
        return self.block.emit(f"stablehlo.select {flag}, {yes}, {no} : {f}, {t}")

    def _compare(self, direction: str, x: str, y: str, scalar: Any, kind: str) -> str:
        return self.block.compare(direction, x, y, scalar, kind, self.flag)

    def _logic(self, op: str, x: str, y: str) -> str:
        return self.block.elementwise(f"stablehlo.{op}", (x, y), self.flag)


def _key_parts(block: Any, x: str, y: str, scalar: Any) -> list[tuple[str, str, Any]]:
    """A pair of scalars as pairs of real keys: two for complex numbers."""
    if not dtypes.issubdtype(scalar.dtype, np.complexfloating):
        return [(x, y, scalar)]
    part = ShapedArray((), dtypes.real_dtype(scalar.dtype))
    t = types.tensor_type
    pairs = []
    for op in ("real", "imag"):
        names = [
            block.emit(f"stablehlo.{op} {v} : ({t(scalar)}) -> {t(part)}")
            for v in (x, y)
        ]
        pairs.append((*names, part))
    return pairs


def emit_sort(
    ctx: Any,
    operands: Sequence[str],
    in_avals: Sequence[Any],
    dimension: int,
    is_stable: bool,
    num_keys: int,
) -> list[str]:
    """Writes `stablehlo.sort` by the first operands; complex ones by both parts."""
    inner = ctx.block.inner()
    scalars = [ShapedArray((), a.dtype) for a in in_avals for _ in range(2)]
    names = inner.arguments(scalars)
    pairs = []
    for k in range(num_keys):
        x, y = names[2 * k : 2 * k + 2]
        pairs += _key_parts(inner, x, y, scalars[2 * k])
    out = _Comparator(inner, ctx.platform != "cpu").less(pairs)
    region = inner.region(names, scalars, [out], [ShapedArray((), np.bool_)])
    return ctx.block.op(
        "stablehlo.sort",
        operands,
        in_avals,
        in_avals,
        f"dimension = {dimension} : i64, "
        f"is_stable = {'true' if is_stable else 'false'}",
        [region],
    )
