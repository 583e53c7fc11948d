"""Programs of users for GPUs that are not here, by the plug-in's compiler."""

from __future__ import annotations

from typing import Any

import pytest

import olympus
from olympus import lax, nn
from olympus import numpy as jnp
from olympus._src.interpreters import concrete_arrays
from olympus._src.runtime import compile_cache
from olympus.experimental import topologies
from olympus.sharding import Mesh, NamedSharding, PartitionSpec, SingleDeviceSharding
from tests.gpu.absent import H200

pytestmark = pytest.mark.gpu_compile
P = PartitionSpec
Struct = olympus.ShapeDtypeStruct


def _describe(shape: str) -> topologies.TopologyDescription:
    return topologies.get_topology_desc(
        platform="cuda", target_config=H200.read_text(), topology=shape
    )


@pytest.fixture(scope="module")
def mesh() -> Mesh:
    """Four GPUs of one host."""
    return topologies.make_mesh(_describe("1x1x4"), (2, 2), ("x", "y"))


def test_devices_of_several_hosts() -> None:
    devices = _describe("1x2x4").devices
    assert [d.process_index for d in devices] == [0] * 4 + [1] * 4
    assert {d.device_kind for d in devices} == {"NVIDIA H200 141GB HBM3e"}
    with pytest.raises(RuntimeError, match=r"it says: .*topology must be of shape"):
        _describe("abc")
    with pytest.raises(RuntimeError, match=r"it says: .*parse GpuTargetConfigProto"):
        topologies.get_topology_desc("", "cuda", target_config="?", topology="1x1x1")


def test_products_over_a_mesh(mesh: Mesh) -> None:
    x = Struct((256, 256), "float32", sharding=NamedSharding(mesh, P("x", "y")))
    compiled = olympus.jit(lambda x: jnp.sin(x) @ x).lower(x).compile()
    text = compiled.as_text()
    assert "num_partitions=4" in text
    assert "all-gather" in text or "all-reduce" in text
    assert compiled.memory_analysis().argument_size_in_bytes == 256 * 256
    assert compiled.input_shardings[0][0] is x.sharding


def test_gradients_over_hosts() -> None:
    mesh = topologies.make_mesh(_describe("1x2x4"), (8,), ("x",))
    whole, rows = NamedSharding(mesh, P()), NamedSharding(mesh, P("x"))
    step = olympus.jit(
        olympus.grad(lambda w, x: ((x @ w) ** 2).sum()),
        in_shardings=(whole, rows),
        out_shardings=whole,
    )
    shapes = Struct((64, 64), "float32"), Struct((128, 64), "float32")
    assert "all-reduce" in step.lower(*shapes).compile().as_text()


def test_maps_over_a_mesh(mesh: Mesh) -> None:
    total = olympus.shard_map(
        lambda x: lax.psum(x, "x"), mesh=mesh, in_specs=P("x"), out_specs=P()
    )
    text = olympus.jit(total).lower(Struct((8, 4), "float32")).compile().as_text()
    assert "all-reduce" in text


def test_factorizations_on_one_gpu(mesh: Mesh) -> None:
    place = SingleDeviceSharding(mesh.devices.flat[0])
    a = Struct((64, 64), "float32", sharding=place)
    text = olympus.jit(jnp.linalg.cholesky).lower(a).compile().as_text()
    assert "cusolver_potrf_ffi" in text


def test_attention_by_cudnn(mesh: Mesh, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(concrete_arrays, "cudnn_version", lambda: 91800)
    place = SingleDeviceSharding(mesh.devices.flat[0])
    q = Struct((2, 64, 4, 64), "bfloat16", sharding=place)

    def total(q: Any) -> Any:
        return nn.dot_product_attention(q, q, q, implementation="cudnn").sum()

    text = olympus.jit(olympus.grad(total)).lower(q).compile().as_text()
    assert 'custom_call_target="__cudnn$fmhaSoftmaxBackward"' in text


def test_batches_of_blocks_are_divided(mesh: Mesh) -> None:
    place = NamedSharding(mesh, P("x"))
    rows = Struct((4, 64, 64), "float8_e4m3fn", sharding=place)
    scales = Struct((4, 64, 2), "float8_e8m0fnu", sharding=place)
    lowered = olympus.jit(nn.scaled_matmul).lower(rows, rows, scales, scales)
    assert "__op$block_scaled_dot" in lowered.as_text()
    assert "all-gather" not in lowered.compile().as_text()


def test_weights_that_wait_on_the_host(mesh: Mesh) -> None:
    far = NamedSharding(mesh, P(None, None, "y"), memory_kind="pinned_host")
    near, whole = NamedSharding(mesh, P(None, "y")), NamedSharding(mesh, P())

    def layers(weights: Any, x: Any) -> Any:
        def step(x: Any, w: Any) -> Any:
            return x @ olympus.device_put(w, near), None

        return lax.scan(step, x, weights)[0]

    f = olympus.jit(layers, in_shardings=(far, whole), out_shardings=whole)
    shapes = Struct((4, 64, 64), "float32"), Struct((64, 64), "float32")
    stats = f.lower(*shapes).compile().memory_analysis()
    assert stats.host_argument_size_in_bytes == 4 * 64 * 64 * 4 // 2
    assert stats.argument_size_in_bytes == 64 * 64 * 4


def test_options_of_xla_s_caches(mesh: Mesh) -> None:
    """XLA knows the options that the cache on disk adds on GPUs."""
    place = SingleDeviceSharding(mesh.devices.flat[0])
    lowered = olympus.jit(lambda x: x @ x).lower(
        Struct((64, 64), "float32", sharding=place)
    )
    names = compile_cache.TUNING, compile_cache.KERNELS
    options = dict.fromkeys(names, "/tmp/nothing-is-written-there")
    options["xla_gpu_experimental_autotune_cache_mode"] = "AUTOTUNE_CACHE_MODE_READ"
    lowered.compile(compiler_options=options)
    with pytest.raises(ValueError, match=r"'xla_gpu_nope' must be an option"):
        lowered.compile(compiler_options={"xla_gpu_nope": 1})
