"""Writes StableHLO operations as text.

A `Block` collects the lines of one region. Operands are names such as `%3`; their types
are avals, which the caller knows. Short operations use StableHLO's pretty form, the
rest the generic form, which every version of the parser reads.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from olympus._src.core import avals as avals_
from olympus._src.lowering import types

ShapedArray = avals_.ShapedArray


class Counter:
    """Numbers for the names of one function."""

    __slots__ = ("n",)

    def __init__(self) -> None:
        self.n = 0


class Block:
    """The lines of one region.

    Attributes:
      location: the text appended to each operation, as in ` loc("f.py":1:2)`.
      tokens: the current token of each ordered effect.
      known: values of integers that are known now, by their names.
    """

    __slots__ = ("constants", "counter", "known", "lines", "location", "tokens")

    def __init__(self, counter: Counter | None = None, location: str = "") -> None:
        self.lines: list[str] = []
        self.counter = Counter() if counter is None else counter
        self.location = location
        self.tokens: dict[Any, str] = {}
        self.known: dict[str, int] = {}
        self.constants: dict[Any, str] = {}  # also scalars that are repeated

    def fresh(self) -> str:
        """A name nothing else in the function has."""
        n = self.counter.n
        self.counter.n = n + 1
        return f"%{n}"

    def emit(self, text: str) -> str:
        """Appends an operation of one result; returns its name."""
        n = self.counter.n
        self.counter.n = n + 1
        name = f"%{n}"
        self.lines.append(f"{name} = {text}{self.location}")
        return name

    def emit_many(self, text: str, count: int) -> list[str]:
        """Appends an operation of `count` results; returns their names."""
        if count == 1:
            return [self.emit(text)]
        if count == 0:
            self.lines.append(text + self.location)
            return []
        name = self.fresh()
        self.lines.append(f"{name}:{count} = {text}{self.location}")
        return [f"{name}#{i}" for i in range(count)]

    def elementwise(
        self, op: str, operands: Sequence[str], aval: Any, attributes: str = ""
    ) -> str:
        """An operation whose operands and result have one type."""
        kind = types.tensor_type(aval)
        return self.emit(f"{op} {', '.join(operands)}{attributes} : {kind}")

    def op(
        self,
        op: str,
        operands: Sequence[str],
        in_avals: Sequence[Any],
        out_avals: Sequence[Any],
        attributes: str = "",
        regions: Sequence[str] = (),
    ) -> list[str]:
        """Any operation, in generic form.

        Args:
          op: full name, as in `stablehlo.gather`.
          operands: names of the operands.
          in_avals: their types (avals, or type texts).
          out_avals: the types of the results.
          attributes: text between the braces, as in `dimension = 0 : i64`.
          regions: texts made by `region`.

        Returns:
          The names of the results.
        """
        inputs = ", ".join([type_text(a) for a in in_avals])
        outputs = [type_text(a) for a in out_avals]
        result = outputs[0] if len(outputs) == 1 else f"({', '.join(outputs)})"
        body = f" ({', '.join(regions)})" if regions else ""
        braces = f" {{{attributes}}}" if attributes else ""
        text = f'"{op}"({", ".join(operands)}){body}{braces} : ({inputs}) -> {result}'
        return self.emit_many(text, len(outputs))

    def op1(
        self,
        op: str,
        operands: Sequence[str],
        in_avals: Sequence[Any],
        out_aval: Any,
        attributes: str = "",
        regions: Sequence[str] = (),
    ) -> str:
        """`op` with one result; returns its name."""
        return self.op(op, operands, in_avals, [out_aval], attributes, regions)[0]

    def constant(self, value: Any, aval: Any) -> str:
        """A constant of a host value (small ones only; large ones are arguments)."""
        # Zeros of both signs are equal, and NaN equals nothing: those go by their text.
        plain = isinstance(value, (int, float, complex, np.generic))
        quick = plain and value == value and value != 0
        if quick:
            found = self.constants.get((aval, type(value), value))
            if found is not None:
                return found
        text = types.dense(value, aval)
        found = self.constants.get(text)
        if found is None:
            found = self.emit(f"stablehlo.constant {text}")
            self.constants[text] = found
        if quick:
            self.constants[aval, type(value), value] = found
        return found

    def spread(self, operand: str, in_aval: Any, out_aval: Any) -> str:
        """A scalar repeated to the shape of `out_aval`, once for all who need it."""
        key = (operand, types.tensor_type(out_aval))
        found = self.constants.get(key)
        if found is None:
            words = range(out_aval.ndim, out_aval.storage.ndim)
            found = self.broadcast(operand, in_aval, out_aval, words)
            self.constants[key] = found
        return found

    def splat(self, value: Any, aval: Any) -> str:
        """An array of type `aval` filled with one number."""
        scalar = ShapedArray((), aval.dtype)
        name = self.constant(value, scalar)
        return self.spread(name, scalar, aval) if aval.shape else name

    def broadcast(
        self, operand: str, in_aval: Any, out_aval: Any, dims: Sequence[int]
    ) -> str:
        """`stablehlo.broadcast_in_dim`."""
        return self.emit(
            f"stablehlo.broadcast_in_dim {operand}, dims = {types.int_list(dims)} : "
            f"({types.tensor_type(in_aval)}) -> {types.tensor_type(out_aval)}"
        )

    def reshape(self, operand: str, in_aval: Any, out_aval: Any) -> str:
        """`stablehlo.reshape`."""
        return self._change("stablehlo.reshape", operand, in_aval, out_aval)

    def convert(self, operand: str, in_aval: Any, out_aval: Any) -> str:
        """`stablehlo.convert`; nothing where the types agree."""
        if types.tensor_type(in_aval) == types.tensor_type(out_aval):
            return operand
        return self._change("stablehlo.convert", operand, in_aval, out_aval)

    def compare(
        self, direction: str, x: str, y: str, aval: Any, kind: str, out_aval: Any
    ) -> str:
        """`stablehlo.compare`; kind is FLOAT, TOTALORDER, SIGNED or UNSIGNED."""
        t = types.tensor_type(aval)
        return self.emit(
            f"stablehlo.compare {direction}, {x}, {y}, {kind} : ({t}, {t}) -> "
            f"{types.tensor_type(out_aval)}"
        )

    def _change(self, op: str, operand: str, in_aval: Any, out_aval: Any) -> str:
        return self.emit(
            f"{op} {operand} : ({types.tensor_type(in_aval)}) -> "
            f"{types.tensor_type(out_aval)}"
        )

    def inner(self) -> Block:
        """A block for a region of an operation of this block."""
        block = Block(self.counter, self.location)
        block.tokens = dict(self.tokens)
        block.known = self.known
        return block

    def arguments(self, in_avals: Sequence[Any]) -> list[str]:
        """Names for the arguments of this region."""
        return [self.fresh() for _ in in_avals]

    def region(
        self,
        names: Sequence[str],
        in_avals: Sequence[Any],
        outs: Sequence[str],
        out_avals: Sequence[Any],
        terminator: str = "stablehlo.return",
    ) -> str:
        """This block as the text of a region."""
        head = ""
        if names:
            bound = ", ".join(
                [f"{n}: {type_text(a)}" for n, a in zip(names, in_avals, strict=True)]
            )
            head = f"^bb0({bound}):\n"
        kinds = ", ".join([type_text(a) for a in out_avals])
        self.lines.append(f'"{terminator}"({", ".join(outs)}) : ({kinds}) -> ()')
        return "{\n" + head + "\n".join(self.lines) + "\n}"


def type_text(aval: Any) -> str:
    """The text of a type given as an aval or as text."""
    if type(aval) is str:
        return aval
    if type(aval) is ShapedArray:
        return types.tensor_type(aval)
    return types.token_type()


class Context:
    """What a lowering rule is given: the block to write in, and the types.

    Attributes:
      block: where operations go.
      module: the module, for functions and callbacks.
      avals_in, avals_out: types of operands and results.
      platform: 'cpu', 'cuda', ...
    """

    __slots__ = ("avals_in", "avals_out", "block", "eqn", "module", "platform")

    def __init__(self, module: Any, block: Block, eqn: Any) -> None:
        self.module = module
        self.platform = module.platform
        self.block = block
        self.eqn = eqn
        self.avals_in = [v.aval for v in eqn.invars]
        self.avals_out = [v.aval for v in eqn.outvars]
