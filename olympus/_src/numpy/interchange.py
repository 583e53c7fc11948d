"""Arrays of other libraries, without a copy."""

from __future__ import annotations

from typing import Any

from olympus._src.core import dtypes
from olympus._src.interpreters import evaluate


def from_dlpack(x: Any, /, *, device: Any = None, copy: bool | None = None) -> Any:
    """An array that shares the memory of another library's array.

    Args:
      x: an object with `__dlpack__` and `__dlpack_device__`, on a CPU or a GPU.
      device: where the array goes; default where `x` is.
      copy: True for a copy, False for none at any price, None where one is needed.

    Returns:
      An array of x's shape and dtype; 64-bit dtypes are narrowed where they are off.

    Raises:
      TypeError: `x` does not speak DLPack.
      ValueError: a copy is needed and `copy` is False.

    Source: the DLPack protocol; `numpy.from_dlpack`.

    Example:
      >>> import numpy as np
      >>> import olympus.numpy as onp
      >>> onp.from_dlpack(np.arange(3, dtype='int32'))
      Array([0, 1, 2], dtype=int32)
    """
    found: Any = evaluate.from_dlpack(x, device, copy)
    narrow = dtypes.canonicalize_dtype(found.dtype)
    if narrow == found.dtype:
        return found
    if copy is False:
        raise ValueError(
            f"numpy.from_dlpack: dtype {found.dtype} needs a copy while 64-bit values "
            "are off, got copy=False; turn them on with olympus_enable_x64"
        )
    return found.astype(narrow)
