"""An older place of `jax.shard_map`, and an older form of its arguments."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from olympus._src.api.shard_map import shard_map as _shard_map


def shard_map(
    f: Callable[..., Any],
    mesh: Any,
    in_specs: Any,
    out_specs: Any,
    check_rep: bool = True,
) -> Callable[..., Any]:
    """`olympus.shard_map` of all axes of a mesh; `check_rep` is its `check_vma`."""
    return _shard_map(
        f, mesh=mesh, in_specs=in_specs, out_specs=out_specs, check_vma=check_rep
    )


DEPRECATED = {"shard_map": "write jax.shard_map"}

__all__ = ["shard_map"]
