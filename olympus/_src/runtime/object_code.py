"""Machine code in ELF object files, laid out so that it can be called where it lies.

XLA compiles each kernel of a program for the CPU to a relocatable object of x86-64.
(System V ABI, chapters 4 and 5, and its supplement for x86-64)
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable
from typing import NamedTuple

_HEADER = struct.Struct("<16sHHIQQQIHHHHHH")
_SECTION = struct.Struct("<IIQQQQIIQQ")
_SYMBOL = struct.Struct("<IBBHQQ")
_RELOCATION = struct.Struct("<QQq")

_IDENTITY = b"\x7fELF\x02\x01\x01\x00"  # 64 bits, little endian, System V
_RELOCATABLE, _X86_64 = 1, 62
_PROGBITS, _SYMTAB, _RELA, _REL = 1, 2, 4, 9
_WRITTEN, _ALLOCATED = 1, 2
_UNDEFINED = 0
_ADDRESS_64, _PC_32, _PLT_32, _PC_64 = 1, 2, 4, 24
_LARGEST_ALIGNMENT = 4096


class Image(NamedTuple):
    """Code and constants of some object files, one after the other.

    Attributes:
      content: the bytes.
      relative: places in it where an address in it belongs, and the place of that.
      absolute: places in it where the address of a function belongs, and this.
      functions: where each function starts.
    """

    content: bytes
    relative: list[tuple[int, int]]
    absolute: list[tuple[int, int]]
    functions: dict[str, int]


class Unknown(ValueError):
    """An object file holds what is not known here."""


def link(objects: Iterable[bytes], find_symbol: Callable[[str], int]) -> Image:
    """Lays out object files.

    Args:
      objects: their contents.
      find_symbol: the address of a function outside of them; 0 for none.

    Raises:
      Unknown: there is something else than code and constants of x86-64, or they call a
        function that there is not.
    """
    linker = _Linker(find_symbol)
    for content in objects:
        linker.add(content)
    return Image(
        bytes(linker.content), linker.relative, linker.absolute, linker.functions
    )


class _Linker:
    def __init__(self, find_symbol: Callable[[str], int]) -> None:
        self.content = bytearray()
        self.relative: list[tuple[int, int]] = []
        self.absolute: list[tuple[int, int]] = []
        self.functions: dict[str, int] = {}
        self._find_symbol = find_symbol

    def add(self, data: bytes) -> None:
        """Appends what an object file holds."""
        try:
            self._add(data)
        except struct.error as error:
            raise Unknown(str(error)) from None

    def _add(self, data: bytes) -> None:
        header = _HEADER.unpack_from(data)
        identity, kind, machine = header[:3]
        at, n = header[6], header[12]
        if identity[:8] != _IDENTITY or (kind, machine) != (_RELOCATABLE, _X86_64):
            raise Unknown("no relocatable object of x86-64")
        sections = [
            _SECTION.unpack_from(data, at + i * _SECTION.size) for i in range(n)
        ]
        places = {
            i: self._place(data, section)
            for i, section in enumerate(sections)
            if section[2] & _ALLOCATED and section[1] == _PROGBITS
        }
        symbols: list[tuple[str, int, int]] = []
        for section in sections:
            if section[1] == _SYMTAB:
                symbols = _read_symbols(data, section, sections)
        for name, index, value in symbols:
            if name and index in places:
                self.functions[name] = places[index] + value
        for section in sections:
            if section[1] == _RELA and section[7] in places:
                self._relocate(data, section, places, symbols)
            elif section[1] == _REL:
                raise Unknown("relocations without addends")

    def _place(self, data: bytes, section: tuple[int, ...]) -> int:
        """Where a section's content starts, which is appended."""
        _, _, flags, _, offset, size, _, _, alignment, _ = section
        if flags & _WRITTEN:
            raise Unknown("data that is written to")
        if alignment > _LARGEST_ALIGNMENT or offset + size > len(data):
            raise Unknown("a section of another shape")
        self.content.extend(bytes(-len(self.content) % max(alignment, 1)))
        place = len(self.content)
        self.content.extend(data[offset : offset + size])
        return place

    def _relocate(
        self,
        data: bytes,
        section: tuple[int, ...],
        places: dict[int, int],
        symbols: list[tuple[str, int, int]],
    ) -> None:
        start = places[section[7]]
        for offset, info, addend in _RELOCATION.iter_unpack(_content(data, section)):
            place, kind = start + offset, info & 0xFFFFFFFF
            name, index, value = symbols[info >> 32]
            if index == _UNDEFINED:
                address = self._find_symbol(name)
                if kind != _ADDRESS_64 or not address:
                    raise Unknown(f"a call of {name}")
                self.absolute.append((place, address + addend))
                continue
            if index not in places:
                raise Unknown(f"{name} is in no section that is loaded")
            target = places[index] + value + addend
            if kind == _ADDRESS_64:
                self.relative.append((place, target))
            elif kind in (_PC_32, _PLT_32):
                struct.pack_into("<i", self.content, place, target - place)
            elif kind == _PC_64:
                struct.pack_into("<q", self.content, place, target - place)
            else:
                raise Unknown(f"a relocation of type {kind}")


def _content(data: bytes, section: tuple[int, ...]) -> bytes:
    return data[section[4] : section[4] + section[5]]


def _read_symbols(
    data: bytes, section: tuple[int, ...], sections: list[tuple[int, ...]]
) -> list[tuple[str, int, int]]:
    """The name, section and value of each symbol."""
    names = _content(data, sections[section[6]])
    symbols = []
    for name, _, _, index, value, _ in _SYMBOL.iter_unpack(_content(data, section)):
        end = names.index(b"\0", name)
        symbols.append((names[name:end].decode(), index, value))
    return symbols
