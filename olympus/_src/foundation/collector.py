"""Imports that Python's garbage collector leaves alone.

What modules make when they are imported stays. The collector would walk over all of it
several times and free next to nothing, which takes a seventh of `import olympus`.
"""

from __future__ import annotations

import gc

# A threshold that nobody else sets: whoever finds it knows who set it.
_NEVER = 1_000_000_007

# Python 3.12 starts with some hundreds of frozen objects; a user freezes thousands.
_FROZEN_BY_PYTHON = 1_000


class Paused:
    """A block in which no collection begins by itself, and what it makes is old after.

    Collections are paused by the threshold, not by `gc.disable`: what another thread
    says meanwhile, whether they are enabled or at which threshold, holds.
    """

    __slots__ = ("_thresholds",)

    def __init__(self) -> None:
        self._thresholds: tuple[int, ...] | None = None

    def __enter__(self) -> None:
        thresholds = gc.get_threshold()
        # Not in a block in a block, and not where the user has them off.
        if gc.isenabled() and 0 < thresholds[0] < _NEVER:
            self._thresholds = thresholds
            gc.set_threshold(_NEVER, *thresholds[1:])

    def __exit__(self, *error: object) -> None:
        if self._thresholds is None or gc.get_threshold()[0] != _NEVER:
            return
        # Both together move all objects into the oldest generation, and walk over none.
        # What a user has frozen is not thawed; to count much of it takes milliseconds.
        if gc.get_freeze_count() <= _FROZEN_BY_PYTHON:
            gc.freeze()
            gc.unfreeze()
        gc.set_threshold(*self._thresholds)
