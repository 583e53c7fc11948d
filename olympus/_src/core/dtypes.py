"""Dtypes: their names, their relations, their promotion.

A dtype is a `numpy.dtype` (NumPy's own, or one of ml_dtypes') or an `ExtendedDType`,
whose elements are not numbers, such as random keys. A value's dtype may be *weak*: it
came from a Python number, and adapts to the dtype of other operands.
"""

from __future__ import annotations

import importlib
from itertools import pairwise
from typing import Any, Literal, overload

import ml_dtypes
import numpy as np

from olympus._src.core.array_type import ArrayLike, DTypeLike
from olympus._src.foundation import (
    array_protocol,
    caching,
    config,
    errors,
    user_warnings,
)

finfo = ml_dtypes.finfo
iinfo = ml_dtypes.iinfo
bfloat16 = ml_dtypes.bfloat16

# The tangent of what does not vary: a dtype with one value and no bytes.
float0 = np.dtype([("float0", np.void, 0)])


class extended(np.generic):
    """Family of the dtypes whose elements are opaque: olympus knows their rules."""

    __module__ = "olympus.dtypes"


class prng_key(extended):
    """Family of the dtypes of random keys, one for each key implementation."""

    __module__ = "olympus.dtypes"


class ExtendedDType:
    """A dtype whose elements are opaque; abstract.

    A subclass sets `name`, `itemsize` (bytes of an element's representation),
    `physical` (shape and dtype of the words that hold an element) and `type` (its
    family, a subclass of `extended`), and defines `__eq__` and `__hash__`.
    """

    __slots__ = ()

    name: str
    itemsize: int
    physical: tuple[tuple[int, ...], np.dtype]
    type: type[extended]

    # What NumPy's dtypes answer, so that code may ask any dtype.
    kind = "V"
    fields = None

    # See the function of this name.
    couples_rows = False

    # The dtype of tangents. One that is no `float0` has `zero` and `add`.
    tangent_dtype: Any = float0

    def converts(self, dtype: np.dtype) -> bool:
        """Whether an element is converted from that dtype, and to it, as it is."""
        del dtype
        return False

    def zero(self) -> Any:
        """The element that adds nothing to a cotangent."""
        raise NotImplementedError

    def add(self, x: Any, y: Any) -> Any:
        """The sum of two cotangents, which are arrays of this dtype."""
        raise NotImplementedError

    def __eq__(self, other: object) -> bool:
        raise NotImplementedError

    def __hash__(self) -> int:
        raise NotImplementedError

    def __repr__(self) -> str:
        return self.name


# --- the dtypes there are ---

_UNSIGNED = "uint1 uint2 uint4 uint8 uint16 uint32 uint64"
_SIGNED = "int1 int2 int4 int8 int16 int32 int64"
_TINY_FLOATS = (
    "float4_e2m1fn float6_e2m3fn float6_e3m2fn float8_e3m4 float8_e4m3 float8_e4m3fn "
    "float8_e4m3b11fnuz float8_e4m3fnuz float8_e5m2 float8_e5m2fnuz float8_e8m0fnu"
)
_FLOATS = f"{_TINY_FLOATS} bfloat16 float16 float32 float64"
_COMPLEX = "complex64 complex128"


def _available(names: str) -> dict[str, np.dtype]:
    """The dtypes of these names that NumPy and this ml_dtypes have."""
    available = {}
    for name in names.split():
        scalar = getattr(np, name, None) or getattr(ml_dtypes, name, None)
        if scalar is not None:
            available[name] = np.dtype(scalar)
    return available


_families = {
    "b": {"bool": np.dtype(np.bool_)},
    "u": _available(_UNSIGNED),
    "i": _available(_SIGNED),
    "f": _available(_FLOATS),
    "c": _available(_COMPLEX),
}
_named = {name: d for family in _families.values() for name, d in family.items()}
_kinds = {d: kind for kind, family in _families.items() for d in family.values()}

