"""What processes of a cluster are told by the environment."""

from __future__ import annotations

import pytest

from olympus._src.runtime import clusters
from olympus._src.runtime.clusters import Membership

SLURM = {
    "SLURM_JOB_ID": "4097",
    "SLURM_STEP_NODELIST": "node[03-05,9],other",
    "SLURM_NTASKS": "6",
    "SLURM_PROCID": "4",
    "SLURM_LOCALID": "1",
}
OPEN_MPI = {
    "OMPI_MCA_orte_hnp_uri": f"{7 << 12}.0;tcp://10.96.0.1,10.148.0.1:34911",
    "OMPI_COMM_WORLD_SIZE": "3",
    "OMPI_COMM_WORLD_RANK": "2",
    "OMPI_COMM_WORLD_LOCAL_RANK": "0",
}
POD = {"JOB_COMPLETION_INDEX": "0", "HOSTNAME": "train-v2-0"}
OURS = {
    "OLYMPUS_COORDINATOR_ADDRESS": "here:12",
    "OLYMPUS_NUM_PROCESSES": "2",
    "OLYMPUS_PROCESS_ID": "1",
}
SIZE = {"OLYMPUS_NUM_PROCESSES": "4"}

TABLE = {
    "variables": (OURS, Membership("here:12", 2, 1)),
    "variables before a cluster's": (OURS | SLURM, Membership("here:12", 2, 1)),
    "slurm": (SLURM, Membership("node03:61441", 6, 4, 1)),
    "slurm, a step": (
        SLURM | {"SLURM_STEP_NUM_TASKS": "5"},
        Membership("node03:61441", 5, 4, 1),
    ),
    "open mpi": (OPEN_MPI, Membership("10.96.0.1:61447", 3, 2, 0)),
    "open mpi within slurm": (SLURM | OPEN_MPI, Membership("10.96.0.1:61447", 3, 2, 0)),
    "kubernetes": (POD | SIZE, Membership("train-v2-0:61440", 4, 0)),
    "one variable beside a cluster": (
        SLURM | {"OLYMPUS_COORDINATOR_ADDRESS": "[::1]:5"},
        Membership("[::1]:5", 6, 4, 1),
    ),
}


@pytest.mark.parametrize("name", TABLE)
def test_what_a_process_is_told(name):
    environment, expected = TABLE[name]
    assert clusters.membership(Membership(), None, environment) == expected


def test_arguments_come_first():
    given = Membership("a:1", 9, 8)
    assert clusters.membership(given, None, OURS | SLURM) == given


def test_one_method_only():
    environment = SLURM | OPEN_MPI
    known = clusters.membership(Membership(), "slurm", environment)
    assert known.num_processes == 6


def test_other_pods_find_the_first(monkeypatch):
    name = "train-v2-3.svc.space.svc.cluster.local"
    monkeypatch.setattr(clusters.socket, "getfqdn", lambda host: name)
    pod = {"JOB_COMPLETION_INDEX": "3", "HOSTNAME": "train-v2-3"}
    known = clusters.membership(Membership(), None, pod | SIZE)
    address = "train-v2-0.svc.space.svc.cluster.local:61440"
    assert known == Membership(address, 4, 3)


@pytest.mark.parametrize(
    ("names", "first"),
    [
        ("a", "a"),
        ("a,b[1-2]", "a"),
        ("a[1-2]", "a1"),
        ("a[007,9]", "a007"),
        ("a[1-2]-x,b", "a1-x"),
        ("rack[1-2]n[3-4]", "rack1n3"),
    ],
)
def test_the_first_host_of_a_list(names, first):
    assert clusters.first_host(names) == first


WRONG = {
    "nothing": ({}, None, "coordinator_address must be known"),
    "no size": (POD, None, "num_processes must be known, got None, no variable"),
    "detection is off": (SLURM, "deactivate", "must be known"),
    "another cluster": (SLURM, "ompi", "must be known"),
    "an unknown method": (SLURM, "pbs", "must be one of 'ompi', 'slurm', 'k8s' or"),
    "no number": (OURS | {"OLYMPUS_PROCESS_ID": "x"}, None, "integer, got 'x'"),
    "too large": (OURS | {"OLYMPUS_PROCESS_ID": "2"}, None, "below num_processes, got"),
    "no port": (OURS | {"OLYMPUS_COORDINATOR_ADDRESS": "a"}, None, "a host and a port"),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_missing_or_wrong_is_named(name):
    environment, method, message = WRONG[name]
    with pytest.raises(ValueError, match=message):
        clusters.membership(Membership(), method, environment)
