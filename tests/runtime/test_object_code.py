"""Object files and XLA's messages are read, and what is not known is refused."""

from __future__ import annotations

import struct

import pytest

from olympus._src.runtime import object_code, xla_messages

TEXT, DATA = 1, 2
ADDRESS_64, PC_32, PC_64, COPY = 1, 2, 24, 5


def object_file(sections, symbols, relocations, machine=62):
    """An object file of x86-64.

    Args:
      sections: (kind, flags, alignment, content) of each, from number 1.
      symbols: (name, section, value) of each, from number 1.
      relocations: (section, offset, symbol, kind, addend) of each.
    """
    names = b"\0" + b"".join(name.encode() + b"\0" for name, _, _ in symbols)
    table = bytes(24)
    for name, section, value in symbols:
        at = names.index(b"\0" + name.encode() + b"\0") + 1
        table += struct.pack("<IBBHQQ", at, 0, 0, section, value, 0)
    rows = [(0, 0, 0, 0, 0, b"")]
    rows += [(kind, flags, 0, 0, align, data) for kind, flags, align, data in sections]
    n = len(rows)
    rows += [(2, 0, n + 1, 0, 8, table), (3, 0, 0, 0, 1, names)]
    for section, *entry in relocations:
        offset, symbol, kind, addend = entry
        content = struct.pack("<QQq", offset, symbol << 32 | kind, addend)
        rows.append((4, 0, n, section, 8, content))
    body, headers = b"", b""
    for kind, flags, link, info, align, data in rows:
        header = (0, kind, flags, 0, 64 + len(body), len(data), link, info, align, 0)
        headers += struct.pack("<IIQQQQIIQQ", *header)
        body += data
    start = struct.pack(
        "<16sHHIQQQIHHHHHH",
        b"\x7fELF\x02\x01\x01",
        1,
        machine,
        1,
        0,
        0,
        64 + len(body),
        0,
        64,
        0,
        0,
        64,
        len(rows),
        0,
    )
    return start + body + headers


CODE = (1, 6, 16, bytes(range(1, 25)))
CONSTANTS = (1, 2, 32, b"c" * 8)


def link(*objects):
    return object_code.link(objects, lambda name: 0x1000 if name == "known" else 0)


def test_sections_are_laid_out_with_their_alignment():
    one = object_file([CODE, CONSTANTS], [("f", 1, 4), ("c", 2, 0)], [])
    two = object_file([CODE], [("g", 1, 0)], [])
    image = link(one, two)
    assert image.functions == {"f": 4, "c": 32, "g": 48}
    assert image.content[:24] == CODE[3]
    assert image.content[32:40] == b"c" * 8
    assert image.content[48:] == CODE[3]


def test_addresses_are_noted_or_written():
    symbols = [("f", 1, 0), ("c", 2, 0), ("known", 0, 0)]
    relocations = [
        (1, 0, 2, ADDRESS_64, 3),
        (1, 8, 3, ADDRESS_64, 1),
        (1, 16, 2, PC_32, -4),
    ]
    image = link(object_file([CODE, CONSTANTS], symbols, relocations))
    assert image.relative == [(0, 35)]
    assert image.absolute == [(8, 0x1001)]
    assert struct.unpack_from("<i", image.content, 16) == (32 - 4 - 16,)
    far = link(object_file([CODE, CONSTANTS], symbols, [(1, 16, 2, PC_64, 0)]))
    assert struct.unpack_from("<q", far.content, 16) == (32 - 16,)


@pytest.mark.parametrize(
    ("sections", "symbols", "relocations"),
    [
        ([CODE], [("other", 0, 0)], [(1, 0, 1, ADDRESS_64, 0)]),  # not there
        ([CODE], [("known", 0, 0)], [(1, 0, 1, PC_32, 0)]),  # too far
        ([CODE], [("f", 1, 0)], [(1, 0, 1, COPY, 0)]),
        ([(1, 3, 8, b"written!")], [], []),
        ([CODE, (8, 3, 8, b"")], [("zero", 2, 0)], [(1, 0, 1, ADDRESS_64, 0)]),
        ([CODE, (9, 0, 8, b"")], [], []),  # relocations without addends
        ([(1, 6, 8192, b"x")], [], []),
    ],
)
def test_what_is_not_known_is_refused(sections, symbols, relocations):
    with pytest.raises(object_code.Unknown):
        link(object_file(sections, symbols, relocations))


def test_files_of_other_machines_are_refused():
    for content in (object_file([CODE], [], [], machine=183), b"", b"\x7fELF" * 40):
        with pytest.raises(object_code.Unknown):
            link(content)


# -- messages --------------------------------------------------------------------------


def field(number, kind, payload):
    return bytes([number << 3 | kind]) + payload


def test_fields_of_a_message():
    data = (
        field(1, 0, b"\x96\x01")
        + field(2, 2, b"\x03abc")
        + field(2, 2, b"\x00")
        + field(3, 5, b"1234")
        + field(4, 1, b"12345678")
        + field(5, 2, b"\x03\x01\x96\x01")
        + field(5, 0, b"\x07")
    )
    fields = xla_messages.read(data)
    assert fields[1] == [150]
    assert fields[2] == [b"abc", b""]
    assert fields[3] == [b"1234"]
    assert fields[4] == [b"12345678"]
    assert xla_messages.number(fields, 1) == 150
    assert xla_messages.number(fields, 9) == 0
    assert xla_messages.content(fields, 9) == b""
    assert xla_messages.numbers(fields, 5) == [1, 150, 7]
    with pytest.raises(ValueError, match="no number"):
        xla_messages.number(fields, 2)
    with pytest.raises(ValueError, match="no bytes"):
        xla_messages.content(fields, 1)


@pytest.mark.parametrize(
    "data", [b"\x08", b"\x12\x05ab", b"\x0b", b"\x09123", b"\x08\x80"]
)
def test_other_bytes_are_no_message(data):
    with pytest.raises(ValueError, match="message"):
        xla_messages.read(data)
