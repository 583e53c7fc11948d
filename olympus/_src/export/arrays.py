"""Types and values of arrays as JSON and bytes."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np

from olympus._src.core import avals, dtypes
from olympus._src.export.fields import Fields
from olympus._src.foundation.container import Unreadable
from olympus._src.interpreters import evaluate

_MAX_NDIM = 64
_MAX_SIZE = 1 << 48


def write_aval(aval: Any) -> dict[str, Any]:
    """The type of an array as an object of JSON."""
    written = {"dtype": dtypes.long_name(aval.dtype), "shape": list(aval.shape)}
    return written | {"weak_type": True} if aval.weak_type else written


def read_aval(value: Any, where: str) -> avals.ShapedArray:
    """The type that `write_aval` wrote.

    Raises:
      Unreadable: it is none.
    """
    fields = Fields(value, where)
    shape = fields.items("shape")
    if len(shape) > _MAX_NDIM or any(type(n) is not int or n < 0 for n in shape):
        raise fields.wrong("shape", "a list of sizes", shape)
    size = 1
    for n in shape:
        size *= n
    if size > _MAX_SIZE:
        raise fields.wrong("shape", f"of at most {_MAX_SIZE} elements", shape)
    weak = fields.has("weak_type") and fields.flag("weak_type")
    return avals.ShapedArray(tuple(shape), read_dtype(fields), weak)


def read_dtype(fields: Fields) -> Any:
    name = fields.text("dtype")
    if name.startswith("key<"):
        importlib.import_module("olympus.random")  # which makes its dtypes known
    try:
        return dtypes.by_long_name(name)
    except LookupError:
        raise fields.wrong(
            "dtype", "the name of a dtype that is known here", name
        ) from None


def write_array(x: Any) -> bytes:
    """The elements of an array, in C order and little-endian."""
    stored = np.asarray(evaluate.with_aval(x, x.aval.storage))
    return np.ascontiguousarray(stored).tobytes()


def copied(x: Any) -> Any:
    """An array with a copy of the elements; compiles nothing, as `x.copy()` might."""
    stored = np.asarray(evaluate.with_aval(x, x.aval.storage))
    return evaluate.with_aval(evaluate.put(stored, x.aval.storage), x.aval)


def read_array(data: bytes, aval: Any, device: Any, where: str) -> Any:
    """The array of this type with these elements, on a device.

    Raises:
      Unreadable: there are too few bytes, or too many.
    """
    storage = aval.storage
    if len(data) != storage.size * storage.dtype.itemsize:
        raise Unreadable(
            f"{where}: must be {storage.size * storage.dtype.itemsize} bytes of type "
            f"{storage.str_long()}, got {len(data)}"
        )
    elements = np.frombuffer(data, storage.dtype).reshape(storage.shape)
    return evaluate.with_aval(evaluate.put(elements, storage, device), aval)
