"""Named byte strings with a header in one sealed file: what outlives the process.

Entries of the compile cache, exported programs and bundles are written so:

    8 bytes     the mark: not text, so that a transfer as text is detected
    8 bytes     length of the header, little-endian
    header      JSON in UTF-8: kind, version, fields, names and sizes of the sections
    sections    one after another
    32 bytes    SHA-256 of all before it

The digest detects damage, not tampering: who can write the file can write its digest.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from typing import Any, BinaryIO

_MARK = b"\x93OLYMP\r\n"
_DIGEST_BYTES = 32
_PREFIX_BYTES = len(_MARK) + 8


class Unreadable(ValueError):
    """The bytes are not a container, or it is damaged or of another kind or version."""


class Container:
    """What a container holds.

    Attributes:
      kind: what it is, as in 'exported program'.
      version: the version of that kind's fields and sections.
      fields: values of JSON by name.
      sections: bytes by name.
    """

    __slots__ = ("fields", "kind", "sections", "version")

    def __init__(
        self, kind: str, version: int, fields: Any, sections: Mapping[str, bytes]
    ) -> None:
        self.kind = kind
        self.version = version
        self.fields = fields
        self.sections = dict(sections)


def pack(container: Container) -> bytes:
    """The bytes of a container; equal containers have equal bytes."""
    header = {
        "kind": container.kind,
        "version": container.version,
        "fields": container.fields,
        "sections": [[name, len(data)] for name, data in container.sections.items()],
    }
    text = json.dumps(header, sort_keys=True, separators=(",", ":")).encode()
    size = len(text).to_bytes(8, "little")
    body = b"".join([_MARK, size, text, *container.sections.values()])
    return body + hashlib.sha256(body).digest()


def unpack(data: bytes, kind: str, versions: range) -> Container:
    """The container that `pack` made bytes of; nothing is read before it is verified.

    Args:
      data: the bytes.
      kind: what it must be.
      versions: the versions of that kind which the caller reads.

    Raises:
      Unreadable: the bytes are damaged or something else; says what they are.
    """
    header = _header(data, kind)
    if header["kind"] != kind:
        raise Unreadable(
            f"must be of kind {kind!r}, got one of kind {header['kind']!r}"
        )
    version = header["version"]
    if version not in versions:
        raise Unreadable(
            f"{kind}: its format must be of version {versions[0]} to {versions[-1]}, "
            f"got version {version}, which "
            + ("a newer" if version > versions[-1] else "an older")
            + " olympus wrote"
        )
    view = memoryview(data)
    start = _PREFIX_BYTES + int.from_bytes(data[len(_MARK) : _PREFIX_BYTES], "little")
    sections = {}
    for name, size in header["sections"]:
        sections[name] = bytes(view[start : start + size])
        start += size
    return Container(kind, version, header["fields"], sections)


# Headers hold names and types; bundles of a thousand arguments have some of 100 kB.
_MOST_HEADER_BYTES = 1 << 28


def read(file: BinaryIO, kind: str) -> bytes:
    """The bytes of a container in a file, of which no more is read than it must have.

    Args:
      file: an open file; devices and pipes, which may never end, will do.
      kind: what it must be, for messages.

    Raises:
      Unreadable: it does not start as a container, or its size is not what it states.
    """
    start = file.read(_PREFIX_BYTES)
    if len(start) < _PREFIX_BYTES or not is_container(start):
        _header(start, kind)  # which says why
    size = int.from_bytes(start[len(_MARK) :], "little")
    try:
        if size > _MOST_HEADER_BYTES:
            raise ValueError("its header is too large")
        start += file.read(size)
        more = _section_bytes(peek(start)) + _DIGEST_BYTES
        if file.seekable() and os.fstat(file.fileno()).st_size != len(start) + more:
            raise ValueError("its size is another")
        data = start + file.read(more)
    except (ValueError, KeyError, TypeError, MemoryError, OverflowError) as error:
        raise Unreadable(
            f"{kind}: it must be whole, with a header that tells its size, got another "
            f"file, cut short or changed: {error or type(error).__name__}"
        ) from None
    return data


def peek(start: bytes) -> Any:
    """The header of a container, from its first bytes and not verified: for display.

    Args:
      start: the bytes, up to the end of the header at least.

    Raises:
      Unreadable: there is no whole header.
    """
    size = int.from_bytes(start[len(_MARK) : _PREFIX_BYTES], "little")
    text = start[_PREFIX_BYTES : _PREFIX_BYTES + size]
    try:
        header = json.loads(text) if is_container(start) and len(text) == size else None
    except (ValueError, RecursionError):
        header = None
    if not isinstance(header, dict):
        raise Unreadable("its header must be JSON and whole, got something else")
    return header


def is_container(data: bytes) -> bool:
    """Whether bytes start as those of a container do."""
    return data[: len(_MARK)] == _MARK


def kind_of(data: bytes) -> str:
    """The kind of a container, which is verified first.

    Raises:
      Unreadable: the bytes are none, or damaged.
    """
    return _header(data, "container")["kind"]


def _header(data: bytes, kind: str) -> Any:
    """The header of bytes that are whole."""
    if not data:
        raise Unreadable(f"{kind}: got no bytes at all")
    if not is_container(data):
        raise Unreadable(
            f"{kind}: must start with {_MARK!r}, got {bytes(data[: len(_MARK)])!r}; "
            "these bytes are something else, or were changed on the way"
        )
    view = memoryview(data)
    body, digest = view[:-_DIGEST_BYTES], view[-_DIGEST_BYTES:]
    if len(data) < _PREFIX_BYTES + _DIGEST_BYTES or _digest(body) != digest:
        raise Unreadable(
            f"{kind}: its {len(data)} bytes do not match their own digest: they were "
            "cut short or changed"
        )
    size = int.from_bytes(data[len(_MARK) : _PREFIX_BYTES], "little")
    try:
        header = json.loads(bytes(body[_PREFIX_BYTES : _PREFIX_BYTES + size]))
        sound = _PREFIX_BYTES + size + _section_bytes(header) == len(body)
        sound = sound and type(header["version"]) is int and "fields" in header
        sound = sound and type(header["kind"]) is str
    except (ValueError, KeyError, TypeError, RecursionError):
        sound = False
    if not sound:
        raise Unreadable(f"{kind}: its header contradicts its contents")
    return header


def _section_bytes(header: Any) -> int:
    """The size of all sections.

    Raises:
      ValueError, KeyError, TypeError: the header does not say it.
    """
    for name, length in header["sections"]:
        if type(name) is not str or type(length) is not int or length < 0:
            raise ValueError("a section must have a name and a size")
    return sum(length for _, length in header["sections"])


def _digest(body: memoryview) -> bytes:
    return hashlib.sha256(body).digest()
