"""Tokens of ordered effects, by which programs with the same effect are ordered."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from olympus._src.core import avals
from olympus._src.foundation import caching
from olympus._src.interpreters.concrete_arrays import ArrayImpl
from olympus._src.runtime import executable, placement
from olympus._src.runtime.versions import XlaRuntimeError

TOKEN_AVAL = avals.ShapedArray((0,), np.dtype(np.bool_))


class _EffectTokens:
    """The empty array that the last program of each ordered effect returned.

    It is on the device of that program. A program on another device waits for it and
    takes a new one. So does a program over several devices, which is waited for and
    leaves none. One that follows a failed program takes a new one too: it has to come
    later, not to fail.
    """

    def __init__(self) -> None:
        self._lock = caching.lock()
        self._last: dict[Any, ArrayImpl] = {}
        self._failed: dict[Any, ArrayImpl] = {}

    def take(self, effects: Sequence[Any], device: Any) -> list[Any]:
        """The buffers to wait for before a program of these effects runs.

        Args:
          effects: of the program.
          device: where it runs; None for several devices.
        """
        return [self._token_for(effect, device)._buffer for effect in effects]

    def _token_for(self, effect: Any, device: Any) -> ArrayImpl:
        with self._lock:
            token = self._last.get(effect)
        if token is not None:
            is_there = token.single_device == device
            if is_there and not token.is_ready():
                return token
            if not _has_failed(token):
                if is_there:
                    return token
            else:
                with self._lock:
                    self._failed.setdefault(effect, token)
        return placement.put(np.zeros((0,), np.bool_), TOKEN_AVAL, device)

    def put(
        self,
        effects: Sequence[Any],
        tokens: Sequence[ArrayImpl],
        is_divided: bool = False,
    ) -> None:
        """Notes that a program of these effects was started."""
        if is_divided:
            for token in tokens:
                token.block_until_ready()
            return
        with self._lock:
            self._last.update(zip(effects, tokens, strict=True))

    def wait(self) -> None:
        """Waits until all have happened.

        Raises:
          RuntimeError: one failed, the first of them, which are then forgotten.
        """
        with self._lock:
            pending = [*self._failed.items(), *self._last.items()]
            self._failed.clear()
        failures = []
        for effect, token in pending:
            try:
                token.block_until_ready()
            except XlaRuntimeError as error:
                failures.append(error)
                self._forget(effect, token)
        if failures:
            raise failures[0]

    def _forget(self, effect: Any, token: ArrayImpl) -> None:
        with self._lock:
            if self._last.get(effect) is token:
                del self._last[effect]


def _has_failed(token: ArrayImpl) -> bool:
    """Whether the program that returned a token failed; waits for it."""
    try:
        token.block_until_ready()
    except XlaRuntimeError:
        return True
    return False


last_tokens = _EffectTokens()


def effects_barrier() -> None:
    """Waits until the effects of all programs that were started have happened."""
    last_tokens.wait()
    executable.wait_for_side_effects()
