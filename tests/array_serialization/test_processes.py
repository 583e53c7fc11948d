"""Saves of several processes, and saves that are killed."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import textwrap
import time

import numpy as np
import pytest
from distributed import processes

from olympus.experimental.array_serialization import pytree_serialization
from olympus.sharding import NamedSharding, PartitionSpec
from tests.sharding.meshes import mesh

pytestmark = pytest.mark.slow
P = PartitionSpec

SAVE = """
from olympus.experimental.array_serialization import pytree_serialization as ps

mesh = Mesh(np.array(olympus.devices()).reshape(n, 2), ("p", "d"))
values = np.arange(192, dtype="float32").reshape(16, 12)

def put(*entries):
    return olympus.device_put(values, NamedSharding(mesh, P(*entries)))

tree = {"p": put("p"), "pd": put("d", "p"), "d": put("d"), "whole": put(),
        "own": jnp.arange(5), "step": 3}
"""
GOOD = """
ps.save(tree, FOLDER)
futures = [ps.nonblocking_save({"x": tree["pd"], "i": i}, FOLDER + "/next")
           for i in range(3)]
assert [f.result() for f in futures] == [None] * 3
assert int(ps.load(FOLDER + "/next")["i"]) == 2
loaded = ps.load(FOLDER, dict.fromkeys(tree) | {"p": NamedSharding(mesh, P(None, "p"))})
for shard in loaded["p"].addressable_shards:
    np.testing.assert_array_equal(shard.data, values[shard.index])
print("end")
"""


@pytest.mark.eight_devices
def test_other_numbers_of_processes(tmp_path):
    folder = f"FOLDER = {str(tmp_path)!r}\n"
    processes.run_well(2, folder + SAVE + GOOD)
    values = np.arange(192, dtype="float32").reshape(16, 12)
    place = NamedSharding(mesh(4, 2), P("y", "x"))
    tree = pytree_serialization.load(
        tmp_path,
        dict.fromkeys(["own", "step"])
        | dict.fromkeys(["p", "pd", "d", "whole"], place),
    )
    for name in ("p", "pd", "d", "whole"):
        np.testing.assert_array_equal(tree[name], values)
    assert tree["own"].tolist() == [0, 1, 2, 3, 4]
    assert int(tree["step"]) == 3
    read = """
    mesh = Mesh(np.array(olympus.devices()), ("x",))
    place = NamedSharding(mesh, P(None, "x"))
    tree = ps.load(FOLDER, dict.fromkeys(("own", "step")) | dict.fromkeys(
        ("p", "pd", "d", "whole"), place))
    values = np.arange(192, dtype="float32").reshape(16, 12)
    for name in ("p", "pd", "d", "whole"):
        for shard in tree[name].addressable_shards:
            np.testing.assert_array_equal(shard.data, values[shard.index])
    """
    start = SAVE.split("\n\n")[0] + "\n" + folder
    processes.run_well(3, start + textwrap.dedent(read), devices=1)


WRONG = {
    "other values": (
        "tree = {'a': np.arange(3) + me}",
        "got other values at data['a'] in process 1 than in process 0; divide",
    ),
    "another tree": (
        "tree = {'a': 1, 'b': 2} if me else {'a': 1}",
        "must save the same tree of types, got another in process 1",
    ),
    "another type": (
        "tree = np.zeros(me + 1)[:1].astype('int32' if me else 'float32')",
        "must save the same tree of types, got another in process 1",
    ),
    "a process cannot write": (
        """
        from olympus._src.array_serialization import saving
        def fail(*a): raise OSError("disk full")
        if me: saving.shard_files.write = fail
        """,
        "disk full",
    ),
    "a process ends": ("if me: sys.exit(0)", "process 1 has ended"),
}


@pytest.mark.parametrize("name", WRONG)
def test_an_error_in_one_process_is_one_in_all(name, tmp_path):
    wrong, message = WRONG[name]
    code = textwrap.dedent(wrong) + textwrap.dedent(
        """
        try:
            ps.save(tree, FOLDER)
        except Exception as error:
            print(type(error).__name__, error)
        assert int(ps.load(FOLDER)["i"]) == 1
        """
    )
    before = "ps.save({'i': 1}, FOLDER)\n"
    outputs = processes.run_well(
        2, f"FOLDER = {str(tmp_path)!r}\n" + SAVE + before + code
    )
    for k, out in enumerate(outputs):
        assert message in out or (name == "a process ends" and k == 1), out
    assert len(os.listdir(tmp_path)) == 2


KILLED = """
import sys
import numpy as np
from olympus.experimental.array_serialization import pytree_serialization as ps

for i in range(1, 10**6):
    ps.save({"a": np.full(10**5, i), "b": [np.full((3, 4), i), i]}, sys.argv[1])
    print(i, flush=True)
"""


def test_a_save_that_is_killed_leaves_a_whole_one(tmp_path):
    generator = random.Random(5)
    for _ in range(4):
        with subprocess.Popen(
            [sys.executable, "-c", KILLED, str(tmp_path)],
            stdout=subprocess.PIPE,
            text=True,
        ) as saver:
            lines = [saver.stdout.readline() for _ in range(generator.randrange(1, 9))]
            time.sleep(generator.random() * 0.02)
            saver.send_signal(signal.SIGKILL)
            lines += saver.stdout.readlines()
        tree = pytree_serialization.load(tmp_path)
        last = int(tree["b"][1])
        assert last in (int(lines[-1]), int(lines[-1]) + 1)
        np.testing.assert_array_equal(tree["a"], last)
        np.testing.assert_array_equal(tree["b"][0], last)
    pytree_serialization.save({"a": 1}, tmp_path)
    assert len(os.listdir(tmp_path)) == 2
