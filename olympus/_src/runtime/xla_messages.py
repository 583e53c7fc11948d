"""Reading and writing of XLA's messages, which are in Protocol Buffers' wire format.

Of a message only field numbers and plain values are known here; which fields there are
says who reads them. (https://protobuf.dev/programming-guides/encoding)
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

# What each field of a message has, in order: numbers, and bytes of texts and messages.
Fields = dict[int, list[Any]]

_VARINT, _FIXED_64, _BYTES, _FIXED_32 = 0, 1, 2, 5


def read_number(data: bytes, at: int) -> tuple[int, int]:
    """An unsigned number in groups of seven bits, and where it ends."""
    number = shift = 0
    while True:
        byte = data[at]
        at += 1
        number |= (byte & 0x7F) << shift
        if byte < 0x80:
            return number, at
        shift += 7


def walk(data: bytes) -> Iterator[tuple[int, Any, int, int]]:
    """The number, value, start and end of each field of a message, in order.

    Raises:
      ValueError: the bytes are no message.
    """
    at = 0
    try:
        while at < len(data):
            start = at
            tag, at = read_number(data, at)
            kind = tag & 7
            value: Any
            if kind == _VARINT:
                value, at = read_number(data, at)
            elif kind == _BYTES:
                size, at = read_number(data, at)
                value, at = data[at : at + size], at + size
            elif kind in (_FIXED_64, _FIXED_32):
                size = 8 if kind == _FIXED_64 else 4
                value, at = data[at : at + size], at + size
            else:
                raise ValueError(f"a message has a field of kind {kind}")
            if at <= len(data):
                yield tag >> 3, value, start, at
    except IndexError:
        at = len(data) + 1
    if at > len(data):
        raise ValueError("a message ends too early")


def read(data: bytes) -> Fields:
    """The fields of a message.

    Raises:
      ValueError: the bytes are no message.
    """
    fields: Fields = {}
    for field, value, _, _ in walk(data):
        fields.setdefault(field, []).append(value)
    return fields


def write(field: int, value: bytes) -> bytes:
    """A field that holds bytes, a text or a message."""
    return write_number(field << 3 | _BYTES) + write_number(len(value)) + value


def write_number(number: int) -> bytes:
    """An unsigned number in groups of seven bits."""
    groups = bytearray()
    while number > 0x7F:
        groups.append(number & 0x7F | 0x80)
        number >>= 7
    groups.append(number)
    return bytes(groups)


def number(fields: Fields, field: int) -> int:
    """The number in a field, which is zero where it is left out."""
    values = fields.get(field, (0,))
    value = values[-1]
    if type(value) is not int:
        raise ValueError(f"field {field} of a message is no number")
    return value


def message(fields: Fields, field: int) -> Fields:
    """The message in a field; empty where it is left out."""
    return read(content(fields, field))


def content(fields: Fields, field: int) -> bytes:
    """The bytes in a field; empty where it is left out."""
    values = fields.get(field, (b"",))
    value = values[-1]
    if type(value) is not bytes:
        raise ValueError(f"field {field} of a message has no bytes")
    return value


def numbers(fields: Fields, field: int) -> list[int]:
    """All numbers in a field, packed or not."""
    out: list[int] = []
    for value in fields.get(field, ()):
        if type(value) is int:
            out.append(value)
            continue
        at = 0
        while at < len(value):
            item, at = read_number(value, at)
            out.append(item)
    return out
