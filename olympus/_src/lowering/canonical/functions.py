"""The body of a function as MLIR prints it: indented, and with its names of values.

MLIR numbers the results of a region in order and calls constants `%c` and `%cst`; a
name that is taken gets the next number of its own count. What a region holds is named
after all of the region around it, so names are known at the end.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from olympus._src.lowering.canonical import generic_forms, operations
from olympus._src.lowering.canonical.errors import UnknownForm
from olympus._src.lowering.canonical.plain import SAME
from olympus._src.lowering.canonical.regions import Operation, Region, read

# What MLIR prints in another way, and lowering does not write in most programs.
_ODD = ("  ", " \n", "< ", "//", "loc(", "batching_dims = [] x []")
# One of these is in each but `//` and the last.
_ODD_PAIRS = np.frombuffer(b"   \n< c(", np.uint16)
_LONG = 4096


def _is_odd(text: str) -> bool:
    """Whether a text has something of `_ODD`."""
    if "/" not in text and len(text) > _LONG and not _has_odd_pair(text):
        return _ODD[-1] in text
    return any(odd in text for odd in _ODD)


def _has_odd_pair(text: str) -> bool:
    """Whether a text has one of `_ODD_PAIRS`, for which NumPy looks faster."""
    letters = text.encode()
    for first in (0, 1):
        pairs = np.frombuffer(letters, np.uint16, (len(letters) - first) // 2, first)
        if any((pairs == odd).any() for odd in _ODD_PAIRS):
            return True
    return False


def body(text: str, arguments: Sequence[str]) -> str:
    """The lines of a function, given the names of its arguments."""
    if _is_odd(text):
        raise UnknownForm("spaces, comments or places")
    names = _Names()
    for i, name in enumerate(arguments):
        if name != f"arg{i}":
            names.new[f"%{name}"] = f"%arg{i}"
    lines = text.lstrip("\n").split("\n")
    names.plain = '"' not in text and "{" not in text
    printed = names.region(lines, _Scope(0, len(arguments), 0, set()), "    ", True)
    return "    " + names.rename(printed)


class _Scope:
    """What a region's names begin with.

    Attributes:
      value, argument, conflict: the next number of a result, of an argument, and of a
        name that is taken.
      taken: names that are not numbers, of this region and those around it.
    """

    __slots__ = ("argument", "conflict", "taken", "value")

    def __init__(
        self, value: int, argument: int, conflict: int, taken: set[str]
    ) -> None:
        self.value = value
        self.argument = argument
        self.conflict = conflict
        self.taken = taken

    def inner(self) -> _Scope:
        return _Scope(self.value, self.argument, self.conflict, set(self.taken))

    def unique(self, name: str) -> str:
        base = name
        while name in self.taken:
            name = f"{base}_{self.conflict}"
            self.conflict += 1
        self.taken.add(name)
        return name


class _Names:
    """Prints regions, and notes what the values in them are called.

    Attributes:
      new: see `_NewNames`.
      plain: whether no line has attributes or strings.
      has_named: whether results of an operation have names each.
    """

    def __init__(self) -> None:
        self.new = _NewNames()
        self.plain = False
        self.has_named = False

    def region(
        self, lines: Sequence[str], scope: _Scope, indent: str, in_function: bool
    ) -> str:
        """A region's lines; its arguments have their names already."""
        same, plain = SAME.get, self.plain
        printed: list[str] = []
        names: list[str] = []
        inner: list[tuple[int, Operation]] = []
        rows = iter(lines)
        for line in rows:
            try:
                name, _, op, remaining = line.split(" ", 3)
            except ValueError:  # as of a return
                name = op = remaining = ""
            if (
                same(op) is (": (" in remaining)
                or (op.startswith("stablehlo.reduce(%") and " applies " in remaining)
            ) and (plain or ("{" not in line and '"' not in line)):
                names.append(name)
            elif op.startswith('"') and not line.endswith("{") and name[-2:] != ":2":
                names.append(name)
                line = generic_forms.short(line)
            elif op == "stablehlo.constant":
                dense, kind = operations.constant(remaining)
                line = f"{name} = {op} {dense}"
                self.new[name] = f"%{scope.unique(kind)}"
            else:
                labels = operations.named_results(line) if name.endswith(":2") else ()
                if labels:
                    line = self.named(line, labels, scope)
                elif line.startswith("%"):
                    names.append(name)
                if line.endswith("{"):
                    inner.append((len(printed), read(line, rows)))
                else:
                    line = operations.line(line, in_function)
            printed.append(line)
        self.number(names, scope)
        for i, operation in inner:
            printed[i] = _print(self, operation, scope, indent)
        return f"\n{indent}".join(printed)

    def named(self, line: str, names: Sequence[str], scope: _Scope) -> str:
        """An operation whose results are called otherwise than by one number."""
        self.has_named = True
        name, _, remaining = line.partition(":2 = ")
        for i, label in enumerate(names):
            self.new[f"{name}#{i}"] = f"%{scope.unique(label)}"
        return f"{name}#0, {name}#1 = {remaining}"

    def number(self, names: list[str], scope: _Scope) -> None:
        """Names results in their order; those with these names already keep them."""
        first = scope.value
        scope.value += len(names)
        wanted = _numbers(first, scope.value)
        if names != wanted:  # where an operation has several results, as in `%2:2`
            names = [n.partition(":")[0] if ":" in n else n for n in names]
        if names != wanted:
            pairs = zip(names, wanted, strict=True)
            self.new.update({old: new for old, new in pairs if old != new})

    def arguments(self, region: Region, scope: _Scope, kind: str) -> None:
        """Names the arguments of a region: by number, or all by one name."""
        for name, _ in region.arguments:
            if kind == "arg":
                self.new[f"%{name}"] = f"%{scope.unique(f'arg{scope.argument}')}"
                scope.argument += 1
            else:
                self.new[f"%{name}"] = f"%{scope.unique(kind)}"

    def rename(self, text: str) -> str:
        """The text with the names that MLIR gives."""
        own = not self.has_named and {name[1] for name in self.new} <= {"k", "r"}
        parts = (_OWN_NAME if own else _ANY_NAME).split(text)
        parts[1::2] = map(self.new.__getitem__, parts[1::2])
        return "".join(parts)


