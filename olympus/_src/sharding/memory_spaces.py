"""Memory spaces: where on its device a value is, without the platform's names."""

from __future__ import annotations

import enum


class Space(enum.Enum):
    """The memory of a device, or that of its host.

    `device_put` takes one: the value stays on its devices, in this memory.

    Device: the devices' default memory. Host: memory of the host, of the kind
    'pinned_host'. Any: where the value is.

    Example:
      >>> import olympus
      >>> olympus.device_put(olympus.numpy.ones(2), olympus.memory.Space.Device)
      Array([1., 1.], dtype=float32)
    """

    Device = enum.auto()
    Host = enum.auto()
    Any = enum.auto()

    def __repr__(self) -> str:
        return f"Space.{self.name}"
