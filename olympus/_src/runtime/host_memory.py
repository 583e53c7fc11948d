"""Keeping freed host memory for the next array.

The C library returns the memory of large arrays to the system when they are freed, and
each new array then pays for fresh pages: adding ten million floats took 26 ms instead
of 5. Raised thresholds keep freed pages in the process. The price is resident memory
that shrinks only above a limit: after twenty live arrays of 40 MB were freed, 1.2 GB
stayed instead of 0.2. `config.keep_host_memory` turns it off.
"""

from __future__ import annotations

import ctypes
import os
import sys

# Of <malloc.h>.
_TRIM_THRESHOLD = -1
_MMAP_THRESHOLD = -3
# Arrays up to this size reuse freed memory, and that much freed memory is kept at most.
_LIMIT_BYTES = 1 << 30
# Nor more than this part of the machine's memory.
_SHARE = 8

_done = False


def keep_freed_pages() -> bool:
    """Raises the allocator's thresholds, where it is glibc's; says whether it did."""
    global _done
    if _done or not sys.platform.startswith("linux"):
        return _done
    try:
        mallopt = ctypes.CDLL(None).mallopt
    except (OSError, AttributeError):
        return False
    limit = min(_LIMIT_BYTES, _memory_bytes() // _SHARE)
    _done = bool(mallopt(_MMAP_THRESHOLD, limit) and mallopt(_TRIM_THRESHOLD, limit))
    return _done


def _memory_bytes() -> int:
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
