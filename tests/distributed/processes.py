"""Runs a program as several processes, each of which must end in time."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import textwrap
from typing import NamedTuple

TIMEOUT_S = 60

# What each program starts with.
START = """
import os, signal, sys, time
import numpy as np
import olympus
import olympus.numpy as jnp
from olympus.experimental import multihost_utils
from olympus.sharding import AxisType, Mesh, NamedSharding, PartitionSpec as P

olympus.distributed.initialize(heartbeat_timeout_seconds=10)
me, n = olympus.process_index(), olympus.process_count()
"""


class Ended(NamedTuple):
    """How a process ended: its exit status, and what it printed."""

    status: int
    out: str
    error: str


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def run(n, code, *, devices=2, timeout_s=TIMEOUT_S, **environment):
    """Runs a program as `n` processes; returns how each ended."""
    common = {
        **os.environ,
        "OLYMPUS_COORDINATOR_ADDRESS": f"127.0.0.1:{free_port()}",
        "OLYMPUS_NUM_PROCESSES": str(n),
        "OLYMPUS_NUM_CPU_DEVICES": str(devices),
        **environment,
    }
    workers = [
        subprocess.Popen(
            [sys.executable, "-c", START + textwrap.dedent(code)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**common, "OLYMPUS_PROCESS_ID": str(k)},
            start_new_session=True,
        )
        for k in range(n)
    ]
    try:
        outputs = [worker.communicate(timeout=timeout_s) for worker in workers]
    finally:
        for worker in workers:
            try:
                os.killpg(worker.pid, signal.SIGKILL)
            except ProcessLookupError:
                continue
            worker.wait()
    return [
        Ended(worker.returncode, *output)
        for worker, output in zip(workers, outputs, strict=True)
    ]


def run_well(n, code, **options):
    """The same for a program that must succeed; returns what each process printed."""
    results = run(n, code, **options)
    failures = [
        f"process {k} ended with {result.status}:\n{result.error}"
        for k, result in enumerate(results)
        if result.status != 0
    ]
    if failures:
        raise AssertionError("\n".join(failures))
    return [result.out for result in results]
