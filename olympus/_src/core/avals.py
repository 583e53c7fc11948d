"""Abstract values: what is known about a value while a program is traced.

Avals are interned: two equal avals are one object, so that they compare and hash by
identity, and a cache keyed by avals costs one pointer comparison for each.
"""

from __future__ import annotations

import collections
import operator
import threading
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np

from olympus._src.core import dtypes, explicit_shardings, sizes
from olympus._src.foundation import array_protocol, caching, config, errors
from olympus._src.sharding import contexts
from olympus._src.sharding.manual_types import ManualAxisType
from olympus._src.sharding.memory_spaces import Space
from olympus._src.sharding.named import NamedSharding
from olympus._src.sharding.specs import PartitionSpec


class AbstractValue:
    """The type of a value of a program."""

    __slots__ = ()
    # Whether it is a user's own, which programs are lowered without.
    is_high = False

    def short(self) -> str:
        """The printed type, as in `f32[3]`."""
        raise NotImplementedError

    def to_tangent(self) -> AbstractValue:
        """The type of tangents of values of this type."""
        raise NotImplementedError

    def strip_weak_type(self) -> AbstractValue:
        """The same type without weakness."""
        return self

    # The words of libraries written for JAX.

    def to_tangent_aval(self) -> AbstractValue:
        """The same as `to_tangent`."""
        return self.to_tangent()

    def at_least_vspace(self) -> AbstractValue:
        """The type of sums of tangents: that of the tangents."""
        return self.to_tangent()

    def str_short(self, short_dtypes: bool = False, **_: Any) -> str:
        """The printed type, as in `float32[3]`; in short, as in `f32[3]`."""
        return self.short() if short_dtypes else self.str_long()

    def str_long(self) -> str:
        """The printed type with the dtype's whole name."""
        return self.short()

    # Values of high types are some of other types; those of others are themselves.

    def lo_ty(self) -> list[Any]:
        """The types that stand for this one in compiled programs."""
        return [self]

    def lower_val(self, val: Any, /) -> list[Any]:
        """The values that stand for one of this type."""
        return [val]

    def raise_val(self, *vals: Any) -> Any:
        """The value that others stand for."""
        (val,) = vals
        return val


_OTHER_FIELDS = frozenset(
    ("vma", "sharding", "manual_axis_type", "memory_space", "layout")
)


