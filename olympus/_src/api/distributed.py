"""Programs over several processes, as users start and end them."""

from __future__ import annotations

import os
from collections.abc import Sequence

from olympus._src.runtime import clusters, distributed
from olympus._src.runtime.clusters import Membership

Address = str | None  # of a host, with a port
Number = int | None
Seconds = int


def initialize(
    coordinator_address: Address = None,
    num_processes: Number = None,
    process_id: Number = None,
    local_device_ids: int | Sequence[int] | None = None,
    cluster_detection_method: str | None = None,
    initialization_timeout: Seconds = 300,
    heartbeat_timeout_seconds: Seconds = 100,
    shutdown_timeout_seconds: Seconds = 300,
    coordinator_bind_address: Address = None,
    slice_index: Number = None,
    partition_index: Number = None,
    mtls_cert_file: str | None = None,
    mtls_key_file: str | None = None,
    mtls_ca_file: str | None = None,
    mtls_peer_uri_prefix: str | None = None,
    verify_secure_credentials: bool | None = None,
) -> None:
    """Makes this process one of several that run one program.

    Each process calls it before its first use of a device. It returns when all have
    called it. Then `olympus.devices()` are those of all processes.

    The first three arguments are taken from the variables OLYMPUS_COORDINATOR_ADDRESS,
    OLYMPUS_NUM_PROCESSES and OLYMPUS_PROCESS_ID where they are None, else from the
    cluster: Open MPI, SLURM or an indexed job of Kubernetes, which gives all but the
    number of processes.

    Args:
      coordinator_address: host and port, free on the machine of process 0, that all
        processes connect to.
      num_processes: how many there are.
      process_id: the number of this one, from 0 on.
      local_device_ids: the GPUs that it uses; None for those that its number on the
        machine selects if a cluster sets that number, else for all.
      cluster_detection_method: the only cluster to look for: 'ompi', 'slurm' or 'k8s';
        'deactivate' for none.
      initialization_timeout: seconds until all processes must have connected.
      heartbeat_timeout_seconds: seconds after which XLA's own service counts a silent
        process as gone. What is silent is reported by the setting
        `olympus_peer_silence_limit_s`, which is shorter.
      shutdown_timeout_seconds: seconds that process 0 waits at its end for the others.
      coordinator_bind_address: where process 0 listens; default that port, on all
        addresses of the machine, or on the loopback if the coordinator is there.
      slice_index: for the TPUs of JAX's programs; must be None.
      partition_index: the same.
      mtls_cert_file, mtls_key_file, mtls_ca_file, mtls_peer_uri_prefix: must be None:
        what the processes say to each other is not encrypted, so that the network
        between them must be private.
      verify_secure_credentials: must not be True, for the same reason.

    Raises:
      ValueError: an argument is missing or wrong.
      RuntimeError: it is called twice or too late, the address is in use, or other
        processes do not connect.
    """
    for name, value in (
        ("slice_index", slice_index),
        ("partition_index", partition_index),
    ):
        if value is not None:
            raise ValueError(
                f"distributed.initialize: {name} must be None, got {value!r}; there "
                "are no slices of TPUs here"
            )
    for name, credential in (
        ("mtls_cert_file", mtls_cert_file),
        ("mtls_key_file", mtls_key_file),
        ("mtls_ca_file", mtls_ca_file),
        ("mtls_peer_uri_prefix", mtls_peer_uri_prefix),
        ("verify_secure_credentials", verify_secure_credentials),
    ):
        if credential:
            raise ValueError(
                f"distributed.initialize: {name} must be None, got {credential!r}; the "
                "processes do not encrypt what they say to each other, so connect "
                "them by a private network, and leave it out"
            )
    arguments = Membership(coordinator_address, num_processes, process_id)
    membership = clusters.membership(arguments, cluster_detection_method, os.environ)
    distributed.initialize(
        membership,
        local_device_ids=_local_devices(local_device_ids, membership.local_id),
        bind_address=coordinator_bind_address,
        timeouts=distributed.Timeouts(
            initialization_timeout, heartbeat_timeout_seconds, shutdown_timeout_seconds
        ),
    )


def _local_devices(
    ids: int | Sequence[int] | None, local_id: int | None
) -> list[int] | None:
    if ids is None:
        return None if local_id is None else [local_id]
    return [ids] if isinstance(ids, int) else list(ids)


def shutdown() -> None:
    """Disconnects from the other processes; does nothing if there are none.

    It is called at the end of the program. Process 0 waits for the others.
    """
    distributed.shutdown()


def exchange(name: str, text: str) -> list[str]:
    """What all processes say under a name; see `runtime.distributed`."""
    return distributed.exchange(name, text)


def is_initialized() -> bool:
    """Whether `initialize` was called, and `shutdown` was not."""
    return distributed.is_initialized()
