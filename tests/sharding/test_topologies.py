"""Meshes of described devices, and programs for devices that are not here."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import pytest

import olympus
from olympus import numpy as jnp
from olympus._src.runtime import absent_devices, client, plugins, versions
from olympus.experimental import serialize_executable, topologies
from olympus.sharding import Mesh, NamedSharding, PartitionSpec, SingleDeviceSharding

P = PartitionSpec
X = np.arange(4.0, dtype=np.float32)


def test_attached_devices_make_a_mesh() -> None:
    topology = topologies.get_attached_topology("cpu")
    assert topology.devices == olympus.devices("cpu")
    n = len(topology.devices)
    mesh = topologies.make_mesh(topology, (1, n), ("x", "y"))
    assert dict(mesh.shape) == {"x": 1, "y": n}
    assert list(mesh.devices.flat) == topology.devices


def test_sizes_must_hold_all_devices() -> None:
    topology = topologies.get_attached_topology("cpu")
    sizes = (len(topology.devices) + 1,)
    with pytest.raises(ValueError, match=r"must multiply to the number of devices"):
        topologies.make_mesh(topology, sizes, ("x",))


def test_platforms_must_run_here() -> None:
    with pytest.raises(RuntimeError, match=r"nope"):
        topologies.get_attached_topology("nope")


@pytest.fixture
def no_plugins(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plugins, "_plugins", {})


@pytest.mark.usefixtures("no_plugins")
@pytest.mark.parametrize("platform", [None, "tpu"])
def test_tpus_are_not_installed(platform: Any) -> None:
    with pytest.raises(RuntimeError, match=r"TPU support, which is not installed"):
        topologies.get_topology_desc("2x2", platform)


@pytest.mark.usefixtures("no_plugins")
@pytest.mark.parametrize(
    ("platform", "remedy"),
    [("cpu", "cpu; use get_"), ("cuda", "cuda, whose plug-in is missing; `pip inst")],
)
def test_no_plugin_describes_devices_that_are_not_here(
    platform: str, remedy: str
) -> None:
    with pytest.raises(NotImplementedError, match=f"not implemented for {remedy}"):
        topologies.get_topology_desc(platform=platform)


# -- devices that are not here, described after the CPU ------------------------------


@pytest.fixture
def described(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Devices to compile for, given by a plug-in that stands in for one."""
    attached = client.devices("cpu")[0]

    def describe(c_api: Any, name: str, options: Any) -> list[Any]:
        if name == "bad":
            raise versions.XlaRuntimeError("INVALID_ARGUMENT: no such topology")
        return versions.describe_as_absent([attached])

    plugin = plugins.Plugin("cuda", "x.so")
    monkeypatch.setattr(plugins, "_plugins", {"cuda": plugin})
    monkeypatch.setattr(plugins, "load", lambda plugin: None)
    monkeypatch.setattr(versions, "describe_devices", describe)
    monkeypatch.setattr(client, "_described", [])

    def compile_(module: Any, devices: Any, built: Any) -> Any:
        here = versions.DeviceList(
            (attached,)
        )  # the CPU has no compiler for absent ones
        return attached.client.compile_and_load(module, here, built)

    monkeypatch.setattr(absent_devices, "_run_compiler", compile_)
    topology = topologies.get_topology_desc(
        platform="cuda", target_config="a GPU", topology="1x1x1"
    )
    return topology.devices


def _place(devices: list[Any]) -> NamedSharding:
    return NamedSharding(Mesh(np.array(devices[:1]), ("x",)), P("x"))


def _struct(sharding: Any = None) -> Any:
    return olympus.ShapeDtypeStruct(X.shape, X.dtype, sharding=sharding)


def _double(x: Any) -> Any:
    return x * 2


def test_devices_of_a_description(described: list[Any]) -> None:
    (device, *_) = described
    assert versions.is_described(device)
    assert not versions.is_described(olympus.devices()[0])
    assert client.platform_of(device) == "cuda"
    place = SingleDeviceSharding(device)
    with pytest.raises(ValueError, match=r"memory_kind: must be one of 'device', 'pin"):
        place.with_memory_kind("vmem")
    mesh = topologies.make_mesh(
        topologies.TopologyDescription(described[:1]), (1,), ("x",)
    )
    assert mesh.local_devices == []
    assert NamedSharding(mesh, P("x")).memory_kind == "device"
    with pytest.raises(ValueError, match=r"memory_kind: must be one of 'device', 'pin"):
        NamedSharding(mesh, P("x"), memory_kind="vmem")