class ShapedArray(AbstractValue):
    """An array of known shape and dtype.

    Args:
      shape: sizes of the axes.
      dtype: element type.
      weak_type: the dtype comes from a Python scalar and adapts in promotion.
      vma: the manual axes of a mesh along which devices may hold different values.
      sharding: a `NamedSharding`, of which the explicit axes of its mesh are kept.
      manual_axis_type: a `sharding.ManualAxisType`, in place of `vma`; what is reduced
        and unreduced is said by the sharding's spec.
      memory_space, layout: None, or `Space.Device` or `Space.Any`: types say neither
        in which memory an array is nor in which order.

    Attributes:
      explicit: how explicit axes of a mesh divide the array; None where they do not.

    Example:
      >>> from olympus.core import ShapedArray
      >>> ShapedArray((3,), "float32")
      ShapedArray(float32[3])
    """

    __slots__ = (
        "__weakref__",
        "_mlir",
        "_short",
        "_tangent",
        "dtype",
        "explicit",
        "ndim",
        "shape",
        "size",
        "vma",
        "weak_type",
    )
    shape: tuple[int, ...]
    dtype: Any
    weak_type: bool
    vma: frozenset[Any]
    explicit: NamedSharding | None
    ndim: int
    size: int
    # Made when first requested.
    _short: str | None
    _mlir: str | None
    _tangent: ShapedArray | None

    def __new__(
        cls,
        shape: Any,
        dtype: Any,
        weak_type: bool = False,
        vma: frozenset[Any] | None = None,
        sharding: NamedSharding | None = None,
        *,
        manual_axis_type: ManualAxisType | None = None,
        memory_space: Space | None = None,
        layout: None = None,
    ) -> ShapedArray:
        if manual_axis_type is not None:
            vma = varying_axes("ShapedArray", manual_axis_type)
        if memory_space is not None or layout is not None:
            refuse_placement("ShapedArray", memory_space, layout)
        key: Any = (shape, dtype, weak_type)
        if vma:
            key = (*key, vma)
        if sharding is not None:
            return _intern_divided(shape, dtype, weak_type, vma, sharding)
        try:
            aval = _interned.get(key)
        except TypeError:
            aval = None
        if aval is not None:
            return aval
        return _intern(tuple(shape), _as_dtype(dtype), bool(weak_type), vma or _NOWHERE)

    def __reduce__(self) -> Any:
        fields = (self.shape, self.dtype, self.weak_type, self.vma, self.explicit)
        return ShapedArray, fields

    def __copy__(self) -> ShapedArray:
        return self

    def __deepcopy__(self, memo: Any) -> ShapedArray:
        return self

    def update(
        self,
        shape: Any = None,
        dtype: Any = None,
        weak_type: bool | None = None,
        **others: Any,
    ) -> ShapedArray:
        """This aval with other fields, where they are not None.

        One of another shape is not divided, unless a sharding is given.
        """
        if not _OTHER_FIELDS.issuperset(others):
            unknown = min(set(others) - _OTHER_FIELDS)
            raise TypeError(
                f"ShapedArray.update: there is no field {unknown!r}; the fields are "
                f"shape, dtype, weak_type, {', '.join(sorted(_OTHER_FIELDS))}"
            )
        others.setdefault("vma", self.vma)
        if shape is None:
            others.setdefault("sharding", self.explicit)
        return ShapedArray(
            self.shape if shape is None else shape,
            self.dtype if dtype is None else dtype,
            self.weak_type if weak_type is None else weak_type,
            **others,
        )

    @property
    def sharding(self) -> NamedSharding:
        """How explicit axes divide the array; over the current mesh if they do not."""
        if self.explicit is not None:
            return self.explicit
        mesh = contexts.get_abstract_mesh()
        return NamedSharding(mesh, PartitionSpec(*[None] * self.ndim))

    @property
    def manual_axis_type(self) -> ManualAxisType:
        """What is known along the manual axes of a mesh."""
        if self.explicit is None:
            return ManualAxisType(varying=self.vma)
        spec, manual = self.explicit.spec, set(self.explicit.mesh.manual_axes)
        return ManualAxisType(
            varying=self.vma,
            unreduced=spec.unreduced & manual,
            reduced=spec.reduced & manual,
        )

    def short(self) -> str:
        text = self._short
        if text is None:
            text = f"{dtypes.short_name(self.dtype)}{self._sizes()}"
            self._short = text
        return text

    def str_long(self) -> str:
        """The type with the dtype's full name, as in `int32[3]`."""
        return f"{dtypes.long_name(self.dtype)}{self._sizes()}"

    def _sizes(self) -> str:
        """The sizes and how mesh axes divide them, as in `[8@x,4]{V:y}`."""
        if self.explicit is None and not self.vma:
            return f"[{','.join(map(str, self.shape))}]"
        return explicit_shardings.sizes_text(self.shape, self.explicit, self.vma)

    def __str__(self) -> str:
        """What an equation would show: `~` before a weak type, as in `~float32[]`."""
        return f"{'~' if self.weak_type else ''}{self.str_long()}"

    def __repr__(self) -> str:
        weak = ", weak_type=True" if self.weak_type else ""
        return f"ShapedArray({self.str_long()}{weak})"

    @property
    def storage(self) -> ShapedArray:
        """The type of the buffer: its own, or that of the words of opaque elements.

        float0, whose elements hold no information, is stored as bool.
        """
        dtype = self.dtype
        if not isinstance(dtype, dtypes.ExtendedDType):
            if dtype.kind == "V" and dtype == dtypes.float0:
                return ShapedArray(self.shape, np.dtype(np.bool_))
            return self
        words_shape, word = dtype.physical
        return ShapedArray(self.shape + words_shape, word)

    def strip_weak_type(self) -> ShapedArray:
        if not self.weak_type:
            return self
        return ShapedArray(self.shape, self.dtype, False, self.vma, self.explicit)

    def to_tangent(self) -> ShapedArray:
        tangent_aval = self._tangent
        if tangent_aval is None:
            dtype = dtypes.tangent_dtype(self.dtype)
            tangent_aval = self._tangent = (
                self if dtype == self.dtype else self.update(dtype=dtype)
            )
        return tangent_aval

    def to_cotangent(self) -> ShapedArray:
        """The type of cotangents: what is reduced in one is unreduced in the other."""
        tangent_aval = self.to_tangent()
        explicit = tangent_aval.explicit
        if explicit is None:
            return tangent_aval
        dual = explicit_shardings.swap_roles(explicit)
        return tangent_aval.update(sharding=dual)

    def with_leading_axis(self, size: int) -> ShapedArray:
        """The aval of a stack of `size` such arrays."""
        return self.with_axis(0, size)

    def with_axis(self, position: int, size: int, entry: Any = None) -> ShapedArray:
        """The aval with one more axis, which the mesh axes of an entry divide."""
        shape = (*self.shape[:position], size, *self.shape[position:])
        sharding = explicit_shardings.insert_entry(self.explicit, position, entry)
        return self.update(shape=shape, sharding=sharding)

    def without_axis(self, position: int) -> ShapedArray:
        """The aval of the parts along an axis."""
        shape = self.shape[:position] + self.shape[position + 1 :]
        sharding = explicit_shardings.delete_entry(self.explicit, position)
        return self.update(shape=shape, sharding=sharding)

    # The words of high types, in whose rules types of arrays occur too.

    def to_ct_aval(self) -> ShapedArray:
        """The same as `to_cotangent`."""
        return self.to_cotangent()

    def inc_rank(self, size: int | None, spec: int | None) -> ShapedArray:
        """The type of `size` such arrays along a new axis, at the position `spec`."""
        if spec is None or size is None:
            return self
        return self.with_axis(spec % (self.ndim + 1), size)

    def dec_rank(self, size: int | None, spec: int | None) -> ShapedArray:
        """The type of the `size` parts along the axis `spec`."""
        del size
        return self if spec is None else self.without_axis(spec % self.ndim)

    def leading_axis_spec(self) -> int:
        """Rows of arrays are along axis 0."""
        return 0

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("len() of unsized object")
        return self.shape[0]


