"""Values that all processes of a program exchange or compare.

Values are sent as bytes, one row for each process, so no dtype is converted.
"""

from __future__ import annotations

import contextlib
import hashlib
import operator
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from olympus._src import tree
from olympus._src.api import global_arrays, sharding_arguments
from olympus._src.api.jit import jit
from olympus._src.api.placement import Device
from olympus._src.core import avals as avals_
from olympus._src.core.array_type import Array, ArrayLike, PyTree
from olympus._src.foundation.errors import ProcessFailureError
from olympus._src.interpreters import concrete_arrays
from olympus._src.runtime import client, distributed, placement
from olympus._src.sharding.meshes import Mesh
from olympus._src.sharding.named import NamedSharding
from olympus._src.sharding.specs import PartitionSpec

# -- rows of bytes ---------------------------------------------------------------------

_AXIS = "processes"


def _process_mesh() -> Mesh:
    """The first device of each process."""
    firsts: dict[int, Device] = {}
    for device in client.devices():
        firsts.setdefault(device.process_index, device)
    return Mesh(np.array([firsts[k] for k in sorted(firsts)], object), (_AXIS,))


def _share_rows(row: np.ndarray) -> Array:
    """An array of bytes to which each process contributes one row."""
    mesh = _process_mesh()
    aval = avals_.ShapedArray((mesh.size, row.size), row.dtype)
    sharding = NamedSharding(mesh, PartitionSpec(_AXIS))
    out: Any = placement.make_divided(lambda index: row[None], aval, sharding)
    return out


def _take_all(rows: Any) -> Any:
    return rows


def _take_sum(rows: Any) -> Any:
    return rows.sum(0, dtype="uint8")


def _compute_everywhere(function: Any, rows: Any) -> np.ndarray:
    """The value of a function of a divided array, in each process."""
    whole = NamedSharding(rows.sharding.mesh, PartitionSpec())
    return np.asarray(jit(function, out_shardings=whole)(rows))


