"""Clients and devices."""

import re

import fresh
import pytest

from olympus._src.foundation import config
from olympus._src.runtime import client


def test_the_cpu_is_there():
    device = client.devices("cpu")[0]
    assert device.platform == "cpu"
    assert repr(device) == "CpuDevice(id=0)"
    assert client.client("cpu").platform == "cpu"
    assert device in client.local_devices("cpu")
    assert client.device_count("cpu") == len(client.devices("cpu"))


def test_one_process_of_one():
    assert client.process_index() == 0
    assert client.process_count() == 1
    assert client.process_indices() == [0]
    with pytest.raises(ValueError, match="process_index must be below 1, got 3"):
        client.local_devices("cpu", process=3)


def test_an_absent_platform_says_what_to_install():
    if "cuda" in client.clients():
        pytest.skip("this machine has a GPU")
    with pytest.raises(RuntimeError, match=re.escape('"olympus[cuda13]"')):
        client.client("cuda")
    with pytest.raises(RuntimeError, match="must be one of 'cpu', got 'abacus'"):
        client.devices("abacus")


def test_default_device_by_name_and_by_device():
    cpu = client.devices("cpu")[0]
    with config.default_device("cpu"):
        assert client.default_device() == cpu
    with config.default_device(cpu):
        assert client.default_device() is cpu


def test_a_device_is_meant_in_several_ways():
    cpu = client.devices("cpu")[0]
    assert client.as_device(cpu) is cpu
    assert client.as_device("cpu") == cpu
    with pytest.raises(TypeError, match="must be a Device"):
        client.as_device(3)


def test_importing_starts_no_client_and_no_mlir():
    out, _ = fresh.run("""
        import sys
        from olympus._src.runtime import client, executable, mlir, placement
        print(client.is_started(), 'jaxlib.mlir' in sys.modules)
    """)
    assert out.split() == ["False", "False"]


def test_starting_says_nothing():
    _, err = fresh.run("""
        import olympus
        from olympus._src.runtime import client
        client.devices()
    """)
    assert err == ""


def test_a_user_can_have_the_log():
    _, err = fresh.run(
        """
        from olympus._src.runtime import client
        client.devices()
        """,
        TF_CPP_MIN_LOG_LEVEL="0",
    )
    assert "device" in err


def test_the_variable_that_silences_does_not_stay():
    out, _ = fresh.run("""
        import os
        from olympus._src.runtime import client
        print(os.environ.get("TF_CPP_MIN_LOG_LEVEL"))
    """)
    assert out.strip() == "None"


def test_several_cpu_devices():
    out, _ = fresh.run(
        """
        import olympus, olympus.numpy as jnp
        from olympus._src.runtime import client
        print(len(client.devices()), client.several_devices())
        # Captured arrays go where the program runs.
        table, second = jnp.arange(3000.0), olympus.devices()[1]
        f = lambda x: x + table[-1]
        there = olympus.jit(f)(olympus.device_put(1.0, second))
        chosen = olympus.jit(f, device=second)(1.0)
        print(float(there), float(chosen), {there.device, chosen.device} == {second})
        """,
        OLYMPUS_NUM_CPU_DEVICES="3",
    )
    assert out.split() == ["3", "True", "3000.0", "3000.0", "True"]


def test_platforms_that_are_absent_are_an_error_where_chosen():
    out, _ = fresh.run(
        """
        from olympus._src.runtime import client
        try:
            client.devices()
        except RuntimeError as error:
            print(error)
        """,
        OLYMPUS_PLATFORMS="abacus",
    )
    assert "got 'abacus'" in out


def test_settings_of_the_start_refuse_to_change_later():
    out, _ = fresh.run("""
        from olympus._src.foundation import config
        from olympus._src.runtime import client
        client.devices()
        try:
            config.num_cpu_devices.set(4)
        except RuntimeError as error:
            print(error)
        client.clear_backends()
        config.num_cpu_devices.set(4)
        print(len(client.devices()))
    """)
    assert "must be set before the first use of a device" in out
    assert "environment variable OLYMPUS_NUM_CPU_DEVICES" in out
    assert out.strip().endswith("4")


def test_threads_start_one_client():
    out, _ = fresh.run("""
        import threading
        from olympus._src.runtime import client
        found = []
        threads = [
            threading.Thread(target=lambda: found.append(id(client.client())))
            for _ in range(16)
        ]
        [t.start() for t in threads]
        [t.join() for t in threads]
        print(len(found), len(set(found)))
    """)
    assert out.split() == ["16", "1"]


def test_a_plugin_that_does_not_load_is_named():
    out, _ = fresh.run(
        """
        from olympus._src.runtime import client
        print(client.default_backend())
        try:
            client.devices("toy")
        except RuntimeError as error:
            print(error)
        """,
        PJRT_NAMES_AND_LIBRARY_PATHS="toy:/nowhere/libtoy.so",
    )
    assert out.startswith("cpu\n")
    assert "'toy', which is installed but did not start" in out


@pytest.mark.beside_jax
def test_a_tour_of_the_runtime_leaves_jax_alone():
    out, _ = fresh.run("""
        import sys, copy, pickle
        import numpy as np
        import ml_dtypes
        sys.path.insert(0, "tests")
        import programs
        from olympus._src.runtime import callback, executable, mlir, placement

        x = programs.put(np.arange(3.0))
        repr(x), str(x), list(x), x.sharding, x.device, x.addressable_shards
        copy.copy(x), pickle.loads(pickle.dumps(x)), np.from_dlpack(x)
        repr(programs.put(np.ones(3, ml_dtypes.bfloat16)))
        repr(programs.put(np.ones(3, ml_dtypes.float8_e4m3fn)))
        program = programs.load(programs.double((3,), "f64"), x.aval)
        programs.call(program, x)[0].block_until_ready()
        program.cost_analysis(), program.memory_analysis(), program.hlo_text()
        executable.deserialize(program.serialize())
        placement.from_dlpack(np.ones(3), lambda s, d: programs.ShapedArray(s, d))
        mlir.canonical_text(programs.double((3,)))
        try:
            executable.compile("module {}")
        except RuntimeError as error:
            repr(error)
        x.delete()
        print('jax' in sys.modules)
    """)
    assert out.strip() == "False"


class Stand:
    """Stands for a device of a GPU, which calls its platform 'gpu'."""

    platform = "gpu"

    def __init__(self):
        self.client = object()


def test_platforms_are_lowered_for_by_their_exact_names(monkeypatch):
    assert client.platform_of(client.devices("cpu")[0]) == "cpu"
    gpu = Stand()
    monkeypatch.setitem(vars(client)["_clients"], "cuda", gpu.client)
    assert client.platform_of(gpu) == "cuda"


def test_the_device_of_the_host_where_settings_leave_the_cpu_out():
    out, _ = fresh.run(
        """
        import olympus
        from jaxlib import _jax
        from olympus._src.runtime import client
        make = lambda: _jax.get_tfrt_cpu_client(asynchronous=True)
        client.add_factory("toy", make, 0, False)
        host = client.host_device()
        print(host.platform, host in client.devices(), client.several_devices())
        print(host is client.host_device(), host.client.platform)
        """,
        OLYMPUS_PLATFORMS="toy",
    )
    assert out.split() == ["cpu", "False", "True", "True", "cpu"]
