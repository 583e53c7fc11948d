"""The only file that depends on jaxlib's version: moved names, changed signatures.

Every other file of the runtime takes jaxlib's names from here. The extension module
`jaxlib._jax` is the entry point: `jaxlib.xla_client` opens on the same names, and adds
logging, `contextlib` and its own tables to the cost of importing (5 ms of 90).
"""

from __future__ import annotations

import functools
import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from jaxlib import _hlo, _jax, _pathways, version  # type: ignore[attr-defined]

from olympus._src.foundation import source_info


def numbers(text: str) -> tuple[int, ...]:
    """The first three numbers of a version."""
    return tuple([int(part) for part in text.split(".")[:3] if part.isdigit()])


JAXLIB_VERSION = numbers(version.__version__)


source_info.set_stack_reader(_jax.Traceback.get_traceback)


@functools.cache
def build() -> str:
    """Which build of jaxlib this is: builds of one version differ in their size."""
    folder = os.path.dirname(_jax.__file__)
    names = ("_jax", "libjax_common")
    sizes = [
        item.stat().st_size
        for item in os.scandir(folder)
        if item.name.split(".")[0] in names
    ]
    return f"{version.__version__} {sorted(sizes)}"


def topology_fingerprint(device: Any) -> str:
    """What XLA says of the kind and number of a platform's devices; '' for nothing."""
    try:
        topology = _jax.get_topology_for_devices([device])
        return str(topology.fingerprint())
    except (AttributeError, _jax.JaxRuntimeError):  # a plug-in may not tell
        return ""


if TYPE_CHECKING:
    # jaxlib ships no types of these.
    Client = Any
    CompileOptions = Any
    Device = Any
    DeviceList = Any
    LoadedExecutable = Any
else:
    Client = _jax.Client
    CompileOptions = _jax.CompileOptions
    Device = _jax.Device
    DeviceList = _jax.DeviceList
    LoadedExecutable = _jax.LoadedExecutable

DeviceAssignment = _jax.DeviceAssignment
# Of olympus's own buffers, which users never see, and of the arrays of JAX.
JaxlibArray = _jax.ArrayImpl
HloSharding = _hlo.HloSharding
OpSharding = _hlo.OpSharding
Sharding = _jax.Sharding
SingleDeviceSharding = _jax.SingleDeviceSharding
XlaRuntimeError = _jax.JaxRuntimeError

ALWAYS_COPY = _jax.ArrayCopySemantics.ALWAYS_COPY
REUSE_INPUT = _jax.ArrayCopySemantics.REUSE_INPUT
collect_garbage = _jax.collect_garbage  # releases what deleted arrays had on loan
IMMUTABLE_DURING_CALL = _jax.HostBufferSemantics.IMMUTABLE_ONLY_DURING_CALL
ZERO_COPY = _jax.HostBufferSemantics.ZERO_COPY

batched_block_until_ready = _jax.batched_block_until_ready
batched_device_put = _jax.batched_device_put
guards: Any = _jax.guard_lib
copy_arrays = _jax.batched_copy_array_to_devices_with_sharding


def reorder_shards(buffer: Any, sharding: Any) -> Any:
    """The buffer with its parts in the order of a sharding's devices; no copy."""
    return _jax.reorder_shards(buffer, sharding, REUSE_INPUT)


# Other jaxlibs may mean something else by these arguments, and crash.
SEPARATES_PARTS = JAXLIB_VERSION[:2] in ((0, 10), (0, 12))


def separate_parts(buffer: Any, places: Sequence[Any]) -> list[Any]:
    """The parts of a buffer as buffers that share its memory, in one step.

    jaxlib ends the process where other processes hold parts. A part that is deleted or
    donated leaves the whole broken, so these must not be given to users. They have no
    aval.

    Args:
      buffer: of an array on several devices, all of this process.
      places: for each of its devices a sharding of that device.
    """
    n = len(places)
    sections = list(range(1, n + 1))  # where each ends along the one axis of devices
    rows: list[list[Any]] = _pathways._split_by_mesh_axis(
        [buffer], [-1], [n], 0, sections, [places], False
    )
    return rows[0]


def result_handler(aval: Any, sharding: Any, committed: bool) -> Any:
    """What turns a raw result into a jaxlib array of this aval and sharding."""
    if JAXLIB_VERSION < (0, 11, 2):  # its checks would ask jax
        return _jax.array_result_handler(aval, sharding, committed, True)
    return _jax.array_result_handler(aval, sharding, committed)


def is_device(x: Any) -> bool:
    """Whether the value is a device."""
    return isinstance(x, _jax.Device)


