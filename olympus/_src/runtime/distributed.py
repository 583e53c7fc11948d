"""Programs over several processes: how they connect and disconnect.

The first process starts the coordination service in a child process. Each process is a
client of it: there they tell each other their devices, and that they live.
"""

from __future__ import annotations

import atexit
import contextlib
import ctypes
import os
import subprocess
import sys
import threading
from collections.abc import Sequence
from typing import Any, NamedTuple

from olympus._src.foundation import config
from olympus._src.runtime import (
    client,
    coordination_service,
    executable,
    peers,
    preemption,
    versions,
    waiting,
)
from olympus._src.runtime.clusters import Membership


class Timeouts(NamedTuple):
    """Seconds: to start, between signs of life for XLA, and to end."""

    start_s: int
    heartbeat_s: int
    end_s: int


class _Job:
    """This process's part in a program over several processes."""

    __slots__ = (
        "membership",
        "preemption",
        "service",
        "store",
        "timeouts",
        "watch",
    )

    def __init__(
        self, membership: Membership, bind_address: str | None, timeouts: Timeouts
    ) -> None:
        self.membership = membership
        self.timeouts = timeouts
        self.preemption: preemption.SyncPoint | None = None
        limits = peers.Limits(
            config.peer_silence_limit_s.value, config.peer_lag_limit_s.value
        )
        address, n, k = membership[:3]
        assert address is not None
        assert n is not None
        assert k is not None
        self.service = None
        if k == 0:
            self.service = _start_service(
                address, bind_address, n, timeouts, limits.silence_s
            )
        try:
            self.store = _connect(address, n, k, timeouts)
        except BaseException:
            _stop_service(self.service)
            raise
        self.watch = peers.Watch(self.store, k, n, limits)

    def end(self) -> None:
        """Disconnects from the others, in an order in which XLA ends no process."""
        watch = self.watch
        if self.preemption is not None:
            self.preemption.stop()
        if watch.failure is None:
            with contextlib.suppress(Exception):
                executable.in_flight.wait()
        with contextlib.suppress(versions.XlaRuntimeError):
            watch.end()
            if self.service is not None and watch.failure is None:
                # The service ends with the machine's last process in some clusters.
                watch.wait_for_ends(self.timeouts.end_s)
        watch.stop()
        with contextlib.suppress(versions.XlaRuntimeError):
            self.store.shutdown()
        if self.service is not None and watch.failure is None:
            _stop_service(self.service)


_lock = threading.Lock()
_job: _Job | None = None


# -- the service -----------------------------------------------------------------------


