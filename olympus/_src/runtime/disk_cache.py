"""A folder of compiled programs that many processes share.

Each program is one file, named by its key and written whole or not at all. Nothing is
locked: a file that two processes write is the same program twice, and one that another
process removes while it is read stays readable.

The files' times of change say when a program was last used. What was unused for longest
is removed when the folder outgrows its limit, which is checked while writing.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from typing import Any, NamedTuple

from olympus._src.foundation import container
from olympus._src.runtime import prefetch, private_folder

KIND = "compiled program"
VERSIONS = range(1, 2)
_SECTION, _SHORT_SECTION = "executable", "short"

_SUFFIX = ".program"
TEMPORARY = ".writing-"
_KEY_DIGITS = 64
# A temporary file this old belongs to a process that was killed.
_ABANDONED_S = 3600
# And a trail this old, maybe to a script that is gone; those that run make new ones.
_OLD_TRAIL_S = 30 * 86400
# The folder is measured when this part of its limit was written since the last time,
# and trimmed to somewhat less than the limit, so that not every program has it trimmed.
_SWEEP_SHARE = 64
_TRIM_TO = 0.9
_SWEEP_S = 600
_STAMP = "swept"


class Damaged(Exception):
    """An entry that is not what was written; the message says what it is."""


class Entry(NamedTuple):
    """A program in the cache.

    Attributes:
      fields: what was noted of it: key, name, seconds to compile, ...
      program: the serialised executable.
      short: the same without what only descriptions of it need; None where there is
        no such form.
    """

    fields: dict[str, Any]
    program: bytes
    short: bytes | None = None


class File(NamedTuple):
    """A file of the cache.

    Attributes:
      path, key: where it is, and the program's key.
      size: bytes that it takes.
      used: when it was last used, in seconds since the epoch.
    """

    path: str
    key: str
    size: int
    used: float


_NOTE_BYTES = 1 << 12


def read_note(path: str) -> tuple[str, float] | None:
    """The name of a kept program, and the seconds it took to compile.

    None where its file is damaged or gone.
    """
    try:
        with open(path, "rb") as opened:
            fields = container.peek(opened.read(_NOTE_BYTES))["fields"]
        return str(fields["name"]), float(fields["compile_s"])
    except (OSError, ValueError, KeyError, TypeError):
        return None


class DiskCache:
    """The programs in a folder.

    Args:
      folder: as `private_folder.prepare` returned it.
      max_bytes: what it may hold; negative for no limit.
    """

    def __init__(self, folder: str, max_bytes: int = -1) -> None:
        self.folder = folder
        self.max_bytes = max_bytes
        self._unswept = 0
        self._numbers = iter(range(1 << 62))

    def path(self, key: str) -> str:
        """Where the program of a key is, if it is there."""
        return os.path.join(self.folder, key + _SUFFIX)

    def read(self, key: str) -> Entry | None:
        """The program of a key, verified; None if there is none.

        Raises:
          Damaged: there is something else in its place.
          OSError: it cannot be read, or others could have written it.
        """
        path = self.path(key)
        try:
            data = private_folder.read(path)
        except FileNotFoundError:
            return None
        entry = decode_entry(data, key)
        try:  # noqa: SIM105 - suppress() costs more than what it would hide
            os.utime(path)
        except OSError:  # the folder may be read-only, or the file gone by now
            pass
        return entry

    def write(
        self,
        key: str,
        fields: dict[str, Any],
        program: bytes,
        short: bytes | None = None,
    ) -> None:
        """Keeps a program, in place of what is there.

        Args:
          key: what it is kept under.
          fields, program, short: see `Entry`.

        Raises:
          OSError: there is no room for it, or the folder cannot be written.
        """
        sections = {_SECTION: program}
        if short is not None:
            sections[_SHORT_SECTION] = short
        data = container.pack(
            container.Container(KIND, VERSIONS[-1], {**fields, "key": key}, sections)
        )
        number = f"{os.getpid()}-{time.time_ns():x}-{next(self._numbers)}"
        temporary = os.path.join(self.folder, TEMPORARY + number)
        path = self.path(key)
        try:
            private_folder.write(path, temporary, data)
        except IsADirectoryError:
            os.rmdir(path)  # of others' folders only empty ones are removed
            private_folder.write(path, temporary, data)
        self._unswept += len(data)
        if self.max_bytes >= 0:
            self._sweep()

    def remove(self, key: str) -> None:
        """Removes the program of a key, if it is there."""
        _remove(self.path(key))

    def files(self) -> list[File]:
        """The files of programs, the one unused for longest first."""
        entries = []
        for item in self._scan_folder():
            key, suffix = os.path.splitext(item.name)
            if suffix != _SUFFIX or len(key) != _KEY_DIGITS:
                continue
            try:
                status = item.stat(follow_symlinks=False)
            except FileNotFoundError:  # removed meanwhile
                continue
            entries.append(
                File(item.path, key, _occupied_bytes(status), status.st_mtime)
            )
        return sorted(entries, key=lambda file: file.used)

    def trim(
        self, max_bytes: int | None = None, unused_s: float | None = None
    ) -> list[File]:
        """Removes programs, those unused for longest first.

        Args:
          max_bytes: until the rest takes no more than this.
          unused_s: and those unused for longer than this.

        Returns:
          What was removed.
        """
        files = self.files()
        total = sum(file.size for file in files)
        oldest = None if unused_s is None else time.time() - unused_s
        removed = []
        for file in files:
            too_old = oldest is not None and file.used < oldest
            if not too_old and (max_bytes is None or total <= max_bytes):
                break
            if _remove(file.path):
                removed.append(file)
            total -= file.size
        return removed

    def abandoned(self) -> list[str]:
        """Files that killed processes did not finish, and old trails."""
        now = time.time()
        paths = []
        for item in self._scan_folder():
            if item.name.startswith(TEMPORARY):
                limit = now - _ABANDONED_S
            elif prefetch.SUFFIX in item.name:
                limit = now - _OLD_TRAIL_S
            else:
                continue
            try:
                if item.stat(follow_symlinks=False).st_mtime < limit:
                    paths.append(item.path)
            except FileNotFoundError:
                pass
        return paths

    def clean(self) -> None:
        """Removes what killed processes left behind."""
        for path in self.abandoned():
            _remove(path)

    def _scan_folder(self) -> Iterator[os.DirEntry[str]]:
        with os.scandir(self.folder) as items:
            yield from items

    def _sweep(self) -> None:
        """Trims the folder, if enough was written since that was done last."""
        stamp = os.path.join(self.folder, _STAMP)
        if self._unswept * _SWEEP_SHARE < self.max_bytes:
            try:
                if time.time() - os.lstat(stamp).st_mtime < _SWEEP_S:
                    return
            except FileNotFoundError:
                pass
        self._unswept = 0
        with open(stamp, "wb"):
            os.utime(stamp)
        self.clean()
        if sum(file.size for file in self.files()) > self.max_bytes:
            self.trim(int(self.max_bytes * _TRIM_TO))


_MOST_SECONDS = 1e9


def decode_entry(data: bytes, key: str) -> Entry:
    """The entry that a file's bytes hold.

    Raises:
      Damaged: they are not what was written for this key.
    """
    try:
        parts = container.unpack(data, KIND, VERSIONS)
    except container.Unreadable as error:
        raise Damaged(str(error)) from None
    fields = parts.fields
    if not isinstance(fields, dict) or fields.get("key") != key:
        raise Damaged(f"{KIND}: it was written for another program or machine")
    seconds: Any = fields.get("compile_s")
    noted = type(seconds) in (int, float) and 0 <= seconds < _MOST_SECONDS
    if (
        not noted
        or type(fields.get("name")) is not str
        or _SECTION not in parts.sections
    ):
        raise Damaged(f"{KIND}: it lacks what every entry has")
    sections = parts.sections
    return Entry(fields, sections[_SECTION], sections.get(_SHORT_SECTION))


def _occupied_bytes(status: os.stat_result) -> int:
    """Bytes on the disk, which counts in blocks of 512."""
    return getattr(status, "st_blocks", 0) * 512 or status.st_size


def _remove(path: str) -> bool:
    """Removes a file, or an empty folder in its place; says whether it is gone."""
    try:
        os.unlink(path)
    except FileNotFoundError:
        return True
    except OSError:
        try:
            os.rmdir(path)
        except OSError:
            return False
    return True
