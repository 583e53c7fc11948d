"""The panes: Python, olympuspr, StableHLO, and what XLA made of it."""

from __future__ import annotations

import ast
import linecache
import re
import threading
import zlib
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from olympus._src.core import ir, printer
from olympus._src.lens.nodes import Node, Places, direction_number
from olympus._src.lowering import hlo_costs, hlo_text, operation_paths
from olympus._src.lowering.attributions import Attribution
from olympus._src.lowering.operation_paths import Origin

# -- the olympuspr ---------------------------------------------------------------------

# Behind each equation while the text is made: its number, wider than a line, so that
# every equation takes a line of its own.
_MARK = re.compile(r" {90}#(\d+)$")


def program_nodes(program: ir.Olympuspr, places: Places) -> list[Node]:
    """The lines of an olympuspr; those of programs inside of equations fold."""
    equations: list[Any] = []

    def note(eqn: Any) -> str:
        equations.append(eqn)
        return f"{' ' * 90}#{len(equations) - 1}"

    flat: list[tuple[int, Node, bool]] = []
    for line in printer.noted_text(program, note, 72).splitlines():
        match = _MARK.search(line)
        text = line[: match.start()] if match else line
        node = Node(text)
        if match:
            _set_origin(node, _origin(equations[int(match[1])]), places)
        flat.append((_indent(text), node, match is not None))
    _spread_upwards(flat)
    return _fold_inputs([node for _, node, _ in flat])


_MIN_INPUT_LINES = 4


def _fold_inputs(nodes: list[Node]) -> list[Node]:
    """Folds the inputs of a program where they take many lines."""
    ends = (i for i, node in enumerate(nodes) if node.text.endswith(". let"))
    n = next(ends, 0) + 1
    if n < _MIN_INPUT_LINES:
        return nodes
    n_inputs = sum(node.text.count(":") for node in nodes[:n])
    head = Node(f"{{ lambda, its {n_inputs} inputs", children=nodes[:n], is_fold=True)
    return [head, *nodes[n:]]


def _origin(eqn: Any) -> Origin:
    return Origin(operation_paths.of_equation((), eqn), eqn.source)


def _indent(text: str) -> int:
    return len(text) - len(text.lstrip(" "))


def _spread_upwards(flat: list[tuple[int, Node, bool]]) -> None:
    """Gives lines of an equation of several lines the place that is noted at its end.

    The equation begins at the last line above that is not indented more.
    """
    for i, (indent, node, is_end) in enumerate(flat):
        if not is_end or not node.text.lstrip().startswith(("]", ")")):
            continue
        for above_indent, above, _ in reversed(flat[:i]):
            if above.place < 0:
                above.place, above.direction = node.place, node.direction
            if above_indent <= indent and not above.text.lstrip().startswith(
                ("]", ")")
            ):
                break


def _set_origin(node: Node, origin: Origin | None, places: Places) -> None:
    if origin is not None:
        node.place = places.number(origin.position)
        node.direction = direction_number(origin.direction)


# -- StableHLO -------------------------------------------------------------------------


def stablehlo_nodes(
    text: str, origins: Sequence[Origin | None], places: Places
) -> list[Node]:
    """The lines of a module, indented."""
    nodes, depth = [], 0
    for i, line in enumerate(text.splitlines()):
        line = line.strip()
        depth -= line.startswith("}")
        node = _stablehlo_node(line, "  " * max(depth, 0))
        depth += line.endswith("{")
        _set_origin(node, origins[i] if i < len(origins) else None, places)
        nodes.append(node)
    return nodes


_MAX_HEAD = 200


def _stablehlo_node(line: str, indent: str) -> Node:
    """A line; the arguments of a function with many of them fold."""
    if not line.startswith("func.func") or len(line) <= _MAX_HEAD:
        return Node(indent + line)
    name, _, types = line.partition("(")
    inputs, _, results = types.partition(") -> ")
    parts = [*_arguments(inputs), f"-> {results}"]
    children = [Node(f"{indent}    {part}") for part in parts]
    return Node(f"{indent}{name}, its {len(parts) - 1} arguments", children=children)


def _arguments(text: str) -> list[str]:
    return re.split(r", (?=%arg)", text)


# -- XLA -------------------------------------------------------------------------------

_NOISE = re.compile(
    r", (metadata|backend_config|frontend_attributes|origin)=\{(?:[^{}]|\{[^{}]*\})*\}"
    r'|, api_version=\w+|, backend_config="[^"]*"'
)


