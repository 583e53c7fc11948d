"""Waiting for effects."""

from olympus._src.api.placement import effects_barrier as wait_for_tokens

__all__ = ["wait_for_tokens"]
