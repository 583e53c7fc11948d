"""Estimates of time: formulas, what is counted, and whole programs."""

from __future__ import annotations

import numpy as np
import pytest

import olympus
import olympus.numpy as jnp
from olympus import lax
from olympus._src.lowering import hlo_costs, hlo_text
from olympus._src.sharding.collective_costs import seconds_between
from olympus.sharding import (
    TOPOLOGIES,
    PartitionSpec,
    Topology,
    collective_seconds,
    estimate,
)
from tests.sharding.meshes import divide, mesh

P = PartitionSpec
eight_devices = pytest.mark.eight_devices

SWITCH = Topology(
    name="switch",
    devices_per_host=4,
    domain_size=8,
    links="switch",
    torus_axes=0,
    bandwidth=1e9,
    latency_s=1e-6,
    outer_bandwidth=1e8,
    outer_latency_s=1e-5,
    flops=1e12,
    memory_bandwidth=1e10,
    memory_bytes=1e9,
    source="this test",
)
TORUS = SWITCH._replace(name="torus", links="torus", torus_axes=2, domain_size=64)
S = 8e6


# -- formulas --------------------------------------------------------------------------

A, B = 1e-6, 1e9
FORMULAS = {
    ("all-gather", 8, 1): 7 * (A + S / 8 / B),
    ("reduce-scatter", 8, 1): 7 * (A + S / 8 / B),
    ("all-reduce", 8, 1): 14 * (A + S / 8 / B),
    ("all-reduce", 2, 1): 2 * (A + S / 2 / B),
    ("all-reduce", 1, 1): 0.0,
    ("all-to-all", 4, 1): 3 * (A + S / 4 / B),
    ("ragged-all-to-all", 4, 1): 3 * (A + S / 4 / B),
    ("collective-permute", 2, 1): A + S / B,
    # In the domains of eight, then an eighth of it between two.
    ("all-gather", 16, 1): 7 * (A + S / 8 / B) + 1e-5 + S / 16 / 1e8,
    ("all-reduce", 16, 1): 2 * (7 * (A + S / 8 / B) + 1e-5 + S / 16 / 1e8),
}


@pytest.mark.parametrize("case", FORMULAS, ids=str)
def test_formulas_at_a_switch(case):
    kind, n, axes = case
    seconds = collective_seconds(kind, S, n, SWITCH, axes)
    np.testing.assert_allclose(seconds, FORMULAS[case], 1e-12)


ON_TORUS = {
    ("all-gather", 8, 1): 4 * A + S * 7 / 8 / (2 * B),
    ("all-gather", 64, 2): 8 * A + S * 63 / 64 / (4 * B),
    ("all-reduce", 64, 2): 2 * (8 * A + S * 63 / 64 / (4 * B)),
    ("all-to-all", 8, 1): 4 * A + S * 8 / (8 * B),
    ("collective-permute", 2, 1): A + S / B,
}


@pytest.mark.parametrize("case", ON_TORUS, ids=str)
def test_formulas_on_a_torus(case):
    kind, n, axes = case
    seconds = collective_seconds(kind, S, n, TORUS, axes)
    np.testing.assert_allclose(seconds, ON_TORUS[case], 1e-12)


def test_costs_grow_with_payload_and_distance():
    for kind in ("all-reduce", "all-gather", "all-to-all", "collective-permute"):
        for topology in (*TOPOLOGIES.values(), SWITCH, TORUS):
            one, two = (collective_seconds(kind, s, 8, topology) for s in (1e6, 2e6))
            assert one < two < 2 * one
    h100 = TOPOLOGIES["h100"]
    within, beyond = (collective_seconds("all-reduce", 1e9, n, h100) for n in (8, 64))
    assert beyond > 2 * within


def test_groups_within_and_across_domains():
    """A mesh whose last axis is within domains exchanges less along it."""
    devices = np.arange(64).reshape(8, 8)
    within = seconds_between("all-reduce", S, devices, SWITCH, 1)
    across = seconds_between("all-reduce", S, devices.T, SWITCH, 1)
    np.testing.assert_allclose(within, 14 * (A + S / 8 / B), 1e-12)
    np.testing.assert_allclose(across, 14 * (1e-5 + S / 8 / 1e8), 1e-12)
    assert seconds_between("collective-permute", S, np.empty((0, 2)), SWITCH, 1) == 0


@pytest.mark.parametrize("name", TOPOLOGIES)
def test_topologies_are_sound(name):
    t = TOPOLOGIES[name]
    assert t.name == name
    assert t.source
    assert t.domain_size % t.devices_per_host == 0
    assert t.links in ("switch", "torus")
    assert (t.torus_axes > 0) == (t.links == "torus")
    # The nearer the quicker; virtual devices exchange data by the same memory.
    assert t.bandwidth > t.outer_bandwidth
    assert t.memory_bandwidth > t.bandwidth or name == "cpu-8"
    assert t.latency_s < t.outer_latency_s
    assert 1e9 <= t.memory_bytes < 1e12


# -- what is counted -------------------------------------------------------------------


def total(f, *args):
    compiled = olympus.jit(f).lower(*args).compile()
    kernels = list(hlo_costs.kernels(hlo_text.parse(compiled.as_text())))
    flops = sum(k.flops * k.times for k in kernels)
    return flops, sum(k.size_bytes * k.times for k in kernels)


X = np.ones((64, 32), np.float32)


