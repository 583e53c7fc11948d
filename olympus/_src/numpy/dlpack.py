"""Arrays of other libraries, without a copy."""

from __future__ import annotations

from typing import Any

from olympus._src.core import dtypes
from olympus._src.core.array_type import Array, DTypeLike, Placement
from olympus._src.interpreters import concrete_arrays


def import_array(
    external_array: Any, device: Placement = None, copy: bool | None = None
) -> Array:
    """An array that shares the memory of another library's array.

    Args:
      external_array: an object with `__dlpack__` and `__dlpack_device__`, on a CPU or a
        GPU.
      device: where the array goes; default where the other is.
      copy: True to copy, False never to copy, None to copy where it is needed.

    Returns:
      An array of the same shape and dtype; 64-bit dtypes are narrowed where they are
      off.

    Raises:
      TypeError: the object does not support DLPack.
      ValueError: a copy is needed and `copy` is False.

    Source: the DLPack protocol.

    Example:
      >>> import numpy as np
      >>> from olympus import dlpack
      >>> dlpack.from_dlpack(np.arange(3, dtype='int32'))
      Array([0, 1, 2], dtype=int32)
    """
    return from_dlpack(external_array, device=device, copy=copy)


def is_supported_dtype(dtype: DTypeLike) -> bool:
    """Whether DLPack supports arrays of a dtype.

    Args:
      dtype: a dtype, its name, or a scalar class.

    Raises:
      TypeError: it is none of these.

    Example:
      >>> import numpy as np
      >>> from olympus import dlpack
      >>> dlpack.is_supported_dtype(np.float32), dlpack.is_supported_dtype('U4')
      (True, False)
    """
    if dtype is None:
        raise TypeError(
            "dlpack.is_supported_dtype: dtype must be a dtype or its name, got None"
        )
    return dtypes.as_dtype(dtype) in _SUPPORTED


_NAMES = (
    "bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 "
    "float16 bfloat16 float32 float64 complex64 complex128"
)
_SUPPORTED = frozenset(dtypes.as_dtype(name) for name in _NAMES.split())


def from_dlpack(
    x: Any, /, *, device: Placement = None, copy: bool | None = None
) -> Array:
    """An array that shares the memory of another library's array.

    It is committed to the device where that is.

    Args:
      x: an object with `__dlpack__` and `__dlpack_device__`, on a CPU or a GPU.
      device: where the array goes; default where `x` is.
      copy: True to copy, False never to copy, None to copy where it is needed.

    Returns:
      An array of x's shape and dtype; 64-bit dtypes are narrowed where they are off.

    Raises:
      TypeError: `x` does not support DLPack.
      ValueError: a copy is needed and `copy` is False.

    Source: the DLPack protocol; `numpy.from_dlpack`.

    Example:
      >>> import numpy as np
      >>> import olympus.numpy as onp
      >>> onp.from_dlpack(np.arange(3, dtype='int32'))
      Array([0, 1, 2], dtype=int32)
    """
    array: Any = concrete_arrays.from_dlpack(x, device, copy)
    narrow = dtypes.canonicalize_dtype(array.dtype)
    if narrow == array.dtype:
        return array
    if copy is False:
        raise ValueError(
            f"numpy.from_dlpack: dtype {array.dtype} needs a copy while 64-bit values "
            "are off, got copy=False; turn them on with olympus_enable_x64"
        )
    return array.astype(narrow)
