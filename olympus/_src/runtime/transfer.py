"""Bytes between the host and devices: NumPy arrays to jaxlib buffers and back.

jaxlib narrows 64-bit values where a process-wide flag, shared with jax, says so. Every
transfer here passes its own answer, so nothing depends on that flag.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from olympus._src.runtime import versions
from olympus._src.runtime.shardings import Placement

_put = versions.batched_device_put
_DURING_CALL = versions.IMMUTABLE_DURING_CALL
_ZERO_COPY = versions.ZERO_COPY


def to_device(x: np.ndarray, aval: Any, place: Placement, committed: bool) -> Any:
    """A buffer with a copy of a NumPy array of the aval's shape and dtype."""
    return _put(
        aval, place.sharding, [x], place.devices, committed, True, _DURING_CALL, True
    )


def lend_to_device(x: np.ndarray, aval: Any, place: Placement, committed: bool) -> Any:
    """As `to_device`, for an array that nobody will write to: it may be shared."""
    return _put(
        aval, place.sharding, [x], place.devices, committed, False, _ZERO_COPY, True
    )


def to_host(buffer: Any, dtype: np.dtype) -> np.ndarray:
    """A read-only NumPy array of a buffer's value, a view of it where that is possible.

    The buffer must not be deleted. Waits until it is computed, without holding the
    interpreter: a callback may have to run first.

    Raises:
      XlaRuntimeError: computing it failed.
    """
    if not buffer.is_ready():
        buffer.block_until_ready()
    if dtype.isbuiltin == 1:  # the buffer protocol knows NumPy's own dtypes alone
        try:
            return np.asarray(memoryview(buffer))
        except BufferError:
            # Failed, or on another device than the CPU: the slower way tells.
            buffer.block_until_ready()
    return versions.to_numpy(buffer, dtype)


def copied(buffer: Any) -> Any:
    """Another buffer of the same value in the same place."""
    sharding = buffer._sharding
    devices = sharding._internal_device_list
    copies = versions.copy_arrays(
        [buffer], [devices], [sharding], [versions.ALWAYS_COPY]
    )
    return copies[0]


def moved(buffer: Any, place: Placement) -> Any:
    """A buffer of the same value on another device."""
    moves = versions.copy_arrays(
        [buffer], [place.device_list], [place.sharding], [versions.REUSE_INPUT]
    )
    return moves[0]
