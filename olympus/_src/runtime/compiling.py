"""XLA's options, and the one call into its compiler."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from olympus._src.runtime import forks, interrupts, mlir, partitioners, versions
from olympus._src.runtime.versions import (
    CompileOptions,
    Device,
    DeviceList,
    LoadedExecutable,
    XlaRuntimeError,
)

Options = Sequence[tuple[str, Any]]


def load(
    code: bytes,
    devices: DeviceList,
    built: CompileOptions,
    options: Options,
    callbacks: Sequence[Callable[..., Any]] = (),
) -> LoadedExecutable:
    """Compiles a module for devices and loads the program.

    Args:
      code: the module's bytes.
      devices: where it runs.
      built: XLA's options object.
      options: what the user gave, for the message of an error.
      callbacks: functions that the module calls by their index.
    """
    forks.refuse_compiling()
    compile_and_load = devices[0].client.compile_and_load
    args: tuple[Any, ...] = (code, devices, built)
    if callbacks:  # jaxlib takes them with a parsed module only
        args = (mlir.parse(code), devices, built, list(callbacks))
    try:
        return interrupts.run_uninterrupted(compile_and_load, *args)
    except XlaRuntimeError as error:
        raise partitioners.take_error() or compile_error(error, options) from None


def load_serialized(
    data: bytes,
    devices: DeviceList,
    built: CompileOptions,
    callbacks: Sequence[Callable[..., Any]] = (),
) -> LoadedExecutable:
    """Loads a compiled program from its bytes.

    Raises:
      XlaRuntimeError: the bytes are damaged, or of another platform or version.
    """
    forks.refuse_compiling()
    load_bytes = devices[0].client.deserialize_executable
    args = (data, devices, built, list(callbacks))
    if len(data) <= _MOST_BYTES_AT_ONCE:
        return load_bytes(*args)
    return interrupts.run_uninterrupted(load_bytes, *args)


# Loading looks for no signals, so that an interrupt is answered at its end. More bytes
# take longer than 50 ms; for fewer a thread costs as much as loading them.
_MOST_BYTES_AT_ONCE = 1 << 18


def serialize(loaded: LoadedExecutable) -> bytes:
    """A compiled program as bytes."""
    return interrupts.run_uninterrupted(loaded.serialize)


def compile_error(error: Exception, options: Options) -> Exception:
    """The error for one of the compiler, which names a wrong option of the user's."""
    message = str(error)
    about_options = "compile option" in message or "setting option" in message
    wrong = [name for name, _ in options if name in message]
    if about_options and wrong:
        return ValueError(
            f"compiler_options: {wrong[0]!r} must be an option of this version of XLA "
            f"with a value of its type, got {dict(options)[wrong[0]]!r}; XLA says: "
            f"{message}"
        )
    return error


def compile_options(
    options: Options,
    devices: Sequence[Device],
    num_replicas: int = 1,
    num_partitions: int = 1,
) -> CompileOptions:
    """XLA's options object for devices, with the given options over its defaults."""
    built = CompileOptions()
    built.num_replicas = num_replicas
    built.num_partitions = num_partitions
    build = built.executable_build_options
    build.num_replicas = num_replicas
    build.num_partitions = num_partitions
    if num_partitions > 1:
        build.use_spmd_partitioning = True
        build.use_shardy_partitioner = versions.uses_shardy()
    ids = versions.device_grid(devices, num_replicas, num_partitions)
    built.device_assignment = ids
    overrides = []
    for name, value in options:
        if not _set_build_option(build, name, value):
            overrides.append((name, _plain(name, value)))
    # In one order, since the cache on disk knows programs by these options' bytes.
    built.env_option_overrides = sorted(overrides, key=lambda pair: pair[0])
    return built


_BUILD_OPTIONS = frozenset(
    [
        "optimization_level",
        "memory_fitting_level",
        "exec_time_optimization_effort",
        "memory_fitting_effort",
        "fdo_profile",
        "allow_spmd_sharding_propagation_to_parameters",
        "allow_spmd_sharding_propagation_to_output",
        "use_shardy_partitioner",
    ]
)


def _set_build_option(build: Any, name: str, value: Any) -> bool:
    """Sets an option that has its own field; returns whether it has one."""
    if name not in _BUILD_OPTIONS or not hasattr(build, name):
        return False
    setattr(build, name, value)
    return True


def _plain(name: str, value: Any) -> Any:
    """A value as XLA takes it: text, truth or number."""
    if isinstance(value, (bool, int, float, str)):
        return value
    if hasattr(value, "item"):
        return value.item()
    raise ValueError(
        f"compiler_options: the value of {name!r} must be a string, a bool or a "
        f"number, got {value!r}"
    )
