"""Clusters that number their processes: which environment variables they set.

A cluster is a row of a table. What it does not set must come from the user.
"""

from __future__ import annotations

import re
import socket
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

Environment = Mapping[str, str]


class Membership(NamedTuple):
    """What a process has to know to join the others; None where it is unknown.

    Attributes:
      coordinator_address: host and port of the process that the others connect to.
      num_processes: how many processes there are.
      process_id: the number of this one.
      local_id: its number among those on this machine.
    """

    coordinator_address: str | None = None
    num_processes: int | None = None
    process_id: int | None = None
    local_id: int | None = None

    def or_else(self, other: Membership) -> Membership:
        """With what is missing taken from another one."""
        known = {k: v for k, v in self._asdict().items() if v is not None}
        return other._replace(**known)


class Cluster(NamedTuple):
    """How one kind of cluster describes a process.

    Attributes:
      name: what users call it.
      mark: the variable that is set in its processes only.
      num_processes: the variables that hold the number of processes, the best first.
      process_id: those of the number of the process.
      local_id: those of its number on its machine.
      coordinator: computes the coordinator's address from the environment.
    """

    name: str
    mark: str
    num_processes: tuple[str, ...]
    process_id: tuple[str, ...]
    local_id: tuple[str, ...]
    coordinator: Callable[[Environment], str | None]

    def is_present(self, environment: Environment) -> bool:
        """Whether the process is one of such a cluster."""
        return self.mark in environment

    def membership(self, environment: Environment) -> Membership:
        """What the cluster's variables say about the process."""
        return Membership(
            self.coordinator(environment),
            _number(environment, self.num_processes),
            _number(environment, self.process_id),
            _number(environment, self.local_id),
        )


def _number(environment: Environment, names: tuple[str, ...]) -> int | None:
    for name in names:
        text = environment.get(name, "")
        if text.isdigit():
            return int(text)
    return None


# -- addresses -------------------------------------------------------------------------

# All processes of a job must compute the same port, and two jobs seldom share one. It
# is above those that Linux gives to programs that ask for any.
_FIRST_PORT, _N_PORTS = 61440, 4096


def _port(job: int) -> int:
    return _FIRST_PORT + job % _N_PORTS


def _slurm_coordinator(environment: Environment) -> str | None:
    names = environment.get(
        "SLURM_STEP_NODELIST", environment.get("SLURM_JOB_NODELIST")
    )
    job = environment["SLURM_JOB_ID"]
    if not names or not job.isdigit():
        return None
    return f"{first_host(names)}:{_port(int(job))}"


def first_host(names: str) -> str:
    """The first host of a list as SLURM writes it: 'a[03-05,9],b' gives 'a03'."""
    prefix, bracket, tail = names.partition("[")
    if not bracket or "," in prefix:
        return prefix.partition(",")[0]
    numbers, _, suffix = tail.partition("]")
    first = re.split("[-,]", numbers)[0]
    return prefix + first + first_host(suffix)


def _open_mpi_coordinator(environment: Environment) -> str | None:
    # As in '1531576320.0;tcp://10.96.0.1,10.148.0.1:34911': the job, then where its
    # first process is.
    uri = environment["OMPI_MCA_orte_hnp_uri"]
    match = re.match(r"(\d+)\.\d+;tcp://\[?([^,:/\]]+)", uri)
    if match is None:
        return None
    # The low bits of a job's number are those of its parts.
    return f"{match[2]}:{_port(int(match[1]) >> 12)}"


def _kubernetes_coordinator(environment: Environment) -> str | None:
    """The first pod of an indexed job, which pods find under a service's name."""
    number = environment["JOB_COMPLETION_INDEX"]
    host = environment.get("HOSTNAME", "")
    job, _, last = host.rpartition("-")
    if not job or last != number:
        return None
    full_name = host if number == "0" else socket.getfqdn(host)
    domain = full_name.removeprefix(host)
    return f"{job}-0{domain}:{_FIRST_PORT}"


CLUSTERS = (
    Cluster(
        "ompi",
        "OMPI_MCA_orte_hnp_uri",
        ("OMPI_COMM_WORLD_SIZE",),
        ("OMPI_COMM_WORLD_RANK",),
        ("OMPI_COMM_WORLD_LOCAL_RANK",),
        _open_mpi_coordinator,
    ),
    Cluster(
        "slurm",
        "SLURM_JOB_ID",
        ("SLURM_STEP_NUM_TASKS", "SLURM_NTASKS"),
        ("SLURM_PROCID",),
        ("SLURM_LOCALID",),
        _slurm_coordinator,
    ),
    Cluster(
        "k8s",
        "JOB_COMPLETION_INDEX",
        (),  # pods are not told
        ("JOB_COMPLETION_INDEX",),
        (),
        _kubernetes_coordinator,
    ),
)

NO_DETECTION = "deactivate"


# -- what a process is told ------------------------------------------------------------


def membership(
    given: Membership, method: str | None, environment: Environment
) -> Membership:
    """What a process has to know, from arguments, then variables, then clusters.

    Args:
      given: the arguments.
      method: the name of the only cluster to look for, or 'deactivate' for none.
      environment: the process's variables.

    Raises:
      ValueError: something is missing or has a wrong value; or `method` is unknown.
    """
    known = given.or_else(_from_variables(environment))
    if None in known[:3]:
        known = known.or_else(_from_clusters(method, environment))
    for field in Membership._fields[:3]:
        if getattr(known, field) is None:
            raise ValueError(
                f"distributed.initialize: {field} must be known, got None, no variable "
                f"{_variable(field)} and no cluster that tells it; give it, or start "
                "the processes by `python -m olympus launch -n N SCRIPT`"
            )
    return _check_membership(known)


def _from_variables(environment: Environment) -> Membership:
    values: dict[str, Any] = {}
    for field in Membership._fields[:3]:
        text = environment.get(_variable(field))
        if not text:
            continue
        if field != "coordinator_address" and not text.isdigit():
            raise ValueError(
                f"distributed.initialize: {_variable(field)} must be an integer, "
                f"got {text!r}"
            )
        values[field] = text if field == "coordinator_address" else int(text)
    return Membership(**values)


def _variable(field: str) -> str:
    return f"OLYMPUS_{field.upper()}"


def _from_clusters(method: str | None, environment: Environment) -> Membership:
    names = [cluster.name for cluster in CLUSTERS]
    if method == NO_DETECTION:
        return Membership()
    if method is not None and method not in names:
        raise ValueError(
            f"distributed.initialize: cluster_detection_method must be one of "
            f"{', '.join(map(repr, names))} or {NO_DETECTION!r}, got {method!r}"
        )
    for cluster in CLUSTERS:
        if method in (None, cluster.name) and cluster.is_present(environment):
            return cluster.membership(environment)
    return Membership()


def _check_membership(known: Membership) -> Membership:
    address, n, k = known[:3]
    host, _, port = str(address).rpartition(":")
    if not host or not port.isdigit():
        raise ValueError(
            "distributed.initialize: coordinator_address must be a host and a port, as "
            f"in '10.0.0.1:1234', got {address!r}"
        )
    if n is None or k is None or n < 1 or not 0 <= k < n:
        raise ValueError(
            "distributed.initialize: process_id must be at least 0 and below "
            f"num_processes, got process_id {k} and num_processes {n}"
        )
    return known
