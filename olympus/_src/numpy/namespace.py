"""What the array API standard asks of a namespace: its version, and what it can do.

Source: the Python array API standard, 2025.12, section "Inspection".
"""

from __future__ import annotations

from typing import Any

from olympus._src.api import placement
from olympus._src.core import dtypes
from olympus._src.numpy import dtype_functions

API_VERSION = "2025.12"

# The standard's dtypes; the ones of 64 bits count where they are on.
_DTYPES = (
    "bool",
    *("int8", "int16", "int32", "int64"),
    *("uint8", "uint16", "uint32", "uint64"),
    *("float32", "float64", "complex64", "complex128"),
)
_DEFAULTS = {
    "real floating": float,
    "complex floating": complex,
    "integral": int,
    "indexing": int,
}


class ArrayNamespaceInfo:
    """Answers of a namespace of the array API standard about itself.

    Example:
      >>> import olympus.numpy as onp
      >>> onp.__array_namespace_info__().default_dtypes()["integral"]
      dtype('int32')
    """

    def capabilities(self) -> dict[str, Any]:
        """What is possible everywhere, traced or not.

        Returns:
          "boolean indexing" and "data-dependent shapes", which tracing does not
          support, and "max dimensions", the largest number of axes.
        """
        return {
            "boolean indexing": False,
            "data-dependent shapes": False,
            "max dimensions": 64,
        }

    def default_device(self) -> None:
        """None, which stands for the device of the setting `default_device`."""
        return None

    def default_dtypes(self, *, device: Any = None) -> dict[str, Any]:
        """The dtypes of arrays made of Python numbers, and of positions.

        Args:
          device: has no effect.
        """
        del device
        return {k: dtypes.canonicalize_dtype(v) for k, v in _DEFAULTS.items()}

    def devices(self) -> list[Any]:
        """The devices that a `device` argument takes; None is the default one."""
        return [None, *placement.devices()]

    def dtypes(self, *, device: Any = None, kind: Any = None) -> dict[str, Any]:
        """The standard's dtypes that arrays can have, by name.

        Args:
          device: has no effect.
          kind: of these kinds only; as in `numpy.isdtype`.

        Raises:
          ValueError: a kind that does not exist.
        """
        del device
        every = {name: dtypes.as_dtype(name) for name in _DTYPES}
        return {
            name: dtype
            for name, dtype in every.items()
            if dtypes.canonicalize_dtype(dtype) == dtype
            and (kind is None or dtype_functions.isdtype(dtype, kind))
        }


def array_namespace_info() -> ArrayNamespaceInfo:
    """What this namespace says about itself.

    Source: the Python array API standard, `__array_namespace_info__`.

    Example:
      >>> import olympus.numpy as onp
      >>> sorted(onp.__array_namespace_info__().dtypes(kind="real floating"))
      ['float32']
    """
    return ArrayNamespaceInfo()
