"""Operators and methods of arrays, concrete and traced (a late-binding hook).

Importing this file installs them; the public module `olympus.numpy` does.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from olympus._src.core import array_type, avals, dtypes, scalar_types, trace
from olympus._src.foundation import (
    array_protocol,
    lazy_names,
    source_info,
    vocabulary,
)
from olympus._src.interpreters import direct_calls
from olympus._src.lax import elementwise, shaping, stacking
from olympus._src.numpy import (
    arg_extremes,
    arithmetic,
    at,
    contractions,
    creation,
    cumulative_sums,
    index_routines,
    indexing,
    logic,
    manipulation,
    namespace,
    reductions,
    row_iteration,
    searching,
    selection,
    sorting,
)
from olympus._src.runtime import versions
from olympus._src.runtime.array import ArrayImpl, install
from olympus._src.sharding.layouts import Format, Layout

Tracer = trace.Tracer
aval_of = avals.aval_of

# -- operators -------------------------------------------------------------------------

# Other classes that hold arrays take over by their own reflected operators.
_KNOWN = frozenset((ArrayImpl, int, float, complex, bool, versions.JaxlibArray))


def _accepts(other: Any) -> bool:
    if isinstance(other, (Tracer, np.ndarray, np.generic, int, float, complex)):
        return True
    return type(other) in _KNOWN or array_protocol.is_array(other)


_CONTAINERS = frozenset((list, tuple, set, dict))


def _defer(sign: str, left: Any, right: Any) -> Any:
    """Another class has its turn; Python's containers are refused in Python's words,
    before they repeat, concatenate or merely differ, and None for its cure.
    """
    if (left is None or right is None) and sign not in ("==", "!="):
        texts = ["None" if x is None else aval_of(x).short() for x in (left, right)]
        raise TypeError(
            f"unsupported operand type(s) for {sign}: {texts[0]} and {texts[1]}; give "
            "an array in place of None, or test for it with `is None`"
        )
    if type(left) in _CONTAINERS or type(right) in _CONTAINERS:
        raise TypeError(
            f"unsupported operand type(s) for {sign}: {type(left).__name__!r} and "
            f"{type(right).__name__!r}; convert it with numpy.asarray"
        )
    return NotImplemented


def _binary(sign: str, fun: Callable[[Any, Any], Any]) -> Any:
    def operate(self: Any, other: Any) -> Any:
        if type(other) in _KNOWN or _accepts(other):
            return fun(self, other)
        return _defer(sign, self, other)

    return operate


def _define_reflected(sign: str, fun: Callable[[Any, Any], Any]) -> Any:
    def operate(self: Any, other: Any) -> Any:
        if type(other) in _KNOWN or _accepts(other):
            return fun(other, self)
        return _defer(sign, other, self)

    return operate


def _pow(self: Any, other: Any, modulus: None = None) -> Any:
    if modulus is not None:
        raise TypeError("numpy.power: pow with a modulus is not defined for arrays")
    if not _accepts(other):
        return _defer("**", self, other)
    return arithmetic.power(self, other)


_BINARY = {
    "add": ("+", arithmetic.add),
    "sub": ("-", arithmetic.subtract),
    "mul": ("*", arithmetic.multiply),
    "truediv": ("/", arithmetic.true_divide),
    "floordiv": ("//", arithmetic.floor_divide),
    "mod": ("%", arithmetic.remainder),
    "divmod": ("divmod()", arithmetic.divmod),
    "matmul": ("@", contractions.matmul),
    "and": ("&", logic.bitwise_and),
    "or": ("|", logic.bitwise_or),
    "xor": ("^", logic.bitwise_xor),
    "lshift": ("<<", logic.left_shift),
    "rshift": (">>", logic.right_shift),
}
_COMPARISONS = {
    "eq": ("==", logic.equal),
    "ne": ("!=", logic.not_equal),
    "lt": ("<", logic.less),
    "le": ("<=", logic.less_equal),
    "gt": (">", logic.greater),
    "ge": (">=", logic.greater_equal),
}


def _round(self: Any, ndigits: int | None = None) -> Any:
    out = arithmetic.round(self, 0 if ndigits is None else ndigits)
    return creation.astype(out, int) if ndigits is None else out


def _operators() -> dict[str, Any]:
    table: dict[str, Any] = {}
    for name, (sign, fun) in _BINARY.items():
        table[f"__{name}__"] = _binary(sign, fun)
        table[f"__r{name}__"] = _define_reflected(sign, fun)
    for name, (sign, fun) in _COMPARISONS.items():
        table[f"__{name}__"] = _binary(sign, fun)
    table["__pow__"] = _pow
    table["__rpow__"] = _define_reflected("**", arithmetic.power)
    table["__neg__"] = lambda self: arithmetic.negative(self)
    table["__pos__"] = lambda self: arithmetic.positive(self)
    table["__abs__"] = lambda self: arithmetic.absolute(self)
    table["__invert__"] = lambda self: logic.invert(self)
    table["__round__"] = _round
    table["__getitem__"] = indexing.getitem
    return table


# -- methods ---------------------------------------------------------------------------


def _reshape(
    self: Any, *args: Any, order: str = "C", copy: Any = None, out_sharding: Any = None
) -> Any:
    """The elements in another shape: one tuple, or the sizes; see `numpy.reshape`."""
    shape = args[0] if len(args) == 1 else args
    return manipulation.reshape(
        self, shape, order, copy=copy, out_sharding=out_sharding
    )


def _transpose(self: Any, *args: Any) -> Any:
    """The axes in another order: one tuple, or the axes; see `numpy.transpose`."""
    if not args or args == (None,):
        return manipulation.transpose(self)
    axes = args[0] if len(args) == 1 and not isinstance(args[0], int) else args
    return manipulation.transpose(self, axes)


def _astype(
    self: Any, dtype: Any = None, copy: bool = False, device: Any = None
) -> Any:
    """The array in another dtype; see `numpy.astype`."""
    return creation.astype(self, dtype, copy=copy, device=device)


def _flatten(self: Any, order: str = "C", *, out_sharding: Any = None) -> Any:
    """The elements along one axis; see `numpy.ravel`."""
    return manipulation.ravel(self, order, out_sharding=out_sharding)


def _view_of_parts(x: Any, kind: Any) -> Any:
    """Complex numbers as the pairs of floats that they are, read as another dtype."""
    shape = aval_of(x).shape
    pairs = stacking.stack([elementwise.real(x), elementwise.imag(x)], len(shape))
    if dtypes.itemsize_bits(aval_of(x).dtype) == dtypes.itemsize_bits(kind):
        return shaping.bitcast_convert_type(pairs, kind)
    if not shape:
        raise ValueError(
            "Array.view: a scalar has no axis for elements of another size, got "
            f"{aval_of(x).dtype} to {kind}; reshape it to one axis first"
        )
    return _view(manipulation.reshape(pairs, (*shape[:-1], 2 * shape[-1])), kind)


def _view(self: Any, dtype: Any = None, type: None = None) -> Any:
    """The same bits read as another dtype.

    Args:
      dtype: the dtype; where its elements are narrower or wider, the last axis grows or
        shrinks. None for the array as it is.
      type: must be None.
    """
    if type is not None:
        raise NotImplementedError("Array.view: type must be None")
    if dtype is None:
        return self
    kind = dtypes.check_user_dtype(dtype, "view")
    own = aval_of(self).dtype
    if kind == own:
        return self
    if own == np.bool_ or kind == np.bool_:
        byte = (
            creation.astype(self, np.uint8)
            if own == np.bool_
            else _view(self, np.uint8)
        )
        return creation.astype(byte, kind) if kind == np.bool_ else _view(byte, kind)
    if dtypes.kind(own) == "c":
        return _view_of_parts(self, kind)
    if dtypes.kind(kind) == "c":
        parts = _view(self, dtypes.real_dtype(kind))
        _check_whole_elements(parts, 2, self, kind)
        return elementwise.complex_(parts[..., 0::2], parts[..., 1::2])
    return _view_of_reals(self, kind)


def _view_of_reals(x: Any, kind: Any) -> Any:
    """A view of real numbers as others, which may be narrower or wider."""
    own, shape = aval_of(x).dtype, aval_of(x).shape
    old, new = dtypes.itemsize_bits(own), dtypes.itemsize_bits(kind)
    if old != new and not shape:
        raise ValueError(
            "Array.view: a scalar has no axis for elements of another size, got "
            f"{own} to {kind}; reshape it to one axis first"
        )
    if old < new:
        count = new // old
        _check_whole_elements(x, count, x, kind)
        split = (*shape[:-1], shape[-1] // count, count)
        return shaping.bitcast_convert_type(manipulation.reshape(x, split), kind)
    out = shaping.bitcast_convert_type(x, kind)
    if old == new:
        return out
    return manipulation.reshape(out, (*shape[:-1], shape[-1] * (old // new)))


def _check_whole_elements(parts: Any, count: int, x: Any, kind: Any) -> None:
    """Raises ValueError unless the last axis holds a multiple of `count` parts."""
    if aval_of(parts).shape[-1] % count:
        raise ValueError(
            f"Array.view: the last axis must hold whole elements of {kind}, got "
            f"{aval_of(x).short()}"
        )


def _byteswap(self: Any) -> Any:
    """The bytes of each element in reverse order; of complex numbers, of both parts."""
    dtype = aval_of(self).dtype
    if dtypes.kind(dtype) == "c":
        parts = [_byteswap(p) for p in (arithmetic.real(self), arithmetic.imag(self))]
        return elementwise.complex_(*parts)
    if dtype.itemsize == 1:
        return self
    swapped = manipulation.flip(_view(self[..., None], np.uint8), -1)
    return _view(swapped, dtype)[..., 0]


def _contains(self: Any, value: Any) -> bool:
    """Whether a vector has an element that equals a value."""
    if aval_of(self).ndim != 1:
        raise ValueError(
            "Array.__contains__: search array must be one-dimensional, got "
            f"{aval_of(self).short()}; write (x == value).any()"
        )
    if avals.is_array_like(value) and aval_of(value).shape:
        raise ValueError(
            f"Array.__contains__: query value must be a scalar, got "
            f"{aval_of(value).short()}; write (x == value).any()"
        )
    return bool(reductions.any(logic.equal(self, value)))


def _to_device(self: Any, device: Any, *, stream: None = None) -> Any:
    """The array on another device."""
    if stream is not None:
        raise NotImplementedError("Array.to_device: stream must be None")
    if isinstance(self, trace.Tracer):  # a program runs where it runs
        return self
    return creation.asarray(self, device=device)


def _item_of_clip(self: Any, min: Any = None, max: Any = None) -> Any:
    """Values limited to a range; see `numpy.clip`."""
    return arithmetic.clip(self, min, max)


def _copy(self: Any) -> Any:
    """A new array with the same values."""
    return creation.copy(self)


def _take(
    self: Any,
    indices: Any,
    axis: Any = None,
    out: None = None,
    mode: Any = None,
    unique_indices: bool = False,
    indices_are_sorted: bool = False,
    fill_value: Any = None,
) -> Any:
    """Slices at positions of an axis; see `numpy.take`."""
    return index_routines.take(
        self,
        indices,
        axis,
        out,
        mode,
        unique_indices,
        indices_are_sorted,
        fill_value,
    )


# Versions of the array API standard; each has all of those before it.
_STANDARDS = ("2021.12", "2022.12", "2023.12", "2024.12", namespace.API_VERSION)


def _array_namespace(self: Any, *, api_version: str | None = None) -> Any:
    """The module whose functions take such arrays."""
    del self
    if api_version is not None and api_version not in _STANDARDS:
        raise ValueError(
            f"Array.__array_namespace__: api_version must be at most "
            f"{_STANDARDS[-1]!r}, got {api_version!r}"
        )
    return importlib.import_module(f"{vocabulary.name()}.numpy")


def _same(fun: Callable[..., Any], name: str | None = None) -> Any:
    """A function whose first argument is the array, as a method."""
    if direct_calls.is_direct(fun) and name is None:
        return fun  # a frame around it would cost as much as it

    def method(self: Any, *args: Any, **kwargs: Any) -> Any:
        return fun(self, *args, **kwargs)

    method.__name__ = method.__qualname__ = name or fun.__name__
    method.__doc__ = fun.__doc__
    return method


def _methods() -> dict[str, Any]:
    functions: tuple[Any, ...] = (
        reductions.all,
        reductions.any,
        arg_extremes.argmax,
        arg_extremes.argmin,
        reductions.max,
        reductions.mean,
        reductions.min,
        reductions.prod,
        reductions.ptp,
        reductions.std,
        reductions.sum,
        reductions.var,
        cumulative_sums.cumprod,
        cumulative_sums.cumsum,
        sorting.argpartition,
        sorting.argsort,
        sorting.sort,
        manipulation.ravel,
        manipulation.repeat,
        manipulation.squeeze,
        manipulation.swapaxes,
        contractions.dot,
        contractions.trace,
        selection.diagonal,
        searching.nonzero,
        searching.searchsorted,
        arithmetic.round,
    )
    table: dict[str, Any] = {fun.__name__: _same(fun) for fun in functions}
    table["conj"] = _same(arithmetic.conjugate, "conj")
    table["conjugate"] = _same(arithmetic.conjugate)
    table["choose"] = _same(selection.choose)
    table["compress"] = lambda self, condition, axis=None, *, out=None, **options: (
        searching.compress(condition, self, axis, out=out, **options)
    )
    table |= {
        "reshape": _reshape,
        "transpose": _transpose,
        "astype": _astype,
        "flatten": _flatten,
        "view": _view,
        "to_device": _to_device,
        "clip": _item_of_clip,
        "copy": _copy,
        "byteswap": _byteswap,
        "take": _take,
        "__contains__": _contains,
        "__array_namespace__": _array_namespace,
    }
    return table


def _properties() -> dict[str, Any]:
    return {
        "T": property(lambda self: manipulation.transpose(self), doc="Axes reversed."),
        "mT": property(
            lambda self: manipulation.matrix_transpose(self),
            doc="The last two axes exchanged.",
        ),
        "real": property(lambda self: arithmetic.real(self), doc="Real part."),
        "imag": property(lambda self: arithmetic.imag(self), doc="Imaginary part."),
        "at": property(
            lambda self: at.IndexUpdateHelper(self),
            doc="Functional updates: `x.at[index].set(y)` and other updates.",
        ),
        "flat": property(lambda self: manipulation.ravel(self), doc="Along one axis."),
    }


def _format(self: Any) -> Format:
    """How the array lies in memory, the last axis first, and on which devices."""
    return Format(Layout(range(self.aval.storage.ndim), ()), self.sharding)


# -- what only tracers lack ------------------------------------------------------------


def _length(self: Any) -> int:
    shape = self.aval.shape
    if not shape:
        raise TypeError("len() of unsized object")
    return shape[0]


def _iterate(self: Any) -> Iterator[Any]:
    if not self.aval.shape:
        raise TypeError("iteration over a 0-d array")
    return iter(stacking.unstack(self, 0) if self.aval.shape[0] else ())


def _iterate_reversed(self: Any) -> Iterator[Any]:
    return iter(list(_iterate(self))[::-1])


def _setitem(self: Any, index: Any, value: Any) -> None:
    raise TypeError(
        "Array: arrays cannot be changed in place, got an assignment to x[idx]; write "
        "`x = x.at[idx].set(y)` instead of `x[idx] = y`, and "
        "`x = x.at[idx].add(y)` instead of `x[idx] += y`"
    )


# What concrete and traced arrays define for themselves.
_OF_BOTH = (
    "addressable_data",
    "addressable_shards",
    "block_until_ready",
    "committed",
    "copy_to_host_async",
    "delete",
    "device",
    "devices",
    "dtype",
    "global_shards",
    "is_deleted",
    "is_fully_addressable",
    "is_fully_replicated",
    "is_ready",
    "item",
    "itemsize",
    "nbytes",
    "ndim",
    "shape",
    "sharding",
    "size",
    "tobytes",
    "tolist",
    "weak_type",
)


def _delegate(name: str) -> Any:
    """A member of the class of all arrays that does what the array's own does."""
    own = getattr(ArrayImpl, name)
    if not callable(own):
        return property(lambda self: getattr(self, name))

    def method(self: Any, *args: Any, **kwargs: Any) -> Any:
        return getattr(self, name)(*args, **kwargs)

    source_info.update_wrapper(method, own)
    return method


