"""How many calls of Python a compiled program can be inside at a time.

Read from the optimised program, since XLA may drop what its source made wait: two calls
of one computation are ordered only where one needs, through whatever operations, what
the other returns.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

_TARGET = re.compile(r"xla_(?:ffi|buffer)_python_\w+_callback")
_INSTRUCTION = re.compile(
    r"^ +(?:ROOT )?%(?P<name>\S+) = .*? [a-z][a-z0-9-]*\((?P<operands>[^)]*)\)"
    r"(?P<rest>.*)$",
    re.MULTILINE,
)
_HEAD = re.compile(r"^(?:ENTRY )?%(?P<name>\S+) .*\{$", re.MULTILINE)
_REFERENCE = re.compile(r"%([\w.\-]+)")
_CALLED = re.compile(
    r"(?:calls|to_apply|body|condition|called_computations|branch_computations|"
    r"true_computation|false_computation)=(\{[^}]*\}|%[\w.\-]+)"
)


def count_at_once(text: str) -> int:
    """An upper bound of the calls of Python that a program is inside at a time.

    Args:
      text: the optimised module in XLA's HLO.
    """
    counts: dict[str, int] = {}
    count = 0
    # Computations are printed before those that call them, the entry last.
    for computation in _computations(text):
        count = counts[computation.name] = _count_in(computation.text, counts)
    return count


class _Computation(NamedTuple):
    name: str
    text: str


def _computations(text: str) -> Iterator[_Computation]:
    heads = list(_HEAD.finditer(text))
    ends = [head.start() for head in heads[1:]] + [len(text)]
    for head, end in zip(heads, ends, strict=True):
        yield _Computation(head["name"], text[head.end() : end])


def _count_in(text: str, counts: dict[str, int]) -> int:
    """The bound for one computation, by those of the computations it calls."""
    calling = {name for name, count in counts.items() if count}
    if not _TARGET.search(text) and not any(f"%{name}" in text for name in calling):
        return 0
    is_chain, highest, total = True, 0, 0
    later: set[str] = set()  # instructions that need what the last call returns
    for line in _INSTRUCTION.finditer(text):
        operands = _REFERENCE.findall(line["operands"])
        needs_last = not later.isdisjoint(operands)
        count = _count_of(line["rest"], counts)
        if count:
            is_chain = is_chain and (total == 0 or needs_last)
            highest, total = max(highest, count), total + count
            later = {line["name"]}
        elif needs_last:
            later.add(line["name"])
    return highest if is_chain else total


def _count_of(attributes: str, counts: dict[str, int]) -> int:
    """The bound for one instruction: of branches, and of a loop's parts, one runs."""
    if _TARGET.search(attributes):
        return 1
    called = " ".join(_CALLED.findall(attributes))
    return max([counts[name] for name in _REFERENCE.findall(called)], default=0)
