"""Arrays and programs over eight devices, which are parts of the CPU."""

from __future__ import annotations

import importlib
import random
from typing import Any

import numpy as np

from bench.models import Library, mlp, transformer
from bench.programs import Prepared


def _mesh(lib: Library) -> Any:
    """A mesh of 4 by 2 devices, and what makes shardings over it."""
    names = importlib.import_module(f"{lib.top.__name__}.sharding")
    devices = np.array(lib.top.devices()).reshape(4, 2)
    mesh = names.Mesh(devices, ("x", "y"))
    return mesh, lambda *entries: names.NamedSharding(
        mesh, names.PartitionSpec(*entries)
    )


def mesh_calls(lib: Library) -> dict[str, Any]:
    """What calls, puts and reads cost beyond the computation, which is tiny."""
    _, over = _mesh(lib)
    top, wait = lib.top, lib.wait
    values = np.arange(64.0, dtype=np.float32).reshape(8, 8)
    x = top.device_put(values, over("x", "y"))
    add, add_all = top.jit(lambda x: x + 1), top.jit(lambda *xs: [x + 1 for x in xs])
    many = [x] * 20

    def ready() -> Any:
        out = add(x)
        wait(out)
        return out

    return {
        "mesh call, one array": ready,
        "mesh call, 20 arrays": lambda: wait(add_all(*many)),
        "mesh put": lambda: top.device_put(values, over("x", "y")),
        "mesh read": Prepared(ready, np.asarray),
        "mesh shards": Prepared(
            ready, lambda y: [s.data for s in y.addressable_shards]
        ),
        "mesh call and shards": lambda: [s.data for s in ready().addressable_shards],
    }


def mesh_placed(lib: Library) -> dict[str, Any]:
    """Operations and calls on arrays that are committed to one of the devices."""
    top, jnp = lib.top, lib.np
    device = top.devices()[3]
    values = np.arange(8, dtype=np.float32)
    x = top.device_put(values, device)
    place = importlib.import_module(f"{top.__name__}.sharding")
    scaled = top.jit(lambda x, n: x * n)
    chosen = top.jit(lambda x: x + 1, out_shardings=place.SingleDeviceSharding(device))
    return {
        "placed -x": lambda: -x,
        "placed 2 * x + 1": lambda: 2 * x + 1,
        "placed x + NumPy": lambda: x + values,
        "placed clip": lambda: jnp.clip(x, 0, 1),
        "placed where": lambda: jnp.where(x > 2, x, 0.0),
        "placed median": lambda: jnp.median(x),
        "placed std": lambda: jnp.std(x),
        "placed part": lambda: x[1:4],
        "placed call with a number": lambda: scaled(x, 2.0),
        "placed call, out_shardings": lambda: chosen(x),
    }


def mesh_programs(lib: Library) -> dict[str, Any]:
    """First calls of divided programs, and what tracing `shard_map` takes."""
    mesh, over = _mesh(lib)
    top = lib.top
    loss, params, _ = transformer(lib, 2)
    batch = np.random.default_rng(0).normal(size=(8, 16, 32)).astype(np.float32)
    divided = top.device_put(batch, over(("x", "y")))
    placed = top.tree_util.tree_map(lambda p: top.device_put(p, over()), params)

    def first_step() -> Any:
        seed = float(random.random())
        step = top.jit(lib.fresh(lambda p, x: top.grad(loss)(p, x * seed)))
        return step(placed, divided)

    m_loss, m_params, m_x = mlp(lib, 50)
    same, rows = over().spec, over("x").spec

    def local(p: Any, x: Any) -> Any:
        return lib.lax.pmean(m_loss(p, x), "x")

    def trace() -> Any:
        f = top.shard_map(
            lib.fresh(local), mesh=mesh, in_specs=(same, rows), out_specs=same
        )
        return lib.make_program(lib.fresh(top.grad(f)))(m_params, m_x)

    return {
        "mesh cold call, grad transformer-2": first_step,
        "mesh trace grad shard_map MLP-50": trace,
    }


GROUPS = {f.__name__: f for f in (mesh_calls, mesh_placed, mesh_programs)}
