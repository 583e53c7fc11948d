"""Compares estimates of programs over eight devices with the time they take.

usage: OLYMPUS_NUM_CPU_DEVICES=8 python -m bench.mesh_estimates

Four programs measure what the devices and the exchange between them can do: a product,
a sum of arrays, and two all-reduces. The estimates of the others follow from these.
Printed are seconds as estimated and as measured, and their ratio; then how far ratios
between programs are off, which is what estimates are for.
"""

from __future__ import annotations

import itertools
import statistics
import time
from collections.abc import Callable
from typing import Any

import numpy as np

import olympus
import olympus.numpy as jnp
from olympus import lax
from olympus.sharding import (
    Mesh,
    NamedSharding,
    PartitionSpec,
    Topology,
    estimate,
)

P = PartitionSpec
ROUNDS, CALLS = 12, 3


def _seconds(compiled: Any, args: Any) -> float:
    """The shortest time of a call, of several rounds."""
    best = float("inf")
    for _ in range(ROUNDS):
        olympus.block_until_ready(compiled(*args))
        start = time.perf_counter()
        for _ in range(CALLS):
            olympus.block_until_ready(compiled(*args))
        best = min(best, (time.perf_counter() - start) / CALLS)
    return best


class Programs:
    """Programs over a mesh of four by two devices."""

    def __init__(self) -> None:
        devices = np.array(olympus.devices()[:8]).reshape(4, 2)
        self.mesh = Mesh(devices, ("x", "y"))

    def array(self, shape: tuple[int, ...], *spec: Any) -> Any:
        """Ones, divided."""
        ones = np.ones(shape, np.float32)
        return olympus.device_put(ones, NamedSharding(self.mesh, P(*spec)))

    def local(self, f: Callable[..., Any], in_specs: Any, out_specs: Any) -> Any:
        """A program of one device."""
        return olympus.shard_map(
            f, mesh=self.mesh, in_specs=in_specs, out_specs=out_specs, check_vma=False
        )

    def calibration(self) -> dict[str, tuple[Any, Any]]:
        """Programs that do one thing each."""
        both = P(("x", "y"))
        psum = self.local(lambda x: lax.psum(x, ("x", "y")), both, P())
        add = self.local(lambda x: x + 1, both, both)
        dot = self.local(lambda x: x @ x, both, both)
        return {
            "nothing": (add, [self.array((8, 8), ("x", "y"))]),
            "add": (add, [self.array((8 << 18,), ("x", "y"))]),
            "dot": (dot, [self.array((8 * 384, 384), ("x", "y"))]),
            "small psum": (psum, [self.array((8, 8), ("x", "y"))]),
            "large psum": (psum, [self.array((8 << 18,), ("x", "y"))]),
        }

    def compared(self) -> dict[str, tuple[Any, Any]]:
        """A dozen programs."""
        array, local = self.array, self.local
        shift = [(i, (i + 1) % 4) for i in range(4)]
        x = array((1024, 1024), ("x", "y"))
        rows = P(("x", "y"))
        a, b = array((512, 2048), None, "y"), array((2048, 512), "y")
        whole = [array((512, 2048)), array((2048, 512))]
        parts = [array((512, 2048), "x"), array((2048, 512), "x")]
        same = whole[0].sharding
        batch = array((512, 512), "x")
        layers = array((8, 512, 512), None, None, "y")

        def mlp(a: Any, b: Any, x: Any) -> Any:
            return jnp.tanh(x @ a) @ b

        def gathered(a: Any, b: Any, x: Any) -> Any:
            put = lax.with_sharding_constraint
            return mlp(put(a, same), put(b, same), x)

        def deep(x: Any, layers: Any) -> Any:
            return lax.scan(lambda h, w: (jnp.tanh(h @ w), None), x, layers)[0]

        gradient = olympus.grad(lambda a, b, x: (mlp(a, b, x) ** 2).sum(), (0, 1))
        return {
            "psum along x": (local(lambda x: lax.psum(x, "x"), rows, P("y")), [x]),
            "psum along y": (local(lambda x: lax.psum(x, "y"), rows, P("x")), [x]),
            "all_gather": (
                local(lambda x: lax.all_gather(x, "x", tiled=True), rows, P("y")),
                [x],
            ),
            "psum_scatter": (
                local(lambda x: lax.psum_scatter(x, "x", tiled=True), P(), P("x")),
                [x],
            ),
            "all_to_all": (
                local(
                    lambda x: lax.all_to_all(x, "x", 1, 0, tiled=True),
                    P("x"),
                    P(None, "x"),
                ),
                [array((2048, 1024), "x")],
            ),
            "ppermute": (local(lambda x: lax.ppermute(x, "x", shift), rows, rows), [x]),
            "chain of operations": (lambda x: jnp.sqrt(jnp.tanh(x) + x * x), [x]),
            "products, no exchange": (mlp, [*whole, array((2048, 512), ("x", "y"))]),
            "tensor parallel": (mlp, [a, b, array((512, 512))]),
            "gathered weights": (gathered, [*parts, batch]),
            "data parallel gradient": (gradient, [*whole, batch]),
            "tensor parallel gradient": (gradient, [a, b, array((512, 512))]),
            "tensor parallel scan": (deep, [batch, layers]),
        }


