"""Clients of platforms, and what is compiled for them, for libraries."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Sequence
from typing import Any

from olympus._src.foundation import caching
from olympus._src.runtime import client, compiling, library_names

Backend: Any = library_names.Client


def backends() -> dict[str, Any]:
    """All clients by platform, the default one first."""
    return client.clients()


def get_backend(platform: Any = None) -> Any:
    """The client of a platform.

    Args:
      platform: 'cpu', 'gpu', ...; a client, which is returned; None for the default.

    Raises:
      RuntimeError: no such platform runs here.
    """
    if platform is not None and not isinstance(platform, str):
        return platform
    return client.client(platform)


def get_default_device() -> Any:
    """The device on which arrays are made."""
    return client.default_device()


def backend_xla_version(platform: str | None = None) -> int | None:
    """XLA's version, where the platform's client tells it, as those of TPUs do."""
    text = str(getattr(client.client(platform), "platform_version", ""))
    number = text.rpartition("cl/")[2].split()
    return int(number[0]) if "cl/" in text and number and number[0].isdigit() else None


def clear_backends(_crash: bool = False) -> None:
    """Drops all clients and all compiled programs; new clients start when needed.

    Arrays that exist stay valid.

    Args:
      _crash: has no effect.
    """
    del _crash
    caching.clear_all()
    client.clear_backends()


def clear_in_memory_compilation_cache() -> None:
    """Forgets all traced and compiled programs of the process."""
    caching.clear_all()


def register_backend_cache(cache: Any, for_what: str) -> None:
    """Has a library's cache be emptied with olympus's own.

    Args:
      cache: an object with a method `cache_clear`, or `clear`; it is not kept alive.
      for_what: its name.
    """
    reference = weakref.ref(cache)

    def clear() -> None:
        kept = reference()
        if kept is not None:
            (kept.cache_clear if hasattr(kept, "cache_clear") else kept.clear)()

    caching.register(clear, for_what)


def get_compile_options(
    num_replicas: int,
    num_partitions: int,
    device_assignment: Any = None,
    env_options_overrides: dict[str, str] | None = None,
    fdo_profile: bytes | None = None,
    detailed_logging: bool = True,
    backend: Any = None,
) -> Any:
    """XLA's options of compilation, as an object of jaxlib.

    Args:
      num_replicas, num_partitions: how many devices there are of each kind.
      device_assignment: devices, or their numbers; None for the first ones.
      env_options_overrides: XLA's options by name.
      fdo_profile: a profile for the compiler.
      detailed_logging: has no effect.
      backend: the client; None for the default one.
    """
    del detailed_logging
    devices = _find_devices(
        client.client() if backend is None else backend,
        device_assignment,
        num_replicas * num_partitions,
    )
    options = dict(env_options_overrides or {})
    if fdo_profile is not None:
        options["fdo_profile"] = fdo_profile  # type: ignore[assignment]
    pairs = tuple(options.items())
    return compiling.compile_options(pairs, devices, num_replicas, num_partitions)


def _find_devices(owner: Any, assignment: Any, count: int) -> Sequence[Any]:
    every = {d.id: d for d in owner.devices()}
    if assignment is None:
        chosen = list(every.values())[:count]
    else:
        flat = assignment.ravel() if hasattr(assignment, "ravel") else assignment
        chosen = [every[int(d)] if not hasattr(d, "id") else d for d in flat]
    if len(chosen) != count:
        raise ValueError(
            f"get_compile_options: {count} devices are needed, got {len(chosen)}; give "
            "one for each partition of each replica as device_assignment"
        )
    return chosen


def create_compile_options(
    computation: Any,
    tuple_args: bool,
    allow_prop_to_inputs: Sequence[bool],
    allow_prop_to_outputs: Sequence[bool],
    backend: Any,
    np_dev: Any,
    compiler_options: dict[str, Any] | None,
) -> Any:
    """XLA's options for a module over devices.

    Args:
      computation: the module; has no effect.
      tuple_args: the module takes one tuple.
      allow_prop_to_inputs, allow_prop_to_outputs: arguments and results that the
        compiler may divide itself.
      backend: the client.
      np_dev: a NumPy array of devices.
      compiler_options: XLA's options by name.
    """
    del computation
    if np_dev.ndim != 2:
        np_dev = np_dev.reshape(1, -1)
    replicas, partitions = np_dev.shape
    options = get_compile_options(
        replicas, partitions, np_dev, compiler_options, backend=backend
    )
    options.parameter_is_tupled_arguments = tuple_args
    build = options.executable_build_options
    build.allow_spmd_sharding_propagation_to_parameters = list(allow_prop_to_inputs)
    build.allow_spmd_sharding_propagation_to_output = list(allow_prop_to_outputs)
    return options


def register_backend_factory(
    name: str,
    factory: Callable[[], Any],
    *,
    priority: int = 0,
    fail_quietly: bool = True,
    experimental: bool = False,
    make_topology: Any = None,
    c_api: Any = None,
) -> None:
    """Adds a platform whose client a function makes when clients start.

    Args:
      name: the platform.
      factory: makes its client.
      priority: one above 0 puts it before all others, so that it is the default.
      fail_quietly: go on without it where it does not start.
      experimental: has no effect.
      make_topology, c_api: have no effect.

    Raises:
      RuntimeError: clients have started; call `clear_backends` first.
    """
    del experimental, make_topology, c_api
    client.add_factory(name, factory, priority, fail_quietly)
