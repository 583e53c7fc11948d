"""Notes of the misses of jitted functions, and what they say to users."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from olympus._src.api import signatures
from olympus._src.core.primitive import LateRule
from olympus._src.explanations import records, snapshots
from olympus._src.explanations.records import Retrace, Root, Signature, Static
from olympus._src.foundation import caching
from olympus._src.interpreters import concrete_arrays
from olympus._src.runtime import client

_summarize = LateRule("explanations.summary", "of_records")


class _Roots:
    """The arguments of a call by name, retraces on demand."""

    __slots__ = ("_names",)

    def __init__(self, names: signatures.LazyNames) -> None:
        self._names = names

    def __call__(self) -> list[Root]:
        call = self._names.call
        args, kwargs = call.structure.children()
        roots = [
            Root(name, "by position", child)
            for name, child in zip(call.argument_names(), args.children(), strict=True)
        ]
        pairs = zip(kwargs.node_data()[1], kwargs.children(), strict=True)
        return roots + [Root(name, "by keyword", child) for name, child in pairs]


def note(
    call: signatures.Call,
    debug_info: Any,
    state: Any,
    fun: Callable[..., Any],
    options: Any,
) -> Retrace:
    """Notes that a program was made for a call, which nobody is told of yet.

    Args:
      call: its arguments.
      debug_info: the names of the program's arguments.
      state: what is kept of the function.
      fun: the function.
      options: those of `jit`.
    """
    if state.subject is None:
        state.subject = snapshots.take_function(fun)
        state.history = records.history_of(state.subject, "jit")
    record = Retrace(
        "jit",
        state.subject,
        _signature(call, debug_info.arg_names),
        owner=state.token,
        options=options,
        generation=state.generation,
    )
    state.history.add(record)
    state.records.append(record)
    return record


def _signature(call: signatures.Call, paths: Any) -> Signature:
    places: Sequence[Any] = ()
    if client.several_devices():
        places = [concrete_arrays.committed_place(x) for x in call.leaves]
    static: list[Any] = []
    if call.static_args or call.static_kwargs:
        names = zip(call.static_names(), call.static_args, strict=True)
        static = [_static(name, "by position", value) for name, (_, value) in names]
        static += [_static(k, "by keyword", value) for k, value in call.static_kwargs]
    return Signature(call.structure, call.avals, _Roots(paths), static, places)


def _static(name: str, passed: str, value: Any) -> Static:
    key = hash(caching.exact(value))
    return Static(name, passed, key, snapshots.take(value))


def add_cost(record: Retrace, lowered: Any, compiled: Any, disk: Sequence[str]) -> None:
    """Adds what a compilation cost, and what the cache on disk had, to a note."""
    record.lower_s += lowered.duration_s
    record.compile_s += compiled.duration_s
    record.program_reused = compiled.reused
    record.disk = "; ".join(disk)


report = records.report


def explain_retraces(fun: Callable[..., Any] | None = None) -> Any:
    """Says why a function was traced and compiled, each time, and how to avoid it.

    Args:
      fun: a jitted function, or one that was given to `jit`. A line of code
        that makes functions again and again has the notes of all of them together.
        None for all functions, in the order of the seconds that they lost.

    Returns:
      A sequence of records, which prints as a report. Each has `function`, `site`,
      `changes`, `cause`, `cure`, `cure_kind`, `trace_s`, `lower_s`, `compile_s`,
      `program_reused` and `disk`. The last 48 of one line of code are kept.

    Example:
      >>> import olympus
      >>> f = olympus.jit(lambda x: x + 1)
      >>> _ = f(1), f(1.5)
      >>> print(olympus.explain_retraces(f)[-1].cause)
      the dtype of x changed from int32 to float32
    """
    if fun is None:
        return _summarize(records.all_records(), True)
    jitted: Any = getattr(fun, "__func__", fun)
    state = getattr(jitted, "cache_state", None)
    if state is not None and state().history is not None:
        return _summarize(state().history.snapshot(), False)
    if not callable(fun):
        raise TypeError(
            f"explain_retraces: expected a function, got {fun!r}; pass the function "
            "itself, not its result"
        )
    own = jitted if state is None else jitted.__wrapped__
    subject = snapshots.take_function(own)
    retraces = [
        record
        for what in ("jit", "body")
        for record in records.history_of(subject, what).snapshot()
    ]
    return _summarize(retraces, False)