# ml_dtypes' scalar classes descend from numpy.generic alone; these are their parents.
_parents = {
    d.type: {"u": np.unsignedinteger, "i": np.signedinteger, "f": np.floating}[kind]
    for d, kind in _kinds.items()
    if not issubclass(d.type, (np.number, np.bool_))
}

python_scalar_dtypes: dict[type, np.dtype] = {
    bool: _named["bool"],
    int: _named["int64"],
    float: _named["float64"],
    complex: _named["complex128"],
}
_widest_names = {"u": "uint64", "i": "int64", "f": "float64", "c": "complex128"}
_python_types = {"b": bool, "u": int, "i": int, "f": float, "c": complex}


def _spellings() -> dict[Any, np.dtype]:
    """From each usual way to write a dtype to the one object used throughout."""
    table: dict[Any, np.dtype] = {None: _named["float64"], **python_scalar_dtypes}
    for name, dtype in _named.items():
        table |= {name: dtype, dtype: dtype, dtype.type: dtype}
    return table


def _narrow_dtype(dtype: np.dtype) -> np.dtype:
    narrow = {"64": "32", "128": "64"}
    word, size = _split_name(dtype.name) if dtype in _kinds else ("", "")
    if size not in narrow or dtype.name == "complex64":
        return dtype
    return _named[word + narrow[size]]


def _split_name(name: str) -> tuple[str, str]:
    """The word and the rest: `float8_e5m2` is `float` and `8_e5m2`."""
    word = name.split("_")[0].rstrip("0123456789")
    return word, name[len(word) :]


_wide = _spellings()
_narrow = {key: _narrow_dtype(dtype) for key, dtype in _wide.items()}
_wide_scalars = {cls: (_wide[cls], cls is not bool) for cls in python_scalar_dtypes}
_narrow_scalars = {cls: (_narrow[cls], cls is not bool) for cls in python_scalar_dtypes}
_tables = {False: (_narrow_scalars, _narrow), True: (_wide_scalars, _wide)}


def supported_dtypes() -> tuple[np.dtype, ...]:
    """Every dtype of numbers and booleans, narrow before wide within a kind."""
    return tuple(_kinds)


def is_supported(dtype: Any) -> bool:
    """Whether arrays may have this dtype."""
    return isinstance(dtype, ExtendedDType) or dtype in _kinds or dtype == float0


def native(dtype: np.dtype) -> np.dtype:
    """The dtype in this machine's byte order."""
    return dtype if dtype.isnative else dtype.newbyteorder("=")


def couples_rows(dtype: Any) -> bool:
    """Whether what is computed of a row of an array may depend on other rows."""
    return isinstance(dtype, ExtendedDType) and dtype.couples_rows


def is_extended(dtype: Any) -> bool:
    """Whether the elements of this dtype are opaque."""
    return isinstance(dtype, ExtendedDType)


def kind(dtype: Any) -> str:
    """`b`, `u`, `i`, `f` or `c`, as NumPy's but true of ml_dtypes too; else `V`."""
    return _kinds.get(dtype, "V")


def as_dtype(dtype: Any) -> Any:
    """The dtype that a user's dtype, name, scalar class or Python type stands for."""
    if isinstance(dtype, (np.dtype, ExtendedDType)):
        return dtype
    return np.dtype(dtype)


# --- names and sizes ---


def _short(name: str) -> str:
    if name == "bool":
        return name
    word, digits = _split_name(name)
    return ("bf" if word == "bfloat" else word[0]) + digits


def _bits(name: str) -> int:
    return 8 if name == "bool" else int(_split_name(name)[1].split("_")[0])


_short_names: dict[Any, str] = {d: _short(name) for name, d in _named.items()}
_short_names[float0] = "float0"
_bit_sizes = {d: _bits(name) for name, d in _named.items()}


def short_name(dtype: Any) -> str:
    """The name in printed programs: `f32`, `i8`, `bf16`, `bool`, `key<fry>`."""
    return _short_names.get(dtype) or dtype.name


def long_name(dtype: Any) -> str:
    """The full name: `float32`, `bool`, `key<fry>`."""
    return "float0" if dtype == float0 else dtype.name


