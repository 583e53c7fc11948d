"""Functions on refs, and the brackets of refs."""

from __future__ import annotations

import math
from collections.abc import Callable
from types import MethodType
from typing import Any

from olympus._src.core import avals as avals_
from olympus._src.core import dtypes, refs, trace
from olympus._src.core.array_type import Array, ArrayLike, PyTree
from olympus._src.core.refs import Ref
from olympus._src.interpreters import evaluate
from olympus._src.lax import elementwise
from olympus._src.numpy import creation, index_updates
from olympus._src.refs import arrays, operations, positions
from olympus._src.sharding.memory_spaces import Space


def new_ref(
    init_val: ArrayLike,
    *,
    memory_space: Space | None = None,
    kind: None = None,
    pin: bool = False,
) -> Ref:
    """Makes a ref that holds an array.

    Args:
      init_val: what it holds first; the array itself never changes.
      memory_space: None, `Space.Any` or `Space.Device`, which all say the same: refs
        are in their device's memory.
      kind: None; the other kinds of JAX are made by its own transformations.
      pin: False; memory that does not move is for kernels that are written by hand.

    Returns:
      A `Ref`: `ref[index]` reads, `ref[index] = values` writes.

    Raises:
      TypeError: `init_val` is no array or number.
      NotImplementedError: another memory or kind, or pinned memory, is requested.

    Example:
      >>> import olympus
      >>> import olympus.numpy as onp
      >>> @olympus.jit
      ... def total(x):
      ...     sums = olympus.new_ref(onp.zeros_like(x))
      ...     def step(i, _):
      ...         sums[i] = sums[i - 1] + x[i]
      ...     olympus.lax.fori_loop(0, len(x), step, None)
      ...     return sums[...]
      >>> total(onp.array([1.0, 2.0, 3.0]))
      Array([1., 3., 6.], dtype=float32)
    """
    refs.check_memory("new_ref", memory_space, kind, pin)
    if is_ref(init_val) or not avals_.is_array_like(init_val):
        raise TypeError(
            "new_ref: init_val must be an array or a number, got "
            f"{_kind_text(init_val)}"
        )
    return operations.new_ref_p.bind(_strong(init_val))


def _strong(x: Any) -> Any:
    """The value with a dtype of its own."""
    aval = avals_.aval_of(x)
    if aval.weak_type or not hasattr(x, "aval"):
        return elementwise.convert(x, aval.dtype)
    return x


def empty_ref(ty: Any, memory_space: Space | None = None, pin: bool = False) -> Ref:
    """Makes a ref for arrays of a type, whose first values are zeros.

    Args:
      ty: what has a shape and a dtype, as a `ShapeDtypeStruct`.
      memory_space, pin: as for `new_ref`.

    Example:
      >>> import olympus
      >>> olympus.empty_ref(olympus.ShapeDtypeStruct((2,), 'float32'))
      Ref([0., 0.], dtype=float32)
    """
    refs.check_memory("empty_ref", memory_space, None, pin)
    if not hasattr(ty, "shape") or not hasattr(ty, "dtype"):
        raise TypeError(
            f"empty_ref: ty must have a shape and a dtype, got {ty!r}; pass a "
            "ShapeDtypeStruct"
        )
    dtype = dtypes.canonicalize_dtype(ty.dtype, allow_extended_dtype=True)
    return new_ref(creation.zeros(ty.shape, dtype))


def freeze(ref: Ref) -> Array:
    """Ends a ref's life and returns what it holds, without a copy.

    Raises:
      ValueError: it was frozen or freed before.

    Example:
      >>> import olympus
      >>> ref = olympus.new_ref(1.0)
      >>> ref[...] = 2.0
      >>> olympus.freeze(ref)
      Array(2., dtype=float32)
    """
    return operations.freeze_p.bind(_checked("freeze", ref))


def free_ref(ref: Ref) -> None:
    """Ends a ref's life; its memory is free for others.

    Example:
      >>> import olympus
      >>> olympus.free_ref(olympus.new_ref(1.0))
    """
    operations.free_ref_p.bind(_checked("free_ref", ref))


def get(ref: Ref, idx: PyTree = None) -> Array:
    """What a ref holds at an index; `ref[idx]`.

    Args:
      ref: the ref.
      idx: an index as NumPy has them, or a tuple of those; None for all.

    Raises:
      IndexError: a known position is out of bounds.

    Example:
      >>> import olympus
      >>> import olympus.numpy as onp
      >>> olympus.ref.get(olympus.new_ref(onp.arange(4)), slice(1, 3))
      Array([1, 2], dtype=int32)
    """
    ref = _checked("ref.get", ref)
    idx = Ellipsis if idx is None else idx
    if type(ref) is Ref and evaluate.is_evaluating():
        return arrays.getitem(ref, idx)
    plan, operands = positions.parse(_inner(ref), idx)
    return operations.get_p.bind(ref, *operands, plan=plan)


