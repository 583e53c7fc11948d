"""Files that hold programs, as the sub-commands read them."""

from __future__ import annotations

from collections.abc import Sequence

from olympus._src.command.command import Failure
from olympus._src.export import (
    bundle_files,
    bundles,
    bundling,
    deserialization,
    executables,
)
from olympus._src.foundation import container

EXPORTED = "exported program"


def read_file(path: str) -> tuple[bytes, str]:
    """The bytes of a file that olympus wrote, and what kind of thing they are.

    Raises:
      Failure: it cannot be read, or is something else.
    """
    try:
        with open(path, "rb") as file:
            data = container.read(file, "container")
        kind = container.kind_of(data)
    except (OSError, ValueError) as error:
        raise Failure(_with_path(path, error)) from error
    known = (bundle_files.KIND, executables.KIND, EXPORTED)
    if kind not in known:
        raise Failure(f"{path}: must hold one of {', '.join(known)}, got {kind!r}")
    return data, kind


def load(
    path: str, *, machine_code: bool = True, check: bool = False
) -> bundles.Bundle:
    """The bundle in a file; an exported program becomes one.

    Raises:
      Failure: there is none, or it does not run here.
    """
    data, kind = read_file(path)
    try:
        if kind == EXPORTED:
            exported = deserialization.deserialize(data)
            bundle = bundling.make(exported, executables=False)()
            return bundle.prepare()
        if kind == bundle_files.KIND:
            return bundles.load(data, executables=machine_code, check=check)
    except ValueError as error:
        raise Failure(_with_path(path, error)) from error
    raise Failure(
        f"{path}: must be a bundle or an exported program, got a {kind}, which has no "
        "structure of arguments; load it by experimental.serialize_executable"
    )


def _with_path(path: str, error: Exception) -> str:
    if isinstance(error, OSError):
        return f"{path}: {error.strerror or error}"
    return f"{path}: {error}"


def format_count(n: int, thing: str) -> str:
    """A number of things, as in 'no results' and '1 result'."""
    return f"{n or 'no'} {thing}{'' if n == 1 else 's'}"


def format_bytes(n: int) -> str:
    """A number of bytes for people."""
    size = float(n)
    for unit in ("bytes", "kB", "MB"):
        if size < 1000:
            return f"{n} bytes" if unit == "bytes" else f"{size:.1f} {unit}"
        size /= 1000
    return f"{size:.1f} GB"


def columns(rows: Sequence[tuple[str, ...]]) -> list[str]:
    """Lines of text in columns, indented."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        "  " + "  ".join(c.ljust(w) for c, w in zip(r, widths, strict=True)).rstrip()
        for r in rows
    ]
