"""Refs: arrays that programs change in place.

A ref is the one value of the language that is not immutable. Its type is `RefAval`. In
a program it is a variable like others, which operations read and write in the order of
the equations. Outside of programs it is a `Ref`, which holds an array that nobody else
has: what is put in and what is read are copies, unless a program computes them.

Before a program is lowered, or differentiated or mapped as a whole, its refs are
discharged: it becomes a program of arrays that returns what the refs held last.
"""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable
from typing import Any, NamedTuple

from olympus._src.core import avals, dtypes, effects
from olympus._src.foundation import source_info
from olympus._src.sharding.memory_spaces import Space


class RefEffect(effects.Effect):
    """Base class of what operations do with refs.

    They happen to refs that a program is given: one that makes its refs itself has none
    of these effects.
    """

    __slots__ = ()
    lowerable = True
    in_control_flow = True
    in_remat = True
    needs_refs = True


class ReadEffect(RefEffect):
    """A ref is read."""

    __slots__ = ()


class WriteEffect(RefEffect):
    """A ref is written."""

    __slots__ = ()


READS = frozenset([ReadEffect()])
WRITES = frozenset([WriteEffect()])
READS_AND_WRITES = READS | WRITES


class RefAval(avals.AbstractValue):
    """The type of refs that hold arrays of a type; interned, as all types are.

    Args:
      inner_aval: the type of the arrays.
      memory_space, kind: as for `olympus.new_ref`.

    Example:
      >>> import olympus
      >>> olympus.typeof(olympus.new_ref(olympus.numpy.zeros(3)))
      Ref{float32[3]}
    """

    __slots__ = ("__weakref__", "inner_aval")
    inner_aval: Any
    weak_type = False

    def __new__(
        cls, inner_aval: Any, memory_space: Space | None = None, kind: None = None
    ) -> RefAval:
        check_memory("AbstractRef", memory_space, kind)
        inner_aval = inner_aval.strip_weak_type()
        with _lock:
            aval = _interned.get(inner_aval)
            if aval is None:
                aval = object.__new__(cls)
                aval.inner_aval = inner_aval
                _interned[inner_aval] = aval
        _State.in_use = True
        return aval

    def __reduce__(self) -> Any:
        return RefAval, (self.inner_aval,)

    def short(self) -> str:
        return f"Ref{{{self.inner_aval.short()}}}"

    def str_long(self) -> str:
        """The type with the dtype's full name, as in `Ref{float32[3]}`."""
        return f"Ref{{{self.inner_aval.str_long()}}}"

    __repr__ = str_long

    @property
    def shape(self) -> tuple[int, ...]:
        """Sizes of the axes."""
        return self.inner_aval.shape

    @property
    def dtype(self) -> Any:
        """Element type."""
        return self.inner_aval.dtype

    @property
    def ndim(self) -> int:
        """Number of axes."""
        return self.inner_aval.ndim

    @property
    def size(self) -> int:
        """Number of elements."""
        return self.inner_aval.size

    @property
    def vma(self) -> frozenset[Any]:
        """The manual axes of a mesh along which devices may hold other values."""
        return self.inner_aval.vma

    @property
    def explicit(self) -> Any:
        """How explicit axes of a mesh divide the array."""
        return self.inner_aval.explicit

    @property
    def sharding(self) -> Any:
        """The same, as a sharding."""
        return self.inner_aval.sharding

    def update(self, **changes: Any) -> RefAval:
        """The type of refs whose arrays have another type."""
        return RefAval(self.inner_aval.update(**changes))

    def with_axis(self, position: int, size: int, entry: Any = None) -> RefAval:
        """The type of refs whose arrays have one more axis."""
        return RefAval(self.inner_aval.with_axis(position, size, entry))

    def without_axis(self, position: int) -> RefAval:
        """The type of refs of the parts along an axis."""
        return RefAval(self.inner_aval.without_axis(position))

    def to_tangent(self) -> Any:
        """A type of values that are all zero: refs are read, not differentiated."""
        return avals.ShapedArray(self.shape, dtypes.float0)

    to_cotangent = to_tangent

    def __len__(self) -> int:
        return len(self.inner_aval)


