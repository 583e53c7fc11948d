"""Waiting for values: with an eye on other processes, where they are needed for them."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Any

from olympus._src.runtime import forks
from olympus._src.runtime.peers import Watch
from olympus._src.runtime.versions import XlaRuntimeError, batched_block_until_ready

_watch: Watch | None = None


def set_watch(watch: Watch | None) -> None:
    """Has waits look at other processes; None for a program of one process."""
    global _watch
    _watch = watch


def start_step(program: str) -> None:
    """Notes that a program over several processes is about to start.

    Raises:
      ProcessFailureError: another process has failed.
    """
    if _watch is not None:
        _watch.start_step(program)


def wait_for(buffer: Any) -> None:
    """Waits until a buffer that is not deleted is computed.

    Raises:
      XlaRuntimeError: computing it failed.
      ProcessFailureError: another process that is needed for it failed.
      RuntimeError: a forked process cannot wait.
    """
    if _watch is not None and not buffer._sharding.is_fully_addressable:
        _wait_with_others(_watch, buffer.is_ready, buffer.block_until_ready)
        return
    forks.refuse_waiting(buffer)
    buffer.block_until_ready()


def wait_for_all(buffers: Sequence[Any]) -> None:
    """The same for several buffers; an XlaRuntimeError also where one is deleted."""
    if _watch is not None or forks.is_child():
        for buffer in buffers:
            if not buffer.is_deleted():
                wait_for(buffer)
    batched_block_until_ready(buffers)


def wait_for_token(token: Any) -> None:
    """The same for the token of a program over several processes."""
    if _watch is None:
        token.block_until_ready()
        return
    # jaxlib has no question for it that does not wait.
    ended = threading.Event()
    errors: list[Exception] = []

    def block() -> None:
        try:
            token.block_until_ready()
        except Exception as error:
            errors.append(error)
        ended.set()

    def check() -> None:
        if errors:
            raise errors[0]

    # It waits for ever where another process hangs, and must not be waited for.
    threading.Thread(target=block, daemon=True).start()
    _wait_with_others(_watch, ended.is_set, check)


def _wait_with_others(
    watch: Watch, is_done: Callable[[], bool], finish: Callable[[], Any]
) -> None:
    forks.refuse_waiting()
    watch.wait(is_done)
    try:
        finish()
    except XlaRuntimeError as error:
        raise explain(error)  # noqa: B904 - it has its cause


# What a collective says when the other side of a connection has gone.
_LOST = ("gloo", "nccl", "connection", "unavailable", "deadline")


def explain(error: Exception) -> Exception:
    """The failure of another process behind an error, if there is one."""
    text = str(error).lower()
    if _watch is None or not any(word in text for word in _LOST):
        return error
    return _watch.explain(error)
