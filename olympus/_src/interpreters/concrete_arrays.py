"""Concrete arrays: from NumPy's and Python's values, and on which device they are."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from olympus._src.core import array_type, dtypes, high_values, refs, trace
from olympus._src.core import avals as avals_
from olympus._src.foundation import array_protocol, caching, config
from olympus._src.runtime import array as array_
from olympus._src.runtime import (
    client,
    guards,
    placement,
    plugins,
    staging,
    versions,
)
from olympus._src.runtime.shardings import (
    SingleDeviceSharding,
    default_placement,
    placement_of,
)
from olympus._src.sharding import contexts, single_devices
from olympus._src.sharding.division import (
    Division,
    devices_text,
    incompatible_devices,
)
from olympus._src.sharding.meshes import AbstractMesh, Mesh
from olympus._src.sharding.named import NamedSharding
from olympus._src.sharding.specs import PartitionSpec

ArrayImpl = array_.ArrayImpl
Shard = array_.Shard
lift_guards = guards.lift
several_devices = client.several_devices
array_type.register_concrete(ArrayImpl)
avals_.register_typed(ArrayImpl)
# JAX's own arrays, in a process that has both, are values of the host as NumPy's are.
avals_.register_aval(versions.JaxlibArray, avals_.numpy_aval)


def as_array(x: Any, device: Any = None) -> ArrayImpl:
    """A concrete array for an array, a NumPy value or a Python scalar.

    A value without a device is whole on each device of the mesh that is set.

    Raises:
      UnexpectedTracerError: `x` is a tracer.
      TypeError: `x` is not array-like.
    """
    kind = type(x)
    if kind is ArrayImpl:
        return x
    if device is None and contexts.default_mesh.blocks:
        return _on_default_mesh(x)
    if kind is np.ndarray:
        return _from_numpy(x, device)
    return as_unplaced_array(x, device)


def as_unplaced_array(x: Any, device: Any = None) -> ArrayImpl:
    """`as_array`, where a value without a device goes to the default one."""
    kind = type(x)
    if kind is ArrayImpl:
        return x
    if kind is np.ndarray:
        return _from_numpy(x, device)
    if isinstance(x, trace.Tracer):
        raise trace.leak_error(x, "a computation outside of any trace")
    if kind is float or kind is int or kind is bool or kind is complex:
        return _scalar(x)
    if device is None and isinstance(x, np.floating):
        return _scalar(x)  # derivative rules multiply with such
    if array_protocol.is_array(x):
        return as_unplaced_array(array_protocol.array_of(x), device)
    if kind is refs.Ref:
        raise refs.not_an_array(x.aval, "a computation outside of any trace")
    aval = avals_.aval_of(x)
    if aval.is_high:
        raise high_values.not_an_array("a computation outside of any trace", [aval])
    return _from_numpy(np.asarray(x), device, aval)


def _from_numpy(x: np.ndarray, device: Any, aval: Any = None) -> ArrayImpl:
    aval = avals_.aval_of(x) if aval is None else aval
    if aval.dtype == dtypes.float0:  # stored as falsehoods
        values = np.zeros(aval.shape, np.bool_)
        return with_aval(put(values, aval.storage, device), aval)
    return placement.put(x, aval) if device is None else put(x, aval, device)


class HighOperand:
    """A value of a high type as an operand: the arrays that stand for it.

    Attributes:
      aval: the type of the value.
      value: the user's object.
      lows: operands, in the order of the arrays that stand for it.
    """

    __slots__ = ("aval", "lows", "value")

    def __init__(self, aval: Any, value: Any, device: Any = None) -> None:
        self.aval = aval
        self.value = value
        self.lows: list[Any] = []
        for low in aval.lower_val(value):
            operand = as_operand(low, device)
            self.lows += operand.lows if type(operand) is HighOperand else [operand]

    @property
    def _buffer(self) -> HighOperand:
        """Itself, where arrays have their memory; a call takes those of the arrays."""
        return self

    @property
    def committed_device(self) -> Any:
        """The device or sharding that an array of it is committed to, or None."""
        places = [x.committed_device for x in self.lows]
        return next((place for place in places if place is not None), None)

    def on_device(self, target: Any) -> HighOperand:
        """The same value, with its arrays moved."""
        moved: HighOperand = object.__new__(HighOperand)
        moved.aval, moved.value = self.aval, self.value
        moved.lows = [_followed(x, target) for x in self.lows]
        return moved


def as_operand(x: Any, device: Any = None) -> Any:
    """What a program takes: a concrete array, a ref, or arrays of a high type."""
    kind = type(x)
    if device is None and contexts.default_mesh.blocks and kind in _OF_HOST:
        array = _on_default_mesh(x)  # where most programs take it, but free to move
        return array_.over_memory_of(array, array.aval, False)
    if kind is np.ndarray and device is None:  # in the fewest steps
        aval = avals_.numpy_aval(x)
        if aval.dtype is x.dtype and aval.storage is aval:
            return placement.put_native(x, aval)
    if kind is ArrayImpl or kind is refs.Ref or kind is HighOperand:
        return x
    if high_values.are_in_use() and high_values.is_high_value(x):
        return HighOperand(avals_.aval_of(x), x, device)
    return as_unplaced_array(x, device)


def operand_beside(x: Any, array: ArrayImpl) -> Any:
    """What a program takes for a value of the host beside a committed array.

    It is on that array's device, if this is one, and free to move.
    """
    device = array.single_device
    if device is None or contexts.default_mesh.blocks:
        return as_operand(x)
    return _operand_on(x, device)


def _operand_on(x: Any, device: Any) -> Any:
    if type(x) is ArrayImpl:
        return placement.follow(x, device)
    if type(x) in _NUMBERS or isinstance(x, np.floating):
        return _scalar(x, device)
    if type(x) is np.ndarray:
        aval = avals_.numpy_aval(x)
        if aval.storage is aval:
            return placement.put_beside(x, aval, device)
    return _followed(as_operand(x), device)


# Types of NumPy values that calls may copy to memory of their own, by the settings, the
# dtype and the shape; None for those that they may not.
staged_types: dict[Any, Any] = {}
caching.register(staged_types.clear, "types of NumPy arguments")
_MAX_STAGED_TYPES = 4096
# Where values of 64 bits are off, the copy narrows them.
_NARROWED = {
    np.dtype(np.int64): np.dtype(np.int32),
    np.dtype(np.uint64): np.dtype(np.uint32),
    np.dtype(np.float64): np.dtype(np.float32),
}


def find_staged_type(key: Any, x: Any) -> Any:
    """The type of a NumPy value, if it may be staged; entered under the key.

    `as_operand` gives an array of this type on the one device that there is.
    """
    aval = avals_.numpy_aval(x)
    fits = aval.dtype is x.dtype or aval.dtype is _NARROWED.get(x.dtype)
    fits = fits and aval.storage is aval and aval is avals_.aval_of(x)
    staged = aval if fits and 0 < x.nbytes <= staging.MAX_BYTES else None
    if len(staged_types) >= _MAX_STAGED_TYPES:
        staged_types.clear()
    staged_types[key] = staged
    return staged


def rows(x: ArrayImpl, step: int = 1) -> Iterator[ArrayImpl]:
    """The sub-arrays along the first axis, copied from the value on the host.

    Where a mesh is set, or the array is whole on each device of one, they are so too.
    """
    place = x.committed_device if x._committed else default_sharding()
    if not isinstance(place, NamedSharding) or not place.is_fully_replicated:
        return array_.rows(x, step)
    return array_.rows(x, step, whole_on(place.device_mesh))


def copy(x: ArrayImpl) -> ArrayImpl:
    """An array of its own memory, where a program of the array would give it.

    Raises:
      ValueError: it is committed to other devices than those of the mesh that is set.
    """
    place = common_device([x])
    if isinstance(place, Division) and not x.committed:
        return placement.divide(x, whole_on(place.mesh))
    return ArrayImpl(placement.copy_buffer(x._buffer), x.aval, x._committed)


def place_result(x: Any, place: Any) -> ArrayImpl:
    """A value of the host as a program that runs in a place would give it.

    Args:
      x: an array, a NumPy value or a Python number.
      place: what `common_device` gave for the operands.
    """
    if isinstance(place, Division):
        return on_sharding(x, whole_on(place.mesh))
    return as_array(x) if place is None else on_chosen_device(as_array(x, place), place)


def beside_committed(x: Any, *args: Any) -> Any:
    """A result that was computed on the host, on the device of committed arguments.

    Args:
      x: an array; a tracer stays as it is.
      args: arrays and values of the host.
    """
    if type(x) is not ArrayImpl:
        return x
    place = common_device(args)
    return x if isinstance(place, Division) else place_result(x, place)


def placed_like(x: Any, other: ArrayImpl) -> ArrayImpl:
    """The value as an array in the place of another one."""
    place = other.committed_device
    if place is not None:
        return on_sharding(x, place)
    array = as_unplaced_array(x)
    return (
        array
        if other.single_device is None
        else placement.follow(array, other.single_device)
    )


def as_array_or_tracer(x: Any) -> Any:
    """What an operation returns for a value that it does not change: an array, or
    the tracer.
    """
    return x if hasattr(x, "aval") else as_own_array(x)


def as_own_array(x: Any) -> ArrayImpl:
    """`as_array` for users, who may delete or donate it.

    Those that operations take for numbers are kept, and are many programs' operands.
    """
    if type(x) not in _NUMBERS and not isinstance(x, np.floating):
        return as_array(x)
    aval = avals_.aval_of(x)
    return put(np.asarray(x, aval.dtype), aval)


def with_aval(x: ArrayImpl, aval: Any) -> ArrayImpl:
    """The same buffer as another type of the same storage: keys and their words."""
    return array_.over_memory_of(x, aval, x.committed)


def storage_of(x: ArrayImpl) -> ArrayImpl:
    """The same buffer as its storage type: of keys, their words."""
    return with_aval(x, x.aval.storage)


def _scalar(x: Any, place: Any = None) -> ArrayImpl:
    """A Python or NumPy scalar on the default device; recent ones are kept.

    Args:
      x: it.
      place: another device, where it is uncommitted; or a sharding over a mesh, where
        it is committed.
    """
    key = (type(x), x if x else repr(x), config.trace_context(), place)
    array = scalars.get(key)
    if array is None or array.is_deleted():
        aval = avals_.aval_of(x)
        array = placement.put(np.asarray(x, aval.dtype), aval)
        if isinstance(place, NamedSharding):
            array = placement.divide(array, place)
        elif place is not None:
            array = placement.follow(array, place)
        if len(scalars) > _MAX_SCALARS:
            scalars.clear()
        array._keep()
        scalars[key] = array
    return array


def put(x: np.ndarray, aval: Any, device: Any = None) -> ArrayImpl:
    """A concrete array with a copy of a NumPy array's values; compiles nothing.

    Args:
      x: array of the aval's shape.
      aval: the type of the result.
      device: a device or a sharding; None for all devices of the mesh that is set, or
        the default device.
    """
    if device is None:
        if not contexts.default_mesh.blocks:
            return placement.put(x, aval)
        device = default_sharding()
    if isinstance(device, NamedSharding):
        return placement.put_divided(x, aval.update(sharding=device), device)
    return placement.put(x, aval, None if device is None else one_device(device))


def read_computed(operands: Sequence[ArrayImpl]) -> list[np.ndarray] | None:
    """The values of arrays on the default device, a CPU.

    Returns:
      Views of them; None where some are elsewhere, deleted, or not computed soon.
    """
    home = default_placement().sharding
    if guards.are_active() or contexts.default_mesh.blocks:
        return None
    for x in operands:
        if x.sharding is not home or x.is_deleted():
            return None
        if not x.is_ready() and not _is_soon_ready(x):
            return None
    try:
        return list(map(placement.view_of, operands))
    except BufferError:  # it failed, or another thread deleted it
        return None


# As long as it takes to read a small program from disk.
_PATIENCE_S = 1e-3


def _is_soon_ready(x: ArrayImpl) -> bool:
    end = time.perf_counter() + _PATIENCE_S
    while time.perf_counter() < end:
        time.sleep(1e-5)
        if x.is_ready():
            return True
    return False


def put_computed(rows: Sequence[tuple[Any, Any]]) -> list[ArrayImpl] | None:
    """Arrays of their own memory on the default device, of values and their types.

    Returns:
      None where a value is not of its type.
    """
    arrays = []
    for value, aval in rows:
        stored = aval.storage
        host = np.asarray(value, order="C")
        if host.dtype != stored.dtype or host.shape != stored.shape:
            return None
        array = placement.put(host, stored)
        arrays.append(array if stored is aval else with_aval(array, aval))
    return arrays


def is_near(device: Any = None) -> bool:
    """Whether a device computes in the host's memory, as the CPU does.

    Args:
      device: a device, or a sharding of one; None for the default device.
    """
    if device is None:
        return default_placement().is_cpu
    return placement_of(one_device(device)).is_cpu


def fill(
    write: Callable[[np.ndarray], object], aval: Any, device: Any = None
) -> ArrayImpl:
    """An array of values that a function writes into a NumPy array it is given."""
    if device is None:
        if not contexts.default_mesh.blocks:
            return placement.fill(write, aval)
        device = default_sharding()
    if isinstance(device, NamedSharding):
        host = np.empty(aval.shape, aval.dtype)
        write(host)
        return put(host, aval, device)
    return placement.fill(write, aval, None if device is None else one_device(device))


def on_chosen_device(x: ArrayImpl, device: Any) -> ArrayImpl:
    """The array on a device (or sharding of one) that the user chose."""
    array = placement.copy_to_device(x, one_device(device))
    return array if array.aval.explicit is None else _with_division(array, None)


def on_sharding(x: Any, sharding: Any) -> ArrayImpl:
    """A concrete array that is placed as a sharding says, and is committed to it.

    Args:
      x: an array, a NumPy value or a Python number.
      sharding: over a mesh, which divides the value evenly, or of one device.
    """
    if _is_unreduced(x) or getattr(getattr(sharding, "spec", None), "unreduced", None):
        raise ValueError(
            "device_put: sums over devices that are still to be taken (unreduced) are "
            f"made and taken by programs, got {avals_.aval_of(x).short()} for "
            f"{sharding}; use olympus.reshard"
        )
    if not isinstance(sharding, NamedSharding):
        device = one_device(sharding)
        return on_chosen_device(as_unplaced_array(x, device), device)
    if isinstance(x, (np.ndarray, np.generic)):
        aval = avals_.aval_of(x)
        if aval.dtype != dtypes.float0:
            aval = aval.update(sharding=sharding)
            return placement.put_divided(np.asarray(x), aval, sharding)
    array = placement.divide(as_unplaced_array(x), sharding)
    return _with_division(array, sharding)


def _is_unreduced(x: Any) -> bool:
    explicit = x.aval.explicit if type(x) is ArrayImpl else None
    return explicit is not None and bool(explicit.spec.unreduced)


def _with_division(x: ArrayImpl, sharding: Any) -> ArrayImpl:
    """The array, of a type that says how explicit axes divide it."""
    aval = x.aval.update(sharding=sharding)
    return x if aval is x.aval else with_aval(x, aval)


def one_device(device: Any, what: str = "device") -> Any:
    """The device that a device or a sharding of one stands for.

    Args:
      device: it.
      what: the function or argument, for messages.

    Raises:
      TypeError: it does not stand for one.
    """
    if hasattr(device, "device_set"):
        devices = list(device.device_set)
        if len(devices) == 1:
            return devices[0]
    elif hasattr(device, "platform") and hasattr(device, "id"):
        return device
    raise TypeError(
        f"{what}: expected a device or a sharding of one device, got {device!r}; see "
        "olympus.devices()"
    )


_MAX_SCALARS = 2048
# By their types, values, settings and shardings; calls in C look here first.
scalars: dict[Any, ArrayImpl] = {}
caching.register(scalars.clear, "scalars on the device")


def forget_scalars(level: Any = None) -> None:
    """Where a guard of transfers changes: those that are kept would pass it."""
    scalars.clear()


for _guard in config.transfer_guard.followers:
    _guard.watch(forget_scalars, forget_scalars)


def are_at_default(args: Sequence[Any]) -> bool:
    """Whether arrays among the arguments are on the default device and may be moved.

    Under a mesh that is set none is: programs run on all of its devices.

    Programs without a committed device are compiled for the default one.
    """
    if contexts.default_mesh.value is not None:
        return False
    home = default_placement().sharding
    for x in args:
        if type(x) is not ArrayImpl:
            if not _stands_for_array(x):
                continue
            x = as_unplaced_array(x)
        if x._committed or x.sharding is not home:
            return False
    return True


def are_all_on(arrays: Sequence[ArrayImpl], device: Any) -> bool:
    """Whether a program of one device takes arrays where they are.

    Args:
      arrays: they.
      device: the device; None for the default one.
    """
    if not client.several_devices():
        return True
    if contexts.default_mesh.value is not None or isinstance(device, Division):
        return False
    target = device if device is not None else client.default_device()
    home = placement_of(target).sharding
    return all(x.sharding is home or x.sharding == home for x in arrays)


_OF_HOST = frozenset((np.ndarray, bool, int, float, complex))

# And NumPy's scalars. Not their subclasses, which may be nodes of trees.
HOST_TYPES = _OF_HOST.union(d.type for d in dtypes.supported_dtypes())


def _stands_for_array(x: Any) -> bool:
    """Whether an object of another library gives an array, which may lie anywhere."""
    return type(x) not in _OF_HOST and array_protocol.is_array(x)


# -- devices ---------------------------------------------------------------------------


def whole_on(mesh: Mesh) -> NamedSharding:
    """The sharding of arrays that are whole on each device of a mesh."""
    return NamedSharding(mesh, _WHOLE)


_WHOLE = PartitionSpec()


def default_sharding() -> NamedSharding | None:
    """How values lie for which no place was chosen; None: on the default device."""
    mesh = contexts.default_mesh.value
    if mesh is None or not mesh.holds_values:
        return None
    return whole_on(mesh)


def _on_default_mesh(x: Any) -> ArrayImpl:
    """`as_array` of what is no array yet, where a mesh is set."""
    sharding = default_sharding()
    if sharding is None:
        return as_unplaced_array(x)
    if type(x) in _NUMBERS:
        return _scalar(x, sharding)
    array = as_unplaced_array(x, sharding)
    if array_protocol.is_array(x):
        return array  # that it stands for, which may be committed elsewhere
    return placement.divide(array, sharding)


_NUMBERS = frozenset((bool, int, float, complex))


def common_device(args: Sequence[Any], used: Sequence[bool] | None = None) -> Any:
    """Where a computation runs: as its arguments are committed, or on a mesh.

    Args:
      args: its arguments.
      used: which of them it reads; None for all.

    Returns:
      A device, a `Division` over several, or None where no argument is committed and
      no mesh is set.

    Raises:
      ValueError: they are committed to different devices, or not to those of the mesh
        that is set.
    """
    if not client.several_devices():
        return None
    return common_place(committed_places(args, used))


def committed_places(
    values: Sequence[Any], used: Sequence[bool] | None = None
) -> list[Any]:
    """The device or sharding that each value is committed to; None for unused ones."""
    if used is None:
        return [committed_place(x) for x in values]
    rows = zip(values, used, strict=True)
    return [committed_place(x) if is_used else None for x, is_used in rows]


def committed_place(x: Any) -> Any:
    """The device or sharding that a value is committed to, or described with."""
    kind = type(x)
    if kind is ArrayImpl or kind is refs.Ref or kind is HighOperand:
        return x.committed_device
    if high_values.are_in_use() and high_values.is_high_value(x):
        return as_operand(x).committed_device
    if _stands_for_array(x):
        return committed_place(array_protocol.array_of(x))
    sharding = getattr(x, "sharding", None)
    if isinstance(sharding, SingleDeviceSharding):
        sharding = single_devices.with_its_memory(sharding)
        if isinstance(sharding, SingleDeviceSharding):
            return next(iter(sharding.device_set))
    if not isinstance(sharding, NamedSharding):
        return None
    return None if isinstance(sharding.mesh, AbstractMesh) else sharding


def common_place(places: Sequence[Any]) -> Any:
    """Where a computation runs whose arguments are in some places.

    Args:
      places: for each argument a device, a sharding or None.

    Returns:
      A device; a `Division` where a mesh is among them, or is set; or None.

    Raises:
      ValueError: they are on different devices, or not on those of the mesh that is
        set.
    """
    mesh = contexts.default_mesh.value
    common: Any = None if mesh is None else whole_on(mesh)
    for place in places:
        if place is None:
            continue
        if common is not None and not _are_same_devices(common, place):
            raise incompatible_devices(_explain_places(mesh, common, place))
        if common is None or _divides(place, common):
            common = place
    if isinstance(common, NamedSharding):
        named = [p if isinstance(p, NamedSharding) else None for p in places]
        return Division(common.device_mesh, tuple(named))
    return None if common is None else _devices(common)[0]


def _divides(place: Any, common: Any) -> bool:
    """Whether the results are told in the axes of this place's mesh."""
    if not isinstance(place, NamedSharding):
        return False
    return not isinstance(common, NamedSharding) or not place.is_fully_replicated


