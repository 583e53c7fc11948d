"""Operations run by themselves, and waiting for effects."""

from __future__ import annotations

from olympus._src.api.placement import effects_barrier
from olympus._src.api.placement import effects_barrier as wait_for_tokens
from olympus._src.api.value_types import apply_primitive as apply_primitive


class RuntimeTokenSet:
    """The effects that run: programs follow each other by themselves here."""

    def block_until_ready(self) -> None:
        """Waits for them."""
        effects_barrier()

    clear = block_until_ready


runtime_tokens = RuntimeTokenSet()

__all__ = ["apply_primitive", "runtime_tokens", "wait_for_tokens"]
