"""What `olympus.numpy` says about dtypes: scalar types, families, limits, casts."""

from __future__ import annotations

from typing import Any

import numpy as np

from olympus._src.core import dtypes, scalar_types
from olympus._src.core.array_type import Array, ArrayLike, DTypeLike
from olympus._src.foundation import array_protocol

ndarray = Array
ComplexWarning = np.exceptions.ComplexWarning
finfo = dtypes.finfo
iinfo = dtypes.iinfo
promote_types = dtypes.promote_types
dtype = np.dtype

generic = np.generic
number = np.number
integer = np.integer
signedinteger = np.signedinteger
unsignedinteger = np.unsignedinteger
inexact = np.inexact
floating = np.floating
complexfloating = np.complexfloating
flexible = np.flexible
character = np.character
object_ = np.object_

# Scalar types: each stands for its dtype, and called with a value makes an array.
_types = scalar_types.scalar_types
bool_ = _types["bool"]
uint1 = _types["uint1"]
uint2 = _types["uint2"]
uint4 = _types["uint4"]
uint8 = _types["uint8"]
uint16 = _types["uint16"]
uint32 = _types["uint32"]
uint64 = _types["uint64"]
int1 = _types["int1"]
int2 = _types["int2"]
int4 = _types["int4"]
int8 = _types["int8"]
int16 = _types["int16"]
int32 = _types["int32"]
int64 = _types["int64"]
float4_e2m1fn = _types["float4_e2m1fn"]
float6_e2m3fn = _types["float6_e2m3fn"]
float6_e3m2fn = _types["float6_e3m2fn"]
float8_e3m4 = _types["float8_e3m4"]
float8_e4m3 = _types["float8_e4m3"]
float8_e4m3fn = _types["float8_e4m3fn"]
float8_e4m3b11fnuz = _types["float8_e4m3b11fnuz"]
float8_e4m3fnuz = _types["float8_e4m3fnuz"]
float8_e5m2 = _types["float8_e5m2"]
float8_e5m2fnuz = _types["float8_e5m2fnuz"]
float8_e8m0fnu = _types["float8_e8m0fnu"]
bfloat16 = _types["bfloat16"]
float16 = _types["float16"]
float32 = _types["float32"]
float64 = _types["float64"]
complex64 = _types["complex64"]
complex128 = _types["complex128"]
int_ = int64
uint = uint64
float_ = double = float64
single = float32
complex_ = cdouble = complex128
csingle = complex64

# Constants.
pi = np.pi
e = np.e
euler_gamma = np.euler_gamma
inf = np.inf
nan = np.nan
newaxis = None


def result_type(*args: ArrayLike | DTypeLike) -> np.dtype[Any]:
    """The dtype that an operation on these arguments works in.

    Differs from NumPy: a Python number yields to any dtype of its kind, and int32
    with float32 gives float32.

    Args:
      *args: arrays, numbers, dtypes or what denotes one.

    Returns:
      A `numpy.dtype`.

    Raises:
      TypePromotionError: they have no common dtype.

    Source: NumPy, `numpy.result_type`, with a different lattice.

    Example:
      >>> import olympus.numpy as onp
      >>> onp.result_type(onp.float16, 1.0)
      dtype('float16')
    """
    return dtypes.result_type(*args)


def issubdtype(arg1: DTypeLike, arg2: DTypeLike) -> bool:
    """Whether a dtype is another, or belongs to a family.

    Args:
      arg1: a dtype, scalar class, family or name.
      arg2: the same.

    Returns:
      True where `arg1` equals `arg2` or belongs to it.

    Raises:
      TypeError: one of them does not denote a dtype.

    Source: NumPy, `numpy.issubdtype`, extended to the small integers and floats.

    Example:
      >>> import olympus.numpy as onp
      >>> onp.issubdtype(onp.bfloat16, onp.floating)
      True
    """
    return dtypes.issubdtype(arg1, arg2)


def can_cast(
    from_: ArrayLike | DTypeLike, to: DTypeLike, casting: str = "safe"
) -> bool:
    """Whether values of one dtype can be cast to another under a rule.

    Args:
      from_: a dtype, or an array.
      to: a dtype.
      casting: "no", "equiv", "safe", "same_kind" or "unsafe".

    Source: NumPy, `numpy.can_cast`.

    Example:
      >>> jnp.can_cast(jnp.int32, jnp.float32), jnp.can_cast(jnp.float32, jnp.int32)
      (False, False)
    """
    if hasattr(from_, "dtype") and not isinstance(from_, (np.dtype, type)):
        from_ = from_.dtype
    rule: Any = casting
    source: Any = from_
    return np.can_cast(np.dtype(source), np.dtype(to), casting=rule)


_KINDS = {
    "bool": "b",
    "signed integer": "i",
    "unsigned integer": "u",
    "integral": "iu",
    "real floating": "f",
    "complex floating": "c",
    "numeric": "iufc",
}


def isdtype(dtype: DTypeLike, kind: DTypeLike | tuple[DTypeLike, ...]) -> bool:
    """Whether a dtype is of a kind.

    Args:
      dtype: a dtype.
      kind: a dtype or its name, "bool", "signed integer", "unsigned integer",
        "integral", "real floating", "complex floating", "numeric", or a tuple of them.

    Raises:
      ValueError: a kind that does not exist.
      TypeError: `kind` is none of those.

    Source: NumPy, `numpy.isdtype`.

    Example:
      >>> jnp.isdtype(jnp.float32, ("integral", "real floating"))
      True
    """
    canonical = dtypes.as_dtype(dtype)
    options = kind if isinstance(kind, tuple) else (kind,)
    return any(_is_of(canonical, option) for option in options)


def _is_of(dtype: Any, kind: Any) -> bool:
    if isinstance(kind, str):
        if kind in _KINDS:
            return dtypes.kind(dtype) in _KINDS[kind]
        try:
            return dtype == dtypes.as_dtype(kind)
        except TypeError:
            raise ValueError(
                f"Unrecognized kind {kind!r}; numpy.isdtype takes dtypes, "
                f"{', '.join(_KINDS)}"
            ) from None
    if isinstance(kind, (np.dtype, type)):
        return dtype == dtypes.as_dtype(kind)
    raise TypeError(f"numpy.isdtype: kind must be a dtype or a name, got {kind!r}")


def isscalar(element: object) -> bool:
    """Whether a value is a number, or an array without axes.

    Args:
      element: any value.

    Source: NumPy, `numpy.isscalar`.

    Example:
      >>> jnp.isscalar(3.0), jnp.isscalar(jnp.array([3.0]))
      (True, False)
    """
    if np.isscalar(element):
        return True
    if array_protocol.is_array(element):
        element = array_protocol.array_of(element)
    shape = getattr(element, "shape", None)
    return shape == () and hasattr(element, "dtype")


def iterable(y: object) -> bool:
    """Whether a value can be iterated over.

    Args:
      y: any value.

    Source: NumPy, `numpy.iterable`.

    Example:
      >>> jnp.iterable(jnp.arange(3)), jnp.iterable(3)
      (True, False)
    """
    return np.iterable(y)