def _explain_places(mesh: Mesh | None, common: Any, place: Any) -> str:
    """Why arguments cannot be used in one computation."""
    if mesh is not None:
        return (
            f"an argument is committed to {devices_text(_devices(place))}, and the "
            f"mesh that is set is {mesh} of {devices_text(mesh.flat_devices)}; move it "
            "with olympus.device_put(x, olympus.P()), or call outside of set_mesh"
        )
    return (
        f"arguments are committed to {devices_text(_devices(common))} and "
        f"{devices_text(_devices(place))}; move one with olympus.device_put"
    )


def _are_same_devices(a: Any, b: Any) -> bool:
    return a is b or _devices(a) == _devices(b)


def _devices(place: Any) -> tuple[Any, ...]:
    return place._device_assignment if hasattr(place, "device_set") else (place,)


def on_device(
    args: Sequence[Any], device: Any, used: Sequence[bool] | None = None
) -> list[Any]:
    """The arguments as arrays (or refs), moved to where the computation runs.

    Args:
      args: they.
      device: a device, a `Division` or None, as `common_device` gives it.
      used: which of them are moved; None for all.
    """
    arrays = [as_operand(x) for x in args]
    if not client.several_devices() or isinstance(device, Division):
        return arrays  # a divided program puts them in place itself
    target = device if device is not None else client.default_device()
    if used is None:
        return [_followed(a, target) for a in arrays]
    rows = zip(arrays, used, strict=True)
    return [_followed(a, target) if is_used else a for a, is_used in rows]