_MOST_NUMBERS = 4096
_known_numbers: list[str] = []


def _numbers(first: int, end: int) -> list[str]:
    """The names of results by their numbers."""
    global _known_numbers
    if end > _MOST_NUMBERS:
        return [f"%{i}" for i in range(first, end)]
    if end > len(_known_numbers):
        _known_numbers = [f"%{i}" for i in range(2 * end)]
    return _known_numbers[first:end]


_ANY_NAME = re.compile(r"(%\w+(?:#\d+)?)")
_OWN_NAME = re.compile(r"(%[kr]\w*)")


class _NewNames(dict[str, str]):
    """Printed names by those in the text, of those that change."""

    def __missing__(self, name: str) -> str:
        operation, separator, number = name.partition("#")
        return f"{self[operation]}#{number}" if separator else name


# -- operations with regions -----------------------------------------------------------

_HEAD = re.compile(r'((?:%\w+(?::\d+)? = )?)"([\w.]+)"\(([^()]*)\)')
_TAIL = re.compile(r"(?: \{(.*)\})? : (\([^{}()]*\)) -> ([^{}]*)")


def _print(names: _Names, operation: Operation, scope: _Scope, indent: str) -> str:
    if " = sdy.manual_computation(" in operation.head:
        return _manual_computation(names, operation, scope, indent)
    head, tail = _HEAD.fullmatch(operation.head), _TAIL.fullmatch(operation.tail)
    if head is None or tail is None:
        raise UnknownForm(operation.head)
    result, name, operands = head.groups()
    own, ins, outs = tail[1] or "", tail[2], generic_forms.results(tail[3])
    if name == "stablehlo.while":
        return _while(names, operation, scope, indent, (result, operands, own, ins))
    if name == "stablehlo.reduce":
        parts = (result, operands, own, f"{ins} -> {outs}")
        return _reduce(names, operation, scope, indent, parts)
    before, after = generic_forms.properties(name, own)
    regions = [_region(names, r, scope, indent) for r in operation.regions]
    return (
        f'{result}"{name}"({operands}){before} '
        f"({', '.join(regions)}){after} : {ins} -> {outs}"
    )


