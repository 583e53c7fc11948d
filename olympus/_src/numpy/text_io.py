"""Arrays as text, in files and from buffers: what NumPy does, on the host."""

from __future__ import annotations

from typing import Any

import numpy as np

from olympus._src.core import dtypes
from olympus._src.core.array_type import Array, DTypeLike
from olympus._src.numpy import creation

printoptions = np.printoptions
get_printoptions = np.get_printoptions
save = np.save
savez = np.savez


def set_printoptions(*args: Any, **kwargs: Any) -> None:
    """Sets how arrays are printed, NumPy's and these.

    Args:
      *args, **kwargs: as in NumPy: precision, threshold, edgeitems, linewidth,
        suppress, ...

    Raises:
      TypeError: NumPy has no such option.

    Source: NumPy, `numpy.set_printoptions`.

    Example:
      >>> import olympus.numpy as onp
      >>> with onp.printoptions():
      ...     onp.set_printoptions(precision=2)
      ...     onp.array([1 / 3])
      Array([0.33], dtype=float32)
    """
    np.set_printoptions(*args, **kwargs)


def array_repr(
    arr: object,
    max_line_width: int | None = None,
    precision: int | None = None,
    suppress_small: bool | None = None,
) -> str:
    """The printed form, with the dtype.

    Args:
      arr: array.
      max_line_width, precision, suppress_small: as in NumPy.

    Source: NumPy, `numpy.array_repr`.

    Example:
      >>> jnp.array_repr(jnp.array([1.0, 2.0]))
      'Array([1., 2.], dtype=float32)'
    """
    del max_line_width, precision, suppress_small
    return repr(arr)


def array_str(
    a: object,
    max_line_width: int | None = None,
    precision: int | None = None,
    suppress_small: bool | None = None,
) -> str:
    """The printed elements.

    Args:
      a: array.
      max_line_width, precision, suppress_small: as in NumPy.

    Source: NumPy, `numpy.array_str`.

    Example:
      >>> jnp.array_str(jnp.array([1.0, 2.0]))
      '[1. 2.]'
    """
    return np.array_str(np.asarray(a), max_line_width, precision, suppress_small)


def load(file: Any, *args: Any, **kwargs: Any) -> Any:
    """An array, or the arrays of an archive, from a file.

    Differs from NumPy: two-byte void elements, which is how `numpy.save`
    writes bfloat16, are read as bfloat16; an archive holds NumPy's arrays.

    Args:
      file: name or open file.
      *args, **kwargs: as in NumPy.

    Source: NumPy, `numpy.load`.

    Example:
      >>> import io
      >>> file = io.BytesIO()
      >>> jnp.save(file, jnp.arange(3))
      >>> _ = file.seek(0)
      >>> jnp.load(file)
      Array([0, 1, 2], dtype=int32)
    """
    loaded = np.load(file, *args, **kwargs)
    if not isinstance(loaded, np.ndarray):
        return loaded
    if loaded.dtype == "V2":  # files name no dtypes but NumPy's own
        loaded = loaded.view(dtypes.as_dtype("bfloat16"))
    return creation.asarray(loaded)


def frombuffer(
    buffer: bytes | bytearray | memoryview | np.ndarray,
    dtype: DTypeLike = float,
    count: int = -1,
    offset: int = 0,
) -> Array:
    r"""An array of the numbers in a buffer.

    Differs from NumPy: the memory is copied to the device.

    Args:
      buffer: bytes, or an object with a buffer.
      dtype: their element type.
      count: how many; -1 for all.
      offset: bytes skipped in front.

    Source: NumPy, `numpy.frombuffer`.

    Example:
      >>> jnp.frombuffer(b"\x01\x02", dtype=jnp.uint8)
      Array([1, 2], dtype=uint8)
    """
    return creation.asarray(np.frombuffer(buffer, np.dtype(dtype), count, offset))


def fromiter(*args: Any, **kwargs: Any) -> Any:
    """An array of an iterator's values.

    Differs from NumPy: the elements are gathered on the host first.

    Args:
      *args, **kwargs: as in NumPy.

    Source: NumPy, `numpy.fromiter`.

    Example:
      >>> jnp.fromiter((i * i for i in range(4)), dtype=int)
      Array([0, 1, 4, 9], dtype=int32)
    """
    return creation.asarray(np.fromiter(*args, **kwargs))


def fromstring(
    string: str, dtype: DTypeLike = float, count: int = -1, *, sep: str
) -> Array:
    """An array of the numbers in a text.

    Differs from NumPy: the text is read on the host first.

    Args:
      string: the text.
      dtype: their element type.
      count: how many; -1 for all.
      sep: the separator between them.

    Source: NumPy, `numpy.fromstring`.

    Example:
      >>> jnp.fromstring("1 2 3", dtype=int, sep=" ")
      Array([1, 2, 3], dtype=int32)
    """
    return creation.asarray(np.fromstring(string, np.dtype(dtype), count, sep=sep))


def fromfile(*args: Any, **kwargs: Any) -> None:
    """Not supported: read the file with NumPy.

    Differs from NumPy: raw files are not read here.

    Raises:
      NotImplementedError: always.

    Example:
      >>> import tempfile
      >>> with tempfile.TemporaryFile() as file:
      ...     np.arange(3, dtype=np.int32).tofile(file)
      ...     _ = file.seek(0)
      ...     jnp.asarray(np.fromfile(file, dtype=np.int32))
      Array([0, 1, 2], dtype=int32)
    """
    del args, kwargs
    raise NotImplementedError(
        "numpy.fromfile: raw files are read by NumPy; write "
        "numpy.asarray(np.fromfile(...))"
    )
