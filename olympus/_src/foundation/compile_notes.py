"""What happens while a program is compiled, for whoever explains it afterwards.

The runtime notes in words what the cache on disk had; who asked for the program reads
it. Each thread has notes of its own.
"""

from __future__ import annotations

import threading


class _Thread(threading.local):
    def __init__(self) -> None:
        self.notes: list[str] | None = None


_thread = _Thread()


class Recorded:
    """Collects the notes of a `with` block, which gets the list of them."""

    __slots__ = ("_before",)

    def __enter__(self) -> list[str]:
        self._before = _thread.notes
        notes: list[str] = []
        _thread.notes = notes
        return notes

    def __exit__(self, *error: object) -> None:
        _thread.notes = self._before


def add(text: str) -> None:
    """Notes something, if anybody collects notes."""
    if _thread.notes is not None:
        _thread.notes.append(text)
