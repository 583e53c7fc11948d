"""What a forked process can still do.

A fork copies the memory of a process and only the thread that forks. XLA's threads stay
behind: what is queued for them is never done, and their locks may stay taken. In the
child compiled programs that need no other thread go on working: they are done when
their call returns. Compiling, and waiting for anything else, would last for ever, so it
is refused.
"""

from __future__ import annotations

import os
from typing import Any

from olympus._src.foundation import user_warnings
from olympus._src.runtime import client

_REMEDY = (
    "start processes by multiprocessing.get_context('spawn'), or fork before the first "
    "use of olympus"
)

_is_child = False


def is_child() -> bool:
    """Whether this process was forked from one that had started XLA's threads."""
    return _is_child


def refuse_compiling() -> None:
    """Raises RuntimeError in a child of a process that had used a device."""
    if _is_child:
        raise RuntimeError(
            "compile: the compiler's threads must run, got a process forked after they "
            f"were started, where they are missing; {_REMEDY}"
        )


def refuse_waiting(*buffers: Any) -> None:
    """Raises RuntimeError in such a child: what is not ready there will never be.

    Args:
      *buffers: what is waited for, and not deleted; none for what is never ready.
    """
    # Elsewhere they are not asked: of a deleted one jaxlib's answer ends the process.
    if _is_child and not (buffers and all(b.is_ready() for b in buffers)):
        raise RuntimeError(
            "Array: the threads that compute its value must run, got a process forked "
            f"after they were started, where they are missing; {_REMEDY}"
        )


def _warn() -> None:
    if client.is_started():
        user_warnings.warn(
            "os.fork() was called after olympus had started XLA's threads, which the "
            "child does not have: it can neither compile nor run large programs; "
            f"{_REMEDY}",
            RuntimeWarning,
        )


def _mark_child() -> None:
    global _is_child
    if not client.is_started():
        return
    _is_child = True
    # A client that ends waits for its threads, for ever: the child never lets it go.
    import ctypes

    for running in client.clients().values():
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(running))


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_warn, after_in_child=_mark_child)