def operands_on(args: Sequence[Any], device: Any) -> list[Any]:
    """What a program of one device takes for its arguments, which are moved there.

    Args:
      args: arrays and values of the host.
      device: the device; None for the default one.
    """
    target = device if device is not None else client.default_device()
    return [_operand_on(x, target) for x in args]


def _followed(x: Any, target: Any) -> Any:
    """An operand, moved to a device."""
    if type(x) is HighOperand:
        return x.on_device(target)
    return x if type(x) is refs.Ref else placement.follow(x, target)


def default_platform() -> str:
    """The platform on which operations run that have no arrays."""
    return client.platform_of(client.default_device())


def cudnn_version() -> int | None:
    """The version of cuDNN, as 91800 for 9.18.0; None where there is none."""
    return plugins.library_version("cudnn")


def compute_capability() -> tuple[int, ...] | None:
    """What the first GPU of the default platform can do, as (9, 0); None without."""
    device = client.devices()[0]
    if client.platform_of(device) != "cuda":
        return None
    return tuple([int(part) for part in device.compute_capability.split(".")])


def from_dlpack(x: Any, device: Any = None, copy: bool | None = None) -> ArrayImpl:
    """An array that shares the memory of another library's; see `runtime.placement`."""
    target = None if device is None else client.as_device(device)
    return placement.from_dlpack(x, avals_.ShapedArray, target, copy)
