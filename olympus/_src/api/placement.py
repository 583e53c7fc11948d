"""Where arrays are: devices, transfers, waiting."""

from __future__ import annotations

import contextlib
import copy
import gc
import sys
from typing import Any

import numpy as np

from olympus._src import native, tree
from olympus._src.api import layouts, sharding_arguments
from olympus._src.api.jit import jit
from olympus._src.core import avals as avals_
from olympus._src.core import explicit_shardings, high_values, trace
from olympus._src.core.array_type import Array, PyTree
from olympus._src.core.primitive import LateRule
from olympus._src.foundation import caching, config, errors
from olympus._src.interpreters import (
    concrete_arrays,
    effect_tokens,
    evaluate,
)
from olympus._src.lax import memory_kinds, sharding_constraints
from olympus._src.runtime import array as array_
from olympus._src.runtime import client, guards, placement, versions
from olympus._src.sharding import contexts
from olympus._src.sharding.memory_spaces import Space
from olympus._src.sharding.meshes import Mesh
from olympus._src.sharding.named import NamedSharding
from olympus._src.sharding.specs import PartitionSpec

ArrayImpl = array_.ArrayImpl
Device = versions.Device


def devices(backend: str | None = None) -> list[Device]:
    """All devices of a platform; of the default one if none is named.

    Raises:
      RuntimeError: the platform is missing; the message says what to install.
    """
    return list(client.devices(backend))


def local_devices(
    process_index: int | None = None,
    backend: str | None = None,
    host_id: int | None = None,
) -> list[Device]:
    """The devices of a process.

    Args:
      process_index: its number; None for this process.
      backend: a platform; None for the default one.
      host_id: an older name of `process_index`.

    Raises:
      ValueError: there is no such process.
    """
    process = host_id if process_index is None else process_index
    return list(client.local_devices(backend, process))


def device_count(backend: str | None = None) -> int:
    """Number of devices of a platform."""
    return len(client.devices(backend))


def local_device_count(backend: str | None = None) -> int:
    """Number of devices that this process can use."""
    return len(client.local_devices(backend))


def default_backend() -> str:
    """Name of the platform used where none is requested, as in 'cpu'."""
    return client.default_backend()


def process_index(backend: str | None = None) -> int:
    """Index of this process among those that compute together."""
    return client.process_index(backend)


def process_count(backend: str | None = None) -> int:
    """Number of processes that compute together."""
    return client.process_count(backend)


def process_indices(backend: str | None = None) -> list[int]:
    """Indices of all processes that compute together."""
    return client.process_indices(backend)


host_id = process_index
host_count = process_count
host_ids = process_indices


def print_environment_info(return_string: bool = False) -> str | None:
    """Prints the versions and the machine, for bug reports."""
    lines = [
        f"jaxlib: {versions.version.__version__}",
        f"numpy: {np.__version__}",
        f"python: {sys.version}",
        f"platform: {sys.platform}",
        f"devices ({device_count()} total): {devices()}",
        f"process_count: {process_count()}",
        f"calls in C: {'yes' if native.calls else 'no, so each costs 1 us more'}",
    ]
    text = "\n".join(lines)
    if return_string:
        return text
    print(text)
    return None


