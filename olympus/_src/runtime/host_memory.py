"""Keeping freed host memory for the next array, and giving back what nobody uses.

The C library returns the memory of large arrays to the system when they are freed, and
each new array then pays for fresh pages: adding ten million floats took 26 ms instead
of 5. Raised thresholds keep freed pages in the process. A thread looks at them twice a
second: where more than 128 MiB stayed free for a second, all of it is returned.
`config.keep_host_memory` turns all this off, and `trim`, of which
`olympus.clear_caches()` is the entry point, gives the memory back at once.

Other allocators are left alone, and so is glibc's where the user has set it up.
"""

from __future__ import annotations

import _thread
import ctypes
import os
import sys
import time
from typing import Any

from olympus._src.foundation import caching
from olympus._src.runtime import versions

# Of <malloc.h>.
_TRIM_THRESHOLD = -1
_TOP_PAD = -2
_MMAP_THRESHOLD = -3
# Arrays up to this size reuse freed memory.
_LIMIT_BYTES = 1 << 30
# Nor more than this part of the machine's memory.
_SHARE = 8

# Heaps of threads other than the first have this size. One that is all free goes back,
# whatever the thresholds are, unless the heap before it has less than the pad free.
_HEAP_BYTES = 64 << 20

# By these a user chooses glibc's thresholds before the process starts.
_VARIABLES = (
    "MALLOC_MMAP_THRESHOLD_",
    "MALLOC_TRIM_THRESHOLD_",
    "MALLOC_MMAP_MAX_",
    "MALLOC_TOP_PAD_",
)
_TUNABLES = (
    "malloc.mmap_threshold",
    "malloc.trim_threshold",
    "malloc.mmap_max",
    "malloc.top_pad",
)

_done = False
_is_watching = False


def is_users_choice() -> bool:
    """Whether the environment says how glibc keeps freed memory."""
    tunables = os.environ.get("GLIBC_TUNABLES", "")
    named = any(name in os.environ for name in _VARIABLES)
    return named or any(name in tunables for name in _TUNABLES)


