"""A cache of compiled programs in a folder of a test's own, and what it did."""

from __future__ import annotations

import contextlib
from collections import Counter

from olympus._src.foundation import compiler_settings as compiler
from olympus._src.foundation import events
from olympus._src.runtime import compile_cache

PREFIX = "/olympus/compilation_cache/"


class Counts(Counter):
    """How often each event of the cache happened."""

    def heard(self, event, *rest, **labels):
        if event.startswith(PREFIX):
            self[event.removeprefix(PREFIX)] += 1

    @property
    def hits(self):
        return self["cache_hits"]

    @property
    def misses(self):
        return self["cache_misses"]


@contextlib.contextmanager
def counted():
    """Counts the cache's events in a block."""
    counts = Counts()
    events.register_event_listener(counts.heard)
    events.register_event_duration_secs_listener(counts.heard)
    try:
        yield counts
    finally:
        events.unregister_event_listener(counts.heard)
        events.unregister_event_duration_listener(counts.heard)


@contextlib.contextmanager
def in_folder(folder):
    """Has programs kept in a folder in a block, as if the process were new."""
    compile_cache.reset()
    try:
        with (
            compiler.enable_compilation_cache(True),
            compiler.compilation_cache_dir(str(folder)),
            counted() as counts,
        ):
            yield counts
    finally:
        compile_cache.reset()
