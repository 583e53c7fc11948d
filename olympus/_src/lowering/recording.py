"""What a lowering rule writes, noted as a template.

The rule is called with a block that notes what is written, and refuses all that depends
on something else: other functions of the module, the equation, the letters of a name.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

from olympus._src.core import sizes
from olympus._src.lowering import builder, types


class Template:
    """What a rule writes, with places for names.

    Attributes:
      text: the one line that it writes, with places for the names of the result and
        the operands, in this order; None where it writes something else.
    """

    __slots__ = ("_literals", "_results", "_steps", "text")

    def __init__(
        self,
        steps: Sequence[_Step],
        literals: dict[int, Any],
        results: int | list[int],
        n_operands: int,
    ) -> None:
        # What gives a line's names, the first of which is its own, from all there are.
        self._steps = [
            (step, what, _picker(*others) if step is _emit else others)
            for step, what, others in steps
        ]
        self._literals = literals
        self._results = results
        self.text: str | None = None
        if len(steps) == 1 and not literals and results == n_operands:
            step, text, places = steps[0]
            if step is _emit and places == (n_operands, *range(n_operands)):
                self.text = text

    def write(self, block: builder.Block, names: list[str]) -> Any:
        """Writes the operations; returns the names of their results, as a rule does.

        Args:
          block: where they are written.
          names: those of the operands, to which others are added.

        None, and nothing written, if an operand is another literal than when the
        template was made, and the rule has looked at it.
        """
        if self._literals:
            known = block.counter.literals
            for place, literal in self._literals.items():
                if known.get(names[place]) != literal:
                    return None
        for step, what, others in self._steps:
            if step is _emit:  # as most are
                n = block.n
                block.n = n + 1
                names.append(f"{block.prefix}{n}")
                block.lines.append(what % others(names))
            else:
                step(block, names, what, others)
        results = self._results
        if isinstance(results, int):
            return names[results]
        return [names[i] for i in results]


_picker: Any = operator.itemgetter


# -- what is noted ---------------------------------------------------------------------

# A function that writes to a block and adds to the names that there are, and two more
# arguments for it: of most a text with a `%s` for each name, and the names' numbers.
_Step = tuple[Callable[[builder.Block, list[str], Any, Any], None], Any, Any]


def _emit(block: builder.Block, names: list[str], text: str, pick: Any) -> None:
    n = block.n
    block.n = n + 1
    names.append(f"{block.prefix}{n}")
    block.lines.append(text % pick(names))


def _emit_many(block: builder.Block, names: list[str], text: Any, places: Any) -> None:
    text, count = text
    names += block.emit_many(text % tuple([names[i] for i in places]), count)


def _write_constant(
    block: builder.Block, names: list[str], key: Any, constant: Any
) -> None:
    names.append(block.constants.get(key) or block.constant(*constant))


def _spread(block: builder.Block, names: list[str], place: Any, avals: Any) -> None:
    place, kind = place
    operand = names[place]
    names.append(block.constants.get((operand, kind)) or block.spread(operand, *avals))


def _begin_region(block: builder.Block, names: list[str], *_: Any) -> None:
    names.append(block.counter.new_region())


def _name_constant(block: builder.Block, names: list[str], *_: Any) -> None:
    names.append(block.counter.new_constant())


_PLACE = "\0([0-9]+)\1"


def _fill_in(text: str) -> tuple[str, tuple[int, ...]]:
    """A text with a `%s` in each place of a name, and the numbers of these names."""
    parts = re.split(_PLACE, text)
    plain = "%s".join([part.replace("%", "%%") for part in parts[::2]])
    if "\0" in plain or "\1" in plain:  # a part of a name
        raise _Refusal
    return plain, tuple(map(int, parts[1::2]))


# -- recording -------------------------------------------------------------------------


class _Refusal(BaseException):
    """A rule does more than to write operations on its operands.

    No `Exception`, which rules may catch.
    """


def refuse(*args: Any, **kwargs: Any) -> NoReturn:
    raise _Refusal


class _Refused:
    """A field of a block or a context that a rule which is recorded may not use."""

    __slots__ = ()
    __get__ = __set__ = refuse


_refused: Any = _Refused()


class _Name(str):
    """A name to be: rules may write it, and not look at it."""

    __slots__ = ("place",)
    place: int

    def __str__(self) -> str:
        return self


_COMPARISONS = {"__eq__", "__ge__", "__gt__", "__hash__", "__le__", "__lt__", "__ne__"}
for _method in (set(dir(str)) - set(dir(object))) | _COMPARISONS | {"__repr__"}:
    setattr(_Name, _method, refuse)


def _name(place: int) -> _Name:
    name = _Name(f"\0{place}\1")
    name.place = place
    return name


class _Recorder(builder.Block):
    """A block that notes what is written, and refuses what depends on other things."""

    __slots__ = (
        "_literals",
        "_n",
        "_names",
        "_outer",
        "_sources",
        "_steps",
        "operands",
    )

    constants = counter = known = lines = location = n = prefix = _refused
    sizes = tokens = _refused
    attributes = ()
    folds = False

    def __init__(self, outer: builder.Block, operands: Sequence[str]) -> None:
        self._outer = outer
        self._steps: list[_Step] = []
        self._literals: dict[int, Any] = {}
        self._names = operands
        self._n = len(operands)
        # Which operand a name stands for, or repeats; None for constants.
        self._sources: dict[int, int | None] = {i: i for i in range(self._n)}
        self.operands = list(map(_name, range(self._n)))

    def template(self, out: Any) -> Template:
        """What was noted, and what the rule returned."""
        many = isinstance(out, (list, tuple))
        results = [x.place for x in out] if many else out.place
        return Template(self._steps, self._literals, results, len(self.operands))

    def note(self, step: Any, what: Any, others: Any, count: int = 1) -> list[_Name]:
        """Notes a step that gives names."""
        self._steps.append((step, what, others))
        names = [_name(self._n + i) for i in range(count)]
        self._n += count
        return names

    def emit(self, text: str) -> str:
        plain, places = _fill_in(text)
        return self.note(_emit, f"%s = {plain}", (self._n, *places))[0]

    def emit_many(self, text: str, count: int) -> list[Any]:
        if count == 1:
            return [self.emit(text)]
        plain, places = _fill_in(text)
        return self.note(_emit_many, (plain, count), places, count)

    def constant(self, value: Any, aval: Any) -> str:
        key = builder.constant_key(value, aval)
        (name,) = self.note(_write_constant, key, (value, aval))
        self._sources[name.place] = None
        return name

    def spread(self, operand: Any, in_aval: Any, out_aval: Any) -> str:
        kind = types.tensor_type(out_aval)
        (name,) = self.note(_spread, (operand.place, kind), (in_aval, out_aval))
        if operand.place in self._sources:
            self._sources[name.place] = self._sources[operand.place]
        return name

    def literal(self, name: Any) -> Any:
        if name.place not in self._sources:
            return None
        source = self._sources[name.place]
        if source is None:
            raise _Refusal
        literal = self._literals[source] = self._outer.literal(self._names[source])
        return literal

    def inner(self) -> Any:
        return _Region(self)

    callbacks = dimension = fresh = tag = refuse


class _Region(builder.Block):
    """A region of an operation that is noted: its lines are a part of that text."""

    __slots__ = ("_constants", "_outer")

    constants = counter = known = sizes = tokens = _refused

    def __init__(self, outer: _Recorder) -> None:
        (prefix,) = outer.note(_begin_region, None, None)
        self._outer = outer
        self._constants: dict[str, str] = {}
        self.attributes = ()
        self.folds = False
        self.lines = []
        self.location = ""
        self.n = 0
        self.prefix = f"{prefix}"

    def fresh(self) -> str:
        return _Name(super().fresh())

    def emit(self, text: str) -> str:
        return _Name(super().emit(text))

    def emit_many(self, text: str, count: int) -> list[str]:
        return list(map(_Name, super().emit_many(text, count)))

    def constant(self, value: Any, aval: Any) -> str:
        if sizes.is_symbolic(value):
            raise _Refusal
        text = types.dense(value, aval)
        if text not in self._constants:
            (name,) = self._outer.note(_name_constant, None, None)
            self._constants[text] = name
            self.lines.append(f"{name} = stablehlo.constant {text}")
        return self._constants[text]

    def inner(self) -> Any:
        return _Region(self._outer)

    callbacks = dimension = literal = spread = tag = refuse


class _Context(builder.Context):
    """The context of a rule that is recorded, without the equation and most else."""

    __slots__ = ()

    eqn = _refused

    def __init__(self, facts: Any, block: builder.Block, eqn: Any) -> None:
        self.module = facts
        self.platform = facts.platform
        self.block = block
        self.avals_in = [v.aval for v in eqn.invars]
        self.avals_out = [v.aval for v in eqn.outvars]


def record(
    facts: Any, block: builder.Block, eqn: Any, operands: Sequence[str]
) -> Template | None:
    """The template of an equation; None if its rule does more than to write.

    Args:
      facts: what rules may know of the module.
      block: where the equation is.
      eqn: the equation.
      operands: names of its operands.
    """
    recorder = _Recorder(block, operands)
    ctx = _Context(facts, recorder, eqn)
    try:
        out = eqn.primitive.lower(ctx, *recorder.operands, **eqn.params)
        return recorder.template(out)
    except (_Refusal, Exception):  # the rule itself says what is wrong
        return None