def hlo_nodes(
    module: hlo_text.Module,
    served: Mapping[tuple[str, str], Attribution],
    places: Places,
    times_us: Mapping[str, float],
) -> list[Node]:
    """The instructions of the optimised program, those of kernels below them."""
    entry = module.computations[module.entry]
    nodes = _computation_nodes(module, entry, served, places, times_us, is_fused=False)
    parameters = [node for node in nodes if " parameter(" in node.text]
    if len(parameters) < _MIN_INPUT_LINES:
        return nodes
    others = [node for node in nodes if " parameter(" not in node.text]
    return [
        Node(f"{len(parameters)} parameters", children=parameters, is_fold=True),
        *others,
    ]


def _computation_nodes(
    module: hlo_text.Module,
    computation: hlo_text.Computation,
    served: Mapping[tuple[str, str], Attribution],
    places: Places,
    times_us: Mapping[str, float],
    *,
    is_fused: bool,
) -> list[Node]:
    nodes = []
    for instruction in computation.instructions.values():
        node = Node(_instruction_text(instruction))
        known = served.get((computation.name, instruction.name))
        _set_origin(node, known.origin if known else None, places)
        node.flops = hlo_costs.flops(computation, instruction)
        if not is_fused and hlo_costs.is_kernel(instruction):
            node.size_bytes = hlo_costs.touched_bytes(module, computation, instruction)
        if not is_fused:  # collectives are no kernels, and wait for others
            node.time_us = times_us.get(instruction.name, 0.0)
        in_kernel = is_fused or instruction.opcode == "fusion"
        for name in hlo_text.callees(instruction):
            inner = module.computations.get(name)
            if inner is not None:
                node.children += _computation_nodes(
                    module, inner, served, places, times_us, is_fused=in_kernel
                )
        node.is_open = instruction.opcode in ("while", "conditional", "call")
        nodes.append(node)
    return nodes


_MAX_LITERAL = 80


def _literal_text(literal: str) -> str:
    """A constant's value; of a long one its beginning, and a sum of all letters."""
    if len(literal) <= _MAX_LITERAL:
        return literal
    return f"{literal[: _MAX_LITERAL // 2]}... {zlib.crc32(literal.encode()):08x}"


def _instruction_text(instruction: hlo_text.Instruction) -> str:
    operands = ", ".join(instruction.operands)
    if instruction.number is not None:
        operands = str(instruction.number)
    if instruction.opcode == "constant":
        operands = _literal_text(instruction.literal)
    attributes = _NOISE.sub("", instruction.attributes)
    root = "ROOT " * instruction.is_root
    head = f"{root}{instruction.name} = {instruction.type} {instruction.opcode}"
    return f"{head}({operands}){attributes}"


# -- Python ----------------------------------------------------------------------------


class Excerpt(NamedTuple):
    """Consecutive lines of a file.

    Attributes:
      file: its number in `Places`.
      start: the number of the first line.
      lines: the lines.
    """

    file: int
    start: int
    lines: list[str]


_NO_TEXT = "# the text of this line is not known"  # as of code for `exec`


def python_excerpts(places: Places) -> list[Excerpt]:
    """The functions that the expressions are in, file by file, as they were met."""
    excerpts = []
    for number, name in enumerate(places.files):
        rows = linecache.getlines(name)
        wanted = {span[1] for span in places.spans if span[0] == number}
        wanted |= {span[2] for span in places.spans if span[0] == number}
        for start, end in _ranges(rows, wanted):
            lines = [row.rstrip("\n") for row in rows[start - 1 : end]]
            lines += [_NO_TEXT] * (end - start + 1 - len(lines))
            excerpts.append(Excerpt(number, start, lines))
    return excerpts


def _ranges(rows: Sequence[str], wanted: Iterable[int]) -> list[tuple[int, int]]:
    """First and last lines of the outermost functions around lines, merged."""
    functions = _functions("".join(rows))
    ranges: list[list[int]] = []
    for line in sorted(wanted):
        around = [(a, b) for a, b in functions if a <= line <= b]
        start, end = min(around, default=(line, line))
        if ranges and start <= ranges[-1][1] + 3:
            ranges[-1][1] = max(ranges[-1][1], end)
        else:
            ranges.append([start, end])
    return [(start, end) for start, end in ranges]


# Python 3.11 counts the depth of all threads' trees in one place, and raises
# SystemError where they get in each other's way.
_parsing = threading.Lock()


def _functions(text: str) -> list[tuple[int, int]]:
    try:
        with _parsing:
            tree = ast.parse(text)
    except (SyntaxError, ValueError, SystemError):  # a notebook's cell may hold magics
        return []
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef)
    lines = []
    for item in ast.walk(tree):
        if isinstance(item, kinds):
            first = min([item.lineno, *[d.lineno for d in item.decorator_list]])
            lines.append((first, item.end_lineno or item.lineno))
    return lines