def test_memories_of_one_described_device(described: list[Any]) -> None:
    near = SingleDeviceSharding(described[0])
    far = near.with_memory_kind("pinned_host")
    assert (near.memory_kind, far.memory_kind) == ("device", "pinned_host")
    assert type(far).__name__ == "SingleDeviceSharding"
    assert far != near
    assert far == SingleDeviceSharding(described[0], memory_kind="pinned_host")
    f = olympus.jit(_double, in_shardings=near, out_shardings=far)
    assert 'placement = "pinned_host"' in f.lower(_struct()).as_text()
    text = olympus.jit(_double).lower(_struct(far)).as_text()
    assert 'mhlo.memory_kind = "pinned_host"' in text
    f = olympus.jit(_double, in_shardings=far, out_shardings=near)
    assert 'mhlo.memory_kind = "pinned_host"' in f.lower(_struct()).as_text()


def test_what_a_description_needs(described: list[Any]) -> None:
    with pytest.raises(ValueError, match=r"got no target_config; pass XLA's GpuTarget"):
        topologies.get_topology_desc(platform="cuda", topology="1x1x1")
    with pytest.raises(RuntimeError, match=r"'bad' with the options.*it says: INVALID"):
        topologies.get_topology_desc("bad", "cuda", target_config="", topology="x")


@pytest.mark.parametrize("how", ["in_shardings", "struct", "one device"])
def test_programs_are_lowered_and_compiled(described: list[Any], how: str) -> None:
    place = SingleDeviceSharding(described[0]) if how == "one device" else None
    place = place or _place(described)
    if how == "in_shardings":
        lowered = olympus.jit(_double, in_shardings=place).lower(_struct())
    else:
        lowered = olympus.jit(_double).lower(_struct(place))
    compiled = lowered.compile()
    assert "multiply" in compiled.as_text()
    assert compiled.input_shardings[0][0] == place
    assert compiled.output_shardings.device_set == set(described[:1])
    assert compiled.memory_analysis() is not None
    assert len(serialize_executable.serialize(compiled)[0]) > 100
    with pytest.raises(RuntimeError, match=r"(Compiled|device_put): .*only described"):
        compiled(X)
    program = compiled.runtime_executable()
    assert copy.copy(program).local_devices() == described[:1]


def test_nothing_runs_there(described: list[Any]) -> None:
    place = _place(described)
    for run in (
        lambda: olympus.jit(_double, in_shardings=place)(X),
        lambda: olympus.jit(_double, out_shardings=place)(X),
        lambda: jnp.zeros((4000,), device=place),
    ):
        with pytest.raises(RuntimeError, match=r"only described"):
            run()
    for put in (
        lambda: olympus.device_put(X, described[0]),
        lambda: olympus.device_put(X, place),
        lambda: olympus.device_put(jnp.ones(4), place),
        lambda: jnp.zeros((4,), device=described[0]),
    ):
        with pytest.raises(
            RuntimeError, match=r"device_put: .*only described, of get_"
        ):
            put()
    np.testing.assert_array_equal(olympus.jit(_double)(X), 2 * X)
    np.testing.assert_array_equal(jnp.asarray(X) + 1, X + 1)


def test_programs_hold_constants(described: list[Any]) -> None:
    values = jnp.asarray(np.arange(5000.0, dtype=np.float32))
    big = olympus.ShapeDtypeStruct((5000,), X.dtype)
    for place in (SingleDeviceSharding(described[0]), _place(described)):
        f = olympus.jit(lambda x: x + values, in_shardings=place)
        assert "add" in f.lower(big).compile().as_text()


def test_callbacks_are_refused(described: list[Any]) -> None:
    f = olympus.jit(
        lambda x: olympus.debug.print("{}", x), in_shardings=_place(described)
    )
    with pytest.raises(
        RuntimeError, match=r"compile: a program that calls Python func"
    ):
        f.lower(_struct()).compile()


def test_wrong_options_are_named(described: list[Any]) -> None:
    lowered = olympus.jit(_double, in_shardings=_place(described)).lower(_struct())
    with pytest.raises(
        ValueError, match=r"compiler_options: 'xla_nope' must be an opt"
    ):
        lowered.compile(compiler_options={"xla_nope": 1})


def test_equal_texts_for_two_descriptions_are_two_programs(
    described: list[Any],
) -> None:
    others = absent_devices.describe(plugins.Plugin("cuda", "x.so"), "", {})
    f = olympus.jit(_double)
    compiled = [
        f.lower(_struct(SingleDeviceSharding(d))).compile()
        for d in (described[0], others[0], olympus.devices()[0])
    ]
    programs = [c.runtime_executable() for c in compiled]
    assert len({id(p) for p in programs}) == 3
    np.testing.assert_array_equal(compiled[2](X), 2 * X)
    with pytest.raises(ValueError, match=r"incompatible devices"):
        olympus.jit(lambda x, y: x + y).lower(
            _struct(SingleDeviceSharding(described[0])),
            _struct(SingleDeviceSharding(others[0])),
        )
