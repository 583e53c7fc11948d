"""The concrete array: a buffer on a device, and the aval that says what it is.

Everything here needs no arithmetic; the package `numpy` installs operators and methods
by `install`. Reading an element, printing and iterating use a view of the host's memory
where the device is the CPU, and never compile a program.
"""

from __future__ import annotations

import functools
import math
import threading
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from olympus._src.runtime import (
    client,
    dlpack,
    guards,
    host_errors,
    host_results,
    parts,
    transfer,
    versions,
    waiting,
)
from olympus._src.runtime.host_results import HostMemory
from olympus._src.runtime.parts import LocalParts
from olympus._src.runtime.shardings import (
    Index,
    Part,
    SingleDeviceSharding,
    default_placement,
    placement_of,
)
from olympus._src.runtime.versions import Device

# What arrays without a buffer are made from.
_SOURCES = frozenset([LocalParts, HostMemory])
# In the place of one, in arrays over memory that others may write to.
_SHARED: Any = ...
# In the place of a position, in arrays that are kept for later calls.
_KEPT = -1


class ArrayImpl:
    """An array on one or more devices.

    Args:
      buffer: jaxlib's array, whose `aval` has the same shape and dtype.
      aval: shape, dtype and weak type; opaque here.
      committed: whether the user chose the device, so that computations follow it.
    """

    # `_keys` is set only while `debug_key_reuse` follows random keys. A part of another
    # array, or a value in host memory, has no buffer at first: `_parts` makes that, of
    # the part in `_position`; else it is None, and a position says only `_KEPT`.
    __slots__ = (
        "__weakref__",
        "_committed",
        "_host",
        "_keys",
        "_own_buffer",
        "_parts",
        "_position",
        "aval",
    )
    _parts: LocalParts | HostMemory | None
    _position: int
    __array_priority__ = 100

    def __init__(self, buffer: Any, aval: Any, committed: bool = False) -> None:
        self._own_buffer = buffer
        self._parts = None
        self._committed = committed
        self._host: np.ndarray | None = None
        self.aval = aval  # the last field: `live_arrays` may find it half made

    @property
    def _buffer(self) -> Any:
        """Its buffer, which a part takes when it is first asked for."""
        try:
            return self._own_buffer
        except AttributeError:
            return self._take_buffer()

    def _take_buffer(self) -> Any:
        parts = self._parts
        if parts is not None:
            try:
                buffer = parts.to_device(self._position)
            except Exception as error:
                raise self._explain(error)  # noqa: B904 - it has its cause
            if type(parts) is HostMemory:  # which stays what kernels read
                self._own_buffer = buffer
                return buffer
            with _taking:
                if self._parts is not None:  # else another thread was first
                    self._own_buffer = buffer
                    self._parts = None
        return self._own_buffer

    @property
    def _holder(self) -> Any:
        """Its buffer, or what a part takes it from: both tell of its state."""
        try:
            return self._own_buffer
        except AttributeError:
            return self._parts or self._own_buffer

    def _keep(self) -> None:
        """Notes that later calls take it too, so that donating it donates a copy."""
        self._position = _KEPT

    def _is_kept(self) -> bool:
        """Whether later calls take it too."""
        return getattr(self, "_position", 0) == _KEPT

    def _share(self) -> None:
        """Notes that others may write to its memory, so that nobody keeps a copy."""
        self._parts = _SHARED

    def _follow(self, keys: Any) -> None:
        """Notes which random keys its elements are; see `interpreters.key_reuse`."""
        self._keys = keys

    # -- what it is --

    @property
    def shape(self) -> tuple[int, ...]:
        """The sizes of the axes."""
        return self.aval.shape

    @property
    def dtype(self) -> Any:
        """The element type."""
        return self.aval.dtype

    @property
    def weak_type(self) -> bool:
        """Whether the dtype is weak in promotion, like a Python number's."""
        return self.aval.weak_type

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return len(self.aval.shape)

    @property
    def size(self) -> int:
        """The number of elements."""
        return math.prod(self.aval.shape)

    @property
    def itemsize(self) -> int:
        """The bytes of one element."""
        return self.aval.dtype.itemsize

    @property
    def nbytes(self) -> int:
        """The bytes of all elements."""
        return self.size * self.aval.dtype.itemsize

    # -- where it is --

    @property
    def sharding(self) -> Any:
        """How the array is divided over its devices."""
        if self._parts is None:
            return self._own_buffer._sharding
        holder = self._holder
        if type(holder) in _SOURCES:
            return holder.sharding(self._position)
        return holder._sharding

    @property
    def device(self) -> Any:
        """The device, or the sharding where there are several devices."""
        sharding = self.sharding
        devices = sharding._internal_device_list
        return devices[0] if len(devices) == 1 else sharding

    @property
    def single_device(self) -> Device | None:
        """The device, or None where there are several."""
        devices = self.sharding._internal_device_list
        return devices[0] if len(devices) == 1 else None

    @property
    def committed_device(self) -> Any:
        """The device the user chose, or the sharding over a mesh; None if neither."""
        if not self._committed:
            return None
        sharding = self.sharding
        if isinstance(sharding, SingleDeviceSharding):
            return sharding._device
        return sharding

    @property
    def committed(self) -> bool:
        """Whether computations on it stay on its device."""
        return self._committed

    def devices(self) -> set[Device]:
        """The devices that hold a part of it."""
        self._check_alive()
        return self.sharding.device_set

    @property
    def is_fully_addressable(self) -> bool:
        """Whether this process can read all of it."""
        return self.sharding.is_fully_addressable

    @property
    def is_fully_replicated(self) -> bool:
        """Whether each device holds all of it."""
        return self.sharding.is_fully_replicated

    @property
    def addressable_shards(self) -> list[Shard]:
        """The parts of it that lie on devices of this process."""
        buffer = self._buffer
        if buffer.is_deleted():
            raise deleted_array_error(self)
        part_aval, has_large, places = _division_of(self.aval, buffer._sharding)
        owner: Any = self
        if part_aval is not None:
            owner = LocalParts(buffer, part_aval, has_large)
        shards = []
        for place in places:  # in fewer steps than by calls of the class
            shard = _new(Shard)
            shard._owner = owner
            shard._place = place
            shards.append(shard)
        return shards

    @property
    def global_shards(self) -> list[Shard]:
        """All parts of it, in the order of the devices of its sharding.

        Those of other processes have no data.
        """
        mine = {shard.device: shard for shard in self.addressable_shards}
        every = self.sharding.parts(self.shape)
        return [mine.get(p.device) or Shard(None, (0, p)) for p in every]

    @property
    def num_addressable_shards(self) -> int:
        """How many parts lie on devices of this process."""
        return len(self.sharding.addressable_devices)

    def addressable_data(self, index: int) -> ArrayImpl:
        """The part of it on this process's device of that number."""
        return self.addressable_shards[index].local_data()

    def on_device_size_in_bytes(self) -> int:
        """The bytes it takes on its devices."""
        self._check_alive()
        return self._buffer.on_device_size_in_bytes()

    def unsafe_buffer_pointer(self) -> int:
        """The address of its memory, valid while the array lives."""
        self._check_alive()
        return transfer.address_of(self._buffer, self.aval.storage.dtype)

    # -- its life --

    def is_deleted(self) -> bool:
        """Whether its memory was freed or donated to a computation."""
        return self._holder.is_deleted()

    def delete(self) -> None:
        """Frees its memory now; any later use is an error."""
        self._host = None
        memory = self._parts
        if type(memory) is HostMemory:
            buffer = memory.end()
            if buffer is not None:
                transfer.delete_buffer(buffer)
        elif not self.is_deleted():
            transfer.delete_buffer(self._buffer)

    def _check_alive(self) -> None:
        if self._holder.is_deleted():
            raise deleted_array_error(self)

    def is_ready(self) -> bool:
        """Whether its value is computed."""
        self._check_alive()
        return self._holder.is_ready()

    def block_until_ready(self) -> ArrayImpl:
        """Waits until its value is computed, and returns it.

        Raises:
          RuntimeError: the array is deleted, or computing it failed.
        """
        if self._is_computed():
            return self
        try:
            waiting.wait_for(self._buffer)
        except Exception as error:
            raise self._explain(error)  # noqa: B904 - it has its cause
        return self

    def _is_computed(self) -> bool:
        """Whether it is known to be computed, so that nobody has to wait."""
        return type(self._parts) is HostMemory and not self._parts.is_deleted()

    def copy_to_host_async(self) -> None:
        """Starts to copy it to the host, for a later read."""
        self._check_alive()
        if type(self._holder) in _SOURCES:
            return  # to read it needs no buffer
        if self._host is None and self.single_device is not None:
            versions.copy_to_host_async(self._buffer)

    def _explain(self, error: Exception) -> BaseException:
        """The error a user should see for one that reading the buffer raised."""
        if self.is_deleted():
            return deleted_array_error(self)
        return host_errors.explain(error)

    @property
    def traceback(self) -> None:
        """None: olympus keeps no stack for each array."""
        return None

    # -- its value on the host --

    @property
    def _value(self) -> np.ndarray:
        """`host_value`, under the name by which libraries ask whether there is one."""
        if self.aval.storage is not self.aval:
            raise AttributeError(str(_opaque(self)))
        return self.host_value

    @property
    def host_value(self) -> np.ndarray:
        """A read-only NumPy array of its value; made once."""
        host = self._host
        if host is None:
            host = self._host = self._fetch()
        elif self._holder.is_deleted():
            self._host = None
            raise deleted_array_error(self)
        return host

    def host_view(self) -> np.ndarray | None:
        """A read-only view of its value, if that is ready on the CPU; else None.

        Reading small parts through it is cheaper than running a program. Arrays the
        user committed to a device have none, so that results stay where they should.
        """
        if self._committed or not isinstance(self.aval.dtype, np.dtype):
            return None
        if self._host is None:
            device = self.single_device
            if device is None or device.platform != "cpu" or not self.is_ready():
                return None
        return self.host_value

    def _fetch(self) -> np.ndarray:
        if self.aval.storage is not self.aval:
            raise _opaque(self)
        return self.words()

    def words(self) -> np.ndarray:
        """What the buffer holds, on the host: the value, or opaque elements' words."""
        self._check_alive()
        self._refuse_unreduced()
        holder = self._holder
        try:
            if type(holder) in _SOURCES:
                return holder.to_host(self._position)
            return parts.to_host(holder, self.aval.storage)
        except Exception as error:
            raise self._explain(error)  # noqa: B904 - it has its cause

    def _refuse_unreduced(self) -> None:
        """Raises ValueError where the value is a sum that is still to be taken."""
        explicit = self.aval.explicit
        if explicit is not None and explicit.spec.unreduced:
            raise ValueError(
                "Array: its value is a sum over devices, still to be taken "
                f"(unreduced), got {self.aval.short()}; take it with "
                "olympus.reshard(x, P(...))"
            )

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        value = self.host_value
        if dtype is None or dtype == value.dtype:
            return value.copy() if copy else value
        if copy is False:
            raise ValueError(
                f"Array.__array__: copy=False requires the array's own dtype "
                f"{value.dtype}, got dtype={np.dtype(dtype)}; leave out copy"
            )
        return value.astype(dtype)

    def __buffer__(self, flags: int) -> memoryview:
        # The buffer protocol of Python 3.12 and later.
        value: Any = self.host_value
        return memoryview(value)

    def __dlpack__(
        self,
        *,
        stream: Any = None,
        max_version: tuple[int, int] | None = None,
        dl_device: tuple[int, int] | None = None,
        copy: bool | None = None,
    ) -> Any:
        self._check_alive()
        device = self._one_device("__dlpack__")
        return dlpack.to_capsule(
            self._buffer, device, stream, max_version, dl_device, copy
        )

    def __dlpack_device__(self) -> tuple[int, int]:
        return dlpack.device_code(self._one_device("__dlpack_device__"))

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        self._check_alive()
        return self._buffer.__cuda_array_interface__

    def _one_device(self, what: str) -> Device:
        device = self.single_device
        if device is None:
            raise BufferError(
                f"Array.{what}: requires an array on one device, got one on "
                f"{len(self.sharding.device_set)}; take a part of addressable_shards"
            )
        return device

    # -- copies --

    def __reduce__(self) -> Any:
        aval = (
            self.aval if self.aval.explicit is None else self.aval.update(sharding=None)
        )
        return _unpickle, (self.words(), aval)

    def __copy__(self) -> ArrayImpl:
        return _copy_array(self)

    def __deepcopy__(self, memo: Any) -> ArrayImpl:
        return _copy_array(self)

    # -- as a Python value --

    def item(self, *index: int) -> Any:
        """An element as a Python scalar; the only one where no index is given."""
        return self.host_value.item(*index)

    def tolist(self) -> Any:
        """Nested lists of Python scalars."""
        return self.host_value.tolist()

    def tobytes(self, order: Any = "C") -> bytes:
        """The bytes of all elements, the last axis first; "F" for the first one."""
        return self.host_value.tobytes(order)

    def platform(self) -> str:
        """The name of the platform that holds it, as in "cpu"."""
        return next(iter(self.devices())).platform

    def __len__(self) -> int:
        shape = self.aval.shape
        if not shape:
            raise TypeError("len() of unsized object")
        return shape[0]

    def __iter__(self) -> Iterator[ArrayImpl]:
        if not self.aval.shape:
            raise TypeError("iteration over a 0-d array")
        return rows(self)

    def _real_scalar(self, kind: str) -> Any:
        if self.aval.dtype.kind == "c":
            raise TypeError(
                f"{kind}() of an array requires real numbers, got dtype "
                f"{self.aval.dtype}; take x.real or x.imag first"
            )
        return self._scalar()

    def __bool__(self) -> bool:
        if self.size != 1:
            raise ValueError(_ambiguous(self.size, self.aval))
        return bool(self.host_value)

    def __int__(self) -> int:
        return int(self._real_scalar("int"))

    def __float__(self) -> float:
        return float(self._real_scalar("float"))

    def __complex__(self) -> complex:
        return complex(self._scalar())

    def __index__(self) -> int:
        if self.aval.shape or self.aval.dtype.kind not in "iu":
            raise TypeError(
                "Only integer scalar arrays can be converted to a scalar index."
            )
        return self.host_value.__index__()

    def __hex__(self) -> str:
        return hex(self.__index__())

    def __oct__(self) -> str:
        return oct(self.__index__())

    def _scalar(self) -> Any:
        if self.aval.shape:
            raise TypeError(
                "Only scalar arrays can be converted to Python scalars; got "
                f"arr.ndim={self.ndim}"
            )
        return self.host_value[()]

    def __format__(self, spec: str) -> str:
        if self.aval.storage is not self.aval:
            if spec:
                raise TypeError(
                    f"format: elements of dtype {self.dtype} are not numbers to format "
                    f"with {spec!r}; take the words with random.key_data(keys)"
                )
            return str(self)
        value = self.host_value
        return format(value[()] if value.ndim == 0 else value, spec)

    def __str__(self) -> str:
        if self.aval.storage is not self.aval or not self._is_readable():
            return _format_array(self)
        return str(self.host_value)

    def __repr__(self) -> str:
        return _format_array(self)

    def _is_readable(self) -> bool:
        """Whether this process has a copy of each part."""
        return self.is_fully_addressable or self.is_fully_replicated

    # None rather than a method: `collections.abc.Hashable` looks for that.
    __hash__ = None  # type: ignore[assignment]

    def __setitem__(self, index: Any, value: Any) -> None:
        raise TypeError(
            "Array: arrays cannot be changed in place, got an assignment to x[idx]; "
            "write `x = x.at[idx].set(y)` instead of `x[idx] = y`, and "
            "`x = x.at[idx].add(y)` instead of `x[idx] += y`"
        )


