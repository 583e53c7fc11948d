"""Calls of XLA's compiler that an interrupt cannot unwind.

jaxlib looks for signals while it compiles, and on Ctrl-C raises KeyboardInterrupt while
the compiler's threads go on with a module that is freed then: the process dies of it,
seconds later. Signals reach the main thread only. So there such a call runs on a
thread of its own, which ends with the call, and the main thread waits for it where it
can be interrupted at once. What was interrupted is finished all the same, and dropped.

It costs 80 us for each call, and more on a busy machine; compiling the smallest program
takes 5 ms. Small programs that are read from disk are loaded without, in 1 ms: there
jaxlib looks for no signals.
"""

from __future__ import annotations

import _thread
import atexit
import os
import sys
import threading
from collections.abc import Callable
from typing import Any

from olympus._src.foundation import logs

# As much as main threads usually have: XLA's passes recurse. Pages that nobody touches
# take no memory.
_STACK_BYTES = 1 << 24
_NOTICE_S = 1.0
_TURN_S = 0.5


class _Call:
    """A call on a separate thread.

    Attributes:
      done: locked until it has ended.
    """

    __slots__ = ("_args", "_error", "_fun", "_result", "done")

    def __init__(self, fun: Callable[..., Any], args: tuple[Any, ...]) -> None:
        self._fun = fun
        self._args = args
        self._result: Any = None
        self._error: BaseException | None = None
        self.done = _thread.allocate_lock()
        self.done.acquire()

    def run(self) -> None:
        """Makes the call; what it raises is kept for `result`."""
        _under_way.add(self)
        try:
            self._result = self._fun(*self._args)
        except BaseException as error:
            self._error = error
        finally:
            _under_way.discard(self)
            self.done.release()

    def wait(self) -> None:
        """Waits for the end.

        In short turns: a signal that arrives just before the thread falls asleep does
        not wake it, and would be answered at the end only.
        """
        while not self.done.acquire(timeout=_TURN_S):
            pass

    def result(self) -> Any:
        """Waits for the call, and returns or raises what it did."""
        self.wait()
        if self._error is None:
            return self._result
        try:
            raise self._error
        finally:
            self._error = None  # its traceback holds this frame


_under_way: set[_Call] = set()


def run_uninterrupted(fun: Callable[..., Any], *args: Any) -> Any:
    """Calls `fun(*args)`, which runs to its end even if this is interrupted.

    Args:
      fun: takes no lock that its caller may hold, and reads no setting of its thread.
    """
    if _thread.get_ident() != threading.main_thread().ident:
        return fun(*args)
    call = _Call(fun, args)
    try:
        before = _thread.stack_size(_STACK_BYTES)
        try:
            _thread.start_new_thread(call.run, ())
        finally:
            _thread.stack_size(before)
    except (RuntimeError, ValueError):  # the system has no more threads, or at exit
        return fun(*args)
    return call.result()


def _wait_at_exit() -> None:
    """Waits for what was interrupted: the compiler must not run while its library ends.

    Whoever interrupts this too leaves without the library's end.
    """
    try:
        for call in list(_under_way):
            if not call.done.acquire(timeout=_NOTICE_S):
                logs.warning(
                    "waiting for a compilation that was interrupted to end; another "
                    "interrupt leaves at once"
                )
                call.wait()
    except KeyboardInterrupt:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(130)


atexit.register(_wait_at_exit)
if hasattr(os, "register_at_fork"):
    # Their threads did not come along.
    os.register_at_fork(after_in_child=_under_way.clear)
