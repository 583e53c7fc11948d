"""The machinery of settings: a global value and, above it, values of `with` blocks.

A `State` is one setting. Its global value holds in every thread; `with state(value):`
holds in the thread that runs the block. Reading must cost next to nothing, since every
operation reads several settings: while no block is open anywhere a read is two
attribute look-ups.

Settings that change what tracing produces make up the *trace context*, one interned
object for each combination of their values. Caches of traces take it as part of the key
and compare it by identity.
"""

from __future__ import annotations

import contextlib
import functools
import threading
import weakref
from collections.abc import Callable, Hashable, Iterable
from typing import Any

from olympus._src.foundation import user_warnings

Check = Callable[[Any], Any]

_lock = threading.RLock()
_tracing: list[State] = []  # the settings of the trace context, in order of definition
_contexts: weakref.WeakValueDictionary[tuple[Any, ...], Context] = (
    weakref.WeakValueDictionary()
)
_blocks = 0  # open `with` blocks of tracing settings, in all threads
_version = 0  # grows with each change of a tracing setting's global value
_shared: Context | None = None  # the context of threads without open blocks


class _Thread(threading.local):
    """The settings that one thread overrides, and its last computed context."""

    version = -1
    context: Any = None

    def __init__(self) -> None:
        self.overrides: dict[State, Any] = {}


_thread = _Thread()


class _Missing:
    __slots__ = ()

    def __repr__(self) -> str:
        return "<no value>"


MISSING = _Missing()


class Context:
    """One combination of the settings that tracing depends on; compared by identity."""

    __slots__ = ("__weakref__", "values")

    def __init__(self, values: tuple[Any, ...]) -> None:
        self.values = values

    def differences(self, other: Context) -> list[tuple[str, Any, Any]]:
        """The settings that differ, each as `(name, value here, value there)`."""
        rows = zip(_tracing, self.values, other.values, strict=False)
        return [(s.name, a, b) for s, a, b in rows if a is not b and a != b]

    def __repr__(self) -> str:
        rows = zip(_tracing, self.values, strict=False)
        changed = [f"{s.name}={v!r}" for s, v in rows if v != s.default]
        return f"Context({', '.join(changed)})"


def trace_context() -> Context:
    """The interned combination of the settings that tracing depends on, here and now.

    It is the same object whenever those settings have the same values.
    """
    if not _blocks:
        context = _shared
        if context is not None:
            return context
        return _share()
    thread = _thread
    if thread.version == _version:
        return thread.context
    return _refresh(thread)


def _share() -> Context:
    global _shared
    with _lock:
        _shared = _intern(tuple([s.base for s in _tracing]))
        return _shared


def _refresh(thread: _Thread) -> Context:
    with _lock:
        thread.context = _intern(tuple([s.value for s in _tracing]))
        thread.version = _version
        return thread.context


def _intern(values: tuple[Any, ...]) -> Context:
    context = _contexts.get(values)
    if context is None:
        context = _contexts[values] = Context(values)
    return context


def _invalidate() -> None:
    """Forgets the computed contexts; the lock is held."""
    global _shared, _version
    _shared = None
    _version += 1


