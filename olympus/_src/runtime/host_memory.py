"""Keeping freed host memory for the next array.

The C library returns the memory of large arrays to the system when they are freed, and
each new array then pays for fresh pages: adding ten million floats took 26 ms instead
of 5. Raised thresholds keep freed pages in the process. The price is resident memory
that shrinks only above a limit: after twenty live arrays of 40 MB were freed, all of
it stayed. `config.keep_host_memory` turns it off, and `trim`, of which
`olympus.clear_caches()` is the door, gives the memory back.

Other allocators are left alone, and so is glibc's where the user has set it up.
"""

from __future__ import annotations

import ctypes
import os
import sys
from typing import Any

from olympus._src.foundation import caching

# Of <malloc.h>.
_TRIM_THRESHOLD = -1
_MMAP_THRESHOLD = -3
# Arrays up to this size reuse freed memory, and that much freed memory is kept at most.
_LIMIT_BYTES = 1 << 30
# Nor more than this part of the machine's memory.
_SHARE = 8

# By these a user chooses glibc's thresholds before the process starts.
_VARIABLES = ("MALLOC_MMAP_THRESHOLD_", "MALLOC_TRIM_THRESHOLD_", "MALLOC_MMAP_MAX_")
_TUNABLES = ("malloc.mmap_threshold", "malloc.trim_threshold", "malloc.mmap_max")

_done = False


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
    return _done


def trim() -> bool:
    """Gives freed memory that is kept back to the system; says whether there was any.

    It takes 0.1 s for each GB.
    """
    malloc_trim = _of_glibc("malloc_trim") if _done else None
    return malloc_trim is not None and bool(malloc_trim(0))


caching.register(trim, "freed memory of arrays")


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