_NOWHERE: frozenset[Any] = frozenset()


def varying_axes(what: str, kind: Any) -> frozenset[Any]:
    """The varying axes of a type of manual axes, which must have no others."""
    if not isinstance(kind, ManualAxisType):
        raise TypeError(
            f"{what}: manual_axis_type must be a sharding.ManualAxisType, got "
            f"{kind!r}; write ManualAxisType(varying={{'x'}})"
        )
    if kind.unreduced or kind.reduced:
        raise NotImplementedError(
            f"{what}: manual_axis_type must have varying axes only, got "
            f"{kind}; pass sharding=NamedSharding(mesh, P(unreduced=..., reduced=...))"
        )
    return kind.varying


def refuse_placement(what: str, memory_space: Any, layout: Any = None) -> None:
    if memory_space not in (None, Space.Device, Space.Any):
        raise NotImplementedError(
            f"{what}: memory_space must be Space.Device, got {memory_space!r}: "
            "types do not say in which memory an array is; place it by "
            "device_put(x, Space.Host)"
        )
    if layout is not None:
        raise NotImplementedError(
            f"{what}: layout must be None, got {layout!r}: types do not say in "
            "which order an array is; use experimental.layout.with_layout_constraint"
        )


def _intern_divided(
    shape: Any, dtype: Any, weak_type: bool, vma: Any, sharding: NamedSharding
) -> ShapedArray:
    """The aval of an array that axes of a mesh divide."""
    shape = tuple(shape)
    explicit = explicit_shardings.canonicalize(sharding, len(shape))
    if explicit is None:
        return ShapedArray(shape, dtype, weak_type, vma)
    key = (shape, dtype, weak_type, vma or _NOWHERE, explicit)
    aval = _interned.get(key)
    if aval is None:
        explicit_shardings.check_sizes(explicit, shape)
        aval = _intern(
            shape, _as_dtype(dtype), bool(weak_type), vma or _NOWHERE, explicit
        )
    return aval


# Weak values: an unused aval is dropped; a lock makes the two steps of interning one.
_interned: weakref.WeakValueDictionary[Any, ShapedArray] = weakref.WeakValueDictionary()
_lock = threading.Lock()
# The last ones stay: making one again takes as long as an operation on its arrays.
_recent: collections.deque[ShapedArray] = collections.deque(maxlen=1024)
caching.register(_recent.clear, "types of arrays")


def _as_dtype(dtype: Any) -> Any:
    dtype = dtypes.as_dtype(dtype)
    if not dtypes.is_supported(dtype):
        raise TypeError(
            f"dtype {dtype} is not a valid olympus array type: arrays hold numbers and "
            f"booleans in this machine's byte order; {_remedy(dtype)}"
        )
    return dtype


def _remedy(dtype: np.dtype) -> str:
    if not dtype.isnative and dtypes.is_supported(dtypes.native(dtype)):
        return f"convert the values with x.astype({dtype.name!r})"
    if dtype.kind in "fc":
        return "convert the values with x.astype('float64') or x.astype('complex128')"
    return "keep other values outside, or convert them to numbers"


