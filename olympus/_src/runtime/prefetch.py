"""Loads, in a second thread, what the last run of the same script loaded.

A process notes which large programs it took from the cache on disk, or put there, in
the order of use: its trail. The next process of the same script reads the trail when
its client starts and loads these programs while the main thread makes data and traces:
loading takes 0.15 s for each MB, and no lock of Python. What the main thread asks for
before its turn comes it loads itself; what it never asks for costs another core's time.

A trail holds names of entries only. The entries are verified as always, so a trail that
is wrong can waste work and nothing else.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import sys
import threading
from collections.abc import Callable, Sequence
from typing import Any

from olympus._src.foundation import logs
from olympus._src.runtime import private_folder

SUFFIX = ".trail"

# Smaller programs are loaded sooner (30 ms) than a thread is of use: it shares Python
# with the main thread while it starts and reads.
_LEAST_BYTES = 1 << 18
_MOST_PROGRAMS = 64
_MOST_BYTES = 1 << 16


class _Loading:
    """A program that the thread has begun to load."""

    __slots__ = ("done", "result")

    def __init__(self) -> None:
        self.done = threading.Event()
        self.result: Any = None


class Prefetch:
    """Programs loaded one after another by a thread.

    Args:
      keys: in the order of use.
      load: gives what is loaded for a key; None where it cannot.
    """

    def __init__(self, keys: Sequence[str], load: Callable[[str], Any]) -> None:
        self._load = load
        self._lock = threading.Lock()
        self._waiting = dict.fromkeys(keys)
        self._begun: dict[str, _Loading] = {}

    def start(self) -> None:
        """Starts the thread; at exit Python waits for the program it is at."""
        threading.Thread(target=self._run, name="olympus prefetch").start()

    def take(self, key: str) -> Any:
        """What was loaded for a key, waited for if it is on its way; else None."""
        with self._lock:
            self._waiting.pop(key, None)
            job = self._begun.pop(key, None)
        if job is None:
            return None
        job.done.wait()
        return job.result

    def stop(self) -> None:
        """Loads nothing more, and releases what was not requested."""
        with self._lock:
            self._waiting.clear()
            self._begun.clear()

    def _run(self) -> None:
        while threading.main_thread().is_alive():
            with self._lock:
                if not self._waiting:
                    return
                key = next(iter(self._waiting))
                del self._waiting[key]
                loading = self._begun[key] = _Loading()
            try:
                loading.result = self._load(key)
            except Exception as error:  # the main thread meets it again, and says so
                logs.debug(f"{key} was not loaded ahead: {error}")
            finally:
                loading.done.set()


_NOTHING = Prefetch((), lambda key: None)


class Trail:
    """What this process uses, and what the last one of its script did."""

    def __init__(self) -> None:
        self._prefetch = _NOTHING
        self._used: dict[str, None] = {}
        self._before: list[str] = []

    def follow(self, folder: str, load: Callable[[str], Any]) -> None:
        """Starts to load what the last process of this script used.

        Args:
          folder: the cache's.
          load: gives what is loaded for a key; None where it cannot.
        """
        path = _path(folder)
        if not path or not os.path.exists(path):
            return
        self._before = _read(path)
        if self._before:
            self._prefetch = Prefetch(self._before, load)
            self._prefetch.start()

    def take(self, key: str) -> Any:
        """What was loaded ahead for a key; None if that was not done."""
        return self._prefetch.take(key)

    def note(self, folder: str, key: str, size: int) -> None:
        """Notes that a program of so many bytes was used."""
        if size < _LEAST_BYTES or len(self._used) >= _MOST_PROGRAMS:
            return
        if not self._used:
            # Python forgets the script's name before it exits.
            atexit.register(self._write, _path(folder), _script())
        self._used[key] = None

    def forget(self) -> None:
        """Releases what was loaded and not requested."""
        self._prefetch.stop()
        self._prefetch = _NOTHING

    def abandon(self) -> None:
        """Forgets a thread that did not come along when the process was forked."""
        self._prefetch = _NOTHING

    def _write(self, path: str, script: str) -> None:
        used = list(self._used)
        if not path or used == self._before:
            return
        text = "\n".join((script, *used))
        temporary = f"{path}-{os.getpid()}"
        with contextlib.suppress(OSError):  # it is a help, not a duty
            private_folder.write(path, temporary, text.encode(errors="surrogateescape"))


def _script() -> str:
    """The script that runs; '' in a session without one."""
    path = getattr(sys.modules.get("__main__"), "__file__", None)
    return os.path.abspath(path) if path else ""


def _path(folder: str) -> str:
    """The file of this script's trail; '' in a session without a script."""
    # Late: import of olympus does without it.
    import zlib

    name = os.fsencode(_script())
    return os.path.join(folder, f"{zlib.crc32(name):08x}{SUFFIX}") if name else ""


def _read(path: str) -> list[str]:
    """The keys of a trail; none where it is another script's, or no trail."""
    try:
        text = private_folder.read(path, _MOST_BYTES).decode(errors="surrogateescape")
    except OSError:
        return []
    script, *keys = text.split("\n")
    sound = all(len(key) == 64 and key.isalnum() for key in keys)
    return keys[:_MOST_PROGRAMS] if sound and script == _script() else []


trail = Trail()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=trail.abandon)