def start_cpu_client(
    *, asynchronous: bool, num_devices: int | None, **of_several: Any
) -> Client:
    """A client of the CPU that is part of jaxlib.

    Args:
      asynchronous: whether calls return before their results are computed.
      num_devices: in this process; None for one.
      **of_several: `distributed_client`, `node_id`, `num_nodes` and `collectives`,
        where it is one of several processes.
    """
    return _jax.get_tfrt_cpu_client(
        asynchronous=asynchronous, num_devices=num_devices, **of_several
    )


def make_store(
    address: str, node_id: int, init_s: int, heartbeat_s: int, shutdown_s: int
) -> Any:
    """A client of the coordination service, which is not connected yet.

    It must not be given a callback for lost connections: jaxlib ends the process where
    it would call it.
    """
    return _jax.get_distributed_runtime_client(
        address,
        node_id,
        init_timeout=init_s,
        heartbeat_timeout=heartbeat_s,
        shutdown_timeout=shutdown_s,
        shutdown_on_destruction=False,
        use_compression=True,
    )


def make_gloo(store: Any, host: str | None) -> Any:
    """The collectives by which the CPU's processes exchange data.

    Args:
      store: a client of the coordination service.
      host: under which this process is reached; None for the machine's name.
    """
    return _jax.make_gloo_tcp_collectives(distributed_client=store, hostname=host)


def load_plugin(platform: str, library: str) -> Any:
    """Loads a plug-in's library once in the process; returns its C interface."""
    if not _jax.pjrt_plugin_loaded(platform):
        c_api = _jax.load_pjrt_plugin(platform, library, c_api=None)
        _plugin_apis[platform] = c_api
    if not _jax.pjrt_plugin_initialized(platform):
        _jax.initialize_pjrt_plugin(platform)
    return _plugin_apis.get(platform)


_plugin_apis: dict[str, Any] = {}


def start_plugin_client(
    platform: str, options: dict[str, Any], store: Any = None
) -> Client:
    """A client of a loaded plug-in; of one of several processes if it has a store."""
    return _jax.get_c_api_client(platform, options, store, None, False, True)


def is_described(device: Any) -> bool:
    """Whether a device is not here, but described, to compile for."""
    return isinstance(device.client, _CompileOnlyClient)


_CompileOnlyClient: Any = _jax.CompileOnlyPyClient


def describe_devices(c_api: Any, topology: str, options: dict[str, Any]) -> list[Any]:
    """Devices that a plug-in describes, to compile for."""
    description = _jax.get_c_api_topology(c_api, topology, options)
    return list(description._make_compile_only_devices())


def describe_as_absent(devices: list[Any]) -> list[Any]:
    """Devices like those of a platform that runs here, only to compile for."""
    description = _jax.get_topology_for_devices(devices)
    return list(description._make_compile_only_devices())


def copy_to_host_async(buffer: Any) -> None:
    """Starts a copy to the host."""
    if JAXLIB_VERSION < (0, 11, 2):
        buffer._copy_single_device_array_to_host_async()
    else:
        _jax.batched_copy_to_host_async([buffer])


def to_dlpack_capsule(
    buffer: Any,
    stream: int | None,
    max_version: tuple[int, int] | None,
    copied: bool,
) -> Any:
    """A DLPack capsule that shares a buffer's memory.

    The capsule is of another object of the same buffer: if this one were deleted or
    donated while the capsule lives, jaxlib would end the process.
    """
    buffer = rewrap_buffer(buffer, buffer.aval, buffer._sharding)
    if JAXLIB_VERSION < (0, 12):
        return _jax.buffer_to_dlpack_managed_tensor(buffer, stream)
    return _jax.buffer_to_dlpack_managed_tensor(
        buffer, stream, max_version=max_version, copied=copied
    )


def capsule_of_own(buffer: Any) -> Any:
    """`to_dlpack_capsule` of a buffer object that nobody else has or deletes."""
    return _jax.buffer_to_dlpack_managed_tensor(buffer)


def from_dlpack_capsule(
    capsule: Any, device: Device, stream: int | None, copy: bool | None
) -> Any:
    """A jaxlib array of a DLPack capsule."""
    return _jax.dlpack_managed_tensor_to_buffer(capsule, device, stream, copy)


def register_cpu_kernels() -> None:
    """Registers the kernels of jaxlib's own extension modules with the CPU."""
    # Late: few programs call them.
    from jaxlib import cpu_sparse, lapack

    known = _jax.custom_call_targets("Host")
    for module in (lapack, cpu_sparse):
        for name, target, typed in module.registrations()["cpu"]:
            if name not in known:
                _jax.register_custom_call_target(name, target, "Host", typed, 0)
            if module is lapack:
                _jax.register_custom_call_as_batch_partitionable(name)


def folder() -> str:
    """The folder of jaxlib's files."""
    return os.path.dirname(_jax.__file__)


