"""Arrays that processes fetch from one another."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

import olympus
import olympus.numpy as jnp
from olympus.experimental import transfer

LOCAL = "127.0.0.1:0"


def start():
    client = olympus.devices()[0].client
    return transfer.start_transfer_server(client, LOCAL, [LOCAL])


def kind_of(x):
    return olympus.ShapeDtypeStruct(x.shape, x.dtype, sharding=x.sharding)


def test_trees_of_arrays_arrive_as_they_were():
    server = start()
    offered = {
        "a": jnp.arange(6.0).reshape(2, 3),
        "b": [jnp.ones(0), jnp.bfloat16(2.5), jnp.array([True, False])],
    }
    server.await_pull(1, offered)
    connection = server.connect(server.address())
    kinds = olympus.tree.map(kind_of, offered)
    got = connection.pull(1, kinds)
    assert olympus.tree.structure(got) == olympus.tree.structure(offered)
    for x, y in zip(*map(olympus.tree.leaves, (got, offered)), strict=True):
        assert isinstance(x, olympus.Array)
        assert x.dtype == y.dtype
        np.testing.assert_array_equal(x, y)
    np.testing.assert_array_equal(jnp.sin(got["a"]), jnp.sin(offered["a"]))
    assert connection.pull(2, {}) == {}
    assert connection.pull(3, kind_of(jnp.ones((0, 2)))).shape == (0, 2)


OFFERING = """
import sys, olympus, olympus.numpy as jnp
from olympus.experimental import transfer
client = olympus.devices()[0].client
server = transfer.start_transfer_server(client, "127.0.0.1:0", ["127.0.0.1:0"])
server.await_pull(5, jnp.arange(1000.0))
print(server.address(), flush=True)
sys.stdin.readline()
"""


def test_arrays_come_from_other_processes():
    other = subprocess.Popen(
        [sys.executable, "-c", OFFERING],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        connection = start().connect(other.stdout.readline().strip())
        got = connection.pull(5, kind_of(jnp.arange(1000.0)))
        np.testing.assert_array_equal(got, np.arange(1000.0))
    finally:
        other.communicate("\n", timeout=60)


def test_errors_as_arrays():
    x = transfer.make_error_array(kind_of(jnp.ones(3)), "it was lost")
    with pytest.raises(olympus.errors.OlympusRuntimeError, match="it was lost"):
        np.asarray(x)


WRONG = {
    "no sharding": (
        lambda s: s.connect(s.address()).pull(1, jnp.ones(2)),
        "must be a ShapeDtypeStruct with a sharding",
    ),
    "no array": (lambda s: s.await_pull(1, [3.0]), "leaves must be arrays, got 3.0"),
    "a key": (
        lambda s: s.await_pull(1, olympus.random.key(0)),
        "send what they hold, as random.key_data",
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_arguments(name):
    call, message = WRONG[name]
    with pytest.raises(TypeError, match=message):
        call(start())