def check_memory(what: str, memory_space: Any, kind: Any, pin: bool = False) -> None:
    """Raises where a ref is requested that would not be in its device's memory."""
    here = (None, Space.Device, Space.Any)
    for name, value, is_possible, remedy in (
        ("memory_space", memory_space, memory_space in here, "Space.Device"),
        ("kind", kind, kind is None, "None"),
        ("pin", pin, not pin, "False"),
    ):
        if not is_possible:
            raise NotImplementedError(
                f"{what}: {name} must be {remedy}, got {value!r}: refs are in the "
                f"memory of their device; leave {name} out"
            )


_interned: weakref.WeakValueDictionary[Any, RefAval] = weakref.WeakValueDictionary()
_lock = threading.Lock()


class _State:
    in_use = False  # whether a ref was ever made


def are_in_use() -> bool:
    """Whether there may be refs at all; programs without need no look for them."""
    return _State.in_use


def is_ref_type(aval: Any) -> bool:
    """Whether values of this type are refs."""
    return type(aval) is RefAval


class Access(NamedTuple):
    """How refs are read and written, which a package above this one says.

    Attributes:
      get: what a ref holds at an index.
      set: writes values at an index.
      swap: the same, and returns what stood there.
      add: adds values at an index.
      part: what `ref.at` returns.
    """

    get: Callable[[Any, Any], Any]
    set: Callable[[Any, Any, Any], None]
    swap: Callable[[Any, Any, Any], Any]
    add: Callable[[Any, Any, Any], None]
    part: Callable[[Any], Any]


class _Hook:
    access: Any = None


def install_access(access: Access) -> None:
    """Gives refs their brackets (a late-binding hook)."""
    _Hook.access = access


def read_all(ref: Any) -> Any:
    """All that a ref holds, an array or a tracer."""
    return _Hook.access.get(ref, ...)


def write_all(ref: Any, values: Any) -> None:
    """Replaces all that a ref holds."""
    _Hook.access.set(ref, ..., values)