def register_target(name: str, function: Any, api_version: int, traits: int) -> None:
    """Says which function programs of the CPU call by a name."""
    _jax.register_custom_call_target(name, function, "Host", api_version, traits)


def register_type(name: str, registration: Any) -> None:
    """Says what a type of states of such functions is."""
    _jax.register_custom_type(name, registration)


def register_as_batch_partitionable(name: str) -> None:
    """Says that a function treats the parts along leading axes one by one."""
    _jax.register_custom_call_as_batch_partitionable(name)


Buffer = _jax.ffi.Buffer
ExecutionContext = _jax.ffi.ExecutionContext
ExecutionStage = _jax.ffi.ExecutionStage


def layout_fields(layout: Any) -> tuple[Any, Any, int]:
    """The order of axes, the densest first, the tiles and the bits of an element."""
    xla = layout._xla_layout()
    return xla.minor_to_major(), xla.tiling(), xla.element_size_in_bits()


def inspection_bytes(function: Any) -> bytes:
    """What the custom call `InspectSharding` holds to call a function.

    The function takes an `HloSharding`; it must live while a module is compiled.
    """
    return _jax.encode_inspect_sharding_callback(function)


def register_partitioner(name: str, partition: Any) -> None:
    """Says which function XLA asks how to divide custom calls of a name.

    The function takes shapes and shardings of operands, the shape and sharding of the
    result, and the call's `backend_config`; it returns a module of one device and the
    shardings that this takes and gives.
    """

    def propagate(sharding: Any, *_: Any) -> Any:
        return sharding

    def infer(*_: Any) -> Any:  # Shardy propagates, by the call's own rule
        raise NotImplementedError(name)

    _jax.register_custom_call_partitioner(name, propagate, partition, infer, True)


def load_lapack() -> None:
    """Gives the LAPACK kernels the functions they call, which are SciPy's."""
    # Late: few programs call them.
    from jaxlib.cpu import _lapack

    from olympus._src.runtime import scipy_lapack

    with scipy_lapack.importable():
        _lapack.initialize()


def uses_shardy() -> bool:
    """Whether programs for several devices are split by Shardy."""
    return True


def device_grid(devices: Any, n_replicas: int, n_partitions: int) -> Any:
    """Which device runs each partition of each replica."""
    ids = np.array([d.id for d in devices], np.int32)
    return DeviceAssignment.create(ids.reshape(n_replicas, n_partitions))


def to_numpy(buffer: Any) -> np.ndarray:
    """A read-only NumPy array of a computed buffer of any dtype and device."""
    if JAXLIB_VERSION >= (0, 11, 2):
        return buffer._to_np_array_did_copy()[0]
    # This one imports jax where it is installed.
    return buffer._single_device_array_to_np_array_did_copy()[0]


def to_xla_computation(text: str | bytes) -> Any:
    """A StableHLO module as XLA's HLO."""
    return _jax.mlir.mlir_module_to_xla_computation(
        text, use_tuple_args=False, return_tuple=False
    )


def cost_of(client: Client, module: Any) -> dict[str, float]:
    """XLA's estimate of the cost of an HLO module."""
    return dict(_jax.hlo_module_cost_analysis(client, module))


def to_portable(module: Any, version: str, keeps_sdy: bool) -> bytes:
    """An MLIR module as a StableHLO artifact of a version.

    Args:
      module: the module.
      version: of StableHLO.
      keeps_sdy: keep operations of Shardy as they are.
    """
    if keeps_sdy:
        return _jax.mlir.serialize_portable_artifact(module, version, True)
    return _jax.mlir.serialize_portable_artifact(module, version)


def refine_shapes(text: str | bytes) -> bytes:
    """Resolves a module's dynamic shapes; the result is bytecode."""
    data = text.encode() if isinstance(text, str) else text
    return _jax.mlir.refine_polymorphic_shapes(data)


def rewrap_buffer(buffer: Any, aval: Any, sharding: Any) -> Any:
    """The buffer under an aval and a sharding of ours."""
    return buffer._rewrap_with_aval_and_sharding(aval, sharding)


def part_of(buffer: Any, position: int, aval: Any, sharding: Any) -> Any:
    """The part of a buffer on its device of that position in this process.

    jaxlib makes jax's own avals for the parts, for which it imports jax where that is
    installed; there is no other way to them.
    """
    return rewrap_buffer(buffer._arrays[position], aval, sharding)


def start_transfer_server(*args: Any, **kwargs: Any) -> Any:
    """A server from which other processes fetch arrays of this one."""
    return _jax.start_transfer_server(*args, **kwargs)


def make_error_array(client: Client, aval: Any, message: str) -> Any:
    """A buffer that raises an error where it is read."""
    return _jax._make_error_array(client, aval, message)
