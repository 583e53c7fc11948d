"""How processes come together and part."""

from __future__ import annotations

import fresh
import pytest

import olympus
from distributed import processes
from olympus._src.runtime import client

ALONE = {"OLYMPUS_NUM_PROCESSES": "1", "OLYMPUS_PROCESS_ID": "0"}


def test_a_program_of_one_process():
    port = processes.free_port()
    out, error = fresh.run(
        """
        import numpy as np
        import olympus
        from olympus.experimental import multihost_utils

        assert not olympus.distributed.is_initialized()
        olympus.distributed.initialize()
        assert olympus.distributed.is_initialized()
        try:
            olympus.distributed.initialize()
        except RuntimeError as error:
            assert "must be called once" in str(error)
        assert (olympus.process_index(), olympus.process_count()) == (0, 1)
        assert olympus.devices() == olympus.local_devices()
        x = np.array([np.nan, -0.0, 2**40])
        np.testing.assert_array_equal(multihost_utils.process_allgather(x), x[None])
        np.testing.assert_array_equal(multihost_utils.broadcast_one_to_all(x), x)
        multihost_utils.assert_equal({"a": x, "b": 1})
        multihost_utils.sync_global_devices("here")
        with multihost_utils.live_devices(olympus.devices()) as alive:
            assert alive == olympus.devices()
        olympus.distributed.shutdown()
        assert not olympus.distributed.is_initialized()
        olympus.distributed.shutdown()
        try:
            olympus.distributed.initialize()
        except RuntimeError as error:
            assert "before the first use of a device" in str(error)
        print("end")
        """,
        OLYMPUS_COORDINATOR_ADDRESS=f"127.0.0.1:{port}",
        **ALONE,
    )
    assert (out, error) == ("end\n", "")


def test_too_late():
    client.client()
    with pytest.raises(RuntimeError, match="before the first use of a device"):
        olympus.distributed.initialize("127.0.0.1:1234", 1, 0)


def test_nothing_is_known():
    with pytest.raises(ValueError, match="coordinator_address must be known"):
        olympus.distributed.initialize(cluster_detection_method="deactivate")


@pytest.mark.parametrize("name", ["slice_index", "partition_index"])
def test_there_are_no_slices(name):
    with pytest.raises(ValueError, match=f"{name} must be None, got 0"):
        olympus.distributed.initialize("127.0.0.1:1234", 1, 0, **{name: 0})


@pytest.mark.parametrize(
    ("name", "value"),
    [("mtls_cert_file", "mine.pem"), ("verify_secure_credentials", True)],
)
def test_there_is_no_encryption(name, value):
    with pytest.raises(ValueError, match=f"{name} must be None, got {value!r}"):
        olympus.distributed.initialize("127.0.0.1:1234", 1, 0, **{name: value})


def test_shutdown_of_one_process_is_nothing():
    olympus.distributed.shutdown()
    assert not olympus.distributed.is_initialized()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("k", "message"),
    [
        (0, "must be able to start at"),
        (1, "all 2 processes must connect to"),
    ],
)
def test_the_coordinator_is_absent_or_its_port_in_use(k, message):
    out, _ = fresh.run(
        f"""
        import socket
        import olympus

        listener = socket.socket()
        listener.bind(("127.0.0.1", 0))
        if {k} == 0:
            listener.listen()
        address = "127.0.0.1:%d" % listener.getsockname()[1]
        try:
            olympus.distributed.initialize(address, 2, {k}, initialization_timeout=1)
        except RuntimeError as error:
            print(error)
        """
    )
    assert message in out


@pytest.mark.slow
def test_others_stay_away():
    results = []
    port = processes.free_port()
    for k in (0, 2):
        out, _ = fresh.run(
            f"""
            import olympus

            try:
                olympus.distributed.initialize(
                    "127.0.0.1:{port}", 3, {k}, initialization_timeout=1)
            except RuntimeError as error:
                print(error)
            """
        )
        results.append(out)
    assert all("must connect to" in out for out in results), results


@pytest.mark.slow
def test_a_port_of_all_addresses():
    out, error = fresh.run(
        f"""
        import olympus

        port = {processes.free_port()}
        address = f"localhost:{{port}}"
        bound = f"0.0.0.0:{{port}}"
        olympus.distributed.initialize(address, 1, 0, coordinator_bind_address=bound)
        print(olympus.process_count())
        """
    )
    assert (out, error) == ("1\n", "")
