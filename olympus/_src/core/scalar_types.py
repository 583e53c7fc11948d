"""Scalar types such as `olympus.numpy.float32`: a dtype's name, and its constructor.

`float32` is accepted wherever a dtype is, equals NumPy's class of that name, and
called with a value makes an array of that dtype. The package that makes arrays
installs how: `install_constructor`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from olympus._src.core import dtypes
from olympus._src.foundation import errors

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    import numpy as np


def _not_installed(x: Any, dtype: np.dtype) -> Any:
    raise errors.InternalError(
        f"{dtype}: scalar types make arrays once olympus.numpy is imported"
    )


_constructor: list[Callable[[Any, Any], Any]] = [_not_installed]


def install_constructor(make: Callable[[Any, Any], Any]) -> None:
    """Say how a scalar type called with (value, dtype) makes an array."""
    _constructor[0] = make


class ScalarType(type):
    """The class of scalar types; `dtype` is what each stands for."""

    dtype: np.dtype

    def __hash__(cls) -> int:
        return hash(cls.dtype.type)

    def __eq__(cls, other: object) -> bool:
        return other is cls or other == cls.dtype.type

    def __call__(cls, x: Any) -> Any:
        return _constructor[0](x, cls.dtype)

    def __instancecheck__(cls, instance: Any) -> bool:
        return isinstance(instance, cls.dtype.type)


def _scalar_type(dtype: np.dtype) -> ScalarType:
    doc = (
        f"The dtype {dtype}; calling it creates an array of it.\n\n"
        f"Pass it as a `dtype`; call it on a value to get an array of {dtype}."
    )
    body = {"dtype": dtype, "__doc__": doc, "__module__": "olympus.numpy"}
    return ScalarType(dtype.name, (), body)


# By name; `olympus.numpy` gives each of them as its attribute.
scalar_types = {dtype.name: _scalar_type(dtype) for dtype in dtypes.supported_dtypes()}
