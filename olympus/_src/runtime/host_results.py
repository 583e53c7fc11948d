"""Values in memory of the host, of which jaxlib knows nothing until it needs a buffer.

The kernels of small programs leave their results there (`native/host_kernels.h`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from olympus._src import native
from olympus._src.runtime import guards, transfer
from olympus._src.runtime.shardings import (
    Placement,
    SingleDeviceSharding,
    placement_of,
)

# Of an array that gets a memory and no buffer. Larger ones are seldom operands of
# kernels, and copying them takes as long as all else.
MAX_BYTES = 4096


def _put_nothing(x: np.ndarray, aval: Any, place: Placement, committed: bool) -> None:
    del x, aval, place, committed


# An array in a memory with a copy of a NumPy array; None where there is no memory.
put: Callable[[np.ndarray, Any, Placement, bool], Any] = (
    _put_nothing if native.calls is None else native.calls.put
)

_Base: Any = object if native.calls is None else native.calls.HostMemory


class HostMemory(_Base):
    """What an array is made from that has a value and no buffer yet.

    Attributes:
      aval: its type.
      place: the device that has it.
      buffer: the buffer over the same memory, once there is one.
    """

    __slots__ = ()

    aval: Any
    place: Placement
    buffer: Any
    has_ended: bool

    @property
    def _sharding(self) -> SingleDeviceSharding:
        return self.place.sharding

    def sharding(self, position: int) -> SingleDeviceSharding:
        """Where it is; there is one position."""
        del position
        return self.place.sharding

    def is_deleted(self) -> bool:
        """Whether it, or its buffer, was deleted or donated."""
        return self.has_ended or (self.buffer is not None and self.buffer.is_deleted())

    def is_ready(self) -> bool:
        """True: it was computed before it was made."""
        return True

    def to_host(self, position: int) -> np.ndarray:
        """A read-only view of the value."""
        del position
        stored = self.aval.storage
        return np.ndarray(stored.shape, stored.dtype, self.bytes())

    def to_device(self, position: int) -> Any:
        """The buffer, which shares the memory."""
        del position
        return self.to_buffer()

    def to_buffer(self) -> Any:
        """The buffer, which is the same in all threads.

        Raises:
          RuntimeError: a program took the memory.
        """
        if self.buffer is not None:
            return self.buffer
        if self.has_ended:
            raise RuntimeError("Array has been deleted")
        if not guards.are_active():
            return self.keep(self._lend())
        with guards.lift():  # it is no transfer: a CPU device has the memory already
            return self.keep(self._lend())

    def _lend(self) -> Any:
        stored = self.aval.storage
        value = np.ndarray(stored.shape, stored.dtype, self.bytes())
        return transfer.lend_to_device(value, stored, self.place, False)


def copy_to_memory(array: Any) -> HostMemory:
    """A memory with a copy of a computed array's value."""
    place = placement_of(array.single_device)
    content = np.ascontiguousarray(array.words()).tobytes()
    return native.calls.make_memory(content, array.aval, place)
