"""Memory of the CPU that small NumPy arguments of calls are copied to, again and again.

jaxlib takes as long to make a buffer of a NumPy array as to run a small program. A slot
is a buffer made before, over memory of ours. The part in C takes one out of
`free_slots`, copies the argument there, runs the program, and lays the slot back when
that has ended; `native/host_values.h` says why nobody sees the memory change.
"""

from __future__ import annotations

import threading
from typing import Any

from olympus._src.foundation import caching
from olympus._src.runtime import client, transfer
from olympus._src.runtime.shardings import default_placement

# Copying larger arrays takes longer than all else, and their programs run elsewhere.
MAX_BYTES = 1 << 16
_MAX_BYTES_OF_ALL = 1 << 24
MAX_SLOTS = 8  # of a type that are free; the part in C lays back no more either

# A buffer, the address of its memory, the bytes there, and the type of the arrays.
Slot = tuple[Any, int, int, Any]

# By type, those that no call uses.
free_slots: dict[Any, list[Slot]] = {}

_lock = threading.Lock()
_bytes_made = 0


def add(aval: Any) -> None:
    """Makes another slot for arrays of a type, where the default device can have it."""
    global _bytes_made
    place = default_placement()
    if not place.is_cpu:
        return
    memory = transfer.aligned_empty(aval.shape, aval.dtype)
    memory.fill(0)
    address = memory.ctypes.data
    buffer = transfer.lend_to_device(memory, aval, place, False)
    if transfer.address_of(buffer, aval.dtype) != address:
        return  # it was copied
    with _lock:
        if _bytes_made > _MAX_BYTES_OF_ALL:
            forget()
        _bytes_made += memory.nbytes
        row = free_slots.setdefault(aval, [])
        if len(row) < MAX_SLOTS:
            row.append((buffer, address, memory.nbytes, aval))


def forget() -> None:
    """Drops all slots; those in use are dropped when their calls end."""
    global _bytes_made
    _bytes_made = 0
    free_slots.clear()


caching.register(forget, "memory for NumPy arguments", lambda: len(free_slots))
client.on_clear(forget)
