"""The array description in a DLPack capsule, read without consuming it.

Source: the structs of dlpack.h, versions 0.8 to 1.1.
"""

from __future__ import annotations

import ctypes
import math
from typing import Any

import ml_dtypes
import numpy as np


class _Tensor(ctypes.Structure):
    _fields_ = (
        ("data", ctypes.c_void_p),
        ("device_type", ctypes.c_int32),
        ("device_id", ctypes.c_int32),
        ("ndim", ctypes.c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    )


class _Versioned(ctypes.Structure):
    _fields_ = (
        ("major", ctypes.c_uint32),
        ("minor", ctypes.c_uint32),
        ("manager_context", ctypes.c_void_p),
        ("deleter", ctypes.c_void_p),
        ("flags", ctypes.c_uint64),
        ("tensor", _Tensor),
    )


# Dtypes by code and bits. Codes 7 and on came with version 1.1.
_NAMES = {0: "int", 1: "uint", 2: "float", 5: "complex"}
_SPECIAL = {
    (4, 16): "bfloat16",
    (6, 8): "bool",
    (7, 8): "float8_e3m4",
    (8, 8): "float8_e4m3",
    (9, 8): "float8_e4m3b11fnuz",
    (10, 8): "float8_e4m3fn",
    (11, 8): "float8_e4m3fnuz",
    (12, 8): "float8_e5m2",
    (13, 8): "float8_e5m2fnuz",
    (14, 8): "float8_e8m0fnu",
    (17, 4): "float4_e2m1fn",
}


def read(capsule: Any) -> tuple[tuple[int, ...], np.dtype]:
    """Shape and dtype of a capsule's array.

    Raises:
      BufferError: the capsule was used before, or its dtype has no name here.
    """
    tensor = _tensor(capsule)
    shape = tuple(tensor.shape[i] for i in range(tensor.ndim))
    name = _SPECIAL.get((tensor.code, tensor.bits))
    if name is None and tensor.code in _NAMES:
        name = f"{_NAMES[tensor.code]}{tensor.bits}"
    if name is None or tensor.lanes != 1:
        raise BufferError(
            f"from_dlpack: the dtype must be one of NumPy or ml_dtypes, got DLPack's "
            f"code {tensor.code} of {tensor.bits} bits and {tensor.lanes} lanes"
        )
    return shape, np.dtype(getattr(ml_dtypes, name, name))


def view(capsule: Any, shape: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
    """A read-only NumPy array over the memory of a host's contiguous capsule.

    NumPy's own reader is quicker, but lacks the dtypes of ml_dtypes.
    """
    size_bytes = math.prod(shape) * dtype.itemsize
    if not size_bytes:
        return np.zeros(shape, dtype)
    if dtype.isbuiltin == 1 and dtype.kind != "b":
        array = np.from_dlpack(_Capsule(capsule))
        array.flags.writeable = False
        return array
    tensor = _tensor(capsule)
    start = tensor.data + tensor.byte_offset
    memory: Any = (ctypes.c_char * size_bytes).from_address(start)
    # The capsule, which owns the memory, lives as long as the views of it.
    memory.owner = capsule
    array = np.frombuffer(memory, dtype).reshape(shape)
    array.flags.writeable = False
    return array


class _Capsule:
    """What NumPy asks for a capsule."""

    __slots__ = ("_capsule",)

    def __init__(self, capsule: Any) -> None:
        self._capsule = capsule

    def __dlpack__(self, **_: Any) -> Any:
        return self._capsule

    def __dlpack_device__(self) -> tuple[int, int]:
        return 1, 0  # the host


def _tensor(capsule: Any) -> _Tensor:
    name = _capsule_name(capsule)
    if name not in (b"dltensor", b"dltensor_versioned"):
        raise BufferError(
            f"from_dlpack: requires a fresh DLPack capsule, got one named {name!r}; a "
            "capsule can be used once"
        )
    address = _capsule_pointer(capsule, name)
    if name == b"dltensor":
        return _Tensor.from_address(address)
    return _Versioned.from_address(address).tensor


_capsule_name = ctypes.pythonapi.PyCapsule_GetName
_capsule_name.restype = ctypes.c_char_p
_capsule_name.argtypes = (ctypes.py_object,)
_capsule_pointer = ctypes.pythonapi.PyCapsule_GetPointer
_capsule_pointer.restype = ctypes.c_void_p
_capsule_pointer.argtypes = (ctypes.py_object, ctypes.c_char_p)