class State:
    """A setting.

    Calling it with a value gives a context manager, which is a decorator too:
    `with state(value): ...` sets it in the running thread for that block.

    Args:
      name: its public name, with the project's prefix.
      check: takes a user's value and returns the value to keep, or raises ValueError.
      value: the value to start with.
      help: what it does and why it exists.
      traces: whether the programs that tracing makes depend on it.
      implied: what `state()` without a value sets; MISSING if a value is required.
      followers: settings that take every value given to this one.
      honoured: whether anything depends on it; else setting it warns.
    """

    __slots__ = (
        "_block_watchers",
        "_watchers",
        "base",
        "blocks",
        "check",
        "default",
        "followers",
        "help",
        "honoured",
        "implied",
        "name",
        "traces",
    )

    def __init__(
        self,
        name: str,
        check: Check,
        value: Any,
        help: str,
        *,
        traces: bool = False,
        implied: Any = MISSING,
        followers: tuple[State, ...] = (),
        honoured: bool = True,
    ) -> None:
        self.name = name
        self.check = check
        self.default = value
        self.help = help
        self.traces = traces
        self.implied = implied
        self.followers = followers
        self.honoured = honoured
        self.base = value
        self.blocks = 0
        self._watchers: tuple[Callable[[Any], None], ...] = ()
        self._block_watchers: tuple[Callable[[Any], None], ...] = ()
        if traces:
            with _lock:
                _tracing.append(self)
                _invalidate()

    @property
    def value(self) -> Any:
        """The value in the running thread."""
        if self.blocks:
            return _thread.overrides.get(self, self.base)
        return self.base

    def set(self, value: Any) -> None:
        """Sets the global value."""
        value = self.check(value)
        self._warn_if_unread(value)
        self.assign(value)

    def assign(self, value: Any) -> None:
        """Sets the global value to one that was checked."""
        with _lock:
            for watcher in self._watchers:
                watcher(value)
            self.base = value
            if self.traces:
                _invalidate()
            for follower in self.followers:
                follower.assign(value)

    def _warn_if_unread(self, value: Any) -> None:
        states = (self, *self.followers)
        names = [s.name for s in states if not s.honoured and value != s.default]
        if names:
            user_warnings.warn(
                f"{', '.join(names)}: accepted so that programs which set it run, but "
                f"nothing depends on it yet, got {value!r}; leave it at its default"
            )

    def watch(
        self,
        watcher: Callable[[Any], None],
        in_blocks: Callable[[Any], None] | None = None,
    ) -> None:
        """Registers functions that are called with new values.

        Args:
          watcher: called before a global update; it may raise.
          in_blocks: called where a block of a thread begins or ends, with the thread's
            value; MISSING where it has none of its own any more.
        """
        with _lock:
            self._watchers = (*self._watchers, watcher)
            if in_blocks is not None:
                self._block_watchers = (*self._block_watchers, in_blocks)

    def tell_block(self, value: Any) -> None:
        """Calls what follows the values of blocks."""
        for watcher in self._block_watchers:
            watcher(value)

    def __call__(self, new_val: Hashable = MISSING) -> Override:
        value = self.implied if new_val is MISSING else new_val
        if value is MISSING:
            raise TypeError(
                f"{self.name}: a with block requires a value, got none; write "
                f"`with {self.short_name}(value):`"
            )
        value = self.check(value)
        self._warn_if_unread(value)
        return Override(self, value)

    @property
    def short_name(self) -> str:
        """The name without the project's prefix."""
        return self.name.removeprefix("olympus_")

    def __bool__(self) -> bool:
        raise TypeError(
            f"{self.name}: the truth of a setting requires its value, got the setting "
            f"itself; read `{self.short_name}.value`"
        )

    def __repr__(self) -> str:
        return f"<setting {self.name}={self.value!r}>"


class Override:
    """Gives a setting a value in this thread, for a `with` block or a function."""

    __slots__ = ("_saved", "state", "value")

    def __init__(self, state: State, value: Any) -> None:
        self.state = state
        self.value = value
        self._saved: list[list[tuple[State, Any]]] = []

    def __enter__(self) -> None:
        thread = _thread
        overrides = thread.overrides
        states = (self.state, *self.state.followers)
        self._saved.append([(s, overrides.get(s, MISSING)) for s in states])
        for state in states:
            overrides[state] = self.value
            state.tell_block(self.value)
        thread.version = -1
        _count(states, 1)

    def __exit__(self, *error: object) -> None:
        thread = _thread
        saved = self._saved.pop()
        for state, value in saved:
            if value is MISSING:
                thread.overrides.pop(state, None)
            else:
                thread.overrides[state] = value
            state.tell_block(value)
        thread.version = -1
        _count([state for state, _ in saved], -1)

    def __call__(self, fun: Callable[..., Any]) -> Callable[..., Any]:
        state, value = self.state, self.value

        @functools.wraps(fun)
        def with_setting(*args: Any, **kwargs: Any) -> Any:
            with Override(state, value):
                return fun(*args, **kwargs)

        return with_setting


def keep_overrides() -> Callable[[Callable[[], Any]], Any]:
    """What calls a function later, in any thread, under this thread's settings."""
    overrides = dict(_thread.overrides)

    def call(fun: Callable[[], Any]) -> Any:
        with contextlib.ExitStack() as blocks:
            for state, value in overrides.items():
                blocks.enter_context(Override(state, value))
            return fun()

    return call


def _count(states: Iterable[State], step: int) -> None:
    """Counts the open blocks of each setting, and of all that tracing depends on."""
    global _blocks
    with _lock:
        for state in states:
            state.blocks += step
            if state.traces:
                _blocks += step
