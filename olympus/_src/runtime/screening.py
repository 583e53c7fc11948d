"""Modules that are known to be read without harm, and how that is found out.

MLIR is not made to withstand forged bytes: of some it reads memory that is not its own,
which ends the process. So a module that was not written here is first read in a process
of its own. It is known then by its digest, in this process and in the next ones of this
user, whose private folder of compiled programs holds the digests.
"""

from __future__ import annotations

import contextlib
import hashlib
import itertools
import os
import subprocess
import sys
import time
from collections.abc import Iterable

from olympus._src.foundation import caching
from olympus._src.runtime import compile_cache, portable, private_folder, versions

_FILE = "screened-modules"
_SCREEN_S = 120
_DIGEST_LETTERS = 64
_MAX_DIGESTS = 10_000

# In the order in which they came; also those on disk, once they were read.
_known: dict[str, None] = {}
_read_folders: set[str] = set()
_numbers = itertools.count()
_lock = caching.lock()


def _forget() -> None:
    with _lock:
        _known.clear()
        _read_folders.clear()


caching.register(_forget, "digests of modules that can be read", lambda: len(_known))


def digest(module: bytes) -> str:
    """The digest of a module; another jaxlib may read it differently."""
    version = ".".join(map(str, versions.JAXLIB_VERSION))
    return hashlib.sha256(version.encode() + b"\0" + module).hexdigest()


def note_written(module: bytes) -> None:
    """Notes that a module was written by this process."""
    with _lock:
        _add([digest(module)])


def store_written(modules: Iterable[bytes]) -> None:
    """Keeps, for other processes, those modules that this one wrote or screened."""
    digests = [digest(m) for m in modules]
    with _lock:
        _store([d for d in digests if d in _known])


def screen(modules: Iterable[bytes], *, again: bool = False) -> None:
    """Makes sure that modules can be read by this process.

    Args:
      modules: portable modules.
      again: read also those elsewhere that are known.

    Raises:
      ValueError: one cannot be read, or ends a process that reads it; or no process can
        be started.
    """
    unknown = {digest(m): m for m in modules}
    if not again:
        with _lock:
            if not unknown.keys() <= _known.keys():
                _load()
            unknown = {d: m for d, m in unknown.items() if d not in _known}
    if unknown:
        _read_elsewhere(list(unknown.values()))
        with _lock:
            _add(unknown)
            _store(list(unknown))


def _add(digests: Iterable[str]) -> None:
    _known.update(dict.fromkeys(digests))
    while len(_known) > _MAX_DIGESTS:
        del _known[next(iter(_known))]


# -- in another process ----------------------------------------------------------------


def _read_elsewhere(modules: list[bytes]) -> None:
    folders = [os.path.abspath(p) for p in sys.path if p]
    try:
        done = subprocess.run(
            [sys.executable, "-I", "-S", portable.__file__, *folders],
            input=portable.join(modules),
            capture_output=True,
            timeout=_SCREEN_S,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise ValueError(f"its module must be read in {_SCREEN_S} s") from None
    except (OSError, ValueError) as error:
        raise ValueError(
            "its module is unknown, and no process can be started to check it "
            f"({error}); read it with isolate=False if you trust who wrote it"
        ) from None
    if done.returncode == 0:
        return
    said = done.stdout.decode(errors="replace").strip()
    if done.returncode == 1 and said:
        raise ValueError(f"its module cannot be read: {said}")
    lines = done.stderr.decode(errors="replace").strip().splitlines()
    raise ValueError(
        "reading its module crashed the process, with the exit code "
        f"{done.returncode}: {lines[-1][:500] if lines else ''}"
    )


# -- on disk ---------------------------------------------------------------------------


def _load() -> None:
    """Reads the digests in the user's private folder."""
    folder = compile_cache.private_place()
    if folder is None or folder in _read_folders:
        return
    _add(_digests_in(folder))
    _read_folders.add(folder)


def _digests_in(folder: str) -> list[str]:
    most = (_DIGEST_LETTERS + 1) * _MAX_DIGESTS
    try:
        data = private_folder.read(os.path.join(folder, _FILE), most)
    except OSError:  # also where others might have written it
        return []
    lines = data.decode("ascii", "replace").splitlines()
    return [line for line in lines if len(line) == _DIGEST_LETTERS]


def _store(digests: list[str]) -> None:
    # Late, with hashing and JSON, as in compile_cache.
    from olympus._src.runtime import disk_cache

    folder = compile_cache.private_place()
    if folder is None or not digests:
        return
    there = dict.fromkeys(_digests_in(folder))
    if there.keys() >= set(digests):
        return
    lines = [*there, *[d for d in digests if d not in there]][-_MAX_DIGESTS:]
    number = f"{os.getpid()}-{time.time_ns():x}-{next(_numbers)}"
    # Of two processes at once one may lose its lines: those modules are read once more.
    with contextlib.suppress(OSError):
        private_folder.write(
            os.path.join(folder, _FILE),
            os.path.join(folder, disk_cache.TEMPORARY + number),
            "".join(d + "\n" for d in lines).encode(),
        )