def _intern(
    shape: tuple[int, ...],
    dtype: Any,
    weak_type: bool,
    vma: frozenset[Any],
    explicit: NamedSharding | None = None,
) -> ShapedArray:
    shape = tuple([d if type(d) is int else _size(d) for d in shape])
    key: Any = (shape, dtype, weak_type, vma) if vma else (shape, dtype, weak_type)
    if explicit is not None:
        key = (shape, dtype, weak_type, vma, explicit)
    with _lock:
        aval = _interned.get(key)
        if aval is None:
            aval = object.__new__(ShapedArray)
            aval.shape, aval.dtype, aval.weak_type = shape, dtype, weak_type
            aval.vma = vma
            aval.explicit = explicit
            if explicit is not None:
                _State.divided = True
            aval.ndim = len(shape)
            aval.size = sizes.product(shape)
            aval._short = aval._mlir = aval._tangent = None
            _interned[key] = aval
            if explicit is None and type(aval.size) is int:  # no mesh or symbol stays
                _recent.append(aval)
        return aval


def _size(d: Any) -> Any:
    if hasattr(d, "is_symbolic_dim"):
        return d
    return d.__index__() if hasattr(d, "__index__") else d


class AbstractToken(AbstractValue):
    """The type of tokens, which order effects."""

    __slots__ = ()

    def short(self) -> str:
        return "Tok"

    def to_tangent(self) -> AbstractToken:
        return self

    __repr__ = short


# -- which aval a Python value has -------------------------------------------------

_aval_rules: dict[type, Callable[[Any], AbstractValue]] = {}


def register_aval(kind: type, rule: Callable[[Any], AbstractValue]) -> None:
    """Says what the aval of values of type `kind` is (a late-binding hook)."""
    _typed.discard(kind)
    _aval_rules[kind] = rule


def register_typed(kind: type) -> None:
    """Says that values of type `kind` have their aval as an attribute `aval`."""
    _aval_rules[kind] = operator.attrgetter("aval")
    _typed.add(kind)


def aval_rules() -> dict[type, Callable[[Any], AbstractValue]]:
    """What `register_aval` noted, and what was found by it since."""
    return dict(_aval_rules)


def forget_aval(kind: type) -> None:
    """Takes back what `register_aval` said of a type."""
    del _aval_rules[kind]
    _typed.discard(kind)


def aval_of(x: Any) -> Any:
    """The aval of an array, tracer, NumPy value or Python scalar.

    Raises:
      TypeError: `x` is none of those.
    """
    kind = type(x)
    if kind in _typed:
        return x.aval
    rule = _aval_rules.get(kind)
    if rule is not None:
        return rule(x)
    try:
        aval = x.aval
    except AttributeError:
        return _inherited_rule(x)(x)
    if not isinstance(aval, AbstractValue):  # JAX's, which refuses what it traces
        return numpy_aval(np.asarray(x))
    _typed.add(kind)  # found at once the next time
    return aval


# Types of values that have an `aval` of olympus: arrays, refs and tracers.
_typed: set[type[Any]] = set()


class _State:
    divided = False


def are_divided() -> bool:
    """Whether there has been a type that explicit axes of a mesh divide."""
    return _State.divided


def count_bytes(aval: Any) -> Any:
    """The bytes that values of a type have: of a high type, its arrays."""
    if aval.is_high:
        return sum(map(count_bytes, aval.lo_ty()))
    if hasattr(aval, "inner_aval"):  # a ref among the arrays of a high type
        aval = aval.inner_aval
    aval = aval.storage
    return aval.size * aval.dtype.itemsize


def is_float0(aval: Any) -> bool:
    """Whether values of a type hold nothing, as tangents of integers."""
    return getattr(aval, "dtype", None) == dtypes.float0


def is_array_like(x: Any) -> bool:
    """True for what `aval_of` accepts."""
    if type(x) in _aval_rules or hasattr(x, "aval"):
        return True
    if any(base in _aval_rules for base in type(x).__mro__):
        return True
    return array_protocol.is_array(x)


def _inherited_rule(x: Any) -> Callable[[Any], AbstractValue]:
    for base in type(x).__mro__:
        rule = _aval_rules.get(base)
        if rule is not None:
            if base is np.generic and dtypes.is_supported(x.dtype):
                rule = _numpy_scalar_rule(x.dtype)
            elif base is np.ndarray and is_masked(x):
                rule = _refuse_masked
            _aval_rules[type(x)] = rule  # found at once the next time
            return rule
    if array_protocol.is_array(x):
        return lambda x: aval_of(array_protocol.array_of(x))
    raise TypeError(
        f"value {x!r} of type {type(x)} is not a valid olympus type; arrays, NumPy "
        "arrays and scalars, and Python numbers are"
    )


