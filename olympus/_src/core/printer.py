"""Programs as text, in the form `{ lambda a:f32[3]; b:f32[]. let ... in (c,) }`.

Names are given in the order they are printed, so equal programs print equally. A group
that fits its line stays on it; otherwise equations take a line each, parameters are
indented by two and nested programs by four.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from olympus._src.foundation import pretty, vocabulary

WIDTH = 80


class Names:
    """Names each variable when it is first printed: a, b, .. z, ba, bb, ..."""

    __slots__ = ("names",)

    def __init__(self) -> None:
        self.names: dict[Any, str] = {}

    def __call__(self, var: Any) -> str:
        name = self.names.get(var)
        if name is None:
            name = self.names[var] = _alphabetic(len(self.names))
        return name


def _alphabetic(n: int) -> str:
    text = ""
    while True:
        n, digit = divmod(n, 26)
        text = chr(ord("a") + digit) + text
        if n == 0:
            return text


def program_text(
    program: Any, *, source_info: bool = False, width: int = WIDTH, **_: Any
) -> str:
    """The text of an open program."""
    return noted_text(program, _place if source_info else _nothing, width)


def noted_text(program: Any, note: Callable[[Any], str], width: int = WIDTH) -> str:
    """The text of an open program, with a note behind each equation.

    Args:
      program: an open program.
      note: gives the note of an equation.
      width: of the lines.
    """
    context = _Context(Names(), _find_used_variables(program), note)
    return pretty.render(_program(program, context), width)


class _Mark(str):
    """No text, but the place of an equation that begins here; None where one ends."""

    __slots__ = ("begins", "place")

    begins: bool
    place: Any

    @classmethod
    def at(cls, place: Any, begins: bool) -> _Mark:
        mark = cls()
        mark.begins = begins
        mark.place = place
        return mark


def placed_lines(program: Any, *, width: int = WIDTH) -> list[tuple[str, Any]]:
    """The lines of an open program's text, each with the place it comes from.

    A line comes from the equation to which its first character belongs; lines between
    equations, and those of equations without a place, have None.
    """
    context = _Context(Names(), _find_used_variables(program), _nothing, marks=True)
    lines: list[tuple[str, Any]] = []
    line, place = "", None
    open_places: list[Any] = []
    for piece in pretty.pieces(_program(program, context), width):
        if isinstance(piece, _Mark):
            if piece.begins:
                open_places.append(piece.place)
            else:
                open_places.pop()
            continue
        if piece.startswith("\n"):
            lines.append((line, place))
            line, place = "", None
            piece = piece[1:]
        if piece.strip() and not line.strip():
            place = open_places[-1] if open_places else None
        line += piece
    return [*lines, (line, place)]


def equation_text(eqn: Any) -> str:
    """The text of one equation alone."""
    context = _Context(Names(), None, _nothing)
    return pretty.render(_equation(eqn, context), WIDTH)


def literal(lit: Any) -> str:
    """The text of a literal, as in `2.0:f32[]`."""
    value = lit.val
    if hasattr(value, "dtype"):
        value = value.item() if hasattr(value, "item") else value
    return f"{value}:{lit.aval.short()}"


class _Context:
    __slots__ = ("marks", "names", "note", "used")

    def __init__(
        self,
        names: Names,
        used: set[Any] | None,
        note: Callable[[Any], str],
        marks: bool = False,
    ) -> None:
        self.names = names
        self.used = used  # variables that are used; None: all
        self.note = note
        self.marks = marks  # whether equations are between marks


def _find_used_variables(program: Any) -> set[Any]:
    """Variables read in the program or in programs inside it."""
    used: set[Any] = set()
    pending = [program]
    while pending:
        p = pending.pop()
        used.update(v for v in p.outvars if not hasattr(v, "val"))
        for eqn in p.eqns:
            used.update(v for v in eqn.invars if not hasattr(v, "val"))
            for value in eqn.params.values():
                pending.extend(_programs_in(value))
    return used


def _programs_in(value: Any) -> list[Any]:
    if _is_program(value):
        return [getattr(value, "olympuspr", value)]
    if isinstance(value, (tuple, list)):
        return [getattr(v, "olympuspr", v) for v in value if _is_program(v)]
    return []


def _is_program(value: Any) -> bool:
    return hasattr(value, "eqns") and hasattr(value, "in_avals")


def _program(program: Any, context: _Context) -> Any:
    program = getattr(program, "olympuspr", program)
    consts = _binders(program.constvars, context)
    inputs = _binders(program.invars, context)
    equations = pretty.join(
        pretty.brk("; "), [_equation(eqn, context) for eqn in program.eqns]
    )
    outs = [_atom(v, context) for v in program.outvars]
    result = f"({outs[0]},)" if len(outs) == 1 else f"({', '.join(outs)})"
    return pretty.group(
        pretty.concat(
            [
                pretty.text("{ lambda "),
                consts,
                pretty.text("; "),
                inputs,
                pretty.text(". let"),
                pretty.nest(4, pretty.concat([pretty.brk(), equations])),
                pretty.nest(
                    2, pretty.concat([pretty.brk(), pretty.text(f"in {result} }}")])
                ),
            ]
        )
    )


def _binders(variables: Sequence[Any], context: _Context) -> Any:
    """Typed names, filling lines."""
    parts: list[Any] = []
    for v in variables:
        name = pretty.text(context.names(v))
        if parts:
            name = pretty.group(pretty.concat([pretty.brk(), name]))
        parts += (name, pretty.text(f":{v.aval.short()}"))
    return pretty.nest(4, pretty.concat(parts))


def _result(var: Any, context: _Context) -> str:
    is_dropped = type(var).__name__ == "DropVar" or (
        context.used is not None and var not in context.used
    )
    return f"{'_' if is_dropped else context.names(var)}:{var.aval.short()}"


def _atom(atom: Any, context: _Context) -> str:
    return literal(atom) if hasattr(atom, "val") else context.names(atom)


def _equation(eqn: Any, context: _Context) -> Any:
    doc = _unmarked_equation(eqn, context)
    if not context.marks:
        return doc
    return [_Mark.at(eqn.source, True), doc, _Mark.at(None, False)]


def _unmarked_equation(eqn: Any, context: _Context) -> Any:
    results = " ".join(_result(v, context) for v in eqn.outvars)
    if eqn.primitive.print_equation is not None:
        outs = [_result(v, context) for v in eqn.outvars]
        names = [_atom(v, context) for v in eqn.invars]
        text = eqn.primitive.print_equation(eqn, outs, names)
        return pretty.concat([pretty.text(text), pretty.text(context.note(eqn))])
    parts = [pretty.text(f"{results} = " if results else "")]
    parts.append(pretty.text(str(eqn.primitive.printed_name(eqn))))
    show = eqn.primitive.print
    params = eqn.params.items() if show is None else show(eqn)
    labelled = [(vocabulary.label(k), v) for k, v in params]
    if labelled:
        if show is None:
            labelled.sort(key=lambda pair: pair[0])
        pairs = [_parameter(k, v, context) for k, v in labelled]
        inside = pretty.concat([pretty.brk(""), pretty.join(pretty.brk(), pairs)])
        parts.append(
            pretty.group(
                pretty.concat(
                    [
                        pretty.text("["),
                        pretty.nest(2, inside),
                        pretty.brk(""),
                        pretty.text("]"),
                    ]
                )
            )
        )
    operands = "".join(f" {_atom(v, context)}" for v in eqn.invars)
    parts.append(pretty.text(operands))
    return pretty.concat([*parts, pretty.text(context.note(eqn))])


def _place(eqn: Any) -> str:
    return "" if eqn.source is None else f"  # {eqn.source}"


def _nothing(eqn: Any) -> str:
    del eqn
    return ""


def _parameter(name: str, value: Any, context: _Context) -> Any:
    return pretty.concat([pretty.text(f"{name}="), _value(value, context)])


def _value(value: Any, context: _Context) -> Any:
    if _is_program(value):
        return _program(value, context)
    programs = isinstance(value, (tuple, list)) and value and _is_program(value[0])
    if programs:
        items = pretty.join(pretty.brk(), [_program(v, context) for v in value])
        return pretty.group(
            pretty.concat(
                [
                    pretty.text("("),
                    pretty.nest(2, pretty.concat([pretty.brk(""), items])),
                    pretty.brk(""),
                    pretty.text(")"),
                ]
            )
        )
    if isinstance(value, type):
        return pretty.text(value.__name__)
    return pretty.text(str(value))