def device_put(
    x: PyTree,
    device: PyTree = None,
    *,
    src: PyTree = None,
    donate: PyTree = False,
    may_alias: PyTree = None,
) -> PyTree:
    """Puts arrays and NumPy values on devices.

    Args:
      x: a pytree of arrays, NumPy values and numbers.
      device: a device, a sharding, a PartitionSpec for the mesh that is set, or a
        `memory.Space` for another memory of the same devices; or a tree of them that is
        a prefix of `x`. None leaves arrays where they are and puts the rest on the
        default device.
      src: where the values are, in the same form; not needed.
      donate: whether the memory of arrays that are moved may be freed; or a prefix.
      may_alias: whether the result may share memory with arrays already there;
        or a prefix. False copies.

    Returns:
      The same tree of arrays; they are committed to where they were put.

    Raises:
      TypeError: a leaf is not an array, or `device` is not a place.
      ValueError: a mesh cannot divide a value evenly, or `device` is not a prefix of
        `x`; or an array that is divided over processes is to go to one device.

    An array that is divided over processes is moved by a program that all of them run:
    all call this function.

    Example:
      >>> import olympus, numpy as np
      >>> olympus.device_put(np.arange(3))
      Array([0, 1, 2], dtype=int32)
    """
    leaves, structure = tree.tree_flatten(x)
    what = "device_put device"
    places = sharding_arguments.of_leaves(device, x, what, "x", spaces=True)
    donated = tree.broadcast_prefix(donate, x, what="device_put donate", full_name="x")
    aliases = tree.broadcast_prefix(
        may_alias,
        x,
        lambda flag: flag is None,
        what="device_put may_alias",
        full_name="x",
    )
    rows = zip(leaves, places, donated, aliases, strict=True)
    if guards.are_on():
        with guards.explicit("put"):
            outs = [_put_for_user(*row) for row in rows]
    else:
        outs = [_put_for_user(*row) for row in rows]
    if config.debug_key_reuse.value:
        outs = list(map(evaluate.share_keys, leaves, outs))
    return structure.unflatten(outs)


def with_sharding_constraint(x: PyTree, shardings: PyTree) -> PyTree:
    """The same values, placed as a sharding says.

    Inside of a compiled function this is a mark in the program; outside arrays are put
    there.

    Args:
      x: a pytree of arrays.
      shardings: a sharding, or a PartitionSpec for the mesh that is set, or a Format
        with a sharding; or a tree of them that is a prefix of `x`. The layout of a
        format is that of the value inside of a program; outside of programs, where
        arrays have the default layout, its sharding alone counts.

    Returns:
      A pytree of the same structure.

    Raises:
      TypeError: a leaf of `shardings` is not a sharding.
      RuntimeError: a leaf is a PartitionSpec, and no mesh is set.
      ValueError: a leaf is None, a mesh cannot divide a value evenly, or `shardings` is
        not a prefix of `x`.

    Example:
      >>> import olympus, numpy as np
      >>> here = olympus.device_put(np.zeros(2)).sharding
      >>> olympus.lax.with_sharding_constraint(np.arange(3), here)
      Array([0, 1, 2], dtype=int32)
    """
    what = "with_sharding_constraint shardings"
    for place in tree.tree_leaves(shardings, sharding_arguments.is_leaf):
        if isinstance(place, PartitionSpec) and contexts.get_mesh().empty:
            raise RuntimeError(sharding_constraints.no_mesh_text(what, place))
    places = sharding_arguments.of_leaves(shardings, x, what, "x", layouts=True)
    if None in places:
        raise ValueError(
            "with_sharding_constraint: shardings must be shardings, got None; leave "
            "the call out where nothing is to be constrained"
        )
    for place in tree.tree_leaves(shardings, sharding_arguments.is_leaf):
        if versions.is_device(place):
            raise TypeError(
                f"{what}: must be shardings, got the device {place}; write "
                "SingleDeviceSharding(device)"
            )
    leaves, structure = tree.tree_flatten(x)
    orders = sharding_arguments.layouts_of_leaves(shardings, x)
    leaves = list(map(_order, leaves, orders))
    rows = zip(leaves, places, strict=True)
    return structure.unflatten([_constrain(leaf, place) for leaf, place in rows])


def _order(x: Any, layout: Any) -> Any:
    """A value in the order of a layout, if a program may keep it so."""
    if layout is None:
        return x
    if not evaluate.is_evaluating():
        return layouts.with_layout_constraint(x, layout)
    layout.check_compatible_aval(avals_.aval_of(x).shape)
    return x