def keep_freed_pages() -> bool:
    """Raises the allocator's thresholds, where it is glibc's; says whether it did."""
    global _done
    if _done or is_users_choice():
        return _done
    mallopt = _of_glibc("mallopt")
    if mallopt is None:
        return False
    limit = min(_LIMIT_BYTES, _memory_bytes() // _SHARE)
    _done = bool(mallopt(_MMAP_THRESHOLD, limit) and mallopt(_TRIM_THRESHOLD, limit))
    if _done:
        mallopt(_TOP_PAD, _HEAP_BYTES)
    if _done:
        _watch()
    return _done


def trim() -> bool:
    """Gives freed memory that is kept back to the system; says whether there was any.

    It takes 0.1 s for each GB.
    """
    versions.collect_garbage()
    malloc_trim = _of_glibc("malloc_trim") if _done else None
    return malloc_trim is not None and bool(malloc_trim(0))


caching.register(trim, "freed memory of arrays")


# -- what stays free ------------------------------------------------------------------

# So much freed memory is kept for good.
_KEPT_BYTES = 128 << 20
_POLL_S = 0.5
# How many looks in a row must find more than that: a second's at first, a minute's
# where what went back was soon needed again.
_FEWEST_LOOKS, _MOST_LOOKS = 2, 120


class Watch:
    """Decides by repeated checks when freed memory is returned.

    A loop that frees much and takes it again pays for fresh pages once for each
    doubling of the time that memory must stay free, and then no more.

    Attributes:
      looks: how many in a row must find memory to give back.
    """

    __slots__ = ("_after", "_in_row", "_since", "_stuck", "_trimmed", "looks")

    def __init__(self) -> None:
        self.looks = _FEWEST_LOOKS
        self._in_row = 0
        self._stuck = 0  # what the last trimming left: code, and parts of pages
        self._trimmed = 0  # what it gave back, until that is known to be right
        self._after = 0  # resident then
        self._since = 0  # looks since

    def wants_trim(self, resident: int, used: int) -> bool:
        """Whether to give memory back now.

        Args:
          resident: bytes that the process has, beyond those at its start.
          used: bytes of them that the allocator has handed out.
        """
        self._judge(resident)
        spare = max(resident - used, 0)
        self._stuck = min(self._stuck, spare)
        many = spare - self._stuck > _KEPT_BYTES
        self._in_row = self._in_row + 1 if many else 0
        return self._in_row >= self.looks

    def note_trim(self, before: int, resident: int, used: int) -> None:
        """Takes in what trimming has done."""
        self._in_row = self._since = 0
        self._stuck = max(resident - used, 0)
        self._after, self._trimmed = resident, max(before - resident, 0)
        if self._trimmed < _KEPT_BYTES // 2:  # in vain
            self._wait_longer()

    def _judge(self, resident: int) -> None:
        """Learns from whether what was given back is in use again."""
        if not self._trimmed:
            return
        self._since += 1
        if resident - self._after > self._trimmed // 2:
            self._wait_longer()
        elif self._since > 2 * self.looks:
            self.looks = max(self.looks // 2, _FEWEST_LOOKS)
            self._trimmed = 0

    def _wait_longer(self) -> None:
        self.looks = min(self.looks * 2, _MOST_LOOKS)
        self._trimmed = 0


class _MallInfo(ctypes.Structure):
    """`struct mallinfo2` of <malloc.h>."""

    _fields_ = tuple(
        (name, ctypes.c_size_t)
        for name in (
            *("arena", "ordblks", "smblks", "hblks", "hblkhd"),
            *("usmblks", "fsmblks", "uordblks", "fordblks", "keepcost"),
        )
    )


def is_watching() -> bool:
    """Whether the thread runs, which also frees memory that devices had on loan.

    jaxlib lets go of a NumPy array that a deleted array had used only when it is called
    the next time, and not by all calls.
    """
    return _is_watching


def _watch() -> None:
    """Starts the thread that looks; where one cannot be had, memory stays."""
    mallinfo = _of_glibc("mallinfo2")  # of glibc 2.33 and later
    if mallinfo is None:
        return
    global _is_watching
    mallinfo.restype = _MallInfo

    def used_bytes() -> int:
        info = mallinfo()
        return int(info.uordblks + info.hblkhd)

    first = resident_bytes() - used_bytes()
    try:
        # Not of `threading`, which would wait for it at the end of the process.
        _thread.start_new_thread(_look, (used_bytes, first))
        _is_watching = True
    except RuntimeError:
        return
    os.register_at_fork(after_in_child=_is_not_watching)


def _is_not_watching() -> None:
    """A child of a fork has no such thread."""
    global _is_watching
    _is_watching = False


def _look(used_bytes: Any, first: int) -> None:
    """Gives memory back when it is time, for as long as the process lives.

    Args:
      used_bytes: asks the allocator what it has handed out.
      first: bytes that were resident and not the allocator's at the start.
    """
    watch = Watch()
    while True:
        time.sleep(_POLL_S)
        versions.collect_garbage()
        resident = resident_bytes() - first
        # The allocator walks its free chunks to tell: not where it cannot matter.
        used = used_bytes() if resident > _KEPT_BYTES else resident
        if watch.wants_trim(resident, used):
            trim()
            watch.note_trim(resident, resident_bytes() - first, used_bytes())


def resident_bytes() -> int:
    """The memory that the process has, on Linux."""
    with open("/proc/self/statm", "rb", buffering=0) as file:
        return int(file.read(100).split()[1]) * os.sysconf("SC_PAGE_SIZE")


# -- the C library --------------------------------------------------------------------


def _of_glibc(name: str) -> Any:
    """A function of glibc's allocator; None where the C library is another."""
    if not sys.platform.startswith("linux"):
        return None
    try:
        return getattr(ctypes.CDLL(None), name)
    except (OSError, AttributeError):
        return None


def _memory_bytes() -> int:
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
