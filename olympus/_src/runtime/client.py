"""Devices and the clients that drive them, started when first requested.

The CPU client is part of jaxlib; others come from plug-ins (see `plugins`). Starting is
done once, under a lock; after it every question is a look-up.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Hashable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from olympus._src import native
from olympus._src.foundation import config, logs
from olympus._src.runtime import host_memory, plugins, versions, xla_flags
from olympus._src.runtime.versions import Client, Device, start_cpu_client

if TYPE_CHECKING:
    from olympus._src.runtime.plugins import Plugin

_lock = threading.RLock()
_clients: dict[str, Client] = {}  # by platform, the default one first
_failures: dict[str, str] = {}  # why a platform's client did not start
_started = False
_several = False
_host_parallelism = ""  # what the CPU client divided its work by when it started
_default: Device | None = None
_on_start: list[Callable[[], None]] = []
_on_clear: list[Callable[[], None]] = []
_on_several: list[Callable[[], None]] = []

# What a user may call a platform, and the platforms meant.
_FAMILIES = {"gpu": ("cuda", "rocm"), "cuda": ("cuda",), "rocm": ("rocm",)}
_PREFERENCE = ("tpu", "cuda", "rocm", "cpu")

# -- several processes -----------------------------------------------------------------


class Job(NamedTuple):
    """What the clients of a process need to know to be one of several.

    Attributes:
      store: jaxlib's client of the coordination service, which is connected.
      process_id: the number of this process.
      num_processes: how many there are.
      host: under which this one is reached; None for the machine's name.
    """

    store: Any
    process_id: int
    num_processes: int
    host: str | None


_job: Job | None = None


def join(job: Job) -> None:
    """Makes the clients that will be started share devices with other processes."""
    global _job
    _job = job


def leave() -> None:
    """Makes the clients that will be started use this process alone."""
    global _job
    _job = None


def job() -> Job | None:
    """What was given to `join`."""
    return _job


def _cpu_job() -> dict[str, Any]:
    if _job is None:
        return {}
    kind = config.cpu_collectives_implementation.value
    if kind == "mpi":
        raise RuntimeError(
            "devices: olympus_cpu_collectives_implementation must be 'gloo' or 'none', "
            "got 'mpi', which jaxlib's own builds do not support"
        )
    is_gloo = kind == "gloo"
    return {
        "distributed_client": _job.store,
        "node_id": _job.process_id,
        "num_nodes": _job.num_processes,
        "collectives": versions.make_gloo(_job.store, _job.host) if is_gloo else None,
    }


# -- starting --------------------------------------------------------------------------


def _start() -> None:
    """Starts the clients that the settings choose; the fast path never comes here."""
    global _started, _default
    with _lock:
        if _started:
            return
        platforms = config.platforms.value or config.platform_name.value
        with xla_flags.choose():
            if platforms:
                names = [_canonical(name) for name in platforms.split(",") if name]
                _start_named(names)
            else:
                _start_installed()
        first = next(iter(_clients.values()))
        _default = first.local_devices()[0]
        n_devices = sum(c.local_device_count() for c in _clients.values())
        _note_several(n_devices > 1 or bool(_described))
        _started = True
    for begin in _on_start:
        begin()


def _start_named(names: Sequence[str]) -> None:
    """Starts exactly these platforms; one that does not start is an error."""
    for name in names:
        _clients[name] = _start_one(name)


def _start_installed() -> None:
    """Starts the CPU and every plug-in whose hardware answers."""
    clients = {"cpu": _start_cpu()}
    for plugin in plugins.installed_plugins().values():
        try:
            clients[plugin.platform] = _start_with_plugin(plugin)
        except Exception as error:  # a driver may fail in any way
            _failures[plugin.platform] = str(error)
            logs.warning(
                f"the platform {plugin.platform!r} is installed but did not start, "
                f"going on without it: {error}"
            )
    order = _start_factories(clients)
    order += [name for name in _PREFERENCE if name in clients and name not in order]
    order += [name for name in clients if name not in order]
    _clients.update((name, clients[name]) for name in order)


class _Factory(NamedTuple):
    """What makes the client of a library's own platform."""

    make: Callable[[], Client]
    priority: int
    fails_quietly: bool


_factories: dict[str, _Factory] = {}


def add_factory(
    name: str, make: Callable[[], Client], priority: int, fails_quietly: bool
) -> None:
    """Adds a platform whose client `make()` gives, with the next start of clients.

    Raises:
      RuntimeError: they have started.
    """
    if _started:
        raise RuntimeError(
            f"register_backend_factory: the platform {name!r} must be added before "
            "clients start; call it first, or extend.backend.clear_backends()"
        )
    _factories[name] = _Factory(make, priority, fails_quietly)


def _start_factories(clients: dict[str, Client]) -> list[str]:
    """Starts the platforms of libraries; returns those to be before all others."""
    first = []
    for name, factory in sorted(_factories.items(), key=lambda p: -p[1].priority):
        try:
            clients[name] = factory.make()
        except Exception as error:  # it may fail in any way
            if not factory.fails_quietly:
                raise
            _failures[name] = str(error)
            continue
        if factory.priority > 0:
            first.append(name)
    return first