_extended: dict[str, ExtendedDType] = {}


def note_extended(dtype: ExtendedDType) -> None:
    """Makes an extended dtype known to `by_long_name`."""
    _extended[dtype.name] = dtype


def by_long_name(name: str) -> Any:
    """The dtype of a full name, as `long_name` returns it, independent of settings.

    Raises:
      LookupError: there is none.
    """
    if name == "float0":
        return float0
    dtype = _named.get(name) or _extended.get(name)
    if dtype is None:
        raise LookupError(f"dtype: must be one of {', '.join(_named)}, got {name!r}")
    return dtype


def itemsize_bits(dtype: DTypeLike) -> int:
    """Number of bits of one element.

    Args:
      dtype: a dtype of numbers or booleans, or what stands for one.

    Returns:
      The size in bits: 4 for `int4`, 8 for `bool`.

    Raises:
      ValueError: the dtype has no numbers (keys, `float0`, strings).

    Example:
      >>> from olympus import dtypes
      >>> dtypes.itemsize_bits("float4_e2m1fn")
      4
    """
    bits = _bit_sizes.get(as_dtype(dtype))
    if bits is None:
        raise ValueError(
            f"itemsize_bits: dtype must be of numbers or booleans, got {dtype}; "
            "the bytes of other dtypes are in dtype.itemsize"
        )
    return bits


# --- relations ---


def _scalar_class(x: Any) -> type:
    if isinstance(x, (np.dtype, ExtendedDType)):
        return x.type
    if isinstance(x, type) and issubclass(x, np.generic):
        return x
    return as_dtype(x).type


def issubdtype(a: DTypeLike, b: DTypeLike) -> bool:
    """Whether dtype `a` is, or belongs to the family, `b`.

    As `numpy.issubdtype`, and further: the small integers and floats belong to the
    families of NumPy, and keys to `prng_key` and `extended`.

    Args:
      a: a dtype, scalar class, family or name.
      b: the same.

    Returns:
      True where `a` equals `b` or belongs to it.

    Raises:
      TypeError: `a` or `b` does not stand for a dtype.

    Source:
      NumPy, `numpy.issubdtype`.

    Example:
      >>> import numpy as np
      >>> from olympus import dtypes
      >>> dtypes.issubdtype(dtypes.bfloat16, np.floating)
      True
    """
    try:
        return _cached_issubdtype(a, b)
    except TypeError:  # not hashable, or no dtype: without the cache it says which
        return _issubdtype(a, b)


def _issubdtype(a: Any, b: Any) -> bool:
    if isinstance(b, ExtendedDType):
        return a == b
    member, family = _scalar_class(a), _scalar_class(b)
    parent = _parents.get(member, member)
    return issubclass(member, family) or issubclass(parent, family)


_cached_issubdtype = caching.bounded_cache(4096, "issubdtype")(_issubdtype)


def scalar_type_of(x: object) -> type:
    """The Python type of one element of a value or dtype.

    Args:
      x: an array, a scalar, a dtype or what stands for one.

    Returns:
      `bool`, `int`, `float` or `complex`.

    Raises:
      TypeError: the elements are not numbers.

    Example:
      >>> from olympus import dtypes
      >>> dtypes.scalar_type_of("bfloat16")
      <class 'float'>
    """
    dtype = dtype_of(x)
    scalar_type = _python_types.get(kind(dtype))
    if scalar_type is None:
        raise TypeError(
            f"scalar_type_of: elements must be numbers or booleans, got {dtype}; no "
            "Python type holds such an element"
        )
    return scalar_type


def real_dtype(dtype: Any) -> Any:
    """The dtype of the real part of a complex dtype; any other dtype is itself."""
    if dtype == _named["complex64"]:
        return _named["float32"]
    return _named["float64"] if dtype == _named["complex128"] else dtype


def at_least_single(dtype: Any) -> Any:
    """float32 for floats of fewer bits; any other dtype is itself."""
    is_short = kind(dtype) == "f" and itemsize_bits(dtype) < 32
    return _named["float32"] if is_short else dtype