class _InPlace:
    """A method of NumPy's arrays that changes them, which is refused by its name."""

    def __init__(self, cure: str) -> None:
        self._cure = cure
        self._name = ""

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    def __get__(self, instance: Any, owner: type) -> Any:
        if instance is None:
            owner_name = owner.__name__
            raise AttributeError(f"type object {owner_name!r} has no {self._name!r}")
        raise AttributeError(
            f"Array has no method {self._name!r}: arrays cannot be changed in place; "
            f"{self._cure}",
            name=self._name,
            obj=instance,
        )


_IN_PLACE = {
    "fill": "write `x = numpy.full_like(x, value)`",
    "itemset": "write `x = x.at[index].set(value)`",
    "partition": "write `x = numpy.partition(x, kth)`",
    "put": "write `x = x.at[indices].set(values)`",
    "resize": "write `x = numpy.resize(x, shape)`",
}


def _install() -> None:
    table = _operators() | _methods() | _properties()
    for name, value in table.items():
        value = lazy_names.guarded(value)
        install(name, value)
        setattr(Tracer, name, value)
        setattr(array_type.Array, name, value)  # lists them; both kinds have their own
    install("__iter__", row_iteration.iterate)
    install("__reversed__", row_iteration.iterate_reversed)
    install("format", property(_format))
    for name, cure in _IN_PLACE.items():
        for kind in (ArrayImpl, Tracer):
            refusal = _InPlace(cure)
            refusal.__set_name__(kind, name)
            setattr(kind, name, refusal)
    array_type.Array.format = property(_format)  # type: ignore[assignment]
    for name in _OF_BOTH:
        setattr(array_type.Array, name, _delegate(name))
    # Comparison of arrays gives arrays, so neither has a hash.
    Tracer.__hash__ = None  # type: ignore[assignment]
    for name, value in {
        "__len__": _length,
        "__iter__": _iterate,
        "__reversed__": _iterate_reversed,
        "__setitem__": _setitem,
    }.items():
        setattr(Tracer, name, value)
    scalar_types.install_constructor(_scalar)


def _scalar(x: Any, dtype: Any) -> Any:
    """What `float32(x)` makes."""
    return creation.asarray(x, dtype=dtype)


_install()
