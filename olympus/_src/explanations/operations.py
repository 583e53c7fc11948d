"""Notes of what is compiled outside of `jit`: operations, loops, mapped programs.

An application of a jitted function under `vmap` or `grad`, or of a loop, is traced
first and compiled afterwards. The note of the trace then has the cost of the
compilations that follow from it, and these are not reported by themselves.
"""

from __future__ import annotations

import enum
import threading
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from olympus._src import tree
from olympus._src.core import ir
from olympus._src.explanations import records, snapshots
from olympus._src.explanations.records import Retrace, Root, Signature, Static
from olympus._src.foundation import caching, compile_notes, source_info

_LEAF = tree.tree_structure(0)
_DEPTH = 6  # of tuples in parameters
_SHOWN = frozenset((bool, int, float, str, type(None)))


class _Thread(threading.local):
    """The trace whose programs this thread compiles next; whether it compiled any."""

    pending: Retrace | None = None
    has_compiled = False


_thread = _Thread()


def expect_compilations(record: Retrace | None) -> None:
    """Says which note the next compilations in this thread belong to.

    Args:
      record: of the trace; None where an earlier trace is used. An operation may have
        several functions, so that a note still waits for its compilation.
    """
    if record is not None or _thread.has_compiled:
        _thread.pending = record
        _thread.has_compiled = False


class _Names:
    """Operands by name, as the arguments of an operation."""

    __slots__ = ("_count", "_names")

    def __init__(self, count: int, names: Sequence[str] | None = None) -> None:
        self._count = count
        self._names = names

    def __call__(self) -> list[Root]:
        names = list(self._names or ())
        names += [f"operand {i}" for i in range(len(names), self._count)]
        if len(set(names)) < len(names):
            names = [f"operand {i}" for i in range(self._count)]
        return [Root(name, "", _LEAF) for name in names[: self._count]]


def _is_shown(value: Any) -> bool:
    """Whether a parameter is a value that says something, and holds nothing."""
    if type(value) in _SHOWN or isinstance(value, (np.dtype, enum.Enum)):
        return True
    return isinstance(value, tuple) and all(map(_is_shown, value))


class _Parameters(Sequence[Static]):
    """The parameters of an operation, as static arguments."""

    __slots__ = ("_pairs",)

    def __init__(self, params: dict[str, Any]) -> None:
        # Of a value that may hold much no more is kept than which it is.
        self._pairs = [
            (name, value if _is_shown(value) else _object(name, value))
            for name, value in params.items()
            if not any(ir.subprograms({name: value}))  # told by operands and lines
        ]

    def __getitem__(self, i: Any) -> Any:
        name, value = self._pairs[i]
        if type(value) is Static:
            return value
        return Static(
            name, "", hash(caching.exact(value)), snapshots.take(value, _DEPTH)
        )

    def __len__(self) -> int:
        return len(self._pairs)


def _object(name: str, value: Any) -> Static:
    try:
        key = hash(caching.exact(value))
    except TypeError:
        key = id(value)
    return Static(name, "", key, snapshots.take(value, 0))


class _Unwrapped:
    """The arguments of a wrapper, by the parameters of the user's function inside."""

    __slots__ = ("_code", "_roots")

    def __init__(self, roots: Callable[[], Sequence[Root]], code: Any) -> None:
        self._roots = roots
        self._code = code

    def __call__(self) -> list[Root]:
        names = self._code.co_varnames[: self._code.co_argcount]
        roots_of_wrapper = list(self._roots())
        roots = [root for root in roots_of_wrapper if root.structure.num_leaves]
        if len(roots) == 1 != len(names):
            children = roots[0].structure.children()
            roots = [Root("", "", child) for child in children]
        if len(roots) != len(names):
            return roots_of_wrapper
        return [
            Root(name, "", r.structure) for name, r in zip(names, roots, strict=True)
        ]