def complex_dtype(dtype: Any) -> Any:
    """The complex dtype that holds the real or complex numbers of `dtype`."""
    if kind(dtype) == "c":
        return dtype
    wide = to_inexact_dtype(dtype) == _named["float64"]
    return _named["complex128" if wide else "complex64"]


def to_inexact_dtype(dtype: Any) -> Any:
    """The float dtype that functions of reals give integers and booleans of `dtype`.

    64-bit integers become `float64`, narrower ones and booleans `float32`.
    """
    if kind(dtype) not in "bui":
        return dtype
    wide = _bit_sizes[dtype] == 64
    return canonicalize_dtype(_named["float64" if wide else "float32"])


def tangent_dtype(dtype: Any) -> Any:
    """The dtype of tangents: the same for floats and complex, else mostly `float0`."""
    if isinstance(dtype, ExtendedDType):
        return dtype.tangent_dtype
    return dtype if _kinds.get(dtype, "V") in "fc" else float0


# --- 64 bits ---


def canonicalize_dtype(
    dtype: DTypeLike | None, allow_extended_dtype: bool = False
) -> np.dtype[Any]:
    """The dtype of arrays for which `dtype` is requested.

    With `olympus_enable_x64` off, 64-bit dtypes narrow to 32 bits (`complex128` to
    `complex64`).

    Args:
      dtype: a dtype or what stands for one; None is the default float.
      allow_extended_dtype: whether dtypes of opaque elements pass.

    Returns:
      A `numpy.dtype`, or the extended dtype itself.

    Raises:
      TypeError: `dtype` does not stand for a dtype.
      ValueError: an extended dtype that was not allowed.

    Example:
      >>> from olympus import dtypes
      >>> dtypes.canonicalize_dtype(float)
      dtype('float32')
    """
    table = _wide if config.x64_enabled() else _narrow
    try:
        return table[dtype]
    except (KeyError, TypeError):
        return _canonicalize_unusual(dtype, table, allow_extended_dtype)


def _canonicalize_unusual(dtype: Any, table: dict, allow_extended: bool) -> Any:
    if not isinstance(dtype, ExtendedDType):
        dtype = np.dtype(dtype)
        return table.get(dtype, dtype)
    if allow_extended:
        return dtype
    raise ValueError(
        f"canonicalize_dtype: dtype must be of numbers, got {dtype}; pass "
        "allow_extended_dtype=True where keys may come"
    )


def check_user_dtype(dtype: Any, fun_name: str) -> Any:
    """The canonical form of a dtype a user requested; warns where it narrows.

    Python's own types and None request a default, so they narrow silently.

    Raises:
      TypeError: arrays cannot have this dtype.
    """
    if dtype is None or (isinstance(dtype, type) and dtype in python_scalar_dtypes):
        return canonicalize_dtype(dtype)
    requested = _concrete_dtype(dtype, fun_name)
    if isinstance(requested, ExtendedDType):
        return requested
    canonical = canonicalize_dtype(requested)
    if canonical != requested:
        user_warnings.warn(
            f"{fun_name}: dtype {requested} is not available while 64-bit values are "
            f"off, so {canonical} is used; ask for {canonical}, or turn 64-bit values "
            "on with the setting olympus_enable_x64 or the environment variable "
            "OLYMPUS_ENABLE_X64"
        )
    return canonical


_abstract_classes = frozenset(
    {
        np.generic,
        np.number,
        np.integer,
        np.signedinteger,
        np.unsignedinteger,
        np.inexact,
        np.floating,
        np.complexfloating,
        np.flexible,
        np.character,
        extended,
        prng_key,
    }
)


def _dtype_cure(dtype: Any) -> str:
    if type(dtype) is int:
        return f"sizes of several axes are one tuple, as in (2, {dtype})"
    if isinstance(dtype, str):
        near = [d.name for d in _kinds if sorted(d.name) == sorted(dtype)]
        # Not at the top, for what few programs need.
        matches = importlib.import_module("difflib").get_close_matches
        near = near or matches(dtype, [d.name for d in _kinds], 1)
        if near:
            return f"did you mean {near[0]!r}?"
    return "write for example 'float32'"


