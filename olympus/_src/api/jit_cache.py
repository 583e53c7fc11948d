"""The cache of jitted functions: their traces, and programs for signatures."""

from __future__ import annotations

import threading
import types
import weakref
from collections import deque
from collections.abc import Hashable, Iterable, Sequence
from typing import Any

from olympus._src.api import native_calls
from olympus._src.api.tracing import TracedProgram
from olympus._src.explanations.records import History, Retrace
from olympus._src.explanations.snapshots import Function
from olympus._src.foundation import caching, config
from olympus._src.interpreters.compiled_programs import CompiledProgram
from olympus._src.runtime import client


class Entry:
    """A compiled signature: what a call needs."""

    __slots__ = ("__weakref__", "call", "compiled", "followed", "name", "out_tree")

    def __init__(self, traced: TracedProgram, compiled: CompiledProgram) -> None:
        self.name = traced.name
        self.out_tree = traced.out_tree
        # The constants, where the keys among them and the arguments are followed.
        self.followed: Sequence[Any] | None = None
        if config.debug_key_reuse.value:
            self.followed = traced.consts
        self.adopt(compiled)

    def adopt(self, compiled: CompiledProgram) -> None:
        """Runs this program from the next call on."""
        self.compiled = compiled
        self.call = native_calls.runner(self.out_tree, compiled)


_MAX_RECORDS = 1024


class State:
    """The cached state of one function under one set of options."""

    __slots__ = (
        "__weakref__",
        "entries",
        "flat_entries",
        "generation",
        "history",
        "lock",
        "native_entries",
        "notes",
        "placed_entries",
        "records",
        "subject",
        "token",
        "traced",
        "tree_entries",
    )
    derived_fields = frozenset(__slots__) - {"generation"}  # for `core.reads`

    def __init__(self) -> None:
        self.generation = object()  # of the programs that are known
        # The same entries by cheaper keys, for calls that need no parsing.
        self.flat_entries: dict[Any, Entry] = {}  # by types of positional arrays
        self.tree_entries: dict[Any, Entry] = {}  # by structure and types of leaves
        self.placed_entries: dict[Any, Entry] = {}  # by types, and where arrays are
        # By tokens of the arguments, with the order of leaves; see `native/calls.c`.
        self.native_entries: dict[Any, tuple[Entry, tuple[int, ...] | None]] = {}
        self.entries: dict[Any, Entry] = {}
        self.traced: dict[Any, TracedProgram] = {}
        self.notes: dict[Any, Retrace] = {}  # of `traced`, by its keys
        self.records: deque[Retrace] = deque(maxlen=_MAX_RECORDS)
        # The function and the misses of its line of code, once it was traced.
        self.subject: Function | None = None
        self.history: History | None = None
        self.token = object()  # tells this state from others, and outlives it
        self.lock = threading.RLock()
        _states.add(self)

    def clear(self) -> None:
        """Forgets everything."""
        self.generation = object()
        self.flat_entries.clear()
        self.tree_entries.clear()
        self.placed_entries.clear()
        self.native_entries.clear()
        self.entries.clear()
        self.traced.clear()
        self.notes.clear()


_states: weakref.WeakSet[State] = weakref.WeakSet()
# A function object is traced once for each signature, whoever jits it. Nothing else is
# taken for it: what a new object reads while it is traced may be anything.
_by_function = caching.ByIdentity(1024, "states of jitted functions")


def find_state(fun: Any, options: Hashable) -> State:
    """The cached state of a function object under options."""
    by_options = _by_function.setdefault(fun, {})
    state: State | None = by_options.get(options)
    return by_options.setdefault(options, State()) if state is None else state


def forget_heavy(fun: Any, traced: TracedProgram) -> None:
    """Leaves a state that holds much to the jitted functions that use it.

    A program may refer to the function it was traced from, by a rule or a callback; the
    table would then keep both, and what the function's closure holds.
    """
    plain = isinstance(fun, types.FunctionType) and fun.__closure__ is None
    if traced.has_tracers or (not plain and traced.is_heavy()):
        _by_function.pop(fun)


def _clear_states() -> None:
    for state in list(_states):
        state.clear()


caching.register(_clear_states, "jitted programs")


def _forget_unplaced() -> None:
    for state in list(_states):
        state.flat_entries.clear()
        state.tree_entries.clear()
        state.native_entries.clear()


client.on_several(_forget_unplaced)


class CacheInfo:
    """How often a jitted function was traced, and why.

    Attributes:
      size: signatures compiled.
      retraces: a `Retrace` for each time the function was traced or compiled again.
    """

    __slots__ = ("retraces", "size")

    def __init__(self, size: int, retraces: Iterable[Retrace]) -> None:
        self.size = size
        self.retraces = list(retraces)

    def __repr__(self) -> str:
        lines = [f"CacheInfo(size={self.size}, retraces={len(self.retraces)})"]
        return "\n".join(lines + [f"  {r}" for r in self.retraces])
