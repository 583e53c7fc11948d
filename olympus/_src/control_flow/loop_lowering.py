"""Loops as StableHLO: `stablehlo.while`, and a scan over the leading axis by it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from olympus._src.core import avals as avals_
from olympus._src.core import sizes
from olympus._src.lax import families
from olympus._src.lowering import builder, types

ShapedArray = avals_.ShapedArray
FLAG = ShapedArray((), np.dtype(np.bool_))
COUNTER = ShapedArray((), np.dtype(np.int32))
LONG_COUNTER = ShapedArray((), np.dtype(np.int64))


def emit_while(
    block: builder.Block,
    ordered: Sequence[Any],
    operands: Sequence[str],
    avals: Sequence[Any],
    write_test: Callable[[Any, list[str]], str],
    write_body: Callable[[Any, list[str]], list[str]],
) -> list[str]:
    """Writes `stablehlo.while`.

    Args:
      block: where to write.
      ordered: effects whose tokens go through the loop.
      operands: initial values.
      avals: their types.
      write_test: writes the condition, given names for the carried values.
      write_body: writes the next values.

    Returns:
      The names of the final values.
    """
    n = len(ordered)
    carried = [types.token_type()] * n + list(avals)

    def region(write: Callable[[Any, list[str]], list[str]], out_avals: Any) -> str:
        inner = block.inner()
        names = inner.arguments(carried)
        inner.tokens.update(zip(ordered, names, strict=False))
        return inner.region(names, carried, write(inner, names), out_avals)

    def test(inner: Any, names: list[str]) -> list[str]:
        return [write_test(inner, names[n:])]

    def body(inner: Any, names: list[str]) -> list[str]:
        outs = write_body(inner, names[n:])
        return [inner.tokens[e] for e in ordered] + outs

    regions = [region(test, [FLAG]), region(body, carried)]
    inputs = [block.tokens[e] for e in ordered] + list(operands)
    results = block.op("stablehlo.while", inputs, carried, carried, "", regions)
    block.tokens.update(zip(ordered, results, strict=False))
    return results[n:]


def counter(length: int) -> ShapedArray:
    """The type that counts up to `length`."""
    if sizes.is_symbolic(length):
        return COUNTER
    return COUNTER if length < 2**31 else LONG_COUNTER


class Scan:
    """One scan being lowered.

    Each turn of the loop takes `unroll` steps; steps that are left over follow the loop
    and need no counter. Outputs are written into buffers of their final size.

    Args:
      ctx: the context of the equation.
      length: how many steps there are; with `test`, how many there may be.
      reverse: whether it runs from the last row to the first.
      unroll: steps in each turn; one with `test`.
      num_carry: how many values are carried.
      ordered: effects whose tokens go through the loop.
      body: writes a step, given names of constants, carries and slices.
      y_avals: types of the stacked outputs.
      test: `(block, counter, consts, carry)` writes whether there is one more step.
      last: `(block, consts)` writes the last row, where that is known only at run time.
    """

    __slots__ = (
        "_avals",
        "_body",
        "_consts",
        "_counter",
        "_ctx",
        "_last",
        "_length",
        "_num_carry",
        "_ordered",
        "_reverse",
        "_test",
        "_unroll",
        "_y_avals",
    )

    def __init__(
        self,
        ctx: Any,
        *,
        length: int,
        reverse: bool,
        unroll: int,
        num_carry: int,
        ordered: Sequence[Any],
        body: Callable[[Any, list[str]], list[str]],
        y_avals: Sequence[Any],
        test: Callable[[Any, str, list[str], list[str]], str] | None = None,
        last: Callable[[Any, list[str]], str] | None = None,
    ) -> None:
        self._ctx = ctx
        self._length = length
        self._reverse = reverse
        self._unroll = 1 if sizes.is_symbolic(length) else unroll
        self._num_carry = num_carry
        self._ordered = ordered
        self._body = body
        self._y_avals = y_avals
        self._test = test
        self._last = last
        self._counter = counter(length)

    def write(self, operands: Any, avals: Any) -> tuple[str, list[str]]:
        """Writes the scan; operands and types are given by their part in it.

        Returns:
          The number of turns the loop took (steps, if it has a test), and the results.
        """
        self._avals = avals
        block = self._ctx.block
        n_carry, n_xs = len(operands.carry), len(operands.xs)
        xs, final = operands.xs, self._y_avals
        if sizes.is_symbolic(self._length) and not sizes.at_least(self._length, 1):
            xs = self._with_a_row(xs)
        ys = [block.splat(0, families.storage(aval)) for aval in self._y_avals]
        turns, remaining = self._count_turns()
        carry = operands.carry
        consts = operands.consts
        steps_taken = start = block.constant(0, self._counter)
        if turns:
            state = [*consts, *carry, *xs, *ys]
            kinds = [self._counter, *avals.consts, *avals.carry, *avals.xs]
            kinds += self._y_avals
            steps_taken, *outs = emit_while(
                block,
                self._ordered,
                [start, *state],
                kinds,
                lambda b, names: self._is_unfinished(b, names, turns),
                self._turn,
            )
            outs = outs[len(consts) :]
            carry, ys = outs[:n_carry], outs[n_carry + n_xs :]
        for k in range(remaining):
            i = self._length - remaining + k
            row = self._length - 1 - i if self._reverse else i
            carry, ys = self._step(block, row, consts, carry, xs, ys)
        if final is not self._y_avals:
            ys = [
                self._drop_row(y, *kinds)
                for y, *kinds in zip(ys, self._y_avals, final, strict=True)
            ]
        return steps_taken, [*carry, *ys]

    def _with_a_row(self, xs: Sequence[str]) -> list[str]:
        """For a symbolic length that may be zero: arrays of at least one row.

        A loop of no turns must still have rows to read and write, for the compiler.
        Where the length is not zero, nothing is added.
        """
        block, rows = self._ctx.block, sizes.maximum(self._length, 1)
        grown = []
        for i, (x, aval) in enumerate(zip(xs, self._avals.xs, strict=True)):
            self._avals.xs[i] = aval.update(shape=(rows, *aval.shape[1:]))
            old, new = families.storage(aval), families.storage(self._avals.xs[i])
            zero = ShapedArray((), old.dtype)
            none = [0] * old.ndim
            more = [rows - self._length, *none[1:]]
            parts = [x, block.constant(0, zero)]
            grown.append(block.pad(parts, [old, zero], new, none, more, none))
        self._y_avals = [
            aval.update(shape=(rows, *aval.shape[1:])) for aval in self._y_avals
        ]
        return grown

    def _drop_row(self, y: str, aval: Any, final: Any) -> str:
        """A result without the row that stands for none."""
        aval, final = families.storage(aval), families.storage(final)
        starts = [0] * aval.ndim
        return str(self._ctx.block.slice(y, aval, final, starts, final.shape))

    def _count_turns(self) -> tuple[int, int]:
        """How many turns the loop may take, and the steps after it."""
        if sizes.is_symbolic(self._length):
            return self._length, 0
        turns, remaining = divmod(self._length, self._unroll)
        once = turns == 1 and remaining == 0 and self._test is None
        return (0, self._length) if once or not turns else (turns, remaining)

    def _is_unfinished(self, block: Any, names: list[str], turns: int) -> str:
        i, *state = names
        if self._test is not None:
            consts, state = _split_at(state, len(self._avals.consts))
            return self._test(block, i, consts, state[: self._num_carry])
        bound = block.constant(turns, self._counter)
        return block.compare("LT", i, bound, self._counter, "SIGNED", FLAG)

    def _turn(self, block: Any, names: list[str]) -> list[str]:
        """The loop's body: `unroll` steps."""
        avals = self._avals
        i, *state = names
        consts, state = _split_at(state, len(avals.consts))
        carry, state = _split_at(state, len(avals.carry))
        xs, ys = _split_at(state, len(avals.xs))
        first = self._times(block, i, self._unroll)
        for k in range(self._unroll):
            row = self._plus(block, first, k)
            if self._reverse:
                last = self._last_row(block, consts)
                row = block.elementwise(
                    "stablehlo.subtract", (last, row), self._counter
                )
            carry, ys = self._step(block, row, consts, carry, xs, ys)
        return [self._plus(block, i, 1), *consts, *carry, *xs, *ys]

    def _last_row(self, block: Any, consts: list[str]) -> str:
        if self._last is not None:
            return self._last(block, consts)
        return block.constant(self._length - 1, self._counter)

    def _plus(self, block: Any, i: str, k: int) -> str:
        if k == 0:
            return i
        k_name = block.constant(k, self._counter)
        return block.elementwise("stablehlo.add", (i, k_name), self._counter)

    def _times(self, block: Any, i: str, k: int) -> str:
        if k == 1:
            return i
        k_name = block.constant(k, self._counter)
        return block.elementwise("stablehlo.multiply", (i, k_name), self._counter)

    def _step(
        self, block: Any, row: str | int, consts: Any, carry: Any, xs: Any, ys: Any
    ) -> tuple[list[str], list[str]]:
        """One application of the body to row `row`, a name or a known number."""
        at: str = block.constant(row, self._counter) if isinstance(row, int) else row
        slices = [
            self._read(block, x, aval, at)
            for x, aval in zip(xs, self._avals.xs, strict=True)
        ]
        outs = self._body(block, [*consts, *carry, *slices])
        new = outs[self._num_carry :]
        ys = [
            self._store(block, buffer, aval, y, at)
            for buffer, aval, y in zip(ys, self._y_avals, new, strict=True)
        ]
        return outs[: self._num_carry], ys

    def _read(self, block: Any, x: str, aval: Any, row: str) -> str:
        """`x[row]`."""
        aval = families.storage(aval)
        one = ShapedArray((1, *aval.shape[1:]), aval.dtype)
        starts = self._starts(block, row, aval)
        part = block.dynamic_slice(x, aval, one, starts, self._counter)
        return block.reshape(part, one, ShapedArray(aval.shape[1:], aval.dtype))

    def _store(self, block: Any, buffer: str, aval: Any, y: str, row: str) -> str:
        """The buffer with row `row` replaced."""
        aval = families.storage(aval)
        one = ShapedArray((1, *aval.shape[1:]), aval.dtype)
        part = block.reshape(y, ShapedArray(aval.shape[1:], aval.dtype), one)
        return block.op1(
            "stablehlo.dynamic_update_slice",
            [buffer, part, *self._starts(block, row, aval)],
            [aval, one] + [self._counter] * aval.ndim,
            aval,
        )

    def _starts(self, block: Any, row: str, aval: Any) -> list[str]:
        zero = block.constant(0, self._counter)
        return [row] + [zero] * (aval.ndim - 1)


def _split_at(items: list[Any], n: int) -> tuple[list[Any], list[Any]]:
    return items[:n], items[n:]