def install(name: str, value: Any) -> None:
    """Gives the concrete array an operator, method or property."""
    setattr(ArrayImpl, name, value)


# -- parts -----------------------------------------------------------------------------


class Shard:
    """The part of an array on one device."""

    __slots__ = ("_owner", "_place")

    def __init__(
        self, owner: ArrayImpl | LocalParts | None, place: tuple[int, Part]
    ) -> None:
        self._owner = owner
        self._place = place

    @property
    def device(self) -> Device:
        """The device."""
        return self._place[1].device

    @property
    def index(self) -> Index:
        """Which part of the whole it is, as slices."""
        return self._place[1].slices

    @property
    def replica_id(self) -> int:
        """Its number among the devices that hold the same part."""
        return self._place[1].replica_id

    @property
    def data(self) -> ArrayImpl | None:
        """The part as an array; None where another process holds it.

        It takes a buffer when one is needed: most parts are read, or only asked where
        they are.
        """
        parts: Any = self._owner
        if type(parts) is not LocalParts:
            return parts
        part: ArrayImpl = _new(ArrayImpl)
        part._committed = True
        part._host = None
        part._parts = parts
        part._position = self._place[0]
        part.aval = parts.aval
        if parts.are_large:
            part._take_buffer()
        return part

    def local_data(self) -> ArrayImpl:
        """The part, on a device of this process."""
        data = self.data
        if data is None:
            raise RuntimeError(
                f"Shard: the data must be on a device of this process, got a shard on "
                f"{self.device}; read addressable_shards"
            )
        return data

    def __repr__(self) -> str:
        value = "" if self._owner is None else f", data={self.data}"
        return (
            f"Shard(device={self.device!r}, index={self.index}, "
            f"replica_id={self.replica_id}{value})"
        )