def _start_one(name: str) -> Client:
    if name in _factories:
        return _factories[name].make()
    if name == "cpu":
        return _start_cpu()
    plugin = plugins.installed_plugins().get(name)
    if plugin is None:
        raise RuntimeError(_absent(name))
    return _start_plugin(plugin)


def _start_with_plugin(plugin: Plugin) -> Client:
    if _job is None:
        return plugins.start(plugin)
    return plugins.start(plugin, _job.store, _job.process_id, _job.num_processes)


def _start_plugin(plugin: Plugin) -> Client:
    try:
        return _start_with_plugin(plugin)
    except Exception as error:
        raise RuntimeError(
            f"devices: the platform {plugin.platform!r} is installed, but its client "
            f"did not start: {error}"
        ) from error


def _start_cpu() -> Client:
    global _host_parallelism
    _host_parallelism = _parallelism()
    if config.keep_host_memory.value:
        host_memory.keep_freed_pages()
    count = config.num_cpu_devices.value
    return start_cpu_client(
        asynchronous=config.cpu_enable_async_dispatch.value,
        num_devices=count if count is not None and count > 0 else None,
        **_cpu_job(),
    )


# Variables by which XLA, or a library in it, chooses the number of its threads.
_THREADS = ("NPROC", "PJRT_NPROC", "OMP_NUM_THREADS")


def _cores() -> int:
    affinity = getattr(os, "sched_getaffinity", None)
    return len(affinity(0)) if affinity is not None else os.cpu_count() or 1


def _parallelism() -> str:
    return f"{_cores()} " + " ".join(os.environ.get(name, "") for name in _THREADS)


def host_parallelism() -> str:
    """What the CPU's programs are divided by: cores and settings, at its start.

    XLA divides loops among the threads it found then, so it builds other programs for
    another number of cores.
    """
    return _host_parallelism


def callback_capacity(device: Device) -> int:
    """How many calls of Python may wait on a client of the CPU at a time.

    Each holds a thread, and what it computes needs another one. Programs over several
    devices need as many threads as there are devices.
    """
    if device.client.local_device_count() > 1:
        return 0
    cores, *numbers = _host_parallelism.split()
    threads = [int(cores), *[int(n) for n in numbers if n.isdecimal()]]
    return max(0, min(threads) - 1)


_host: Client | None = None  # where none of the clients is the CPU's


def host_device() -> Device:
    """The CPU's first device, on which callbacks of all platforms get their operands.

    Where the settings leave the CPU out it is of a client that `devices` does not list.
    """
    global _host
    listed = clients().get("cpu")
    if listed is not None:
        return listed.local_devices()[0]
    note_mesh()
    with _lock:
        if _host is None:
            _host = start_cpu_client(asynchronous=True, num_devices=None)
        return _host.local_devices()[0]


_twins: dict[tuple[int, Hashable], Client] = {}


def callback_device(device: Device, level: Hashable) -> Device:
    """The device on which a program with callbacks runs in place of a CPU's device.

    Args:
      device: a device of a CPU client.
      level: of how many callbacks the caller is inside; each level has a client.
    """
    home = device.client
    key = (id(home), level)
    twin = _twins.get(key)
    if twin is None:
        with _lock:
            twin = _twins.get(key) or start_cpu_client(
                asynchronous=False, num_devices=home.local_device_count()
            )
            _twins[key] = twin
    # By position: the ids of another process's devices start anywhere.
    return twin.devices()[home.local_devices().index(device)]


def _refuse_late_change(name: str) -> Callable[[Any], None]:
    def refuse(value: Any) -> None:
        if _started:
            raise RuntimeError(
                f"{name}: must be set before the first use of a device, got {value!r} "
                "after it; set it at the start of the program, before arrays are "
                f"made, or by the environment variable {name.upper()}"
            )

    return refuse


for _state in (
    config.platforms,
    config.num_cpu_devices,
    config.cpu_enable_async_dispatch,
    config.pjrt_client_create_options,
):
    _state.watch(_refuse_late_change(_state.name))


def is_started() -> bool:
    """Whether any client runs."""
    return _started


def on_start(begin: Callable[[], None]) -> None:
    """Registers `begin()`, called when the clients have started."""
    _on_start.append(begin)


def on_several(forget: Callable[[], None]) -> None:
    """Registers `forget()`, called once arrays may be in different places."""
    _on_several.append(forget)


def on_clear(forget: Callable[[], None]) -> None:
    """Registers `forget()`, called when the clients are dropped."""
    _on_clear.append(forget)


def clear_backends() -> None:
    """Drops all clients; their arrays stay valid, but are foreign to new clients."""
    global _started, _default, _host
    with _lock:
        for forget in _on_clear:
            forget()
        _clients.clear()
        _twins.clear()
        _failures.clear()
        _started, _default, _host = False, None, None
        _note_several(False)


# -- platforms -------------------------------------------------------------------------