class Ref:
    """An array that can be changed in place; `olympus.new_ref` makes one.

    `ref[index]` reads, `ref[index] = values` writes, and `ref[...]` is all of it. The
    index is anything that NumPy takes. What was read is an array that no later write
    changes. Jitted functions take refs as arguments or close over them, and write into
    the same memory.

    Attributes:
      aval: the type.

    Example:
      >>> import olympus
      >>> import olympus.numpy as onp
      >>> total = olympus.new_ref(onp.zeros(2))
      >>> @olympus.jit
      ... def count(i):
      ...     total[i] += 1
      >>> count(0), count(1), count(1)
      (None, None, None)
      >>> total
      Ref([1., 2.], dtype=float32)
    """

    __slots__ = (
        "__weakref__",
        "_array",
        "_freed_at",
        "aval",
        "lock",
        "made_at",
    )
    __hash__ = object.__hash__
    __array_priority__ = 1000

    def __init__(self, array: Any) -> None:
        """A ref of an array that nobody else has."""
        self.aval = RefAval(array.aval)
        self._array = array
        self._freed_at: Any = None
        self.lock = threading.RLock()
        self.made_at = source_info.capture()

    def __getitem__(self, index: Any) -> Any:
        return _Hook.access.get(self, index)

    def __setitem__(self, index: Any, values: Any) -> None:
        _Hook.access.set(self, index, values)

    def get(self, idx: Any = None) -> Any:
        """What it holds at an index; see `olympus.ref.get`."""
        return _Hook.access.get(self, idx)

    def set(self, value: Any, idx: Any = None) -> None:
        """Writes a value at an index; see `olympus.ref.set`."""
        _Hook.access.set(self, idx, value)

    def swap(self, value: Any, idx: Any = None) -> Any:
        """Writes a value and returns what stood there; see `olympus.ref.swap`."""
        return _Hook.access.swap(self, idx, value)

    def addupdate(self, x: Any, idx: Any = None) -> None:
        """Adds values at an index; see `olympus.ref.addupdate`."""
        _Hook.access.add(self, idx, x)

    @property
    def at(self) -> Any:
        """Parts: `ref.at[index]` reads and writes as the ref itself."""
        return _Hook.access.part(self)

    @property
    def _buffer(self) -> Ref:
        """Itself, where arrays have their memory: a call takes and gives it back."""
        return self

    def held(self) -> Any:
        """The array; for who holds the lock, since a write ends it."""
        self.check_alive()
        return self._array

    def hold(self, array: Any) -> None:
        """Takes an array that nobody else has; for who holds the lock."""
        self._array = array

    def release(self, how: str) -> Any:
        """The array, which the ref gives up.

        Args:
          how: 'frozen' or 'freed'.
        """
        with self.lock:
            self.check_alive()
            self._freed_at = how, source_info.capture()
            array, self._array = self._array, None
            return array

    def note_loss(self) -> None:
        """Ends a ref whose memory a failed call has taken; for who holds the lock."""
        if self._freed_at is None and self._array.is_deleted():
            self._freed_at = "lost in a call that failed", source_info.capture()

    def check_alive(self) -> None:
        """Raises ValueError where the ref was frozen or freed."""
        if self._freed_at is not None:
            how, place = self._freed_at
            raise ended_error(self.aval, how, place, self.made_at)

    @property
    def shape(self) -> tuple[int, ...]:
        """Sizes of the axes."""
        return self.aval.shape

    @property
    def dtype(self) -> Any:
        """Element type."""
        return self.aval.dtype

    @property
    def ndim(self) -> int:
        """Number of axes."""
        return self.aval.ndim

    @property
    def size(self) -> int:
        """Number of elements."""
        return self.aval.size

    @property
    def weak_type(self) -> bool:
        """False: what a ref holds has a dtype of its own."""
        return False

    @property
    def sharding(self) -> Any:
        """Where the array is."""
        return self.held().sharding

    @property
    def committed(self) -> bool:
        """Whether the array stays where it is."""
        return self.held().committed

    @property
    def committed_device(self) -> Any:
        """The device or sharding that the array is committed to, or None."""
        return self.held().committed_device

    def is_deleted(self) -> bool:
        """Whether it was frozen or freed."""
        return self._freed_at is not None

    def unsafe_buffer_pointer(self) -> int:
        """The address of the memory; the next write may be to another."""
        return self.held().unsafe_buffer_pointer()

    def block_until_ready(self) -> Ref:
        """Waits for what is being written."""
        self.held().block_until_ready()
        return self

    def __len__(self) -> int:
        return len(self.aval)

    def __repr__(self) -> str:
        if self._freed_at is not None:
            return f"<{self._freed_at[0]} {self.aval!r}>"
        return repr(self._array).replace("Array(", "Ref(", 1)

    def __bool__(self) -> bool:
        raise not_an_array(self.aval, "bool()")

    def __array__(self, *args: Any, **kwargs: Any) -> Any:
        raise not_an_array(self.aval, "numpy.asarray()")

    def __reduce__(self) -> Any:
        raise TypeError(
            f"Ref: a ref must not be pickled or copied, got one of type "
            f"{self.aval.short()}; take what it holds, ref[...]"
        )


avals.register_typed(Ref)


def not_an_array(aval: Any, what: str) -> TypeError:
    """The error for a ref where an array is expected."""
    return TypeError(
        f"{what}: an array is required, got a ref of type {aval.short()}; read it with "
        "ref[...], or a part of it with ref[index]"
    )


def ended_error(aval: Any, how: str, place: Any, made_at: Any = None) -> ValueError:
    """The error for a ref that is used after its end."""
    at = "" if place is None else f" at {place}"
    origin = "" if made_at is None else f", made at {made_at},"
    return ValueError(
        f"Ref: a ref must not be used after it was {how}, got one of type "
        f"{aval.short()}{origin} that was {how}{at}; use the array that freeze "
        "returned, or make a new ref"
    )