def test_products_are_counted():
    flops, size = total(lambda x: x @ x.T, X)
    assert flops == 2 * 64 * 64 * 32
    assert size >= X.nbytes + 64 * 64 * 4
    flops, _ = total(lambda x: jnp.einsum("bij,bjk->bik", x, x), np.ones((3, 8, 8)))
    assert flops == 2 * 3 * 8**3
    image, kernel = np.ones((2, 3, 16, 16), "float32"), np.ones((5, 3, 3, 3), "float32")
    flops, _ = total(lambda x, w: lax.conv(x, w, (1, 1), "VALID"), image, kernel)
    np.testing.assert_allclose(flops, 2 * (2 * 5 * 14 * 14) * (3 * 3 * 3), 0.1)


def test_elementwise_operations_touch_their_arrays_once():
    flops, size = total(lambda x: jnp.sin(x) * 2 + x, X)
    assert size == 2 * X.nbytes
    assert X.size * 3 <= flops <= X.size * 4


def test_loops_count_as_often_as_they_run():
    def f(x):
        return lax.fori_loop(0, 7, lambda i, x: jnp.tanh(x @ x), x)

    square = np.ones((32, 32), np.float32)
    flops, _ = total(f, square)
    np.testing.assert_allclose(flops, 7 * 2 * 32**3, 0.1)


def test_slices_of_large_arrays_are_not_whole_arrays():
    weights = np.ones((50, 32, 32), np.float32)
    _, size = total(
        lambda w: lax.scan(lambda c, m: (c + m, None), jnp.zeros((32, 32)), w)[0],
        weights,
    )
    assert size < 8 * weights.nbytes


# -- programs --------------------------------------------------------------------------


@eight_devices
def test_the_estimate_of_a_program():
    x, w = divide(X, "x"), divide(np.ones((32, 32), np.float32))
    f = olympus.jit(olympus.grad(lambda w, x: jnp.tanh(x @ w).sum()))
    compiled = f.lower(w, x).compile()
    e = estimate(compiled, SWITCH)
    ((record, seconds),) = e.collectives
    assert record.kind == "all-reduce"
    assert record.group_size == 4
    np.testing.assert_allclose(seconds, 2 * 3 * (A + 4096 / 4 / B), 1e-12)
    assert e.flops >= 2 * 2 * 16 * 32 * 32
    assert e.communication_s == seconds
    np.testing.assert_allclose(e.total_s, e.compute_s + seconds)
    assert e.overlapped_s == max(e.compute_s, seconds)
    assert e.compute_s >= max(e.flops / SWITCH.flops, 1e-9)
    assert e.fits
    assert not estimate(compiled, SWITCH._replace(memory_bytes=100.0)).fits
    lines = str(e).splitlines()
    assert lines[0].startswith("on switch: ")
    assert "all-reduce of 4 KiB along 'x'" in lines[2]
    assert "<pre>" in e._repr_html_()


@eight_devices
def test_collectives_in_loops_count_as_often_as_they_run():
    weights = divide(np.ones((5, 16, 16), np.float32), None, "y")
    x = divide(np.ones((32, 16), np.float32), "x")

    def f(x, weights):
        return lax.scan(lambda c, w: (jnp.tanh(c @ w), None), x, weights)[0]

    e = estimate(olympus.jit(f).lower(x, weights).compile(), SWITCH)
    once = collective_seconds("all-reduce", 8 * 16 * 4, 2, SWITCH)
    np.testing.assert_allclose(e.communication_s, 5 * once, 1e-12)

    def g(x):
        return lax.while_loop(lambda c: c.sum() < 9, lambda c: c * 2, x)

    unknown = estimate(olympus.jit(g).lower(divide(X, "x")).compile(), "h100")
    assert unknown.has_unknown_loops
    assert "count once" in str(unknown)


@eight_devices
def test_dividing_further_costs_less_memory():
    def f(w, x):
        return jnp.tanh(x @ w)

    peaks = []
    for spec in ((), ("x",), (("x", "y"),)):
        x = divide(np.ones((1024, 64), np.float32), *spec)
        compiled = olympus.jit(f).lower(divide(np.ones((64, 64))), x).compile()
        peaks.append(estimate(compiled, "tpu-v5e").peak_bytes)
    assert peaks == sorted(peaks, reverse=True)
    assert peaks[0] > peaks[2]


def test_one_device():
    e = estimate(olympus.jit(lambda x: x @ x.T).lower(X).compile(), "tpu-v6e")
    assert e.collectives == ()
    assert e.flops == 2 * 64 * 64 * 32
    assert e.topology is TOPOLOGIES["tpu-v6e"]


def test_refusals():
    compiled = olympus.jit(jnp.sin).lower(X).compile()
    with pytest.raises(ValueError, match="topology must be one of a100-80gb, h100"):
        estimate(compiled, "h1000")
    with pytest.raises(TypeError, match="topology must be a Topology or the name"):
        estimate(compiled, 8)
    with pytest.raises(TypeError, match="must be a compiled function"):
        estimate(jnp.sin, "h100")


@eight_devices
def test_meshes_are_laid_out_in_order():
    """Domains hold neighbours along the last axis, which is the quick one."""
    small = SWITCH._replace(domain_size=2)
    x = divide(X, "x", "y")

    def summed(axis):
        f = olympus.shard_map(
            lambda x: lax.psum(x, axis),
            mesh=mesh(4, 2),
            in_specs=P("x", "y"),
            out_specs=P(None, "y") if axis == "x" else P("x"),
        )
        return estimate(olympus.jit(f).lower(x).compile(), small).communication_s

    assert summed("x") > 5 * summed("y")