def _inside(
    names: _Names, region: Region, scope: _Scope, indent: str, kind: str = "arg"
) -> str:
    """The lines of a region of an operation."""
    inner = scope.inner()
    names.arguments(region, inner, kind)
    deeper = indent + "  "
    return deeper + names.region(region.lines, inner, deeper, False)


def _region(names: _Names, region: Region, scope: _Scope, indent: str) -> str:
    lines = _inside(names, region, scope, indent)
    if not region.arguments:
        return f"{{\n{lines}\n{indent}}}"
    listed = ", ".join([f"%{name}: {kind}" for name, kind in region.arguments])
    return f"{{\n{indent}^bb0({listed}):\n{lines}\n{indent}}}"


def _manual_computation(
    names: _Names, operation: Operation, scope: _Scope, indent: str
) -> str:
    (region,) = operation.regions
    lines = _inside(names, region, scope, indent)
    listed = ", ".join([f"%{name}: {kind}" for name, kind in region.arguments])
    kinds, arrow, outs = operation.tail.partition(" -> ")
    tail = f"{kinds}{arrow}{generic_forms.results(outs)}"
    return f"{operation.head}({listed}) {{\n{lines}\n{indent}}}{tail}"


def _while(
    names: _Names,
    operation: Operation,
    scope: _Scope,
    indent: str,
    parts: tuple[str, str, str, str],
) -> str:
    result, operands, own, ins = parts
    condition, step = operation.regions
    values = operands.split(", ") if operands else []
    if not values or len(values) != len(condition.arguments):
        raise UnknownForm(operation.head)
    own = f" attributes{generic_forms.braces(own)}" if own else ""
    test = _inside(names, condition, scope, indent, "iterArg")
    body = _inside(names, step, scope, indent, "iterArg")
    pairs = zip(condition.arguments, values, strict=True)
    bound = ", ".join([f"%{name} = {value}" for (name, _), value in pairs])
    return (
        f"{result}stablehlo.while({bound}) : {ins[1:-1]}{own}\n"
        f"{indent}cond {{\n"
        f"{test}\n{indent}}} do {{\n{body}\n{indent}}}"
    )


_DIMENSIONS = re.compile(r"array<i64(?:: ([\d, ]+))?>")
_ONE = re.compile(
    r"%(\w+) = (stablehlo\.\w+) %(\w+), %(\w+)(?: \{[^\n]*\})? : ([^\n]*)\n"
    r'"stablehlo\.return"\(%(\w+)\) : \(([^\n]*)\) -> \(\)'
)


def _reduce(
    names: _Names,
    operation: Operation,
    scope: _Scope,
    indent: str,
    parts: tuple[str, str, str, str],
) -> str:
    result, operands, own, kinds = parts
    (region,) = operation.regions
    dims, after = generic_forms.reduced_dimensions(own)
    values = operands.split(", ")
    half = len(values) // 2
    pairs = zip(values[:half], values[half:], strict=True)
    head = f"{result}stablehlo.reduce" + ", ".join(
        [f"({x} init: {first})" for x, first in pairs]
    )
    one = _single(region)
    lines = _inside(names, region, scope, indent)
    if one is not None:
        return f"{head} applies {one} across dimensions = {dims}{after} : {kinds}"
    both = zip(region.arguments[:half], region.arguments[half:], strict=True)
    reducer = " ".join([f"(%{x}: {s}, %{y}: {t})" for (x, s), (y, t) in both])
    return (
        f"{head} across dimensions = {dims}{after} : {kinds}\n{indent} reducer"
        f"{reducer}  {{\n{lines}\n{indent}}}"
    )


def _single(region: Region) -> str | None:
    """The operation of a reducer that only combines its two arguments."""
    if len(region.arguments) != 2 or len(region.lines) != 2:
        return None
    match = _ONE.fullmatch("\n".join(region.lines))
    if match is None or match[1] != match[6]:
        return None
    ordered = [name for name, _ in region.arguments] == [match[3], match[4]]
    kinds = {kind for _, kind in region.arguments} == {match[5]}
    known = ("stablehlo." + name for name in _COMBINING)
    return match[2] if ordered and kinds and match[2] in known else None


_COMBINING = ("add", "multiply", "maximum", "minimum", "and", "or", "xor")