def _canonical(name: str) -> str:
    name = name.strip().lower()
    if name == "gpu":
        known = plugins.installed_plugins()
        return next((n for n in _FAMILIES["gpu"] if n in known), "gpu")
    return name


def _absent(name: str) -> str:
    known = ", ".join(
        repr(n) for n in _clients or ("cpu", *plugins.installed_plugins())
    )
    text = (
        f"devices: Unknown backend: the platform must be one of {known}, got {name!r}"
    )
    reason = _failures.get(name)
    if name == "gpu" and reason is None:
        reason = next((_failures[n] for n in _FAMILIES["gpu"] if n in _failures), None)
    if reason is not None:
        return f"{text}, which is installed but did not start: {reason}"
    if name in ("gpu", "cuda"):
        return f'{text}; install it by `pip install "olympus[cuda13]"`'
    return f"{text}; install its PJRT plug-in or choose a known platform"


def client(platform: str | None = None) -> Client:
    """The client of a platform.

    Args:
      platform: 'cpu', 'gpu', 'cuda', ... ; None for the default one.

    Raises:
      RuntimeError: no such platform runs here.
    """
    if not _started:
        _start()
    if platform is None:
        return next(iter(_clients.values()))
    running = _clients.get(platform)
    if running is not None:
        return running
    for name in _FAMILIES.get(platform, ()):
        if name in _clients:
            return _clients[name]
    raise RuntimeError(_absent(platform))


def clients() -> dict[str, Client]:
    """All clients by platform, the default one first."""
    if not _started:
        _start()
    return dict(_clients)


def default_backend() -> str:
    """The name users know the default platform by: 'cpu', 'gpu' or 'tpu'."""
    return client().platform


def platform_of(device: Device) -> str:
    """The exact name of a device's platform: a GPU's own is 'gpu', this 'cuda'."""
    if not _started:
        _start()
    for name, candidate in _clients.items():
        if candidate is device.client:
            return name
    for candidate, name in _described:
        if candidate is device.client:
            return name
    return _canonical(device.platform)


# Clients of devices that are not here, with their platforms' exact names.
_described: list[tuple[Client, str]] = []


def note_described(client: Client, platform: str) -> None:
    """Says of which platform devices are that are only described, to compile for."""
    _described.append((client, platform))
    note_mesh()


# -- devices ---------------------------------------------------------------------------


def devices(platform: str | None = None) -> list[Device]:
    """All devices of a platform, in order of id, also those of other processes."""
    return client(platform).devices()


def local_devices(
    platform: str | None = None, process: int | None = None
) -> list[Device]:
    """The devices of one process; of this one unless `process` says otherwise."""
    chosen = client(platform)
    if process is None:
        return chosen.local_devices()
    if not 0 <= process < process_count(platform):
        raise ValueError(
            f"local_devices: process_index must be below {process_count(platform)}, "
            f"got {process}"
        )
    return [d for d in chosen.devices() if d.process_index == process]


def device_count(platform: str | None = None) -> int:
    """How many devices a platform has, over all processes."""
    return int(client(platform).device_count())


def local_device_count(platform: str | None = None) -> int:
    """How many devices a platform has in this process."""
    return int(client(platform).local_device_count())


def process_index(platform: str | None = None) -> int:
    """The number of this process among those of one program."""
    return int(client(platform).process_index())


def process_count(platform: str | None = None) -> int:
    """How many processes form the program."""
    return max(d.process_index for d in client(platform).devices()) + 1


def process_indices(platform: str | None = None) -> list[int]:
    """The numbers of all processes."""
    return list(range(process_count(platform)))


def _note_several(several: bool) -> None:
    global _several
    _several = several
    if native.calls is not None:
        native.calls.use_several_devices(several)


def note_mesh() -> None:
    """Has arrays looked at for where they are: they may lie on a mesh of one device."""
    if not _several:
        _note_several(True)
        for forget in _on_several:
            forget()


def several_devices() -> bool:
    """Whether arrays may be in different places: on several devices, or on a mesh."""
    if not _started:
        _start()
    return _several


def default_device() -> Device:
    """The device of values for which no device was chosen.

    Raises:
      RuntimeError: `default_device` names a platform that does not run here.
    """
    chosen = config.default_device.value
    if chosen is None:
        if _default is None:
            _start()
        return _default
    if isinstance(chosen, str):
        return client(chosen).local_devices()[0]
    return chosen


def as_device(x: Any) -> Device:
    """The device meant by a Device, a platform's name or a sharding of one device."""
    if versions.is_device(x):
        return x
    if x is None:
        return default_device()
    if isinstance(x, str):
        return client(x).local_devices()[0]
    devices = getattr(x, "device_set", None)
    if devices is not None and len(devices) == 1:
        return next(iter(devices))
    raise TypeError(
        f"device: must be a Device, the name of a platform or a sharding of one "
        f"device, got {x!r}"
    )


def memory_stats(device: Device) -> dict[str, int] | None:
    """Bytes in use and limits of a device's memory, where it counts them."""
    return device.memory_stats()
