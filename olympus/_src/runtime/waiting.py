"""Waiting for values, while other processes that are needed for them are monitored."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Sequence
from typing import Any

from olympus._src.runtime import forks
from olympus._src.runtime.peers import Watch
from olympus._src.runtime.versions import XlaRuntimeError, batched_block_until_ready

_watch: Watch | None = None
_QUICK_S = 0.01  # as long as most calls take; waiting for longer looks at the others


def set_watch(watch: Watch | None) -> None:
    """Makes waits monitor other processes; None for a program of one process."""
    global _watch
    _watch = watch


def start_step(program: str) -> None:
    """Notes that a program over several processes is about to start.

    Raises:
      ProcessFailureError: another process has failed.
    """
    if _watch is not None:
        _watch.start_step(program)


def exchange(name: str, text: str) -> list[str]:
    """What all processes say under a name; see `runtime.distributed.exchange`."""
    return [text] if _watch is None else _watch.exchange(name, text)


def wait_for(buffer: Any) -> None:
    """Waits until a buffer is computed.

    Raises:
      XlaRuntimeError: computing it failed, or it is deleted.
      ProcessFailureError: another process that is needed for it failed.
      RuntimeError: a forked process cannot wait.
    """
    if _watch is not None or forks.is_child():
        _wait_for_peers(buffer)
    buffer.block_until_ready()


def _wait_for_peers(buffer: Any) -> None:
    """Waits as far as others are needed for a buffer, or refuses to."""
    if buffer.is_deleted():
        return
    if _watch is not None and not buffer._sharding.is_fully_addressable:
        _wait_with_others(_watch, buffer.is_ready, buffer.block_until_ready)
    else:
        forks.refuse_waiting(buffer)


def wait_for_all(buffers: Sequence[Any]) -> None:
    """The same for several buffers."""
    if _watch is not None or forks.is_child():
        for buffer in buffers:
            _wait_for_peers(buffer)
    batched_block_until_ready(buffers)


class _Worker:
    """A thread for calls of jaxlib that never return if another process hangs.

    It is not waited for at the end of the program.
    """

    def __init__(self) -> None:
        self._calls: queue.SimpleQueue[_Call] = queue.SimpleQueue()
        threading.Thread(target=self._run, name="olympus calls", daemon=True).start()

    def _run(self) -> None:
        while True:
            self._calls.get().run()

    def start(self, fun: Callable[[], Any]) -> _Call:
        """Schedules `fun()` after those before it."""
        call = _Call(fun)
        self._calls.put(call)
        return call


class _Call:
    """A call on another thread."""

    __slots__ = ("_error", "_fun", "_result", "ended")

    def __init__(self, fun: Callable[[], Any]) -> None:
        self._fun = fun
        self._result: Any = None
        self._error: BaseException | None = None
        self.ended = threading.Event()

    def run(self) -> None:
        """Makes the call."""
        try:
            self._result = self._fun()
        except BaseException as error:
            self._error = error
        self.ended.set()

    def result(self) -> Any:
        """Returns or raises what the call did, which has ended."""
        if self._error is not None:
            raise self._error
        return self._result


# Programs start in one order in all processes; waits must not stand before them.
_starts: _Worker | None = None
_waits: _Worker | None = None


def start_program(run: Callable[[], Any]) -> Any:
    """Calls `run()`, which starts a program over several processes.

    XLA runs small programs at once, in the thread that starts them.

    Raises:
      ProcessFailureError: another process that is needed for it failed.
    """
    global _starts
    if _watch is None:
        return run()
    _starts = _starts or _Worker()
    return _wait_for_call(_watch, _starts.start(run))


def wait_for_token(token: Any) -> None:
    """As `wait_for` for the token of a program over several processes.

    jaxlib has no way to query it without waiting.
    """
    global _waits
    if _watch is None:
        token.block_until_ready()
        return
    _waits = _waits or _Worker()
    _wait_for_call(_watch, _waits.start(token.block_until_ready))


def _wait_for_call(watch: Watch, call: _Call) -> Any:
    call.ended.wait(_QUICK_S)
    return _wait_with_others(watch, call.ended.is_set, call.result)


def _wait_with_others(
    watch: Watch, is_done: Callable[[], bool], finish: Callable[[], Any]
) -> Any:
    forks.refuse_waiting()
    watch.wait(is_done)
    try:
        return finish()
    except XlaRuntimeError as error:
        raise explain(error)  # noqa: B904 - it has its cause


# What a collective says when the other side of a connection has gone.
_LOST = ("gloo", "nccl", "connection", "unavailable", "deadline")


def explain(error: Exception) -> Exception:
    """The failure of another process behind an error, if there is one."""
    if _watch is None or not isinstance(error, XlaRuntimeError):
        return error
    text = str(error).lower()
    if not any(word in text for word in _LOST):
        return error
    return _watch.explain(error)