def _constrain(x: Any, sharding: Any) -> Any:
    if isinstance(sharding, NamedSharding) and sharding.mesh.explicit_axes:
        _check_type(x, sharding)
        if not sharding.mesh.auto_axes:
            return x
    if evaluate.is_evaluating():
        return _put(x, sharding)
    _check_value(x, sharding, "with_sharding_constraint")
    return sharding_constraints.constrain(x, sharding)


def _check_type(x: Any, sharding: NamedSharding) -> None:
    """Raises ShardingTypeError where a type does not say that it is divided so."""
    aval = avals_.aval_of(x)
    explicit = explicit_shardings.canonicalize(sharding, aval.ndim)
    if explicit is not aval.explicit:
        raise errors.ShardingTypeError(
            "with_sharding_constraint: along explicit axes it checks the type, got "
            f"{sharding.spec} for a value of type {aval.short()}; move it with "
            "olympus.reshard"
        )


_lower_value = LateRule("interpreters.hi_lowering", "lower_value")
_raise_values = LateRule("interpreters.hi_lowering", "raise_values")


def _put_for_user(x: Any, *options: Any) -> Any:
    """As `_put`, an array that nobody else has."""
    out = _put(x, *options)
    return copy.copy(out) if type(out) is ArrayImpl and out._is_kept() else out


def _put(
    x: Any, sharding: Any, donate: bool = False, may_alias: bool | None = None
) -> Any:
    if high_values.are_in_use() and avals_.aval_of(x).is_high:
        if isinstance(x, trace.Tracer):
            return x
        lows = _lower_value(x)  # each is put there
        lows = [_put(low, sharding, donate, may_alias) for low in lows]
        return _raise_values([avals_.aval_of(x)], lows)[0]
    if isinstance(sharding, Space):
        return _put_in_memory(x, sharding)
    is_over_mesh = isinstance(sharding, NamedSharding)
    if isinstance(x, trace.Tracer) or (is_over_mesh and evaluate.is_staging()):
        if not is_over_mesh:
            return _put_in_memory_of(sharding, x)
        _check_value(x, sharding, "device_put")
        if sharding.mesh.explicit_axes:
            return sharding_constraints.reshard(x, sharding)
        return sharding_constraints.constrain(x, sharding, "device_put")
    if sharding is None:
        return concrete_arrays.as_unplaced_array(x)
    _check_value(x, sharding, "device_put")
    array = place_on(x, sharding)
    if type(x) is not ArrayImpl:
        return array
    if x.sharding.is_equivalent_to(sharding, x.ndim):  # memory is shared
        return array.__copy__() if may_alias is False else array
    if donate:
        x.delete()
    return array


def place_on(x: Any, sharding: Any) -> Any:
    """Puts a value of the host, or an array, where a sharding says."""
    if _is_elsewhere(x) and not x.sharding.is_equivalent_to(sharding, x.ndim):
        return _put_over_processes(x, sharding)
    return concrete_arrays.on_sharding(x, sharding)


def _put_in_memory_of(sharding: Any, x: Any) -> Any:
    """A traced value in the kind of memory of a device; its program has one device."""
    kind = getattr(sharding, "memory_kind", None)
    return (
        x if kind is None else memory_kinds.move_to_memory_p.bind(x, memory_kind=kind)
    )


def _put_in_memory(x: Any, space: Space) -> Any:
    """A value in another memory of its devices."""
    if space is Space.Any:
        if isinstance(x, trace.Tracer):
            return x
        return concrete_arrays.as_unplaced_array(x)
    kind = "pinned_host" if space is Space.Host else "device"
    if isinstance(x, trace.Tracer):
        return memory_kinds.move_to_memory_p.bind(x, memory_kind=kind)
    array = concrete_arrays.as_unplaced_array(x)
    sharding = array.sharding
    if not isinstance(sharding, NamedSharding):
        if space is Space.Device:
            return array
        mesh = Mesh(np.array(list(sharding.device_set)), "device")
        sharding = NamedSharding(mesh, PartitionSpec())
    return _put(array, sharding.with_memory_kind(kind))


