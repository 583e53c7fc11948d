"""Writes StableHLO operations as text.

A `Block` collects the lines of one region. Operands are names such as `%3`; their types
are avals, which the caller knows. Short operations use StableHLO's pretty form, the
rest the generic form, which every version of the parser reads.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import Any

import numpy as np

from olympus._src.core import avals as avals_
from olympus._src.core import dtypes, sizes
from olympus._src.lowering import dynamic_shapes, frontend_attributes, types

ShapedArray = avals_.ShapedArray


class Counter:
    """Numbers for the names of one function, and what else its blocks share.

    Attributes:
      constants: how many constants it has, which have names of their own, as in MLIR's
        print; so do values in regions. Few names are then changed in a print.
      regions: how many regions it has.
      calls_python: whether the function takes the number of the callbacks to call.
      literals: numbers other than 0, by the names of scalars and of arrays that are
        filled with one.
    """

    __slots__ = ("calls_python", "constants", "literals", "regions")

    def __init__(self) -> None:
        self.constants = 0
        self.regions = 0
        self.literals: dict[str, Any] = {}
        self.calls_python = False

    def new_constant(self) -> str:
        """The name of one more constant."""
        n = self.constants
        self.constants = n + 1
        return f"%k{n}"

    def new_region(self) -> str:
        """How the names of values in one more region begin."""
        n = self.regions
        self.regions = n + 1
        return f"%r{n}_"


_LONGEST_STEP = (1 << 63) - 1  # of a slice


# The argument of a function by which a program's callbacks are told from those of other
# programs of the same text: the number of their table.
CALLBACKS = "%callbacks"
CALLBACKS_TYPE = "tensor<i32>"


class Block:
    """The lines of one region.

    Attributes:
      attributes: pairs of a name and a text that each operation gets for the compiler.
      location: the text appended to each operation, as in ` loc("f.py":1:2)`.
      tokens: the current token of each ordered effect.
      known: values of integers that are known now, by their names.
      sizes: the scalar of each dimension variable, in a program of dynamic sizes.
      folds: whether it is the body of a reduction, which combines two elements.
      n: the number of its next name.
      prefix: how the names of its values begin.
    """

    __slots__ = (
        "attributes",
        "constants",
        "counter",
        "folds",
        "known",
        "lines",
        "location",
        "n",
        "prefix",
        "sizes",
        "tokens",
    )

    def __init__(self, counter: Counter | None = None, location: str = "") -> None:
        self.lines: list[str] = []
        self.n = 0
        self.prefix = "%"
        self.counter = Counter() if counter is None else counter
        self.location = location
        self.attributes: Sequence[tuple[str, str]] = ()
        self.tokens: dict[Any, str] = {}
        self.known: dict[str, int] = {}
        self.sizes: dict[str, str] = {}
        self.folds = False
        self.constants: dict[Any, str] = {}  # also scalars that are repeated

    def fresh(self) -> str:
        """A name that is unique in the function."""
        n = self.n
        self.n = n + 1
        return f"{self.prefix}{n}"

    def callbacks(self) -> str:
        """The name of the number of the callbacks, which the function then takes."""
        self.counter.calls_python = True
        return CALLBACKS

    def emit(self, text: str) -> str:
        """Appends an operation of one result; returns its name."""
        if self.attributes:
            text = frontend_attributes.tag(text, self.attributes)
        n = self.n
        self.n = n + 1
        name = f"{self.prefix}{n}"
        self.lines.append(f"{name} = {text}{self.location}")
        return name

    def emit_many(self, text: str, count: int) -> list[str]:
        """Appends an operation of `count` results; returns their names."""
        if count == 1:
            return [self.emit(text)]
        if self.attributes:
            text = frontend_attributes.tag(text, self.attributes)
        if count == 0:
            self.lines.append(text + self.location)
            return []
        name = self.fresh()
        self.lines.append(f"{name}:{count} = {text}{self.location}")
        return [f"{name}#{i}" for i in range(count)]

    def tag(self, name: str, attributes: Sequence[tuple[str, str]]) -> None:
        """Gives attributes to the operation that `name` is a result of.

        Arguments have none, and what several operations share gets none.
        """
        if name in self.constants.values():
            return
        begin = f"{name.partition('#')[0]} = ", f"{name.partition('#')[0]}:"
        for i in range(len(self.lines) - 1, -1, -1):
            if self.lines[i].startswith(begin):
                text, place = frontend_attributes.split_location(self.lines[i])
                self.lines[i] = frontend_attributes.tag(text, attributes) + place
                return

    def elementwise(
        self, op: str, operands: Sequence[str], aval: Any, attributes: str = ""
    ) -> str:
        """An operation whose operands and result have one type."""
        kind = types.tensor_type(aval)
        return self.emit(f"{op} {', '.join(operands)}{attributes} : {kind}")

    def chlo(self, name: str, operands: Sequence[str], aval: Any) -> str:
        """An operation of CHLO whose operands and result have one type.

        The compiler expands some of them for floats of 16 bits and more only; narrower
        ones are computed in single precision.
        """
        wide = aval
        if dtypes.kind(aval.dtype) == "f" and dtypes.itemsize_bits(aval.dtype) < 16:
            wide = ShapedArray(aval.shape, np.dtype(np.float32))
            operands = [self.convert(x, aval, wide) for x in operands]
        t = types.tensor_type(wide)
        kinds = ", ".join([t] * len(operands))
        out = self.emit(f"chlo.{name} {', '.join(operands)} : {kinds} -> {t}")
        return out if wide is aval else self.convert(out, wide, aval)

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
        """A constant of a host value (small ones only; large ones are arguments).

        A size known by name is computed.
        """
        key = constant_key(value, aval)
        if key is not None:
            name = self.constants.get(key)
            if name is not None:
                return name
        elif sizes.is_symbolic(value):
            return self.convert(self.dimension(value), dynamic_shapes.SIZE, aval)
        text = types.dense(value, aval)
        name = self.constants.get(text)
        if name is None:
            name = self.constants[text] = self.counter.new_constant()
            self.lines.append(f"{name} = stablehlo.constant {text}{self.location}")
        if key is not None:
            if value == value and value != 0:
                self.counter.literals[name] = value
            self.constants[key] = name
        return name

    def literal(self, name: str) -> Any:
        """The number that a value is, or is filled with; None if not known, or 0."""
        return self.counter.literals.get(name)

    def spread(self, operand: str, in_aval: Any, out_aval: Any) -> str:
        """A scalar repeated to the shape of `out_aval`, once for all who need it."""
        key = self.spread_key(operand, out_aval)
        name = self.constants.get(key)
        if name is None:
            words = range(out_aval.ndim, out_aval.storage.ndim)
            own = self.attributes
            if own and operand in self.constants.values():
                self.attributes = ()  # others may need it too
            name = self.broadcast(operand, in_aval, out_aval, words)
            self.attributes = own
            self.constants[key] = name
            if operand in self.counter.literals:
                self.counter.literals[name] = self.counter.literals[operand]
        return name

    def spread_key(self, operand: str, out_aval: Any) -> Any:
        """Where `constants` holds a scalar that was repeated to a type."""
        kind = types.tensor_type(out_aval)
        return (operand, kind, out_aval.shape) if "?" in kind else (operand, kind)

    def splat(self, value: Any, aval: Any) -> str:
        """An array of type `aval` filled with one number."""
        scalar = ShapedArray((), aval.dtype)
        name = self.constant(value, scalar)
        return self.spread(name, scalar, aval) if aval.shape else name

    def broadcast(
        self, operand: str, in_aval: Any, out_aval: Any, dims: Sequence[int]
    ) -> str:
        """`stablehlo.broadcast_in_dim`."""
        kind = types.tensor_type(out_aval)
        if "?" in kind:
            return dynamic_shapes.broadcast(self, operand, in_aval, out_aval, dims)
        return self.emit(
            f"stablehlo.broadcast_in_dim {operand}, dims = {types.int_list(dims)} : "
            f"({types.tensor_type(in_aval)}) -> {kind}"
        )

    def iota(self, dimension: int, out_aval: Any) -> str:
        """`stablehlo.iota`."""
        kind = types.tensor_type(out_aval)
        if "?" in kind:
            return dynamic_shapes.iota(self, dimension, out_aval)
        return self.emit(f"stablehlo.iota dim = {dimension} : {kind}")

    def reshape(self, operand: str, in_aval: Any, out_aval: Any) -> str:
        """`stablehlo.reshape`."""
        kinds = f"({types.tensor_type(in_aval)}) -> {types.tensor_type(out_aval)}"
        if "?" in kinds:
            return dynamic_shapes.reshape(self, operand, in_aval, out_aval)
        return self.emit(f"stablehlo.reshape {operand} : {kinds}")

    def slice(
        self,
        operand: str,
        in_aval: Any,
        out_aval: Any,
        starts: Sequence[Any],
        limits: Sequence[Any],
        strides: Sequence[Any] | None = None,
    ) -> str:
        """`stablehlo.slice`."""
        steps = [1] * len(starts) if strides is None else strides
        kinds = f"({types.tensor_type(in_aval)}) -> {types.tensor_type(out_aval)}"
        if "?" in kinds:
            return dynamic_shapes.slice_(
                self, operand, in_aval, out_aval, starts, limits, steps
            )
        # A step beyond 64 bits leads out of the axis, as the longest one does.
        ranges = [
            f"{a}:{b}" if c == 1 else f"{a}:{b}:{min(c, _LONGEST_STEP)}"
            for a, b, c in zip(starts, limits, steps, strict=True)
        ]
        return self.emit(f"stablehlo.slice {operand} [{', '.join(ranges)}] : {kinds}")

    def dynamic_slice(
        self, operand: str, in_aval: Any, out_aval: Any, starts: Any, kind: Any
    ) -> str:
        """`stablehlo.dynamic_slice` at the scalars `starts`, of type `kind`."""
        if types.has_symbolic_size(out_aval):
            return dynamic_shapes.slice_at(
                self, operand, in_aval, out_aval, starts, kind
            )
        return self.op1(
            "stablehlo.dynamic_slice",
            [operand, *starts],
            [in_aval, *[kind] * len(starts)],
            out_aval,
            f"slice_sizes = {types.i64_array(types.physical(out_aval)[0])}",
        )

    def dynamic_update_slice(
        self,
        operand: str,
        aval: Any,
        update: str,
        update_aval: Any,
        starts: Sequence[str],
        kind: Any,
    ) -> str:
        """`stablehlo.dynamic_update_slice` at the scalars `starts`, of type `kind`."""
        t = types.tensor_type
        kinds = ", ".join([t(aval), t(update_aval), *[t(kind)] * len(starts)])
        return self.emit(
            f"stablehlo.dynamic_update_slice {operand}, {update}, {', '.join(starts)} "
            f": ({kinds}) -> {t(aval)}"
        )

    def pad(
        self,
        operands: Sequence[str],
        in_avals: Sequence[Any],
        out_aval: Any,
        lows: Sequence[Any],
        highs: Sequence[Any],
        interiors: Sequence[Any],
    ) -> str:
        """`stablehlo.pad` of an array with a value."""
        t = types.tensor_type
        kinds = f"({', '.join(map(t, in_avals))}) -> {t(out_aval)}"
        if "?" in kinds:
            return dynamic_shapes.pad(
                self, operands, in_avals, out_aval, lows, highs, interiors
            )
        return self.emit(
            f"stablehlo.pad {', '.join(operands)}, low = {types.int_list(lows)}, high "
            f"= {types.int_list(highs)}, interior = {types.int_list(interiors)} : "
            f"{kinds}"
        )

    def dimension(self, size: Any) -> str:
        """The name of a 32-bit scalar with the value of a size, known or not."""
        return dynamic_shapes.dimension(self, size)

    def convert(self, operand: str, in_aval: Any, out_aval: Any) -> str:
        """`stablehlo.convert`; nothing where the types agree."""
        have, want = types.tensor_type(in_aval), types.tensor_type(out_aval)
        if have == want:
            return operand
        return self.emit(f"stablehlo.convert {operand} : ({have}) -> {want}")

    def compare(
        self, direction: str, x: str, y: str, aval: Any, kind: str, out_aval: Any
    ) -> str:
        """`stablehlo.compare`; kind is FLOAT, TOTALORDER, SIGNED or UNSIGNED."""
        t = types.tensor_type(aval)
        return self.emit(
            f"stablehlo.compare {direction}, {x}, {y}, {kind} : ({t}, {t}) -> "
            f"{types.tensor_type(out_aval)}"
        )

    def inner(self) -> Block:
        """A block for a region of an operation of this block."""
        block = Block(self.counter, self.location)
        block.prefix = self.counter.new_region()
        block.tokens = dict(self.tokens)
        block.known = self.known
        block.attributes = self.attributes
        block.sizes = self.sizes
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


def constant_key(value: Any, aval: Any) -> Any:
    """Where `constants` holds a number of a type; None for other values.

    Zeros of both signs are equal, and NaN equals nothing, so floats go by their bits.
    """
    kind = type(value)
    if isinstance(value, np.generic):
        return aval, kind, value.tobytes()
    if kind is float:
        return aval, kind, struct.pack("d", value)
    if kind is int or kind is bool:
        return aval, kind, value
    is_number = isinstance(value, (int, float, complex))
    return (aval, kind, value) if is_number and value == value and value else None


def type_text(aval: Any) -> str:
    """The text of a type given as an aval or as text."""
    if type(aval) is str:
        return aval
    if type(aval) is ShapedArray:
        return types.tensor_type(aval)
    return types.token_type()


class Context:
    """The context of a lowering rule: the block to write in, and the types.

    Attributes:
      block: where operations are written.
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