def _start_service(
    address: str, bind_address: str | None, n: int, times: Timeouts, limit_s: float
) -> subprocess.Popen[bytes]:
    bound = bind_address or f"[::]:{address.rpartition(':')[2]}"
    if _is_this_machine(address) and bind_address is None:
        bound = address
    # Without the script's folder on the path, which has modules like `array`.
    command = [sys.executable, "-P", coordination_service.__file__]
    words = [address, bound, n, times.heartbeat_s, limit_s]
    service = subprocess.Popen(
        [*command, *map(str, words)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        env={"TF_CPP_MIN_LOG_LEVEL": "3", **os.environ},
    )
    assert service.stdout is not None
    line = service.stdout.readline().decode(errors="replace").strip()
    if line != coordination_service.READY:
        remaining = service.stdout.read().decode(errors="replace").strip()
        _stop_service(service)
        raise RuntimeError(
            "distributed.initialize: the coordination service must be able to start at "
            f"{bound}, got: {line} {remaining}; is another program at that port?"
        )
    return service


_PATIENCE_S = 5.0


def _stop_service(service: subprocess.Popen[bytes] | None) -> None:
    if service is None:
        return
    assert service.stdin is not None
    assert service.stdout is not None
    with contextlib.suppress(OSError):
        service.stdin.write(coordination_service.STOP)
        service.stdin.close()
    try:
        service.wait(_PATIENCE_S)
    except subprocess.TimeoutExpired:
        service.kill()
        service.wait()
    service.stdout.close()


def _connect(address: str, n: int, k: int, times: Timeouts) -> Any:
    never_s = coordination_service.NEVER_S
    store = versions.make_store(address, k, never_s, times.heartbeat_s, times.end_s)
    outcome = "some that stay away"

    def connect() -> None:
        nonlocal outcome
        try:
            store.connect()
            outcome = ""
        except versions.XlaRuntimeError as error:
            outcome = str(error)

    # XLA's own limit would end the process.
    thread = threading.Thread(target=connect, daemon=True)
    thread.start()
    thread.join(times.start_s)
    if outcome:
        _keep_alive(store)
        raise RuntimeError(
            f"distributed.initialize: all {n} processes must connect to {address} "
            f"within {times.start_s} s, got {outcome}; are all running, with the same "
            "address and number of processes?"
        )
    return store


def _is_this_machine(address: str) -> bool:
    host = address.rpartition(":")[0].strip("[]")
    return host == "localhost" or host == "::1" or host.startswith("127.")


# -- joining and parting ---------------------------------------------------------------


def initialize(
    membership: Membership,
    *,
    local_device_ids: Sequence[int] | None,
    bind_address: str | None,
    timeouts: Timeouts,
) -> None:
    """Makes this process one of several; returns when all are connected.

    Raises:
      RuntimeError: it is one already, has started its devices, or others are missing.
    """
    global _job
    with _lock:
        if _job is not None:
            raise RuntimeError(
                "distributed.initialize: must be called once, got a second call; call "
                "distributed.shutdown first"
            )
        if client.is_started():
            raise RuntimeError(
                "distributed.initialize: must be called before the first use of a "
                "device, got a call after it; move it to the start of the program, "
                "before arrays are made and olympus.devices() is called"
            )
        if local_device_ids is not None:
            visible = ",".join(map(str, local_device_ids))
            config.cuda_visible_devices.set(visible)
            config.rocm_visible_devices.set(visible)
        job = _Job(membership, bind_address, timeouts)
        assert membership.coordinator_address is not None
        is_local = _is_this_machine(membership.coordinator_address)
        client.join(
            client.Job(
                job.store,
                membership.process_id or 0,
                membership.num_processes or 1,
                "localhost" if is_local else None,
            )
        )
        waiting.set_watch(job.watch)
        _job = job
    atexit.register(shutdown)


def is_initialized() -> bool:
    """Whether this process is one of several."""
    return _job is not None


def shutdown() -> None:
    """Disconnects from the other processes; does nothing if there are none."""
    global _job
    with _lock:
        job, _job = _job, None
    if job is None:
        return
    atexit.unregister(shutdown)
    job.end()
    if job.watch.failure is not None:
        _keep_clients()
    waiting.set_watch(None)
    client.leave()


def _keep_clients() -> None:
    """Makes the clients outlive Python.

    The end of a client waits for its programs. One that waits for a process that has
    failed has no end.
    """
    for each in client.clients().values():
        _keep_alive(each)


def _keep_alive(x: Any) -> None:
    """Makes an object outlive Python: its destructor would wait for other threads."""
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(x))


def store() -> Any:
    """Jaxlib's client of the coordination service.

    Raises:
      RuntimeError: there is one process only.
    """
    if _job is None:
        raise RuntimeError(
            "distributed: the process must be one of several, got one by itself; call "
            "olympus.distributed.initialize first"
        )
    return _job.store


def exchange(name: str, text: str) -> list[str]:
    """What all processes say under a name, in the order of their numbers.

    It needs no device: the coordination service passes the texts on. All processes
    make the same exchanges in the same order, one at a time.

    Args:
      name: of the exchange, which is new.
      text: what this process says.

    Raises:
      ProcessFailureError: another process failed, or has ended without a text.
    """
    job = _job
    return [text] if job is None else job.watch.exchange(name, text)


_own_preemption: preemption.SyncPoint | None = None


def is_sync_point(step: int) -> bool:
    """Whether all processes are to save at a step; see `preemption`."""
    global _own_preemption
    job = _job
    if job is None:
        _own_preemption = _own_preemption or preemption.SyncPoint()
        return _own_preemption.is_reached(step)
    if job.preemption is None:
        n, k = job.membership.num_processes, job.membership.process_id
        job.preemption = preemption.SyncPoint(k or 0, n or 1, job.store, job.watch)
    return job.preemption.is_reached(step)