class _Division(NamedTuple):
    """How arrays of a type are divided by a sharding.

    Attributes:
      part_aval: the type of a part; None if there is one device, which has the whole.
      has_large: whether parts are large.
      places: the number and the part of each device of this process.
    """

    part_aval: Any
    has_large: bool
    places: list[tuple[int, Part]]


@functools.lru_cache(maxsize=256)
def _division_of(aval: Any, sharding: Any) -> _Division:
    places = list(enumerate(sharding.local_parts(aval.shape)))
    if sharding.num_devices == 1:
        return _Division(None, False, places)
    part = aval.update(shape=tuple(sharding.shard_shape(aval.shape)))
    stored = part.storage
    is_large = stored.size * stored.dtype.itemsize > _MOST_KEPT_BYTES
    return _Division(part, is_large, places)


_MOST_KEPT_BYTES = 1 << 16  # of a part that keeps the whole array until it is used
client.on_clear(_division_of.cache_clear)
_new = object.__new__
_taking = threading.Lock()


# -- helpers ---------------------------------------------------------------------------


def deleted_array_error(array: ArrayImpl) -> RuntimeError:
    """The error for the use of an array whose memory is gone."""
    sizes = ",".join(map(str, array.shape))
    is_part = type(array._holder) is LocalParts
    it = "It is a part, not used before, of an array that" if is_part else "It"
    error = RuntimeError(
        f"Array has been deleted with shape={array.dtype}[{sizes}]. {it} was donated "
        "to a computation (donate_argnums, donate_argnames) or deleted by .delete(); "
        "use the computation's result, or keep a copy made before"
    )
    error.__suppress_context__ = True  # XLA's own error says no more
    return error