def set(ref: Ref, idx: PyTree, value: ArrayLike) -> None:
    """Writes a value at an index; `ref[idx] = value`.

    Args:
      ref: the ref.
      idx: an index as NumPy has them, or a tuple of those; None for all. Numbers that
        are known only when the program runs are moved inside; what arrays of positions
        name outside is dropped.
      value: broadcasts to the part's shape, and is of the ref's dtype or a Python
        number.

    Raises:
      IndexError: a known position is out of bounds.
      ValueError: the shape does not fit.
      TypeError: the dtype does not.

    Example:
      >>> import olympus
      >>> import olympus.numpy as onp
      >>> ref = olympus.new_ref(onp.zeros(3))
      >>> olympus.ref.set(ref, 1, 5.0)
      >>> ref
      Ref([0., 5., 0.], dtype=float32)
    """
    ref, value, operands, plan = _plan_write("ref.set", ref, idx, value)
    if type(ref) is Ref and evaluate.is_evaluating():
        arrays.put(ref, value, operands, plan)
    else:
        operations.swap_p.bind(ref, value, *operands, plan=plan)


def swap(
    ref: Ref, idx: PyTree, value: ArrayLike, _function_name: str = "ref.swap"
) -> Array:
    """Writes a value at an index and returns what stood there; see `set`.

    Example:
      >>> import olympus
      >>> import olympus.numpy as onp
      >>> ref = olympus.new_ref(onp.arange(3))
      >>> olympus.ref.swap(ref, 0, 7), ref
      (Array(0, dtype=int32), Ref([7, 1, 2], dtype=int32))
    """
    ref, value, operands, plan = _plan_write(_function_name, ref, idx, value)
    return operations.swap_p.bind(ref, value, *operands, plan=plan)


def addupdate(ref: Ref, idx: PyTree, x: ArrayLike) -> None:
    """Adds a value at an index; positions named twice are added to twice.

    Args:
      ref, idx, x: as for `set`.

    Example:
      >>> import olympus
      >>> import olympus.numpy as onp
      >>> ref = olympus.new_ref(onp.zeros(3))
      >>> olympus.ref.addupdate(ref, onp.array([0, 0, 2]), 1.0)
      >>> ref
      Ref([2., 0., 1.], dtype=float32)
    """
    ref, value, operands, plan = _plan_write("ref.addupdate", ref, idx, x)
    operations.addupdate_p.bind(ref, value, *operands, plan=plan)


def is_ref(x: Any) -> bool:
    """Whether a value is a ref, or a tracer of one."""
    if type(x) is Ref:
        return True
    return isinstance(x, trace.Tracer) and refs.is_ref_type(x.aval)


def _checked(what: str, x: Any) -> Any:
    if isinstance(x, RefView):
        raise TypeError(
            f"{what}: a whole ref is required, got a part of one; read and write it "
            "with part[...]"
        )
    if is_ref(x):
        return x
    raise TypeError(
        f"{what}: a ref is required, got {_kind_text(x)}; make one with "
        "olympus.new_ref(x)"
    )


def _kind_text(x: Any) -> str:
    if is_ref(x):
        return f"a ref of type {x.aval.short()}"
    if avals_.is_array_like(x):
        return f"an array of type {avals_.aval_of(x).short()}"
    return f"a value of type {type(x).__name__}"


def _inner(ref: Any) -> Any:
    return ref.aval.inner_aval


def _plan_write(what: str, ref: Any, index: Any, value: Any) -> tuple[Any, ...]:
    """The ref, the value as it is written, and where."""
    ref = _checked(what, ref)
    aval = _inner(ref)
    plan, operands = positions.parse(aval, Ellipsis if index is None else index)
    types = [ref.aval, *map(avals_.aval_of, operands)]
    part, _ = operations.get_p.results(tuple(types), {"plan": plan})
    value = _as_written(what, value, part)
    return ref, value, operands, plan


def _as_written(what: str, value: Any, part: Any) -> Any:
    """A value in the dtype and shape of the part that it replaces."""
    if is_ref(value) or not avals_.is_array_like(value):
        if not isinstance(value, (list, tuple)):
            raise TypeError(
                f"{what}: the value must be an array or a number, got "
                f"{_kind_text(value)}"
            )
        value = creation.asarray(value)
    aval = avals_.aval_of(value)
    if aval.dtype != part.dtype:
        joined, _ = dtypes.lattice_result(
            (part.dtype, False), (aval.dtype, aval.weak_type)
        )
        if joined != part.dtype or not aval.weak_type:
            raise TypeError(
                f"{what}: the value must have the ref's dtype, {part.dtype}, got "
                f"{aval.dtype}; convert it with .astype({str(part.dtype)!r})"
            )
    value = elementwise.convert(value, part.dtype)
    if aval.shape == part.shape:
        return value
    try:
        return index_updates.broadcast_values(value, part.shape, "set")
    except ValueError:
        raise ValueError(
            f"{what}: the value must broadcast to the shape {part.shape} that is "
            f"indexed, got shape {aval.shape}; pass a value of that shape, or index "
            "another part"
        ) from None