def _concrete_dtype(dtype: Any, fun_name: str) -> Any:
    if isinstance(dtype, type) and dtype in _abstract_classes:
        raise TypeError(
            f"{fun_name}: dtype must be concrete, got the family {dtype.__name__}; "
            "name one of its members"
        )
    try:
        concrete = as_dtype(dtype)
    except TypeError:
        raise TypeError(
            f"{fun_name}: dtype must be a dtype, a scalar class or a name, got "
            f"{dtype!r}; {_dtype_cure(dtype)}"
        ) from None
    if not is_supported(concrete):
        raise TypeError(
            f"{fun_name}: dtype must be of numbers, booleans or keys, in this "
            f"machine's byte order, got {concrete}; convert the values first"
        )
    return concrete


# --- dtypes of values ---


def has_numbers(dtype: Any) -> bool:
    """Whether values of a dtype are numbers or booleans, and not keys, or nothing."""
    return not isinstance(dtype, ExtendedDType) and dtype.itemsize > 0


def is_python_scalar(x: Any) -> bool:
    """Whether `x` is a Python number or boolean, so its dtype is weak."""
    return type(x) in python_scalar_dtypes or (
        isinstance(x, (int, float, complex)) and not isinstance(x, np.generic)
    )


def _scalar_base(cls: type) -> type:
    return next(base for base in cls.__mro__ if base in python_scalar_dtypes)


def dtype_and_weak(x: Any, fun_name: str = "result_type") -> tuple[Any, bool]:
    """The canonical dtype of a value, or of what stands for a dtype; and if it is weak.

    Raises:
      TypeError: `x` is neither.
    """
    scalars, table = _tables[config.x64_enabled()]
    pair = scalars.get(type(x))
    if pair is not None:
        return pair
    if x is None or isinstance(x, (type, np.dtype, ExtendedDType, str)):
        named = getattr(x, "dtype", None)
        if isinstance(named, np.dtype):
            # `numpy.float64` of this library narrows silently, as Python's float does.
            return canonicalize_dtype(named), False
        return check_user_dtype(x, fun_name), _is_weak_type(x)
    dtype = getattr(x, "dtype", None)
    if dtype is not None:
        weak = bool(getattr(x, "weak_type", False))
        canonical = table.get(dtype)
        if canonical is None:
            canonical = _concrete_dtype(dtype, fun_name)
        return canonical, weak and canonical != np.bool_  # which adapts to nothing
    if is_python_scalar(x):
        return scalars[_scalar_base(type(x))]
    if hasattr(x, "is_symbolic_dim"):
        return scalars[int]
    if array_protocol.is_array(x):
        return dtype_and_weak(array_protocol.array_of(x), fun_name)
    aval: Any = getattr(x, "aval", None)
    if getattr(aval, "is_high", False):
        raise TypeError(
            f"{fun_name}: an array is required, got a value of the high type "
            f"{aval.short()}; apply an operation that is defined for it (a HiPrim), "
            "which gives arrays"
        )
    raise TypeError(
        f"{fun_name}: arguments must be arrays, numbers or dtypes, got {x!r} of type "
        f"{type(x).__name__}; convert it with numpy.asarray"
    )


def _is_weak_type(x: Any) -> bool:
    return isinstance(x, type) and x in (int, float, complex)


def dtype_of(x: Any) -> Any:
    """The canonical dtype of a value, or of what stands for a dtype."""
    return dtype_and_weak(x, "dtype_of")[0]


# --- promotion ---