def _is_elsewhere(x: Any) -> bool:
    """Whether other processes hold parts of an array that this one lacks.

    All processes must get the same answer: it follows from the sharding alone.
    """
    return (
        type(x) is ArrayImpl
        and not x.is_fully_addressable
        and not x.is_fully_replicated
    )


def _put_over_processes(x: Any, sharding: Any) -> Any:
    """An array divided over processes, placed otherwise by a program of them all."""
    if not isinstance(sharding, NamedSharding):
        raise ValueError(
            f"device_put: an array that is divided over processes must go to a mesh, "
            f"got {sharding}; multihost_utils.process_allgather fetches its value"
        )
    if x.sharding._device_assignment == sharding._device_assignment:
        return jit(_identity, out_shardings=sharding)(x)
    # Programs run on one list of devices: first each gets the whole.
    whole = NamedSharding(x.sharding.device_mesh, PartitionSpec())
    return concrete_arrays.on_sharding(jit(_identity, out_shardings=whole)(x), sharding)


def _identity(x: Any) -> Any:
    return x


def _check_value(x: Any, sharding: Any, what: str) -> None:
    sharding_arguments.check_value(sharding, avals_.aval_of(x).shape, what)


def device_get(x: PyTree) -> PyTree:
    """Copies arrays to the host.

    Args:
      x: a pytree of arrays.

    Returns:
      The same tree of `numpy.ndarray`s, also for arrays of JAX; random keys, traced
      values and leaves that are not arrays stay.
    """
    leaves, structure = tree.tree_flatten(x)
    with guards.explicit("get") if guards.are_on() else contextlib.nullcontext():
        for leaf in leaves:
            if type(leaf) is ArrayImpl:
                leaf.copy_to_host_async()
        return structure.unflatten([_get(leaf) for leaf in leaves])


def _get(x: Any) -> Any:
    if isinstance(x, versions.JaxlibArray):  # of JAX
        return np.asarray(x)
    if type(x) is not ArrayImpl or x.aval.storage is not x.aval:
        return x  # keys have no form of NumPy's
    return placement.get(x)


def copy_to_host_async(x: PyTree) -> PyTree:
    """Starts copying arrays to the host, so that a later `device_get` is ready."""
    for leaf in tree.tree_leaves(x):
        if hasattr(leaf, "copy_to_host_async"):
            leaf.copy_to_host_async()
    return x


def block_until_ready(x: PyTree) -> PyTree:
    """Waits until the arrays in a pytree are computed; returns it.

    Raises:
      OlympusRuntimeError: computing one of them failed.
    """
    if type(x) is ArrayImpl:
        return x.block_until_ready()
    leaves = tree.tree_leaves(x)
    placement.block_until_ready([leaf for leaf in leaves if type(leaf) is ArrayImpl])
    for leaf in leaves:
        if type(leaf) is not ArrayImpl:
            wait = getattr(leaf, "block_until_ready", None)
            if wait is not None:
                wait()
    return x


def live_arrays(platform: str | None = None) -> list[Array]:
    """The concrete arrays that exist and are not deleted."""
    # Not of all objects: other threads may be making a tuple of an iterator, which must
    # not be held by anybody else, or an array, which has no fields yet.
    every: list[Any] = [x for x in gc.get_referrers(ArrayImpl) if type(x) is ArrayImpl]
    arrays = [x for x in every if hasattr(x, "aval") and not x.is_deleted()]
    if platform is None:
        return arrays
    return [x for x in arrays if x.platform() == platform]


def clear_caches() -> None:
    """Forgets all traced and compiled programs of the process."""
    caching.clear_all()


def effects_barrier() -> None:
    """Waits until the effects of all programs that were started have happened."""
    effect_tokens.effects_barrier()


default_device = config.default_device