def _to_bytes(x: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
    """A value in NumPy, and its bytes."""
    value = np.asarray(x)
    return value, np.frombuffer(value.tobytes(), np.uint8)


def _gather_bytes(row: np.ndarray) -> np.ndarray:
    """The rows of all processes, of shape (processes, bytes)."""
    if not row.size:
        return np.zeros((client.process_count(), 0), np.uint8)
    return _compute_everywhere(_take_all, _share_rows(row))


# -- exchanging ------------------------------------------------------------------------


def process_allgather(in_tree: PyTree, tiled: bool = False) -> PyTree:
    """The values of all processes, in each process.

    Args:
      in_tree: a pytree of arrays and numbers, of equal shapes in all processes.
      tiled: whether values are concatenated along their first axis,
        instead of stacked along a new one.

    Returns:
      A pytree of NumPy arrays; of an array that is divided over processes, its value.

    Example:
      >>> from olympus.experimental import multihost_utils
      >>> multihost_utils.process_allgather(7.0)
      array([7.])
    """
    return tree.tree_map(lambda x: _gather(x, tiled), in_tree)


def _gather(x: Any, tiled: bool) -> np.ndarray:
    if type(x) is concrete_arrays.ArrayImpl and not x.is_fully_addressable:
        return _compute_everywhere(_take_all, x)
    value, row = _to_bytes(x)
    rows = _gather_bytes(row)
    stacked = np.frombuffer(rows.tobytes(), value.dtype)
    stacked = stacked.reshape(len(rows), *value.shape)
    if tiled and value.ndim:
        return stacked.reshape(-1, *value.shape[1:])
    return stacked


def broadcast_one_to_all(in_tree: PyTree, is_source: bool | None = None) -> PyTree:
    """The values of one process, in each process.

    Args:
      in_tree: a pytree of arrays and numbers, of equal shapes and dtypes in all
        processes.
      is_source: whether this process sends the values; None for process 0. One process
        must.

    Returns:
      The same pytree of NumPy arrays.

    Example:
      >>> from olympus.experimental import multihost_utils
      >>> multihost_utils.broadcast_one_to_all({'seed': 3})
      {'seed': array(3)}
    """
    gives = client.process_index() == 0 if is_source is None else is_source
    return tree.tree_map(lambda x: _broadcast(x, gives), in_tree)


def _broadcast(x: Any, gives: bool) -> np.ndarray:
    value, row = _to_bytes(x)
    if not row.size:
        return value
    # All others give zeros, so a sum is the value: less traffic than all rows.
    row = row if gives else np.zeros_like(row)
    out = _compute_everywhere(_take_sum, _share_rows(row))
    return np.frombuffer(out.tobytes(), value.dtype).reshape(value.shape)


# -- comparing -------------------------------------------------------------------------


def assert_equal(in_tree: PyTree, fail_message: str = "") -> None:
    """Checks that all processes have the same tree of values, bit for bit.

    Args:
      in_tree: a pytree of arrays and numbers.
      fail_message: put before the error's own message.

    Raises:
      AssertionError: in each process, where one has other values than process 0.
    """
    leaves, structure = tree.tree_flatten(in_tree)
    digest = hashlib.sha256(repr(structure).encode())
    for leaf in leaves:
        value, row = _to_bytes(leaf)
        digest.update(f"{value.shape} {value.dtype}".encode())
        digest.update(row.tobytes())
    others = _unequal_processes(digest.digest())
    if others:
        raise AssertionError(
            f"{fail_message + ': ' if fail_message else ''}assert_equal: all processes "
            f"must have the values of process 0, got other ones in "
            f"{_list_processes(others)}; compare them with process_allgather"
        )


def sync_global_devices(name: str) -> None:
    """Waits until all processes have reached this call.

    Args:
      name: the same in all processes.

    Raises:
      AssertionError: a process has reached a call with another name.
    """
    others = _unequal_processes(hashlib.sha256(name.encode()).digest())
    if others:
        raise AssertionError(
            "sync_global_devices: all processes must give the name that process 0 "
            f"gives, got {name!r} in process {client.process_index()} and other names "
            f"in {_list_processes(others)}; all must make the same calls in one order"
        )


def reached_preemption_sync_point(step_id: int) -> bool:
    """Whether all processes are to save at a step, since one is about to be ended.

    The machine tells a process of its end by SIGTERM, which from the first call on
    does not end it. All processes then agree on the next step that none has passed, and
    get True there, and there only. Save, and end the program.

    Args:
      step_id: the number of the step, which grows from call to call, and is the same in
        all processes.

    Returns:
      True at one step at most.

    Raises:
      RuntimeError: the first call is not in the main thread.
      ProcessFailureError: another process failed or ended in the meantime.

    Example:
      >>> from olympus.experimental import multihost_utils
      >>> for step in range(3):
      ...     if multihost_utils.reached_preemption_sync_point(step):
      ...         break  # after saving
      >>> step
      2
    """
    return distributed.is_sync_point(operator.index(step_id))


def _unequal_processes(digest: bytes) -> list[int]:
    rows = _gather_bytes(np.frombuffer(digest, np.uint8))
    return [k for k, row in enumerate(rows) if not np.array_equal(row, rows[0])]


def _list_processes(numbers: list[int]) -> str:
    return f"process {', '.join(map(str, numbers))}"


# -- arrays of one process and of all --------------------------------------------------


def host_local_array_to_global_array(
    local_inputs: PyTree, global_mesh: Mesh, pspecs: PyTree
) -> PyTree:
    """Arrays over a mesh of all processes, from the blocks of each process.

    Args:
      local_inputs: a pytree of this process's blocks.
      global_mesh: the mesh; each process's devices are a block of it.
      pspecs: how the whole arrays are divided; or a tree that is a prefix of
        `local_inputs`.

    Returns:
      The same pytree of divided arrays; along axes that processes divide, the blocks
      are concatenated.
    """
    places = _broadcast_specs(pspecs, local_inputs, global_mesh, "local_inputs")
    leaves, structure = tree.tree_flatten(local_inputs)
    make = global_arrays.make_array_from_process_local_data
    rows = zip(leaves, places, strict=True)
    return structure.unflatten([make(place, np.asarray(x)) for x, place in rows])


def global_array_to_host_local_array(
    global_inputs: PyTree, global_mesh: Mesh, pspecs: PyTree
) -> PyTree:
    """This process's blocks of arrays over a mesh of all processes.

    Args:
      global_inputs: a pytree of divided arrays.
      global_mesh: the mesh; this process's devices are a block of it.
      pspecs: how the arrays are to be divided; or a tree that is a prefix of
        `global_inputs`.

    Returns:
      The same pytree of arrays over the devices of this process.
    """
    places = _broadcast_specs(pspecs, global_inputs, global_mesh, "global_inputs")
    leaves, structure = tree.tree_flatten(global_inputs)
    rows = zip(leaves, places, strict=True)
    return structure.unflatten([_local_block(x, place) for x, place in rows])


def _broadcast_specs(pspecs: Any, x: Any, mesh: Mesh, name: str) -> list[NamedSharding]:
    is_spec = lambda s: s is None or isinstance(s, PartitionSpec)  # noqa: E731
    specs = tree.broadcast_prefix(pspecs, x, is_spec, what="pspecs", full_name=name)
    return [NamedSharding(mesh, s or PartitionSpec()) for s in specs]


def _local_block(x: Any, place: NamedSharding) -> Array:
    sharding_arguments.check_value(place, x.shape, "global_array_to_host_local_array")
    if not x.sharding.is_equivalent_to(place, x.ndim):
        x = jit(_take_all, out_shardings=place)(x)
    indices = [part.slices for part in place.local_parts(x.shape)]
    shape = [
        max(n if i[axis].stop is None else i[axis].stop for i in indices)
        - min(i[axis].start or 0 for i in indices)
        for axis, n in enumerate(x.shape)
    ]
    local = NamedSharding(place.device_mesh.local_mesh, place.spec)
    parts = [shard.data for shard in x.addressable_shards]
    return global_arrays.make_array_from_single_device_arrays(shape, local, parts)


# -- who lives -------------------------------------------------------------------------


@contextlib.contextmanager
def live_devices(devices: Sequence[Device]) -> Iterator[list[Device]]:
    """A context manager that yields the devices whose processes are alive.

    Every living process that has one of the devices enters it, and all of them get the
    same answer. XLA's service notices a death after the time that is passed to
    `distributed.initialize` as `heartbeat_timeout_seconds`.

    Args:
      devices: devices, some of them of this process.

    Raises:
      RuntimeError: this process is not one of several.
      ValueError: none of the devices belongs to this process.
      ProcessFailureError: a process died before all had left the block.
    """
    store = distributed.store()
    processes = sorted({d.process_index for d in devices})
    if client.process_index() not in processes:
        raise ValueError(
            f"live_devices: devices must include one of this process, got {devices}"
        )
    alive = store.get_live_nodes(processes)
    try:
        yield [d for d in devices if d.process_index in alive]
    finally:
        later = store.get_live_nodes(sorted(alive))
    for k, incarnation in alive.items():
        if later.get(k) != incarnation:
            raise ProcessFailureError(
                f"live_devices: all processes must live to the end of the block, got "
                f"the death of process {k}; repeat the block with those that live",
                k,
            )