# The lattice as chains, each rising from left to right. A starred name is a weak dtype.
# Two dtypes promote to the lowest one that is above both.
_CHAINS = (
    "bool int* uint8 uint16 uint32 uint64 float* complex* complex64 complex128",
    "int* int8 int16 int32 int64 float*",
    "uint8 int16",
    "uint16 int32",
    "uint32 int64",
    "float* bfloat16 float32 float64 complex128",
    "float* float16 float32 complex64",
)
# Strict mode: weak dtypes give way within their kind, integers to floats, no more.
_STRICT_CHAIN = "int* float* complex*"
# Small dtypes meet no other: widening them unasked would hide a cost.
_TOPS = {
    "int*": [n for k in "ui" for n in _families[k] if _bits(n) < 8],
    "float*": _TINY_FLOATS.split(),
}
_WEAK_NAMES = {"u": "int*", "i": "int*", "f": "float*", "c": "complex*"}
_weak_dtypes = {
    "int*": _named["int64"],
    "float*": _named["float64"],
    "complex*": _named["complex128"],
}


class _Lattice:
    """An order given by its edges; each name's upper set is a bit mask."""

    def __init__(self, edges: list[tuple[str, str]]) -> None:
        self._bit = {name: 1 << i for i, name in enumerate([*_named, *_weak_dtypes])}
        above: dict[str, list[str]] = {name: [] for name in self._bit}
        for low, high in edges:
            above[low].append(high)
        self._upper = {name: self._close(name, above) for name in self._bit}
        self._least = {mask: name for name, mask in self._upper.items()}

    def _close(self, name: str, above: dict[str, list[str]]) -> int:
        mask = self._bit[name]
        for high in above[name]:
            mask |= self._close(high, above)
        return mask

    def join(self, names: set[str]) -> str | None:
        """The join of these names, where there is one."""
        common = -1
        for name in names:
            common &= self._upper[name]
        return self._least.get(common)


def _standard_edges() -> list[tuple[str, str]]:
    chains = [chain.split() for chain in _CHAINS]
    edges = [pair for chain in chains for pair in pairwise(chain)]
    return edges + [(low, top) for low, tops in _TOPS.items() for top in tops]


def _strict_edges() -> list[tuple[str, str]]:
    within = [(_WEAK_NAMES[_kinds[d]], n) for n, d in _named.items() if n != "bool"]
    return [*pairwise(_STRICT_CHAIN.split()), *within]


_lattices = {
    "standard": _Lattice(_standard_edges()),
    "strict": _Lattice(_strict_edges()),
}


def _node(dtype: np.dtype, weak: bool) -> str:
    """The lattice's name of a dtype."""
    family = _kinds.get(dtype)
    if family is None:
        raise errors.TypePromotionError(
            f"promote: dtypes must be of numbers or booleans, got {long_name(dtype)}, "
            "which can only be combined with itself"
        )
    return _WEAK_NAMES[family] if weak and family != "b" else dtype.name


def _refusal(names: set[str], mode: str) -> errors.TypePromotionError:
    dtype_names = " and ".join(
        f"{name[:-1]} (Python scalar)" if name.endswith("*") else name
        for name in sorted(names)
    )
    cure = "cast them to one dtype, for example with x.astype('float32')"
    if mode == "strict":
        return errors.TypePromotionError(
            f"promote: dtypes must agree while olympus_numpy_dtype_promotion is "
            f"'strict', got {dtype_names}; {cure}, or set it to 'standard'"
        )
    return errors.TypePromotionError(
        f"promote: dtypes must have a common one, got {dtype_names}; integers under 8 "
        f"bits and floats of 8 bits or fewer are never widened implicitly, so {cure}"
    )


def _join(mode: str, typed: tuple[tuple[Any, bool], ...]) -> tuple[Any, bool]:
    """Join (dtype, weak) pairs; 64-bit results are left as they are."""
    dtypes = {dtype for dtype, _ in typed}
    all_weak = all(weak for _, weak in typed)
    if len(dtypes) == 1:
        (dtype,) = dtypes
        return dtype, all_weak and kind(dtype) != "b"
    # Where all are weak their strong forms decide, so that a weak int16 and a weak
    # int32 give a weak int32 and not the default integer.
    names = {_node(dtype, weak and not all_weak) for dtype, weak in typed}
    name = _lattices[mode].join(names)
    if name is None and all_weak:
        names = {_node(dtype, True) for dtype, _ in typed}
        name = _lattices[mode].join(names)
    if name is None:
        raise _refusal(names, mode)
    if name in _weak_dtypes:
        return _weak_dtypes[name], True
    return _named[name], all_weak and name != "bool"