class RefView:
    """A part of a ref; `ref.at[index]` makes one.

    `part[index]` reads, and `part[index] = values` writes to the ref.

    Example:
      >>> import olympus
      >>> import olympus.numpy as onp
      >>> ref = olympus.new_ref(onp.arange(4))
      >>> ref.at[1:3][0] = 7
      >>> ref
      Ref([0, 7, 2, 3], dtype=int32)
    """

    __slots__ = ("_index", "_whole")

    def __init__(self, whole: Any, index: Any) -> None:
        self._whole = whole
        self._index = index

    @property
    def at(self) -> _At:
        """Parts of this part."""
        return _At(self)

    @property
    def shape(self) -> tuple[int, ...]:
        """Sizes of the axes."""
        return self[...].shape

    @property
    def dtype(self) -> Any:
        """Element type."""
        return self._whole.dtype

    @property
    def ndim(self) -> int:
        """Number of axes."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """Number of elements."""
        return math.prod(self.shape)

    def place(self) -> tuple[Any, Any]:
        """The whole, which may be a part itself, and the index of this part."""
        return self._whole, self._index

    def __getitem__(self, index: Any) -> Array:
        return self._whole[self._index][index]

    def __setitem__(self, index: Any, value: Any) -> None:
        self._change(set, index, value)

    def _change(
        self, write: Callable[[Any, Any, Any], Any], index: Any, value: Any
    ) -> Any:
        part = self._whole[self._index]
        ref = operations.new_ref_p.bind(part)
        out = write(ref, index, value)
        self._whole[self._index] = refs.read_all(ref)
        return out

    def get(self, idx: Any = None) -> Array:
        """What it holds at an index; see `olympus.ref.get`."""
        return self[... if idx is None else idx]

    def set(self, value: ArrayLike, idx: Any = None) -> None:
        """Writes a value at an index; see `olympus.ref.set`."""
        self._change(set, idx, value)

    def swap(self, value: ArrayLike, idx: Any = None) -> Array:
        """Writes a value and returns what stood there; see `olympus.ref.swap`."""
        return self._change(swap, idx, value)

    def addupdate(self, x: ArrayLike, idx: Any = None) -> None:
        """Adds a value at an index; see `olympus.ref.addupdate`."""
        self._change(addupdate, idx, x)

    def __repr__(self) -> str:
        return f"{self._whole!r}.at[{self._index!r}]"


RefLike = Ref | RefView


class _At:
    """`ref.at`, which takes an index."""

    __slots__ = ("_whole",)

    def __init__(self, whole: Any) -> None:
        self._whole = whole

    def __getitem__(self, index: Any) -> RefView:
        return RefView(self._whole, index)


# -- methods ---------------------------------------------------------------------------


def _install() -> None:
    """Gives refs, and tracers of refs, their brackets."""
    refs.install_access(refs.Access(get, set, swap, addupdate, _At))
    tracer: Any = trace.Tracer
    tracer.__getitem__ = _dispatch(tracer.__getitem__, get)
    tracer.__setitem__ = _dispatch(tracer.__setitem__, set)
    part_of_array = tracer.at.fget
    tracer.at = property(_dispatch(part_of_array, _At), doc=tracer.at.__doc__)
    for name in ("get", "set", "swap", "addupdate"):
        method = getattr(Ref, name)
        setattr(tracer, name, property(_of_refs(method), doc=method.__doc__))


def _dispatch(on_array: Callable[..., Any], on_ref: Callable[..., Any]) -> Any:
    """A method of tracers: one for those of refs, one for all others."""

    def method(self: Any, *args: Any) -> Any:
        if refs.is_ref_type(self.aval):
            return on_ref(self, *args)
        return on_array(self, *args)

    method.__name__ = on_array.__name__
    return method


def _of_refs(method: Any) -> Callable[[Any], Any]:
    """A method of refs as an attribute of tracers, which those of arrays lack."""

    def bind(self: Any) -> Any:
        if refs.is_ref_type(self.aval):
            return MethodType(method, self)
        raise AttributeError(
            f"{type(self).__name__!r} object has no attribute {method.__name__!r}"
        )

    return bind


_install()
