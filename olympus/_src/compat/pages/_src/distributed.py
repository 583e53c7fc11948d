"""The state of a process among several."""

from __future__ import annotations

from typing import Any

from olympus._src.api import placement
from olympus._src.runtime import distributed


class _State:
    """What libraries read of it."""

    @property
    def process_id(self) -> int:
        """The number of this process."""
        return placement.process_index() if distributed.is_initialized() else 0

    @property
    def num_processes(self) -> int:
        """How many processes there are."""
        return placement.process_count() if distributed.is_initialized() else 1

    @property
    def client(self) -> Any:
        """The store that the processes share; None where there is one process."""
        return distributed.store() if distributed.is_initialized() else None

    coordinator_address = None
    service = None


global_state = _State()

__all__ = ["global_state"]
