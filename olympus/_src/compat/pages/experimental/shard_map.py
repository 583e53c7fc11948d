"""An older place of `jax.shard_map`."""

from olympus._src.api.shard_map import shard_map as shard_map

DEPRECATED = {"shard_map": "write jax.shard_map"}

__all__ = ["shard_map"]