class Compilation:
    """The making of one program, for a `with` block.

    Args:
      record: its note; None where none is taken.
    """

    __slots__ = ("_collected", "_disk_notes", "_record")

    def __init__(self, record: Retrace | None) -> None:
        self._record = record

    def __enter__(self) -> Compilation:
        self._collected = compile_notes.Recorded()
        self._disk_notes = self._collected.__enter__()
        return self

    def __exit__(self, *error: Any) -> None:
        self._collected.__exit__(*error)

    def adopt(self, lowered: Any, compiled: Any) -> Any:
        """Adds the cost of a compilation to the note, and tells of it.

        Returns:
          `compiled`.
        """
        record, pending = self._record, _thread.pending
        if record and pending and record.position != pending.position:
            pending = None  # of another line
        _thread.has_compiled = True
        for note in (record, pending):
            if note is not None:
                note.lower_s += lowered.duration_s
                note.compile_s += compiled.duration_s
                note.program_reused = compiled.reused
                note.disk = "; ".join(self._disk_notes)
        if record is not None and pending is None and record.is_again():
            records.report(record)
        return compiled


def noted(
    name: str,
    avals: Sequence[Any],
    params: dict[str, Any],
    place: Any = None,
    code: Any = None,
) -> Compilation:
    """The compilation of one operation, which is not part of a program.

    Args:
      name: of the operation.
      avals: types of its operands.
      params: its parameters.
      place: where it runs.
      code: of the function whose parameters the operands are.
    """
    names = None if code is None else code.co_varnames[: code.co_argcount]
    _thread.pending = None
    return Compilation(_note(name, name, "", avals, params, place, names))


def noted_application(
    name: str, avals: Sequence[Any], params: dict[str, Any], place: Any
) -> Compilation:
    """The compilation of an operation that holds programs, by where these are from.

    Args:
      name, avals, params, place: as for `noted`.
    """
    programs = [v for v in params.values() if type(v) is ir.ClosedOlympuspr]
    info = programs[0].olympuspr.debug_info if programs else None
    if info is None or not info.func_location:
        return Compilation(None)
    where = info.func_location
    label = f"{info.func_name} ({name})"
    key = f"{name} {info.func_name} {where} {len(avals)}"
    return Compilation(_note(label, key, where, avals, params, place, info.arg_names))


def _note(
    label: str,
    key: str,
    where: str,
    avals: Sequence[Any],
    params: dict[str, Any],
    place: Any,
    names: Sequence[str] | None,
) -> Retrace:
    static = _Parameters(params)
    signature = Signature(
        None,
        avals,
        _Names(len(avals), names),
        static,
        [place] * len(avals) if place is not None else (),
        "parameter",
    )
    subject = snapshots.Function(label, (key,), None, {}, None, "operation", where)
    record = Retrace("operation", subject, signature)
    records.history_by_name(key).add(record)
    return record


class _Body:
    """The trace of a function that a loop or a branch applies, for a `with` block."""

    __slots__ = ("_record", "_start")

    def __init__(self, record: Retrace) -> None:
        self._record = record

    def __enter__(self) -> None:
        self._start = time.perf_counter()

    def __exit__(self, kind: Any, *error: Any) -> None:
        record = self._record
        record.trace_s = time.perf_counter() - self._start
        if kind is not None:
            return
        history = records.history_of(record.subject, "body")
        history.add(record)
        expect_compilations(record)
        if record.is_again():
            records.report(record)


def noted_body(
    fun: Callable[..., Any],
    structure: Any,
    avals: Sequence[Any],
    roots: Callable[[], Sequence[Root]],
) -> Any:
    """The trace of a function that was given to a loop or a branch.

    Args:
      fun: the user's function.
      structure: of its arguments.
      avals: types of their leaves.
      roots: gives the arguments by name.

    Returns:
      What to trace in; None where the function is not a user's.
    """
    code = source_info.function_code(fun)
    if code is None or source_info.is_internal(code.co_filename):
        return None
    if hasattr(fun, "__wrapped__"):
        roots = _Unwrapped(roots, code)
    signature = Signature(structure, tuple(avals), roots)
    return _Body(Retrace("body", snapshots.take_function(fun), signature))
