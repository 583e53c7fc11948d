"""`python -m olympus cache`: shows, checks and prunes the compiled programs on disk."""

from __future__ import annotations

import argparse
import os
import re
import time
from collections.abc import Iterable
from typing import Any

from olympus._src.command.command import Command, Failure
from olympus._src.foundation import compiler_settings as compiler
from olympus._src.runtime import compile_cache, disk_cache, private_folder
from olympus._src.runtime.disk_cache import DiskCache, File

_SIZES = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}
_TIMES = {"s": 1, "m": 60, "h": 3600, "d": 86400}

# -- arguments -------------------------------------------------------------------------


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    _add_folder(parser)
    parser.set_defaults(action=_show, most=_SHOWN)
    actions = parser.add_subparsers(title="actions", metavar="ACTION")

    show = _action(actions, "show", _show, "Print what is kept, by program (default)")
    show.add_argument(
        "--most",
        type=int,
        default=_SHOWN,
        metavar="N",
        help=f"rows to print, the largest first; {_SHOWN} unless told",
    )

    check = _action(
        actions,
        "check",
        _check,
        "Verify every file; the exit status is 1 if one is bad",
    )
    check.add_argument(
        "--repair", action="store_true", help="remove the bad ones; then it is 0"
    )

    prune = _action(
        actions,
        "prune",
        _prune,
        "Remove programs, those unused for longest first; by default down to the limit "
        "that the settings give",
    )
    prune.add_argument(
        "--max-size",
        type=_size,
        metavar="SIZE",
        help="until the rest takes no more than this, as in 500M or 2G",
    )
    prune.add_argument(
        "--older-than",
        type=_duration,
        metavar="TIME",
        help="all that were not used for this long, as in 12h or 30d",
    )
    prune.add_argument("--all", action="store_true", help="all of them")


def _action(actions: Any, name: str, run: Any, help: str) -> Any:
    parser = actions.add_parser(name, help=help, description=f"{help}.")
    _add_folder(parser)
    parser.set_defaults(action=run)
    return parser


def _add_folder(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--dir",
        metavar="FOLDER",
        # An action's own default would take back what was given before its name.
        default=argparse.SUPPRESS,
        help="the cache's folder; the one of the settings unless told",
    )


def _size(text: str) -> int:
    """Bytes, as in '500M', '2 GiB' or '1000'."""
    match = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([KMGT]?)(?:i?B)?", text.strip(), re.I)
    if not match:
        raise argparse.ArgumentTypeError(
            f"must be a number of bytes as in 500M or 2G, got {text!r}"
        )
    return int(float(match[1]) * _SIZES[match[2].upper()])


def _duration(text: str) -> float:
    """Seconds, as in '12h' or '30d'."""
    match = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([smhd])", text.strip(), re.I)
    if not match:
        raise argparse.ArgumentTypeError(
            f"must be a time as in 30m, 12h or 30d, got {text!r}"
        )
    return float(match[1]) * _TIMES[match[2].lower()]


# -- actions ---------------------------------------------------------------------------

_SHOWN = 20


def _run(arguments: argparse.Namespace) -> int:
    chosen = getattr(arguments, "dir", None)
    folder = os.path.abspath(chosen) if chosen else compile_cache.folder()
    if not folder:
        raise Failure("there must be a folder, got a user without a home; give --dir")
    if chosen and not os.path.isdir(folder):
        kind = "a file" if os.path.exists(folder) else "no such folder"
        raise Failure(
            f"--dir must be an existing folder, got {kind}, {folder!r}; leave it out "
            "to see the folder of the settings"
        )
    print(f"folder:   {folder}")
    if not compile_cache.is_on():
        print("the settings of this environment turn the cache off")
    if not os.path.isdir(folder):
        print("programs: none; the first compilation makes the folder")
        return 0
    limit = compiler.compilation_cache_max_size.value
    try:
        cache = DiskCache(private_folder.check_folder(folder), limit)
    except private_folder.Unsafe as error:
        print(f"not used: {error}")
        return 1
    except OSError as error:
        raise Failure(f"the folder must be readable, got {error}") from None
    return arguments.action(cache, arguments)


