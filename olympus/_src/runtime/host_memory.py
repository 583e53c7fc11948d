"""Keeping freed host memory for the next array.

The C library returns the memory of large arrays to the system when they are freed, and
each new array then pays for fresh pages: adding ten million floats took 26 ms instead
of 5. Raised thresholds keep freed pages in the process. The price is resident memory
that does not shrink below its recent peak; `config.keep_host_memory` turns it off.
"""

from __future__ import annotations

import ctypes
import sys

# Of <malloc.h>.
_TRIM_THRESHOLD = -1
_MMAP_THRESHOLD = -3
# Arrays up to this size reuse freed memory; larger ones are still mapped on their own.
_LIMIT_BYTES = 1 << 30

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
    _done = bool(
        mallopt(_MMAP_THRESHOLD, _LIMIT_BYTES)
        and mallopt(_TRIM_THRESHOLD, _LIMIT_BYTES)
    )
    return _done