def _opaque(array: ArrayImpl) -> TypeError:
    """The error for reading elements that are not numbers."""
    return TypeError(
        f"Array: elements of dtype {array.dtype} are opaque and have no NumPy form, "
        f"got a {array.aval.short()} to convert; take the words of random keys with "
        "random.key_data(keys)"
    )


def _ambiguous(size: int, aval: Any) -> str:
    if size == 0:
        return (
            "The truth value of an empty array is ambiguous. Use `array.size > 0` to "
            "check that an array is not empty."
        )
    return (
        "The truth value of an array with more than one element is ambiguous. Use "
        f"a.any() or a.all(), or choose by element with numpy.where; got {aval.short()}"
    )


def rows(array: ArrayImpl, step: int = 1, sharding: Any = None) -> Iterator[ArrayImpl]:
    """The sub-arrays along the first axis, copied from the value on the host.

    Args:
      array: of at least one axis.
      step: -1 for the last one first.
      sharding: over a mesh, where they are; None for the array's device, or for the
        default device, from which they may be moved, if the array has several.
    """
    value = array.words() if array.aval.storage is not array.aval else array.host_value
    aval = array.aval.update(shape=array.aval.shape[1:])
    stored = aval.storage
    committed = array._committed
    device = array.single_device
    if device is None:
        place: Any = default_placement()
        committed = False
    else:
        place = placement_of(device)
    put: Any = transfer.to_device
    if sharding is not None:
        put, place, committed = parts.put, sharding, True
    keys = getattr(array, "_keys", None)
    in_memory = sharding is None and place.is_host and stored is aval
    in_memory = in_memory and stored.size * value.itemsize <= host_results.MAX_BYTES
    for i, row in enumerate(value[::step]):
        out = host_results.put(row, aval, place, committed) if in_memory else None
        if out is None:
            # A row of a vector is a NumPy scalar; its array is wanted.
            with guards.lift():
                buffer = put(np.asarray(row), stored, place, committed)
            out = ArrayImpl(buffer, aval, committed)
        if keys is not None and keys.ndim:
            out._follow(np.asarray(keys[::step][i], object))
        yield out


