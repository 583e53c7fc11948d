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
    """The empty array that the last program of each ordered effect returned.

    It is on the device of that program. A program over several devices waits for it,
    and is waited for: it takes new tokens and leaves none.
    """

    def __init__(self) -> None:
        self._lock = caching.lock()
        self._last: dict[Any, ArrayImpl] = {}

    def take(self, effects: Sequence[Any], is_divided: bool = False) -> list[Any]:
        """The buffers to wait for before a program of these effects runs.

        Args:
          effects: of the program.
          is_divided: whether it runs on several devices.
        """
        with self._lock:
            tokens = [self._last.get(e) for e in effects]
        if is_divided:
            _wait_for(tokens)
            tokens = [None] * len(effects)
        empty = np.zeros((0,), np.bool_)
        return [
            (placement.put(empty, TOKEN_AVAL) if x is None else x)._buffer
            for x in tokens
        ]

    def put(
        self,
        effects: Sequence[Any],
        tokens: Sequence[ArrayImpl],
        is_divided: bool = False,
    ) -> None:
        """Notes that a program of these effects was started."""
        if is_divided:
            _wait_for(tokens)
            return
        with self._lock:
            self._last.update(zip(effects, tokens, strict=True))

    def pending(self) -> list[ArrayImpl]:
        """What to wait for until all have happened."""
        with self._lock:
            return list(self._last.values())


def _wait_for(tokens: Sequence[ArrayImpl | None]) -> None:
    for token in tokens:
        if token is not None:
            token.block_until_ready()


last_tokens = _EffectTokens()


def effects_barrier() -> None:
    """Waits until the effects of all programs that were started have happened."""
    for token in last_tokens.pending():
        token.block_until_ready()
    executable.wait_for_side_effects()