def _show(cache: DiskCache, arguments: argparse.Namespace) -> int:
    files = cache.files()
    limit = _format_bytes(cache.max_bytes) if cache.max_bytes >= 0 else "no limit"
    print(f"limit:    {limit}")
    print(f"programs: {_format_count(files)}")
    rows: dict[str, list[float]] = {}
    for file in files:
        name, seconds = _read_note(file)
        row = rows.setdefault(name, [0, 0, 0.0, 0.0])
        row[0] += 1
        row[1] += file.size
        row[2] += seconds
        row[3] = max(row[3], file.used)
    if not rows or arguments.most <= 0:
        return 0
    print(f"\n{'number':>7} {'size':>9} {'compiled in':>12} {'last used':>14}  name")
    ordered = sorted(rows.items(), key=lambda item: -item[1][1])
    for name, (count, size, seconds, used) in ordered[: arguments.most]:
        print(
            f"{count:7} {_format_bytes(size):>9} {seconds:10.3f} s "
            f"{_ago(used):>14}  {name}"
        )
    if len(ordered) > arguments.most:
        print(f"... and {len(ordered) - arguments.most} more names; see --most")
    return 0


def _check(cache: DiskCache, arguments: argparse.Namespace) -> int:
    files = cache.files()
    bad = []
    for file in files:
        try:
            disk_cache.decode_entry(private_folder.read(file.path), file.key)
        except FileNotFoundError:  # another process removed it
            continue
        except (disk_cache.Damaged, OSError) as error:
            bad.append(file)
            print(f"bad: {file.path}\n     {error}")
    left = cache.abandoned()
    print(f"programs: {_format_count(files)}, {len(bad)} bad")
    if left:
        print(f"unfinished files of killed processes: {len(left)}")
    if not arguments.repair:
        return 1 if bad else 0
    for file in bad:
        cache.remove(file.key)
    cache.clean()
    stay = [file.path for file in bad if os.path.lexists(file.path)]
    print(f"removed:  {len(bad) - len(stay)} bad, {len(left)} unfinished")
    for path in stay:
        print(f"could not remove {path}")
    return 1 if stay else 0


def _prune(cache: DiskCache, arguments: argparse.Namespace) -> int:
    size = arguments.max_size
    if arguments.all:
        size = -1  # also what takes no room on the disk
    elif size is None and arguments.older_than is None and cache.max_bytes >= 0:
        size = cache.max_bytes
    removed = cache.trim(size, arguments.older_than)
    cache.clean()
    print(f"removed:  {_format_count(removed)}")
    print(f"programs: {_format_count(cache.files())}")
    return 0


# -- words -----------------------------------------------------------------------------


def _read_note(file: File) -> tuple[str, float]:
    """The name of a program and the seconds it took to compile, as its file says."""
    note = disk_cache.read_note(file.path)
    if note is None:
        return "(unreadable; see `python -m olympus cache check`)", 0.0
    name, seconds = note
    printable = "".join(letter if letter.isprintable() else "?" for letter in name)
    return printable.removeprefix("jit_"), seconds


def _format_count(files: Iterable[File]) -> str:
    sizes = [file.size for file in files]
    return f"{len(sizes)} in {_format_bytes(sum(sizes))}"


def _format_bytes(size: float) -> str:
    for unit in ("B", "kB", "MB", "GB"):
        if size < 1024 or unit == "GB":
            break
        size /= 1024
    return f"{size:.0f} {unit}" if unit == "B" else f"{size:.1f} {unit}"


# From which number of seconds on a time is counted in which unit.
_UNITS = ((172800, 86400, "days"), (7200, 3600, "h"), (120, 60, "min"), (0, 1, "s"))


def _ago(moment: float) -> str:
    seconds = max(0.0, time.time() - moment)
    length, unit = next((n, unit) for least, n, unit in _UNITS if seconds >= least)
    return f"{seconds / length:.0f} {unit} ago"


COMMAND = Command(
    "cache",
    "Show, check and prune the compiled programs on disk",
    _add_arguments,
    _run,
)