@caching.bounded_cache(4096, "dtype promotion")
def _cached_join(
    mode: str, x64: bool, typed: tuple[tuple[Any, bool], ...]
) -> tuple[Any, bool]:
    dtype, weak = _join(mode, typed)
    return (dtype if x64 else _narrow.get(dtype, dtype)), weak


def lattice_result(*typed: tuple[Any, bool]) -> tuple[Any, bool]:
    """Join canonical (dtype, weak) pairs into one: what operations promote by.

    Raises:
      TypePromotionError: the arguments have no common dtype.
    """
    first = typed[0]
    if len(typed) == 1 or (len(typed) == 2 and first == typed[1]):
        return first
    mode = config.numpy_dtype_promotion.value
    return _cached_join(mode, config.x64_enabled(), typed)


def standard_result(*typed: tuple[Any, bool]) -> tuple[Any, bool]:
    """As `lattice_result`, whatever the setting: for arguments that differ by their
    meaning, such as counts and probabilities.
    """
    return _cached_join("standard", config.x64_enabled(), typed)


def promote_types(a: DTypeLike, b: DTypeLike) -> np.dtype[Any]:
    """The dtype that dtypes `a` and `b` promote to.

    Differs from NumPy: integers with floats give the float's dtype, so int32 with
    float32 gives float32.

    Args:
      a: a dtype or what stands for one; `int`, `float` and `complex` are weak.
      b: the same.

    Returns:
      The dtype. Without `olympus_enable_x64` it has 64 bits only if one of the two has:
      uint32 and int32 give int32 then, and int64 with it.

    Raises:
      TypePromotionError: the two have no common dtype.

    Example:
      >>> from olympus._src.core import dtypes
      >>> dtypes.promote_types("bfloat16", "float16")
      dtype('float32')
    """
    pairs = tuple(
        (_concrete_dtype(x, "promote_types"), _is_weak_type(x)) for x in (a, b)
    )
    joined: np.dtype[Any]
    joined, _ = _cached_join(config.numpy_dtype_promotion.value, True, pairs)
    if config.x64_enabled() or any(dtype == joined for dtype, _ in pairs):
        return joined
    return canonicalize_dtype(joined) if joined == np.int64 else joined


@overload
def result_type(
    *args: ArrayLike | DTypeLike, return_weak_type_flag: Literal[False] = ...
) -> np.dtype[Any]: ...
@overload
def result_type(
    *args: ArrayLike | DTypeLike, return_weak_type_flag: bool
) -> np.dtype[Any] | tuple[np.dtype[Any], bool]: ...
def result_type(
    *args: ArrayLike | DTypeLike, return_weak_type_flag: bool = False
) -> np.dtype[Any] | tuple[np.dtype[Any], bool]:
    """The dtype that these arguments promote to.

    Args:
      *args: arrays, numbers, dtypes or what stands for one.
      return_weak_type_flag: whether to return also if the dtype is weak.

    Returns:
      The dtype, or the pair (dtype, weak).

    Raises:
      ValueError: there is no argument.
      TypeError: an argument has no dtype.
      TypePromotionError: the arguments have no common dtype.

    Source:
      NumPy, `numpy.result_type`, with a different lattice.

    Example:
      >>> import numpy as np
      >>> from olympus import dtypes
      >>> dtypes.result_type(np.ones(3, np.float16), 2.0)
      dtype('float16')
    """
    if not args:
        raise ValueError(
            "result_type: at least one array or dtype is required, got none; pass "
            "the operands"
        )
    dtype, weak = lattice_result(*[dtype_and_weak(x) for x in args])
    # A weak result has the widest dtype of its kind, whatever its size.
    if weak and kind(dtype) != "b":
        dtype = canonicalize_dtype(_widest_names[kind(dtype)])
    return (dtype, weak) if return_weak_type_flag else dtype
