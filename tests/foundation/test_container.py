"""Sealed files: what is packed comes back, and nothing else is read."""

import hashlib
import io
import json
import os

import pytest
from hypothesis import given
from hypothesis import strategies as st

from olympus._src.foundation import container
from olympus._src.foundation.container import Container, Unreadable

KIND, VERSIONS = "sample", range(2, 4)


def sample(**changes):
    fields = {"name": "Zürich", "sizes": [1, 2, None], "nested": {"a": True}}
    sections = {"code": bytes(range(256)), "nothing": b"", "text": b"abc"}
    given = {"kind": KIND, "version": 3, "fields": fields, "sections": sections}
    return Container(**{**given, **changes})


def test_what_is_packed_comes_back():
    packed = container.pack(sample())
    found = container.unpack(packed, KIND, VERSIONS)
    assert found.fields == sample().fields
    assert found.sections == sample().sections
    assert (found.kind, found.version) == (KIND, 3)
    assert container.is_container(packed)


def test_equal_containers_have_equal_bytes():
    shuffled = dict(reversed(sample().fields.items()))
    assert container.pack(sample()) == container.pack(sample(fields=shuffled))


def test_every_prefix_is_refused():
    packed = container.pack(sample())
    for size in range(len(packed)):
        with pytest.raises(Unreadable, match=r"no bytes|must start|cut short"):
            container.unpack(packed[:size], KIND, VERSIONS)


def test_every_flipped_byte_is_refused():
    packed = container.pack(sample())
    for place in range(len(packed)):
        spoilt = bytearray(packed)
        spoilt[place] ^= 0x10
        with pytest.raises(Unreadable):
            container.unpack(bytes(spoilt), KIND, VERSIONS)


@given(st.binary(max_size=200))
def test_garbage_is_refused(data):
    with pytest.raises(Unreadable):
        container.unpack(data, KIND, VERSIONS)
    with pytest.raises(Unreadable):
        container.unpack(container.pack(sample())[:16] + data, KIND, VERSIONS)


def sealed(header):
    """A container of our own making: its digest is right, its header need not be."""
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    body = container.pack(sample())[:8] + len(text).to_bytes(8, "little") + text
    return body + hashlib.sha256(body).digest()


@pytest.mark.parametrize(
    "header",
    [
        b"\xff",
        b'{"fields":' + b"[" * 100_000,
        [],
        {},
        {"kind": KIND, "version": 3, "fields": {}, "sections": [["a", 5]]},
        {"kind": KIND, "version": 3, "fields": {}, "sections": [["a", 5], ["b", -5]]},
        {"kind": KIND, "version": "3", "fields": {}, "sections": []},
        {"kind": KIND, "version": 3, "fields": {}, "sections": [[["a"], 0]]},
        {"kind": KIND, "version": 3, "fields": {}, "sections": [["a", 0.0]]},
        {"kind": KIND, "version": 3, "fields": {}, "sections": [["a", True]]},
        {"kind": KIND, "version": 3, "fields": {}, "sections": 5},
        {"kind": 7, "version": 3, "fields": {}, "sections": []},
        {"kind": KIND, "version": 3, "sections": []},
    ],
)
def test_a_header_that_contradicts_the_contents_is_refused(header):
    with pytest.raises(Unreadable, match="header"):
        container.unpack(sealed(header), KIND, VERSIONS)


def test_other_kinds_and_versions_are_named():
    packed = container.pack(sample(kind="bundle"))
    with pytest.raises(Unreadable, match="'sample', got one of kind 'bundle'"):
        container.unpack(packed, KIND, VERSIONS)
    with pytest.raises(Unreadable, match="2 to 3, got version 9, which a newer"):
        container.unpack(container.pack(sample(version=9)), KIND, VERSIONS)
    with pytest.raises(Unreadable, match="got version 1, which an older"):
        container.unpack(container.pack(sample(version=1)), KIND, VERSIONS)


class Endless(io.RawIOBase):
    """A file that never ends, and counts what is read of it."""

    def __init__(self, start):
        self.start, self.size = start, 0

    def readable(self):
        return True

    def read(self, n=-1):
        assert n >= 0, "all of it was asked for"
        self.size += n
        part, self.start = self.start[:n], self.start[n:]
        return part.ljust(min(n, 1 << 20), b"\0")


@pytest.mark.parametrize("start", [b"", b"\0" * 8, container.pack(sample())[:8]])
def test_no_more_is_read_than_a_container_has(start):
    file = Endless(start + b"\xff" * 8)
    with pytest.raises(Unreadable):
        container.read(file, KIND)
    assert file.size < 100


def test_a_sparse_file_is_not_read(tmp_path):
    path = tmp_path / "sparse"
    packed = container.pack(sample())
    path.write_bytes(packed)
    with open(path, "rb") as file:
        assert container.read(file, KIND) == packed
    os.truncate(path, 1 << 40)
    with open(path, "rb") as file, pytest.raises(Unreadable, match="size is another"):
        container.read(file, KIND)
