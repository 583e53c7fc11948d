"""DLPack: exchange of buffers with other libraries, without a copy.

Only the protocol's own objects are used, so any library that implements it works.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from olympus._src.runtime import client, dlpack_struct, transfer, versions, waiting
from olympus._src.runtime.shardings import placement_of
from olympus._src.runtime.transfer import ALIGNMENT_BYTES
from olympus._src.runtime.versions import Device

# A device's kind in DLPack, by platform, and back.
_KINDS = {"cpu": 1, "cuda": 2, "gpu": 2, "rocm": 10}
_PLATFORMS = {1: "cpu", 2: "cuda", 3: "cpu", 10: "rocm"}


def device_code(device: Device) -> tuple[int, int]:
    """DLPack's kind and number of a device.

    Raises:
      BufferError: the platform has no kind.
    """
    kind = _KINDS.get(device.platform)
    if kind is None:
        raise BufferError(
            f"__dlpack_device__: requires an array on a CPU or a GPU, got one on "
            f"{device}; copy it to the host by numpy.asarray"
        )
    # All devices of the CPU are one memory.
    return kind, 0 if kind == 1 else (device.local_hardware_id or 0)


def to_capsule(
    buffer: Any,
    device: Device,
    stream: Any,
    max_version: tuple[int, int] | None,
    dl_device: tuple[int, int] | None,
    copy: bool | None,
) -> Any:
    """A DLPack capsule of a buffer; shares its memory unless `copy` is true.

    Raises:
      BufferError: another device is wanted, or the dtype has no code in DLPack.
    """
    if dl_device is not None and tuple(dl_device) != device_code(device):
        raise BufferError(
            f"__dlpack__: dl_device must be where the array is, "
            f"{device_code(device)}, got {tuple(dl_device)}; move it by "
            "olympus.device_put first"
        )
    if copy:
        buffer = transfer.copy_buffer(buffer)
    waiting.wait_for(buffer)
    try:
        return versions.to_dlpack_capsule(buffer, stream, max_version, bool(copy))
    except versions.XlaRuntimeError as error:
        if buffer.is_deleted():  # by another thread
            raise
        dtype = buffer.aval.dtype
        raise BufferError(
            f"__dlpack__: requires a dtype that DLPack has, got {dtype}; view "
            f"the array as integers first ({error})"
        ) from error


def buffer_from(
    x: Any, make_aval: Callable[..., Any], device: Device | None, copy: bool | None
) -> tuple[Any, Any]:
    """A buffer from an object with `__dlpack__` and `__dlpack_device__`, and its aval.

    Shares the object's memory where `copy` is not true and the devices agree.

    Raises:
      TypeError: the object does not implement DLPack.
      ValueError: a copy is needed and `copy` is False.
    """
    if not hasattr(x, "__dlpack__") or not hasattr(x, "__dlpack_device__"):
        raise TypeError(
            "from_dlpack: requires an object with __dlpack__ and __dlpack_device__, "
            f"got {type(x).__name__}; pass the array itself, not a capsule"
        )
    kind, number = map(int, x.__dlpack_device__())
    home = _device_of(kind, number)
    if copy is False and device is not None and device != home:
        raise ValueError(
            f"from_dlpack: device={device} requires a copy, got copy=False for an "
            f"array on {home}; leave out copy"
        )
    view = _host_view(x) if kind == _HOST else None
    if view is None:
        buffer, aval = _import_capsule(x, make_aval, home, copy)
    else:
        buffer, aval = _from_view(view, make_aval, home, copy)
    if device is not None and device != home:
        buffer = transfer.move_buffer(buffer, placement_of(device))
    return buffer, aval


_HOST = 1


def _host_view(x: Any) -> np.ndarray | None:
    """The object's memory as a NumPy array; None where NumPy lacks the dtype."""
    try:
        return np.from_dlpack(x)
    except (BufferError, RuntimeError, TypeError, ValueError):
        return None


def _from_view(
    view: np.ndarray, make_aval: Callable[..., Any], home: Device, copy: bool | None
) -> tuple[Any, Any]:
    """A buffer over a NumPy array, shared if XLA can use its memory as it is.

    jaxlib's own way is as fast, but imports jax where it is installed.
    """
    aval = make_aval(view.shape, view.dtype)
    place = placement_of(home)
    fits = view.flags.c_contiguous and view.ctypes.data % ALIGNMENT_BYTES == 0
    if aval.dtype == view.dtype and fits and not copy:
        return transfer.lend_to_device(view, aval, place, False), aval
    if copy is False:
        raise ValueError(
            "from_dlpack: copy=False requires contiguous memory aligned to "
            f"{ALIGNMENT_BYTES} bytes and dtype {aval.dtype}, got an array of dtype "
            f"{view.dtype}, strides {view.strides} at {view.ctypes.data:#x}; leave out "
            "copy"
        )
    return transfer.to_device(view.astype(aval.dtype), aval, place, False), aval


def _import_capsule(
    x: Any, make_aval: Callable[..., Any], home: Device, copy: bool | None
) -> tuple[Any, Any]:
    """As jaxlib reads the capsule."""
    stream = None
    if home.platform != "cpu":
        stream = home.get_stream_for_external_ready_events()
    # DLPack's numbers 0 to 2 of CUDA streams have meanings of their own.
    capsule = x.__dlpack__() if stream is None else x.__dlpack__(stream=stream or 1)
    shape, dtype = dlpack_struct.read(capsule)
    aval = make_aval(shape, dtype)
    buffer = versions.from_dlpack_capsule(capsule, home, stream, copy)
    return versions.rewrap_buffer(buffer, aval, placement_of(home).sharding), aval


def _device_of(kind: int, number: int) -> Device:
    platform = _PLATFORMS.get(kind)
    if platform is None:
        raise BufferError(
            f"from_dlpack: the array must be on a CPU or a GPU, got DLPack device kind "
            f"{kind}; copy it to the host first"
        )
    devices = client.local_devices(platform=platform)
    if platform == "cpu":
        return devices[0]
    for device in devices:
        if device.local_hardware_id == number:
            return device
    raise BufferError(
        f"from_dlpack: the array's device {platform}:{number} must be visible to this "
        "process"
    )
