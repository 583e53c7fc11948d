"""Folders and files that nobody but their owner can change.

A compiled program is code: who can write it can run code as its reader. So a folder
of programs must belong to the user and be writable by no one else, and so must each
file in it; and no one else may be able to put another folder in its place, which the
owner of a folder above it could. Files are checked through their open descriptor, so
that what is checked is what is read.

Where the system has no owners and modes of POSIX (Windows), nothing is checked: there
a user's own folders are closed to others by default.
"""

from __future__ import annotations

import contextlib
import errno
import os
import stat
import sys

_ROOT = 0
_OTHERS_WRITE = stat.S_IWGRP | stat.S_IWOTH
_READ_FLAGS = (
    os.O_RDONLY
    | getattr(os, "O_NOFOLLOW", 0)
    # A pipe in a file's place would block.
    | getattr(os, "O_NONBLOCK", 0)
    | getattr(os, "O_CLOEXEC", 0)
    | getattr(os, "O_BINARY", 0)
)
_NEW_FLAGS = (
    os.O_WRONLY
    | os.O_CREAT
    | os.O_EXCL
    | getattr(os, "O_NOFOLLOW", 0)
    | getattr(os, "O_CLOEXEC", 0)
    | getattr(os, "O_BINARY", 0)
)
has_owners = hasattr(os, "geteuid")


class Unsafe(PermissionError):
    """Somebody else may write there; the message says where, and the cure."""


# -- folders ---------------------------------------------------------------------------


def users_cache_folder() -> str:
    """The user's cache folder, by the platform's convention.

    Returns:
      A path; relative if the user has no home.
    """
    if sys.platform == "win32":
        local = os.environ.get("LOCALAPPDATA")
        return local or os.path.expanduser("~\\AppData\\Local")
    if sys.platform == "darwin":
        return os.path.expanduser("~/Library/Caches")
    chosen = os.environ.get("XDG_CACHE_HOME", "")
    # The standard has relative paths ignored.
    return chosen if os.path.isabs(chosen) else os.path.expanduser("~/.cache")


def prepare(folder: str) -> str:
    """Makes a folder if there is none, and checks it.

    Args:
      folder: an absolute path.

    Returns:
      The folder's path without symbolic links.

    Raises:
      Unsafe: others may change it.
      OSError: it cannot be made, or is not a folder.
    """
    _make(folder)
    return check_folder(folder)


def check_folder(folder: str) -> str:
    """As `prepare`, for a folder that is there."""
    real_path = os.path.realpath(folder)
    if has_owners:
        for path in dict.fromkeys((*_prefixes(folder), *_prefixes(real_path))):
            _check_ancestor(path)
        _check_own(real_path)
    return real_path


def _make(folder: str) -> None:
    """`os.makedirs`, with every new folder closed to others."""
    missing = []
    path = folder
    while not os.path.lexists(path) and os.path.dirname(path) != path:
        missing.append(path)
        path = os.path.dirname(path)
    for path in reversed(missing):
        # Another process may be faster.
        with contextlib.suppress(FileExistsError):
            os.mkdir(path, 0o700)
    if not os.path.isdir(folder):
        raise NotADirectoryError(f"{folder} must be a folder, got a file")


def _prefixes(path: str) -> list[str]:
    """The folders above a path, the outermost first."""
    parents = []
    while (parent := os.path.dirname(path)) != path:
        parents.append(parent)
        path = parent
    return parents[::-1]


def _check_ancestor(path: str) -> None:
    """Others must be unable to rename what is in a folder."""
    for status in (os.lstat(path), os.stat(path)):
        if status.st_uid not in (_ROOT, os.geteuid()):
            raise Unsafe(
                f"{path} must belong to you or to root, got the owner "
                f"{_user(status.st_uid)}, who could put other programs in its place; "
                "choose another folder"
            )
    writers = status.st_mode & _OTHERS_WRITE
    if writers == stat.S_IWGRP and _is_own_group(status.st_gid):
        return
    if writers and not status.st_mode & stat.S_ISVTX:
        raise Unsafe(
            f"{path} must be writable by its owner alone, got mode "
            f"{stat.S_IMODE(status.st_mode):o}: others could put other programs in its "
            f"place; run `chmod go-w {path}` or choose another folder"
        )


def _check_own(folder: str) -> None:
    another = "choose another folder"
    closed = f"if nobody else wrote to it, run `chmod 700 {folder}`, or {another}"
    _check_owner(folder, os.stat(folder), another, closed)


def _check_owner(path: str, status: os.stat_result, foreign: str, open_: str) -> None:
    """Raises Unsafe, with a remedy for each case, unless only the user may write."""
    if status.st_uid != os.geteuid():
        raise Unsafe(
            f"{path} must belong to you ({_user(os.geteuid())}), got the owner "
            f"{_user(status.st_uid)}; {foreign}"
        )
    if status.st_mode & _OTHERS_WRITE:
        raise Unsafe(
            f"{path} must be writable by you alone, got mode "
            f"{stat.S_IMODE(status.st_mode):o}; {open_}"
        )


def _user(uid: int) -> str:
    # Late: absent where users have no numbers.
    import pwd

    try:
        return f"{pwd.getpwuid(uid).pw_name} (uid {uid})"
    except KeyError:
        return f"uid {uid}"


def _is_own_group(gid: int) -> bool:
    """Whether a group is the user's private one, of the same name and nobody else's."""
    import grp
    import pwd

    try:
        user, group = pwd.getpwuid(os.geteuid()), grp.getgrgid(gid)
    except KeyError:
        return False
    named_alike = user.pw_gid == gid and user.pw_name == group.gr_name
    return named_alike and set(group.gr_mem) <= {user.pw_name}


# -- files -----------------------------------------------------------------------------


# XLA writes no program of more than 2 GB.
_MOST_BYTES = 1 << 32


def read(path: str, most_bytes: int = _MOST_BYTES) -> bytes:
    """The bytes of a file that only its owner, the user, may write.

    Args:
      path: the file.
      most_bytes: a larger one is not read.

    Raises:
      FileNotFoundError: there is none.
      Unsafe: others may change it, or it is not a plain file.
      OSError: it cannot be read.
    """
    descriptor = os.open(path, _READ_FLAGS)
    try:
        status = os.fstat(descriptor)
        check_file(path, status)
        parts: list[bytes] = []
        size = status.st_size
        while size <= most_bytes:
            part = os.read(descriptor, max(status.st_size, 1 << 16))
            if not part:
                return b"".join(parts)
            parts.append(part)
            size = max(size, sum(map(len, parts)))
        raise OSError(errno.EFBIG, os.strerror(errno.EFBIG), path)
    finally:
        os.close(descriptor)


def check_file(path: str, status: os.stat_result) -> None:
    """Raises Unsafe unless a file is plain, the user's, and writable by no one else."""
    if not stat.S_ISREG(status.st_mode):
        raise Unsafe(f"{path} must be a plain file, got something else; remove it")
    if has_owners:
        _check_owner(path, status, "remove it", "remove it")


def write(path: str, temporary: str, data: bytes) -> None:
    """Makes or replaces a file at once: readers see the old bytes or the new ones.

    Args:
      path: the file.
      temporary: a path in the same folder that nobody else uses.
      data: its bytes.

    Raises:
      OSError: it cannot be written; then nothing is left behind.
    """
    descriptor = os.open(temporary, _NEW_FLAGS, 0o600)
    try:
        try:
            remaining = memoryview(data)
            while remaining:
                remaining = remaining[os.write(descriptor, remaining) :]
        finally:
            os.close(descriptor)
        os.replace(temporary, path)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        raise
