"""Types and values of arrays as JSON and bytes."""

from __future__ import annotations

import importlib
from typing import Any, NamedTuple

import numpy as np

from olympus._src.core import avals, dtypes
from olympus._src.core import sizes as sizes_
from olympus._src.core.symbolic import dim_parsing
from olympus._src.export.json_fields import Fields
from olympus._src.foundation.container import Unreadable
from olympus._src.interpreters import concrete_arrays

_MAX_NDIM = 64
_MAX_SIZE = 1 << 48
_MAX_TEXT = 1 << 10


def write_aval(aval: Any) -> dict[str, Any]:
    """The type of an array as an object of JSON; symbolic sizes are text."""
    shape = [d if type(d) is int else str(d) for d in aval.shape]
    written = {"dtype": dtypes.long_name(aval.dtype), "shape": shape}
    return written | {"weak_type": True} if aval.weak_type else written


def read_aval(value: Any, where: str, scope: Any = None) -> avals.ShapedArray:
    """The type that `write_aval` wrote.

    Args:
      value: what it wrote.
      where: what it is, for messages.
      scope: of symbolic sizes; None where there may be none.

    Raises:
      Unreadable: it is not a type.
    """
    fields = Fields(value, where)
    shape = fields.items("shape")
    if scope is not None:
        shape = [_symbolic(d, fields, scope) if type(d) is str else d for d in shape]
    sizes = [d for d in shape if not sizes_.is_symbolic(d)]
    if len(shape) > _MAX_NDIM or any(type(n) is not int or n < 0 for n in sizes):
        raise fields.wrong("shape", "a list of sizes", shape)
    size = 1
    for n in sizes:
        size *= n
    if size > _MAX_SIZE:
        raise fields.wrong("shape", f"of at most {_MAX_SIZE} elements", shape)
    weak = fields.has("weak_type") and fields.flag("weak_type")
    return avals.ShapedArray(tuple(shape), read_dtype(fields), weak)


def _symbolic(text: str, fields: Fields, scope: Any) -> Any:
    try:
        if len(text) <= _MAX_TEXT:
            return dim_parsing.parse_size(text, scope)
    except (ValueError, TypeError, ArithmeticError, RecursionError):
        pass
    raise fields.wrong("shape", "a list of sizes", text)


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
    stored = np.asarray(concrete_arrays.with_aval(x, x.aval.storage))
    return np.ascontiguousarray(stored).tobytes()


def copy_array(x: Any) -> Any:
    """An array with a copy of the elements; compiles nothing, as `x.copy()` might."""
    stored = np.asarray(concrete_arrays.with_aval(x, x.aval.storage))
    return concrete_arrays.with_aval(
        concrete_arrays.put(stored, x.aval.storage), x.aval
    )


def read_array(data: bytes, aval: Any, device: Any, where: str) -> Any:
    """The array of this type with these elements, on a device.

    Raises:
      Unreadable: there are too few bytes, or too many.
    """
    return read_stored(data, aval, where).array(device)


class Stored(NamedTuple):
    """An array as bytes of its elements.

    Attributes:
      aval: its type.
      data: what `write_array` gave.
    """

    aval: Any
    data: bytes

    def array(self, device: Any = None) -> Any:
        """A new array on a device; compiles nothing."""
        storage = self.aval.storage
        elements = np.frombuffer(self.data, storage.dtype).reshape(storage.shape)
        return concrete_arrays.with_aval(
            concrete_arrays.put(elements, storage, device), self.aval
        )


def encode_array(x: Any) -> Stored:
    """An array as bytes."""
    return Stored(x.aval, write_array(x))


def read_stored(data: bytes, aval: Any, where: str) -> Stored:
    """Bytes as an array of this type.

    Raises:
      Unreadable: there are too few bytes, or too many.
    """
    storage = aval.storage
    if len(data) != storage.size * storage.dtype.itemsize:
        raise Unreadable(
            f"{where}: must be {storage.size * storage.dtype.itemsize} bytes of type "
            f"{storage.str_long()}, got {len(data)}"
        )
    return Stored(aval, data)