# Types of NumPy arrays that were met, with 64 bits and without.
_MAX_NUMPY_AVALS = 4096
_wide_avals: dict[Any, ShapedArray] = {}
_narrow_avals: dict[Any, ShapedArray] = {}
caching.register(_wide_avals.clear, "types of NumPy arrays")
caching.register(_narrow_avals.clear, "types of NumPy arrays")


def numpy_aval(x: Any) -> ShapedArray:
    table = _wide_avals if config.x64_enabled() else _narrow_avals
    key = (x.dtype, x.shape)
    aval = table.get(key)
    if aval is None:
        # A dtype that arrays cannot have is refused where the aval is made.
        aval = ShapedArray(x.shape, dtypes.canonicalize_dtype(x.dtype))
        if len(table) >= _MAX_NUMPY_AVALS:
            table.clear()
        table[key] = aval
    return aval


def narrow_numpy(x: Any) -> Any:
    """A NumPy value in the dtype that its array has; any other value as it is.

    Raises:
      TypeError: `x` is not array-like.
    """
    aval = aval_of(x)
    if isinstance(x, (np.ndarray, np.generic)) and x.dtype != aval.dtype:
        return x.astype(aval.dtype)
    return x


def is_masked(x: Any) -> bool:
    """Whether `x` is one of NumPy's masked arrays."""
    # By what they have: `numpy.ma` is loaded only for those who use it.
    return isinstance(x, np.ndarray) and hasattr(type(x), "mask")


def check_not_masked(x: Any) -> None:
    """Refuses NumPy's masked arrays, whose mask would be lost silently.

    Raises:
      ValueError: `x` is one.
    """
    if is_masked(x):
        raise ValueError(
            "numpy masked arrays are not supported as values of olympus, got one of "
            f"shape {x.shape} and dtype {x.dtype}: arrays have no mask; pass "
            "x.filled(value), and x.mask too where it is needed"
        )


def _refuse_masked(x: Any) -> ShapedArray:
    check_not_masked(x)
    raise errors.InternalError(f"{type(x)} lost its mask")


def _numpy_scalar_rule(dtype: Any) -> Callable[[Any], ShapedArray]:
    """The rule for scalars of one NumPy type, which all have one aval."""
    with config.enable_x64(False):
        narrow = ShapedArray((), dtypes.canonicalize_dtype(dtype))
    wide = ShapedArray((), dtype)
    if narrow is wide:
        return lambda x: narrow
    return lambda x: wide if config.x64_enabled() else narrow


def check_range(x: int, dtype: Any) -> None:
    """Raises OverflowError where a Python integer does not fit an integer dtype."""
    info = np.iinfo(dtype)
    if not info.min <= x <= info.max:
        wider = (
            ""
            if dtype.itemsize == 8
            else "enable 64-bit integers with "
            "olympus.config.update('olympus_enable_x64', True), or "
        )
        raise OverflowError(
            f"Python int {x} too large to convert to {dtype}; {wider}use a float"
        )


def _int_aval(x: int) -> ShapedArray:
    """The aval of a Python integer, which must fit the default integer dtype."""
    if config.x64_enabled():
        if -0x8000000000000000 <= x <= 0x7FFFFFFFFFFFFFFF:
            return _WIDE_INT
        check_range(x, _WIDE_INT.dtype)
    if not -0x80000000 <= x <= 0x7FFFFFFF:
        check_range(x, _NARROW_INT.dtype)
    return _NARROW_INT


_WIDE_INT = ShapedArray((), dtypes.python_scalar_dtypes[int], True)
_NARROW_INT = ShapedArray((), np.dtype(np.int32), True)


def _scalar_aval(kind: type, weak: bool) -> Callable[[Any], ShapedArray]:
    wide = ShapedArray((), dtypes.python_scalar_dtypes[kind], weak)
    narrow_dtype = {"f": np.float32, "c": np.complex64, "b": np.bool_}
    narrow = ShapedArray((), narrow_dtype[wide.dtype.kind], weak)
    return lambda x: wide if config.x64_enabled() else narrow


register_aval(bool, _scalar_aval(bool, False))
register_aval(int, _int_aval)
register_aval(float, _scalar_aval(float, True))
register_aval(complex, _scalar_aval(complex, True))
register_aval(np.ndarray, numpy_aval)
register_aval(np.generic, numpy_aval)