def measure(programs: Programs) -> tuple[Topology, float]:
    """What the devices can do, and what a call costs beside its work."""
    times = {}
    for name, (f, args) in programs.calibration().items():
        times[name] = _seconds(olympus.jit(f).lower(*args).compile(), args)
    overhead = times["nothing"]
    ring = 2 * (8 - 1)
    latency = max(times["small psum"] - overhead, 1e-7) / ring
    part_bytes = (8 << 18) / 8 * 4
    large = times["large psum"] - overhead - ring * latency
    topology = Topology(
        "measured",
        devices_per_host=8,
        domain_size=8,
        links="switch",
        torus_axes=0,
        bandwidth=ring * part_bytes / 8 / large,
        latency_s=latency,
        outer_bandwidth=1e9,
        outer_latency_s=1e-4,
        flops=2 * 384**3 / (times["dot"] - overhead),
        memory_bandwidth=2 * 4 * (1 << 18) / (times["add"] - overhead),
        memory_bytes=1e9,
        source="this script",
    )
    return topology, overhead


def main() -> None:
    """Prints the comparison."""
    programs = Programs()
    topology, overhead = measure(programs)
    print(f"a call costs {overhead * 1e6:.0f} us; per device:")
    for name in ("latency_s", "bandwidth", "flops", "memory_bandwidth"):
        print(f"  {name} {getattr(topology, name):.3g}")
    print("\n| program | estimated, us | measured, us | measured / estimated |")
    print("|---|---|---|---|")
    rows = {}
    for name, (f, args) in programs.compared().items():
        compiled = olympus.jit(f).lower(*args).compile()
        estimated = estimate(compiled, topology).total_s + overhead
        measured = _seconds(compiled, args)
        rows[name] = estimated, measured
        print(
            f"| {name} | {estimated * 1e6:.0f} | {measured * 1e6:.0f} | "
            f"{measured / estimated:.2f} |"
        )
    errors = []
    for (e1, m1), (e2, m2) in itertools.combinations(rows.values(), 2):
        quotient = (m1 / m2) / (e1 / e2)
        errors.append(max(quotient, 1 / quotient))
    in_order = sum(
        (e1 < e2) == (m1 < m2)
        for (e1, m1), (e2, m2) in itertools.combinations(rows.values(), 2)
    )
    print(
        f"\nratios between two programs are off by a factor of "
        f"{statistics.median(errors):.2f} in the median, {max(errors):.2f} at most; "
        f"{in_order} of {len(errors)} pairs are in the right order"
    )


if __name__ == "__main__":
    main()