def over_memory_of(array: ArrayImpl, aval: Any, committed: bool) -> ArrayImpl:
    """Another array over the same buffer."""
    other = ArrayImpl(array._buffer, aval, committed)
    if array._parts is _SHARED:
        other._share()
    if array._is_kept():
        other._keep()
    return other


def _copy_buffer(array: ArrayImpl) -> Any:
    device = array.single_device
    if device is None or not array._is_kept():
        return transfer.copy_buffer(array._buffer)
    # Of a number it takes less time to make another one.
    with guards.lift():
        place, value = placement_of(device), array.words()
        return transfer.to_device(value, array.aval.storage, place, array._committed)


def _copy_array(array: ArrayImpl) -> ArrayImpl:
    array._check_alive()
    memory, copy = array._parts, None
    if type(memory) is HostMemory and array.aval.storage is array.aval:
        value, place = array.words(), memory.place
        copy = host_results.put(value, array.aval, place, array._committed)
    if copy is None:
        copy = ArrayImpl(_copy_buffer(array), array.aval, array._committed)
    if hasattr(array, "_keys"):
        copy._follow(array._keys)
    return copy


def _unpickle(value: Any, aval: Any) -> ArrayImpl:
    """Rebuilds a pickled array on the default device."""
    stored = getattr(aval, "storage", None)
    expected = getattr(stored, "shape", None), getattr(stored, "dtype", None)
    if not isinstance(value, np.ndarray) or (value.shape, value.dtype) != expected:
        raise ValueError(
            "Array: a pickle must hold a NumPy array and its aval, got "
            f"{type(value).__name__} for {aval!r}; the file is damaged"
        )
    place = default_placement()
    return ArrayImpl(transfer.to_device(value, stored, place, False), aval)


def _format_array(array: ArrayImpl) -> str:
    """The printed form: NumPy's layout, then dtype and weak type."""
    if array.aval.storage is not array.aval:
        words = "" if array.is_deleted() else f" overlaying:\n{array.words()}"
        return f"Array({array.shape}, dtype={array.dtype.name}){words}"
    start = "Array("
    facts = f"dtype={array.dtype.name}"
    if array.weak_type:
        facts += ", weak_type=True"
    facts += ")"
    if not array._is_readable():
        return f"{start}shape={array.shape}, {facts}"
    width = np.get_printoptions()["linewidth"]
    if array.size:
        text = np.array2string(
            array.host_value,
            max_line_width=width,
            separator=", ",
            prefix=start,
            suffix=",",
        )
    else:
        array._check_alive()
        text = f"[], shape={array.shape}"
    last_line = len(text) - text.rfind("\n") + 1
    # Too long a line is told by a wider gap, not broken: documents show it so.
    gap = " " if last_line + len(facts) < width else " " * len(start)
    return f"{start}{text},{gap}{facts}"
