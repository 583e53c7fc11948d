"""Tokens of ordered effects, by which programs with the same effect are ordered."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from olympus._src.core import avals
from olympus._src.foundation import caching
from olympus._src.interpreters.concrete_arrays import ArrayImpl
from olympus._src.runtime import executable, placement

TOKEN_AVAL = avals.ShapedArray((0,), np.dtype(np.bool_))


class _EffectTokens:
    """The empty array that the last program of each ordered effect returned."""

    def __init__(self) -> None:
        self._lock = caching.lock()
        self._last: dict[Any, ArrayImpl] = {}

    def take(self, effects: Sequence[Any]) -> list[Any]:
        """The buffers to wait for before a program of these effects runs."""
        with self._lock:
            tokens = [self._last.get(e) for e in effects]
        empty = np.zeros((0,), np.bool_)
        return [
            (placement.put(empty, TOKEN_AVAL) if x is None else x)._buffer
            for x in tokens
        ]

    def put(self, effects: Sequence[Any], tokens: Sequence[ArrayImpl]) -> None:
        """Notes that a program of these effects was started."""
        with self._lock:
            self._last.update(zip(effects, tokens, strict=True))

    def pending(self) -> list[ArrayImpl]:
        """What to wait for until all have happened."""
        with self._lock:
            return list(self._last.values())


last_tokens = _EffectTokens()


def effects_barrier() -> None:
    """Waits until the effects of all programs that were started have happened."""
    for token in last_tokens.pending():
        token.block_until_ready()
    executable.wait_for_side_effects()
